"""Flink's type-dependent semantics: 7 / 2 is 3, 7e0 / 0 is Infinity, AVG of 3 and 4 is 3, CAST(true AS STRING) is 'TRUE'.

Only Spark knows the types, so Spark analyses the query first. Then `/` becomes `div` between integers and follows
IEEE 754 between floating-point numbers, AVG and SUM are cast to Flink's type, a boolean that is cast to a string is
upper-cased, FLOOR and CEIL of a DOUBLE stay a DOUBLE, FLOAT + 1 stays a FLOAT, and 0.5 is a DECIMAL(2, 1). Spark
evaluates VALUES during its analysis and leaves no expressions, so VALUES is first rewritten to a SELECT.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan, has_bridge, jvm
from paimon_nb.spark.runtime.plan_expressions import expressions_of, scala_items
from paimon_nb.sql.flink.inline_tables import values_as_select
from paimon_nb.statements import Span
from paimon_nb.syntax.lexer import Token, tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.spark.runtime.jvm_types import Expression, Plan

Search = Callable[["SparkSession", "Plan", str], "Iterator[tuple[Span, str]]"]
"""(Spark, a query's analysis, its text) -> spans of the text and their replacements in Flink's semantics."""
_TEXT_TYPES = ("STRING", "VARCHAR", "CHAR")
_AGGREGATES = ("AVG", "MEAN", "SUM")
_CASTS = ("CAST", "TRY_CAST")
_ROUNDING = ("FLOOR", "CEIL", "CEILING")
_CHECKED = "/* the divisor is not zero */"
"""Marks a division that needs no more edits."""
_MAX_PRECISION = 38
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_SAME_RANK = frozenset({"*", "/", "%", "DIV"})
_SUM_RANK = frozenset({"+", "-"})
_OF_FLOATS = {"Add": _SUM_RANK, "Subtract": _SUM_RANK, "Multiply": _SAME_RANK}
"""Spark's arithmetic expressions whose result is a FLOAT in Flink if `_is_float` -> the operators of the same rank."""
_OPENING, _CLOSING = frozenset({"(", "[", "CASE"}), frozenset({")", "]", "END"})


def with_values_as_select(text: str) -> str:
    """The query with each VALUES rewritten to a SELECT if `with_flink_numerics` may change something in it."""
    if "VALUES" not in text.upper():
        return text
    words = tokens(text)
    return values_as_select(text) if _casts_to_text(words) or _searches_for(words) else text


def with_flink_numerics(spark: SparkSession, text: str, frame: DataFrame, args: Mapping[str, Any] | None) -> DataFrame:
    """The same query with Flink's semantics. `frame` is Spark's analysis of `text`."""
    words = tokens(text)
    if _casts_to_text(words) and has_bridge(frame):
        booleans = sorted(_booleans_cast_to_string(spark, analyzed_plan(frame)), key=lambda s: -s.start)
        for span in booleans:
            text = f"{text[: span.start]}upper({text[span.start : span.stop]}){text[span.stop :]}"
        if booleans:
            frame = spark.sql(text, args=dict(args) if args else None)
    searches = _searches_for(words)
    # From the inside out: each replacement may change the types around it.
    while searches and has_bridge(frame):
        plan = analyzed_plan(frame)
        found = {span: new for search in searches for span, new in search(spark, plan, text)}
        if not found:
            break
        for span in sorted(_innermost_spans(found), key=lambda s: -s.start):
            text = text[: span.start] + found[span] + text[span.stop :]
        frame = spark.sql(text, args=dict(args) if args else None)
    return frame


def _casts_to_text(words: Sequence[Token]) -> bool:
    """Whether anything but a string or number literal is cast to a string type: it may be a boolean."""
    return any(
        words[i].upper == "AS"
        and words[i + 1].upper in _TEXT_TYPES
        and not (words[i - 1].kind in ("string", "number") and words[i - 2].text == "(")
        for i in range(2, len(words) - 1)
    )


def _searches_for(words: Sequence[Token]) -> list[Search]:
    """The searches that may find expressions with another meaning in Flink, judging by the query's tokens."""
    called = {a.upper for a, b in pairwise(words) if b.text == "("}
    return [
        search
        for is_needed, search in (
            (not called.isdisjoint(_AGGREGATES), _aggregate_result_casts),
            (not called.isdisjoint(_ROUNDING), _rounding_result_casts),
            (_has_arithmetic(words), _float_arithmetic_casts),
            (any(w.text == "/" for w in words), _flink_divisions),
            (any(_has_zero_before_point(w.text) for w in words), _decimal_literal_casts),
            (not called.isdisjoint(_CASTS), _text_to_integer_casts),
        )
        if is_needed
    ]


def _has_arithmetic(words: Sequence[Token]) -> bool:
    """Whether there is a sum, difference or product, or a `*` or sign that looks like one."""
    return any(
        operator.upper in ("-", "+", "*")
        and (left.kind in ("word", "quoted", "number") or left.text in (")", "]"))
        and left.upper not in ("SELECT", "DISTINCT")
        and (right.kind in ("word", "quoted", "number") or right.text in ("(", "-", "+"))
        for left, operator, right in zip(words, words[1:], words[2:], strict=False)
    )


def _innermost_spans(spans: Collection[Span]) -> list[Span]:
    """The spans that contain no other one. Two of them are apart, or one contains the other."""
    ordered = sorted(spans, key=lambda s: (s.start, -s.stop))
    return [s for s, after in zip(ordered, [*ordered[1:], None], strict=True) if after is None or after.stop > s.stop]


def _aggregate_result_casts(spark: SparkSession, plan: Plan, text: str) -> Iterator[tuple[Span, str]]:
    """Spans of AVG over integers, and of AVG and SUM over FLOAT in the user's text, and the text with Flink's result type."""
    for found in expressions_of(spark, plan, ("Average", "Sum")):
        e = found.expression
        if e.origin().startIndex().isDefined():
            kind = e.child().dataType().sql()
            if kind == "FLOAT" or (found.name == "Average" and kind in _INTEGERS):
                span = Span(e.origin().startIndex().get(), _end_with_clauses(text, e.origin().stopIndex().get() + 1))
                if not _is_cast(text, span, kind):
                    yield span, f"CAST({text[span.start : span.stop]} AS {kind})"


def _is_cast(text: str, span: Span, kind: str) -> bool:
    """Whether an expression is the whole operand of a CAST to this type."""
    return text[: span.start].endswith("CAST(") and text[span.stop :].startswith(f" AS {kind})")


def _booleans_cast_to_string(spark: SparkSession, plan: Plan) -> set[Span]:
    """Spans of booleans that the user casts to a string."""
    user_cast = jvm(spark).org.apache.spark.sql.catalyst.expressions.Cast.USER_SPECIFIED_CAST()
    casts = (found.expression for found in expressions_of(spark, plan, ("Cast",)))
    return {
        Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1)
        for e in casts
        if e.getTagValue(user_cast).isDefined()
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


def _last_evaluated_operator(words: Sequence[Token], rank: Collection[str] = _SAME_RANK) -> Token | None:
    """The operator of a product, or of another rank, that is evaluated last; a sign is not one."""
    depth, last = 0, None
    before: Token | None = None
    for token in words:
        depth += (token.upper in _OPENING) - (token.upper in _CLOSING)
        is_sign = token.upper in _SUM_RANK and (before is None or before.upper in _SUM_RANK | _SAME_RANK)
        if depth == 0 and token.upper in rank and not is_sign:
            last = token
        before = token
    return last


def _type_before_implicit_casts(spark: SparkSession) -> Callable[[Expression], str]:
    """(operand) -> its type, before Spark casts it to the operator's."""
    user_cast = jvm(spark).org.apache.spark.sql.catalyst.expressions.Cast.USER_SPECIFIED_CAST()

    def type_before_implicit_casts(operand: Expression) -> str:
        while operand.getClass().getSimpleName() == "Cast" and not operand.getTagValue(user_cast).isDefined():
            operand = operand.child()
        return str(operand.dataType().sql())

    return type_before_implicit_casts


def _rounding_result_casts(spark: SparkSession, plan: Plan, text: str) -> Iterator[tuple[Span, str]]:
    """Spans of FLOOR, CEIL and TRUNCATE of floating-point numbers, which are BIGINT and DECIMAL in Spark, and the text that keeps the type."""
    type_before_implicit_casts = _type_before_implicit_casts(spark)
    for found in expressions_of(spark, plan, ("Floor", "Ceil", "RoundFloor", "RoundCeil")):
        name, e = found.name, found.expression
        if not e.origin().startIndex().isDefined():
            continue
        kind = type_before_implicit_casts(e.child())
        if kind in ("FLOAT", "DOUBLE"):
            span = Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1)
            call = text[span.start : span.stop]
            if name.startswith("Round"):  # to some digits: a DECIMAL in Spark
                if not _is_cast(text, span, kind):
                    yield span, f"CAST({call} AS {kind})"
                continue
            written = call[call.index("(") + 1 : call.rindex(")")].strip()
            yield span, _float_floor_or_ceil(written, kind, up=name == "Ceil", once=not e.deterministic())


def _float_floor_or_ceil(written: str, kind: str, *, up: bool, once: bool) -> str:
    """FLOOR, or CEIL with `up`, of a floating-point number. `once`: it must not be computed twice."""
    n = "__n" if once else f"({written})"
    n = f"(-{n})" if up else n  # CEIL(n) is -FLOOR(-n), also the -0.0 of -0.5
    floor = f"{'-' * up}(CASE WHEN rint({n}) > {n} THEN rint({n}) - 1 ELSE rint({n}) END)"
    value = f"element_at(transform(array({written}), __n -> {floor}), 1)" if once else floor
    return f"CAST({value} AS {kind})"


def _float_arithmetic_casts(spark: SparkSession, plan: Plan, text: str) -> Iterator[tuple[Span, str]]:
    """Spans of sums and products that are DOUBLE in Spark and FLOAT in Flink, and the text with FLOAT operands."""
    type_before_implicit_casts = _type_before_implicit_casts(spark)
    for found in expressions_of(spark, plan, _OF_FLOATS):
        rank, e = _OF_FLOATS[found.name], found.expression
        if e.dataType().sql() != "DOUBLE" or not e.origin().startIndex().isDefined():
            continue
        span = Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1)
        written = text[span.start : span.stop]
        operator = _last_evaluated_operator(tokens(written), rank)
        if operator is not None and _is_float(
            type_before_implicit_casts(e.left()), type_before_implicit_casts(e.right())
        ):
            left, right = written[: operator.start].strip(), written[operator.stop :].strip()
            yield span, f"CAST(({left}) AS FLOAT) {operator.text} CAST(({right}) AS FLOAT)"


def _flink_divisions(spark: SparkSession, plan: Plan, text: str) -> Iterator[tuple[Span, str]]:
    """Spans of divisions in the user's text whose result differs in Flink, and the text in Flink's semantics."""
    type_before_implicit_casts = _type_before_implicit_casts(spark)
    for found in expressions_of(spark, plan, ("Divide",)):
        e = found.expression
        if not e.origin().startIndex().isDefined():
            continue
        span = Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1)
        written = text[span.start : span.stop]
        operator = _last_evaluated_operator(tokens(written))
        if operator is None or operator.text != "/" or written[: operator.start].rstrip().endswith(_CHECKED):
            continue
        left, right = written[: operator.start].strip(), written[operator.stop :].strip()
        types = type_before_implicit_casts(e.left()), type_before_implicit_casts(e.right())
        if all(t in _INTEGERS for t in types):
            yield span, f"CAST(({left}) div ({right}) AS {max(types, key=_INTEGERS.index)})"
        elif e.dataType().sql() == "DOUBLE":
            # Spark raises an error for a zero divisor; its inverse power is an infinity of the right sign.
            quotient = f"if(({right}) = 0, ({left}) * power(({right}), -1), ({left}){_CHECKED} / ({right}))"
            yield span, f"CAST({quotient} AS FLOAT)" if _is_float(*types) else quotient
        elif right.isdecimal() and int(right) < 1 << 63:
            # In Flink an INT is a DECIMAL(10, 0) and a BIGINT a DECIMAL(19, 0), which gives the quotient more digits.
            yield span, f"{left} / CAST({right} AS {'INT' if int(right) < 1 << 31 else 'DECIMAL(19, 0)'})"


def _decimal_literal_casts(spark: SparkSession, plan: Plan, text: str) -> Iterator[tuple[Span, str]]:
    """Spans of literals such as 0.125, and the text with Flink's type: DECIMAL(4, 3), in Spark DECIMAL(3, 3)."""
    for found in expressions_of(spark, plan, ("Literal",)):
        literal, parent = found.expression, found.parent
        if not literal.origin().startIndex().isDefined():
            continue
        span = Span(literal.origin().startIndex().get(), literal.origin().stopIndex().get() + 1)
        written = text[span.start : span.stop]
        unsigned = written.lstrip("- ")
        if not _has_zero_before_point(unsigned) or len(unsigned) > _MAX_PRECISION + 1:
            continue
        kind = f"DECIMAL({len(unsigned) - 1}, {len(unsigned) - unsigned.index('.') - 1})"
        is_unnamed = parent is not None and parent.getClass().getSimpleName() == "Alias" and parent.name() == written
        if not is_unnamed and not _is_cast(text, span, kind):
            yield span, f"CAST({written} AS {kind})"


def _text_to_integer_casts(spark: SparkSession, plan: Plan, text: str) -> Iterator[tuple[Span, str]]:
    """Spans of casts of texts to integers, and the text that leaves out what is after the point: '1.5' is 1."""
    for found in expressions_of(spark, plan, ("Cast", "TryCast")):
        e = found.expression
        if not e.origin().startIndex().isDefined():
            continue
        span = Span(e.origin().startIndex().get(), e.origin().stopIndex().get() + 1)
        written = text[span.start : span.stop]
        if e.dataType().sql() not in _INTEGERS or not e.child().dataType().sql().startswith(
            ("STRING", "VARCHAR", "CHAR")
        ):
            continue
        head, _, rest = written.partition("(")
        at = _last_as(rest)
        if head.strip().upper() not in _CASTS or at is None or rest.startswith(_WHOLE_PART):
            continue
        yield span, f"{head}({_WHOLE_PART}{rest[: at.start].rstrip()}, {_POINT}) {rest[at.start :]}"


_WHOLE_PART = "regexp_replace("
_POINT = r"'^\\s*([+-]?)([0-9]*)[.]([0-9]*)\\s*$', '$10$2'"
"""What leaves out the digits after the point; $10 is the sign and a zero."""


def _last_as(text: str) -> Token | None:
    """The AS of a CAST, outside of brackets."""
    depth, last = 0, None
    for token in tokens(text):
        depth += (token.upper in _OPENING) - (token.upper in _CLOSING)
        if depth == 0 and token.upper == "AS":
            last = token
    return last


def _has_zero_before_point(number: str) -> bool:
    """Whether it is a decimal number such as 0.5."""
    whole, _, fraction = number.partition(".")
    return whole.startswith("0") and whole.isdecimal() and fraction.isdecimal()


def _is_float(left: str, right: str) -> bool:
    """Whether Flink's quotient of these types is a FLOAT: the first floating-point operand decides, DECIMAL makes a DOUBLE."""
    return (left == "FLOAT" and right in ("FLOAT", "DOUBLE", *_INTEGERS)) or (left in _INTEGERS and right == "FLOAT")


def plan_operators(plan: Plan) -> Iterator[Plan]:
    """All operators of an analysed query, except those of subqueries in expressions."""
    if plan.getClass().getSimpleName() == "View":
        return  # a view's expressions are not in the user's text
    yield plan
    if plan.getClass().getSimpleName() == "LateralJoin":
        yield from plan_operators(plan.right().plan())
    for child in scala_items(plan.children()):
        yield from plan_operators(child)
