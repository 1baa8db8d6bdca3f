"""What Flink makes of an operand by its type: 7 / 2 is 3, and so is AVG of 3 and 4; as a text, true is TRUE.

Only Spark knows the types, so it analyses the query first; then `/` becomes `div` where both are whole numbers, an
average is cut to the type of what it is taken of, and a truth that is cast to a text becomes upper case.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paimon_nb.plan import Span
from paimon_nb.sql.lexer import Token, tokens

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CAST_TO_TEXT = re.compile(r"\bas\s+(?:string|varchar|char)\b", re.IGNORECASE)
_AVERAGE = re.compile(r"\b(?:avg|mean)\s*\(", re.IGNORECASE)
_WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_SAME_RANK = frozenset({"*", "/", "%", "DIV"})
_OPENING, _CLOSING = frozenset({"(", "[", "CASE"}), frozenset({")", "]", "END"})


def divided_as_flink(spark: SparkSession, text: str, frame: DataFrame, args: Mapping[str, Any] | None) -> DataFrame:
    """The same query with Flink's division. `frame` is what Spark makes of `text`."""
    if _CAST_TO_TEXT.search(text) and hasattr(frame, "_jdf"):
        truths = sorted(_truths(spark, frame._jdf.queryExecution().analyzed()), key=lambda s: -s.start)
        for span in truths:
            text = f"{text[: span.start]}upper({text[span.start : span.stop]}){text[span.stop :]}"
        if truths:
            frame = spark.sql(text, args=dict(args) if args else None)
    if _AVERAGE.search(text) and hasattr(frame, "_jdf"):
        means = dict(_averages(frame._jdf.queryExecution().analyzed()))
        for span in sorted(_innermost(means), key=lambda s: -s.start):
            stop = _with_clauses(text, span.stop)
            text = f"{text[: span.start]}CAST({text[span.start : stop]} AS {means[span]}){text[stop:]}"
        if means:
            frame = spark.sql(text, args=dict(args) if args else None)
    while "/" in text and hasattr(frame, "_jdf"):
        plan = frame._jdf.queryExecution().analyzed()
        found = dict(_divisions(spark, plan))
        edits = [(s, said) for s in _innermost(found) if (said := _said(text[s.start : s.stop], found[s])) is not None]
        if not edits:
            return frame
        for span, said in sorted(edits, key=lambda e: -e[0].start):
            text = text[: span.start] + said + text[span.stop :]
        frame = spark.sql(text, args=dict(args) if args else None)
    return frame


def _innermost(spans: Collection[Span]) -> list[Span]:
    return [s for s in spans if not any(s != o and s.start <= o.start and o.stop <= s.stop for o in spans)]


def _averages(plan: Any) -> Iterator[tuple[Span, str]]:
    """Places of AVG over whole numbers in the user's text, and the type of these numbers."""
    for e in _expressions(plan):
        if e.getClass().getSimpleName() == "Average" and e.origin().startIndex().isDefined():
            kind = e.child().dataType().sql()
            if kind in _WHOLE:
                yield Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1), kind


def _truths(spark: SparkSession, plan: Any) -> set[Span]:
    """Places where the user casts a BOOLEAN to a text."""
    jvm: Any = spark._jvm
    user_cast = jvm.org.apache.spark.sql.catalyst.expressions.Cast.USER_SPECIFIED_CAST()
    return {
        Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1)
        for e in _expressions(plan)
        if e.getClass().getSimpleName() == "Cast"
        and e.getTagValue(user_cast).isDefined()
        and e.origin().startIndex().isDefined()
        and (e.child().dataType().typeName(), e.dataType().typeName()) == ("boolean", "string")
    }


def _with_clauses(text: str, stop: int) -> int:
    """Where an aggregate ends whose bracket ends at `stop`: FILTER (...) and OVER (...) or OVER w belong to it."""
    rest, at = tokens(text[stop:]), 0
    end = stop
    while at + 1 < len(rest) and rest[at].upper in ("FILTER", "OVER"):
        depth, at = 0, at + 1
        while at < len(rest):
            depth += (rest[at].text == "(") - (rest[at].text == ")")
            at += 1
            if depth == 0:
                break
        end = stop + rest[at - 1].stop
    return end


def _said(text: str, kind: str) -> str | None:
    """`a / b` with `div`, in the type that Flink gives it."""
    operator = _top_operator(tokens(text))
    if operator is None or operator.text != "/":
        return None
    return f"CAST(({text[: operator.start]}) div ({text[operator.stop :]}) AS {kind})"


def _top_operator(found: Sequence[Token]) -> Token | None:
    """The operator that is carried out last in a product."""
    depth, last = 0, None
    for token in found:
        depth += (token.upper in _OPENING) - (token.upper in _CLOSING)
        if depth == 0 and token.upper in _SAME_RANK:
            last = token
    return last


def _divisions(spark: SparkSession, plan: Any) -> Iterator[tuple[Span, str]]:
    """Places of divisions of whole numbers in the user's text, and the wider of the two types."""
    jvm: Any = spark._jvm
    user_cast = jvm.org.apache.spark.sql.catalyst.expressions.Cast.USER_SPECIFIED_CAST()

    def whole(operand: Any) -> int | None:
        """Rank of a whole number that Spark, not the user, has made a double."""
        if operand.getClass().getSimpleName() != "Cast" or operand.getTagValue(user_cast).isDefined():
            return None
        name = operand.child().dataType().sql()
        return _WHOLE.index(name) if name in _WHOLE else None

    for e in _expressions(plan):
        if e.getClass().getSimpleName() == "Divide" and e.origin().startIndex().isDefined():
            ranks = whole(e.left()), whole(e.right())
            known = [r for r in ranks if r is not None]
            if len(known) == 2:
                yield Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1), _WHOLE[max(known)]


def nodes(plan: Any) -> Iterator[Any]:
    """Every operator of an analysed query, without those of subqueries in expressions."""
    if plan.getClass().getSimpleName() == "View":
        return  # what a table is made of is not the user's text
    yield plan
    if plan.getClass().getSimpleName() == "LateralJoin":
        yield from nodes(plan.right().plan())
    for child in _items(plan.children()):
        yield from nodes(child)


def _expressions(plan: Any) -> Iterator[Any]:
    """Every expression of an analysed query, those in its subqueries included."""
    if plan.getClass().getSimpleName() == "View":
        return
    for e in _items(plan.expressions()):
        yield from _within(e)
    for child in _items(plan.children()):
        yield from _expressions(child)


def _within(e: Any) -> Iterator[Any]:
    yield e
    name = e.getClass().getSimpleName()
    if name.endswith("Subquery") or name in ("Exists", "ListQuery"):
        yield from _expressions(e.plan())
    for child in _items(e.children()):
        yield from _within(child)


def _items(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(i) for i in range(sequence.size()))
