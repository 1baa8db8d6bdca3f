"""Maintenance: manifests, missing files, hints, file indexes, rescaling, purging, partition-done marks, default values."""

from __future__ import annotations

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, SnapshotNotFound, UnsupportedOperation
from paimon_nb.catalog.schema_validation import check_manifest_sort
from paimon_nb.options import table as opt
from paimon_nb.procedures.flink_results import DRY_RUN
from paimon_nb.procedures.procedure import (
    Argument,
    Context,
    Procedure,
    commit_note,
    named_partitions,
    one_row,
    parse_options,
    selected_partitions,
    success,
    table_argument,
)
from paimon_nb.statements import AlterColumn
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.compact import materialize_deletion_vectors, rewrite_file_indexes
from paimon_nb.table.write.compact.rescale import has_files_to_rescale, rescale
from paimon_nb.table.write.maintenance import (
    compact_manifests,
    describe_manifests,
    mark_partitions_done,
    purge,
    reassign_row_ids,
    remove_missing_files,
    remove_missing_manifests,
)


def _compact_manifest(
    context: Context, table: str, options: str | None, dry_run: bool | None, manifest_sort_enabled: bool | None,
    manifest_sort_partition_field: str | None, manifest_sort_max_rewrite_size: str | None,
) -> pa.Table:  # fmt: skip
    dynamic = parse_options(options) or {}
    if manifest_sort_enabled is not None:
        dynamic[opt.MANIFEST_SORT_ENABLED.key] = str(manifest_sort_enabled).lower()
    if manifest_sort_partition_field is not None:
        dynamic[opt.MANIFEST_SORT_PARTITION_FIELD.key] = manifest_sort_partition_field
    if manifest_sort_max_rewrite_size is not None:
        dynamic[opt.MANIFEST_SORT_MAX_REWRITE_SIZE.key] = manifest_sort_max_rewrite_size
    target = context.table(table, dynamic)
    check_manifest_sort(target.store.schema, target.store.options)
    if dry_run:
        text = describe_manifests(target.store)
        context.notes.append(text)
        return success().replace_schema_metadata({DRY_RUN: text})
    snapshot_id = compact_manifests(target.store)
    if snapshot_id is None:
        context.notes.append(f"the manifests of {target.name} are compact already")
    else:
        commit_note(context, target, [snapshot_id])
    return success()


def _remove_unexisting_files(context: Context, table: str, dry_run: bool | None, parallelism: int | None) -> pa.Table:
    target = context.table(table)
    missing = remove_missing_files(target.store, dry_run=bool(dry_run))
    newest = target.latest_snapshot()
    if dry_run:
        context.notes.append("dry run: nothing was changed")
    elif missing and newest is not None:
        commit_note(context, target, [newest.id])
    return pa.table({"fileName": pa.array(missing, pa.string())})


def _remove_unexisting_manifests(context: Context, table: str) -> pa.Table:
    target = context.table(table)
    before = target.latest_snapshot()
    missing, snapshot_id = remove_missing_manifests(target.store)
    if snapshot_id is None or before is None:
        context.notes.append(f"no manifest of {target.name} is missing")
    else:
        commit_note(context, target, [snapshot_id])
        after = target.latest_snapshot()
        rows = [s.total_record_count for s in (before, after) if s is not None]
        context.notes.append(
            f"{len(missing)} missing manifests were removed; rows in files: {' before, '.join(map(str, rows))} now"
        )
        context.notes.append(
            "files that only these manifests listed are no longer in the table; remove_orphan_files deletes them"
        )
    return one_row(result="Success")  # Java's word


def _repair_earliest_snapshot(context: Context, table: str, snapshot_id: int) -> pa.Table:
    snapshots = context.table(table).store.snapshots
    ids = snapshots.ids()
    if snapshot_id not in ids:
        available = f"available: snapshots {ids[0]} to {ids[-1]}" if ids else "the table has no snapshot yet"
        raise SnapshotNotFound(f"{table} has no snapshot {snapshot_id}", hint=available, snapshot=snapshot_id)
    snapshots.write_earliest_hint(snapshot_id)
    return success()


def _rescale_buckets(
    context: Context, table: str, bucket_num: int | None, partition: str | None, scan_parallelism: int | None,
    sink_parallelism: int | None, where: str | None,
) -> pa.Table:  # fmt: skip
    target = context.table(table)
    partitions = selected_partitions(context, target, partition, where)
    store, messages, overwritten = rescale(target.store, bucket_num, partitions)
    if context.dialect == "flink" and not has_files_to_rescale(target.store, partitions):
        raise UnsupportedOperation(  # Spark's procedure does nothing then
            f"{target.name} has no files in buckets there: nothing can be rescaled",
            hint="rescale partitions that have rows; CALL sys.compact moves postponed rows to buckets",
        )
    rows = sum(m.row_count for m in messages)
    if not rows:
        context.notes.append(f"{target.name} has no rows to rescale")
        return success()
    commit_note(context, target, TableCommit(store).commit(messages, overwrite=overwritten))
    if bucket_num is not None and bucket_num != target.store.bucket_option:
        context.notes.append(
            f"writers still use the table's option; run ALTER TABLE ... SET ('bucket' = '{bucket_num}')"
        )
    return success()


def _purge_files(context: Context, table: str) -> pa.Table:
    target = context.table(table)
    snapshot_id = purge(target.store)
    if snapshot_id is None:
        context.notes.append(f"{target.name} had no rows")
    return pa.table({"result": ["Success"]})  # Java's word, in both engines


def _mark_partition_done(context: Context, table: str, partitions: str) -> pa.Table:
    target = context.table(table)
    specs = named_partitions(context, target, partitions)
    if not specs:
        raise BadOptionValue(f"no partition in {partitions!r}", hint="write 'dt=2024-01-01,hh=1;dt=2024-01-02,hh=1'")
    mark_partitions_done(target.store, specs)
    return success()


def _alter_column_default_value(context: Context, table: str, column: str, default_value: str) -> pa.Table:
    target = context.table(table)
    context.catalog.alter_table(target.name, [AlterColumn(tuple(column.split(".")), default=default_value)])
    return success()


COMPACT_MANIFEST = Procedure(
    "compact_manifest",
    "Merge the manifests of a table.",
    (
        table_argument(),
        Argument("options", doc="'k=v,k2=v2', dynamic table options"),
        Argument("dry_run", "bool", doc="change nothing; a note counts the manifests"),
        Argument("manifest_sort_enabled", "bool", doc="sort the entries of manifests that are rewritten by partition"),
        Argument("manifest_sort_partition_field", doc="partition column to sort by; the first one if absent"),
        Argument("manifest_sort_max_rewrite_size", doc="larger sets of manifests are not sorted, such as '256 mb'"),
    ),
    _compact_manifest,
)
REMOVE_UNEXISTING_FILES = Procedure(
    "remove_unexisting_files",
    "Remove missing data files from the latest snapshot, so that the rest can be read.",
    (
        table_argument(),
        Argument("dry_run", "bool", doc="change nothing"),
        Argument("parallelism", "int", doc="accepted, without effect here"),
    ),
    _remove_unexisting_files,
)
REMOVE_UNEXISTING_MANIFESTS = Procedure(
    "remove_unexisting_manifests",
    "Remove missing manifests from the latest snapshot, so that the rest can be read. Their rows are lost.",
    (Argument("table", required=True, doc="[database.]table, or table$branch_b", also=("tableId",)),),
    _remove_unexisting_manifests,
)
REPAIR_EARLIEST_SNAPSHOT = Procedure(
    "repair_earliest_snapshot",
    "Set the hint of the earliest snapshot.",
    (table_argument(), Argument("snapshot_id", "int", required=True, doc="the earliest existing snapshot")),
    _repair_earliest_snapshot,
)
RESCALE = Procedure(
    "rescale",
    "Change the number of buckets of existing rows; the table's option is unchanged.",
    (
        table_argument(),
        Argument("bucket_num", "int", doc="the table's option if absent"),
        Argument("partition", doc="'a=1,b=2;a=3'", also=("partitions",)),
        Argument("scan_parallelism", "int", doc="accepted, without effect here"),
        Argument("sink_parallelism", "int", doc="accepted, without effect here"),
        Argument("where", doc="condition on partition columns"),
    ),
    _rescale_buckets,
)
PURGE_FILES = Procedure(
    "purge_files",
    "Delete all rows, snapshots, tags, branches and consumers of a table. This is permanent.",
    (table_argument(),),
    _purge_files,
)
MARK_PARTITION_DONE = Procedure(
    "mark_partition_done",
    "Mark partitions as done with a success file.",
    (table_argument(), Argument("partitions", required=True, doc="'a=1,b=2;a=3,b=4'")),
    _mark_partition_done,
)
ALTER_COLUMN_DEFAULT_VALUE = Procedure(
    "alter_column_default_value",
    "Set a column's default value.",
    (
        table_argument(),
        Argument("column", required=True, doc="name of the column"),
        Argument("default_value", required=True, doc="the value as text"),
    ),
    _alter_column_default_value,
)


def _rewrite_file_index(context: Context, table: str, partitions: str | None, where: str | None) -> pa.Table:
    target = context.table(table)
    messages = rewrite_file_indexes(target.store, selected_partitions(context, target, partitions, where))
    ids = target.commit().commit(messages)
    commit_note(context, target, ids)
    if not ids:
        context.notes.append(f"all files of {target.name} have the configured indexes already")
    return one_row(written_partitions=len({m.partition for m in messages}), written_indexes=len(messages))


REWRITE_FILE_INDEX = Procedure(
    "rewrite_file_index",
    "Build the indexes of the `file-index.*` options for existing files.",
    (
        table_argument(),
        Argument("partitions", doc="'a=1,b=2;a=3'"),
        Argument("where", doc="condition on partition columns"),
    ),
    _rewrite_file_index,
)


def _materialize_deletion_vectors(
    context: Context, table: str, partitions: str | None, options: str | None, where: str | None
) -> pa.Table:
    target = context.table(table, parse_options(options))
    messages = materialize_deletion_vectors(target.store, selected_partitions(context, target, partitions, where))
    commit_note(context, target, target.commit().commit(messages))
    if not messages:
        context.notes.append(f"no row of {target.name} is marked as deleted")
    return success()


MATERIALIZE_DELETION_VECTORS = Procedure(
    "materialize_deletion_vectors",
    "Write files of a data-evolution table without their deleted rows. Their rows get new row ids, and global indexes of their "
    "partitions are dropped.",
    (
        table_argument(),
        Argument("partitions", doc="'a=1,b=2;a=3'"),
        Argument("options", doc="'k=v,k2=v2', dynamic table options"),
        Argument("where", doc="condition on partition columns"),
    ),
    _materialize_deletion_vectors,
)


def _reassign_row_id(context: Context, table: str, partitions: str | None) -> pa.Table:
    target = context.table(table)
    done = reassign_row_ids(target.store, selected_partitions(context, target, partitions))
    name = f"{target.name.database}.{target.name.object}"
    if done.snapshot is None:
        text = (
            f"Skipped. Row IDs for table '{name}' were not reassigned because {done.skipped}: "
            f"snapshot {done.before} unchanged, nextRowId={done.next_row_id}."
        )
    else:
        text = (
            f"Success. Reassigned row IDs for table '{name}': snapshot {done.before} -> {done.snapshot}, "
            f"nextRowId {done.first_row_id} -> {done.next_row_id}, files={done.files}, rows={done.rows}, "
            f"indexFiles={done.index_files}."
        )
    return one_row(result=text)


REASSIGN_ROW_ID = Procedure(
    "reassign_row_id",
    "Give the rows of each partition of a data-evolution table consecutive row ids. Only metadata is written; views of its BLOBs in other "
    "tables must be written again.",
    (table_argument(), Argument("partitions", doc="'a=1,b=2;a=3'")),
    _reassign_row_id,
)
