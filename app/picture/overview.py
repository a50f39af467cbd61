"""The figures of the whole plan, and how long the last steps of its run took."""

from __future__ import annotations

from penstock.compiler.explain.cost import predicted
from penstock.compiler.explain.words import number
from penstock.compiler.strategies import predicted_rows
from penstock.picture.markup import Html, count, element, joined, percent
from penstock.picture.picture import Picture
from penstock.picture.run import Run


def summary(picture: Picture) -> Html:
    """What there is, in a line."""
    plan, settings = picture.shared, picture.settings
    parts = [
        count(picture.queries, "query", "queries"),
        count(len(picture.chains), "stream"),
        count(len(plan.chains), "chain"),
        count(len(plan.joins), "join"),
        f"sharing {settings.sharing}",
    ]
    parts += [f"objective {settings.objective}"] if settings.sharing == "slice" else []
    return element("span", " · ".join(parts), class_="summary")


def figures(picture: Picture) -> Html:
    """What the plan is predicted to need, what each query alone would, and what was measured."""
    predictions = {own.strategy: own for own in picture.predictions(picture.shared.joins)}
    chosen = predictions.pop(picture.settings.sharing, None)
    alone = predictions.get("none")
    rows = number(predicted_rows(picture.shared, picture.estimates))
    tiles = [_tile(rows, "rows kept, predicted", _alone(alone.rows if alone else None))]
    if chosen is not None:
        work = predicted(chosen.comparisons)
        tiles.append(_tile(work, "comparisons a second, predicted", _alone(alone.comparisons if alone else None)))
    return joined(element("div", tiles, _measured(picture), class_="tiles"), _other_plan(picture.run))


def steps(picture: Picture) -> Html | None:
    """How long each of the last steps took."""
    run = picture.run
    if run is None or not run.steps:
        return None
    longest = max(step["seconds"] for step in run.steps)
    bars = [
        element(
            "i",
            style=f"height:{percent(step['seconds'] / longest)}",
            title=f"step {step['step']:,}: {step['seconds']:.3f} s, {sum(step['rows'].values()):,} rows, "
            f"{step['results']:,} results",
        )
        for step in run.steps
    ]
    words = f"Each bar is a step, the latest on the right; the longest took {longest:.2f} s."
    return joined(
        element("h2", "How long the last steps took"),
        element("p", words, class_="legend"),
        element("div", bars, class_="steps"),
    )


def _measured(picture: Picture) -> list[Html]:
    run = picture.run
    if run is None:
        return []
    kept = sum(run.kept.get(keeper.id, 0) for keepers in picture.chains.values() for keeper in keepers)
    tiles = [_tile(f"{kept:,}", f"rows kept after step {run.step:,}, measured", measured=True)]
    if run.seconds is not None and run.rows_a_second is not None:
        words = "a step as a rule, measured"
        tiles.append(_tile(f"{run.seconds:.2f} s", words, f"{number(run.rows_a_second)} rows a second", measured=True))
    if run.results:
        total = sum(run.results.values())
        tiles.append(_tile(f"{total:,}", "results, measured", measured=True))
    return tiles


def _other_plan(run: Run | None) -> Html | None:
    if run is None or not run.is_other_plan:
        return None
    words = f"What was measured is of the plan that was run, version {run.version}, and this is another one."
    return element("p", words, class_="note")


def _alone(figure: float | None) -> str:
    return "" if figure is None else f"{number(figure)} if each query had its own"


def _tile(value: str, what: str, more: str = "", *, measured: bool = False) -> Html:
    below = element("small", more) if more else None
    return element(
        "div",
        element("b", value),
        " ",
        element("span", what),
        " ",
        below,
        class_="tile measured" if measured else "tile",
    )
