"""Translates Flink's date and time functions to Spark's: rounding, arithmetic, fields and parsing.

The result has the argument's type: a DATE stays a DATE. Therefore a value is shifted by an interval, not replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.sql.flink.function_edits import (
    Edit,
    Rewrite,
    SqlText,
    arguments,
    call_span,
    rename_function,
    rewrite_from_template,
)
from paimon_nb.statements import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.syntax.lexer import Token

_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_DAYS = {"DAY": 1, "WEEK": 7}


def floor_or_ceil(up: bool) -> Rewrite:
    """FLOOR(t TO MONTH), CEIL(t TO HOUR); weeks start on Sunday. FLOOR and CEIL of numbers are unchanged."""

    def rewrite_floor_or_ceil(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
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
        target = floor
        if up:
            if unit in _DAYS:
                following = f"date_add({floor}, {_DAYS[unit]})"
            elif unit in _MONTHS:
                following = f"add_months({floor}, {_MONTHS[unit]})"
            else:
                following = f"{floor} + INTERVAL 1 {unit}"
            # For months and weeks Flink compares days only: noon of the first day counts as the first.
            compared = day if unit in _MONTHS or unit == "WEEK" else t
            target = f"CASE WHEN {compared} > {floor} THEN {following} ELSE {floor} END"
        return [(call_span(name, bracket), f"({t} - ({t} - {target}))")]

    return rewrite_floor_or_ceil


def to_timestamp_ltz(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """TO_TIMESTAMP_LTZ: (n, 0) is seconds, (n, 3) and (n) are milliseconds; of a string it is a cast."""
    args = arguments(text, bracket)
    if len(args) > 1 and args[1] not in ("0", "3"):
        return rename_function("to_timestamp")(text, name, bracket)
    function = "timestamp_seconds" if args[1:] == ["0"] else "timestamp_millis"
    return rewrite_from_template(function + "(CAST({0} AS BIGINT))")(text, name, bracket)


_PARTS = {
    "EPOCH": "unix_seconds(CAST({0} AS TIMESTAMP))",
    "MILLISECOND": "CAST(date_format({0}, 'SSS') AS BIGINT)",
    "ISODOW": "(weekday({0}) + 1)",
    "CENTURY": "CAST((year({0}) + 99) div 100 AS BIGINT)",
    "DECADE": "CAST(year({0}) div 10 AS BIGINT)",
    "ISOYEAR": "CAST(extract(YEAROFWEEK FROM {0}) AS BIGINT)",
    "MILLENNIUM": "CAST((year({0}) + 999) div 1000 AS BIGINT)",
}


def extract_field(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """EXTRACT(EPOCH FROM t) and other units that Spark does not have."""
    inner = bracket[1:-1]
    if len(inner) < 3 or inner[1].upper != "FROM" or inner[0].upper not in _PARTS:
        return []
    t = f"({text[inner[2].start : inner[-1].stop]})"
    return [(call_span(name, bracket), _PARTS[inner[0].upper].replace("{0}", t))]


# -- functions of both dialects with different semantics


def extract_seconds(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """EXTRACT(SECOND FROM t) is an integer in Flink."""
    inner = bracket[1:-1]
    if len(inner) < 3 or inner[0].upper != "SECOND" or inner[1].upper != "FROM":
        return []
    return [
        (Span(name.start, inner[2].start), "CAST(second("),
        (Span(bracket[-1].start, bracket[-1].stop), ") AS BIGINT)"),
    ]


def timestampadd(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """TIMESTAMPADD(DAY, n, t) of a DATE is a DATE in Flink."""
    args = arguments(text, bracket)
    unit = args[0].upper() if args else ""
    if len(args) != 3 or (unit not in _DAYS and unit not in _MONTHS):
        return []
    kind, count = ("DAY", _DAYS[unit]) if unit in _DAYS else ("MONTH", _MONTHS[unit])
    times = args[1] if count == 1 else f"{count} * ({args[1]})"
    sql = f"(({args[2]}) + CAST(INTERVAL '1' {kind} * ({times}) AS INTERVAL {kind}))"
    return [(call_span(name, bracket), sql)]


def timestampdiff_months(text: SqlText, name: Token, argument_tokens: Sequence[Token]) -> list[Edit]:
    """TIMESTAMPDIFF(MONTH, a, b): the last day of a shorter month completes a month; then times of day are compared.

    Source: Calcite `DateTimeUtils.subtractMonths`, compared with Flink 1.20.
    """
    args = arguments(text, argument_tokens)
    unit = args[0].upper() if args else ""
    if len(args) != 3 or unit not in _MONTHS:
        return []
    a, b = f"({args[1]})", f"({args[2]})"
    day, other = f"CAST({a} AS DATE)", f"CAST({b} AS DATE)"
    low, high = f"least({day}, {other})", f"greatest({day}, {other})"
    months_begun = f"((year({high}) - year({low})) * 12 + month({high}) - month({low}))"
    months_ended = f"({months_begun} - CASE WHEN add_months({low}, {months_begun}) > {high} THEN 1 ELSE 0 END)"
    signed = f"(CASE WHEN {other} < {day} THEN -1 ELSE 1 END * {months_ended})"
    is_earlier_in_day = f"add_months({day}, {signed}) = {other} AND {b} - {other} < {a} - {day}"
    count = f"CAST(({signed} - CASE WHEN {is_earlier_in_day} THEN 1 ELSE 0 END) div {_MONTHS[unit]} AS INT)"
    sql = f"(CASE WHEN {day} IS NOT NULL AND {other} IS NOT NULL THEN {count} END)"  # least() ignores NULL
    return [(call_span(name, argument_tokens), sql)]


_WALL_ZERO = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def to_timestamp(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """TO_TIMESTAMP(text[, format]) has no time zone and three fraction digits, and is NULL if the text is not a timestamp.

    With a format it is parsed in UTC and counted from 1970: in the session's time zone, as Spark does, some local times
    do not exist.
    """
    args = arguments(text, bracket)
    if len(args) == 1:
        wall = f"try_cast({args[0]} AS TIMESTAMP_NTZ)"
    elif len(args) == 2:
        read = f"try_to_timestamp(concat({args[0]}, ' Z'), concat({args[1]}, ' X'))"
        wall = f"({_WALL_ZERO} + ({read} - timestamp_seconds(0)))"
    else:
        return []
    return [(call_span(name, bracket), f"({wall} - make_dt_interval(0, 0, 0, extract(SECOND FROM {wall}) % 0.001))")]


def date_format(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """DATE_FORMAT(t, 'uuuu'): the year in Java's newer patterns, which Spark does not support."""
    inner = bracket[1:-1]
    if not inner or inner[-1].kind != "string" or "u" not in inner[-1].value:
        return []
    parts = inner[-1].value.split("'")
    pattern = "'".join(p if i % 2 else p.replace("u", "y") for i, p in enumerate(parts))
    return [(Span(inner[-1].start, inner[-1].stop), text_literal(pattern))]
