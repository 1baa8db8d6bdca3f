"""What Flink says otherwise than Spark, as edits of the user's text: functions by name, and window tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.sql.flink.datetime_functions import (
    epoch,
    months_apart,
    moved,
    part,
    read_timestamp,
    rounded,
    told,
    whole_seconds,
)
from paimon_nb.sql.flink.function_edits import Edit, Rewrite, Said, arguments, call_span, called, renamed, with_argument
from paimon_nb.sql.flink.json_functions import JSON_FUNCTIONS
from paimon_nb.sql.lexer import Token


def _truncated(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """TRUNCATE(n) and TRUNCATE(n, places) keep the number's type, as Flink does."""
    given = arguments(text, bracket)
    if len(given) not in (1, 2):
        return []
    number, places = given[0], given[1] if len(given) > 1 else "0"
    down, up = f"floor({number}, {places})", f"ceil({number}, {places})"
    return [(call_span(name, bracket), f"(CASE WHEN ({number}) < 0 THEN {up} ELSE {down} END)")]


def _random(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """RAND_INTEGER([seed,] bound)."""
    *seed, bound = arguments(text, bracket) or ["1"]
    return [(call_span(name, bracket), f"CAST(floor(rand({', '.join(seed)}) * ({bound})) AS INT)")]


def _matches(pattern: str) -> Rewrite:
    """Whether a text is of this kind; NULL is not."""
    return called(f"coalesce(({{0}}) RLIKE '^{pattern}$', false)")


def _sliced(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """ARRAY_SLICE(a, start[, end]): counted from 1, or from the end when negative; `end` is inside."""
    given = [f"({a})" for a in arguments(text, bracket)]
    if len(given) not in (2, 3):
        return []
    a, size = given[0], f"size({given[0]})"
    first, last = (f"CASE WHEN {i} < 0 THEN {size} + {i} + 1 ELSE {i} END" for i in (given[1], (*given, size)[2]))
    first = f"greatest({first}, 1)"
    return [(call_span(name, bracket), f"slice({a}, {first}, greatest({last} - {first} + 1, 0))")]


def _extracted(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """REGEXP_EXTRACT(s, pattern[, group]): the whole match when no group is named, NULL without a match."""
    given = arguments(text, bracket)
    if len(given) not in (2, 3):
        return []
    said = f"IF(({given[0]}) RLIKE ({given[1]}), regexp_extract({given[0]}, {given[1]}, {(*given, '0')[2]}), NULL)"
    return [(call_span(name, bracket), said)]


def _group_window(kind: str, part: str) -> Rewrite:
    """TUMBLE(ts, size), HOP(ts, slide, size), SESSION(ts, gap) in GROUP BY, and their _START, _END, _ROWTIME."""

    def rewrite(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        given = arguments(text, bracket)
        if len(given) != (3 if kind == "HOP" else 2) or given[0].upper().startswith(("TABLE", "DATA")):
            return []
        spans = [f"'{_interval(a)}'" for a in reversed(given[1:])]
        function = "session_window" if kind == "SESSION" else "window"
        said = f"{function}({given[0]}, {', '.join(spans)})"
        said += {"": "", "START": ".start", "END": ".end", "ROWTIME": ".end - INTERVAL '0.001' SECOND"}[part]
        return [(call_span(name, bracket), said)]

    return rewrite


def _of_all(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """GREATEST and LEAST are NULL when one of their arguments is."""
    given = arguments(text, bracket)
    null = " OR ".join(f"({a}) IS NULL" for a in given)
    return [(call_span(name, bracket), f"IF({null}, NULL, {name.text}({', '.join(given)}))")] if given else []


def _sign(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """SIGN(n) has the number's type."""
    given = arguments(text, bracket)
    n = f"({', '.join(given)})"
    said = f"(CASE WHEN {n} > 0 THEN 1Y WHEN {n} < 0 THEN -1Y ELSE {n} END)"
    return [(call_span(name, bracket), said)] if len(given) == 1 else []


FUNCTION_EDITS: Mapping[str, Rewrite] = {
    "PROCTIME": called("current_timestamp()"),
    "CURRENT_ROW_TIMESTAMP": called("current_timestamp()"),
    "TO_TIMESTAMP_LTZ": epoch,
    "CONVERT_TZ": called("date_format(from_utc_timestamp(to_utc_timestamp({0}, {1}), {2}), 'yyyy-MM-dd HH:mm:ss')"),
    "FLOOR": rounded(up=False),
    "CEIL": rounded(up=True),
    "CEILING": rounded(up=True),
    "EXTRACT": part,
    "WEEK": renamed("weekofyear"),
    **JSON_FUNCTIONS,
    "TO_BASE64": called("base64({0})"),
    "FROM_BASE64": called("CAST(unbase64({0}) AS STRING)"),
    **{f"SHA{n}": called(f"sha2({{0}}, {n})") for n in (224, 256, 384, 512)},
    **{
        f"{kind}{'_' * bool(part)}{part}": _group_window(kind, part)
        for kind in ("TUMBLE", "HOP", "SESSION")
        for part in ("", "START", "END", "ROWTIME")
    },
    "SPLIT_INDEX": called("get(split({0}, concat('\\\\Q', {1}, '\\\\E')), {2})"),
    "LISTAGG": renamed("listagg"),
    "CHARACTER_LENGTH": renamed("char_length"),
    "REGEXP_EXTRACT": renamed("regexp_extract"),
    "IS_ALPHA": _matches(r"\\p{L}+"),
    "IS_DIGIT": _matches(r"\\p{Nd}+"),
    "IS_DECIMAL": _matches(r"[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?"),
    "TRUNCATE": _truncated,
    "RAND_INTEGER": _random,
    "ELEMENT": called("get({0}, 0)"),
    "ARRAY_CONCAT": renamed("concat"),
    "ARRAY_REVERSE": renamed("reverse"),
    "ARRAY_SLICE": _sliced,
    "MAP_UNION": called("map_zip_with({0}, {1}, (__k, __a, __b) -> coalesce(__b, __a))"),
    "ROW": renamed("struct"),
    "IF": renamed("if"),
    "UUID": renamed("uuid"),
}
"""Flink function -> how it is said in Spark."""
FLINK_MEANINGS: Mapping[str, Rewrite] = {
    "LISTAGG": with_argument(1, "','"),
    "REGEXP_EXTRACT": _extracted,
    "EXTRACT": whole_seconds,
    "TIMESTAMPADD": moved,
    "TIMESTAMPDIFF": months_apart,
    "TO_TIMESTAMP": read_timestamp,
    "DATE_FORMAT": told,
    "SIGN": _sign,
    "TO_DATE": renamed("try_to_date"),
    "ARRAY_SORT": renamed("sort_array"),
    "GREATEST": _of_all,
    "LEAST": _of_all,
    "STR_TO_MAP": with_argument(1, "',', '='"),
    "FIRST_VALUE": with_argument(1, "true"),
    "LAST_VALUE": with_argument(1, "true"),
}
"""Functions that both have, and Flink means otherwise."""


def window_table(kind: str, arguments: list[str], keys: Sequence[str] = ()) -> tuple[str, str]:
    """Text before and after the table for TUMBLE, HOP, CUMULATE and SESSION in batch. keys: what SESSION is partitioned by.

    TUMBLE(TABLE t, DESCRIPTOR(ts), size) gives t's columns, window_start, window_end, window_time. CUMULATE(.., step, size)
    gives a row for each end in steps after the row's time, up to the end of its window of `size`.
    """
    if len(arguments) < (2 if kind in ("TUMBLE", "SESSION") else 3):
        raise SqlSyntaxError(f"{kind} needs a DESCRIPTOR and {_SIZES.get(kind, 'slide and size')}")
    column = re.sub(r"(?is)^\s*DESCRIPTOR\s*\(\s*(.*?)\s*\)\s*$", r"\1", arguments[0])
    intervals, window = [_interval(a) for a in arguments[1:]], ""
    if kind == "SESSION":
        return _sessions(column, intervals[0], keys)
    if kind == "TUMBLE":
        spec = f"window({column}, '{intervals[0]}')"
    elif kind == "HOP":
        spec = f"window({column}, '{intervals[1]}', '{intervals[0]}')"
    elif kind == "CUMULATE":
        ends = f"sequence(__day.start + INTERVAL {intervals[0]}, __day.end, INTERVAL {intervals[0]})"
        later = f"filter({ends}, e -> e > {column})"
        spec = f"explode(transform({later}, e -> named_struct('start', __day.start, 'end', e)))"
        window = f"(SELECT *, window({column}, '{intervals[1]}') AS __day FROM "
    else:
        raise SqlSyntaxError(f"{kind} windows are not known here", hint="use TUMBLE, HOP, CUMULATE or SESSION")
    hidden = "(__win, __day)" if window else "(__win)"
    head = (
        f"(SELECT __w.* EXCEPT {hidden}, __w.__win.start AS window_start, __w.__win.end AS window_end, "
        f"__w.__win.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, {spec} AS __win FROM {window}"
    )
    return head, ")" * bool(window) + ") AS __w)"


def _sessions(column: str, gap: str, keys: Sequence[str]) -> tuple[str, str]:
    """A session ends when the next row of its key is later than `gap` after the last one."""
    of_key = f"PARTITION BY {', '.join(keys)} " if keys else ""
    of_session = f"PARTITION BY {', '.join([*keys, '__no'])}"
    begins = f"CASE WHEN {column} <= __before + INTERVAL {gap} THEN 0 ELSE 1 END"
    head = (
        f"(SELECT * EXCEPT (__no), window_end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT * EXCEPT (__before), "
        f"min({column}) OVER ({of_session}) AS window_start, max({column}) OVER ({of_session}) + INTERVAL {gap} AS window_end "
        f"FROM (SELECT *, sum({begins}) OVER ({of_key}ORDER BY {column}) AS __no "
        f"FROM (SELECT *, lag({column}) OVER ({of_key}ORDER BY {column}) AS __before FROM "
    )
    return head, "))))"


_SIZES = {"TUMBLE": "a size", "SESSION": "a gap"}


def _interval(text: str) -> str:
    """INTERVAL '10' MINUTES -> 10 MINUTES."""
    match = re.fullmatch(r"(?is)\s*INTERVAL\s*'([^']+)'\s*(\w+)\s*(?:\(\d+\))?\s*", text)
    if not match:
        raise SqlSyntaxError(f"{text!r} is no interval", hint="INTERVAL '10' MINUTES")
    return f"{match[1]} {match[2]}"
