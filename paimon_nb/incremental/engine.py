"""The embedded engine during one refresh: signed relations are temporary tables of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.incremental.operators import WEIGHT
from paimon_nb.incremental.row_text import equal_rows
from paimon_nb.session.query.local.engine import DISABLED, add_zone_functions
from paimon_nb.session.query.local.instances import connection
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import IN_ZONE, TO_INSTANT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    import pyarrow as pa

    from paimon_nb.incremental.operators import Column

KEY_TEXT, ROW_TEXT = "k_", "r_"
"""Columns of a relation whose rows have their key, and their own text."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A table of the engine: columns of the plan, and the weight of each row."""

    name: str
    count: int


class Engine:
    """A connection, and the tables made in it. A context manager: they end with it. `zone`: the session's time zone."""

    def __init__(self, zone: str = "UTC") -> None:
        self._zone, self._has_zone = zone, False
        self._lent = connection(DISABLED)
        self._used = self._lent.__enter__()
        self._connection = self._used.duckdb
        self._connection.execute("SET TimeZone = 'UTC'")  # texts of keys do not depend on the zone of the machine
        self._number = 0

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lent.__exit__(kind, error, trace)

    def table(self, sql: str) -> Relation:
        """A table of a query's rows. Raises NotLocal: the engine raised an error, which Spark may raise, too."""
        name = self._new_name()
        self._add_zone_functions(sql)
        found = self._run(lambda: self._connection.execute(f"CREATE TEMP TABLE {name} AS {sql}").fetchone())
        return Relation(name, int(found[0]) if found else 0)

    def arrow(self, rows: pa.Table) -> str:
        """The name of Arrow rows in queries."""
        name = self._new_name()
        self._connection.register(name, rows)
        return name

    def rows(self, sql: str) -> pa.Table:
        """The rows of a query."""
        self._add_zone_functions(sql)
        return self._run(lambda: self._connection.sql(sql).to_arrow_table())

    def values(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query as tuples."""
        self._add_zone_functions(sql)
        return list(self._run(lambda: self._connection.execute(sql).fetchall()))

    def consolidated(self, relation: Relation, columns: Sequence[Column]) -> Relation:
        """The relation with equal rows as one, and without rows whose weights cancel out."""
        if relation.count < 2:
            return relation
        items, groups = equal_rows(columns)
        return self.table(
            f"SELECT {items}CAST(sum({WEIGHT}) AS BIGINT) AS {WEIGHT} FROM {relation.name} GROUP BY {groups} HAVING sum({WEIGHT}) <> 0"
        )

    def _add_zone_functions(self, sql: str) -> None:
        if not self._has_zone and calls_zone(sql):
            add_zone_functions(self._used, self._zone, f"{IN_ZONE}({TO_INSTANT}(")
            self._has_zone = True

    def _new_name(self) -> str:
        self._number += 1
        return f"s{self._number}"

    def _run(self, work: Callable[[], Any]) -> Any:
        import duckdb

        try:
            return work()
        except duckdb.Error as error:
            raise NotLocal(f"the engine stopped: {str(error).splitlines()[0]}") from error


def calls_zone(sql: str) -> bool:
    """Whether a result depends on the session's time zone."""
    return IN_ZONE in sql or TO_INSTANT in sql
