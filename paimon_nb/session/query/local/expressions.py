"""Expressions in the engine's SQL: what is written as `syntax/tree.py` has it, with the operators and functions that are listed.

What is not listed is left to Spark. Where the result depends on the values (a sum that overflows, an inexact sum of
floating-point numbers, a text with other letters than ASCII), the engine raises an error, and Spark answers.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import Atomic
from paimon_nb.session.query.local.aggregates import (
    AGGREGATES,
    ORDERED_AGGREGATES,
    PAIR_AGGREGATES,
    aggregate_sql,
    pair_aggregate,
)
from paimon_nb.session.query.local.casts import cast_target, cast_value
from paimon_nb.session.query.local.functions import FUNCTIONS, SPELLINGS
from paimon_nb.session.query.local.intervals import interval_of, plus_interval
from paimon_nb.session.query.local.lambdas import higher_order
from paimon_nb.session.query.local.literals import (
    integer_value,
    literal_value,
    parameter_value,
    plain_text,
    text_value,
    timestamp_value,
)
from paimon_nb.session.query.local.nested import array_of, element, element_in_flink, field_named, map_of
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.operators import COMPARISONS, OPERATORS, case_when, is_in, logical
from paimon_nb.session.query.local.text_functions import ilike, regexp_like
from paimon_nb.session.query.local.time_functions import CURRENT_TIMES, DATE_PARTS, current_time
from paimon_nb.session.query.local.values import (
    BIGINT,
    BOOLEAN,
    IN_ZONE,
    INSTANT,
    NULL,
    TO_INSTANT,
    Build,
    Origin,
    Value,
)
from paimon_nb.session.query.local.windows import WINDOW_FUNCTIONS, over, window_value
from paimon_nb.syntax.tree import (
    Between,
    Binary,
    Brackets,
    Call,
    Cast,
    Column,
    Composite,
    Field,
    In,
    Is,
    Lambda,
    Like,
    Literal,
    Logical,
    Node,
    Star,
    Subquery,
    Unary,
    Window,
    walk_expression,
    without_brackets,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.session.query.local.written import WrittenParts

Resolve: TypeAlias = Callable[[Column], Value]
"""A column's value. Raises NotLocal."""
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV"})
_SAME_COMPARISON = {"==": "=", "!=": "<>"}


class Subqueries(Protocol):
    """Translates subqueries in expressions."""

    def exists(self, node: Subquery, scope: Expressions) -> Value: ...
    def scalar(self, node: Subquery, scope: Expressions) -> Value: ...
    def contains(self, value: Value, node: Subquery, scope: Expressions) -> Value: ...


@dataclass(frozen=True, slots=True)
class Context:
    """What the expressions of one text share."""

    words: Callable[[int, int], list[str]]
    """The tokens between two positions of the text, keywords in upper case."""
    flink: bool
    subqueries: Subqueries | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    constants: dict[str, None] = field(default_factory=dict)
    """The SQL of what depends on no row and may raise an error. It is computed first, as in Spark: then it raises none."""
    zone: str | None = None
    """The session's time zone; None: what depends on it is left to Spark."""
    written: WrittenParts | None = None
    """What of the text is translated for Spark; None: nothing."""

    def is_translated(self, node: Node, parts: Sequence[Node] = ()) -> bool:
        """Whether a node, without its parts, is translated for Spark. The caller translates it as well."""
        edits = [] if self.written is None else self.written.of(node, parts)
        if self.written is not None:
            self.written.cover(edits)
        return bool(edits)


class Expressions:
    """Translates expressions in one scope."""

    def __init__(
        self,
        context: Context,
        resolve: Resolve,
        *,
        groups: Mapping[str, Value] | None = None,
        windows: Mapping[str, Window] | None = None,
        own: Resolve | None = None,
        is_filter: bool = False,
        grouping: Sequence[Value] | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> None:
        """`groups`: in a query with groups, the values of the GROUP BY by their SQL without groups.

        Args:
            windows: the windows of the WINDOW clause; None: no window functions here.
            own: the columns of this query alone, without those of the query around it; None: as `resolve`.
            is_filter: whether EXISTS and IN (SELECT ...) may be used here.
            grouping: the keys in order, if there are several sets of them.
            parameters: those of the lambdas around the expression, by lower-case name.
        """
        self.context, self.resolve, self.groups = context, resolve, groups
        self.windows, self.own, self.is_filter, self.grouping = windows, own or resolve, is_filter, grouping
        self.parameters = parameters or {}

    @property
    def flink(self) -> bool:
        return self.context.flink

    def value(self, e: Node) -> Value:
        """The expression's value; above the groups, if there are groups. Raises NotLocal."""
        e = without_brackets(e)
        if self.groups is None:
            return self._value(e)
        if isinstance(e, Column) and e.parts[0].lower() in self.parameters:
            return self._column(e)
        if is_aggregate(e):
            assert isinstance(e, Call)
            return self._aggregate(e)
        if not any(isinstance(n, Subquery | Window) or is_aggregate(n) for n in walk_expression(e)):
            with suppress(NotLocal):  # it may be an expression of groups and aliases
                row = self.rows().value(e)
                if row.sql in self.groups:
                    return replace(self.groups[row.sql], name=row.name)  # the name is as written here, not in GROUP BY
        if isinstance(e, Column):
            raise NotLocal(f"{e.parts[-1]} is not in GROUP BY")
        return self._value(e)

    def condition(self, e: Node) -> Value:
        """The value of a condition."""
        return boolean(self.value(e))

    def rows(self) -> Expressions:
        """The scope of a row, below the groups."""
        return Expressions(self.context, self.resolve, parameters=self.parameters)

    def inside_lambda(self, parameters: Mapping[str, Value]) -> Expressions:
        """The scope of a lambda's body."""
        inner = Expressions(
            self.context, self.resolve, groups=self.groups, own=self.own, parameters={**self.parameters, **parameters}
        )
        inner.grouping = self.grouping
        return inner

    def apply(self, operator: str, build: Build, operands: Sequence[Value]) -> Value:
        """A value that is computed from others."""
        found = build(self.flink, list(operands))
        if self.context.zone is None and (IN_ZONE in found.sql or TO_INSTANT in found.sql or found.type == INSTANT):
            raise NotLocal(f"{operator} depends on the time zone")
        raises, is_constant = found.raises or any(o.raises for o in operands), all(o.is_constant for o in operands)
        if raises and is_constant:
            self.context.constants[found.sql] = None
        return replace(
            found,
            raises=raises and not is_constant,
            is_constant=is_constant,
            is_outer=any(o.is_outer for o in operands),
            origin=Origin(operator, tuple(operands), lambda others: self.apply(operator, build, others)),
        )

    # -- by kind of node

    def _value(self, e: Node) -> Value:
        match e:
            case Column():
                return self._column(e)
            case Literal(kind="parameter"):
                return self._parameter(e)
            case Literal(kind="string"):
                return text_value(self._text(e))
            case Literal():
                if e.kind in ("TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"):
                    return self._time_literal(e)
                return literal_value(e, flink=self.flink)
            case Unary(op="-", operand=Literal(kind="number", text="2147483648" | "9223372036854775808" as smallest)):
                return integer_value(-int(smallest))  # Spark reads the sign as a part of the number
            case Unary(op="-"):
                return self.apply("NEGATIVE", OPERATORS["NEGATIVE"], [self.value(e.operand)])
            case Unary(op="NOT"):
                return self._not(self.value(e.operand))
            case Logical():
                return self.apply(e.op, logical(e.op), [self.value(p) for p in e.parts])
            case Binary():
                return self._binary(e)
            case Between(symmetric=False):
                values = [self._compared(n) for n in (e.operand, e.low, e.high)]
                return self._negated(self.apply("BETWEEN", OPERATORS["BETWEEN"], values), e.negated)
            case In():
                return self._negated(self._in(e), e.negated)
            case Like(op="LIKE", escape=None):
                return self._negated(self._like(e), e.negated)
            case Like(op="RLIKE" | "REGEXP" | "ILIKE", escape=None):
                build = ilike if e.op == "ILIKE" else regexp_like
                return self._negated(
                    self.apply(e.op, build, [self._compared(e.operand), self.value(e.pattern)]), e.negated
                )
            case Is():
                return self._is(e)
            case Cast():
                return self._cast(e)
            case Composite(kind="CASE"):
                return self._case(e)
            case Subquery():
                return self._subquery(e)
            case Call():
                return self._call(e)
            case Composite(kind="element"):
                is_flink = self.context.is_translated(e, e.parts)
                build = element_in_flink if is_flink else element
                return self.apply("ELEMENT", build, [self.value(p) for p in e.parts])
            case Composite(kind="ARRAY" | "MAP"):
                self.context.is_translated(e, e.parts)
                build = array_of if e.kind == "ARRAY" else map_of
                return self.apply(e.kind, build, [self.value(p) for p in e.parts])
            case Field():
                return self.apply("FIELD", field_named(e.name), [self.value(e.operand)])
        raise NotLocal(f"{_syntax_word(e)} is left to Spark")

    def _column(self, e: Column) -> Value:
        """A column, with its table or without, or a field of one."""
        if e.parts[0].lower() in self.parameters:
            return self._fields(self.parameters[e.parts[0].lower()], e.parts[1:])
        if len(e.parts) == 1:
            return self.resolve(e)
        try:
            return self._fields(self.resolve(Column(e.span, e.parts[:2])), e.parts[2:])
        except NotLocal as unknown:
            with suppress(NotLocal):
                return self._fields(self.resolve(Column(e.span, e.parts[:1])), e.parts[1:])
            raise unknown

    def _fields(self, value: Value, names: Sequence[str]) -> Value:
        for name in names:
            value = self.apply("FIELD", field_named(name), [value])
        return value

    def _text(self, e: Literal) -> str:
        """The text of a string literal. In Flink's dialect a backslash is an ordinary character."""
        if self.flink and self.context.is_translated(e):
            return plain_text(e.text, has_escapes=False)
        return plain_text(e.text)

    def _time_literal(self, e: Literal) -> Value:
        is_flink = self.context.is_translated(e)
        if e.kind == "TIMESTAMP_NTZ" or (e.kind == "TIMESTAMP" and is_flink):
            return timestamp_value(plain_text(e.text))
        found = timestamp_value(plain_text(e.text)).cast(INSTANT)
        if self.context.zone is None:
            raise NotLocal("a literal depends on the time zone")
        return found

    def _parameter(self, e: Literal) -> Value:
        name = e.text.lstrip(":")
        if name not in self.context.parameters:
            raise NotLocal(f"no value for :{name}")
        value = self.context.parameters[name]
        if isinstance(value, dt.datetime) and self.context.zone is None:
            raise NotLocal(f"the time of :{name} has a zone in Spark")
        return parameter_value(name, value)

    def _not(self, value: Value) -> Value:
        return self.apply("NOT", OPERATORS["NOT"], [value])

    def _negated(self, value: Value, negated: bool) -> Value:
        return self._not(value) if negated else value

    def _compared(self, node: Node) -> Value:
        """An operand of a comparison. Comparisons of comparisons need brackets: dialects group them differently."""
        if _is_predicate(node):
            raise NotLocal("comparisons of comparisons need brackets")
        return self.value(node)

    def _binary(self, e: Binary) -> Value:
        op = _SAME_COMPARISON.get(e.op, e.op)
        if op in COMPARISONS:
            return self.apply(op, OPERATORS[op], [self._compared(e.left), self._compared(e.right)])
        if op != "||" and op not in _ARITHMETIC:
            raise NotLocal(f"{e.op} is left to Spark")
        mixed = _ARITHMETIC if op == "||" else {"||"}
        if any(isinstance(side, Binary) and side.op in mixed for side in (e.left, e.right)):
            raise NotLocal("|| with arithmetic needs brackets")
        for side, other in ((e.right, e.left), (e.left, e.right)):
            if isinstance(side, Composite) and side.kind == "INTERVAL":
                if op not in ("+", "-") or (side is e.left and op == "-"):
                    raise NotLocal(f"{op} of an interval is left to Spark")
                interval = interval_of(self.context.words(side.span.start, side.span.stop))
                return self.apply(op, plus_interval(op, interval), [self.value(other)])
        return self.apply(op, OPERATORS[op], [self.value(e.left), self.value(e.right)])

    def _in(self, e: In) -> Value:
        first = self._compared(e.operand)
        if len(e.items) == 1 and isinstance(e.items[0], Subquery):
            if not self.is_filter or self.context.subqueries is None:
                raise NotLocal("IN (SELECT ...) outside of WHERE is left to Spark")
            return self.context.subqueries.contains(first, e.items[0], self)
        return self.apply("IN", is_in, [first, *(self.value(item) for item in e.items)])

    def _like(self, e: Like) -> Value:
        pattern = without_brackets(e.pattern)
        if isinstance(pattern, Literal) and pattern.kind == "string":
            text = text_value(self._text(pattern))
        else:
            text = self.value(pattern)
        if (
            text.text is None
            or ("\\" in text.text and not _has_plain_escapes(text.text))
            or ("\\" in text.text and self.flink)
        ):
            raise NotLocal("LIKE with a computed pattern is left to Spark")
        return self.apply("LIKE", OPERATORS["LIKE"], [self._compared(e.operand), text])

    def _is(self, e: Is) -> Value:
        operand = self._compared(e.operand)
        if e.what == "DISTINCT FROM" and e.other is not None:
            equal = self.apply("<=>", OPERATORS["<=>"], [operand, self._compared(e.other)])
            return self._negated(equal, not e.negated)
        words = f"IS {'NOT ' if e.negated else ''}{e.what}"
        if words not in OPERATORS:
            raise NotLocal(f"IS {e.what} is left to Spark")
        return self.apply(words, OPERATORS[words], [operand])

    def _case(self, e: Composite) -> Value:
        parts = [self.value(p) for p in e.parts]
        has_operand = self.context.words(e.span.start, e.parts[0].span.start) == ["CASE"]
        operand = parts.pop(0) if has_operand else None
        otherwise = [parts.pop()] if len(parts) % 2 else []
        operands: list[Value] = []
        for condition, value in zip(parts[::2], parts[1::2], strict=True):
            equal = condition if operand is None else self.apply("=", OPERATORS["="], [operand, condition])
            operands += [equal, value]
        return self.apply("CASE", case_when, [*operands, *otherwise])

    def _cast(self, e: Cast) -> Value:
        if e.form == "::":
            raise NotLocal(":: is left to Spark")
        target, name = cast_target(e.type)
        value = self.value(e.operand)
        return self.apply("CAST", cast_value(e.form, target, name), [value])

    def _subquery(self, e: Subquery) -> Value:
        if self.context.subqueries is None:
            raise NotLocal("a subquery is left to Spark")
        if not e.exists:
            return self.context.subqueries.scalar(e, self)
        if not self.is_filter:
            raise NotLocal("EXISTS outside of WHERE is left to Spark")
        return self.context.subqueries.exists(e, self)

    # -- calls

    def _call(self, e: Call) -> Value:
        if e.window is not None:
            return self._window_call(e)
        if e.function == "EXTRACT":
            return self._extract(e)
        if e.function in ("GROUPING", "GROUPING_ID"):
            return self._grouping(e)
        if e.function in CURRENT_TIMES and not e.arguments:
            self.context.is_translated(e)
            return current_time(e.function, self.context.zone)
        name = SPELLINGS.get(e.function, e.function)
        if name in AGGREGATES:
            raise NotLocal(f"{name} is not allowed here")
        function = FUNCTIONS.get(name)
        if any(isinstance(without_brackets(a), Lambda) for a in e.arguments) and len(e.name) == 1:
            return higher_order(e, self, self._arguments(e))
        if function is None or len(e.name) > 1 or e.order or e.condition is not None or e.distinct:
            raise NotLocal(f"{e.function} is left to Spark")
        arguments = self._arguments(e)
        if not function.at_least <= len(arguments) <= function.at_most:
            raise NotLocal(f"{e.function} with these arguments is left to Spark")
        if e.function in ("IFNULL", "NVL") and len(arguments) != 2:
            raise NotLocal(f"{e.function} with these arguments is left to Spark")
        build = function.build
        if self.context.is_translated(e, arguments):
            if function.in_flink is None:
                raise NotLocal(f"{e.function} of Flink is left to Spark")
            build = function.in_flink
        found = self.apply(name, build, [self.value(a) for a in arguments])
        return found if name == e.function else replace(found, name=None)

    def _arguments(self, e: Call) -> list[Node]:
        """The arguments of a call. Raises NotLocal: its brackets hold words that are not arguments, or words follow them."""
        arguments = list(e.arguments)
        if e.function in ("SUBSTRING", "SUBSTR"):  # FROM 1 FOR 2
            arguments = [a for a in arguments if not (isinstance(a, Column) and a.parts[0].upper() == "FOR")]
        if not arguments:
            if self.context.words(e.span.start, e.span.stop)[1:] != ["(", ")"]:
                raise NotLocal(f"words inside {e.function} are left to Spark")
            return []
        between = [self.context.words(a.span.stop, b.span.start) for a, b in pairwise(arguments)]
        commas = all(b == [","] for b in between)
        if not commas and not (len(arguments) < len(e.arguments) and between == [["FROM"], ["FOR"]]):
            raise NotLocal(f"words inside {e.function} are left to Spark")
        self._check_words_around(e, arguments)
        return arguments

    def _check_words_around(self, e: Call, arguments: Sequence[Node]) -> None:
        words, first, last = self.context.words, arguments[0], arguments[-1]
        if words(e.span.start, first.span.start)[1:] != (["(", "DISTINCT"] if e.distinct else ["("]):
            raise NotLocal(f"words inside {e.function} are left to Spark")
        stop, expected = e.span.stop, [")"]
        if e.condition is not None:
            stop, expected = e.condition.span.start, [")", "FILTER", "(", "WHERE"]
        elif e.window is not None:
            stop, expected = e.window.span.start, [")", "OVER"]
        if words(last.span.stop, stop) != expected:
            raise NotLocal(f"words after {e.function} are left to Spark")
        if e.condition is not None:
            stop = e.span.stop if e.window is None else e.window.span.start
            after = [")"] if e.window is None else [")", "OVER"]
            if words(e.condition.span.stop, stop) != after:
                raise NotLocal(f"words after {e.function} are left to Spark")

    def _extract(self, e: Call) -> Value:
        (operand,) = e.arguments if len(e.arguments) == 1 else (None,)
        if operand is None:
            raise NotLocal("EXTRACT with these arguments is left to Spark")
        opening = self.context.words(e.span.start, operand.span.start)[1:]
        closing = self.context.words(operand.span.stop, e.span.stop)
        part = DATE_PARTS.get(opening[1]) if len(opening) == 3 and opening[::2] == ["(", "FROM"] else None
        if part is None or closing != [")"]:
            raise NotLocal("this EXTRACT is left to Spark")
        if self.context.is_translated(e, [operand]):
            raise NotLocal("EXTRACT of Flink is left to Spark")
        found = self.apply(part, FUNCTIONS[part].build, [self.value(operand)])
        return replace(found, name=None)

    def _grouping(self, e: Call) -> Value:
        """Which keys of several sets a group leaves out."""
        keys = [self.rows().value(a).sql for a in (self._arguments(e) if e.arguments else ())]
        if self.grouping is None or self.groups is None or any(k not in self.groups for k in keys):
            raise NotLocal(f"{e.function} is not allowed here")
        if e.function == "GROUPING_ID":
            if keys and [self.groups[k].sql for k in keys] != [v.sql for v in self.grouping]:
                raise NotLocal("GROUPING_ID of some keys is left to Spark")
            return Value(self.grouping_sql([v.sql for v in self.grouping]), BIGINT)
        if len(keys) != 1:
            raise NotLocal("GROUPING with these arguments is left to Spark")
        return Value(f"CAST({self.grouping_sql([self.groups[keys[0]].sql])} AS TINYINT)", Atomic("TINYINT"))

    def grouping_sql(self, keys: Sequence[str]) -> str:
        """A number with one bit for each key, the first one highest: whether the group leaves it out."""
        return f"GROUPING({', '.join(keys)})"

    def _aggregate(self, e: Call) -> Value:
        rows = self.rows()
        if e.function in PAIR_AGGREGATES:
            return self._aggregate_of_pairs(e, rows)
        operand, condition = self._aggregate_operands(e, rows)
        return _opaque(
            aggregate_sql(e.function, operand, condition, distinct=e.distinct, flink=self.flink), operand, condition
        )

    def _aggregate_of_pairs(self, e: Call, rows: Expressions) -> Value:
        if len(e.name) > 1 or len(e.arguments) != 2 or e.distinct or e.condition is not None or e.order:
            raise NotLocal(f"{e.function} with these arguments is left to Spark")
        values = [rows.value(a) for a in self._arguments(e)]
        return _opaque(pair_aggregate(e.function, values), *values)

    def _aggregate_operands(self, e: Call, rows: Expressions) -> tuple[Value | None, Value | None]:
        """The argument of an aggregate function (None: a star), and the condition of FILTER."""
        if len(e.name) > 1 or e.order or len(e.arguments) != 1:
            raise NotLocal(f"{e.function} with these arguments is left to Spark")
        self._check_words_around(e, e.arguments)
        argument = without_brackets(e.arguments[0])
        condition = None if e.condition is None else boolean(rows.value(e.condition))
        if isinstance(argument, Star):
            if e.function != "COUNT" or e.distinct or argument.changed or argument.qualifier:
                raise NotLocal(f"{e.function}(*) is left to Spark")
            return None, condition
        operand = rows.value(argument)
        if condition is not None and operand.raises:
            raise NotLocal(
                "an expression under FILTER is left to Spark"
            )  # it raises errors of rows that FILTER leaves out
        return operand, condition

    def inside_window(self) -> Expressions:
        """The scope of a window function's arguments, PARTITION BY and ORDER BY."""
        return Expressions(self.context, self.resolve, groups=self.groups)

    def _window_call(self, e: Call) -> Value:
        assert e.window is not None
        if self.windows is None:
            raise NotLocal(f"{e.function} OVER is not allowed here")
        if len(e.name) > 1 or e.order:
            raise NotLocal(f"{e.function} OVER is left to Spark")
        inner = self.inside_window()
        clause = over(e.window, self.windows, inner.value)
        if e.function in AGGREGATES:
            operand, condition = self._aggregate_operands(e, inner)
            if e.distinct or condition is not None:
                raise NotLocal("DISTINCT and FILTER in a window are left to Spark")
            found = aggregate_sql(e.function, operand, condition, distinct=False, flink=self.flink, over=clause.sql)
            return _opaque(found, operand, condition, *clause.values)
        if e.function not in WINDOW_FUNCTIONS or e.condition is not None or e.distinct:
            raise NotLocal(f"{e.function} OVER is left to Spark")
        if e.arguments:
            values = [inner.value(a) for a in self._arguments(e)]
        else:
            values = []
            if self.context.words(e.span.start, e.window.span.start)[1:] != ["(", ")", "OVER"]:
                raise NotLocal(f"words after {e.function} are left to Spark")
        return _opaque(window_value(e.function, values, clause), *values, *clause.values)


def _opaque(found: Value, *operands: Value | None) -> Value:
    """An aggregate: computed from many rows, so that it is not a constant."""
    known = tuple(o for o in operands if o is not None)
    return replace(
        found,
        raises=found.raises or any(o.raises for o in known),
        is_constant=False,
        is_outer=any(o.is_outer for o in known),
        origin=Origin("AGGREGATE", known),
    )


def boolean(value: Value) -> Value:
    """The value, if it is a condition."""
    if value.type not in (BOOLEAN, NULL):
        raise NotLocal(f"a condition is {value.type.bare()}")
    return value


def is_aggregate(e: Node) -> bool:
    """Whether it is the call of an aggregate function over the rows of a group."""
    return isinstance(e, Call) and e.window is None and (e.function in AGGREGATES or e.function in ORDERED_AGGREGATES)


def has_aggregate(e: Node) -> bool:
    """Whether an aggregate function is part of the expression."""
    return any(is_aggregate(n) for n in walk_expression(e))


def has_window(nodes: Iterable[Node]) -> bool:
    """Whether a window function is part of one of the expressions."""
    return any(isinstance(n, Window) for e in nodes for n in walk_expression(e))


def _has_plain_escapes(pattern: str) -> bool:
    """Whether each backslash of a LIKE pattern is before a wildcard or a backslash."""
    return re.fullmatch(r"(?:[^\\]|\\[%_\\])*", pattern, re.DOTALL) is not None


def _is_predicate(node: Node) -> bool:
    match node:
        case Between() | In() | Like() | Is() | Logical() | Unary(op="NOT"):
            return True
        case Binary():
            return _SAME_COMPARISON.get(node.op, node.op) in COMPARISONS
    return False


def _syntax_word(node: Node) -> str:
    """A word for what was written."""
    if isinstance(node, Composite):
        return node.kind
    if isinstance(node, Brackets):
        return _syntax_word(node.inner)
    return type(node).__name__.upper()
