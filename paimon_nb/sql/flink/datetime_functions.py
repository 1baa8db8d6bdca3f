"""Flink's functions of times as Spark's: rounded to a unit, moved by units, taken apart, read from text.

A result has the type of the time it was made of: a DATE stays one. So a time is moved by the distance from itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.plan import Span
from paimon_nb.sql.flink.function_edits import Edit, Rewrite, Said, arguments, call_span, called, renamed
from paimon_nb.sql.lexer import Token

_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_DAYS = {"DAY": 1, "WEEK": 7}


def rounded(up: bool) -> Rewrite:
    """FLOOR(t TO MONTH), CEIL(t TO HOUR); weeks begin on Sunday. Of numbers they are Spark's own."""

    def rewrite(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        inner = bracket[1:-1]
        if len(inner) < 3 or inner[-2].upper != "TO":
            return []
        unit, t = inner[-1].upper, f"({text[inner[0].start : inner[-3].stop]})"
        day = f"CAST({t} AS DATE)"
        if unit == "DAY":
            floor = day
        elif unit == "WEEK":
            floor = f"date_sub(trunc(date_add({day}, 1), 'WEEK'), 1)"
        elif unit in _MONTHS:
            floor = f"trunc({day}, '{unit}')"
        else:
            floor = f"date_trunc('{unit}', {t})"
        to = floor
        if up:
            if unit in _DAYS:
                following = f"date_add({floor}, {_DAYS[unit]})"
            elif unit in _MONTHS:
                following = f"add_months({floor}, {_MONTHS[unit]})"
            else:
                following = f"{floor} + INTERVAL 1 {unit}"
            # Of months and weeks Flink looks at the day only: noon of the first is the first.
            moment = day if unit in _MONTHS or unit == "WEEK" else t
            to = f"CASE WHEN {moment} > {floor} THEN {following} ELSE {floor} END"
        return [(call_span(name, bracket), f"({t} - ({t} - {to}))")]

    return rewrite


def epoch(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """TO_TIMESTAMP_LTZ(n, 0) counts seconds, (n, 3) and (n) milliseconds; of a text it is a cast."""
    given = arguments(text, bracket)
    if len(given) > 1 and given[1] not in ("0", "3"):
        return renamed("to_timestamp")(text, name, bracket)
    function = "timestamp_seconds" if given[1:] == ["0"] else "timestamp_millis"
    return called(function + "(CAST({0} AS BIGINT))")(text, name, bracket)


_PARTS = {
    "EPOCH": "unix_seconds(CAST({0} AS TIMESTAMP))",
    "MILLISECOND": "CAST(date_format({0}, 'SSS') AS BIGINT)",
    "ISODOW": "(weekday({0}) + 1)",
    "CENTURY": "CAST((year({0}) + 99) div 100 AS BIGINT)",
    "DECADE": "CAST(year({0}) div 10 AS BIGINT)",
}


def part(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """EXTRACT(EPOCH FROM t) and the other units that Spark has not."""
    inner = bracket[1:-1]
    if len(inner) < 3 or inner[1].upper != "FROM" or inner[0].upper not in _PARTS:
        return []
    t = f"({text[inner[2].start : inner[-1].stop]})"
    return [(call_span(name, bracket), _PARTS[inner[0].upper].replace("{0}", t))]


# -- what both say and Flink means otherwise


def whole_seconds(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """EXTRACT(SECOND FROM t) is a whole number."""
    inner = bracket[1:-1]
    if len(inner) < 3 or inner[0].upper != "SECOND" or inner[1].upper != "FROM":
        return []
    return [
        (Span(name.start, inner[2].start), "CAST(second("),
        (Span(bracket[-1].start, bracket[-1].stop), ") AS BIGINT)"),
    ]


def moved(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """TIMESTAMPADD(DAY, n, t) of a DATE is a DATE."""
    given = arguments(text, bracket)
    unit = given[0].upper() if given else ""
    if len(given) != 3 or (unit not in _DAYS and unit not in _MONTHS):
        return []
    kind, count = ("DAY", _DAYS[unit]) if unit in _DAYS else ("MONTH", _MONTHS[unit])
    times = given[1] if count == 1 else f"{count} * ({given[1]})"
    said = f"(({given[2]}) + CAST(INTERVAL '1' {kind} * ({times}) AS INTERVAL {kind}))"
    return [(call_span(name, bracket), said)]


def months_apart(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """TIMESTAMPDIFF(MONTH, a, b): the last day of a shorter month ends a month, too; then the times of the day are looked at.

    Source: Calcite `DateTimeUtils.subtractMonths`, asked of Flink 1.20.
    """
    given = arguments(text, bracket)
    unit = given[0].upper() if given else ""
    if len(given) != 3 or unit not in _MONTHS:
        return []
    a, b = f"({given[1]})", f"({given[2]})"
    day, other = f"CAST({a} AS DATE)", f"CAST({b} AS DATE)"
    low, high = f"least({day}, {other})", f"greatest({day}, {other})"
    begun = f"((year({high}) - year({low})) * 12 + month({high}) - month({low}))"
    ended = f"({begun} - CASE WHEN add_months({low}, {begun}) > {high} THEN 1 ELSE 0 END)"
    signed = f"(CASE WHEN {other} < {day} THEN -1 ELSE 1 END * {ended})"
    early = f"add_months({day}, {signed}) = {other} AND {b} - {other} < {a} - {day}"
    count = f"CAST(({signed} - CASE WHEN {early} THEN 1 ELSE 0 END) div {_MONTHS[unit]} AS INT)"
    said = f"(CASE WHEN {day} IS NOT NULL AND {other} IS NOT NULL THEN {count} END)"  # least() passes NULL over
    return [(call_span(name, bracket), said)]


_WALL_ZERO = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def read_timestamp(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """TO_TIMESTAMP(text[, format]) has no zone and three digits, and is NULL where the text is no time.

    With a format it is read in UTC and counted from 1970: Spark's own way is by the session's zone, where some wall times are missing.
    """
    given = arguments(text, bracket)
    if len(given) == 1:
        wall = f"try_cast({given[0]} AS TIMESTAMP_NTZ)"
    elif len(given) == 2:
        read = f"try_to_timestamp(concat({given[0]}, ' Z'), concat({given[1]}, ' X'))"
        wall = f"({_WALL_ZERO} + ({read} - timestamp_seconds(0)))"
    else:
        return []
    return [(call_span(name, bracket), f"({wall} - make_dt_interval(0, 0, 0, extract(SECOND FROM {wall}) % 0.001))")]


def told(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """DATE_FORMAT(t, 'uuuu'): the year as Java's newer formats call it, which Spark's do not know."""
    inner = bracket[1:-1]
    if not inner or inner[-1].kind != "string" or "u" not in inner[-1].value:
        return []
    parts = inner[-1].value.split("'")
    said = "'".join(p if i % 2 else p.replace("u", "y") for i, p in enumerate(parts))
    return [(Span(inner[-1].start, inner[-1].stop), text_literal(said))]
