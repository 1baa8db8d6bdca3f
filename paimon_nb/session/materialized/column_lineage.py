"""Which columns of its inputs make each column of a query, from its tree. Reads no table."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.syntax.tree import (
    Alias,
    Bracketed,
    Column,
    DerivedTable,
    NestedJoin,
    Select,
    SetOperation,
    Star,
    Subquery,
    Table,
    WindowTable,
    children,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from paimon_nb.syntax.tree import Node, QueryTree

Origin = tuple[int, str]
"""The number of a table reference, and a column of it."""


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of a query."""

    name: str
    origins: tuple[Origin, ...]
    """The input columns in its expression, in order; () for count(*) and constants."""
    text: str
    """The expression as written; '' if it is only selected."""


@dataclass(frozen=True, slots=True)
class _Source:
    qualifier: str
    columns: tuple[OutputColumn, ...]

    def find(self, name: str) -> OutputColumn | None:
        return next((c for c in self.columns if c.name.lower() == name.lower()), None)


@dataclass(slots=True)
class LineageReader:
    """Reads the lineage of one query."""

    text: str
    """The text that the spans of the tree point into."""
    columns_of: Callable[[int], Sequence[str]]
    """The columns of a table reference, by its number."""
    conditions: list[Origin] = field(default_factory=list)
    """Input columns that decide which rows there are: WHERE, JOIN, GROUP BY, HAVING."""

    def query(
        self, tree: QueryTree, common: Mapping[str, tuple[OutputColumn, ...]] | None = None
    ) -> tuple[OutputColumn, ...]:
        """The columns of a query. `common`: those of the common tables in scope, by lower-case name."""
        known = dict(common or {})
        for item in tree.common:
            known[item.name.lower()] = _renamed(self.query(item.query, known), item.columns)
        match tree:
            case Select():
                return self._select(tree, known)
            case SetOperation():
                left, right = self.query(tree.left, known), self.query(tree.right, known)
                return tuple(
                    OutputColumn(a.name, tuple(dict.fromkeys((*a.origins, *b.origins))), a.text)
                    for a, b in zip(left, right, strict=False)
                )
            case Bracketed():
                return self.query(tree.query, known)
        return ()

    def _select(self, tree: Select, common: Mapping[str, tuple[OutputColumn, ...]]) -> tuple[OutputColumn, ...]:
        sources = list(self._sources(tree.source, common)) if tree.source is not None else []
        for join in tree.joins:
            sources += self._sources(join.source, common)
        for join in tree.joins:
            if join.condition is not None:
                self.conditions += self._origins(join.condition, sources, common)
            for name in join.using:
                self.conditions += [o for s in sources if (c := s.find(name)) is not None for o in c.origins]
        deciding = [tree.where, tree.having, *(tree.group.keys if tree.group is not None else ())]
        for node in deciding:
            if node is not None:
                self.conditions += self._origins(node, sources, common)
        out: list[OutputColumn] = []
        for item in tree.items:
            if isinstance(item, Star):
                out += _star(item, sources)
                continue
            expression = item.expression if isinstance(item, Alias) else item
            plain = isinstance(expression, Column)
            name = (
                item.name if isinstance(item, Alias) else expression.parts[-1] if isinstance(expression, Column) else ""
            )
            text = self.text[expression.span.start : expression.span.stop]
            out.append(OutputColumn(name or text, self._origins(expression, sources, common), "" if plain else text))
        return tuple(out)

    def _sources(self, node: Node, common: Mapping[str, tuple[OutputColumn, ...]]) -> Iterator[_Source]:
        match node:
            case Table(number=number) if number is not None:
                columns = tuple(OutputColumn(c, ((number, c),), "") for c in self.columns_of(number))
                yield _Source(node.qualifier.lower(), _renamed(columns, node.columns))
            case Table():
                yield _Source(node.qualifier.lower(), _renamed(common.get(node.name.lower(), ()), node.columns))
            case DerivedTable():
                yield _Source((node.alias or "").lower(), _renamed(self.query(node.query, common), node.columns))
            case WindowTable():
                inner = [c for s in self._sources(node.table, common) for c in s.columns]
                yield _Source((node.alias or "").lower(), tuple(inner))
            case NestedJoin():
                yield from self._sources(node.source, common)
                for join in node.joins:
                    yield from self._sources(join.source, common)
            case _:
                return

    def _origins(
        self, node: Node, sources: Sequence[_Source], common: Mapping[str, tuple[OutputColumn, ...]]
    ) -> tuple[Origin, ...]:
        found: dict[Origin, None] = {}
        if isinstance(node, Column):
            column = _find(node.parts, sources)
            return () if column is None else column.origins
        if isinstance(node, Subquery):
            return tuple(dict.fromkeys(o for c in self.query(node.query, common) for o in c.origins))
        for child in children(node):
            found |= dict.fromkeys(self._origins(child, sources, common))
        return tuple(found)


def _star(item: Star, sources: Sequence[_Source]) -> list[OutputColumn]:
    named = item.qualifier[-1].lower() if item.qualifier else None
    excluded = {n.lower() for n in item.excluded}
    return [
        c for s in sources if named in (None, s.qualifier) for c in s.columns if c.name.lower() not in excluded
    ]  # fmt: skip


def _find(parts: Sequence[str], sources: Sequence[_Source]) -> OutputColumn | None:
    """The column that a dotted name means: `t.c`, `c`, or a field of one of these."""
    for at in range(1, len(parts)):
        for source in sources:
            if source.qualifier == parts[at - 1].lower() and (found := source.find(parts[at])) is not None:
                return found
    return next((found for s in sources if (found := s.find(parts[0])) is not None), None)


def _renamed(columns: tuple[OutputColumn, ...], names: Sequence[str]) -> tuple[OutputColumn, ...]:
    if not names:
        return columns
    return tuple(OutputColumn(n, c.origins, c.text) for n, c in zip(names, columns, strict=False))
