"""What the parts of one plan share, and the result of building one."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.incremental.list_types import stored_type
from paimon_nb.incremental.operators import Column
from paimon_nb.session.query.local.constants import Checks
from paimon_nb.session.query.local.not_local import NotLocal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.format.types import DataType
    from paimon_nb.incremental.operators import Operator, Source
    from paimon_nb.session.core.session import Session
    from paimon_nb.session.query.local.expressions import Context, Resolve, Subqueries
    from paimon_nb.session.query.local.scopes import Relation
    from paimon_nb.session.query.local.values import Value
    from paimon_nb.syntax.tree import QueryTree, Select


@dataclass(frozen=True, slots=True)
class Built:
    """The operators of a query, with the names of its columns."""

    operator: Operator
    names: tuple[str | None, ...]
    is_one_row: bool = False
    """Whether it has exactly one row: aggregates without groups."""


@dataclass(slots=True)
class Shared:
    """What the parts of one plan share."""

    session: Session
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    checks: Checks = field(default_factory=Checks)
    number: int = 0

    def new_name(self, letter: str) -> str:
        self.number += 1
        return f"{letter}{self.number}"

    def column(self, t: DataType, name: str | None) -> Column:
        """A new column. Raises NotLocal: there is not a text that distinguishes its values."""
        if stored_type(t) is None:
            raise NotLocal(f"a column of {t.bare()}")
        return Column(self.new_name("x"), t, name or "value")


class QueryBuilder(Protocol):
    """Builds queries inside of queries."""

    shared: Shared

    def tree(self, node: QueryTree) -> Built: ...
    def context(self, subqueries: Subqueries | None) -> Context: ...
    def correlated(self, node: Select, outer: Resolve) -> tuple[Operator, Relation, list[Value], Context]: ...
