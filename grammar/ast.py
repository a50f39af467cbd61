"""The syntax tree: what the user wrote, before any name is looked up."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.grammar.source import NO_SPAN, Span
from penstock.grammar.tree import Node


@dataclass(frozen=True, slots=True)
class Syntax(Node):
    """A node of the syntax tree; where it stands does not count in comparisons."""

    span: Span = field(default=NO_SPAN, compare=False, repr=False, kw_only=True)


# Expressions


@dataclass(frozen=True, slots=True)
class Expr(Syntax):
    """A scalar expression."""


@dataclass(frozen=True, slots=True)
class Column(Expr):
    """`name` or `table.name`."""

    name: str
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Star(Expr):
    """`*` or `table.*`."""

    table: str | None = None


@dataclass(frozen=True, slots=True)
class Number(Expr):
    """A number as it was written, such as `30` or `1.5e3`."""

    text: str


@dataclass(frozen=True, slots=True)
class String(Expr):
    """A text in single quotes."""

    value: str


@dataclass(frozen=True, slots=True)
class Boolean(Expr):
    """`TRUE` or `FALSE`."""

    value: bool


@dataclass(frozen=True, slots=True)
class Null(Expr):
    """`NULL`."""


@dataclass(frozen=True, slots=True)
class Moment(Expr):
    """`DATE '2026-01-31'` or `TIMESTAMP '2026-01-31 12:00:00'`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Interval(Expr):
    """`INTERVAL 5 min`, in microseconds."""

    micros: int


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    """`NOT x`, `-x` or `+x`."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """Two operands with an operator between them; the operator in upper case."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Junction(Expr):
    """Two or more operands tied by AND or by OR; none of them is itself tied by the same word."""

    op: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Between(Expr):
    """`x [NOT] BETWEEN low AND high`."""

    operand: Expr
    low: Expr
    high: Expr
    negated: bool = False


@dataclass(frozen=True, slots=True)
class InList(Expr):
    """`x [NOT] IN (a, b, …)`."""

    operand: Expr
    items: tuple[Expr, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like(Expr):
    """`x [NOT] LIKE pattern [ESCAPE 'c']`; `op` is LIKE, ILIKE or RLIKE."""

    op: str
    operand: Expr
    pattern: Expr
    escape: str | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Is(Expr):
    """`x IS [NOT] NULL | TRUE | FALSE`."""

    operand: Expr
    what: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class When(Syntax):
    """One branch of a CASE."""

    condition: Expr
    result: Expr


@dataclass(frozen=True, slots=True)
class Case(Expr):
    """`CASE [operand] WHEN … THEN … [ELSE …] END`."""

    operand: Expr | None
    whens: tuple[When, ...]
    otherwise: Expr | None = None


@dataclass(frozen=True, slots=True)
class TypeName(Syntax):
    """A column type as written, its spaces normalised."""

    text: str


@dataclass(frozen=True, slots=True)
class Cast(Expr):
    """`CAST(x AS type)`; `TRY_CAST` when `safe`."""

    operand: Expr
    type: TypeName
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Extract(Expr):
    """`EXTRACT(part FROM x)`."""

    part: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """A function call; `COUNT(DISTINCT x)` is `distinct`."""

    name: str
    args: tuple[Expr, ...]
    distinct: bool = False


# Queries


@dataclass(frozen=True, slots=True)
class Duration(Syntax):
    """A length of time in microseconds."""

    micros: int


@dataclass(frozen=True, slots=True)
class TimeWindow(Syntax):
    """The rows of the last `micros` microseconds."""

    micros: int


@dataclass(frozen=True, slots=True)
class RowWindow(Syntax):
    """The last `rows` rows."""

    rows: int


Window = TimeWindow | RowWindow


@dataclass(frozen=True, slots=True)
class SelectItem(Syntax):
    """An output column, with the name given by AS if there is one."""

    expr: Expr
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class FromItem(Syntax):
    """A stream, relation or query in FROM; `join` says how it is tied to those before it.

    `join` is empty for the first, else `,`, `JOIN` or `CROSS JOIN`.
    """

    name: str
    alias: str | None = None
    window: Window | None = None
    join: str = ""
    on: Expr | None = None


@dataclass(frozen=True, slots=True)
class Statement(Syntax):
    """Anything that ends with a semicolon."""


@dataclass(frozen=True, slots=True)
class Select(Statement):
    """A window query."""

    items: tuple[SelectItem, ...]
    sources: tuple[FromItem, ...]
    where: Expr | None = None
    group_by: tuple[Expr, ...] = ()
    having: Expr | None = None
    window: Window | None = None
    slide: Duration | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Option(Syntax):
    """`name = value` in OPTIONS; the value as text."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Connector(Syntax):
    """A Spark source or sink: `parquet 'data/x' OPTIONS (…)`."""

    format: str
    path: str | None = None
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class InsertInto(Statement):
    """A query whose results go to a sink of their own."""

    sink: Connector
    select: Select


QueryBody = Select | InsertInto


# Definitions


@dataclass(frozen=True, slots=True)
class ColumnDef(Syntax):
    """A column and its type."""

    name: str
    type: TypeName


@dataclass(frozen=True, slots=True)
class Statistic(Syntax):
    """`rate = 100`, `rows = 100` or `distinct(column) = 500`."""

    name: str
    value: str
    column: str | None = None


@dataclass(frozen=True, slots=True)
class CreateStream(Statement):
    """`CREATE STREAM`."""

    name: str
    columns: tuple[ColumnDef, ...]
    source: Connector
    timestamp: str | None = None
    lateness: Duration | None = None
    retain: Duration | None = None
    idle_timeout: Duration | None = None
    statistics: tuple[Statistic, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateRelation(Statement):
    """`CREATE RELATION`."""

    name: str
    columns: tuple[ColumnDef, ...]
    source: Connector
    valid_from: str | None = None
    valid_to: str | None = None
    statistics: tuple[Statistic, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateQuery(Statement):
    """`CREATE QUERY name AS …`."""

    name: str
    body: QueryBody


@dataclass(frozen=True, slots=True)
class Drop(Statement):
    """`DROP QUERY | STREAM | RELATION [IF EXISTS] name`."""

    kind: str
    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class AlterWindow(Statement):
    """`ALTER QUERY name SET WINDOW …`."""

    name: str
    window: Window
    slide: Duration | None = None


@dataclass(frozen=True, slots=True)
class AlterQuery(Statement):
    """`ALTER QUERY name AS …`."""

    name: str
    body: QueryBody


# Questions


@dataclass(frozen=True, slots=True)
class Show(Statement):
    """`SHOW STREAMS` and the like; `what` in upper case."""

    what: str


@dataclass(frozen=True, slots=True)
class Describe(Statement):
    """`DESCRIBE name`."""

    name: str


@dataclass(frozen=True, slots=True)
class QueryName(Syntax):
    """`QUERY name` as the target of EXPLAIN."""

    name: str


@dataclass(frozen=True, slots=True)
class AllQueries(Syntax):
    """`ALL` as the target of EXPLAIN."""


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """`EXPLAIN [VERBOSE] [kind] target`; the kind in upper case, LOGICAL when not given."""

    target: Select | InsertInto | CreateQuery | Drop | AlterWindow | AlterQuery | QueryName | AllQueries
    kind: str | None = None
    verbose: bool = False


@dataclass(frozen=True, slots=True)
class SetSetting(Statement):
    """`SET name = value`; the value as text."""

    name: str
    value: str
