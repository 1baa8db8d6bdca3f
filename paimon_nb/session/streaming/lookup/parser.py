"""A lookup join in a query's text: what stands on its left, which columns must be equal, and the hint LOOKUP. Asks nobody.

Texts are cut out of what the user wrote, never written anew; what is not understood for sure is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paimon_nb.base.errors import BadOptionValue, UnknownOption
from paimon_nb.base.registry import did_you_mean
from paimon_nb.options import parse_duration_ms
from paimon_nb.plan import Span, TableRef

_RETRY = ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")
_OTHERS = ("table", "async", "output-mode", "capacity", "timeout", "shuffle")


@dataclass(frozen=True, slots=True)
class Retry:
    """Look up again as long as a row finds nothing."""

    delay_s: float
    most: int
    """Times after the first."""


@dataclass(frozen=True, slots=True)
class LookupJoin:
    """`left JOIN looked-up AS alias ON ...` in Spark's text."""

    left: str
    """FROM and what stands behind it, up to the join."""
    alias: str
    keys: tuple[tuple[str, str], ...]
    """(column of the looked-up table, expression over `left`) that must be equal."""
    fixed: tuple[tuple[str, str], ...]
    """(column of the looked-up table, literal) that must be equal."""


def find_join(said: str, view: str) -> LookupJoin | None:
    """The join in a query of Spark's that looks rows up in `view`. None: it says more than this understands."""
    from sqlglot import TokenType, tokenize

    tokens = tokenize(said, read="spark")
    places = [i for i, t in enumerate(tokens) if t.text == view]
    if len(places) != 1 or any(t.token_type in (TokenType.WITH, TokenType.LATERAL) for t in tokens):
        return None
    at = places[0]
    begin = _left(tokens, at)
    end, alias = _alias(tokens, at)
    if begin is None or alias is None or end >= len(tokens) or tokens[end].token_type is not TokenType.ON:
        return None
    low, high = begin
    condition = said[tokens[end].end + 1 : _end_of_condition(tokens, end, len(said))]
    pairs = _equalities(condition, alias)
    if pairs is None:
        return None
    left = said[tokens[low].start : tokens[high].start]
    return LookupJoin(left, alias, *pairs)


def _left(tokens: Sequence[Any], at: int) -> tuple[int, int] | None:
    """The FROM that a JOIN belongs to, and where the join begins; only inner and left joins."""
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


def _alias(tokens: Sequence[Any], at: int) -> tuple[int, str | None]:
    """What follows the alias of the table at a place, and the alias."""
    from sqlglot import TokenType

    i = at + 1
    if i < len(tokens) and tokens[i].token_type is TokenType.ALIAS:
        i += 1
    return (i + 1, tokens[i].text) if i < len(tokens) else (i, None)


def _end_of_condition(tokens: Sequence[Any], on: int, length: int) -> int:
    from sqlglot import TokenType

    ends = {
        TokenType.JOIN, TokenType.LEFT, TokenType.RIGHT, TokenType.INNER, TokenType.FULL, TokenType.CROSS, TokenType.WHERE,
        TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.HAVING, TokenType.LIMIT, TokenType.UNION, TokenType.INTERSECT,
        TokenType.EXCEPT, TokenType.SEMICOLON, TokenType.WINDOW, TokenType.COMMA, TokenType.NATURAL,
    }  # fmt: skip
    depth = 0
    for token in tokens[on + 1 :]:
        kind = token.token_type
        if not depth and (kind in ends or kind is TokenType.R_PAREN):
            return int(token.start)
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
    return length


def _equalities(condition: str, alias: str) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] | None:
    """The conjuncts that say what a column of the looked-up table equals: columns of the left, and literals."""
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
        for one, other in ((part.left, part.right), (part.right, part.left)):
            if not _is_of(one, alias):
                continue
            if isinstance(other, exp.Column) and other.table and not _is_of(other, alias):
                keys.append((one.name, other.sql(dialect="spark", identify=True)))
            elif isinstance(other, exp.Literal):
                fixed.append((one.name, other.sql(dialect="spark")))
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
    """What `/*+ LOOKUP('table' = ..., 'retry-predicate' = 'lookup_miss', ...) */` asks, by the table's place. Source: Flink's hints.

    Raises: UnknownOption, BadOptionValue: an option of the hint; a table that the query does not look up.
    """
    from paimon_nb.sql.lexer import tokens

    found: dict[Span, Retry] = {}
    for token in tokens(text):
        if token.kind == "hint" and span.start <= token.start < span.stop and "LOOKUP" in token.text.upper():
            for options in _hints(text, token):
                found.update(_of_hint(options, tables))
    return found


def _hints(text: str, token: Any) -> Iterator[dict[str, str]]:
    from paimon_nb.sql.cursor import Cursor
    from paimon_nb.sql.lexer import tokens

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
                f"the hint LOOKUP has no option {key!r}", hint=did_you_mean(key, known) or f"options: {', '.join(known)}", option=key
            )  # fmt: skip
    named = options.get("table", "")
    chosen = [t for t in tables if t.lookup and named in (t.alias, ".".join(t.parts), t.parts[-1])]
    if not chosen:
        looked_up = ", ".join(t.alias or ".".join(t.parts) for t in tables if t.lookup)
        raise BadOptionValue(
            f"the hint LOOKUP names {named!r}, which the query does not look up" if named else "the hint LOOKUP needs 'table'",
            hint=f"looked up: {looked_up or 'nothing'}", option="table", value=named,
        )  # fmt: skip
    given = [k for k in _RETRY if k in options]
    if not given:
        return {}
    for key in _RETRY:
        if key not in options:
            raise BadOptionValue(f"the hint LOOKUP has {given[0]!r} and no {key!r}", hint=f"all of {', '.join(_RETRY)}", option=key)  # fmt: skip
    for key, only in (("retry-predicate", "lookup_miss"), ("retry-strategy", "fixed_delay")):
        if options[key].lower() != only:
            raise BadOptionValue(f"{key!r} cannot be {options[key]!r}", hint=f"{only!r} is what there is", option=key)
    most = options["max-attempts"]
    if not most.isdecimal() or not int(most):
        raise BadOptionValue(f"'max-attempts' cannot be {most!r}", hint="a number from 1 on", option="max-attempts")
    return {t.span: Retry(_milliseconds(options["fixed-delay"]) / 1000, int(most)) for t in chosen}


def _milliseconds(delay: str) -> int:
    try:
        return int(parse_duration_ms(delay))
    except ValueError as error:
        raise BadOptionValue(f"'fixed-delay' cannot be {delay!r}: {error}", hint="'1 s'", option="fixed-delay") from None  # fmt: skip
