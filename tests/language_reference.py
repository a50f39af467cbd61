"""The slow reference of the whole language: every query from the raw rows, in one go, by DuckDB.

Every row of a stream is in its window from its time on up to an end: a time later by the window's length, or the time
of the row by which it is no longer among the last ones. A combination is a result at the largest of its times if that
is before all the ends; an aggregate sees it at every instant from that time on which is before all the ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import duckdb
import pyarrow as pa

from penstock.tests.duck import Bag, _comparable, _naive
from penstock.tests.language_questions import Data, Input, Question
from penstock.tests.streams import _ARROW, SECOND

FOREVER = 2**62
REEVALUATE = 1 * SECOND
Watermarks = Mapping[str, int | None]
_MEAN = re.compile(r"\bAVG\(([^()]*)\)")
_EQUALITY = re.compile(r"([^=<>()]+) = ([^=<>()]+)")
_WORDS = re.compile(r"\b(AND|OR|NOT|BETWEEN|CASE|LIKE|IN|IS)\b")
_ALIAS = re.compile(r"\b([A-Za-z]\w*)\.(?=[A-Za-z_])")
_TEXT = re.compile(r"'(?:[^']|'')*'")


def answers(
    questions: Iterable[Question], data: Data, *, until: Watermarks | int | None = None, drained: bool = False
) -> dict[str, Bag]:
    """What every query must have given.

    `until` says how far the watermarks of the streams are, or that of them all; by itself as far as the rows take
    them. `drained`: the streams have ended, and every window is closed.
    """
    with duckdb.connect() as connection:
        reference = _Reference(connection, data, {question.name: question for question in questions})
        if drained:
            until = FOREVER
        reference.watermarks = {
            name: until if isinstance(until, int) else (data.watermarks if until is None else until).get(name)
            for name in data.streams
        }
        reference.drained = drained
        return {name: reference.answer(name) for name in reference.questions}


def slide_of(question: Question) -> int:
    """How far the instants of an aggregate are apart."""
    if question.slide is not None:
        return question.slide
    return min([REEVALUATE, *(size for unit, size in question.windows if unit == "time")])


def last_instant(question: Question, newest: int) -> int | None:
    """The last instant of an aggregate when the streams have ended; None if its windows end by themselves.

    Rows in windows of a number of rows stay for ever: when no other window ends, the first instant that sees all the
    rows is the last.
    """
    if any(unit == "time" for unit, _ in question.windows):
        return None
    slide = slide_of(question)
    return -(-newest // slide) * slide


def ties(question: Question, data: Data, type_of: Mapping[str, str]) -> dict[str, set[str]]:
    """The streams whose rows a row of each relation with validity must hold for, by alias.

    Those that occur in one condition together with it, or in equalities of one type that are connected with it; all
    if there are none. `type_of` gives the types of the sides of equalities.
    """
    relations = set(data.schemas) - set(data.streams)
    streams = {source.alias for source in question.inputs if source.name not in relations}
    together = [aliases_in(condition) for condition in question.conditions]
    equalities = [sides for condition in question.conditions if (sides := sides_of(condition))]
    together += [set().union(*map(aliases_in, connected)) for connected in _connected(equalities, type_of)]
    result = {}
    for source in question.inputs:
        if source.name in data.valid:
            tied = {alias for group in together if source.alias in group for alias in group & streams}
            result[source.alias] = tied or streams
    return result


def sides_of(condition: str) -> tuple[str, str] | None:
    """Both sides of a condition that says that expressions over two different inputs are equal."""
    found = _EQUALITY.fullmatch(condition)
    if found is None or _WORDS.search(condition):
        return None
    left, right = aliases_in(found[1]), aliases_in(found[2])
    return (found[1], found[2]) if len(left) == len(right) == 1 and left != right else None


def aliases_in(expression: str) -> set[str]:
    """The aliases an expression uses."""
    return set(_ALIAS.findall(_TEXT.sub("''", expression)))


def _connected(equalities: list[tuple[str, str]], type_of: Mapping[str, str]) -> list[set[str]]:
    """Expressions that must all be equal: across types equality is not transitive."""
    classes: list[set[str]] = []
    for left, right in equalities:
        if type_of[left] == type_of[right]:
            merged = {left, right}
            for known in [c for c in classes if c & merged]:
                classes.remove(known)
                merged |= known
            classes.append(merged)
    return classes


class _Reference:
    """Answers of queries, each kept as a table for those that read it."""

    watermarks: Watermarks
    drained: bool

    def __init__(self, connection: duckdb.DuckDBPyConnection, data: Data, questions: dict[str, Question]) -> None:
        self.connection = connection
        self.data = data
        self.questions = questions
        self.answered: dict[str, Bag] = {}
        for name, schema in data.schemas.items():
            rows = [
                {key: _naive(row[key]) for key in schema} | {"_position": position}
                for position, row in enumerate(data.rows.get(name, ()))
            ]
            types = {
                column: pa.timestamp("us") if type_ == "timestamp" else _ARROW[type_]
                for column, type_ in schema.items()
            }
            table = pa.Table.from_pylist(rows, pa.schema([*types.items(), ("_position", pa.int64())]))
            connection.register("given", table)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            connection.unregister("given")

    def answer(self, name: str) -> Bag:
        """The answer of a query, those that it reads first."""
        if name not in self.answered:
            question = self.questions[name]
            for read in question.reads:
                if read in self.questions:
                    self.answer(read)
            self.connection.execute(f"CREATE TABLE {name} AS {self.sql(question)}")
            for column, type_, *_ in self.connection.execute(f"DESCRIBE {name}").fetchall():
                wanted = "BIGINT" if type_ == "HUGEINT" else "DOUBLE" if type_.startswith("DECIMAL") else type_
                if wanted != type_:
                    self.connection.execute(f'ALTER TABLE {name} ALTER "{column}" TYPE {wanted}')
            self.answered[name] = Counter(map(_comparable, self.connection.execute(f"FROM {name}").fetchall()))
        return self.answered[name]

    def watermark(self, name: str) -> int | None:
        """The watermark of a stream, or the smallest of those of a query's streams."""
        if name not in self.questions:
            return self.watermarks[name]
        found = [self.watermark(read) for read in self.questions[name].reads if read not in self._relations]
        return None if None in found else min(time for time in found if time is not None)

    @property
    def _relations(self) -> set[str]:
        return set(self.data.schemas) - set(self.data.streams)

    def sql(self, question: Question) -> str:
        """A query as DuckDB reads it."""
        streams = [source for source in question.inputs if source.name not in self._relations]
        sources = ", ".join(self._source(source) for source in question.inputs)
        times = [f"{source.alias}._at" for source in streams]
        time = f"GREATEST({', '.join(times)})" if len(times) > 1 else times[0]
        watermark = self.watermark(question.name)
        if question.is_aggregate:
            sources += f", ({self._instants(question, streams, watermark)}) AS _instants"
            time = "_instants._t"
        columns = ", ".join(f'{_duck(expr)} AS "{name}"' for expr, name in question.outputs)
        conditions = [*question.conditions, *self._valid(question, streams)]
        conditions += [f"{start} <= {time}" for start in times]
        conditions += [f"{time} < {source.alias}._end" for source in streams]
        if not question.is_plain:
            conditions.append("FALSE" if watermark is None else f"{time} < {watermark}")
        text = f"SELECT {'DISTINCT ' * question.distinct}make_timestamp({time}) AS _ts, {columns} FROM {sources}"
        text += f" WHERE {' AND '.join(f'({condition})' for condition in conditions)}"
        if question.is_aggregate and not question.distinct:
            text += f" GROUP BY {', '.join([time, *question.groups])}"
        return text + (f" HAVING {' AND '.join(map(_duck, question.having))}" if question.having else "")

    def _source(self, source: Input) -> str:
        """A relation, or a stream whose rows say from when and until when they are in their window."""
        if source.name in self._relations:
            return f"{source.name} AS {source.alias}"
        time = self._time(source)
        unit, size = source.window or ("time", FOREVER // 2)
        end = f"epoch_us({time}) + {size}"
        if unit == "rows":
            end = f"COALESCE(LEAD(epoch_us({time}), {size}) OVER (ORDER BY {time}, _position), {FOREVER})"
        return f"(SELECT *, epoch_us({time}) AS _at, {end} AS _end FROM {source.name}) AS {source.alias}"

    def _time(self, source: Input) -> str:
        return "_ts" if source.name in self.questions else "ts"

    def _instants(self, question: Question, streams: list[Input], watermark: int | None) -> str:
        """The instants at which there may be something, up to the watermark or the end."""
        first, newest = FOREVER, 0
        for source in streams:
            time = self._time(source)
            found = self.connection.execute(f"SELECT epoch_us(MIN({time})), epoch_us(MAX({time})) FROM {source.name}")
            low, high = found.fetchone() or (None, None)
            if low is None:
                return "SELECT 0 AS _t WHERE FALSE"
            first, newest = min(first, low), max(newest, high)
        last = newest + max((size for unit, size in question.windows if unit == "time"), default=0)
        if self.drained:
            stop = last_instant(question, newest)
            last = last if stop is None else stop
        else:
            last = 0 if watermark is None else watermark
        slide = slide_of(question)
        return f"SELECT UNNEST(generate_series({-(-first // slide)}, {last // slide})) * {slide} AS _t"

    def _valid(self, question: Question, streams: list[Input]) -> Iterator[str]:
        """The rows of relations hold at the times of the rows they are tied to."""
        sources = ", ".join(f"{source.name} AS {source.alias}" for source in question.inputs)
        sides = {side for condition in question.conditions for side in sides_of(condition) or ()}
        types = {
            side: self.connection.execute(f"DESCRIBE SELECT {side} FROM {sources}").fetchall()[0][1] for side in sides
        }
        tied = ties(question, self.data, types)
        names = {source.alias: source.name for source in question.inputs}
        for relation, aliases in tied.items():
            begin, end = self.data.valid[names[relation]]
            for source in streams:
                if source.alias in aliases:
                    time = f"{source.alias}.{self._time(source)}"
                    yield f"{relation}.{begin} <= {time} AND {time} < {relation}.{end}"


def _duck(expression: str) -> str:
    """A mean is a sum by a count, one division of doubles."""
    return _MEAN.sub(r"(CAST(SUM(\1) AS DOUBLE) / COUNT(\1))", expression)
