"""Checks whether UPDATE, DELETE and MERGE are allowed, by kind of table and merge engine. Reads nothing.

Source: Paimon `SupportsRowLevelOperationFlinkTableSink`, `PrimaryKeyTableUtils.validatePKUpsertDeletable` and, for
tables without keys, Spark's `RowLevelOp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.table.read.store import TableStore

_UPDATABLE = ("deduplicate", "partial-update")
_PAST = (
    opt.SCAN_SNAPSHOT_ID, opt.SCAN_TAG_NAME, opt.SCAN_TIMESTAMP, opt.SCAN_TIMESTAMP_MILLIS, opt.SCAN_VERSION,
    opt.SCAN_WATERMARK, opt.INCREMENTAL_BETWEEN, opt.INCREMENTAL_BETWEEN_TIMESTAMP,
)  # fmt: skip


def check_update(store: TableStore, columns: Iterable[str]) -> None:
    """Raises UnsupportedOperation if these columns cannot be updated."""
    store.check_not_materialized("UPDATE")
    _check_no_time_travel(store)
    if not store.has_keys:
        return
    _check_engine_supports_changes(store, "UPDATE")
    keys = [c for c in columns if c in store.schema.primary_keys]
    if keys:
        raise UnsupportedOperation(
            f"{store.name}: primary key column {keys[0]!r} cannot be updated",
            hint="DELETE the row and INSERT it with its new key",
            assigned=keys,
        )


def check_delete(store: TableStore) -> None:
    """Raises UnsupportedOperation if rows cannot be deleted one by one."""
    store.check_not_materialized("DELETE")
    _check_no_time_travel(store)
    o = store.options
    if not store.has_keys:
        _check_deletes_by_vectors(store, "DELETE")
        return
    kind_column = o.get(opt.ROWKIND_FIELD)
    if kind_column:
        raise UnsupportedOperation(
            f"{store.name}: column {kind_column!r} holds the row kind ('rowkind.field'), so a DELETE would have no effect",
            hint=f"write the rows with '-D' in {kind_column!r}",
        )
    check_merge_engine_deletes(store)


def check_merge_engine_deletes(store: TableStore) -> None:
    """Raises UnsupportedOperation if the merge engine of a primary-key table takes no delete markers."""
    hint = _hint_without_deletes(store) if store.has_keys else None
    if hint is not None:
        engine = store.options.merge_engine
        raise UnsupportedOperation(
            f"{store.name}: merge engine {engine} does not support DELETE", hint=hint, engine=engine
        )


def deletes_from_files(store: TableStore) -> bool:
    """Whether Spark's DELETE rewrites files of a primary-key table, as its merge engine takes no delete markers."""
    if not store.has_keys or store.options.get(opt.ROWKIND_FIELD):
        return False
    return _hint_without_deletes(store) is not None


def check_merge(store: TableStore, *, deletes: bool) -> None:
    """Raises UnsupportedOperation if MERGE INTO is not allowed; `deletes`: it has a DELETE clause."""
    store.check_not_materialized("MERGE INTO")
    _check_no_time_travel(store)
    if store.has_keys:
        _check_engine_supports_changes(store, "MERGE INTO")
        if deletes:
            check_delete(store)
    elif deletes:
        _check_deletes_by_vectors(store, "MERGE INTO with DELETE")


def check_merge_update(store: TableStore, columns: Iterable[str]) -> None:
    """Raises UnsupportedOperation if MERGE INTO cannot update these columns."""
    store.check_not_materialized("MERGE INTO")
    if not store.evolves_data:
        check_update(store, columns)
        return
    fixed = [c for c in columns if c in store.schema.partition_keys]
    if fixed:
        raise UnsupportedOperation(
            f"{store.name}: partition column {fixed[0]!r} cannot be updated: with 'data-evolution.enabled' rows stay in their files",
            hint="use INSERT OVERWRITE to move rows between partitions",
            columns=fixed,
        )


def _hint_without_deletes(store: TableStore) -> str | None:
    """None if the merge engine of a primary-key table takes delete markers; else what to do instead."""
    match store.options.merge_engine:
        case "deduplicate":
            return None
        case "partial-update":
            if store.options.get(opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE) or store.options.get(
                opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP
            ):
                return None
            return "ALTER TABLE ... SET ('partial-update.remove-record-on-delete' = 'true')"
        case "aggregation":
            if store.options.get(opt.AGGREGATION_REMOVE_RECORD_ON_DELETE):
                return None
            return "ALTER TABLE ... SET ('aggregation.remove-record-on-delete' = 'true')"
        case _:
            return "use TRUNCATE, ALTER TABLE ... DROP PARTITION or INSERT OVERWRITE"


def _check_engine_supports_changes(store: TableStore, what: str) -> None:
    engine = store.options.merge_engine
    if engine not in _UPDATABLE:
        raise UnsupportedOperation(
            f"{store.name}: merge engine {engine} does not support {what}",
            hint=f"INSERT rows instead, which {engine} merges; only {' and '.join(_UPDATABLE)} support {what}",
            engine=engine,
        )


def _check_deletes_by_vectors(store: TableStore, what: str) -> None:
    if store.evolves_data and not store.options.get(opt.DELETION_VECTORS_ENABLED):
        raise UnsupportedOperation(
            f"{store.name}: {what} needs deletion vectors on a table with 'data-evolution.enabled'",
            hint="ALTER TABLE ... SET ('deletion-vectors.enabled' = 'true')",
        )


def _check_no_time_travel(store: TableStore) -> None:
    for option in _PAST:
        if store.options.raw.get(option.key) is not None:
            raise UnsupportedOperation(
                f"{store.name} is opened with {option.key!r}: a past version cannot be changed",
                hint=f"RESET the setting, or remove {option.key!r} from the hint",
                option=option.key,
            )
