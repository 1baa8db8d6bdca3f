"""Finds what each column name in a query means: the scopes of its SELECTs, subqueries and common tables.

Where a table's columns are not known, or the parser reads less than Spark would, names are left alone: a name is reported as
unknown only if no table of its scope can have it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.sql.keywords import KEYWORDS
from paimon_nb.syntax.tree import (
    Alias,
    Bracketed,
    Call,
    Column,
    DerivedTable,
    Lambda,
    NestedJoin,
    Select,
    SetOperation,
    Star,
    Subquery,
    Table,
    Values,
    WindowTable,
    children,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.syntax.tree import Node, QueryTree

Names = tuple[str, ...]
ColumnsOf = Callable[[int], "Names | None"]
"""The columns of a table reference by its number; None: not known."""
_WINDOW_COLUMNS = ("window_start", "window_end", "window_time")
_NOT_COLUMNS = frozenset(
    """ALL BOTH LEADING TRAILING CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURRENT_CATALOG CURRENT_DATABASE SESSION_USER
    USER LOCALTIME LOCALTIMESTAMP YEAR YEARS QUARTER MONTH MONTHS WEEK DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS MILLISECOND
    MICROSECOND DAYOFYEAR DOW DOY EPOCH ISODOW ISOYEAR MILLENNIUM DAYOFWEEK""".split()  # noqa: SIM905
)
"""Words that are an operand without being a column: units of time, functions without brackets."""
_WORDS = _NOT_COLUMNS | KEYWORDS | {"PLACING"}
_METADATA = ("_", "rowkind")
"""What names of metadata columns start with."""


@dataclass(frozen=True, slots=True)
class Source:
    """A table, subquery or function in FROM."""

    qualifier: str
    """The name that qualifies its columns, in lower case; '' if there is none."""
    columns: Names | None
    """None: not known."""
    number: int | None = None
    """Its table reference."""


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column name in the text."""

    node: Column
    table: int | None
    """The table reference that has it; None: another source, or not known."""
    column: str
    """The column's name in that table."""
    candidates: Names = ()
    """Of an unknown name: the columns that it could be."""
    is_unknown: bool = False
    is_unknown_source: bool = False
    """Of an unknown name: nothing in FROM has the name in front of the point; `candidates` are those that are there."""


@dataclass(frozen=True, slots=True)
class _Scope:
    sources: tuple[Source, ...]
    aliases: frozenset[str] = frozenset()
    """Names in scope that are no columns of a source: of the SELECT list, of lambdas."""
    outer: _Scope | None = None

    def with_names(self, names: frozenset[str]) -> _Scope:
        return _Scope(self.sources, self.aliases | names, self.outer)


@dataclass(slots=True)
class ScopeReader:
    """Reads the scopes of one statement."""

    text: str
    """The text that the nodes' spans point into."""
    columns_of: ColumnsOf
    found: list[FoundColumn] = field(default_factory=list)

    def query(
        self, tree: QueryTree, common: Mapping[str, Names | None] | None = None, outer: _Scope | None = None
    ) -> Names | None:
        """Read a query; returns the names of its columns, None if they are not known.

        Args:
            common: the columns of the common tables in scope, by lower-case name.
            outer: the scope of the query around a subquery.
        """
        known = dict(common or {})
        for item in tree.common:
            inside = {**known, item.name.lower(): None}  # only a recursive one sees itself
            columns = self.query(item.query, inside, outer)
            renamed = "(" in self.text[item.span.start + len(item.name) : item.query.span.start].partition("AS")[0]
            known[item.name.lower()] = None if renamed else columns
        match tree:
            case Select():
                return self._select(tree, known, outer)
            case SetOperation():
                columns = self.query(tree.left, known, outer)
                self.query(tree.right, known, outer)
                return columns
            case Bracketed():
                return self.query(tree.query, known, outer)
            case Values():
                return None
        return None

    def expression(self, node: Node, sources: Sequence[Source]) -> None:
        """Read an expression over given sources, such as the WHERE of DELETE."""
        self._expression(node, _Scope(tuple(sources)), {})

    def _select(self, tree: Select, common: Mapping[str, Names | None], outer: _Scope | None) -> Names | None:
        sources: list[Source] = []
        if tree.source is not None:
            sources += self._sources(tree.source, common, outer, sources)
        for join in tree.joins:
            sources += self._sources(join.source, common, outer, sources)
        sources += [Source("", None) for _ in tree.lateral_views]
        scope = _Scope(tuple(sources), frozenset(), outer)
        items = frozenset(item.name.lower() for item in tree.items if isinstance(item, Alias))
        for node in (*(join.condition for join in tree.joins), tree.where):
            if node is not None:
                self._expression(node, scope, common)
        for view in tree.lateral_views:
            self._expression(view, scope, common)
        later: list[Node] = [*tree.items, *(tree.group.keys if tree.group else ()), *([tree.having] if tree.having else []), *tree.tail.order, *tree.tail.other]  # fmt: skip
        for node in later:
            self._expression(node, scope.with_names(items), common)
        return _names_of(tree, sources)

    def _sources(
        self, node: Node, common: Mapping[str, Names | None], outer: _Scope | None, before: Sequence[Source]
    ) -> list[Source]:
        match node:
            case Table(number=None):
                return [Source(node.qualifier.lower(), common.get(node.name.lower()))]
            case Table(number=int() as number):
                columns = None if node.columns else self.columns_of(number)
                return [Source(node.qualifier.lower(), columns, number)]
            case DerivedTable():
                scope = _Scope(tuple(before), frozenset(), outer) if node.lateral else outer
                columns = self.query(node.query, common, scope)
                renamed = "(" in self.text[node.query.span.stop : node.span.stop]
                return [Source((node.alias or "").lower(), None if renamed else columns)]
            case NestedJoin():
                found = self._sources(node.source, common, outer, before)
                for join in node.joins:
                    found += self._sources(join.source, common, outer, [*before, *found])
                scope = _Scope((*before, *found), frozenset(), outer)
                for join in node.joins:
                    if join.condition is not None:
                        self._expression(join.condition, scope, common)
                return found
            case WindowTable():
                found = self._sources(node.table, common, outer, before)
                columns = found[0].columns if found else None
                windowed = None if columns is None else (*columns, *_WINDOW_COLUMNS)
                return [Source((node.alias or "").lower(), windowed, found[0].number if found else None)]
        return [Source("", None)]  # functions and pivots

    def _expression(self, node: Node, scope: _Scope, common: Mapping[str, Names | None]) -> None:
        match node:
            case Column():
                self._column(node, scope)
            case Subquery():
                self.query(node.query, common, scope)
            case Lambda():
                self._expression(node.body, scope.with_names(frozenset(n.lower() for n in node.parameters)), common)
            case _:
                end: int | None = None
                for part in children(node):
                    # Words between the arguments of a call are read as columns: JSON_VALUE(x, '$.a' NULL ON EMPTY).
                    is_word = isinstance(node, Call) and end is not None and "," not in self.text[end : part.span.start]
                    if is_word and isinstance(part, Column):
                        self._column(part, scope, may_be_word=True)
                    else:
                        self._expression(part, scope, common)
                    end = part.span.stop

    def _column(self, node: Column, scope: _Scope, *, may_be_word: bool = False) -> None:
        first = node.parts[0].lower()
        here: _Scope | None = scope
        all_known = True
        candidates: list[str] = []
        sources: list[Source] = []
        while here is not None:
            if first in here.aliases:
                return
            sources += here.sources
            for source in here.sources:
                all_known = all_known and source.columns is not None and source.qualifier != ""
                named = self._in_source(node, source)
                if named is not None:
                    self.found.append(named)
                    return
                of_other = len(node.parts) == 2 and source.qualifier != first
                candidates += () if of_other else source.columns or ()
            here = here.outer
        if (
            all_known
            and sources
            and len(node.parts) == 2
            and not _may_be_no_column(node)
            and all(first != s.qualifier for s in sources)
        ):
            names = tuple(dict.fromkeys(s.qualifier for s in sources))
            self.found.append(FoundColumn(node, None, node.parts[-1], names, is_unknown=True, is_unknown_source=True))
        elif all_known and candidates and not may_be_word and not _may_be_no_column(node):
            self.found.append(
                FoundColumn(node, None, node.parts[-1], tuple(dict.fromkeys(candidates)), is_unknown=True)
            )

    @staticmethod
    def _in_source(node: Column, source: Source) -> FoundColumn | None:
        """The column if a source has it; None: it has not, or its columns are not known."""
        folded = {name.lower(): name for name in source.columns or ()}
        first, last = node.parts[0].lower(), node.parts[-1].lower()
        if first in folded:  # also a field of the column
            return FoundColumn(node, source.number, folded[first])
        if len(node.parts) == 2 and first == source.qualifier and last in folded:
            return FoundColumn(node, source.number, folded[last])
        return None


def _names_of(tree: Select, sources: Sequence[Source]) -> Names | None:
    """The names of the columns that a SELECT returns; unnamed expressions are left out."""
    names: list[str] = []
    for item in tree.items:
        match item:
            case Star(changed=True) | Alias(name=""):
                return None
            case Star():
                selected = [s for s in sources if not item.qualifier or s.qualifier == item.qualifier[-1].lower()]
                if not selected or any(s.columns is None for s in selected):
                    return None
                names += [name for s in selected for name in s.columns or ()]
            case Alias():
                names.append(item.name)
            case Column():
                names.append(item.parts[-1])
    return tuple(names)


def _may_be_no_column(node: Column) -> bool:
    """Whether a name can be a keyword, a metadata column or a longer path, which no list of columns has."""
    first = node.parts[0]
    return (
        len(node.parts) > 2
        or first.upper() in _WORDS
        or first.lower().startswith(_METADATA)
        or node.parts[-1].lower().startswith(_METADATA)
    )
