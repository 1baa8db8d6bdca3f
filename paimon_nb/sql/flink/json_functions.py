"""Flink's JSON functions as Spark's: get_json_object for values, to_json for texts, which are put together as texts.

Of a path without `lax`, Flink means `strict`: what is not there is an error, not empty.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from paimon_nb.base.sql_quoting import spark_literal
from paimon_nb.sql.flink.casts import spark_type_text
from paimon_nb.sql.flink.function_edits import Edit, Rewrite, Said, arguments, arguments_of, call_span, rebuilt
from paimon_nb.sql.lexer import Token

_CLAUSES = ("NULL", "ERROR", "DEFAULT", "EMPTY", "WITH", "WITHOUT", "TRUE", "FALSE", "UNKNOWN")
_SIMPLE_PATH = re.compile(r"\$(\.\w+|\[\d+\])*")
"""What Spark's VARIANT can follow."""


def value(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_VALUE(x, '$.a' [RETURNING t] [NULL | DEFAULT v ON EMPTY | ERROR]): of an object or an array it is NULL."""
    parts = _path(text, bracket)
    if parts is None:
        return []
    document, path, mode, clauses = parts
    said = f"get_json_object({document}, {path})"
    if kind := _kind(document, path):
        said = f"CASE WHEN {said} RLIKE '^[\\\\[{{]' AND {kind} THEN NULL ELSE {said} END"
    words = [t.upper for t in clauses]
    if "RETURNING" in words:
        following = clauses[words.index("RETURNING") + 1 :]
        stop = next((i for i, t in enumerate(following) if t.upper in _CLAUSES), len(following))
        said = f"CAST({said} AS {spark_type_text(rebuilt(following[:stop]))})"
    missing = _default(text, clauses, "EMPTY" if mode == "lax" else "ERROR")  # a lax path finds nothing in broken text
    if missing:
        said = f"coalesce({said}, IF(({document}) IS NULL, NULL, {missing}))"
    return [(call_span(name, bracket), said)]


def query(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_QUERY(x, '$.a' [WITH [CONDITIONAL] ARRAY WRAPPER]): of a text or a number it is NULL, unless it is wrapped."""
    parts = _path(text, bracket)
    if parts is None:
        return []
    document, path, _, clauses = parts
    said = f"get_json_object({document}, {path})"
    words = [t.upper for t in clauses]
    if (kind := _kind(document, path)) and words[:1] == ["WITH"] and "WRAPPER" in words:
        wrapped = f"'[' || to_json(try_variant_get(try_parse_json({document}), {path}, 'variant')) || ']'"
        said = (
            f"CASE WHEN {kind} AND {said} LIKE '[%' THEN {said} ELSE {wrapped} END"
            if "CONDITIONAL" in words
            else wrapped
        )
    elif kind:
        said = f"CASE WHEN {said} RLIKE '^[\\\\[{{]' AND {kind} THEN {said} END"
    return [(call_span(name, bracket), said)]


def exists(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_EXISTS(x, '$.a'); of no text it is NULL."""
    parts = _path(text, bracket)
    if parts is None:
        return []
    document, path, _, _ = parts
    found = f"get_json_object({document}, {path})"
    if _SIMPLE_PATH.fullmatch(path[1:-1]):  # which finds a null, too
        found = f"try_variant_get(try_parse_json({document}), {path}, 'variant')"
    return [(call_span(name, bracket), f"IF(({document}) IS NULL, NULL, {found} IS NOT NULL)")]


def _path(text: Said, bracket: Sequence[Token]) -> tuple[str, str, str, list[Token]] | None:
    """The document, the path, 'lax' or 'strict', and the tokens behind the path."""
    spans = arguments_of(bracket)
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


def _kind(document: str, path: str) -> str:
    """SQL that says whether an object or an array is there; '' when the path is too much for a VARIANT."""
    if not _SIMPLE_PATH.fullmatch(path[1:-1]):
        return ""
    return f"schema_of_variant(try_variant_get(try_parse_json({document}), {path}, 'variant')) RLIKE '^(OBJECT|ARRAY)'"


def _default(text: Said, clauses: Sequence[Token], when: str) -> str:
    """The value of `DEFAULT v ON EMPTY` or `... ON ERROR`; '' when none is given."""
    begin = None
    for i, token in enumerate(clauses):
        if token.upper == "DEFAULT":
            begin = i + 1
        elif token.upper == "ON" and i + 1 < len(clauses):
            if clauses[i + 1].upper == when and begin is not None and begin < i:
                return text[clauses[begin].start : clauses[i - 1].stop]
            begin = None
    return ""


# -- texts that are made


def as_text(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_STRING(x)."""
    given = arguments(text, bracket)
    return [(call_span(name, bracket), _text(given[0]))] if len(given) == 1 else []


def array(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_ARRAY(a, b [NULL ON NULL]): NULLs are left out unless told otherwise."""
    members, null = _members(text, bracket, "ABSENT")
    said = [_text(text[m[0].start : m[-1].stop], null) for m in members]
    return [(call_span(name, bracket), f"{_ARRAY}concat_ws(',', {', '.join(said)}), ']')" if said else "'[]'")]


def object_(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_OBJECT([KEY] k VALUE v, ... [ABSENT ON NULL]): NULLs stay unless told otherwise."""
    members, null = _members(text, bracket, "NULL")
    pairs = [_pair(text, m) for m in members]
    if not all(pairs):
        return []
    said = [f"concat({_text(key)}, ':', {_text(v, null)})" for key, v in pairs]  # type: ignore[misc]
    return [(call_span(name, bracket), f"{_OBJECT}concat_ws(',', {', '.join(said)}), '}}')" if said else "'{}'")]


def object_of_rows(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_OBJECTAGG([KEY] k VALUE v [ABSENT ON NULL])."""
    members, null = _members(text, bracket, "NULL")
    pair = _pair(text, members[0]) if len(members) == 1 else None
    if pair is None:
        return []
    said = f"map_from_entries(collect_list(struct({pair[0]}, {pair[1]})))"
    said = said if null == "NULL" else f"map_filter({said}, (__k, __v) -> __v IS NOT NULL)"
    return [(call_span(name, bracket), f"to_json({said})")]


def array_of_rows(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """JSON_ARRAYAGG(x): NULLs are left out."""
    members, null = _members(text, bracket, "ABSENT")
    if len(members) != 1 or null == "NULL":
        return []
    said = text[members[0][0].start : members[0][-1].stop]
    return [(call_span(name, bracket), f"to_json(collect_list({said}))")]


def _members(text: Said, bracket: Sequence[Token], null: str) -> tuple[list[list[Token]], str]:
    """Tokens of each argument, and what the clause at the end says about NULL: 'NULL' or 'ABSENT'."""
    inside = list(bracket[1:-1])
    if (
        len(inside) > 2
        and inside[-2].upper == "ON"
        and inside[-1].upper == "NULL"
        and inside[-3].upper in ("NULL", "ABSENT")
    ):
        null, inside = inside[-3].upper, inside[:-3]
    spans = arguments_of([bracket[0], *inside, bracket[-1]])
    return [[t for t in inside if s.start <= t.start < s.stop] for s in spans], null


def _pair(text: Said, member: list[Token]) -> tuple[str, str] | None:
    words = [t.upper for t in member]
    if "VALUE" not in words:
        return None
    at, first = words.index("VALUE"), words[0] == "KEY"
    if at <= first or at + 1 >= len(member):
        return None
    return text[member[int(first)].start : member[at - 1].stop], text[member[at + 1].start : member[-1].stop]


_OBJECT, _ARRAY = "concat('{', ", "concat('[', "


def _text(value: str, null: str = "ABSENT") -> str:
    """SQL of a value as a text of JSON, fields of rows in their order; NULL stays one, or becomes `null` when `null` is 'NULL'."""
    if value.startswith((_OBJECT, _ARRAY, "'{}'", "'[]'")):
        return value  # made of JSON already
    said = f"regexp_extract(to_json(struct({value} AS v), map('ignoreNullFields', 'false')), '(?s)^\\\\{{\"v\":(.*)\\\\}}$', 1)"
    return said if null == "NULL" else f"nullif({said}, 'null')"


JSON_FUNCTIONS: dict[str, Rewrite] = {
    "JSON_VALUE": value,
    "JSON_QUERY": query,
    "JSON_EXISTS": exists,
    "JSON_STRING": as_text,
    "JSON_ARRAY": array,
    "JSON_OBJECT": object_,
    "JSON_OBJECTAGG": object_of_rows,
    "JSON_ARRAYAGG": array_of_rows,
}
