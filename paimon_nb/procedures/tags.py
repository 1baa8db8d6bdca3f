"""Tags: create, delete, rename, replace, expire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.errors import TimeTravelError
from paimon_nb.procedures.procedure import Argument, Context, Procedure, success, table_argument
from paimon_nb.table.write.maintenance import create_tag, delete_tags, expire_tags, rename_tag, replace_tag
from paimon_nb.table.write.maintenance.auto_tags import create_due_tags

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

_TAG = Argument("tag", required=True, doc="name of the tag", also=("tagName",))
_SNAPSHOT = Argument("snapshot", "int", doc="snapshot id; the latest if absent", also=("snapshot_id",))
_RETAINED = Argument("time_retained", "span", doc="retention time of the tag, such as '7 d'")


def _create_tag(context: Context, table: str, tag: str, snapshot: int | None, time_retained: int | None) -> pa.Table:
    create_tag(context.table(table).store, tag, snapshot, retained_ms=time_retained)
    return success()


def _create_from_timestamp(
    context: Context, table: str, tag: str, timestamp: int, time_retained: int | None
) -> pa.Table:
    store = context.table(table).store
    later = [s for s in _retained_snapshots(store) if s.time_ms >= timestamp]
    if not later:
        raise TimeTravelError(f"{table} has no snapshot at or after {timestamp}", hint="use an earlier time")
    return _create_tag_of(store, tag, min(later, key=lambda s: (s.time_ms, s.id)), time_retained)


def _create_from_watermark(
    context: Context, table: str, tag: str, watermark: int, time_retained: int | None
) -> pa.Table:
    store = context.table(table).store
    later = [s for s in _retained_snapshots(store) if s.watermark is not None and s.watermark >= watermark]
    if not later:
        raise TimeTravelError(
            f"{table} has no snapshot with a watermark of {watermark} or more", hint="use a smaller watermark"
        )
    return _create_tag_of(store, tag, min(later, key=lambda s: (s.watermark, s.id)), time_retained)


def _retained_snapshots(store: TableStore) -> list[Snapshot]:
    """All snapshots, and expired ones that a tag retains."""
    live = store.snapshots.all()
    live_ids = {s.id for s in live}
    tagged = (store.tags.get(name).snapshot for name in store.tags.names())
    return [*live, *(s for s in tagged if s.id not in live_ids)]


def _create_tag_of(store: TableStore, tag: str, snapshot: Snapshot, time_retained: int | None) -> pa.Table:
    create_tag(store, tag, snapshot.id, retained_ms=time_retained)
    watermark = "null" if snapshot.watermark is None else str(snapshot.watermark)  # a text, as in Flink
    return pa.table(
        {"tagName": [tag], "snapshot": [snapshot.id], "commit_time": [snapshot.time_ms], "watermark": [watermark]}
    )


def _delete_tags(context: Context, table: str, tag: str) -> pa.Table:
    store = context.table(table).store
    known = store.tags.names()
    names = list(dict.fromkeys(n.strip() for n in tag.split(",")))
    if missing := [name for name in names if name not in known]:
        store.check_identity()  # a table that was moved meanwhile has no tags at its old path
        # A tag that is not there is not an error in Java.
        context.notes += [f"{store.name} has no tag {name}" for name in missing]
    delete_tags(store, [name for name in names if name in known])
    return success()


def _rename_tag(context: Context, table: str, tag: str, target_tag: str) -> pa.Table:
    rename_tag(context.table(table).store, tag, target_tag)
    return success()


def _replace_tag(context: Context, table: str, tag: str, snapshot: int | None, time_retained: int | None) -> pa.Table:
    replace_tag(context.table(table).store, tag, snapshot, retained_ms=time_retained)
    return success()


def _expire_tags(context: Context, table: str, older_than: int | None) -> pa.Table:
    expired = expire_tags(context.table(table).store, older_than)
    return pa.table({"expired_tags": pa.array(expired or ["No expired tags."], pa.string())})


def _create_due_tags(context: Context, table: str) -> pa.Table:
    created = create_due_tags(context.table(table).store)
    context.notes.append(f"created: {', '.join(created)}" if created else "no automatic tag is due")
    return success()


CREATE_TAG = Procedure(
    "create_tag", "Create a tag for a snapshot.", (table_argument(), _TAG, _SNAPSHOT, _RETAINED), _create_tag
)
CREATE_TAG_FROM_TIMESTAMP = Procedure(
    "create_tag_from_timestamp",
    "Tag the first snapshot at or after a time.",
    (table_argument(), _TAG, Argument("timestamp", "time", required=True, doc="epoch ms or local time"), _RETAINED),
    _create_from_timestamp,
)
CREATE_TAG_FROM_WATERMARK = Procedure(
    "create_tag_from_watermark",
    "Tag the first snapshot with at least this watermark.",
    (table_argument(), _TAG, Argument("watermark", "int", required=True, doc="epoch ms"), _RETAINED),
    _create_from_watermark,
)
DELETE_TAG = Procedure(
    "delete_tag", "Delete tags; separate several with commas.", (table_argument(), _TAG), _delete_tags
)
RENAME_TAG = Procedure(
    "rename_tag",
    "Rename a tag.",
    (table_argument(), _TAG, Argument("target_tag", required=True, doc="the new name", also=("targetTagName",))),
    _rename_tag,
)
REPLACE_TAG = Procedure(
    "replace_tag", "Move a tag to another snapshot.", (table_argument(), _TAG, _SNAPSHOT, _RETAINED), _replace_tag
)
EXPIRE_TAGS = Procedure(
    "expire_tags",
    "Delete tags whose retention time is over.",
    (table_argument(), Argument("older_than", "time", doc="only tags created before this time")),
    _expire_tags,
)
TRIGGER_TAG_AUTOMATIC_CREATION = Procedure(
    "trigger_tag_automatic_creation",
    "Create due automatic tags without waiting for a commit.",
    (table_argument(),),
    _create_due_tags,
)
