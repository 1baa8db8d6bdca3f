"""A streaming write of Spark Connect: the server runs the sink of each micro-batch, in a Python process without this package.

The sink is pickled, so it must not need this process: a session, its catalogs and their locks stay here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.options.write import SINK_SAVEPOINT_AUTO_TAG
from paimon_nb.spark.streaming.connect_source import unpickler_with_package
from paimon_nb.table.write.stream_committer import StreamCommitter

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from paimon_nb.table.read.store import TableStore


def sink_with_package(store: Callable[[DataFrame, int], None]) -> Callable[[Any, int], None]:
    """The function for `foreachBatch` that calls `store` in the server. It unpickles `store` at the first micro-batch."""
    from pyspark import cloudpickle

    dumps: Callable[[object], bytes] = cloudpickle.dumps
    packed, unpickle = dumps(store), unpickler_with_package()
    unpickled: list[Callable[[Any, int], None]] = []

    def store_in_server(batch: Any, number: int) -> None:
        if not unpickled:
            unpickled.append(unpickle(packed))
        unpickled[0](batch, number)

    return store_in_server


def check_commits_in_server(store: TableStore, *, ends: bool) -> None:
    """Check that all commits of a stream belong to micro-batches, as only those run in the server.

    Args:
        store: the stream's table.
        ends: the query ends when all available data is processed.

    Raises:
        UnsupportedOperation: an option asks for commits without rows, or for a tag after the last commit.
    """
    if store.options.get(SINK_SAVEPOINT_AUTO_TAG):
        _refuse(f"the tags that {SINK_SAVEPOINT_AUTO_TAG.key!r} of {store.name} asks for")
    if not ends and StreamCommitter.empty_checkpoint_may_commit(store):
        _refuse(
            f"full compactions, partition marks, tags or snapshots without rows, which options of {store.name} ask for,"
        )


def _refuse(what: str) -> None:
    raise UnsupportedOperation(
        f"with Spark Connect, a stream cannot do what follows its micro-batches: {what} need a Spark session in this process",
        hint="run the stream where the driver runs, or remove the option",
    )
