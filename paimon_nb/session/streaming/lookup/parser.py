"""Parses lookup joins in SQL text: the left side, the equality keys and the LOOKUP hint. Reads no tables.

Results are slices of the user's text. A join that is not clearly understood is not parsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, UnknownOption
from paimon_nb.base.registry import did_you_mean
from paimon_nb.options import parse_duration_ms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.plan import Span, TableRef

_RETRY = ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")
_OTHERS = ("table", "async", "output-mode", "capacity", "timeout", "shuffle")


@dataclass(frozen=True, slots=True)
class Retry:
    """Retry policy of a lookup that finds no row."""

    delay_s: float
    max_retries: int
    """Max number of retries."""


@dataclass(frozen=True, slots=True)
class LookupJoin:
    """`left JOIN lookup_table AS alias ON ...` in Spark SQL."""

    left: str
    """The text from FROM up to the join."""
    alias: str
    keys: tuple[tuple[str, str], ...]
    """Equalities: (column of the lookup table, expression over `left`)."""
    fixed: tuple[tuple[str, str], ...]
    """Equalities: (column of the lookup table, literal)."""


def find_join(sql: str, view: str) -> LookupJoin | None:
    """The lookup join with `view` in Spark SQL. None: unsupported syntax."""
    from sqlglot import TokenType, tokenize

    tokens = tokenize(sql, read="spark")
    views = [i for i, t in enumerate(tokens) if t.text == view]
    if len(views) != 1 or any(t.token_type in (TokenType.WITH, TokenType.LATERAL) for t in tokens):
        return None
    at = views[0]
    start = _left_side(tokens, at)
    end, alias = _alias_after(tokens, at)
    if start is None or alias is None or end >= len(tokens) or tokens[end].token_type is not TokenType.ON:
        return None
    low, high = start
    condition = sql[tokens[end].end + 1 : _end_of_condition(tokens, end, len(sql))]
    pairs = _key_equalities(condition, alias)
    if pairs is None:
        return None
    left = sql[tokens[low].start : tokens[high].start]
    return LookupJoin(left, alias, *pairs)


def _left_side(tokens: Sequence[Any], at: int) -> tuple[int, int] | None:
    """Token indexes of a join's FROM and of its first word; only inner and left joins."""
    from sqlglot import TokenType

    if at < 1 or tokens[at - 1].token_type is not TokenType.JOIN:
        return None
    join = at - 1
    while tokens[join - 1].token_type in (TokenType.LEFT, TokenType.OUTER, TokenType.INNER):
        join -= 1
    if tokens[join - 1].token_type in (
        TokenType.RIGHT, TokenType.FULL, TokenType.SEMI, TokenType.ANTI, TokenType.CROSS, TokenType.NATURAL,
    ):  # fmt: skip
        return None
    depth = 0
    for i in range(join - 1, -1, -1):
        kind = tokens[i].token_type
        depth += (kind is TokenType.R_PAREN) - (kind is TokenType.L_PAREN)
        if depth < 0 or (not depth and kind in (TokenType.COMMA, TokenType.SELECT)):
            return None
        if not depth and kind is TokenType.FROM:
            return i, join
    return None


def _alias_after(tokens: Sequence[Any], at: int) -> tuple[int, str | None]:
    """The token index after a table's alias, and the alias."""
    from sqlglot import TokenType

    i = at + 1
    if i < len(tokens) and tokens[i].token_type is TokenType.ALIAS:
        i += 1
    return (i + 1, tokens[i].text) if i < len(tokens) else (i, None)


def _end_of_condition(tokens: Sequence[Any], on_index: int, length: int) -> int:
    from sqlglot import TokenType

    end_types = {
        TokenType.JOIN, TokenType.LEFT, TokenType.RIGHT, TokenType.INNER, TokenType.FULL, TokenType.CROSS, TokenType.WHERE,
        TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.HAVING, TokenType.LIMIT, TokenType.UNION, TokenType.INTERSECT,
        TokenType.EXCEPT, TokenType.SEMICOLON, TokenType.WINDOW, TokenType.COMMA, TokenType.NATURAL,
    }  # fmt: skip
    depth = 0
    for token in tokens[on_index + 1 :]:
        kind = token.token_type
        if not depth and (kind in end_types or kind is TokenType.R_PAREN):
            return int(token.start)
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
    return length


def _key_equalities(
    condition: str, alias: str
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] | None:
    """The conjuncts that compare a column of the lookup table with a column of the left side, or with a literal."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(condition, read="spark")
    except SqlglotError:
        return None
    keys: list[tuple[str, str]] = []
    fixed: list[tuple[str, str]] = []
    for part in _conjuncts(tree):
        if not isinstance(part, exp.EQ):
            continue
        for side, other in ((part.left, part.right), (part.right, part.left)):
            if not _is_of(side, alias):
                continue
            if isinstance(other, exp.Column) and other.table and not _is_of(other, alias):
                keys.append((side.name, other.sql(dialect="spark", identify=True)))
            elif isinstance(other, exp.Literal):
                fixed.append((side.name, other.sql(dialect="spark")))
    return tuple(keys), tuple(fixed)


def _conjuncts(tree: Any) -> Iterator[Any]:
    from sqlglot import exp

    tree = tree.unnest()
    if isinstance(tree, exp.And):
        yield from _conjuncts(tree.left)
        yield from _conjuncts(tree.right)
    else:
        yield tree


def _is_of(part: Any, alias: str) -> bool:
    from sqlglot import exp

    return isinstance(part, exp.Column) and part.table.lower() == alias.lower()


# -- the hint


def retries(text: str, span: Span, tables: Sequence[TableRef]) -> Mapping[Span, Retry]:
    """The retry policies of `/*+ LOOKUP('table' = ..., 'retry-predicate' = 'lookup_miss', ...) */`, by the table's span.

    Source: Flink's hints.

    Raises:
        UnknownOption: an unknown option of the hint.
        BadOptionValue: an option of the hint, or a table that is not a lookup table of the query.
    """
    from paimon_nb.sql.lexer import tokens

    found: dict[Span, Retry] = {}
    for token in tokens(text):
        if token.kind == "hint" and span.start <= token.start < span.stop and "LOOKUP" in token.text.upper():
            for options in _hint_options(text, token):
                found.update(_of_hint(options, tables))
    return found


def _hint_options(text: str, token: Any) -> Iterator[dict[str, str]]:
    from paimon_nb.sql.lexer import Cursor, tokens

    inner = Cursor(text, tokens(" " * (token.start + 3) + token.text[3:-2]))
    while not inner.done:
        if inner.take("LOOKUP"):
            yield inner.options()
        else:
            inner.at += 1


def _of_hint(options: Mapping[str, str], tables: Sequence[TableRef]) -> dict[Span, Retry]:
    for key in options:
        if key not in (*_RETRY, *_OTHERS):
            known = (*_RETRY, *_OTHERS)
            raise UnknownOption(
                f"LOOKUP hint: unknown option {key!r}", hint=did_you_mean(key, known) or f"options: {', '.join(known)}", option=key
            )  # fmt: skip
    named = options.get("table", "")
    matching = [t for t in tables if t.lookup and named in (t.alias, ".".join(t.parts), t.parts[-1])]
    if not matching:
        looked_up = ", ".join(t.alias or ".".join(t.parts) for t in tables if t.lookup)
        raise BadOptionValue(
            f"LOOKUP hint: {named!r} is not a lookup table of the query" if named else "LOOKUP hint: option 'table' is missing",
            hint=f"lookup tables: {looked_up or 'none'}", option="table", value=named,
        )  # fmt: skip
    present = [k for k in _RETRY if k in options]
    if not present:
        return {}
    for key in _RETRY:
        if key not in options:
            raise BadOptionValue(f"LOOKUP hint: {present[0]!r} is set but {key!r} is missing", hint=f"set all of {', '.join(_RETRY)}", option=key)  # fmt: skip
    for key, only in (("retry-predicate", "lookup_miss"), ("retry-strategy", "fixed_delay")):
        if options[key].lower() != only:
            raise BadOptionValue(f"{key!r} cannot be {options[key]!r}", hint=f"use {only!r}", option=key)
    max_attempts = options["max-attempts"]
    if not max_attempts.isdecimal() or not int(max_attempts):
        raise BadOptionValue(
            f"'max-attempts' cannot be {max_attempts!r}", hint="use a number of at least 1", option="max-attempts"
        )
    return {t.span: Retry(_delay_ms(options["fixed-delay"]) / 1000, int(max_attempts)) for t in matching}


def _delay_ms(delay: str) -> int:
    try:
        return int(parse_duration_ms(delay))
    except ValueError as error:
        raise BadOptionValue(f"'fixed-delay' cannot be {delay!r}: {error}", hint="'1 s'", option="fixed-delay") from None  # fmt: skip
