"""Progress of the `consumer-id` of a job's tables: stored after each micro-batch, when its rows are committed.

Source: Paimon stores it when a checkpoint is complete (`flink/source/operator/ReadOperator`, `ConsumerAssigner`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.options.table import CONSUMER_ID
from paimon_nb.spark.errors import encode_raised_errors
from paimon_nb.table.read.stream import ConsumerRecord, StreamOffset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pyspark.sql import DataFrame

    from paimon_nb.session.streaming.planner import StreamInput


def recording_consumers(
    inputs: Iterable[StreamInput],
    offsets: Callable[[], list[Mapping[str, Any]]],
    store: Callable[[DataFrame, int], None],
) -> Callable[[DataFrame, int], None]:
    """`store`, which also records the progress of consumers afterwards; `store` itself if no table has a `consumer-id`.

    Args:
        offsets: the ends of the current micro-batch, one for each source of the query.
    """
    tables = [i.table.copy(i.ref.options).store for i in inputs if i.table is not None]
    records = {t.identity[:12]: ConsumerRecord(t) for t in tables if t.options.get(CONSUMER_ID) is not None}
    if not records:
        return store

    def store_and_record(batch: DataFrame, number: int) -> None:
        store(batch, number)
        with encode_raised_errors():
            for offset in offsets():
                record = records.get(str(offset.get("table")))
                if record is not None:
                    record.record_processed_before(StreamOffset.from_json(offset))

    return store_and_record
