"""Functions of dates and times in the engine's SQL: parts, arithmetic, rounding, formats, and instants in the session's time zone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import (
    BIGINT,
    DATE,
    IN_ZONE,
    INSTANT,
    INT,
    LEAVE,
    STRING,
    TIMESTAMP,
    TO_INSTANT,
    Build,
    Value,
    called,
    is_integer,
    quote_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_DAY_LIMIT = 10_000_000
_MAX_MONTHS = 10_000


def _local_time(word: str, value: Value) -> str:
    """A date, a timestamp, or an instant in the session's time zone, as the engine's TIMESTAMP."""
    if value.type == INSTANT:
        return f"{IN_ZONE}({value.sql})"
    if value.type in (DATE, TIMESTAMP):
        return value.cast(TIMESTAMP).sql
    raise NotLocal(f"{word} of {value.type.bare()} is left to Spark")


def _date_part(word: str, types: tuple[object, ...]) -> Build:
    def date_part_sql(_flink: bool, values: list[Value]) -> Value:
        if values[0].type not in types:
            raise NotLocal(f"{word.upper()} of {values[0].type.bare()} is left to Spark")
        x = _local_time(word.upper(), values[0]) if values[0].type == INSTANT else values[0].sql
        return Value(f"CAST({word}({x}) AS INTEGER)", INT, called(word, values))

    return date_part_sql


def _plus_days(word: str, sign: str) -> Build:
    def plus_days_sql(_flink: bool, values: list[Value]) -> Value:
        date, days = _day_of(word, values[0]), values[1]
        if not is_integer(days.type) or days.type == BIGINT:
            raise NotLocal(f"{word.upper()} with {days.type.bare()} is left to Spark")
        n = days.cast(INT).sql
        checked = (
            n
            if days.literal is not None and abs(days.literal) < _DAY_LIMIT
            else (f"(CASE WHEN abs(CAST({n} AS BIGINT)) > {_DAY_LIMIT} THEN {LEAVE} ELSE {n} END)")
        )
        return Value(
            f"CAST(({date} {sign} {checked}) AS DATE)",
            DATE,
            called(word, values) if values[0].type == DATE else None,
        )

    return plus_days_sql


def _day_of(word: str, value: Value) -> str:
    """The day of a date or a timestamp."""
    return value.sql if value.type == DATE else f"CAST({_local_time(word.upper(), value)} AS DATE)"


def _days_between(_flink: bool, values: list[Value]) -> Value:
    end, start = (_day_of("DATEDIFF", v) for v in values)
    name = called("datediff", values) if all(v.type == DATE for v in values) else None
    return Value(f"CAST(({end} - {start}) AS INTEGER)", INT, name)


def _plus_months(_flink: bool, values: list[Value]) -> Value:
    date, months = _day_of("ADD_MONTHS", values[0]), values[1].literal
    if months is None or abs(months) > _MAX_MONTHS:
        raise NotLocal("ADD_MONTHS of a computed number is left to Spark")
    return Value(
        f"CAST(({date} + INTERVAL ({months}) MONTH) AS DATE)",
        DATE,
        called("add_months", values) if values[0].type == DATE else None,
    )


def _last_day(_flink: bool, values: list[Value]) -> Value:
    return Value(
        f"last_day({_day_of('LAST_DAY', values[0])})",
        DATE,
        called("last_day", values) if values[0].type == DATE else None,
    )


def _day_of_week(_flink: bool, values: list[Value]) -> Value:
    """1 is Sunday."""
    day = _day_of("DAYOFWEEK", values[0])
    return Value(
        f"CAST((dayofweek({day}) + 1) AS INTEGER)",
        INT,
        called("dayofweek", values) if values[0].type == DATE else None,
    )


def _truncated_date(_flink: bool, values: list[Value]) -> Value:
    """`trunc(date, unit)`."""
    unit = _TRUNC_UNITS.get((values[1].text or "").upper())
    if unit is None or values[0].type != DATE:
        raise NotLocal("this TRUNC is left to Spark")
    return Value(f"CAST(date_trunc('{unit}', {values[0].sql}) AS DATE)", DATE, called("trunc", values))


def _to_date(_flink: bool, values: list[Value]) -> Value:
    if len(values) == 2 and values[1].text != "yyyy-MM-dd":
        raise NotLocal("TO_DATE with such a pattern is left to Spark")
    if values[0].type == STRING:
        return Value(_plain_text_as(values[0].sql, _DAY, "DATE"), DATE, called("to_date", values), raises=True)
    if len(values) == 2:
        raise NotLocal("TO_DATE of a date with a pattern is left to Spark")
    return Value(_day_of("TO_DATE", values[0]), DATE, called("to_date", values))


_TRUNC_UNITS = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
    "QUARTER": "quarter",
    **dict.fromkeys(("MONTH", "MM", "MON"), "month"),
    "WEEK": "week",
}
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?)?"


def _plain_text_as(x: str, pattern: str, t: str) -> str:
    """A text in the plainest form as a date or timestamp; an error for all others."""
    return f"(CASE WHEN {x} IS NULL THEN NULL WHEN regexp_full_match({x}, {quote_text(pattern)}) THEN CAST({x} AS {t}) ELSE {LEAVE} END)"


def _to_timestamp(_flink: bool, values: list[Value]) -> Value:
    (a,) = values
    if a.type != STRING:
        return (
            Value(a.cast(INSTANT).sql, INSTANT, called("to_timestamp", values))
            if a.type in (DATE, INSTANT)
            else _refused("TO_TIMESTAMP", a)
        )
    text = f"{TO_INSTANT}({_plain_text_as(a.sql, _TIME, 'TIMESTAMP')})"
    return Value(text, INSTANT, called("to_timestamp", values), raises=True)


def _to_timestamp_in_flink(_flink: bool, values: list[Value]) -> Value:
    """A timestamp without a zone, with milliseconds."""
    if len(values) != 1 or values[0].type != STRING:
        raise NotLocal("TO_TIMESTAMP of Flink with a pattern is left to Spark")
    return Value(f"date_trunc('milliseconds', {_plain_text_as(values[0].sql, _TIME, 'TIMESTAMP')})", TIMESTAMP)


def _refused(function: str, value: Value) -> Value:
    raise NotLocal(f"{function} of {value.type.bare()} is left to Spark")


# -- formats

_LETTERS = {
    "yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "SSS": "%g", "SSSSSS": "%f", "MMM": "%b",
    "MMMM": "%B", "E": "%a", "EE": "%a", "EEE": "%a", "EEEE": "%A", "DDD": "%j", "hh": "%I", "a": "%p",
}  # fmt: skip
"""Letters of Java's patterns -> the engine's format."""
_OF_DAYS = frozenset("yMdED")
_FIRST_YEAR, _LAST_YEAR = "TIMESTAMP '1000-01-01'", "TIMESTAMP '9999-12-31 23:59:59.999999'"


def _format(pattern: str | None) -> tuple[str, bool]:
    """The engine's format of a pattern, and whether it has letters of days only. Raises NotLocal."""
    if pattern is None:
        raise NotLocal("DATE_FORMAT with a computed pattern is left to Spark")
    found, at, only_days = "", 0, True
    while at < len(pattern):
        c = pattern[at]
        if c == "'":
            stop = pattern.find("'", at + 1)
            if stop <= at + 1:
                raise NotLocal("DATE_FORMAT with such quotes is left to Spark")
            found += pattern[at + 1 : stop].replace("%", "%%")
            at = stop + 1
            continue
        stop = at + 1
        while stop < len(pattern) and pattern[stop] == c:
            stop += 1
        if c.isalpha():
            letters = pattern[at:stop].replace("u", "y")
            if letters not in _LETTERS:
                raise NotLocal(f"DATE_FORMAT with {letters} is left to Spark")
            only_days = only_days and letters[0] in _OF_DAYS
            found += _LETTERS[letters]
        elif c in "[]{}#" or not c.isascii():
            raise NotLocal("DATE_FORMAT with such a pattern is left to Spark")
        else:
            found += pattern[at:stop].replace("%", "%%")
        at = stop
    return found, only_days


def _formatted(local: str, pattern: str) -> str:
    text = f"strftime({local}, {quote_text(pattern)})"
    return f"(CASE WHEN {local} < {_FIRST_YEAR} OR {local} > {_LAST_YEAR} THEN {LEAVE} ELSE {text} END)"


def _date_format(_flink: bool, values: list[Value]) -> Value:
    """Spark formats a timestamp without a zone as the instant that it is in the session's time zone."""
    pattern, only_days = _format(values[1].text)
    a = values[0]
    local = _local_time("DATE_FORMAT", a) if only_days or a.type == INSTANT else f"{IN_ZONE}({a.cast(INSTANT).sql})"
    if a.type not in (DATE, TIMESTAMP, INSTANT):
        raise NotLocal(f"DATE_FORMAT of {a.type.bare()} is left to Spark")
    return Value(_formatted(local, pattern), STRING, called("date_format", values))


def _date_trunc(_flink: bool, values: list[Value]) -> Value:
    unit, a = _INSTANT_UNITS.get((values[0].text or "").upper()), values[1]
    if unit is None or a.type not in (DATE, TIMESTAMP, INSTANT):
        raise NotLocal("this DATE_TRUNC is left to Spark")
    instant = a.cast(INSTANT).sql
    local = f"{IN_ZONE}({instant})"
    truncated = f"CAST(date_trunc('{unit}', {local}) AS TIMESTAMP)"
    text = f"{TO_INSTANT}({truncated})"
    if unit in ("hour", "minute", "second", "milliseconds"):  # an hour may come twice
        text = f"make_timestamptz(epoch_us({instant}) - (epoch_us({local}) - epoch_us({truncated})))"
    return Value(text, INSTANT, called("date_trunc", values))


_INSTANT_UNITS = {
    **_TRUNC_UNITS,
    **dict.fromkeys(("DAY", "DD"), "day"),
    "HOUR": "hour",
    "MINUTE": "minute",
    "SECOND": "second",
    "MILLISECOND": "milliseconds",
}

# -- numbers of seconds


def _unix(word: str, divisor: int) -> Build:
    def unix_sql(_flink: bool, values: list[Value]) -> Value:
        """Whole units since 1970, rounded down; those of `unix_timestamp` towards zero, as in Spark."""
        a = values[0]
        if a.type not in (DATE, TIMESTAMP, INSTANT):
            raise NotLocal(f"{word.upper()} of {a.type.bare()} is left to Spark")
        if word != "unix_timestamp" and a.type != INSTANT:
            raise NotLocal(f"{word.upper()} of {a.type.bare()} is left to Spark")
        x = f"epoch_us({a.sql if a.type == TIMESTAMP else a.cast(INSTANT).sql})"  # Spark takes a timestamp without zone for UTC
        text = (
            f"{x} // {divisor}"
            if word == "unix_timestamp"
            else f"(CASE WHEN {x} < 0 THEN ({x} - {divisor - 1}) // {divisor} ELSE {x} // {divisor} END)"
        )
        named = [*values, Value("", STRING, "yyyy-MM-dd HH:mm:ss")] if word == "unix_timestamp" else values
        return Value(f"CAST({text} AS BIGINT)", BIGINT, called(word, named))

    return unix_sql


def _from_number(word: str, factor: int) -> Build:
    def from_number_sql(_flink: bool, values: list[Value]) -> Value:
        if not is_integer(values[0].type):
            raise NotLocal(f"{word.upper()} of {values[0].type.bare()} is left to Spark")
        text = f"make_timestamptz(CAST({values[0].sql} AS BIGINT) * {factor})"
        return Value(text, INSTANT, called(word, values), raises=factor > 1)

    return from_number_sql


def _from_unixtime(_flink: bool, values: list[Value]) -> Value:
    pattern, _ = _format(values[1].text if len(values) == 2 else "yyyy-MM-dd HH:mm:ss")
    if not is_integer(values[0].type):
        raise NotLocal(f"FROM_UNIXTIME of {values[0].type.bare()} is left to Spark")
    local = f"{IN_ZONE}(make_timestamptz(CAST({values[0].sql} AS BIGINT) * 1000000))"
    named = values if len(values) == 2 else [*values, Value("", STRING, "yyyy-MM-dd HH:mm:ss")]
    return Value(_formatted(local, pattern), STRING, called("from_unixtime", named))


# -- days of the week, and dates of parts

_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def _next_day(_flink: bool, values: list[Value]) -> Value:
    word = (values[1].text or "").upper()
    names = {
        **{d: d for d in _WEEKDAYS},
        **{f"{d}{r}": d for d, r in zip(_WEEKDAYS, "NEDUIT", strict=False)},
        "SUN": "SU",
    }
    if word not in names or values[0].type != DATE:
        raise NotLocal("this NEXT_DAY is left to Spark")
    target = _WEEKDAYS.index(names[word]) + 1
    ahead = f"(({target} - isodow({values[0].sql}) + 6) % 7 + 1)"
    return Value(f"CAST(({values[0].sql} + CAST({ahead} AS INTEGER)) AS DATE)", DATE, called("next_day", values))


def _weekday(_flink: bool, values: list[Value]) -> Value:
    """0 is Monday."""
    day = _day_of("WEEKDAY", values[0])
    return Value(
        f"CAST((isodow({day}) - 1) AS INTEGER)", INT, called("weekday", values) if values[0].type == DATE else None
    )


def _short_name(word: str) -> Build:
    def short_name_sql(_flink: bool, values: list[Value]) -> Value:
        day = _day_of(word.upper(), values[0])
        return Value(f"left({word}({day}), 3)", STRING, called(word, values) if values[0].type == DATE else None)

    return short_name_sql


def _make_date(_flink: bool, values: list[Value]) -> Value:
    if any(not is_integer(v.type) or v.type == BIGINT for v in values):
        raise NotLocal("MAKE_DATE of such numbers is left to Spark")
    x = f"make_date({', '.join(f'CAST({v.sql} AS BIGINT)' for v in values)})"
    return Value(x, DATE, called("make_date", values), raises=True)


def _date_part_named(flink: bool, values: list[Value]) -> Value:
    """`date_part('YEAR', t)`."""
    part = DATE_PARTS.get((values[0].text or "").upper())
    if part is None:
        raise NotLocal("this DATE_PART is left to Spark")
    found = TIME_FUNCTIONS[part][0](flink, [values[1]])
    return Value(found.sql, found.type, called("date_part", values))


CURRENT_TIMES = {
    "CURRENT_DATE": "current_date()",
    "CURDATE": None,
    "CURRENT_TIMESTAMP": "current_timestamp()",
    "NOW": "now()",
    "LOCALTIMESTAMP": "localtimestamp()",
}
"""Functions of the present time, and Spark's names of their columns."""


def current_time(function: str, zone: str | None) -> Value:
    """The present time, once for a query. Raises NotLocal: the time zone is not known."""
    if zone is None:
        raise NotLocal(f"{function} is left to Spark")
    micros = clock.now_ms() * 1000
    instant, name = Value(f"make_timestamptz({micros})", INSTANT), CURRENT_TIMES[function]
    if function in ("CURRENT_TIMESTAMP", "NOW"):
        return replace(instant, name=name, is_constant=True)
    t = TIMESTAMP if function == "LOCALTIMESTAMP" else DATE
    return Value(f"CAST({IN_ZONE}({instant.sql}) AS {t.root})", t, name, is_constant=True)


DATE_PARTS = {
    **{f"{unit}{s}": unit for unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "QUARTER") for s in ("", "S")},
    "DOY": "DAYOFYEAR",
    "DOW": "DAYOFWEEK",
    "DAYOFWEEK": "DAYOFWEEK",
    "WEEK": "WEEKOFYEAR",
    "WEEKS": "WEEKOFYEAR",
}
"""Unit of EXTRACT -> its function."""
_TIMES = (DATE, TIMESTAMP, INSTANT)
_CLOCK_TIMES = (TIMESTAMP, INSTANT)
TIME_FUNCTIONS: Mapping[str, tuple[Build, int, int] | tuple[Build, int, int, Build]] = {
    "YEAR": (_date_part("year", _TIMES), 1, 1),
    "QUARTER": (_date_part("quarter", _TIMES), 1, 1),
    "MONTH": (_date_part("month", _TIMES), 1, 1),
    "DAY": (_date_part("day", _TIMES), 1, 1),
    "DAYOFYEAR": (_date_part("dayofyear", _TIMES), 1, 1),
    "WEEKOFYEAR": (_date_part("weekofyear", _TIMES), 1, 1),
    "DAYOFWEEK": (_day_of_week, 1, 1),
    "WEEKDAY": (_weekday, 1, 1),
    "DAYNAME": (_short_name("dayname"), 1, 1),
    "MONTHNAME": (_short_name("monthname"), 1, 1),
    "HOUR": (_date_part("hour", _CLOCK_TIMES), 1, 1),
    "MINUTE": (_date_part("minute", _CLOCK_TIMES), 1, 1),
    "SECOND": (_date_part("second", _CLOCK_TIMES), 1, 1),
    "DATE_PART": (_date_part_named, 2, 2),
    "DATE_ADD": (_plus_days("date_add", "+"), 2, 2),
    "DATE_SUB": (_plus_days("date_sub", "-"), 2, 2),
    "DATEDIFF": (_days_between, 2, 2),
    "ADD_MONTHS": (_plus_months, 2, 2),
    "LAST_DAY": (_last_day, 1, 1),
    "NEXT_DAY": (_next_day, 2, 2),
    "MAKE_DATE": (_make_date, 3, 3),
    "TRUNC": (_truncated_date, 2, 2),
    "DATE_TRUNC": (_date_trunc, 2, 2),
    "TO_DATE": (_to_date, 1, 2, _to_date),
    "TO_TIMESTAMP": (_to_timestamp, 1, 1, _to_timestamp_in_flink),
    "DATE_FORMAT": (_date_format, 2, 2, _date_format),
    "UNIX_TIMESTAMP": (_unix("unix_timestamp", 1_000_000), 1, 1),
    "UNIX_SECONDS": (_unix("unix_seconds", 1_000_000), 1, 1),
    "UNIX_MILLIS": (_unix("unix_millis", 1_000), 1, 1),
    "UNIX_MICROS": (_unix("unix_micros", 1), 1, 1),
    "FROM_UNIXTIME": (_from_unixtime, 1, 2),
    "TIMESTAMP_SECONDS": (_from_number("timestamp_seconds", 1_000_000), 1, 1),
    "TIMESTAMP_MILLIS": (_from_number("timestamp_millis", 1_000), 1, 1),
    "TIMESTAMP_MICROS": (_from_number("timestamp_micros", 1), 1, 1),
}
"""Function -> how its value is built, how many arguments it has at least and at most, and how it is built where Flink's is translated for Spark."""
