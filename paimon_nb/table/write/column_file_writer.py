"""Writes new values of some columns to a separate file for the same rows (data evolution).

Source: Paimon 1.3 `DataEvolutionSparkTableWrite`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CommitConflict
from paimon_nb.format.manifest import DataFile
from paimon_nb.options import table as opt
from paimon_nb.table.read.data_evolution import files_by_column, holds_column, stored_field_ids
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.data_file_writer import AppendFileWriter, FileTarget
from paimon_nb.table.write.dedicated_files import dedicated_fields, open_dedicated_writers
from paimon_nb.table.write.global_index import drop_stale_indexes
from paimon_nb.table.write.publish.changes import Change, CommitMessage, append_change

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pyarrow as pa

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.store import TableStore


class _ColumnFileWriter(AppendFileWriter):
    """One file with some columns of all rows of another file."""

    def __init__(self, store: TableStore, target: FileTarget, columns: Sequence[DataField], first_row_id: int) -> None:
        # One file of any size; file indexes cover whole rows only.
        own = {k: v for k, v in store.schema.options.items() if not k.startswith("file-index.")}
        whole = store.at_schema(store.schema.with_options({**own, opt.TARGET_FILE_SIZE.key: f"{1 << 60} b"}))
        super().__init__(whole, target)
        self.columns, self.first_row_id = columns, first_row_id

    def _stored_fields(self) -> Sequence[DataField]:
        return self.columns

    def _describe_file(self, size: int) -> DataFile:
        names = tuple(f.name for f in self.columns)
        return replace(super()._describe_file(size), first_row_id=self.first_row_id, write_cols=names)


def write_columns(store: TableStore, split: Split, columns: Sequence[DataField], rows: pa.Table) -> CommitMessage:
    """Write new values of `columns` for all rows of a split's files, in their order. Nothing is published.

    Args:
        split: one file, or files of the same rows.
    """
    base = split.files[0]
    assert base.first_row_id is not None
    assert base.row_count == rows.num_rows
    target, new = FileTarget(split.partition, split.bucket), list[DataFile]()
    dedicated = _dedicated_columns(store, split, columns)
    others = [f for f in columns if f not in dedicated]
    if others:
        with _ColumnFileWriter(store, target, others, base.first_row_id) as out:
            out.write(rows)
            new += out.finish()
    for writer in open_dedicated_writers(store, target, dedicated):
        with writer as out:
            out.write(rows)
            at = base.first_row_id
            for file in out.finish():
                new.append(replace(file, first_row_id=at))
                at += file.row_count
    # Newer than all files of the rows: pypaimon gives rolled `.blob` files numbers beyond those of their snapshots.
    number = max(f.max_sequence for f in split.files) + 1
    new = [replace(f, min_sequence=number, max_sequence=number) for f in new]
    return CommitMessage(
        split.partition, split.bucket, split.total_buckets, new_files=tuple(new), base_snapshot=split.snapshot_id
    )


def _dedicated_columns(store: TableStore, split: Split, columns: Sequence[DataField]) -> list[DataField]:
    """Columns whose new values belong into files of their own. Where their values are in normal files, they stay there."""
    dedicated = [f for f in columns if f in dedicated_fields(store)]
    parts = files_by_column(store, split.files, dedicated)
    inside = {f.id for part in parts for f in part.fields if holds_column(store, part.rows[0].file, f)}
    return [f for f in dedicated if f.id not in inside]


def columns_change(
    store: TableStore,
    latest: Snapshot | None,
    messages: Sequence[CommitMessage],
    read: Sequence[Split],
    computed_from: Collection[str] = (),
) -> Change:
    """The APPEND snapshot of such files, together with files of new rows.

    Args:
        read: the splits that the new values were computed from.
        computed_from: the columns that they were computed from, for callers that know them. As in Java, statements do not say it.
    Raises: CommitConflict: another commit changed these columns of the rows, or replaced the files of the rows, since they were read.
        UnsupportedOperation: a global index holds these columns (see `drop_stale_indexes`).
    """
    ids = {f.first_row_id for m in messages for f in m.new_files} - {None}
    written = {name for m in messages for f in m.new_files if f.first_row_id is not None for name in f.write_cols or ()}
    there = {e.file.file_name: e.file for e in live_entries(store, latest) if e.file.first_row_id in ids}
    known = {f.file_name for split in read for f in split.files if f.first_row_id in ids}
    names = {*written, *computed_from}.difference(store.schema.partition_keys)
    changed_ids = {f.id for f in store.schema.fields if f.name in names}
    clashes = known - there.keys() | {
        n for n in there.keys() - known if changed_ids & stored_field_ids(store, there[n])
    }
    if clashes:
        raise CommitConflict(
            f"{store.name}: another commit changed the rows since they were read",
            hint="run the statement again on the new state",
            file=min(clashes),
            path=store.root,
        )
    changed = [m.partition for m in messages if any(f.first_row_id is not None for f in m.new_files)]
    return append_change(
        [*messages, *drop_stale_indexes(store, latest, written - set(store.schema.partition_keys), changed)]
    )
