"""Translates Flink's JSON functions to Spark's: get_json_object for plain access; to_json and concat for construction.

A path without `lax` is `strict` in Flink: a missing value is an error, not empty.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paimon_nb.base.sql_quoting import spark_literal
from paimon_nb.sql.flink.casts import spark_type_text
from paimon_nb.sql.flink.function_edits import (
    Edit,
    Rewrite,
    SqlText,
    argument_spans,
    arguments,
    call_span,
    normalised_type_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.syntax.lexer import Token

_CLAUSES = ("NULL", "ERROR", "DEFAULT", "EMPTY", "WITH", "WITHOUT", "TRUE", "FALSE", "UNKNOWN")
_SIMPLE_PATH = re.compile(r"\$(\.[A-Za-z_]\w*|\[\d+\])*", re.ASCII)
"""Paths that Spark's own functions read as Flink does. All others, and calls with clauses, are left to one function of Python."""
FLINK_JSON = "paimon_flink_json"
"""The function of Python: see `spark/runtime/flink_json.py`."""


def json_value(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_VALUE(x, '$.a' [RETURNING t] [NULL | DEFAULT v ON EMPTY | ERROR]): NULL for an object or an array."""
    parts = _parse_document_and_path(text, bracket)
    if parts is None:
        return []
    document, path, mode, clauses = parts
    words = [t.upper for t in clauses]
    returning = ""
    if words[:1] == ["RETURNING"]:
        stop = next((i for i, t in enumerate(clauses) if i and t.upper in _CLAUSES), len(clauses))
        returning, clauses = spark_type_text(normalised_type_text(clauses[1:stop])), clauses[stop:]
    if not clauses and (kind := _is_container_sql(document, path)):
        sql = f"get_json_object({document}, {path})"
        sql = f"CASE WHEN {sql} RLIKE '^[\\\\[{{]' AND {kind} THEN NULL ELSE {sql} END"
        return [(call_span(name, bracket), f"CAST({sql} AS {returning})" if returning else sql)]
    found = f"{FLINK_JSON}({document}, {path}, 'value {mode} none')"
    value = f"CAST(substring({found}, 2) AS {returning})" if returning else f"substring({found}, 2)"
    return [(call_span(name, bracket), _with_clauses(text, found, value, clauses, "JSON_VALUE", "NULL"))]


def json_query(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_QUERY(x, '$.a' [WITH [CONDITIONAL] ARRAY WRAPPER]): NULL for a scalar, unless it is wrapped."""
    parts = _parse_document_and_path(text, bracket)
    if parts is None:
        return []
    document, path, mode, clauses = parts
    if not clauses and (kind := _is_container_sql(document, path)):
        sql = f"get_json_object({document}, {path})"
        return [(call_span(name, bracket), f"CASE WHEN {sql} RLIKE '^[\\\\[{{]' AND {kind} THEN {sql} END")]
    words = [t.upper for t in clauses]
    wrapper = "none"
    if "WRAPPER" in words:
        stop = words.index("WRAPPER") + 1
        wrapper = "none" if "WITHOUT" in words[:stop] else "conditional" if "CONDITIONAL" in words[:stop] else "always"
        clauses = clauses[stop:]
    found = f"{FLINK_JSON}({document}, {path}, 'query {mode} {wrapper}')"
    sql = _with_clauses(text, found, f"substring({found}, 2)", clauses, "JSON_QUERY", "NULL")
    return [(call_span(name, bracket), sql)]


def json_exists(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_EXISTS(x, '$.a'): NULL if x is NULL, FALSE for a JSON null."""
    parts = _parse_document_and_path(text, bracket)
    if parts is None:
        return []
    document, path, mode, clauses = parts
    if not clauses and _is_simple(path):
        found = f"get_json_object({document}, {path})"
        return [(call_span(name, bracket), f"IF(({document}) IS NULL, NULL, {found} IS NOT NULL)")]
    found = f"{FLINK_JSON}({document}, {path}, 'exists {mode} none')"
    words = [t.upper for t in clauses]
    error = {"TRUE": "TRUE", "UNKNOWN": "NULL", "ERROR": _raised("JSON_EXISTS")}.get(words[0] if words else "", "FALSE")
    return [
        (
            call_span(name, bracket),
            f"CASE {found} WHEN 'vtrue' THEN TRUE WHEN 'vfalse' THEN FALSE WHEN 'x' THEN {error} END",
        )
    ]


def _with_clauses(text: SqlText, found: str, value: str, clauses: Sequence[Token], name: str, missing: str) -> str:
    """The value, or what the clauses ON EMPTY and ON ERROR say."""
    empty, error = (_clause_sql(text, clauses, when, name) or missing for when in ("EMPTY", "ERROR"))
    return f"CASE substring({found}, 1, 1) WHEN 'v' THEN {value} WHEN 'e' THEN {empty} WHEN 'x' THEN {error} END"


def _clause_sql(text: SqlText, clauses: Sequence[Token], when: str, name: str) -> str:
    """SQL of `NULL | ERROR | EMPTY ARRAY | EMPTY OBJECT | DEFAULT v ON EMPTY` or `... ON ERROR`; '' without such a clause."""
    begin = 0
    for i, token in enumerate(clauses):
        if token.upper == "ON" and i + 1 < len(clauses) and clauses[i + 1].upper in ("EMPTY", "ERROR"):
            part = clauses[begin:i]
            begin = i + 2
            if clauses[i + 1].upper != when or not part:
                continue
            words = [t.upper for t in part]
            if words[0] == "DEFAULT":
                return text[part[1].start : part[-1].stop]
            if words[0] == "EMPTY":
                return "'{}'" if "OBJECT" in words else "'[]'"
            return _raised(name) if words[0] == "ERROR" else "NULL"
    return ""


def _raised(name: str) -> str:
    return f"raise_error('{name}: no value at the path')"


def _parse_document_and_path(text: SqlText, bracket: Sequence[Token]) -> tuple[str, str, str, list[Token]] | None:
    """The document, the path, 'lax' or 'strict', and the tokens after the path."""
    spans = argument_spans(bracket)
    if len(spans) < 2:
        return None
    inside = [t for t in bracket if spans[1].start <= t.start < spans[1].stop]
    path = inside[0]
    if path.kind != "string":
        return text[spans[0].start : spans[0].stop], text[path.start : path.stop], "strict", inside[1:]
    mode = re.match(r"(?i)\s*(lax|strict)\s+", path.value)
    plain = path.value[mode.end() :] if mode else path.value
    quoted = spark_literal(plain)
    return text[spans[0].start : spans[0].stop], quoted, mode[1].lower() if mode else "strict", inside[1:]


def _is_simple(path: str) -> bool:
    return _SIMPLE_PATH.fullmatch(path[1:-1]) is not None and path not in ("'$'", '"$"')


def _is_container_sql(document: str, path: str) -> str:
    """SQL for whether the value is an object or an array; '' if the path is left to the function of Python."""
    if not _is_simple(path):
        return ""
    return f"schema_of_variant(try_variant_get(try_parse_json({document}), {path}, 'variant')) RLIKE '^(OBJECT|ARRAY)'"


# -- construction


def json_string(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_STRING(x)."""
    args = arguments(text, bracket)
    return [(call_span(name, bracket), _json_text_sql(args[0]))] if len(args) == 1 else []


def json_array(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_ARRAY(a, b [NULL ON NULL]): NULLs are omitted by default."""
    members, null = _split_members(bracket, "ABSENT")
    parts = [_json_text_sql(text[m[0].start : m[-1].stop], null) for m in members]
    return [(call_span(name, bracket), f"{_ARRAY}concat_ws(',', {', '.join(parts)}), ']')" if parts else "'[]'")]


def json_object(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_OBJECT([KEY] k VALUE v, ... [ABSENT ON NULL]): NULLs are kept by default."""
    members, null = _split_members(bracket, "NULL")
    pairs = [_split_key_and_value(text, m) for m in members]
    if not all(pairs):
        return []
    entries = [f"concat({_json_text_sql(key)}, ':', {_json_text_sql(v, null)})" for key, v in pairs]  # type: ignore[misc]
    return [(call_span(name, bracket), f"{_OBJECT}concat_ws(',', {', '.join(entries)}), '}}')" if entries else "'{}'")]


def json_objectagg(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_OBJECTAGG([KEY] k VALUE v [ABSENT ON NULL])."""
    members, null = _split_members(bracket, "NULL")
    pair = _split_key_and_value(text, members[0]) if len(members) == 1 else None
    if pair is None:
        return []
    pairs_map = f"map_from_entries(collect_list(struct({pair[0]}, {pair[1]})))"
    pairs_map = pairs_map if null == "NULL" else f"map_filter({pairs_map}, (__k, __v) -> __v IS NOT NULL)"
    return [(call_span(name, bracket), f"to_json({pairs_map})")]


def json_arrayagg(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_ARRAYAGG(x): NULLs are omitted."""
    members, null = _split_members(bracket, "ABSENT")
    if len(members) != 1 or null == "NULL":
        return []
    element = text[members[0][0].start : members[0][-1].stop]
    return [(call_span(name, bracket), f"to_json(collect_list({element}))")]


def _split_members(bracket: Sequence[Token], null: str) -> tuple[list[list[Token]], str]:
    """The tokens of each argument, and the null handling of the final clause: 'NULL' or 'ABSENT'."""
    inside = list(bracket[1:-1])
    if (
        len(inside) > 2
        and inside[-2].upper == "ON"
        and inside[-1].upper == "NULL"
        and inside[-3].upper in ("NULL", "ABSENT")
    ):
        null, inside = inside[-3].upper, inside[:-3]
    spans = argument_spans([bracket[0], *inside, bracket[-1]])
    return [[t for t in inside if s.start <= t.start < s.stop] for s in spans], null


def _split_key_and_value(text: SqlText, member: list[Token]) -> tuple[str, str] | None:
    words = [t.upper for t in member]
    if "VALUE" not in words:
        return None
    at, first = words.index("VALUE"), words[0] == "KEY"
    if at <= first or at + 1 >= len(member):
        return None
    return text[member[int(first)].start : member[at - 1].stop], text[member[at + 1].start : member[-1].stop]


_OBJECT, _ARRAY = "concat('{', ", "concat('[', "


def _json_text_sql(value: str, null: str = "ABSENT") -> str:
    """SQL for a value as JSON text, row fields in order. NULL stays NULL, or becomes `null` if `null` is 'NULL'."""
    if value.startswith((_OBJECT, _ARRAY, "'{}'", "'[]'")):
        return value  # JSON text already
    text = f"regexp_extract(to_json(struct({value} AS v), map('ignoreNullFields', 'false')), '(?s)^\\\\{{\"v\":(.*)\\\\}}$', 1)"
    return text if null == "NULL" else f"nullif({text}, 'null')"


JSON_FUNCTIONS: dict[str, Rewrite] = {
    "JSON_VALUE": json_value,
    "JSON_QUERY": json_query,
    "JSON_EXISTS": json_exists,
    "JSON_STRING": json_string,
    "JSON_ARRAY": json_array,
    "JSON_OBJECT": json_object,
    "JSON_OBJECTAGG": json_objectagg,
    "JSON_ARRAYAGG": json_arrayagg,
}
