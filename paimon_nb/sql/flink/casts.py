"""Flink's types in Spark's words, and what a CAST means otherwise."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

from paimon_nb.plan import Span
from paimon_nb.sql.flink.function_edits import Edit, rebuilt
from paimon_nb.sql.lexer import Token

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


def spark_type_text(flink: str) -> str:
    """A type's text as Spark writes it; what Spark knows already stays as it is."""
    return _FLINK_TYPE.sub(lambda m: _SPARK_TYPE[m.lastgroup or ""], flink)


def cast_edits(function: str, inside: Sequence[Token]) -> list[Edit]:
    """CAST(x AS <Flink type>): the type in Spark's words; none where it is Spark's already."""
    depth = 0
    for i, token in enumerate(inside):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.upper == "AS" and i + 1 < len(inside):
            flink = rebuilt(inside[i + 1 :])
            spark = spark_type_text(flink)
            if spark in (_SPARK_TYPE["ltz"], _SPARK_TYPE["ntz"]) and (found := _NANOSECONDS.search(flink)):
                return _fine_cast(function, inside, i, spark, int(found[0]))
            return [(Span(inside[i + 1].start, inside[-1].stop), spark)] if spark != flink else []
    return []


def _fine_cast(function: str, inside: Sequence[Token], at: int, spark: str, digits: int) -> list[Edit]:
    """What becomes a TIMESTAMP(7..9) is the text that such a column is to Spark, whether it was a time or a text before.

    at: the place of AS. spark: the type in Spark's words, which would lose digits.
    """
    ltz = spark == _SPARK_TYPE["ltz"]
    alone = at == 1 or (at == 2 and inside[0].upper == "TIMESTAMP")
    if alone and not ltz and (literal := _nanoseconds(inside[at - 1], digits)) is not None:
        return [(Span(inside[0].start, inside[-1].stop), f"{literal} AS STRING")]
    if ltz:
        seconds = f"make_dt_interval(0, 0, 0, unix_seconds({function}(t AS TIMESTAMP_LTZ)))"
        whole, zone = f"TIMESTAMP_NTZ '1970-01-01 00:00:00' + {seconds}", ", 'Z'"
    else:
        # A text with a Z is a column of TIMESTAMP_LTZ(7..9), whose wall time is that of the session's zone.
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


def tells_nanoseconds(tokens: Sequence[Token]) -> bool:
    """Whether a statement says a time with more digits than Spark's times have. Its times are texts then, as columns of
    TIMESTAMP(7..9) are to Spark: no digit is lost, and VALUES has one type."""
    return any(t.kind == "string" and 26 < len(t.value) < 30 and _WALL.fullmatch(t.value) for t in tokens)


def _nanoseconds(literal: Token, digits: int = 9) -> str | None:
    """A time as such a text, with so many digits; None: it is none."""
    found = _WALL.fullmatch(literal.value) if literal.kind == "string" else None
    if found is None or len(found[2] or "") > 10:
        return None
    try:
        dt.datetime.fromisoformat(literal.value[:19])
    except ValueError:  # Spark says what is wrong with it
        return None
    return f"'{literal.value[:10]}{literal.value[10:19] or ' 00:00:00'}{(found[2] or '.')[: digits + 1]:0<10}'"


def wall_time(token: Token, following: Token, *, fine: bool) -> list[Edit]:
    """TIMESTAMP '2024-03-10 02:30:00' has no zone in Flink; Spark's would be an instant, and this one is in no New York day.

    `fine`: the statement `tells_nanoseconds`.
    """
    if token.upper != "TIMESTAMP" or following.kind != "string" or not _WALL.fullmatch(following.value):
        return []
    if fine and (text := _nanoseconds(following)) is not None:
        return [(Span(token.start, following.stop), text)]
    return [(Span(token.start, token.stop), "TIMESTAMP_NTZ")]


def literal_edits(inside: Sequence[Token], *, fine: bool) -> list[Edit]:
    """Such a literal alone in a CAST to a type of Flink's."""
    return wall_time(inside[0], inside[1], fine=fine) if len(inside) > 3 and inside[2].upper == "AS" else []


_CUTS = {"VARCHAR": "left", "CHAR": "rpad"}


def cut_text(cast: Token, bracket: Sequence[Token]) -> list[Edit]:
    """CAST(x AS VARCHAR(3)) cuts in Flink, CAST(x AS CHAR(3)) fills with blanks, too; in Spark they do not."""
    words = [t.upper or t.text for t in bracket[-6:]]
    if len(words) < 6 or words[0] != "AS" or words[1] not in _CUTS or words[2] != "(" or words[4:] != [")", ")"]:
        return []
    if not words[3].isdecimal():
        return []
    end = bracket[-1].stop
    return [(Span(cast.start, cast.start), f"{_CUTS[words[1]]}("), (Span(bracket[-5].start, bracket[-2].stop), "STRING"), (Span(end, end), f", {words[3]})")]  # fmt: skip
