"""Binding: a syntax tree and the names it uses become a logical plan, or errors that say what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from penstock.catalog import Relation, SourceSpec, Stream
from penstock.compiler.aggregation import Aggregation, contains_aggregate, refuse_interval
from penstock.compiler.functions import AGGREGATES, CHANGES_BY_ITSELF, SCALARS
from penstock.compiler.logical import (
    Aggregate,
    Filter,
    Join,
    Named,
    Plan,
    Project,
    Query,
    RelationScan,
    Sink,
    StreamScan,
    Window,
)
from penstock.compiler.predicates import split_conditions
from penstock.compiler.scalar import Scalar, call, check_arguments, definite, translate
from penstock.compiler.scope import Input, Scope
from penstock.compiler.settings import Settings
from penstock.compiler.types import kind_of
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError, did_you_mean, raise_all
from penstock.grammar.printer import to_sql
from penstock.grammar.source import Source

TS = "_ts"
RESERVED_OUTPUTS = ("_ts", "_query")


@dataclass(frozen=True)
class DerivedStream:
    """Another query's results, read as a stream."""

    name: str
    columns: tuple[tuple[str, str], ...]


Entry = Stream | Relation | DerivedStream
Lookup = Callable[[ast.FromItem], Entry]


def bind(name: str, body: ast.QueryBody, source: Source, lookup: Lookup, settings: Settings) -> Query:
    """The logical plan of a query; every error found in it at once."""
    binder = _Binder(lookup, settings)
    try:
        select = body.select if isinstance(body, ast.InsertInto) else body
        sink = _sink(body.sink) if isinstance(body, ast.InsertInto) else None
        return Query(name, binder.select(select), sink)
    except PenstockError as error:
        raise error.located(source) from None


def _sink(node: ast.Connector) -> Sink:
    try:
        spec = SourceSpec(node.format, node.path, tuple((option.name, option.value) for option in node.options))
    except PenstockError as error:
        for single in error.errors:
            single.span = node.span
            if single.label == "missing-path":
                single.message = f"results in the format {node.format} need a path"
                single.hint = f"Say where to write them:  INSERT INTO {node.format} 'out/results' SELECT …."
        raise
    return Sink(spec.format, spec.path, spec.options)


class _Binder:
    """Binds one SELECT, collecting errors as it goes."""

    def __init__(self, lookup: Lookup, settings: Settings) -> None:
        self.lookup = lookup
        self.settings = settings
        self.errors: list[PenstockError] = []
        self.scope = Scope(())
        self.calls: dict[int, Scalar] = {}  # by the identity of their nodes: groups are looked for at every level

    def select(self, node: ast.Select) -> Plan:
        outputs = tuple((item.alias, to_sql(item.expr)) for item in node.items if item.alias is not None)
        self.scope = Scope(tuple(self._sources(node)), outputs)
        raise_all(self.errors)
        conditions = self._conditions(node)
        grouped = bool(node.group_by or node.distinct or node.having) or any(
            contains_aggregate(item.expr) for item in node.items
        )
        self._refuse_unbounded(node, grouped)
        self._refuse_lonely_having(node)
        bound = self._grouped(node) if grouped else self._plain(node)
        raise_all(self.errors)
        assert bound is not None
        return bound(self._combine(conditions))

    # FROM

    def _sources(self, node: ast.Select) -> Iterable[Input]:
        taken: dict[str, ast.FromItem] = {}
        for item in node.sources:
            alias = item.alias or item.name
            if alias.lower() in taken:
                self._error(
                    f"two items of FROM are called '{alias}'",
                    item,
                    f"Give one of them another name:  {item.name} AS {alias}2",
                    "duplicate-alias",
                )
                continue
            taken[alias.lower()] = item
            try:
                entry = self.lookup(item)
                yield self._input(node, item, alias, entry)
            except PenstockError as error:
                self.errors.append(error)
        if not self.errors and all(isinstance(self.lookup(item), Relation) for item in node.sources):
            self._error(
                "a standing query needs at least one stream",
                node.sources[0],
                "Relations alone do not move; name a stream in FROM.",
                "no-stream",
            )

    def _input(self, node: ast.Select, item: ast.FromItem, alias: str, entry: Entry) -> Input:
        if isinstance(entry, Relation):
            if item.window is not None:
                raise PenstockError(
                    f"{entry.name} is a relation and has no window",
                    span=item.window.span,
                    hint="Windows are for streams; take it out.",
                    label="window-on-relation",
                )
            columns = tuple((column.name, column.type) for column in entry.columns)
            return Input(alias, entry.name, RelationScan(entry.name, alias, columns, entry.valid), columns)
        window = _window(item.window or node.window)
        if isinstance(entry, DerivedStream):
            columns = (*entry.columns, (TS, "timestamp"))
            plan = StreamScan(entry.name, alias, columns, TS, window, derived=True)
            return Input(alias, entry.name, plan, columns, hidden=TS)
        columns = tuple((column.name, column.type) for column in entry.columns)
        return Input(alias, entry.name, StreamScan(entry.name, alias, columns, entry.timestamp, window), columns)

    def _refuse_unbounded(self, node: ast.Select, grouped: bool) -> None:
        streams = [source for source in self.scope.inputs if isinstance(source.plan, StreamScan)]
        for source, item in zip(self.scope.inputs, node.sources, strict=True):
            if not isinstance(source.plan, StreamScan) or source.plan.window is not None:
                continue
            if len(streams) > 1 or grouped:
                what = "a join of streams" if len(streams) > 1 else "an aggregate over a stream"
                self._error(
                    f"{what} without a window would have to keep every row of {source.name} for ever",
                    item,
                    f"Add  WINDOW 1 hour  at the end of the query, or  {source.name} [RANGE 1 hour]  in FROM.",
                    "unbounded-state",
                )
        if node.slide is not None and not grouped:
            self._error(
                "SLIDE says when aggregates are computed, and this query has none",
                node.slide,
                "Take SLIDE out, or add an aggregate or GROUP BY.",
                "slide-without-aggregate",
            )

    def _refuse_lonely_having(self, node: ast.Select) -> None:
        if node.having is None or node.group_by or node.distinct:
            return
        if not any(contains_aggregate(expr) for expr in (node.having, *(item.expr for item in node.items))):
            self._error(
                "HAVING is a condition on groups, and this query has none",
                node.having,
                "Use WHERE for conditions on rows, or add GROUP BY or an aggregate.",
                "having-without-groups",
            )
            raise_all(self.errors)

    # Conditions

    def _conditions(self, node: ast.Select) -> list[Scalar]:
        bound = []
        for clause in (node.where, *(item.on for item in node.sources)):
            for operand in _conjuncts(clause):
                if contains_aggregate(operand):
                    self._error(
                        "an aggregate cannot stand in WHERE or ON",
                        operand,
                        "Conditions on aggregates go into HAVING.",
                        "aggregate-in-where",
                    )
                elif (condition := self._condition(operand)) is not None:
                    bound.append(condition)
        return bound

    def _condition(self, node: ast.Expr, leaf: Callable[[ast.Expr], Scalar | None] | None = None) -> Scalar | None:
        try:
            condition = translate(node, leaf or self._leaf)
        except PenstockError as error:
            self.errors.append(error)
            return None
        if kind_of(condition.type) not in ("condition", "unknown"):
            self._error(
                f"a condition is true or false, but this is of type {condition.type}",
                node,
                "Compare it with something, such as  A.Value > 30.",
                "not-a-condition",
            )
            return None
        return condition

    def _combine(self, conditions: list[Scalar]) -> Plan:
        keys, residual, selections = split_conditions(conditions)
        plans = tuple(source.plan for source in self.scope.inputs)
        plan: Plan = plans[0] if len(plans) == 1 else Join(plans, keys, residual)
        return Filter(plan, selections) if selections else plan

    # Columns

    def _leaf(self, node: ast.Expr) -> Scalar | None:
        if isinstance(node, ast.Column):
            return self.scope.resolve(node)
        if isinstance(node, ast.Call):
            if id(node) not in self.calls:
                self.calls[id(node)] = self._call(node, self._leaf)
            return self.calls[id(node)]
        if isinstance(node, ast.Star):
            raise PenstockError(
                "* cannot stand here", span=node.span, hint="Name a column, or use COUNT(*).", label="star"
            )
        return None

    def _call(self, node: ast.Call, leaf: Callable[[ast.Expr], Scalar | None]) -> Scalar:
        name = node.name.lower()
        function = SCALARS.get(name)
        if function is None:
            raise _unknown_function(node)
        if node.distinct:
            raise PenstockError(
                "DISTINCT goes with COUNT only", span=node.span, hint="Take DISTINCT out.", label="distinct"
            )
        args = check_arguments(node, function, lambda arg: translate(arg, leaf))
        return call(name, args, function.type)

    def _plain(self, node: ast.Select) -> Callable[[Plan], Plan] | None:
        columns = self._outputs(node, self._leaf)
        return None if columns is None else lambda plan: Project(plan, columns)

    def _outputs(self, node: ast.Select, leaf: Callable[[ast.Expr], Scalar | None]) -> tuple[Named, ...] | None:
        """The output columns: names that would collide are prefixed with their input's."""
        found: list[tuple[str, str | None, Scalar, ast.SelectItem]] = []  # name, prefixed name, expression, item
        for item in node.items:
            try:
                for name, prefixed, scalar, node_ in self._expanded(item, leaf):
                    refuse_interval(scalar, node_, "a column of results")
                    found.append((name, prefixed, definite(scalar), node_))
            except PenstockError as error:
                self.errors.append(error)
        counts: dict[str, int] = {}
        for name, *_ in found:
            counts[name.lower()] = counts.get(name.lower(), 0) + 1
        columns: dict[str, Named] = {}
        written: dict[str, str] = {}
        for name, prefixed, scalar, item in found:
            chosen = prefixed if prefixed is not None and counts[name.lower()] > 1 else name
            first = written.setdefault(chosen.lower(), name.lower())
            if chosen.lower() in columns:
                self._error(
                    f"two output columns are called '{name if first == name.lower() else chosen}'",
                    item,
                    "Give one of them a name with AS.",
                    "duplicate-output",
                )
            elif chosen.lower() in RESERVED_OUTPUTS:
                self._error(
                    f"an output column cannot be called '{chosen}': every result has one already",
                    item,
                    "Give it another name with AS.",
                    "reserved-output",
                )
            else:
                columns[chosen.lower()] = Named(chosen, scalar)
        return None if self.errors else tuple(columns.values())

    def _expanded(
        self, item: ast.SelectItem, leaf: Callable[[ast.Expr], Scalar | None]
    ) -> Iterable[tuple[str, str | None, Scalar, ast.SelectItem]]:
        expr = item.expr
        if isinstance(expr, ast.Star):
            for source, name in self.scope.expand(expr):
                column = ast.Column(name, source.alias, span=expr.span)
                yield name, f"{source.alias}_{name}", translate(column, leaf), item
            return
        scalar = translate(expr, leaf)
        if item.alias is not None:
            yield item.alias, None, scalar, item
        elif isinstance(expr, ast.Column):
            (ref,) = self.scope.resolve(expr).columns
            yield ref.name, f"{ref.input}_{ref.name}", scalar, item
        else:
            yield to_sql(expr), None, scalar, item

    # Aggregates

    def _grouped(self, node: ast.Select) -> Callable[[Plan], Plan] | None:
        aggregation = Aggregation(self.scope, self._leaf, self._call)
        if node.distinct:
            if node.group_by or node.having or any(contains_aggregate(item.expr) for item in node.items):
                self._error(
                    "SELECT DISTINCT cannot be combined with aggregates or GROUP BY",
                    node.items[0],
                    "Take DISTINCT out: every group gives one row.",
                    "distinct-with-aggregates",
                )
                return None
            outputs = self._outputs(node, self._leaf)
            if outputs is None:
                return None
            for output in outputs:
                aggregation.add_group(output.expr, node.items[0])
            columns: tuple[Named, ...] | None = tuple(
                Named(output.name, aggregation.group_column(output.expr)) for output in outputs
            )
        else:
            self._group_by(node, aggregation)
            columns = self._outputs(node, aggregation.leaf)
        having = [self._condition(operand, aggregation.leaf) for operand in _conjuncts(node.having)]
        if self.errors or columns is None:
            return None
        slide = self._slide(node)
        conditions = tuple(condition for condition in having if condition is not None)
        final = columns

        def build(plan: Plan) -> Plan:
            result: Plan = Aggregate(plan, aggregation.groups, aggregation.aggregates, slide)
            if conditions:
                result = Filter(result, conditions)
            return Project(result, final)

        return build

    def _group_by(self, node: ast.Select, aggregation: Aggregation) -> None:
        aliases = {item.alias.lower(): item.expr for item in node.items if item.alias is not None}
        for expr in node.group_by:
            try:
                aggregation.add_group(translate(self._group_target(node, expr, aliases), self._leaf), expr)
            except PenstockError as error:
                self.errors.append(error)

    def _group_target(self, node: ast.Select, expr: ast.Expr, aliases: dict[str, ast.Expr]) -> ast.Expr:
        """A group is an expression, an output's name, or an output's number."""
        target = expr
        if isinstance(expr, ast.Number) and expr.text.isdigit():
            if not 1 <= int(expr.text) <= len(node.items):
                raise PenstockError(
                    f"there is no output column {expr.text}",
                    span=expr.span,
                    hint=f"Count from 1 to {len(node.items)}.",
                    label="bad-ordinal",
                )
            target = node.items[int(expr.text) - 1].expr
        elif isinstance(expr, ast.Column) and expr.table is None and expr.name.lower() in aliases:
            known = any(source.find(expr.name) for source in self.scope.inputs)
            target = expr if known else aliases[expr.name.lower()]
        if contains_aggregate(target) or isinstance(target, ast.Star):
            raise PenstockError(
                "a group cannot be an aggregate or *",
                span=expr.span,
                hint="Group by columns.",
                label="aggregate-in-group",
            )
        return target

    def _slide(self, node: ast.Select) -> int:
        if node.slide is not None:
            return node.slide.micros
        windows = [
            source.plan.window.size
            for source in self.scope.inputs
            if isinstance(source.plan, StreamScan) and source.plan.window and not source.plan.window.rows
        ]
        return min([self.settings.reevaluate, *windows])

    def _error(self, message: str, node: ast.Syntax, hint: str, label: str) -> None:
        self.errors.append(PenstockError(message, span=node.span, hint=hint, label=label))


def _conjuncts(clause: ast.Expr | None) -> tuple[ast.Expr, ...]:
    """The conditions of a clause that must all hold."""
    if clause is None:
        return ()
    return clause.operands if isinstance(clause, ast.Junction) and clause.op == "AND" else (clause,)


def _window(node: ast.Window | None) -> Window | None:
    if node is None:
        return None
    return Window(node.rows, rows=True) if isinstance(node, ast.RowWindow) else Window(node.micros)


def _unknown_function(node: ast.Call) -> PenstockError:
    name = node.name.lower()
    if name in CHANGES_BY_ITSELF:
        return PenstockError(
            f"{name.upper()} gives something else each time: an answer must depend on the rows and their times alone",
            span=node.span,
            hint="Take some rows by a hash, such as  pmod(hash(A.LocationId), 10) = 0."
            if name.startswith(("rand", "uuid", "shuffle"))
            else "Use the event time of a stream, such as  A.ts.",
            label="changing-function",
        )
    guess = did_you_mean(name, {*SCALARS, *AGGREGATES}) if len(name) > 2 else ""
    return PenstockError(
        f"the function {name.upper()} is not known",
        span=node.span,
        hint=guess if guess.endswith("?") else "docs/language.md lists the functions there are.",
        label="unknown-function",
    )
