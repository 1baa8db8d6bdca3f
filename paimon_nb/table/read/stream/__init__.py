"""Streaming reads of a table: start position, next snapshot, and its rows. Knows no Spark."""

from paimon_nb.table.read.stream.chain import check_incremental, followed_store
from paimon_nb.table.read.stream.consumer import ConsumerRecord, starts_at_consumer
from paimon_nb.table.read.stream.normalize import ChangelogNormalize, is_upsert_stream
from paimon_nb.table.read.stream.offset import StreamOffset
from paimon_nb.table.read.stream.planner import (
    Idle,
    StreamSplit,
    StreamStep,
    changelog_levels,
    check_not_rolled_back,
    newest_position,
    next_step,
    postponed_rows,
    read_piece,
    read_step,
    steps_between,
)
from paimon_nb.table.read.stream.start import (
    StartPositionFinder,
    check_streamable,
    first_position,
    snapshot_or_changelog,
    starts_full,
)
from paimon_nb.table.read.stream.stream import StreamBatch, TableStream

__all__ = [
    "ChangelogNormalize", "ConsumerRecord", "StartPositionFinder", "Idle", "StreamSplit", "StreamOffset", "StreamStep", "StreamBatch", "TableStream",
    "changelog_levels", "check_incremental", "check_not_rolled_back", "check_streamable", "first_position", "followed_store", "is_upsert_stream", "newest_position", "next_step", "postponed_rows", "read_piece", "read_step",
    "snapshot_or_changelog", "starts_at_consumer", "starts_full", "steps_between",
]  # fmt: skip
