"""Flink's type-dependent semantics: 7 / 2 is 3, 7e0 / 0 is Infinity, AVG of 3 and 4 is 3, CAST(true AS STRING) is 'TRUE'.

Only Spark knows the types, so Spark analyses the query first. Then `/` becomes `div` between integers and follows
IEEE 754 between floating-point numbers, AVG and SUM are cast to Flink's type, and a boolean that is cast to a string is
upper-cased.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from paimon_nb.plan import Span
from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan, has_bridge, jvm
from paimon_nb.sql.lexer import Token, tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.spark.runtime.jvm_types import Expression, Plan, ScalaSeq

T = TypeVar("T")
_CAST_TO_TEXT = re.compile(r"\bas\s+(?:string|varchar|char)\b", re.IGNORECASE)
_AGGREGATE = re.compile(r"\b(?:avg|mean|sum)\s*\(", re.IGNORECASE)
_CHECKED = "/* the divisor is not zero */"
"""Marks a division that needs no more edits."""
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
    if _AGGREGATE.search(text) and has_bridge(frame):
        aggregates = dict(_aggregates(analyzed_plan(frame)))
        for span in sorted(_innermost_spans(aggregates), key=lambda s: -s.start):
            stop = _end_with_clauses(text, span.stop)
            text = f"{text[: span.start]}CAST({text[span.start : stop]} AS {aggregates[span]}){text[stop:]}"
        if aggregates:
            frame = spark.sql(text, args=dict(args) if args else None)
    while "/" in text and has_bridge(frame):
        quotients = dict(_quotients(spark, analyzed_plan(frame), text))
        if not quotients:
            return frame
        for span in sorted(_innermost_spans(quotients), key=lambda s: -s.start):
            text = text[: span.start] + quotients[span] + text[span.stop :]
        frame = spark.sql(text, args=dict(args) if args else None)
    return frame


def _innermost_spans(spans: Collection[Span]) -> list[Span]:
    return [s for s in spans if not any(s != o and s.start <= o.start and o.stop <= s.stop for o in spans)]


def _aggregates(plan: Plan) -> Iterator[tuple[Span, str]]:
    """Spans of AVG over integers, and of AVG and SUM over FLOAT in the user's text, and the type of their result in Flink."""
    for e in _expressions(plan):
        name = e.getClass().getSimpleName()
        if name in ("Average", "Sum") and e.origin().startIndex().isDefined():
            kind = e.child().dataType().sql()
            if kind == "FLOAT" or (name == "Average" and kind in _INTEGERS):
                yield Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1), kind


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


def _top_operator(words: Sequence[Token]) -> Token | None:
    """The operator of a product that is evaluated last."""
    depth, last = 0, None
    for token in words:
        depth += (token.upper in _OPENING) - (token.upper in _CLOSING)
        if depth == 0 and token.upper in _SAME_RANK:
            last = token
    return last


def _quotients(spark: SparkSession, plan: Plan, text: str) -> Iterator[tuple[Span, str]]:
    """Spans of divisions in the user's text whose result differs in Flink, and the text in Flink's semantics."""
    user_cast = jvm(spark).org.apache.spark.sql.catalyst.expressions.Cast.USER_SPECIFIED_CAST()

    def own_type(operand: Expression) -> str:
        """The type of an operand, before Spark casts it to double."""
        while operand.getClass().getSimpleName() == "Cast" and not operand.getTagValue(user_cast).isDefined():
            operand = operand.child()
        return str(operand.dataType().sql())

    for e in _expressions(plan):
        if e.getClass().getSimpleName() != "Divide" or not e.origin().startIndex().isDefined():
            continue
        span = Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1)
        written = text[span.start : span.stop]
        operator = _top_operator(tokens(written))
        if operator is None or operator.text != "/" or written[: operator.start].rstrip().endswith(_CHECKED):
            continue
        left, right = written[: operator.start].strip(), written[operator.stop :].strip()
        types = own_type(e.left()), own_type(e.right())
        if all(t in _INTEGERS for t in types):
            yield span, f"CAST(({left}) div ({right}) AS {max(types, key=_INTEGERS.index)})"
        elif e.dataType().sql() == "DOUBLE":
            # Spark raises an error for a zero divisor; its inverse power is an infinity of the right sign.
            quotient = f"if(({right}) = 0, ({left}) * power(({right}), -1), ({left}){_CHECKED} / ({right}))"
            yield span, f"CAST({quotient} AS FLOAT)" if _is_float(*types) else quotient
        elif right.isdecimal():  # in Flink always a DECIMAL(10, 0), which gives the quotient more digits
            yield span, f"{left} / CAST({right} AS INT)"


def _is_float(left: str, right: str) -> bool:
    """Whether Flink's quotient of these types is a FLOAT: the first floating-point operand decides, DECIMAL makes a DOUBLE."""
    return (left == "FLOAT" and right in ("FLOAT", "DOUBLE", *_INTEGERS)) or (left in _INTEGERS and right == "FLOAT")


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
