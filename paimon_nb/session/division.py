"""Whole numbers divided by whole numbers as Flink does it: 7 / 2 is 3. In Spark's SQL it is 3.5.

Only Spark knows which operands are whole numbers, so it analyses the query first; then `/` becomes `div` where both are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paimon_nb.plan import Span
from paimon_nb.sql.tokens import Token, tokens

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_SAME_RANK = frozenset({"*", "/", "%", "DIV"})
_OPENING, _CLOSING = frozenset({"(", "[", "CASE"}), frozenset({")", "]", "END"})


def divided_as_flink(spark: SparkSession, text: str, frame: DataFrame, args: Mapping[str, Any] | None) -> DataFrame:
    """The same query with Flink's division. `frame` is what Spark makes of `text`."""
    while "/" in text and hasattr(frame, "_jdf"):
        plan = frame._jdf.queryExecution().analyzed()
        found = dict(_divisions(spark, plan))
        innermost = [s for s in found if not any(s != o and s.start <= o.start and o.stop <= s.stop for o in found)]
        edits = [(s, said) for s in innermost if (said := _said(text[s.start : s.stop], found[s])) is not None]
        if not edits:
            return frame
        for span, said in sorted(edits, key=lambda e: -e[0].start):
            text = text[: span.start] + said + text[span.stop :]
        frame = spark.sql(text, args=dict(args) if args else None)
    return frame


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
    user_cast = spark._jvm.org.apache.spark.sql.catalyst.expressions.Cast.USER_SPECIFIED_CAST()

    def whole(operand: Any) -> int | None:
        """Rank of a whole number that Spark, not the user, has made a double."""
        if operand.getClass().getSimpleName() != "Cast" or operand.getTagValue(user_cast).isDefined():
            return None
        name = operand.child().dataType().sql()
        return _WHOLE.index(name) if name in _WHOLE else None

    def in_expression(e: Any) -> Iterator[tuple[Span, str]]:
        name = e.getClass().getSimpleName()
        if name == "Divide" and e.origin().startIndex().isDefined():
            ranks = whole(e.left()), whole(e.right())
            if None not in ranks:
                yield Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1), _WHOLE[max(ranks)]  # type: ignore[type-var]
        if name.endswith("Subquery") or name in ("Exists", "ListQuery"):
            yield from in_plan(e.plan())
        yield from (found for child in _items(e.children()) for found in in_expression(child))

    def in_plan(node: Any) -> Iterator[tuple[Span, str]]:
        if node.getClass().getSimpleName() == "View":
            return  # what a table is made of is not the user's text
        yield from (found for e in _items(node.expressions()) for found in in_expression(e))
        yield from (found for child in _items(node.children()) for found in in_plan(child))

    yield from in_plan(plan)


def _items(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(i) for i in range(sequence.size()))
