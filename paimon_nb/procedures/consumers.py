"""Consumers: reset and clear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SnapshotNotFound
from paimon_nb.procedures.procedure import Argument, Context, Procedure, success, table_argument
from paimon_nb.table.write.maintenance import clear_consumers, delete_consumer, reset_consumer

if TYPE_CHECKING:
    import pyarrow as pa


def _reset_consumer(context: Context, table: str, consumer_id: str, next_snapshot_id: int | None) -> pa.Table:
    store = context.table(table).store
    if next_snapshot_id is None:
        delete_consumer(store, consumer_id)
    else:
        if next_snapshot_id >= 1 and next_snapshot_id not in store.snapshots.ids():
            raise SnapshotNotFound(
                f"{store.name} has no snapshot {next_snapshot_id}",
                hint="SELECT snapshot_id FROM t$snapshots lists them",
                snapshot=next_snapshot_id,
            )
        reset_consumer(store, consumer_id, next_snapshot_id)
    return success()


def _clear_consumers(
    context: Context, table: str, including_consumers: str | None, excluding_consumers: str | None
) -> pa.Table:
    clear_consumers(context.table(table).store, including_consumers, excluding_consumers)
    return success()


RESET_CONSUMER = Procedure(
    "reset_consumer",
    "Set a consumer's progress; without a snapshot delete the consumer.",
    (
        table_argument(),
        Argument("consumer_id", required=True, doc="name of the consumer", also=("consumerId",)),
        Argument("next_snapshot_id", "int", doc="the next snapshot to read", also=("nextSnapshotId",)),
    ),
    _reset_consumer,
)
CLEAR_CONSUMERS = Procedure(
    "clear_consumers",
    "Delete consumers by name.",
    (
        table_argument(),
        Argument("including_consumers", "regex", doc="regular expression", also=("includingConsumers",)),
        Argument("excluding_consumers", "regex", doc="regular expression", also=("excludingConsumers",)),
    ),
    _clear_consumers,
)
