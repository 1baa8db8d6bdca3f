"""Runs a query in an embedded DuckDB; its errors and large results are left to Spark."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from paimon_nb.session.query.local.instances import connection
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import IN_ZONE, TO_INSTANT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.session.query.local.instances import Connection

MAX_ROWS = 1_000_000
"""Rows of a result, at most: a larger one is left to Spark, which shows its first rows."""
_RELEASE = "2.0."
_INTERRUPT_S = 0.1
DISABLED = ("top_n",)
"""Optimizers that would change answers.

For ORDER BY with LIMIT it filters Parquet files by the values found so far. If each row of a file has the same value, the rows come out as NULL
(DuckDB 2.0.0).
"""
_WITH_ERRORS = (
    *DISABLED, "expression_rewriter", "statistics_propagation", "cte_filter_pusher", "aggregate_function_rewriter", "projection_pullup",
    "projection_placement", "scalar_fn_pushdown",
)  # fmt: skip
"""Optimizers that leave out expressions, and with them the errors that Spark reports: `-y <> 100` of the least number, `sum(y + 1)` as
`sum(y) + count(y)`, or rows of queries that are to be computed whole."""
_UTC = ("UTC", "Etc/UTC", "GMT", "Z")
_UNKNOWN_FROM_US = 2_114_380_800_000_000
"""The year 2037."""
_BATCH_ROWS = 1 << 17


def check_installed() -> None:
    """Raises NotLocal: the release of the engine whose answers are tested is not installed."""
    try:
        release = version("duckdb")
    except PackageNotFoundError:
        raise NotLocal("duckdb is not installed; pip install 'duckdb>=2.0,<2.1'") from None
    if not release.startswith(_RELEASE):
        raise NotLocal(f"duckdb {release} is installed; answers are tested with {_RELEASE}x")


def import_in_background() -> None:
    """Starts to import the engine in a thread, while the caller reads rows: a tenth of a second of a new process."""
    if "duckdb" not in sys.modules:
        threading.Thread(target=import_module, args=("duckdb",), name="paimon-nb-import").start()


def run_in_memory(
    sql: str,
    rows: Mapping[str, pa.Table | pa.RecordBatchReader],
    before: Sequence[str] = (),
    *,
    keep_errors: bool = True,
    zone: str = "UTC",
    masks: Mapping[str, bytes] | None = None,
) -> pa.Table:
    """The result of a query.

    Args:
        sql: the engine's SQL.
        rows: Arrow rows that the query reads, by name.
        before: statements that run first.
        keep_errors: whether all that is written must be computed, so that its errors are raised.
        zone: the session's time zone.
        masks: variables of bits that the query reads, by name.

    Raises:
        NotLocal: the engine raised an error, or the result is large.
    """
    import duckdb
    import pyarrow as pa

    # The engine runs in a thread, so that an interrupt of the notebook's cell reaches this one and ends it.
    pool = ThreadPoolExecutor(1, thread_name_prefix="paimon-nb-engine")
    try:
        with connection(_WITH_ERRORS if keep_errors else DISABLED) as used:
            for name, source in rows.items():
                used.duckdb.register(name, source)
            for name, bits in (masks or {}).items():
                used.duckdb.execute(f"SET VARIABLE {name} = CAST(CAST(? AS BLOB) AS BIT)", [bits])
            add_zone_functions(used, zone, "\n".join((sql, *before)))
            reading = pool.submit(_read_up_to_max_rows, used.duckdb, sql, before)
            try:
                return reading.result()
            except BaseException:
                reading.cancel()
                while not reading.done():  # it may not have begun when it is interrupted for the first time
                    used.duckdb.interrupt()
                    wait([reading], timeout=_INTERRUPT_S)
                raise
    except (duckdb.Error, pa.ArrowException, OSError) as error:  # Arrow's reader wraps the engine's errors
        raise NotLocal(f"the engine stopped: {str(error).splitlines()[0]}") from error
    finally:
        pool.shutdown()


def add_zone_functions(used: Connection, zone: str, text: str) -> None:
    """Adds those of the functions of the session's time zone that a text calls. A local time that does not exist is an error."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def check_year(times: Any) -> None:
        """Arrow knows no daylight saving time after the years that a zone lists one by one."""
        latest = pc.max(times.cast(pa.int64())).as_py()
        if zone not in _UTC and latest is not None and latest >= _UNKNOWN_FROM_US:
            raise ValueError(f"a time in {zone} after 2036")

    def in_zone(instants: Any) -> Any:  # the engine looks at annotations, and does not find Arrow's
        check_year(instants.cast(pa.timestamp("us", "UTC")))
        return pc.local_timestamp(instants.cast(pa.timestamp("us", zone)))

    def to_instant(local: Any) -> Any:
        check_year(local.cast(pa.timestamp("us")))
        return pc.assume_timezone(local.cast(pa.timestamp("us")), zone, ambiguous="earliest")

    for name, function, of, to in (
        (IN_ZONE, in_zone, "TIMESTAMPTZ", "TIMESTAMP"),
        (TO_INSTANT, to_instant, "TIMESTAMP", "TIMESTAMPTZ"),
    ):
        if f"{name}(" in text:
            used.is_reusable = False
            used.duckdb.create_function(name, function, [of], to, type="arrow")


def _read_up_to_max_rows(connection: Any, sql: str, before: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    for statement in before:
        connection.execute(statement).fetchall()
    reader = connection.sql(sql).to_arrow_reader(_BATCH_ROWS)
    batches, count = [], 0
    for batch in reader:
        batches.append(batch)
        count += batch.num_rows
        if count > MAX_ROWS:
            raise NotLocal(f"the result has more than {MAX_ROWS:,} rows")
    return pa.Table.from_batches(batches, reader.schema)
