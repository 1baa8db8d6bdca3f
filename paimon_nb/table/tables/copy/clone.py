"""Clones the rows of one snapshot of a table into another table, in one commit.

Source: Paimon `ClonePaimonSchemaFunction`, `ListCloneSplitsFunction`, `CommitMessageTableOperator`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.format.schema import TableSchema, create_schema
from paimon_nb.options import table as opt
from paimon_nb.table.read import plan_scan, read_split
from paimon_nb.table.read.plan.time_travel import retry_on_expiry
from paimon_nb.table.read.split.inline_blobs import as_stored
from paimon_nb.table.tables.copy.copy import MAX_READS
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.publish.overwrite import Overwrite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.table.read.store import TableStore

_NOT_TAKEN = (opt.BUCKET.key, "path", "owner")


def clone_schema(
    source: TableSchema, options: Mapping[str, str] | None = None, file_format: str | None = None
) -> TableSchema:
    """Schema 0 of a clone: the source's newest columns, keys, comment and options.

    As in Java, a primary-key table gets postponed buckets (-2); an append table keeps its buckets only if it has a
    bucket key.

    Args:
        options: added to the source's options; may contain `bucket`. file_format: of the new files.
    """
    columns = [(f.name, f.type, f.description, f.default_value) for f in source.fields]
    own = {k: v for k, v in source.options.items() if k not in _NOT_TAKEN}
    if source.primary_keys:
        own[opt.BUCKET.key] = "-2"
    elif opt.BUCKET_KEY.key in own and opt.BUCKET.key in source.options:
        own[opt.BUCKET.key] = source.options[opt.BUCKET.key]
    own.update(options or {})
    if file_format:
        own[opt.FILE_FORMAT.key] = file_format
    return create_schema(columns, source.partition_keys, source.primary_keys, own, source.comment)


def check_target(target: TableStore, schema: TableSchema) -> None:
    """Raise SchemaMismatch if rows of `schema` cannot be written to the target unchanged. The target may have more
    columns.
    """
    have = target.schema
    if (have.partition_keys, have.primary_keys) != (schema.partition_keys, schema.primary_keys):
        raise SchemaMismatch(
            f"{target.name} has other partition keys or another primary key than the source",
            hint="clone under another name",
        )
    types = {f.name: f.type.bare() for f in have.fields}
    other = [f.name for f in schema.fields if types.get(f.name) != f.type.bare()]
    if other:
        raise SchemaMismatch(
            f"{target.name} lacks these columns or has other types: {', '.join(other)}",
            hint="ALTER TABLE it to the source's columns, or clone under another name",
            columns=other,
        )


def clone_rows(
    source: TableStore,
    target: TableStore,
    keep_partition: Callable[[bytes], bool] | None = None,
    *,
    replaces: bool,
) -> tuple[int, list[int]]:
    """Write the rows of the source's newest snapshot into the target.

    The source may be written concurrently: one snapshot is read, and a newer one if that expires during the read.
    Nothing is visible before the commit; a failure leaves no files.

    Args:
        keep_partition: a filter on the source's partitions; None means all.
        replaces: whether the affected partitions of the target (or the table) are replaced. Else all rows stay that others
            have written into it, also those that came after it was created or looked at.
    Returns: how many rows, and the ids of the target's new snapshots (none if there were no rows).
    """
    return retry_on_expiry(source, lambda: _clone_rows(source, target, keep_partition, replaces), attempts=MAX_READS)


def _clone_rows(
    source: TableStore, target: TableStore, keep_partition: Callable[[bytes], bool] | None, replaces: bool
) -> tuple[int, list[int]]:
    plan = plan_scan(source)
    names = list(plan.schema.names)
    newest = target.latest()
    count = 0
    with TableWrite(target, overwrite=True) as writing:
        for split in plan.splits:
            if keep_partition is None or keep_partition(split.partition):
                rows = read_split(as_stored(plan.store), split, names)
                count += rows.num_rows
                writing.write(rows)
        if not count:
            writing.abort()
            return 0, []
        messages = [replace(m, base_snapshot=newest.id if newest else None) for m in writing.prepare_commit()]
    dynamic = target.options.get(opt.DYNAMIC_PARTITION_OVERWRITE) and bool(target.schema.partition_keys)
    # In a table without a snapshot nothing is replaced, whatever others have written since.
    replaces = replaces and newest is not None
    scope = Overwrite(dynamic=dynamic) if replaces else Overwrite(replaced_partitions=frozenset())
    return count, TableCommit(target).commit(messages, overwrite=scope, expected_rows=count)
