"""Translates Flink's functions and window table functions to Spark's, as edits of the user's text."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.sql.flink.datetime_functions import (
    date_format,
    extract_field,
    extract_seconds,
    floor_or_ceil,
    timestampadd,
    timestampdiff_months,
    to_timestamp,
    to_timestamp_ltz,
)
from paimon_nb.sql.flink.function_edits import (
    Edit,
    Rewrite,
    SqlText,
    append_default_argument,
    arguments,
    call_span,
    rename_function,
    rewrite_from_template,
)
from paimon_nb.sql.flink.json_functions import JSON_FUNCTIONS
from paimon_nb.sql.flink.pattern_functions import regexp, regexp_extract, regexp_replace, replace, split_index
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.syntax.lexer import Token


def _rewrite_truncate(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """TRUNCATE(n) and TRUNCATE(n, digits) keep the number's type, as in Flink."""
    args = arguments(text, bracket)
    if len(args) not in (1, 2):
        return []
    number, digits = args[0], args[1] if len(args) > 1 else "0"
    down, up = f"floor({number}, {digits})", f"ceil({number}, {digits})"
    return [(call_span(name, bracket), f"(CASE WHEN ({number}) < 0 THEN {up} ELSE {down} END)")]


def _rand_integer(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """RAND_INTEGER([seed,] bound)."""
    *seed, bound = arguments(text, bracket) or ["1"]
    return [(call_span(name, bracket), f"CAST(floor(rand({', '.join(seed)}) * ({bound})) AS INT)")]


def _rewrite_as_regex_match(pattern: str) -> Rewrite:
    """Whether a string matches; false for NULL."""
    return rewrite_from_template(f"coalesce(({{0}}) RLIKE '^{pattern}$', false)")


def _rewrite_array_slice(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """ARRAY_SLICE(a, start[, end]): 1-based, negative from the end; `end` is inclusive."""
    args = [f"({a})" for a in arguments(text, bracket)]
    if len(args) not in (2, 3):
        return []
    a, size = args[0], f"size({args[0]})"
    first, last = (f"CASE WHEN {i} < 0 THEN {size} + {i} + 1 ELSE {i} END" for i in (args[1], (*args, size)[2]))
    first = f"greatest({first}, 1)"
    return [(call_span(name, bracket), f"slice({a}, {first}, greatest({last} - {first} + 1, 0))")]


def _group_window_rewrite(kind: str, part: str) -> Rewrite:
    """TUMBLE(ts, size), HOP(ts, slide, size), SESSION(ts, gap) in GROUP BY, and their _START, _END, _ROWTIME."""

    def rewrite_group_window(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        args = arguments(text, bracket)
        if len(args) != (3 if kind == "HOP" else 2) or args[0].upper().startswith(("TABLE", "DATA")):
            return []
        spans = [f"'{_interval_of_literal(a)}'" for a in reversed(args[1:])]
        function = "session_window" if kind == "SESSION" else "window"
        sql = f"{function}({args[0]}, {', '.join(spans)})"
        sql += {"": "", "START": ".start", "END": ".end", "ROWTIME": ".end - INTERVAL '0.001' SECOND"}[part]
        return [(call_span(name, bracket), sql)]

    return rewrite_group_window


def _null_if_any_null(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """GREATEST and LEAST are NULL if an argument is NULL."""
    args = arguments(text, bracket)
    null = " OR ".join(f"({a}) IS NULL" for a in args)
    return [(call_span(name, bracket), f"IF({null}, NULL, {name.text}({', '.join(args)}))")] if args else []


def _rewrite_logarithm(function: str) -> Rewrite:
    """The logarithm of 0 is -Infinity and that of a negative number NaN; NULL in Spark."""
    infinite, none = "CAST('-Infinity' AS DOUBLE)", "CAST('NaN' AS DOUBLE)"
    return rewrite_from_template(
        f"CASE WHEN {{0}} = 0 THEN {infinite} WHEN {{0}} < 0 THEN {none} ELSE {function}({{0}}) END"
    )


def _rewrite_sign(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """SIGN(n) keeps the number's type."""
    args = arguments(text, bracket)
    n = f"({', '.join(args)})"
    sql = f"(CASE WHEN {n} > 0 THEN 1Y WHEN {n} < 0 THEN -1Y ELSE {n} END)"
    return [(call_span(name, bracket), sql)] if len(args) == 1 else []


def _rewrite_substring(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """SUBSTR(s, n[, length]) is empty for an `n` before the start; Spark counts the missing characters."""
    args = arguments(text, bracket, separators=(",", "FROM", "FOR"))
    if len(args) not in (2, 3) or args[1].isdecimal():
        return []
    sql = f"IF(({args[1]}) < -char_length({args[0]}), '', {name.text}({', '.join(args)}))"
    return [(call_span(name, bracket), sql)]


def _rewrite_overlay(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """OVERLAY(s PLACING r FROM n [FOR length]) is `s` for an `n` outside of it, and nothing follows `r` for a length of 0."""
    args = arguments(text, bracket, separators=(",", "PLACING", "FROM", "FOR"))
    if len(args) not in (3, 4):
        return []
    s, r, n, length = args if len(args) == 4 else (*args, f"char_length({args[1]})")
    inside = f"CASE WHEN ({length}) > 0 THEN overlay({s}, {r}, {n}, {length}) ELSE left({s}, ({n}) - 1) || {r} END"
    outside = f"CASE WHEN ({length}) IS NOT NULL AND ({r}) IS NOT NULL THEN {s} END"
    sql = f"(CASE WHEN ({n}) BETWEEN 1 AND char_length({s}) THEN {inside} WHEN ({n}) IS NOT NULL THEN {outside} END)"
    return [(call_span(name, bracket), sql)]


def _rewrite_pad(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """LPAD and RPAD to a negative length or with an empty text are NULL."""
    args = arguments(text, bracket)
    if len(args) != 3 or (args[1].isdecimal() and args[2] != "''" and args[2].startswith("'")):
        return []
    sql = f"(CASE WHEN ({args[1]}) >= 0 AND ({args[2]}) <> '' THEN {name.text}({', '.join(args)}) END)"
    return [(call_span(name, bracket), sql)]


def _rewrite_initcap(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """INITCAP(s) changes the letters A to Z only; any other character but a digit ends a word, in Spark only a space."""
    args = arguments(text, bracket)
    if len(args) != 1:
        return []
    lower, upper = string.ascii_lowercase, string.ascii_uppercase
    starts_word = f"__i = 0 OR NOT substring({args[0]}, __i, 1) RLIKE '[A-Za-z0-9]'"
    letter = f"if({starts_word}, translate(__c, '{lower}', '{upper}'), translate(__c, '{upper}', '{lower}'))"
    sql = f"array_join(transform(split({args[0]}, ''), (__c, __i) -> {letter}), '')"
    return [(call_span(name, bracket), sql)]


FUNCTION_EDITS: Mapping[str, Rewrite] = {
    "PROCTIME": rewrite_from_template("current_timestamp()"),
    "CURRENT_ROW_TIMESTAMP": rewrite_from_template("current_timestamp()"),
    "TO_TIMESTAMP_LTZ": to_timestamp_ltz,
    "CONVERT_TZ": rewrite_from_template(
        "date_format(from_utc_timestamp(to_utc_timestamp({0}, {1}), {2}), 'yyyy-MM-dd HH:mm:ss')"
    ),
    "FLOOR": floor_or_ceil(up=False),
    "CEIL": floor_or_ceil(up=True),
    "CEILING": floor_or_ceil(up=True),
    "EXTRACT": extract_field,
    "WEEK": rename_function("weekofyear"),
    **JSON_FUNCTIONS,
    "TO_BASE64": rewrite_from_template("base64({0})"),
    "FROM_BASE64": rewrite_from_template("CAST(unbase64({0}) AS STRING)"),
    **{f"SHA{n}": rewrite_from_template(f"sha2({{0}}, {n})") for n in (224, 256, 384, 512)},
    **{
        f"{kind}{'_' * bool(part)}{part}": _group_window_rewrite(kind, part)
        for kind in ("TUMBLE", "HOP", "SESSION")
        for part in ("", "START", "END", "ROWTIME")
    },
    "SPLIT_INDEX": split_index,
    "LISTAGG": rename_function("listagg"),
    "CHARACTER_LENGTH": rename_function("char_length"),
    "REGEXP_EXTRACT": rename_function("regexp_extract"),
    "IS_ALPHA": _rewrite_as_regex_match(r"\\p{L}+"),
    "IS_DIGIT": _rewrite_as_regex_match(r"\\p{Nd}+"),
    "IS_DECIMAL": _rewrite_as_regex_match(r"[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?"),
    "TRUNCATE": _rewrite_truncate,
    "RAND_INTEGER": _rand_integer,
    "ELEMENT": rewrite_from_template("get({0}, 0)"),
    "ARRAY_CONCAT": rename_function("concat"),
    "ARRAY_REVERSE": rename_function("reverse"),
    "ARRAY_SLICE": _rewrite_array_slice,
    "MAP_UNION": rewrite_from_template("map_zip_with({0}, {1}, (__k, __a, __b) -> coalesce(__b, __a))"),
    "ROW": rename_function("struct"),
    "IF": rename_function("if"),
    "UUID": rename_function("uuid"),
}
"""Flink functions that Spark does not have -> their rewrite."""
FLINK_SEMANTICS: Mapping[str, Rewrite] = {
    "LISTAGG": append_default_argument(1, "','"),
    "REGEXP": regexp,
    "REGEXP_EXTRACT": regexp_extract,
    "REGEXP_REPLACE": regexp_replace,
    "REPLACE": replace,
    "EXTRACT": extract_seconds,
    "TIMESTAMPADD": timestampadd,
    "TIMESTAMPDIFF": timestampdiff_months,
    "TO_TIMESTAMP": to_timestamp,
    "DATE_FORMAT": date_format,
    "SIGN": _rewrite_sign,
    "ASCII": rewrite_from_template(
        "CASE WHEN ascii({0}) < 128 THEN ascii({0}) ELSE CAST(conv(left(hex({0}), 2), 16, 10) AS INT) - 256 END"
    ),
    "INITCAP": _rewrite_initcap,
    "LPAD": _rewrite_pad,
    "RPAD": _rewrite_pad,
    "OVERLAY": _rewrite_overlay,
    "SUBSTR": _rewrite_substring,
    "SUBSTRING": _rewrite_substring,
    "LN": _rewrite_logarithm("ln"),
    "LOG2": _rewrite_logarithm("log2"),
    "LOG10": _rewrite_logarithm("log10"),
    "TO_DATE": rename_function("try_to_date"),
    "ARRAY_SORT": rename_function("sort_array"),
    "GREATEST": _null_if_any_null,
    "LEAST": _null_if_any_null,
    "STR_TO_MAP": append_default_argument(1, "',', '='"),
    "FIRST_VALUE": append_default_argument(1, "true"),
    "LAST_VALUE": append_default_argument(1, "true"),
}
"""Functions of both dialects whose semantics differ -> the rewrite for Flink's semantics."""


def window_table_sql(kind: str, arguments: list[str], keys: Sequence[str] = ()) -> tuple[str, str]:
    """SQL text before and after the table for TUMBLE, HOP, CUMULATE and SESSION. `keys`: the PARTITION BY of SESSION.

    TUMBLE(TABLE t, DESCRIPTOR(ts), size) gives t's columns, window_start, window_end, window_time. CUMULATE(.., step, size)
    gives a row for each step end after the row's time, up to the end of its window of `size`.
    """
    if len(arguments) < (2 if kind in ("TUMBLE", "SESSION") else 3):
        raise SqlSyntaxError(f"{kind} needs a DESCRIPTOR and {_SIZES.get(kind, 'slide and size')}")
    column = _described_column(arguments[0])
    intervals, window = [_interval_of_literal(a) for a in arguments[1:]], ""
    if kind == "SESSION":
        return _session_windows_sql(column, intervals[0], keys)
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
        raise SqlSyntaxError(f"unknown window function {kind}", hint="use TUMBLE, HOP, CUMULATE or SESSION")
    hidden = "(__win, __day)" if window else "(__win)"
    head = (
        f"(SELECT __w.* EXCEPT {hidden}, __w.__win.start AS window_start, __w.__win.end AS window_end, "
        f"__w.__win.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, {spec} AS __win FROM {window}"
    )
    return head, ")" * bool(window) + ") AS __w)"


def _session_windows_sql(column: str, gap: str, keys: Sequence[str]) -> tuple[str, str]:
    """SESSION windows: a session ends if the key's next row comes later than `gap` after the last one."""
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


def _interval_of_literal(text: str) -> str:
    """INTERVAL '10' MINUTES -> 10 MINUTES."""
    words = tokens(text)
    has_precision = len(words) == 6 and words[3].text == "(" and words[5].text == ")"
    if (
        not (len(words) == 3 or has_precision)
        or words[0].upper != "INTERVAL"
        or words[1].kind != "string"
        or words[2].kind != "word"
    ):
        raise SqlSyntaxError(f"{text!r} is not an interval", hint="write for example INTERVAL '10' MINUTES")
    return f"{words[1].text[1:-1]} {words[2].text}"


def _described_column(text: str) -> str:
    """DESCRIPTOR(ts) -> ts."""
    words = tokens(text)
    if len(words) > 3 and words[0].upper == "DESCRIPTOR" and words[1].text == "(" and words[-1].text == ")":
        return text[words[2].start : words[-2].stop]
    return text
