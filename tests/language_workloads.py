"""Random workloads of everything the language has, the same ones for the same seed.

Queries come in families that are alike in all but their windows, constants, slides and conditions on groups.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from penstock.tests.language_questions import Data, Input, Question, Window, source_of, write_table
from penstock.tests.streams import MS, SCHEMAS, SECOND, START, Row, Workload, arrivals, uneven

KINDS = ("join", "theta", "count", "relation", "star", "aggregate", "distinct", "derived")
RELATIONS = {
    "Racks": {"k": "int", "v": "double", "s": "string", "since": "timestamp", "until": "timestamp"},
    "Kinds": {"k": "int", "n": "int", "s": "string"},
}
VALID = {"Racks": ("since", "until")}
LATER = START + timedelta(days=1)

_WINDOWS = (
    1 * MS, 250 * MS, 251 * MS, 1 * SECOND, 2 * SECOND, 3 * SECOND, 3 * SECOND, 7 * SECOND, 7 * SECOND, 7 * SECOND,
    20 * SECOND, 20 * SECOND,
)  # fmt: skip
_LONG = (2 * SECOND, 7 * SECOND, 7 * SECOND, 20 * SECOND, 20 * SECOND, 20 * SECOND, 20 * SECOND)
_ROWS = (1, 2, 3, 5, 5, 10, 20)
_SLIDES = (250 * MS, 400 * MS, 1 * SECOND, 1 * SECOND, 1500 * MS, 2 * SECOND, 5 * SECOND, None, None)
_SELECTIONS = (
    "{a.v} > {d}", "{a.v} > {d}", "{a.v} > {d}", "{a.v} <= {d}", "{a.n} >= {i}", "{a.n} >= {i}", "{a.s} = '{w}'",
    "{a.s} LIKE 'a%'", "{a.n} BETWEEN {i} AND {j}", "{a.v} IS NULL", "{a.n} IS NOT NULL", "NOT {a.v} > {d}",
    "({a.v} > {d} OR {a.n} = {i})", "{a.ts} >= TIMESTAMP '2026-01-01 00:00:{t}'", "COALESCE({a.n}, 1) <> {i}",
    "{a.k} IN ({i}, {j})", "{a.v} + {a.n} > {d}", "{a.k} <= {j}",
)  # fmt: skip
_KEYS = (
    "{a.k} = {b.k}", "{a.k} = {b.k}", "{a.k} = {b.k}", "{a.k} = {b.k}", "{a.k} = {b.k}", "{a.n} = {b.n}",
    "{a.s} = {b.s}", "{a.k} + 1 = {b.k}", "{a.n} = {b.k}",
)  # fmt: skip
_RESIDUALS = (
    "{a.v} < {b.v}", "{a.v} + {b.v} > {d}", "{a.n} <> {b.n}", "{a.ts} <= {b.ts}", "({a.v} > {d} OR {b.n} = {i})",
    "{a.n} IS NOT DISTINCT FROM {b.n}", "{a.s} <> {b.s}", "{a.v} + {b.v} > {c.v}",
)  # fmt: skip
_THETAS = (
    "{a.v} < {b.v}", "{a.v} <= {b.v}", "{a.v} BETWEEN {b.v} - 1 AND {b.v} + 1", "ABS({a.v} - {b.v}) < {d}",
    "{a.n} <> {b.n}", "{a.ts} BETWEEN {b.ts} AND {b.ts} + INTERVAL 1 second", "{a.v} > {b.n} + {i}",
    "({a.k} = {b.k} OR {a.n} = {b.n})",
)  # fmt: skip
_OUTPUTS = (
    ("{a.k}", "int"), ("{a.k}", "int"), ("{a.v}", "num"), ("{a.v}", "num"), ("{a.n}", "int"), ("{a.s}", "text"),
    ("{b.k}", "int"), ("{b.v}", "num"), ("{b.ts}", "time"), ("{a.ts}", "time"), ("{a.v} + {b.n}", "num"),
    ("{a.n} * {i}", "int"), ("{i}", "int"), ("'{w}'", "text"), ("{d}", "num"), ("UPPER({b.s})", "text"),
    ("COALESCE({a.s}, '{w}')", "text"), ("CASE WHEN {a.v} > {d} THEN '{w}' ELSE 'x' END", "text"),
    ("{a.v} > {b.n}", "bool"),
)  # fmt: skip
_GROUPS = (
    ("{a.k}", "int"), ("{a.k}", "int"), ("{a.k}", "int"), ("{b.s}", "text"), ("{b.n}", "int"), ("{a.k} % 2", "int"),
    ("{a.v} > {d}", "bool"), ("UPPER({a.s})", "text"), ("COALESCE({b.k}, {i})", "int"), ("{b.v}", "num"),
)  # fmt: skip
_AGGREGATES = (
    ("COUNT(*)", "int"), ("COUNT(*)", "int"), ("COUNT({a.s})", "int"), ("COUNT({b.v})", "int"), ("SUM({a.v})", "num"),
    ("SUM({b.n})", "int"), ("SUM({a.v} + {b.v})", "num"), ("SUM({a.v} * {b.v})", "num"), ("AVG({a.v})", "mean"),
    ("AVG({b.n})", "mean"), ("MIN({a.v})", "num"), ("MAX({b.v})", "num"), ("MIN({a.n})", "int"), ("MAX({a.s})", "text"),
    ("MIN({a.ts})", "time"), ("COUNT(DISTINCT {a.k})", "int"), ("COUNT(DISTINCT {b.s})", "int"),
    ("SUM({a.v}) + COUNT(*)", "num"), ("MAX({a.v}) - MIN({a.v})", "num"),
    ("SUM(CASE WHEN {a.v} > {d} THEN 1 ELSE 0 END)", "int"), ("COUNT(*) > {i}", "bool"),
)  # fmt: skip
_HAVING = (
    "COUNT(*) > {i}", "COUNT(*) > {i}", "SUM({a.v}) > {d}", "MAX({b.v}) >= {d}", "COUNT(DISTINCT {a.k}) > 1",
    "MIN({a.n}) <= {j} AND COUNT(*) < 9", "AVG({a.v}) < {d}", "MAX({b.s}) IS NOT NULL", "NOT COUNT({a.v}) = {i}",
)  # fmt: skip


@dataclass
class LanguageWorkload(Workload):
    """Questions, the files of every stream, and relations."""

    queries: list[Question]
    relations: dict[str, list[Row]] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Data:
        """All the rows."""
        return Data({**SCHEMAS, **RELATIONS}, {**self.rows, **self.relations}, tuple(SCHEMAS), VALID)

    def catalog(self, folder: Path, files_per_trigger: int = 1) -> dict[str, Any]:
        """A catalog whose streams and relations are read from below a folder."""
        relations = {
            name: {"schema": schema, "source": source_of(folder / name, self.formats[name])}
            | ({"valid": list(VALID[name])} if name in VALID else {})
            for name, schema in RELATIONS.items()
        }
        return super().catalog(folder, files_per_trigger) | {"relations": relations}

    def write(self, folder: Path, part: int = 0, parts: int = 1) -> None:
        """Write one of so many parts of the files of every stream, and all the relations with the first."""
        super().write(folder, part, parts)
        for name, rows in self.relations.items() if part == 0 else ():
            write_table(folder / name, rows, RELATIONS[name], self.formats[name])


def workload(seed: int, *, kinds: Collection[str] = KINDS, queries: int | None = None) -> LanguageWorkload:
    """A random set of questions of these kinds, and rows for them."""
    rng = random.Random(seed)
    maker = _Maker(rng, most=rng.choice((12, 16, 16, 25, 25, 45)))
    count = queries or rng.choice((1, 2, 3, 5, 8, 12, 20))
    chosen = [kind for kind in (*KINDS, "derived") if kind in kinds]
    each = -(-count // rng.randint(1, 3))
    while len(maker.asked) < count:
        family = maker.family(rng.choice(chosen))
        for _ in range(min(each, max(1, count - len(maker.asked)))):
            maker.ask(family)
    files = {
        stream: []
        if rng.random() < 0.04
        else uneven(rng, arrivals(rng, stream, rng.randint(maker.most // 2, maker.most)))
        for stream in SCHEMAS
    }
    format = rng.choice(("parquet", "parquet", "parquet", "csv", "json"))
    formats = {name: rng.choice(("parquet", "csv", "json")) for name in RELATIONS}
    relations = {"Racks": _racks(rng), "Kinds": _kinds(rng)}
    return LanguageWorkload(seed, maker.asked, files, format, relations=relations, formats=formats)


@dataclass(frozen=True)
class _Family:
    """What queries that are alike have in common: patterns with the places of their inputs, and the rest."""

    kind: str
    sources: tuple[str, ...]
    """Streams and queries before relations."""
    columns: tuple[Mapping[str, str], ...]
    """What stands for k, v, n, s and ts in each source."""
    conditions: tuple[tuple[str, tuple[int, ...]], ...]
    optional: tuple[tuple[str, tuple[int, ...]], ...]
    outputs: tuple[tuple[str, str, tuple[int, ...]], ...]
    groups: tuple[tuple[str, str, tuple[int, ...]], ...] = ()
    having: tuple[tuple[str, tuple[int, ...]], ...] = ()
    shape: str = "plain"
    """plain, aggregate or distinct."""
    units: tuple[str, ...] = ()
    """The unit of the window of each stream, or nothing."""
    rich: bool = False


class _Place:
    """Writes columns of an input."""

    def __init__(self, alias: str, columns: Mapping[str, str]) -> None:
        self._alias = alias
        self._columns = columns

    def __getattr__(self, role: str) -> str:
        if role not in self._columns:
            raise AttributeError(role)
        return f"{self._alias}.{self._columns[role]}"


class _Maker:
    """Makes families and questions; those that read others come after them."""

    def __init__(self, rng: random.Random, most: int) -> None:
        self.rng = rng
        self.most = most
        self.asked: list[Question] = []

    # Families

    def family(self, kind: str, *, rich: bool = False) -> _Family:
        """A family of a kind; a rich one has many results."""
        rng = self.rng
        shape = {"aggregate": "aggregate", "distinct": "distinct"}.get(kind, "plain")
        source = kind
        if kind in ("aggregate", "distinct"):
            source = rng.choice(("one", "one", "one", "join", "join", "theta", "count", "relation", "star"))
        elif kind == "derived":
            shape = rng.choice(("plain", "plain", "aggregate", "aggregate", "distinct"))
        elif rng.random() < 0.1 and kind == "count":
            shape = "aggregate"
        sources = tuple(getattr(self, f"_sources_of_{source}")())
        columns = tuple(map(self._columns, sources))
        moving = sum(name not in RELATIONS for name in sources)
        conditions = self._ties(source, sources, columns, moving, _KEYS[:1] if rich else _KEYS)
        optional = self._some(_SELECTIONS, columns, rng.choice((0, 0, 1, 1, 2)), moving if rng.random() < 0.7 else 0)
        if len(sources) > 1:
            optional += self._some(_RESIDUALS, columns, rng.choice((0, 0, 0, 1)))
        return _Family(
            kind,
            sources,
            columns,
            tuple(conditions),
            () if rich else tuple(optional),
            tuple(self._some(_AGGREGATES if shape == "aggregate" else _OUTPUTS, columns, rng.randint(1, 4))),
            tuple(self._some(_GROUPS, columns, rng.choice((0, 1, 1, 1, 2)))) if shape == "aggregate" else (),
            tuple(self._some(_HAVING, columns, rng.choice((0, 0, 1, 2)))) if shape == "aggregate" and not rich else (),
            shape,
            self._units(kind, source, sources[:moving], moving > 1 or shape != "plain"),
            rich,
        )

    def _streams(self, count: int) -> list[str]:
        known = self.rng.sample(tuple(SCHEMAS), len(SCHEMAS))
        return [self.rng.choice(known) if self.rng.random() < 0.3 else known[i % len(known)] for i in range(count)]

    def _sources_of_one(self) -> list[str]:
        return self._streams(1)

    def _sources_of_join(self) -> list[str]:
        counts = {12: (2, 3, 4, 4), 16: (2, 2, 3, 4), 25: (2, 2, 3)}.get(self.most, (2, 2, 2, 3))
        return self._streams(self.rng.choice(counts))

    def _sources_of_theta(self) -> list[str]:
        return self._streams(self.rng.choice((2, 2, 3)) if self.most <= 12 else 2)

    def _sources_of_count(self) -> list[str]:
        sources = self._streams(self.rng.choice((1, 2, 2, 2, 3)))
        return sources + (["Racks"] if self.rng.random() < 0.15 else [])

    def _sources_of_relation(self) -> list[str]:
        relations = (["Racks"], ["Racks"], ["Kinds"], ["Racks", "Kinds"], ["Kinds", "Racks"], ["Racks", "Racks"])
        return self._streams(1) + self.rng.choice(relations)

    def _sources_of_star(self) -> list[str]:
        streams = self._streams(self.rng.choice((2, 2, 3)) if self.most <= 16 else 2)
        return streams + self.rng.choice((["Racks"], ["Racks"], ["Racks", "Kinds"]))

    def _sources_of_derived(self) -> list[str]:
        read = self._read()
        beside = self.rng.choice(
            ([], [], [], ["stream"], ["stream"], ["Racks"], ["Kinds"], ["read"], ["stream", "Racks"])
        )
        given = {"stream": self._streams(1)[0], "read": self._read() if beside == ["read"] else ""}
        return [read, *(given.get(name, name) for name in beside)]

    def _read(self) -> str:
        """A query to read: one there is, or one that is made for it."""
        able = [question.name for question in self.asked if "int" in question.kinds]
        if not able or self.rng.random() < 0.3:
            kinds = [kind for kind in KINDS if kind != "derived"]
            while "int" not in self.ask(self.family(self.rng.choice(kinds), rich=True)).kinds:
                pass
            return self.asked[-1].name
        return self.rng.choice(able)

    def _columns(self, name: str) -> dict[str, str]:
        """What stands for k, v, n, s and ts."""
        if name in SCHEMAS:
            return {role: role for role in ("k", "v", "n", "s", "ts")}
        if name == "Racks":
            return {"k": "k", "v": "v", "n": "k", "s": "s", "ts": "since"}
        if name == "Kinds":
            return {"k": "k", "v": "n", "n": "n", "s": "s"}
        (question,) = [question for question in self.asked if question.name == name]
        columns: dict[str, list[str]] = {}
        for (_, column), kind in zip(question.outputs, question.kinds, strict=True):
            columns.setdefault(kind, []).append(column)
        found = {"k": self.rng.choice(columns["int"]), "n": self.rng.choice(columns["int"]), "ts": "_ts"}
        found["v"] = self.rng.choice(columns.get("num", columns["int"]))
        return found | ({"s": self.rng.choice(columns["text"])} if "text" in columns else {})

    def _ties(
        self,
        source: str,
        sources: tuple[str, ...],
        columns: tuple[Mapping[str, str], ...],
        moving: int,
        keys: tuple[str, ...],
    ) -> list[tuple[str, tuple[int, ...]]]:
        """Conditions that every query of the family has: those that join its inputs."""
        rng, found = self.rng, []
        patterns = _THETAS if source == "theta" else keys
        star = source == "star" or rng.random() < 0.3
        for place in range(1, moving):
            if source == "theta" and rng.random() < 0.15:
                continue  # no condition at all
            if source != "star":
                found += self._some(patterns, columns, 1, places=(0 if star else rng.randrange(place), place))
        if moving > 2 and rng.random() < 0.3:  # a circle
            found += self._some(patterns, columns, 1, places=(0, moving - 1))
        for place in range(moving, len(sources)):
            if source == "star" and place == moving:
                tied = list(range(moving))
                if rng.random() < 0.3:  # some through another stream
                    found.append((_KEYS[0], (0, 1, 0)))
                    tied = tied[1:]
                found += [
                    made
                    for stream in tied
                    for made in self._some(
                        keys if rng.random() < 0.25 else _KEYS[:1], columns, 1, places=(stream, place)
                    )
                ]
            elif rng.random() < 0.93:
                patterns = _THETAS if rng.random() < 0.15 else keys
                found += self._some(patterns, columns, 1, places=(rng.randrange(place), place))
        return found

    def _some(
        self,
        patterns: tuple[Any, ...],
        columns: tuple[Mapping[str, str], ...],
        count: int,
        most: int = 0,
        places: tuple[int, ...] | None = None,
    ) -> list[Any]:
        """So many of the patterns whose columns there are, with places: for a, b and c."""
        found: list[Any] = []
        while len(found) < count:
            chosen = self.rng.choice(patterns)
            every = self.rng.sample(range(len(columns)), len(columns))
            where = places or tuple([p for p in every if p < (most or len(columns))] + every)[:3]
            where = (where * 3)[:3]
            text = chosen if isinstance(chosen, str) else chosen[0]
            try:
                _written(text, where, tuple(map(str, range(len(columns)))), columns, {})
            except AttributeError:
                continue
            found.append((chosen, where) if isinstance(chosen, str) else (*chosen, where))
        return found

    def _units(self, kind: str, source: str, streams: tuple[str, ...], needed: bool) -> tuple[str, ...]:
        """The units of the windows; joins alone are left without windows of rows."""
        counted = source == "count" or (kind not in ("join", "theta") and self.rng.random() < 0.12)
        if not needed and not counted:
            return ("",) * len(streams)
        mixed = counted and len(streams) > 1 and self.rng.random() < 0.4
        units = ["rows" if counted and (not mixed or self.rng.random() < 0.5) else "time" for _ in streams]
        if source == "count" and "rows" not in units:
            units[0] = "rows"
        return tuple("time" if name not in SCHEMAS else unit for name, unit in zip(streams, units, strict=True))

    # Questions

    def ask(self, family: _Family) -> Question:
        """One more question of a family."""
        rng = self.rng
        names = rng.sample(("A", "B", "C", "D", "x", "heat", "other"), len(family.sources))
        values = self._values()

        def written(pattern: str, where: tuple[int, ...]) -> str:
            return _written(pattern, where, names, family.columns, values)

        conditions = [written(*pattern) for pattern in family.conditions]
        for pattern in family.optional:
            if rng.random() < 0.8:
                values = self._values()
                conditions.append(written(*pattern))
        rng.shuffle(conditions)
        groups = [(written(text, where), kind) for text, kind, where in family.groups]
        columns = [group for group in groups if rng.random() < 0.9]
        columns += [(written(text, where), kind) for text, kind, where in family.outputs]
        if rng.random() < 0.15:
            columns = columns[: rng.randint(1, len(columns))]
        having = [written(*pattern) for pattern in family.having if rng.random() < 0.7]
        windows, one = self._windows(family)
        inputs = [Input(*parts) for parts in zip(family.sources, names, windows, strict=True)]
        if rng.random() < 0.3:
            rng.shuffle(inputs)
        question = Question(
            f"q{len(self.asked)}",
            tuple(inputs),
            tuple(conditions),
            tuple((expr, f"c{number}") for number, (expr, _) in enumerate(columns)),
            tuple(dict.fromkeys(expr for expr, _ in groups)),
            tuple(dict.fromkeys(having)),
            rng.choice(_SLIDES) if family.shape != "plain" else None,
            family.shape == "distinct",
            one,
            tuple(kind for _, kind in columns),
            family.kind,
        )
        if family.shape == "aggregate" and not question.is_aggregate:
            return self.ask(family)
        self.asked.append(question)
        return question

    def _values(self) -> dict[str, Any]:
        low = self.rng.randrange(3)
        return {
            "d": self.rng.choice(("0.5", "0.5", "1.5", "2.0", "3.5", "-1.5", "-1.5")),
            "i": low,
            "j": low + self.rng.randrange(3),
            "w": self.rng.choice(("a", "b", "ab", "é")),
            "t": f"{self.rng.randrange(12):02}",
        }

    def _windows(self, family: _Family) -> tuple[list[Window | None], bool]:
        """The windows of all the inputs, and whether there is one for all."""
        units = [*family.units, *[""] * (len(family.sources) - len(family.units))]
        used = {unit for unit in units if unit}
        one = len(used) == 1 and self.rng.random() < 0.6
        few = family.rich or ((self.most <= 16 or len(family.units) > 2) and self.rng.random() < 0.8)
        sizes: dict[str, tuple[int, ...]] = {"rows": _ROWS[1:] if few else _ROWS, "time": _LONG if few else _WINDOWS}
        if family.shape == "plain":
            sizes["time"] += (3600 * SECOND,)
        size = {unit: self.rng.choice(sizes[unit]) for unit in sorted(used)}
        return [(unit, size[unit] if one else self.rng.choice(sizes[unit])) if unit else None for unit in units], one


def _written(
    pattern: str, where: tuple[int, ...], names: Any, columns: tuple[Mapping[str, str], ...], values: Mapping[str, Any]
) -> str:
    """A pattern with the columns of the inputs in its places, and with constants."""
    places = {letter: _Place(names[place], columns[place]) for letter, place in zip("abc", where, strict=True)}
    return pattern.format(**places, **(values or dict.fromkeys("dijwt", "")))


def _racks(rng: random.Random) -> list[Row]:
    """Rows whose times overlap, touch, leave gaps, never begin or never end."""
    rows: list[Row] = []
    for k in (0, 1, 1, 2, 3, 4, None):
        time = START + timedelta(milliseconds=rng.randrange(-8_000, 20_000, 250))
        for _ in range(rng.choice((0, 1, 2, 3))):
            end = time + timedelta(milliseconds=rng.choice((250, 2_000, 5_000, 10_000, 20_000)))
            since = None if rng.random() < 0.06 else START - timedelta(days=1) if rng.random() < 0.4 else time
            until = None if rng.random() < 0.06 else LATER if rng.random() < 0.4 else end
            rows.append({"k": k, **_beside(rng), "since": since, "until": until})
            time = end + timedelta(milliseconds=rng.choice((0, 0, 0, -1_000, 1_000)))
    rng.shuffle(rows)
    return [{name: row[name] for name in RELATIONS["Racks"]} for row in rows]


def _kinds(rng: random.Random) -> list[Row]:
    """A few rows, some of them alike."""
    rows = [
        {"k": rng.choice((0, 1, 1, 2, 3, None)), "n": rng.choice((0, 1, 2, 3, None)), **_beside(rng)}
        for _ in range(rng.randrange(7))
    ]
    return [{name: row[name] for name in RELATIONS["Kinds"]} for row in rows]


def _beside(rng: random.Random) -> Row:
    return {
        "v": rng.choice((None, *(n / 2 for n in range(-2, 10)))),
        "s": rng.choice(("a", "b", "ab", "Ab", "é", None)),
    }
