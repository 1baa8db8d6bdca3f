"""The table `<target>_dead_letter`: rows of a sync with values that do not fit their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base import clock
from paimon_nb.base.identifier import Identifier
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import TableCommit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.catalog.api import Catalog
    from paimon_nb.connectors.cdc.values import ValueProblem
    from paimon_nb.table.tables.table import Table

SUFFIX = "_dead_letter"
_COLUMNS = (
    ("record", "STRING NOT NULL", "position in the source, source table and key"),
    ("column_name", "STRING NOT NULL", "the column whose type cannot hold the value"),
    ("kind", "STRING", "+I or +U"),
    ("value", "STRING", "the value's text"),
    ("reason", "STRING", None),
    ("source_row", "STRING", "the row as JSON texts by column"),
    ("arrived", "TIMESTAMP(3) WITH LOCAL TIME ZONE", None),
)
_KINDS = {0: "+I", 2: "+U"}


class DeadLetters:
    """Dead letters of one target. A record that is read again after a crash replaces its letter. Not thread-safe."""

    def __init__(self, catalog: Catalog, target: Identifier, user: str) -> None:
        self._catalog, self._user = catalog, user
        self.name = Identifier(target.database, f"{target.table}{SUFFIX}")
        self._rows: list[dict[str, Any]] = []

    def add(self, problems: Sequence[ValueProblem], row: str, kind: int) -> None:
        """Add a row, once for each value that does not fit."""
        self._rows += [
            {
                "record": p.record,
                "column_name": p.column,
                "kind": _KINDS[kind],
                "value": p.value,
                "reason": p.reason,
                "source_row": row,
                "arrived": clock.now_ms(),
            }
            for p in problems
        ]

    def commit(self) -> None:
        """Commit the letters; the target's commit follows. Creates the table for the first one."""
        if not self._rows:
            return
        rows, self._rows = self._rows, []
        table = self._open()
        batch = pa.Table.from_pylist(rows, schema=table.schema.arrow.remove_metadata())
        with TableWrite(table.store) as writing:
            writing.write(batch)
            TableCommit(table.store, self._user).commit(writing.prepare_commit())

    def abort(self) -> None:
        self._rows = []

    def _open(self) -> Table:
        columns = [(name, parse_type(t), comment, None) for name, t, comment in _COLUMNS]
        schema = create_schema(columns, (), ("record", "column_name"), {"bucket": "1"}, "dead letters of a sync")
        self._catalog.create_table(self.name, schema, if_not_exists=True)
        return self._catalog.table(self.name)
