"""Which streaming INSERTs a Spark Connect server can run: it has the query as a streaming DataFrame, and a sink of its rows.

The server runs no query of ours for a micro-batch: the session and its catalogs stay in this process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.options.table import CONSUMER_ID, CONSUMER_MODE
from paimon_nb.session.streaming.planner import StreamMode
from paimon_nb.session.streaming.sinks import TableOutput
from paimon_nb.spark.streaming.connect_sink import check_commits_in_server

if TYPE_CHECKING:
    from paimon_nb.session.streaming.planner import StreamInput, StreamPlan
    from paimon_nb.session.streaming.sinks import Output
    from paimon_nb.statements import Query


def check_runs_in_server(plan: StreamPlan, query: Query, output: Output) -> TableOutput:
    """The output of a stream that a server can run.

    Raises:
        UnsupportedOperation: the stream needs a Spark session in this process; the message says for what.
    """
    if not isinstance(output, TableOutput):
        raise _needs_driver("a stream into anything but a Paimon table")
    check_commits_in_server(output.table.store, ends=False)
    if any(i.watermarked for i in plan.inputs):
        raise _needs_driver("a streaming INSERT from a table with a watermark, which its snapshots record,")
    if plan.mode is StreamMode.STATEFUL:
        if plan.grouped and output.merges:
            raise _needs_driver("a streaming INSERT that retracts the earlier results of a group")
        return output
    (only,) = plan.inputs
    if any(ref.lookup or ref.parts != only.ref.parts for ref in query.tables):
        raise _needs_driver("a streaming INSERT that joins or looks up tables, or reads a view,")
    if only.is_upsert and output.takes_update_before:
        raise _needs_driver("a streaming INSERT that looks up replaced rows (changelog-producer 'none')")
    if _records_watermarks_of(only):
        raise _needs_driver("a streaming INSERT that passes on the watermarks of its consumer's snapshots")
    return output


def _records_watermarks_of(only: StreamInput) -> bool:
    """Whether the stream's snapshots have the watermarks of the snapshots that it reads."""
    if only.table is None:
        return False
    options = only.table.copy(only.ref.options).options
    return options.get(CONSUMER_ID) is not None and options.get(CONSUMER_MODE) == "exactly-once"


def _needs_driver(what: str) -> UnsupportedOperation:
    return UnsupportedOperation(
        f"{what} needs a Spark session in this process",
        hint="with Spark Connect, write with INSERT INTO in batch mode or df.write; or run the stream where the driver runs",
    )
