"""`t$consumers`: the progress of each consumer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.table.tables.system.columns import system_table_with_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.read.store import TableStore

COLUMNS = {"consumer_id": "STRING NOT NULL", "next_snapshot_id": "BIGINT NOT NULL"}


def _consumer_rows(store: TableStore) -> Iterator[tuple[str, int]]:
    for name in store.consumers.ids():
        yield name, store.consumers.next_snapshot(name)


CONSUMERS = system_table_with_columns(COLUMNS, _consumer_rows)
