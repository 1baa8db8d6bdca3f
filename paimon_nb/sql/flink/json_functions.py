"""Translates Flink's JSON functions to Spark's: get_json_object for access; to_json and concat for construction.

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
_SIMPLE_PATH = re.compile(r"\$(\.\w+|\[\d+\])*")
"""Paths that Spark's VARIANT functions support."""


def json_value(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_VALUE(x, '$.a' [RETURNING t] [NULL | DEFAULT v ON EMPTY | ERROR]): NULL for an object or an array."""
    parts = _parse_document_and_path(text, bracket)
    if parts is None:
        return []
    document, path, mode, clauses = parts
    sql = f"get_json_object({document}, {path})"
    if kind := _is_container_sql(document, path):
        sql = f"CASE WHEN {sql} RLIKE '^[\\\\[{{]' AND {kind} THEN NULL ELSE {sql} END"
    words = [t.upper for t in clauses]
    if "RETURNING" in words:
        following = clauses[words.index("RETURNING") + 1 :]
        stop = next((i for i, t in enumerate(following) if t.upper in _CLAUSES), len(following))
        sql = f"CAST({sql} AS {spark_type_text(normalised_type_text(following[:stop]))})"
    missing = _default_clause_value(
        text, clauses, "EMPTY" if mode == "lax" else "ERROR"
    )  # a lax path is empty in malformed JSON
    if missing:
        sql = f"coalesce({sql}, IF(({document}) IS NULL, NULL, {missing}))"
    return [(call_span(name, bracket), sql)]


def json_query(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_QUERY(x, '$.a' [WITH [CONDITIONAL] ARRAY WRAPPER]): NULL for a scalar, unless it is wrapped."""
    parts = _parse_document_and_path(text, bracket)
    if parts is None:
        return []
    document, path, _, clauses = parts
    sql = f"get_json_object({document}, {path})"
    words = [t.upper for t in clauses]
    if (kind := _is_container_sql(document, path)) and words[:1] == ["WITH"] and "WRAPPER" in words:
        wrapped = f"'[' || to_json(try_variant_get(try_parse_json({document}), {path}, 'variant')) || ']'"
        sql = (
            f"CASE WHEN {kind} AND {sql} LIKE '[%' THEN {sql} ELSE {wrapped} END" if "CONDITIONAL" in words else wrapped
        )
    elif kind:
        sql = f"CASE WHEN {sql} RLIKE '^[\\\\[{{]' AND {kind} THEN {sql} END"
    return [(call_span(name, bracket), sql)]


def json_exists(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_EXISTS(x, '$.a'): NULL if x is NULL."""
    parts = _parse_document_and_path(text, bracket)
    if parts is None:
        return []
    document, path, _, _ = parts
    found = f"get_json_object({document}, {path})"
    if _SIMPLE_PATH.fullmatch(path[1:-1]):  # this also finds a JSON null
        found = f"try_variant_get(try_parse_json({document}), {path}, 'variant')"
    return [(call_span(name, bracket), f"IF(({document}) IS NULL, NULL, {found} IS NOT NULL)")]


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
    plain = re.sub(r'\["([^"\]]*)"\]', r"['\1']", plain)
    quoted = spark_literal(plain)
    return text[spans[0].start : spans[0].stop], quoted, mode[1].lower() if mode else "strict", inside[1:]


def _is_container_sql(document: str, path: str) -> str:
    """SQL for whether the value is an object or an array; '' if VARIANT does not support the path."""
    if not _SIMPLE_PATH.fullmatch(path[1:-1]):
        return ""
    return f"schema_of_variant(try_variant_get(try_parse_json({document}), {path}, 'variant')) RLIKE '^(OBJECT|ARRAY)'"


def _default_clause_value(text: SqlText, clauses: Sequence[Token], when: str) -> str:
    """The value of `DEFAULT v ON EMPTY` or `... ON ERROR`; '' without such a clause."""
    begin = None
    for i, token in enumerate(clauses):
        if token.upper == "DEFAULT":
            begin = i + 1
        elif token.upper == "ON" and i + 1 < len(clauses):
            if clauses[i + 1].upper == when and begin is not None and begin < i:
                return text[clauses[begin].start : clauses[i - 1].stop]
            begin = None
    return ""


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
