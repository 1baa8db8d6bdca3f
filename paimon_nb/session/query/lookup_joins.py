"""Parses lookup joins in SQL text: the left side, the equality keys and the LOOKUP hint. Reads no tables.

Results are slices of the user's text. A join that is not clearly understood is not parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, UnknownOption
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.options import parse_duration_ms
from paimon_nb.syntax.lexer import Cursor, tokens
from paimon_nb.syntax.queries import query_tree_of
from paimon_nb.syntax.tree import (
    Binary,
    Column,
    CommonTable,
    DerivedTable,
    FunctionTable,
    Literal,
    Select,
    Table,
    conjuncts,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.statements import Span, TableRef
    from paimon_nb.syntax.lexer import Token

_RETRY = ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")
_OTHERS = ("table", "async", "output-mode", "capacity", "timeout", "shuffle")
_OUTPUT_MODES = ("ordered", "allow_unordered")


@dataclass(frozen=True, slots=True)
class Retry:
    """Retry policy of a lookup that finds no row."""

    delay_s: float
    max_retries: int
    """Max number of retries."""
    unordered: bool = False
    """Whether other rows may overtake a row that waits, if the lookup is asynchronous."""
    asynchronous: bool | None = None
    """Whether the lookup is asynchronous; None: as the table's option `lookup.async` says."""


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
    tree = query_tree_of(sql)
    if tree is None:
        return None
    nodes = list(walk(tree))
    if any(isinstance(n, CommonTable) or (isinstance(n, DerivedTable | FunctionTable) and n.lateral) for n in nodes):
        return None
    if sum(isinstance(n, Table) and n.name == view for n in nodes) != 1:
        return None
    for select in (n for n in nodes if isinstance(n, Select)):
        for i, join in enumerate(select.joins):
            if isinstance(join.source, Table) and join.source.name == view:
                return _lookup_join(sql, select, i)
    return None


def _lookup_join(sql: str, select: Select, index: int) -> LookupJoin | None:
    """The join at `index`, if all before it are joins, and it is an inner or a left one with ON."""
    join, before = select.joins[index], select.joins[:index]
    table = join.source
    assert isinstance(table, Table)
    if (
        join.natural
        or join.side not in ("", "LEFT")
        or join.kind not in ("", "INNER")
        or any(j.kind == "," for j in before)
    ):
        return None
    if join.condition is None or table.alias is None:
        return None
    keys: list[tuple[str, str]] = []
    fixed: list[tuple[str, str]] = []
    for part in conjuncts(join.condition):
        if not isinstance(part, Binary) or part.op not in ("=", "=="):
            continue
        for side, other in ((part.left, part.right), (part.right, part.left)):
            if not isinstance(side, Column) or not _is_of(side, table.alias):
                continue
            if isinstance(other, Column) and len(other.parts) > 1 and not _is_of(other, table.alias):
                keys.append((side.parts[-1], ".".join(map(quote, other.parts))))
            elif isinstance(other, Literal) and other.kind in ("string", "number"):
                fixed.append((side.parts[-1], other.text))
    left = sql[select.from_span.start : join.span.start]
    return LookupJoin(left, table.alias, tuple(keys), tuple(fixed))


def _is_of(column: Column, alias: str) -> bool:
    return len(column.parts) > 1 and column.parts[-2].lower() == alias.lower()


# -- the hint


def retry_hints(text: str, span: Span, tables: Sequence[TableRef]) -> Mapping[Span, Retry]:
    """The retry policies of `/*+ LOOKUP('table' = ..., 'retry-predicate' = 'lookup_miss', ...) */`, by the table's span.

    Source: Flink's hints.

    Raises:
        UnknownOption: an unknown option of the hint.
        BadOptionValue: an option of the hint, or a table that is not a lookup table of the query.
    """
    found: dict[Span, Retry] = {}
    for token in tokens(text):
        if token.kind == "hint" and span.start <= token.start < span.stop and "LOOKUP" in token.text.upper():
            for options in _hint_options(text, token):
                found.update(_retry_policies_of_hint(options, tables))
    return found


def _hint_options(text: str, token: Token) -> Iterator[dict[str, str]]:
    inner = Cursor(text, tokens(" " * (token.start + 3) + token.text[3:-2]))
    while not inner.done:
        if inner.take("LOOKUP"):
            yield inner.options()
        else:
            inner.at += 1


def _retry_policies_of_hint(options: Mapping[str, str], tables: Sequence[TableRef]) -> dict[Span, Retry]:
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
    unordered = _choice(options, "output-mode", _OUTPUT_MODES) == "allow_unordered"
    asynchronous = None if "async" not in options else _choice(options, "async", ("true", "false")) == "true"
    retry = Retry(_delay_ms(options["fixed-delay"]) / 1000, int(max_attempts), unordered, asynchronous)
    return {t.span: retry for t in matching}


def _choice(options: Mapping[str, str], key: str, choices: Sequence[str]) -> str:
    """The value of an option, one of `choices`; the first is the default."""
    value = options.get(key, choices[0]).lower()
    if value not in choices:
        raise BadOptionValue(f"{key!r} cannot be {options[key]!r}", hint=f"use one of {', '.join(choices)}", option=key)
    return value


def _delay_ms(delay: str) -> int:
    try:
        return int(parse_duration_ms(delay))
    except ValueError as error:
        raise BadOptionValue(f"'fixed-delay' cannot be {delay!r}: {error}", hint="'1 s'", option="fixed-delay") from None  # fmt: skip
