"""`t$snapshots`: one row per snapshot of this branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.table.tables.system.columns import local_wall_ms, system_table_with_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "snapshot_id": "BIGINT NOT NULL",
    "schema_id": "BIGINT NOT NULL",
    "commit_user": "STRING NOT NULL",
    "commit_identifier": "BIGINT NOT NULL",
    "commit_kind": "STRING NOT NULL",
    "commit_time": "TIMESTAMP(3) NOT NULL",
    "base_manifest_list": "STRING NOT NULL",
    "delta_manifest_list": "STRING NOT NULL",
    "changelog_manifest_list": "STRING",
    "total_record_count": "BIGINT",
    "delta_record_count": "BIGINT",
    "changelog_record_count": "BIGINT",
    "watermark": "BIGINT",
    "next_row_id": "BIGINT",
    "operation": "STRING",
    "writer_version": "STRING",
}


def _snapshot_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    store.snapshots.invalidate_cache()
    earliest = store.snapshots.earliest_id()  # the earliest hint may skip older files, as after fast_forward
    for s in store.snapshots.all():
        if earliest is not None and s.id < earliest:
            continue
        yield (
            s.id, s.schema_id, s.commit_user, s.commit_identifier, s.commit_kind, local_wall_ms(s.time_ms),
            s.base_manifest_list, s.delta_manifest_list, s.changelog_manifest_list, s.total_record_count,
            s.delta_record_count, s.changelog_record_count, s.watermark, s.next_row_id, s.operation, s.writer_version,
        )  # fmt: skip


SNAPSHOTS = system_table_with_columns(COLUMNS, _snapshot_rows)
