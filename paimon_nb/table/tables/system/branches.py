"""`t$branches`: the branches of a table, without main."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.table.tables.system.columns import local_wall_ms, system_table_with_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.read.store import TableStore

COLUMNS = {"branch_name": "STRING NOT NULL", "create_time": "TIMESTAMP(3) NOT NULL"}


def _branch_rows(store: TableStore) -> Iterator[tuple[str, int]]:
    for name, created in store.branches.created_ms().items():
        yield name, local_wall_ms(created)


BRANCHES = system_table_with_columns(COLUMNS, _branch_rows)
