"""Translates Flink's types and CAST semantics to Spark's."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

from paimon_nb.sql.flink.function_edits import Edit, normalised_type_text
from paimon_nb.statements import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.syntax.lexer import Token

_FLINK_TYPE = re.compile(
    r"""\b(?:
        (?P<ltz>TIMESTAMP_LTZ\s*(?:\(\s*\d\s*\))?|TIMESTAMP\s*(?:\(\s*\d\s*\))?\s+WITH\s+LOCAL\s+TIME\s+ZONE)
      | (?P<ntz>TIMESTAMP\s*\(\s*\d\s*\)(?:\s+WITHOUT\s+TIME\s+ZONE)?)
      | (?P<string>VARCHAR\s*\(\s*2147483647\s*\)|VARCHAR(?!\s*\())
      | (?P<bytes>BYTES|VARBINARY\s*(?:\(\s*\d+\s*\))?|BINARY\s*\(\s*\d+\s*\))
      | (?P<row>ROW(?=\s*<))
      | (?P<time>TIME\s*\(\s*\d\s*\))
    )""",
    re.I | re.X,
)
_SPARK_TYPE = {
    "ltz": "TIMESTAMP_LTZ",
    "ntz": "TIMESTAMP_NTZ",
    "string": "STRING",
    "bytes": "BINARY",
    "row": "STRUCT",
    "time": "STRING",
}


_TIME = re.compile(r"TIME\s*(?:\(\s*\d\s*\))?", re.IGNORECASE)
_FEW_DIGITS = re.compile(
    r"TIMESTAMP(?:_LTZ)?\s*\(\s*([0-5])\s*\)(?:\s+WITH(?:OUT)?(?:\s+LOCAL)?\s+TIME\s+ZONE)?", re.IGNORECASE
)
"""A timestamp type with fewer digits than Spark's."""
_TIME_OF_DAY = "coalesce(nullif(regexp_extract(CAST(t AS STRING), '[0-9]+:[0-9]+:[0-9]+([.][0-9]{1,3})?', 0), ''), CAST(t AS STRING))"


def spark_type_text(flink: str) -> str:
    """A type's text in Spark's syntax; text that Spark accepts is unchanged."""
    return _FLINK_TYPE.sub(lambda m: _SPARK_TYPE[m.lastgroup or ""], flink)


def cast_edits(function: str, inside: Sequence[Token]) -> list[Edit]:
    """CAST(x AS <Flink type>): edits to Spark's type; none if Spark accepts it."""
    depth = 0
    for i, token in enumerate(inside):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.upper == "AS" and i + 1 < len(inside):
            flink = normalised_type_text(inside[i + 1 :])
            spark = spark_type_text(flink)
            if i == 1 and inside[0].kind == "string" and (shorter := _without_extra_digits(inside[0], flink)):
                type_edits = [(Span(inside[2].start, inside[-1].stop), spark)] if spark != flink else []
                return [(Span(inside[0].start, inside[0].stop), shorter), *type_edits]
            is_constant = i == 1 and (inside[0].kind == "string" or inside[0].upper == "NULL")
            is_short = i == 2 and inside[0].upper == "TIMESTAMP" and not _without_extra_digits(inside[1], flink)
            if _TIME.fullmatch(flink) and not is_constant:
                return _time_cast(inside, i, spark)
            if not is_constant and not is_short and (found := _FEW_DIGITS.fullmatch(flink)):
                return _truncated_timestamp_cast(function, inside, i, spark, int(found[1]))
            if spark in (_SPARK_TYPE["ltz"], _SPARK_TYPE["ntz"]) and (found := _NANOSECONDS.search(flink)):
                return _nanosecond_cast(function, inside, i, spark, int(found[0]))
            return [(Span(inside[i + 1].start, inside[-1].stop), spark)] if spark != flink else []
    return []


def _time_cast(inside: Sequence[Token], at: int, spark: str) -> list[Edit]:
    """CAST(x AS TIME): the time of day to milliseconds also of a timestamp, which Spark does not cast to TIME.

    at: the index of AS. spark: the type in Spark.
    """
    return [
        (Span(inside[0].start, inside[0].start), "element_at(transform(array("),
        (Span(inside[at].start, inside[-1].stop), f"), t -> {_TIME_OF_DAY}), 1) AS {spark}"),
    ]


def _without_extra_digits(literal: Token, flink: str) -> str | None:
    """A time as a literal without the digits that TIME(0) or TIMESTAMP(0..5) drops; None if it has no such digits."""
    precision = re.search(r"\(\s*([0-5])\s*\)", flink)
    found = re.fullmatch(r"([^.']*:[^.']*)\.(\d+)", literal.value)
    if precision is None or found is None or not flink.upper().startswith("TIME"):
        return None
    digits = int(precision[1])
    return None if len(found[2]) <= digits else f"'{found[1]}{'.' * (digits > 0)}{found[2][:digits]}'"


def _truncated_timestamp_cast(function: str, inside: Sequence[Token], at: int, spark: str, digits: int) -> list[Edit]:
    """CAST(x AS TIMESTAMP(0..5)): Spark's timestamps always have six digits of a second.

    at: the index of AS. spark: Spark's timestamp type.
    """
    start, end = Span(inside[0].start, inside[0].start), Span(inside[at].start, inside[-1].stop)
    if spark == _SPARK_TYPE["ltz"]:
        unit = 10 ** (6 - digits)
        return [
            (start, f"timestamp_micros(unix_micros({function}("),
            (end, f"AS {spark})) div {unit} * {unit}) AS {spark}"),
        ]
    fraction = f"(?:[.][0-9]{{1,{digits}}})?" if digits else ""  # a year has more than four digits from 10000 on
    return [
        (start, f"regexp_extract(CAST({function}("),
        (end, f"AS {spark}) AS STRING), '^[^.]+{fraction}', 0) AS {spark}"),
    ]


def _nanosecond_cast(function: str, inside: Sequence[Token], at: int, spark: str, digits: int) -> list[Edit]:
    """CAST to TIMESTAMP(7..9) as a string expression: Spark sees such columns as strings.

    at: the index of AS. spark: Spark's timestamp type, which would lose digits.
    """
    if at == 1 and inside[0].upper == "NULL":  # the rows of VALUES take no lambda
        return [(Span(inside[at + 1].start, inside[-1].stop), "STRING")]
    ltz = spark == _SPARK_TYPE["ltz"]
    alone = at == 1 or (at == 2 and inside[0].upper == "TIMESTAMP")
    if alone and not ltz and (literal := _nanosecond_text(inside[at - 1], digits)) is not None:
        return [(Span(inside[0].start, inside[-1].stop), f"{literal} AS STRING")]
    if ltz:
        seconds = f"make_dt_interval(0, 0, 0, unix_seconds({function}(t AS TIMESTAMP_LTZ)))"
        whole, zone = f"TIMESTAMP_NTZ '1970-01-01 00:00:00' + {seconds}", ", 'Z'"
    else:
        # A string that ends with Z is a TIMESTAMP_LTZ(7..9); its local time is in the session's time zone.
        wall = f"CAST({function}(t AS TIMESTAMP_LTZ) AS TIMESTAMP_NTZ)"
        whole, zone = f"IF(CAST(t AS STRING) LIKE '%Z', {wall}, {function}(t AS TIMESTAMP_NTZ))", ""
    fraction = f"rpad(left(regexp_extract(CAST(t AS STRING), '[.]([0-9]+)', 1), {digits}), 9, '0')"
    text = f"concat(substring_index(CAST({whole} AS STRING), '.', 1), '.', {fraction}{zone})"
    return [
        (Span(inside[0].start, inside[0].start), "element_at(transform(array("),
        (Span(inside[at].start, inside[-1].stop), f"), t -> {text}), 1) AS STRING"),
    ]


_WALL = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d+)?)?")
_NANOSECONDS = re.compile("[789]")
"""The precision in a timestamp type's text."""


def has_nanosecond_literals(tokens: Sequence[Token]) -> bool:
    """Whether a statement has a timestamp literal with more digits than Spark supports.

    Then all its timestamps become strings, as columns of TIMESTAMP(7..9) are in Spark: no digit is lost, and VALUES has
    one type.
    """
    return any(t.kind == "string" and 26 < len(t.value) < 30 and _WALL.fullmatch(t.value) for t in tokens)


def _nanosecond_text(literal: Token, digits: int = 9) -> str | None:
    """A timestamp literal as such a string with `digits` fraction digits; None if it is not a timestamp."""
    found = _WALL.fullmatch(literal.value) if literal.kind == "string" else None
    if found is None or len(found[2] or "") > 10:
        return None
    try:
        dt.datetime.fromisoformat(literal.value[:19])
    except ValueError:  # Spark reports the error
        return None
    return f"'{literal.value[:10]}{literal.value[10:19] or ' 00:00:00'}{(found[2] or '.')[: digits + 1]:0<10}'"


def timestamp_literal_edits(token: Token, following: Token, *, nanoseconds: bool) -> list[Edit]:
    """TIMESTAMP '2024-03-10 02:30:00' has no time zone in Flink. Spark's is an instant, and this local time may not exist.

    `nanoseconds`: the statement `has_nanosecond_literals`.
    """
    if token.upper != "TIMESTAMP" or following.kind != "string" or not _WALL.fullmatch(following.value):
        return []
    if nanoseconds and (text := _nanosecond_text(following)) is not None:
        return [(Span(token.start, following.stop), text)]
    return [(Span(token.start, token.stop), "TIMESTAMP_NTZ")]


def literal_edits(inside: Sequence[Token], *, nanoseconds: bool) -> list[Edit]:
    """Edits of a timestamp literal that is the whole argument of a CAST to a Flink type."""
    return (
        timestamp_literal_edits(inside[0], inside[1], nanoseconds=nanoseconds)
        if len(inside) > 3 and inside[2].upper == "AS"
        else []
    )


_SIZE_FUNCTIONS = {"VARCHAR": "left", "CHAR": "rpad"}


def sized_text_edits(cast: Token, bracket: Sequence[Token]) -> list[Edit]:
    """In Flink CAST(x AS VARCHAR(3)) truncates and CAST(x AS CHAR(3)) also pads; in Spark they do not."""
    words = [t.upper or t.text for t in bracket[-6:]]
    if (
        len(words) < 6
        or words[0] != "AS"
        or words[1] not in _SIZE_FUNCTIONS
        or words[2] != "("
        or words[4:] != [")", ")"]
    ):
        return []
    if not words[3].isdecimal():
        return []
    end = bracket[-1].stop
    return [(Span(cast.start, cast.start), f"{_SIZE_FUNCTIONS[words[1]]}("), (Span(bracket[-5].start, bracket[-2].stop), "STRING"), (Span(end, end), f", {words[3]})")]  # fmt: skip
