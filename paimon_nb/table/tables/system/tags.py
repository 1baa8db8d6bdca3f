"""`t$tags`: named snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.table.tables.system.columns import duration_text, local_wall_ms, system_table_with_columns, wall_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "tag_name": "STRING NOT NULL",
    "snapshot_id": "BIGINT NOT NULL",
    "schema_id": "BIGINT NOT NULL",
    "commit_time": "TIMESTAMP(3) NOT NULL",
    "record_count": "BIGINT",
    "create_time": "TIMESTAMP(3)",
    "time_retained": "STRING",
}


def _tag_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    for tag in store.tags.all():
        s = tag.snapshot
        yield (
            tag.name, s.id, s.schema_id, local_wall_ms(s.time_ms), s.total_record_count, wall_ms(tag.create_time),
            duration_text(tag.retained_ms),
        )  # fmt: skip


TAGS = system_table_with_columns(COLUMNS, _tag_rows)
