"""Flink's type-dependent semantics: 7 / 2 is 3, AVG of 3 and 4 is 3, and CAST(true AS STRING) is 'TRUE'.

Only Spark knows the types, so Spark analyses the query first. Then `/` becomes `div` between integers, AVG is cast to
its argument's integer type, and a boolean that is cast to a string is upper-cased.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from paimon_nb.plan import Span
from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan, has_bridge, jvm
from paimon_nb.sql.lexer import Token, tokens

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.spark.runtime.jvm_types import Expression, Plan, ScalaSeq

T = TypeVar("T")
_CAST_TO_TEXT = re.compile(r"\bas\s+(?:string|varchar|char)\b", re.IGNORECASE)
_AVERAGE = re.compile(r"\b(?:avg|mean)\s*\(", re.IGNORECASE)
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_SAME_RANK = frozenset({"*", "/", "%", "DIV"})
_OPENING, _CLOSING = frozenset({"(", "[", "CASE"}), frozenset({")", "]", "END"})


def with_flink_numerics(spark: SparkSession, text: str, frame: DataFrame, args: Mapping[str, Any] | None) -> DataFrame:
    """The same query with Flink's semantics. `frame` is Spark's analysis of `text`."""
    if _CAST_TO_TEXT.search(text) and has_bridge(frame):
        booleans = sorted(_booleans_cast_to_string(spark, analyzed_plan(frame)), key=lambda s: -s.start)
        for span in booleans:
            text = f"{text[: span.start]}upper({text[span.start : span.stop]}){text[span.stop :]}"
        if booleans:
            frame = spark.sql(text, args=dict(args) if args else None)
    if _AVERAGE.search(text) and has_bridge(frame):
        averages = dict(_integer_averages(analyzed_plan(frame)))
        for span in sorted(_innermost_spans(averages), key=lambda s: -s.start):
            stop = _end_with_clauses(text, span.stop)
            text = f"{text[: span.start]}CAST({text[span.start : stop]} AS {averages[span]}){text[stop:]}"
        if averages:
            frame = spark.sql(text, args=dict(args) if args else None)
    while "/" in text and has_bridge(frame):
        plan = analyzed_plan(frame)
        divisions = dict(_integer_division_spans(spark, plan))
        edits = [
            (s, replacement)
            for s in _innermost_spans(divisions)
            if (replacement := _as_integer_division(text[s.start : s.stop], divisions[s])) is not None
        ]
        if not edits:
            return frame
        for span, replacement in sorted(edits, key=lambda e: -e[0].start):
            text = text[: span.start] + replacement + text[span.stop :]
        frame = spark.sql(text, args=dict(args) if args else None)
    return frame


def _innermost_spans(spans: Collection[Span]) -> list[Span]:
    return [s for s in spans if not any(s != o and s.start <= o.start and o.stop <= s.stop for o in spans)]


def _integer_averages(plan: Plan) -> Iterator[tuple[Span, str]]:
    """Spans of AVG over integers in the user's text, and the integer type."""
    for e in _expressions(plan):
        if e.getClass().getSimpleName() == "Average" and e.origin().startIndex().isDefined():
            integer_type = e.child().dataType().sql()
            if integer_type in _INTEGERS:
                yield Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1), integer_type


def _booleans_cast_to_string(spark: SparkSession, plan: Plan) -> set[Span]:
    """Spans of booleans that the user casts to a string."""
    user_cast = jvm(spark).org.apache.spark.sql.catalyst.expressions.Cast.USER_SPECIFIED_CAST()
    return {
        Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1)
        for e in _expressions(plan)
        if e.getClass().getSimpleName() == "Cast"
        and e.getTagValue(user_cast).isDefined()
        and e.origin().startIndex().isDefined()
        and (e.child().dataType().typeName(), e.dataType().typeName()) == ("boolean", "string")
    }


def _end_with_clauses(text: str, stop: int) -> int:
    """The end of an aggregate whose arguments end at `stop`, including FILTER (...) and OVER (...) or OVER w."""
    following, position = tokens(text[stop:]), 0
    end = stop
    while position + 1 < len(following) and following[position].upper in ("FILTER", "OVER"):
        depth, position = 0, position + 1
        while position < len(following):
            depth += (following[position].text == "(") - (following[position].text == ")")
            position += 1
            if depth == 0:
                break
        end = stop + following[position - 1].stop
    return end


def _as_integer_division(text: str, kind: str) -> str | None:
    """`a / b` as an integer division of Flink's result type."""
    operator = _top_operator(tokens(text))
    if operator is None or operator.text != "/":
        return None
    return f"CAST(({text[: operator.start]}) div ({text[operator.stop :]}) AS {kind})"


def _top_operator(words: Sequence[Token]) -> Token | None:
    """The operator of a product that is evaluated last."""
    depth, last = 0, None
    for token in words:
        depth += (token.upper in _OPENING) - (token.upper in _CLOSING)
        if depth == 0 and token.upper in _SAME_RANK:
            last = token
    return last


def _integer_division_spans(spark: SparkSession, plan: Plan) -> Iterator[tuple[Span, str]]:
    """Spans of integer divisions in the user's text, and the wider of the two types."""
    user_cast = jvm(spark).org.apache.spark.sql.catalyst.expressions.Cast.USER_SPECIFIED_CAST()

    def integer_rank(operand: Expression) -> int | None:
        """Rank of the integer type of an operand that Spark, not the user, cast to double."""
        if operand.getClass().getSimpleName() != "Cast" or operand.getTagValue(user_cast).isDefined():
            return None
        name = operand.child().dataType().sql()
        return _INTEGERS.index(name) if name in _INTEGERS else None

    for e in _expressions(plan):
        if e.getClass().getSimpleName() == "Divide" and e.origin().startIndex().isDefined():
            ranks = integer_rank(e.left()), integer_rank(e.right())
            known = [r for r in ranks if r is not None]
            if len(known) == 2:
                yield Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1), _INTEGERS[max(known)]


def nodes(plan: Plan) -> Iterator[Plan]:
    """All operators of an analysed query, except those of subqueries in expressions."""
    if plan.getClass().getSimpleName() == "View":
        return  # a view's expressions are not in the user's text
    yield plan
    if plan.getClass().getSimpleName() == "LateralJoin":
        yield from nodes(plan.right().plan())
    for child in _scala_items(plan.children()):
        yield from nodes(child)


def _expressions(plan: Plan) -> Iterator[Expression]:
    """All expressions of an analysed query, including those of its subqueries."""
    if plan.getClass().getSimpleName() == "View":
        return
    for e in _scala_items(plan.expressions()):
        yield from _with_subexpressions(e)
    for child in _scala_items(plan.children()):
        yield from _expressions(child)


def _with_subexpressions(e: Expression) -> Iterator[Expression]:
    yield e
    name = e.getClass().getSimpleName()
    if name.endswith("Subquery") or name in ("Exists", "ListQuery"):
        yield from _expressions(e.plan())
    for child in _scala_items(e.children()):
        yield from _with_subexpressions(child)


def _scala_items(sequence: ScalaSeq[T]) -> Iterator[T]:
    return (sequence.apply(i) for i in range(sequence.size()))
