"""Expiration of snapshots, changelogs and partitions; orphan files; dropping partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base import clock
from paimon_nb.base.errors import BadOptionValue
from paimon_nb.procedures.procedure import (
    Argument,
    Context,
    Procedure,
    commit_note,
    named_partitions,
    one_row,
    parse_options,
    success,
    table_argument,
)
from paimon_nb.table.write.maintenance import (
    ORPHAN_AGE_MS,
    ExpireLimits,
    delete_changelogs,
    expire_changelogs,
    expire_partitions,
    expire_snapshots,
    remove_orphans,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNBOUNDED = 1 << 40


def _expire_snapshots(
    context: Context, table: str, retain_max: int | None, retain_min: int | None, older_than: int | None,
    max_deletes: int | None, options: str | None,
) -> pa.Table:  # fmt: skip
    store = context.table(table, parse_options(options)).store
    limits = ExpireLimits.of(
        store, retain_min=retain_min, retain_max=retain_max, older_than_ms=older_than, max_deletes=max_deletes
    )
    return one_row(deleted_snapshots_count=expire_snapshots(store, limits))


def _arguments_by_position(values: Sequence[Any]) -> dict[str, Any]:
    """CALL sys.expire_snapshots('t', '2025-10-19 00:00:00'): a second argument that is not a number means older_than.

    Source: docs/spec/merge-semantics.md section 13.
    """
    names = ["table", "retain_max", "retain_min", "older_than", "max_deletes", "options"]
    arguments = dict(zip(names, values, strict=False))
    second = arguments.get("retain_max")
    if isinstance(second, str) and second and not second.strip().isdecimal():
        arguments["older_than"] = arguments.pop("retain_max")
    return arguments


def _expire_changelogs(
    context: Context, table: str, retain_max: int | None, retain_min: int | None, older_than: int | None,
    max_deletes: int | None, delete_all: bool | None,
) -> pa.Table:  # fmt: skip
    store = context.table(table).store
    if delete_all:
        return one_row(deleted_changelogs_count=delete_changelogs(store))
    # What is not named has no limit, whatever the table's options say: as in Java.
    limits = ExpireLimits.of(
        store,
        changelogs=True,
        retain_min=1 if retain_min is None else retain_min,
        retain_max=_UNBOUNDED if retain_max is None else retain_max,
        older_than_ms=0 if older_than is None else older_than,
        max_deletes=_UNBOUNDED if max_deletes is None else max_deletes,
    )
    return one_row(deleted_changelogs_count=expire_changelogs(store, limits))


def _expire_partitions(
    context: Context, table: str, expiration_time: int | None, timestamp_formatter: str | None, timestamp_pattern: str | None,
    expire_strategy: str | None, max_expires: int | None, options: str | None,
) -> pa.Table:  # fmt: skip
    store = context.table(table, parse_options(options)).store
    result = expire_partitions(
        store,
        expiration_ms=expiration_time,
        formatter=timestamp_formatter,
        pattern=timestamp_pattern,
        strategy=expire_strategy,
        max_expires=max_expires,
    )
    names = [", ".join(f"{k}={v}" for k, v in store.partition_texts(values).items()) for values in result.dropped]
    if result.skipped:
        context.notes.append(f"{len(result.skipped)} partition(s) without a valid time were kept")
    return pa.table({"expired_partitions": pa.array(names or ["No expired partitions."], pa.string())})


def _drop_partition(context: Context, table: str, partition: str) -> pa.Table:
    target = context.table(table)
    commit_note(context, target, target.drop_partitions(named_partitions(context, target, partition)))
    return success()


def _remove_orphan_files(
    context: Context,
    table: str,
    older_than: int | None,
    dry_run: bool | None,
    parallelism: int | None,
    mode: str | None,
) -> pa.Table:
    """`db.*` means all tables of a database."""
    if mode and mode.lower() not in ("local", "distributed"):
        raise BadOptionValue(f"unknown mode {mode!r}", hint="local or distributed; both do the same here", mode=mode)
    now = clock.now_ms()
    if older_than is not None and older_than >= now:
        raise BadOptionValue(
            "older_than must be before now: files that are written now do not belong to a snapshot yet",
            hint="without older_than, files older than a day are deleted",
            older_than_ms=older_than,
        )
    if older_than is not None and older_than > now - ORPHAN_AGE_MS and not dry_run:
        context.notes.append("files younger than a day may belong to a running write, which then fails")
    database, _, last = table.rpartition(".")
    names = [f"{database}.{t}" for t in context.catalog.tables(database)] if last == "*" else [table]
    found = []
    for name in names:
        found += remove_orphans(context.table(name).store, older_than, dry_run=bool(dry_run))
    if dry_run:
        context.notes.append("dry run: nothing was deleted")
    return one_row(deletedFileCount=len(found), deletedFileTotalLenInBytes=sum(o.size for o in found))


EXPIRE_SNAPSHOTS = Procedure(
    "expire_snapshots",
    "Expire old snapshots, and delete files that only they use.",
    (
        table_argument(),
        Argument("retain_max", "int", doc="max number to keep"),
        Argument("retain_min", "int", doc="min number to keep"),
        Argument("older_than", "time", doc="only those before this time"),
        Argument("max_deletes", "int", doc="max number per call; default: 'snapshot.expire.limit'"),
        Argument("options", doc="'k=v,k2=v2', dynamic table options"),
    ),
    _expire_snapshots,
    _arguments_by_position,
)
EXPIRE_CHANGELOGS = Procedure(
    "expire_changelogs",
    "Expire old long-lived changelogs.",
    (
        table_argument(),
        Argument("retain_max", "int", doc="max number to keep"),
        Argument("retain_min", "int", doc="min number to keep"),
        Argument("older_than", "time", doc="only those before this time"),
        Argument("max_deletes", "int", doc="max number per call"),
        Argument("delete_all", "bool", doc="expire all changelogs"),
    ),
    _expire_changelogs,
)
EXPIRE_PARTITIONS = Procedure(
    "expire_partitions",
    "Drop partitions that are older than a time span.",
    (
        table_argument(),
        Argument("expiration_time", "span", doc="such as '7 d'"),
        Argument("timestamp_formatter", doc="format of the partition values, such as 'yyyyMMdd'"),
        Argument("timestamp_pattern", doc="the partition time from columns, such as '$year-$month-$day'"),
        Argument("expire_strategy", doc="values-time or update-time"),
        Argument("max_expires", "int", doc="max number per call"),
        Argument("options", doc="'k=v,k2=v2', dynamic table options"),
    ),
    _expire_partitions,
)
DROP_PARTITION = Procedure(
    "drop_partition",
    "Drop partitions by value.",
    (table_argument(), Argument("partition", required=True, doc="'a=1,b=2;a=3'")),
    _drop_partition,
    repeats_last=True,
)
REMOVE_ORPHAN_FILES = Procedure(
    "remove_orphan_files",
    "Delete files that no snapshot, tag or branch uses.",
    (
        table_argument(),
        Argument(
            "older_than", "time", doc="before now; default: a day ago. Younger files may belong to a running write"
        ),
        Argument("dry_run", "bool", doc="only list the files"),
        Argument("parallelism", "int", doc="accepted, without effect here"),
        Argument("mode", doc="local or distributed, without effect here"),
    ),
    _remove_orphan_files,
)
