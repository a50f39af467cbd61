"""Whatever the text, the parser gives statements or an error for the user."""

from __future__ import annotations

import random
import traceback

import pytest

from penstock.grammar import PenstockError, Source, parse_script, render, to_sql
from penstock.tests.generate import mutate, random_statement

COUNT = 10_000


def test_no_text_breaks_the_parser() -> None:
    parsed = refused = 0
    for seed in range(COUNT):
        rng = random.Random(seed)
        text = mutate(random_statement(rng), rng)
        source = Source("fuzz", text)
        try:
            statements = parse_script(source)
            printed = ";\n".join(map(to_sql, statements))
            assert parse_script(Source("printed", printed)) == statements
            parsed += 1
        except PenstockError as caught:
            for error in caught.errors:
                assert error.source is not None, f"seed {seed}\n{text}"
                if error.source.name != "fuzz" or error.span is None:
                    pytest.fail(f"seed {seed}\n{text}\n{render(error)}")
                assert 0 <= error.span.start <= len(text), f"seed {seed}\n{text}"
                assert render(error)
            refused += 1
        except Exception:
            pytest.fail(f"seed {seed}\n{text}\n{traceback.format_exc()}")
    assert min(parsed, refused) > COUNT // 20
