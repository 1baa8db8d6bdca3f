"""Functions of texts in the engine's SQL that take a pattern, a path or a code: regular expressions, SPLIT, JSON, hashes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paimon_nb.format.types import Array
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.patterns import LINE_ENDS, portable_pattern
from paimon_nb.session.query.local.values import (
    BIGINT,
    BOOLEAN,
    INT,
    LEAVE,
    STRING,
    Build,
    Value,
    called,
    is_integer,
    quote_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.session.query.local.patterns import Pattern


def _require_texts(function: str, values: Sequence[Value]) -> None:
    for value in values:
        if value.type != STRING:
            raise NotLocal(f"{function} of {value.type.bare()} is left to Spark")


def _literal_pattern(function: str, value: Value, *, only_whether: bool = False) -> Pattern:
    if value.text is None:
        raise NotLocal(f"{function} with a computed pattern is left to Spark")
    return portable_pattern(value.text, only_whether=only_whether)


def _guarded(x: str, pattern: Pattern, sql: str) -> str:
    """Java's `$` also matches before a last line end: such texts are left to Spark."""
    if not pattern.ends_at_line:
        return sql
    ends = quote_text(rf"[{LINE_ENDS}]\z")
    return f"(CASE WHEN regexp_matches({x}, {ends}) THEN {LEAVE} ELSE {sql} END)"


# -- regular expressions


def regexp_like(_flink: bool, values: list[Value]) -> Value:
    """`x RLIKE pattern`: whether a part of the text matches."""
    _require_texts("RLIKE", values)
    pattern = _literal_pattern("RLIKE", values[1], only_whether=True)
    x = values[0].sql
    text = _guarded(x, pattern, f"regexp_matches({x}, {quote_text(pattern.text)})")
    name = None if values[0].name is None else f"RLIKE({values[0].name}, {values[1].name})"
    return Value(text, BOOLEAN, name)


def _regexp_replace(_flink: bool, values: list[Value]) -> Value:
    _require_texts("REGEXP_REPLACE", values)
    pattern = _literal_pattern("REGEXP_REPLACE", values[1])
    by = values[2].text
    if by is None or pattern.matches_empty or not re.fullmatch(r"(?:[^$\\]|\$\d(?!\d))*", by):
        raise NotLocal("this REGEXP_REPLACE is left to Spark")
    if any(int(n) > pattern.groups for n in re.findall(r"\$(\d)", by)):
        raise NotLocal("REGEXP_REPLACE names a group that is not there")
    x = values[0].sql
    replacement = quote_text(re.sub(r"\$(\d)", r"\\\1", by))
    text = f"regexp_replace({x}, {quote_text(pattern.text)}, {replacement}, 'g')"
    return Value(_guarded(x, pattern, text), STRING, called("regexp_replace", [*values, Value("", INT, "1")]))


def _group_number(function: str, values: Sequence[Value], pattern: Pattern) -> int:
    number = 1 if len(values) < 3 else values[2].literal
    if number is None or not 0 <= number <= min(pattern.groups, 9):
        raise NotLocal(f"{function} with such a group is left to Spark")
    return number


def _regexp_extract(_flink: bool, values: list[Value]) -> Value:
    _require_texts("REGEXP_EXTRACT", values[:2])
    pattern = _literal_pattern("REGEXP_EXTRACT", values[1])
    x, number = values[0].sql, _group_number("REGEXP_EXTRACT", values, pattern)
    text = f"regexp_extract({x}, {quote_text(pattern.text)}, {number})"
    name = called("regexp_extract", values if len(values) == 3 else [*values, Value("", INT, "1")])
    return Value(_guarded(x, pattern, text), STRING, name)


def _regexp_extract_all(_flink: bool, values: list[Value]) -> Value:
    _require_texts("REGEXP_EXTRACT_ALL", values[:2])
    pattern = _literal_pattern("REGEXP_EXTRACT_ALL", values[1])
    x, number = values[0].sql, _group_number("REGEXP_EXTRACT_ALL", values, pattern)
    if pattern.matches_empty:
        raise NotLocal("this REGEXP_EXTRACT_ALL is left to Spark")
    text = f"regexp_extract_all({x}, {quote_text(pattern.text)}, {number})"
    name = called("regexp_extract_all", values if len(values) == 3 else [*values, Value("", INT, "1")])
    return Value(_guarded(x, pattern, text), Array(STRING), name)


def _regexp_count(_flink: bool, values: list[Value]) -> Value:
    _require_texts("REGEXP_COUNT", values)
    pattern = _literal_pattern("REGEXP_COUNT", values[1])
    if pattern.matches_empty:
        raise NotLocal("this REGEXP_COUNT is left to Spark")
    x = values[0].sql
    text = f"CAST(len(regexp_extract_all({x}, {quote_text(pattern.text)})) AS INTEGER)"
    return Value(_guarded(x, pattern, text), INT, called("regexp_count", values))


def _split(_flink: bool, values: list[Value]) -> Value:
    _require_texts("SPLIT", values)
    pattern = _literal_pattern("SPLIT", values[1])
    if pattern.matches_empty or pattern.ends_at_line:
        raise NotLocal("this SPLIT is left to Spark")
    text = f"string_split_regex({values[0].sql}, {quote_text(pattern.text)})"
    return Value(text, Array(STRING), called("split", [*values, Value("", INT, "-1")]))


# -- parts of texts


def _split_part(_flink: bool, values: list[Value]) -> Value:
    _require_texts("SPLIT_PART", values[:2])
    if not values[1].text or not values[2].literal:
        raise NotLocal("this SPLIT_PART is left to Spark")
    text = f"split_part({values[0].sql}, {values[1].sql}, {values[2].literal})"
    return Value(text, STRING, called("split_part", values))


def _substring_index(_flink: bool, values: list[Value]) -> Value:
    """The text before so many separators; from the end if the number is negative."""
    _require_texts("SUBSTRING_INDEX", values[:2])
    count = values[2].literal
    if (
        not values[1].text
        or count is None
        or not values[1].text.isascii()
        or len(set(values[1].text)) < len(values[1].text)
    ):
        raise NotLocal("this SUBSTRING_INDEX is left to Spark")
    parts = f"string_split({values[0].sql}, {values[1].sql})"
    selected = "[]" if count == 0 else f"({parts})[1:{count}]" if count > 0 else f"({parts})[{count}:]"
    text = f"array_to_string({selected}, {values[1].sql})" if count else f"left({values[0].sql}, 0)"
    return Value(text, STRING, called("substring_index", values))


def _translate(_flink: bool, values: list[Value]) -> Value:
    _require_texts("TRANSLATE", values)
    if values[1].text is None or values[2].text is None or len(set(values[1].text)) < len(values[1].text):
        raise NotLocal("this TRANSLATE is left to Spark")
    text = f"translate({', '.join(v.sql for v in values)})"
    return Value(text, STRING, called("translate", values))


def _position(word: str) -> Build:
    def position_sql(_flink: bool, values: list[Value]) -> Value:
        """`locate(part, text)`."""
        _require_texts(word.upper(), values)
        named = [*values, Value("", INT, "1")]
        return Value(f"CAST(instr({values[1].sql}, {values[0].sql}) AS INTEGER)", INT, called(word, named))

    return position_sql


def _ascii(_flink: bool, values: list[Value]) -> Value:
    _require_texts("ASCII", values)
    x = values[0].sql
    text = f"(CASE WHEN {x} = '' THEN 0 WHEN ord({x}) > 127 THEN {LEAVE} ELSE CAST(ord({x}) AS INTEGER) END)"
    return Value(text, INT, called("ascii", values))


def _hash(word: str) -> Build:
    def hash_sql(_flink: bool, values: list[Value]) -> Value:
        _require_texts(word.upper(), values)
        return Value(f"{word}({values[0].sql})", STRING, None)

    return hash_sql


def _sha2(_flink: bool, values: list[Value]) -> Value:
    _require_texts("SHA2", values[:1])
    if values[1].literal not in (0, 256):
        raise NotLocal("SHA2 of these bits is left to Spark")
    return Value(f"sha256({values[0].sql})", STRING, None)


def _initcap(_flink: bool, values: list[Value]) -> Value:
    """A word begins after a space."""
    _require_texts("INITCAP", values)
    x = values[0].sql
    words = f"list_transform(string_split({x}, ' '), lambda w: upper(w[1]) || lower(w[2:]))"
    text = f"(CASE WHEN strlen({x}) > length({x}) THEN {LEAVE} ELSE array_to_string({words}, ' ') END)"
    return Value(text, STRING, called("initcap", values))


def ilike(_flink: bool, values: list[Value]) -> Value:
    """`x ILIKE pattern`, of texts of ASCII."""
    _require_texts("ILIKE", values)
    pattern = values[1].text
    if pattern is None or "\\" in pattern or not pattern.isascii():
        raise NotLocal("this ILIKE is left to Spark")
    x = values[0].sql
    text = f"(CASE WHEN strlen({x}) > length({x}) THEN {LEAVE} ELSE lower({x}) LIKE {quote_text(pattern.lower())} END)"
    return Value(text, BOOLEAN, None)


# -- JSON

_PATH = re.compile(r"\$((?:\.[A-Za-z_][A-Za-z0-9_]*|\[\d{1,6}\])+)")


def _json_path(function: str, value: Value) -> str:
    if value.text is None or not _PATH.fullmatch(value.text):
        raise NotLocal(f"{function} with such a path is left to Spark")
    return value.text


def _get_json_object(_flink: bool, values: list[Value]) -> Value:
    """The text of a scalar. Spark formats objects, arrays and fractions again; a text that is not plain JSON is an error here."""
    _require_texts("GET_JSON_OBJECT", values)
    path = quote_text(_json_path("GET_JSON_OBJECT", values[1]))
    return Value(_scalar_of_json(values[0].sql, path), STRING, called("get_json_object", values))


def _scalar_of_json(x: str, path: str) -> str:
    nested = f"json_type({x}, {path}) IN ('OBJECT', 'ARRAY', 'DOUBLE')"
    return f"(CASE WHEN {x} = '' THEN NULL WHEN {nested} THEN {LEAVE} ELSE json_extract_string({x}, {path}) END)"


def _json_value(_flink: bool, values: list[Value]) -> Value:
    """Flink's JSON_VALUE: NULL for objects and arrays."""
    _require_texts("JSON_VALUE", values)
    x, path = values[0].sql, quote_text(_json_path("JSON_VALUE", values[1]))
    nested = f"json_type({x}, {path}) IN ('OBJECT', 'ARRAY')"
    return Value(f"(CASE WHEN {x} = '' THEN NULL WHEN {nested} THEN NULL ELSE {_scalar_of_json(x, path)} END)", STRING)


def _left(function: str) -> Build:
    """A function that only Flink has."""

    def left(_flink: bool, _values: list[Value]) -> Value:
        raise NotLocal(f"{function} is left to Spark")

    return left


def _json_array_length(_flink: bool, values: list[Value]) -> Value:
    _require_texts("JSON_ARRAY_LENGTH", values)
    x = values[0].sql
    text = (
        f"(CASE WHEN {x} = '' THEN NULL WHEN json_type({x}) = 'ARRAY' THEN CAST(json_array_length({x}) AS INTEGER) END)"
    )
    return Value(text, INT, called("json_array_length", values))


def _bit_count(_flink: bool, values: list[Value]) -> Value:
    if not is_integer(values[0].type):
        raise NotLocal(f"BIT_COUNT of {values[0].type.bare()} is left to Spark")
    x = f"CAST({values[0].sql} AS {BIGINT.name})"
    return Value(f"CAST(bit_count({x}) AS INTEGER)", INT, called("bit_count", values))


TEXT_FUNCTIONS: Mapping[str, tuple[Build, int, int]] = {
    "REGEXP_LIKE": (regexp_like, 2, 2),
    "RLIKE": (regexp_like, 2, 2),
    "REGEXP_REPLACE": (_regexp_replace, 3, 3),
    "REGEXP_EXTRACT": (_regexp_extract, 2, 3),
    "REGEXP_EXTRACT_ALL": (_regexp_extract_all, 2, 3),
    "REGEXP_COUNT": (_regexp_count, 2, 2),
    "SPLIT": (_split, 2, 2),
    "SPLIT_PART": (_split_part, 3, 3),
    "SUBSTRING_INDEX": (_substring_index, 3, 3),
    "TRANSLATE": (_translate, 3, 3),
    "LOCATE": (_position("locate"), 2, 2),
    "ASCII": (_ascii, 1, 1),
    "MD5": (_hash("md5"), 1, 1),
    "SHA1": (_hash("sha1"), 1, 1),
    "SHA": (_hash("sha1"), 1, 1),
    "SHA2": (_sha2, 2, 2),
    "INITCAP": (_initcap, 1, 1),
    "GET_JSON_OBJECT": (_get_json_object, 2, 2),
    "JSON_ARRAY_LENGTH": (_json_array_length, 1, 1),
    "BIT_COUNT": (_bit_count, 1, 1),
}
"""Function -> how its value is built, and how many arguments it has at least and at most."""
FLINK_TEXT_FUNCTIONS: Mapping[str, tuple[Build, int, int, Build]] = {
    "JSON_VALUE": (_left("JSON_VALUE"), 2, 2, _json_value)
}
"""Functions of Flink that are translated for Spark in each dialect, as TEXT_FUNCTIONS."""
