"""The end of a streaming job whose source is bounded, as in Flink: the job finishes after the source's last row."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from paimon_nb.spark.runtime.jvm_bridge import end_offsets

if TYPE_CHECKING:
    from paimon_nb.connectors.api import Source
    from paimon_nb.session.streaming.planner import StreamPlan

_PAUSE_S = 0.1


def stop_after_last_row(plan: StreamPlan, running: Any) -> None:
    """Stop a query when it has processed the last row of its only source, if that is bounded.

    A query that emits windows as the watermark closes them continues: Spark would drop the windows that are still open.
    """
    sources = [i.source for i in plan.inputs if i.source is not None and i.source.bounded]
    if len(sources) == len(plan.inputs) == 1 and not plan.closing:
        threading.Thread(
            target=_stop_after_bounded_input, args=(sources[0], running), name="paimon-bounded", daemon=True
        ).start()


def _stop_after_bounded_input(source: Source, running: Any) -> None:
    offset = None
    with suppress(Exception):  # the query failed, or its JVM is gone: the job has the error
        while running.isActive:
            offset = _end_offset(running) or offset  # the report of an idle query has none
            if offset is not None and _is_idle(running) and source.is_read(offset):
                break
            time.sleep(_PAUSE_S)
        running.stop()


def _end_offset(running: Any) -> Any:
    """The offset of the only source after the last reported micro-batch; None if the report has none."""
    offsets = end_offsets(running)
    return json.loads(offsets[0] or "null") if len(offsets) == 1 else None


def _is_idle(running: Any) -> bool:
    status = running.status
    return not status["isTriggerActive"] and not status["isDataAvailable"]
