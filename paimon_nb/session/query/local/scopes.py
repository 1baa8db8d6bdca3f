"""What column names mean: the relations of a FROM, with their names and columns, as Spark resolves them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.local.not_local import NotLocal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from paimon_nb.session.query.local.values import Value
    from paimon_nb.syntax.tree import Column

Read: TypeAlias = "Callable[[], Value]"
"""Gives a column's value. The first use of a table's column makes it one of the columns that are read."""


@dataclass(frozen=True, slots=True)
class Source:
    """A table or subquery in FROM: its name and its columns by position."""

    alias: str
    columns: tuple[tuple[str, Read], ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """Joined sources."""

    sql: str
    sources: tuple[Source, ...]
    visible: tuple[tuple[str, Read], ...]
    """The columns of `*`, which names without a qualifier mean: USING has merged some."""
    raises: bool = False
    """Whether a condition or a subquery of it may raise an error."""
    is_filtered: bool = False
    """Whether a join leaves out rows."""
    has_merged: bool = False
    """Whether USING has merged columns."""

    @classmethod
    def of(cls, sql: str, source: Source, *, raises: bool = False) -> Relation:
        return cls(sql, (source,), source.columns, raises)

    def matches(self, column: Column) -> list[Read]:
        """The columns that a name means: one, unless it is unknown or ambiguous."""
        name = column.parts[-1].lower()
        if len(column.parts) == 1:
            return [read for n, read in self.visible if n.lower() == name]
        qualifier = column.parts[0].lower()
        if self.has_merged and any(n.lower() == qualifier for n, _ in self.visible):
            raise NotLocal(f"{column.parts[0]} is a source and a column")
        return [
            read for s in self.sources if s.alias.lower() == qualifier for n, read in s.columns if n.lower() == name
        ]

    def find(self, column: Column) -> Value | None:
        """The value of a column; None: there is none. Raises NotLocal: it is ambiguous."""
        found = self.matches(column)
        if len(found) > 1:
            raise NotLocal(f"{column.parts[-1]} is ambiguous")
        return replace(found[0](), name=column.parts[-1]) if found else None

    def resolve(self, column: Column) -> Value:
        """The value of a column. Raises NotLocal."""
        found = self.find(column)
        if found is None:
            raise NotLocal(f"{column.parts[-1]} is not a column")
        return found

    def star(self, qualifier: tuple[str, ...], excluded: Sequence[str]) -> list[tuple[str, Value]]:
        """The columns of `*` or `t.*`, without those of EXCEPT. Raises NotLocal."""
        columns: Sequence[tuple[str, Read]] = self.visible
        if qualifier:
            named = [s for s in self.sources if s.alias.lower() == qualifier[-1].lower()]
            if len(named) != 1 or len(qualifier) > 1:
                raise NotLocal(f"{'.'.join(qualifier)} is not a source")
            columns = named[0].columns
        left_out = {e.lower() for e in excluded}
        if not left_out <= {name.lower() for name, _ in columns}:
            raise NotLocal("EXCEPT names a column that is not there")
        return [(name, replace(read(), name=name)) for name, read in columns if name.lower() not in left_out]


def joined(
    left: Relation,
    right: Relation,
    sql: str,
    using: Sequence[tuple[str, Read]],
    *,
    only_left: bool = False,
    is_full: bool = False,
) -> Relation:
    """The relation of a join. `using`: the merged columns; `only_left`: of a semi or anti join; `is_full`: of a FULL JOIN."""
    merged = {name.lower() for name, _ in using}
    others = left.visible if only_left else (*left.visible, *right.visible)
    visible = (*using, *(c for c in others if c[0].lower() not in merged))
    sources = left.sources if only_left else (*left.sources, *right.sources)
    if is_full:
        sources = tuple(
            Source(s.alias, tuple((n, _refuse(n) if n.lower() in merged else r) for n, r in s.columns)) for s in sources
        )
    return Relation(
        sql,
        sources,
        visible,
        left.raises or right.raises,
        True,
        bool(using) or left.has_merged or right.has_merged,
    )


def _refuse(name: str) -> Read:
    """Reads a column that a FULL JOIN with USING has merged, by the name of its table."""

    def refuse() -> Value:
        raise NotLocal(f"{name} of one side of a FULL JOIN with USING is left to Spark")

    return refuse


def side_by_side(relations: Sequence[Relation]) -> Relation:
    """Relations with commas between them."""
    if len(relations) == 1:
        return relations[0]
    return Relation(
        ", ".join(f"({r.sql})" if " JOIN " in r.sql else r.sql for r in relations),
        tuple(s for r in relations for s in r.sources),
        tuple(c for r in relations for c in r.visible),
        any(r.raises for r in relations),
        is_filtered=True,
        has_merged=any(r.has_merged for r in relations),
    )


def names_in_both(left: Relation, right: Relation) -> Iterator[str]:
    """The columns of NATURAL JOIN."""
    others = {name.lower() for name, _ in right.visible}
    return (name for name, _ in left.visible if name.lower() in others)
