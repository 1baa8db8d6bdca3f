"""An analysed query, as data: its operators, the tables that it reads, and what its result looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.incremental.engine import calls_zone
from paimon_nb.incremental.explain import OperatorPlan, operator_plans
from paimon_nb.incremental.operators import is_append_only
from paimon_nb.incremental.positions import query_hash
from paimon_nb.incremental.result_fields import natural_key, result_fields
from paimon_nb.incremental.shapes import all_shapes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.format.types import DataField
    from paimon_nb.incremental.operators import Operator, Source
    from paimon_nb.incremental.shared import Built
    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import Query


@dataclass(slots=True)
class AnalysedQuery:
    """How a query is updated.

    Attributes:
        session: where its names are resolved.
        text: the query.
        query: the parsed query.
        built: its operators; None: it is computed again at each refresh.
        sources: the tables that it reads; none if one of them cannot be followed.
        reason: why it is computed again; empty if it is not.
        parameters: values of its `:name` markers.
        checks: expressions without columns that may raise an error, in the engine's SQL.
    """

    session: Session
    text: str
    query: Query
    built: Built | None
    sources: tuple[Source, ...]
    reason: str
    parameters: Mapping[str, Any]
    checks: tuple[str, ...] = ()

    @property
    def is_incremental(self) -> bool:
        """Whether a refresh computes only what changed."""
        return self.built is not None

    @property
    def operators(self) -> list[OperatorPlan]:
        """The operators, inputs first; none if the query is computed again."""
        return [] if self.built is None else operator_plans(self.built.operator)

    @property
    def root(self) -> Operator:
        """The last operator."""
        assert self.built is not None
        return self.built.operator

    @property
    def names(self) -> tuple[str | None, ...]:
        """The names of the result's columns; none if the query is computed again."""
        return () if self.built is None else self.built.names

    @property
    def fields(self) -> tuple[DataField, ...]:
        """The columns of the result. Raises SqlAnalysisError: one has no name, or only running the query shows them."""
        if self.built is None:
            raise SqlAnalysisError(
                f"the columns of the query are not known without running it: {self.reason}",
                hint="name the columns of the table",
                sql=self.text,
            )
        return result_fields(self.root, self.names, self.text)

    @property
    def key(self) -> tuple[str, ...] | None:
        """Columns of the result that are different in all its rows and never NULL, for the primary key of a target; None: there are none."""
        return None if self.built is None else natural_key(self.root, self.names)

    @property
    def is_append_only(self) -> bool:
        """Whether rows of the result are never removed while its inputs only grow."""
        return self.built is not None and is_append_only(self.built.operator)

    @property
    def identity(self) -> str:
        """A hash of what the query computes: a target that another query wrote is not moved by this one."""
        if self.built is None:
            return self.text_identity
        shapes = [
            f"{s.suffix} {[(n, str(c.type)) for n, c in zip(s.names, s.columns, strict=True)]}"
            for s in all_shapes(self.root)
        ]
        parts = [*(p.definition for p in self.operators), *shapes, *map(str, self.names)]
        zone = [self.session.time_zone or "UTC"] if any(map(calls_zone, parts)) else []
        return query_hash([*parts, *zone])

    @property
    def text_identity(self) -> str:
        """A hash of the text, whatever its spaces."""
        return query_hash([" ".join(self.text.split())])
