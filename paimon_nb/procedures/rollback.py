"""Rolling back: to a snapshot, a tag, a time, a watermark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SqlAnalysisError, TimeTravelError
from paimon_nb.procedures.procedure import Argument, Context, Procedure, commit_note, one_row, table_argument
from paimon_nb.table.write.maintenance import restore_as_latest, rollback_to_snapshot, rollback_to_tag
from paimon_nb.table.write.maintenance.tags import pick_snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.table.tables.table import Table


def _rollback_result(table: Table, rollback: Any) -> pa.Table:
    before = table.latest_snapshot()
    after = rollback()
    return one_row(previous_snapshot_id=before.id if before else None, current_snapshot_id=after.id)


def _rollback_to(context: Context, table: str, tag: str | None, snapshot_id: int | None) -> pa.Table:
    target = context.table(table)
    if (tag is None) == (snapshot_id is None):
        raise SqlAnalysisError("rollback_to needs a tag or a snapshot_id", hint=ROLLBACK_TO.usage)
    if tag is not None:
        return _rollback_result(target, lambda: rollback_to_tag(target.store, tag))
    assert snapshot_id is not None
    return _rollback_result(target, lambda: rollback_to_snapshot(target.store, snapshot_id))


def _arguments_by_kind(values: Sequence[Any]) -> dict[str, Any]:
    """Positional arguments by kind: a number is a snapshot id, text is a tag (docs/spec/merge-semantics.md section 13)."""
    out: dict[str, Any] = {"table": values[0]}
    for value in values[1:]:
        if value not in ("", None):
            out["snapshot_id" if isinstance(value, int) else "tag"] = value
    return out


def _rollback_to_version(
    context: Context, table: str, version: str | None, snapshot: int | None, tag: str | None
) -> pa.Table:
    target = context.table(table)
    if version is not None:
        if tag is not None or snapshot is not None:
            raise SqlAnalysisError("rollback takes one of version, snapshot and tag", hint=ROLLBACK.usage)
        if version in target.store.tags.names() or not version.isdecimal():
            tag = version
        else:
            snapshot = int(version)
    return _rollback_to(context, table, tag, snapshot)


def _rollback_to_timestamp(context: Context, table: str, timestamp: int) -> pa.Table:
    target = context.table(table)
    earlier = [s for s in target.store.snapshots.all() if s.time_ms <= timestamp]
    if not earlier:
        raise TimeTravelError(f"{table} has no snapshot at or before {timestamp}", hint="use a later time")
    return _rollback_result(target, lambda: rollback_to_snapshot(target.store, earlier[-1].id))


def _rollback_to_watermark(context: Context, table: str, watermark: int) -> pa.Table:
    target = context.table(table)
    earlier = [s for s in target.store.snapshots.all() if s.watermark is not None and s.watermark <= watermark]
    if not earlier:
        raise TimeTravelError(
            f"{table} has no snapshot with a watermark up to {watermark}", hint="use a larger watermark"
        )
    return _rollback_result(target, lambda: rollback_to_snapshot(target.store, earlier[-1].id))


def _rollback_to_as_latest(context: Context, table: str, tag: str | None, snapshot_id: int | None) -> pa.Table:
    target = context.table(table)
    if (tag is None) == (snapshot_id is None):
        raise SqlAnalysisError("rollback_to_as_latest needs a tag or a snapshot_id", hint=ROLLBACK_TO_AS_LATEST.usage)
    store, before = target.store, target.latest_snapshot()
    snapshot_to_restore = store.tags.get(tag).snapshot if tag is not None else pick_snapshot(store, snapshot_id)
    made = restore_as_latest(store, snapshot_to_restore)
    if made is None:
        context.notes.append(f"{target.name} is in that state already")
    else:
        commit_note(context, target, [made])
    after = target.latest_snapshot()
    return one_row(
        previous_snapshot_id=before.id if before else None,
        rolled_back_snapshot_id=snapshot_to_restore.id,
        current_snapshot_id=after.id if after else None,
    )


ROLLBACK_TO = Procedure(
    "rollback_to",
    "Roll back to a snapshot or tag; later snapshots are deleted.",
    (
        table_argument(),
        Argument("tag", doc="name of a tag"),
        Argument("snapshot_id", "int", doc="or the id of a snapshot", also=("snapshot",)),
    ),
    _rollback_to,
    _arguments_by_kind,
)
ROLLBACK = Procedure(
    "rollback",
    "Spark's name of rollback_to.",
    (
        table_argument(),
        Argument("version", doc="tag or snapshot id"),
        Argument("snapshot", "int", doc="or the id of a snapshot"),
        Argument("tag", doc="or the name of a tag"),
    ),
    _rollback_to_version,
)
ROLLBACK_TO_TIMESTAMP = Procedure(
    "rollback_to_timestamp",
    "Roll back to the last snapshot at or before a time.",
    (table_argument(), Argument("timestamp", "time", required=True, doc="epoch ms or local time")),
    _rollback_to_timestamp,
)
ROLLBACK_TO_WATERMARK = Procedure(
    "rollback_to_watermark",
    "Roll back to the last snapshot with at most this watermark.",
    (table_argument(), Argument("watermark", "int", required=True, doc="epoch ms")),
    _rollback_to_watermark,
)
ROLLBACK_TO_AS_LATEST = Procedure(
    "rollback_to_as_latest",
    "Commit the state of an earlier snapshot or tag as a new snapshot; nothing is deleted.",
    (
        table_argument(),
        Argument("tag", doc="name of a tag"),
        Argument("snapshot_id", "int", doc="or the id of a snapshot", also=("snapshot",)),
    ),
    _rollback_to_as_latest,
    _arguments_by_kind,
)
