"""Flink's REGEXP, REGEXP_EXTRACT, REGEXP_REPLACE, REPLACE and SPLIT_INDEX as Spark's functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.sql.flink.function_edits import Edit, SqlText, arguments, call_span
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.syntax.lexer import Token

_PATTERN_SYNTAX = frozenset("\\[](){}*+?^$|.")
_WHITESPACE = r"'[\\s\\x1c-\\x1f]'"


def regexp(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """REGEXP(s, pattern): false for an invalid pattern and for an empty one."""
    args = arguments(text, bracket)
    if len(args) != 2:
        return []
    s, pattern = args
    matches = f"coalesce(({s}) RLIKE ({_valid_pattern(pattern)}), false)"
    sql = f"(CASE WHEN ({s}) IS NULL OR ({pattern}) IS NULL THEN NULL WHEN ({pattern}) = '' THEN false ELSE {matches} END)"
    return [(call_span(name, bracket), sql)]


def regexp_extract(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """REGEXP_EXTRACT(s, pattern[, group]): the whole match without a group.

    NULL without a match, for an invalid pattern, a group that the pattern does not have, and one that took no part in the match.
    """
    args = arguments(text, bracket)
    if len(args) not in (2, 3):
        return []
    s, pattern, group = (*args, "0")[:3]
    valid = _valid_pattern(pattern)
    found = f"regexp_extract({s}, {valid}, {group})"
    if group != "0":
        found = f"IF({_does_not_fail(f'length({found})')}, {found}, NULL)"
        # Spark has '' for a group without a match. A reference to such a group never matches.
        again = f"({s}) RLIKE concat('(?:', {valid}, ')\\\\', {group})"
        found = f"(CASE WHEN {found} <> '' OR {again} THEN {found} END)"
    return [(call_span(name, bracket), f"IF(({s}) RLIKE ({valid}), {found}, NULL)")]


def regexp_replace(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """REGEXP_REPLACE(s, pattern, r): `$1` in `r` is ordinary text. NULL for an invalid pattern."""
    args = arguments(text, bracket)
    if len(args) != 3:
        return []
    s, pattern, new = args
    return [(call_span(name, bracket), f"regexp_replace({s}, {_valid_pattern(pattern)}, {_quoted_replacement(new)})")]


def replace(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """REPLACE(s, '', r) puts `r` before each character and at the end."""
    args = arguments(text, bracket)
    if len(args) != 3 or (_is_text(args[1]) and args[1] != "''"):
        return []
    s, old, new = args
    everywhere = f"regexp_replace({s}, '', {_quoted_replacement(new)})"
    return [(call_span(name, bracket), f"IF(({old}) = '', {everywhere}, replace({s}, {old}, {new}))")]


def split_index(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
    """SPLIT_INDEX(s, separator, n): the separator is a text or a character's code; an empty one is white space.

    NULL for an empty `s`.
    """
    args = arguments(text, bracket)
    if len(args) != 3:
        return []
    s, separator, n = args
    if separator.isdecimal():
        separator = f"chr({separator})" if 1 <= int(separator) <= 255 else "CAST(NULL AS STRING)"
    quoted = f"concat('\\\\Q', {separator}, '\\\\E')"
    if separator == "''":
        quoted = _WHITESPACE
    elif not _is_text(separator):
        quoted = f"IF(({separator}) = '', {_WHITESPACE}, {quoted})"
    return [(call_span(name, bracket), f"get(split(nullif({s}, ''), {quoted}), {n})")]


def _is_text(argument: str) -> bool:
    """Whether an argument is a literal of a text."""
    return argument[:1] == "'" and len(tokens(argument)) == 1


def _valid_pattern(pattern: str) -> str:
    """The pattern, NULL if it is invalid."""
    if _is_text(pattern) and _PATTERN_SYNTAX.isdisjoint(pattern):
        return pattern
    compiles = _does_not_fail(f"CAST('' RLIKE ({pattern}) AS INT)")
    return f"IF({compiles}, {pattern}, NULL)"


def _does_not_fail(integer: str) -> str:
    """Whether an expression has a value. Spark's try_add of a date is NULL also for an error of its arguments."""
    return f"try_add(DATE'1970-01-01', {integer}) IS NOT NULL"


def _quoted_replacement(new: str) -> str:
    """The text of a replacement for Spark's regexp_replace, where `$` and a backslash have a meaning."""
    if _is_text(new) and "$" not in new and "\\" not in new:
        return new
    return f"replace(replace({new}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"
