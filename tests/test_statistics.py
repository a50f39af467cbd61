"""What a run measures, and plans that change because of it."""

from __future__ import annotations

import random
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

import penstock
from penstock import learning
from penstock.compiler.adapt import is_worth
from penstock.compiler.estimate import Estimates, Measured
from penstock.compiler.program import Program
from penstock.compiler.shared import SharedPlan
from penstock.runtime import propagate, statistics
from penstock.runtime.chunks import Accepted, Batch
from penstock.runtime.engine import Engine, Migration
from penstock.runtime.reach import acceptances
from penstock.runtime.session import SparkSession
from penstock.runtime.statistics import Statistics, distinct_of_all, read_measured
from penstock.runtime.storage import Storage
from penstock.session import Session
from penstock.tests.duck import differences, expected, session_read
from penstock.tests.streams import SECOND, START, Asked, Workload, random_row
from penstock.tests.test_runtime_parts import CATALOG, JOIN, heat_chain


def batch(number: int, low: float, high: float, rows: int = 100, accepted: tuple[Accepted, ...] = ()) -> Batch:
    """A batch of a stream S between two seconds."""
    return Batch("S", number, rows, 0, 0, round(low * SECOND), round(high * SECOND), (), 1, accepted)


def after(*batches: Batch) -> Measured:
    """What is known after a step for each of the batches."""
    found = Statistics()
    for own in batches:
        found.add({"S": [own]}, 0.1)
    return found.measured()


def test_rate() -> None:
    """A stream's rate is that of its recent batches, in whichever order they come, and needs a span of time."""
    batches = [batch(number, number, number + 1) for number in range(20)]
    random.Random(1).shuffle(batches)
    assert after(*batches).rates["S"] == pytest.approx(100, rel=0.03)
    assert after(batch(0, 0, 4)).rates["S"] == pytest.approx(25, rel=0.03)
    assert not after(batch(0, 3, 3), Batch("S", 1, 5, 0, 5, None, None, ())).rates
    slower = [batch(100 + i, 20 + 10 * i, 30 + 10 * i) for i in range(statistics._RECENT)]
    assert after(*batches, *slower).rates["S"] == pytest.approx(10, rel=0.03)


def test_rate_of_one_wrong_clock() -> None:
    """One batch from another century does not stretch the time of the others."""
    batches = [batch(i, i, i + 1) for i in range(20)]
    batches[7] = batch(7, 7, 3_000_000_000)
    assert after(*batches).rates["S"] == pytest.approx(100, rel=0.1)


def test_late_rows_do_not_count() -> None:
    """Rows that were set aside are no part of the stream."""
    late = Batch("S", 0, 100, 20, 30, 0, SECOND, (), 1, (Accepted("x", 1, 25),))
    assert after(late).rates["S"] == pytest.approx(50, rel=0.03)
    assert after(late).selectivities["S", "x"] == pytest.approx(0.5)


def test_selectivity() -> None:
    """The part that one set of constants accepts, told from what any of several accepts, over all recent rows."""
    batches = [
        batch(0, 0, 1, 100, (Accepted("S.a = _query.c", 2, 75),)),
        batch(1, 1, 2, 300, (Accepted("S.a = _query.c", 1, 90),)),
    ]
    assert after(*batches).selectivities["S", "S.a = _query.c"] == pytest.approx((100 * 0.5 + 300 * 0.3) / 400)


def test_figures_are_steady() -> None:
    """A figure is told again as it was until it has moved by a fifth."""
    found = Statistics()
    found.add({"S": [batch(0, 0, 1)]}, 0.1)
    assert found.measured().rates["S"] == pytest.approx(100, rel=0.03)
    found.add({"S": [batch(1, 1, 2, 130)]}, 0.1)
    assert found.measured().rates["S"] == pytest.approx(100, rel=0.03)
    found.add({"S": [batch(2, 2, 3, 200)]}, 0.1)
    assert found.measured().rates["S"] == pytest.approx(430 / 3, rel=0.03)


@pytest.mark.parametrize(("distinct", "rows"), [(100, 1000), (5000, 4000), (20, 100_000), (30_000, 4000)])
def test_distinct_of_all(distinct: int, rows: int) -> None:
    """The number of values is told from a sample, whether it has met all of them or not."""
    rng = random.Random(distinct)
    found = len({rng.randrange(distinct) for _ in range(rows)})
    assert distinct_of_all(found, rows) == pytest.approx(distinct, rel=0.1)


def test_distinct_of_all_different() -> None:
    """When hardly a value comes twice, no more is told than the rows allow."""
    assert distinct_of_all(1000, 1000) == distinct_of_all(1040, 1000) == 10_000
    assert distinct_of_all(1, 1000) == pytest.approx(1)


def test_what_is_counted() -> None:
    """Values are counted in enough rows, and again only in many more or a while later."""
    found = Statistics()
    assert found.to_count("S", ("k", "n"), 999, 1) == ()
    assert found.to_count("S", ("k", "n"), 1000, 1) == ("k", "n")
    found.add_distinct("S", {"k": 10}, 1000, 1)
    assert found.to_count("S", ("k", "n"), 1999, 64) == ("n",)
    assert found.to_count("S", ("k",), 2000, 2) == found.to_count("S", ("k",), 1000, 65) == ("k",)
    assert found.measured().distinct == {("S", "k"): pytest.approx(10)}


def csys(steps: list[tuple[int, float]]) -> float | None:
    """What steps of so many rows and seconds tell."""
    found = Statistics()
    for rows, seconds in steps:
        found.add({"S": [batch(0, 0, 1, rows)]}, seconds)
    return found.measured().csys


def test_csys() -> None:
    """The overhead of a step for each row, in what a row costs, though one step waited for a compiler."""
    steps = [(rows, 0.5 + rows * 1e-5) for rows in range(10_000, 30_000, 1000)]
    mean = sum(rows for rows, _ in steps) / len(steps)
    assert csys(steps) == pytest.approx(0.5 / (mean * 1e-5))
    assert csys([(12_000, 9.0), *steps]) == pytest.approx(0.5 / (mean * 1e-5), rel=0.05)


def test_no_csys() -> None:
    """Nothing is told from few steps, from steps of one size, or when more rows take less time."""
    assert csys([(1000 * rows, rows * 1.0) for rows in range(1, 8)]) is None
    assert csys([(1000 + rows, 1.0 + rows) for rows in range(20)]) is None
    assert csys([(1000 * rows, 30.0 - rows) for rows in range(20)]) is None


def test_statistics_are_kept(tmp_path: Path) -> None:
    """What is known is there after a restart; a file that is missing or broken is as good as none."""
    storage = Storage(None, str(tmp_path))
    assert read_measured(storage) == Measured()
    found = Statistics()
    for number in range(20):
        found.add({"S": [batch(number, number, number + 1, 100 * number + 1, (Accepted("x", 1, 1),))]}, 1.0 + number)
    found.add_distinct("S", {"k": 10}, 1000, 1)
    found.write(storage)
    told = found.measured()
    assert read_measured(storage) == told and all((told.rates, told.distinct, told.selectivities, told.csys))
    for broken in ("{", "[1]", '{"rates": {"S": "x"}}', '{"distinct": 3}'):
        (tmp_path / "statistics.json").write_text(broken)
        assert read_measured(storage) == Measured()


def test_batch_round_trip() -> None:
    """What a batch says of selections is kept in its note; one of before says nothing."""
    own = batch(3, 0, 1, accepted=(Accepted("S.a > _query.c", 2, 7),))
    data = own.to_data()
    assert Batch.of(data) == own
    del data["accepted"]
    assert Batch.of(data).accepted == ()


def test_measured_selections_are_found_again() -> None:
    """What is counted at ingest is looked up for the same conditions, whatever the numbers of their parameters."""
    chain = heat_chain(
        f"{JOIN} AND A.n = 3 AND A.s <> 'x' WINDOW 3 sec", f"{JOIN} AND A.n = 4 AND A.s <> 'x' WINDOW 1 sec"
    )
    (only,) = acceptances(chain)
    assert only.sets == 2 and "_query.c " in only.text + " " and "c1" not in only.text
    known = Estimates(measured=Measured(selectivities={("Heat", only.text): 0.125}))
    assert known.selectivity("Heat", reversed(chain.wanted[0].conditions)) == 0.125
    (loose,) = acceptances(heat_chain(f"{JOIN} AND A.v > 3 WINDOW 3 sec", f"{JOIN} AND A.v > 4 WINDOW 1 sec"))
    assert loose.sets == 1


def planned(texts: list[str], measured: Measured) -> tuple[SharedPlan, Estimates]:
    """The plan of some queries, made for what is measured."""
    queries = {f"q{number}": text for number, text in enumerate(texts)}
    compiled = penstock.compile(queries, catalog=CATALOG, objective="auto")
    changed = compiled.changed(Program(compiled.catalog, compiled.settings, compiled.definitions), measured)
    return changed.shared, changed.estimates


def joins(measured: Measured, *windows: int) -> tuple[SharedPlan, Estimates]:
    """The plan of joins with some windows in seconds."""
    return planned([f"{JOIN} WINDOW {window} sec" for window in windows], measured)


SLOW = Measured(rates={"Heat": 1.0, "Wet": 1.0})
FAST = Measured(rates={"Heat": 1e6, "Wet": 1e6})


def test_worth() -> None:
    """A plan with fewer slices is worth it for slow streams and not for fast ones, and the other way round."""
    few, slow = joins(SLOW, 1, 2, 3, 4)
    many, fast = joins(FAST, 1, 2, 3, 4)
    assert [len(plan.chains[0].boundaries) for plan in (few, many)] == [2, 5]
    assert is_worth(many, few, slow) and not is_worth(few, many, slow)
    assert not is_worth(many, few, fast)
    assert not is_worth(few, few, slow) and not is_worth(many, many, fast)


def test_little_gain_is_not_worth_it() -> None:
    """A plan that is better by less than a tenth is left for later."""
    many, _ = joins(FAST, 1, 2, 60)
    few, _ = joins(SLOW, 1, 2, 60)
    assert len(few.chains[0].boundaries) < len(many.chains[0].boundaries)
    _, medium = joins(Measured(rates={"Heat": 3.0, "Wet": 3.0}), 1, 2, 60)
    assert not is_worth(many, few, medium)


def test_worth_of_an_order() -> None:
    """Another order of three streams is worth it when it saves comparisons."""
    texts = ["SELECT A.k FROM Heat A, Wet B, Load C WHERE A.k = B.k AND A.n = C.n WINDOW 10 sec"]
    before, _ = planned(texts, Measured(rates={"Heat": 100.0, "Wet": 10.0, "Load": 1000.0}))
    now, estimates = planned(texts, Measured(rates={"Heat": 100.0, "Wet": 1000.0, "Load": 10.0}))
    assert before.joins[0].orders != now.joins[0].orders
    assert is_worth(before, now, estimates) and not is_worth(now, before, estimates)


def test_adapts(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose catalog is wrong about its streams changes its plan by itself, and no result."""
    monkeypatch.setattr(learning, "LEARNED", 4)
    monkeypatch.setattr(propagate, "_FAN_IN", 2)
    monkeypatch.setattr(propagate, "_SPANS", 1)
    monkeypatch.setattr(statistics, "_FEWEST_ROWS", 2)
    monkeypatch.setattr(statistics, "_FEW_ROWS", 1)
    monkeypatch.setitem(Engine.__init__.__kwdefaults__, "step_rows", 1)
    rng = random.Random(5)
    files = {
        stream: [
            [random_row(rng, stream, START + timedelta(seconds=2 * number + part)) for part in (0, 1)]
            for number in range(8)
        ]
        for stream in ("Heat", "Wet")
    }
    asked = [
        Asked(
            f"q{seconds}",
            (("Heat", "A", seconds * SECOND), ("Wet", "B", seconds * SECOND)),
            ("A.k = B.k", f"A.v > {seconds}.5"),
            (("A.v", "v"), ("B.n", "n")),
            True,
        )
        for seconds in (1, 2, 3, 4)
    ]
    given = Workload(0, asked, files)
    given.write(tmp_path / "data")
    catalog = given.catalog(tmp_path / "data")
    for stream in catalog["streams"].values():
        stream["statistics"] = {"rate": 1_000_000, "distinct": {"k": 5}}
    (tmp_path / "data" / "Load").mkdir()
    settings = {"objective": "auto"}
    session = Session(catalog=catalog, state=tmp_path / "state", spark=spark, settings=settings)
    for own in asked:
        session.register(own.name, own.text)
    migrations: list[Migration] = []
    session.on_migration = migrations.append
    before = [chain.boundaries for chain in session.compiled.shared.chains]
    session.run(once=True)

    assert {stage.kind for stage in migrations[0].stages} == {"merge"}
    assert [migration.version for migration in migrations] == list(range(2, session.state()[0].plan + 1))
    assert all(later.step - before.step >= 4 for before, later in pairwise(migrations))
    boundaries = [chain.boundaries for chain in session.compiled.shared.chains]
    assert [len(own) for own in before] == [5, 5] and all(len(own) < 5 for own in boundaries)
    measured = session.compiled.measured
    assert measured.rates == {"Heat": pytest.approx(1), "Wet": pytest.approx(1)}
    accepted = sum(row["v"] is not None and row["v"] > 1.5 for row in given.rows["Heat"])
    assert measured.selectivities["Heat", "Heat.v > _query.c"] == pytest.approx(accepted / 16, rel=0.25)
    assert measured.distinct["Wet", "k"] > 1
    assert "1 rows/s" in session.compiled.explain("cost").splitlines()[0]
    again = Session(catalog=catalog, state=tmp_path / "state", spark=spark, settings=settings)
    assert again.compiled.measured == measured
    assert [chain.boundaries for chain in again.compiled.shared.chains] == boundaries
    wanted = expected(asked, given.rows)
    assert sum(bag.total() for bag in wanted.values()) > 10
    assert not differences(wanted, {own.name: session_read(session, own) for own in asked})
