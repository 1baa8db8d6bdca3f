"""`jdbc`: reads a table of PostgreSQL, MySQL, MariaDB or SQLite through SQLAlchemy, as a batch or a bounded stream."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, SchemaMismatch, SourceUnavailable, StoreError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.override import override
from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.connectors.api import ConnectorTable, Source
from paimon_nb.format.types import DataField, DataType, Decimal, LocalZonedTimestamp, Time, Timestamp, arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from sqlalchemy import Select

_OPTIONS = (
    "url",
    "table-name",
    "driver",
    "username",
    "password",
    "connection.max-retry-timeout",
    "scan.fetch-size",
    "scan.auto-commit",
)
_PARTITION_OPTIONS = (
    "scan.partition.column",
    "scan.partition.num",
    "scan.partition.lower-bound",
    "scan.partition.upper-bound",
)
_DEFAULT_FETCH_SIZE = 10_000


class Jdbc(Source):
    """Options as in Flink. `scan.partition.*` sets the number of tasks; as in Flink, rows outside the bounds are not read."""

    bounded = True

    def __init__(self, definition: ConnectorTable) -> None:
        definition.check_options(*_OPTIONS, *_PARTITION_OPTIONS, patterns=["lookup.", "sink."])
        options = definition.options
        login = {"user": options.get("username"), "password": options.get("password")}
        database = Database.of(definition.require("url"), {f"jdbc.{k}": v for k, v in login.items() if v is not None})
        schema, _, table = definition.require("table-name").rpartition(".")
        fetch_size = definition.convert_option("scan.fetch-size", 0, int) or _DEFAULT_FETCH_SIZE
        self.scan = Scan(database, schema or None, table, definition.fields, *_scan_partitions(definition), fetch_size)

    def batch(self, spark: SparkSession) -> DataFrame:
        from paimon_nb.spark.errors import encode_errors_of_task
        from paimon_nb.spark.jobs.task_runner import frame_of_pickled_pieces, unpickle_pieces
        from paimon_nb.spark.types import spark_schema, task_batches

        scan, pieces = self.scan, range(self.scan.pieces)

        @encode_errors_of_task
        def read_partitions(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for partition in unpickle_pieces(batches):
                for rows in scan.batches(partition, partition + 1):
                    yield from task_batches(rows, scan.fields)

        return frame_of_pickled_pieces(spark, pieces, [1] * len(pieces)).mapInArrow(
            read_partitions, spark_schema(scan.fields)
        )

    @override
    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        from paimon_nb.connectors.datagen_source import generated_stream

        return generated_stream(spark, self.scan, self.scan.fields)


@dataclass(frozen=True, slots=True)
class Scan:
    """A table scan, split into numbered partitions. Pickled into tasks."""

    database: Database
    schema: str | None
    table: str
    fields: tuple[DataField, ...]
    partition_column: str | None
    bounds: tuple[tuple[int, int], ...]
    """First and last value of each partition. Without `partition_column`: one unused entry."""
    fetch_size: int
    """Maximum number of rows in memory."""

    @property
    def pieces(self) -> int:
        return len(self.bounds)

    def due(self, now_ms: int) -> int:
        """All partitions; they do not depend on the time."""
        return self.pieces

    def batches(self, start: int, stop: int) -> Iterator[pa.Table]:
        """The rows of the partitions `start` to `stop` - 1.

        Raises:
            SourceUnavailable: the database does not answer or rejects the query.
            SchemaMismatch: a value does not have the type of its column.
        """
        try:
            with self.database.transaction() as connection:
                for low, high in self.bounds[start:stop]:
                    found = connection.execution_options(yield_per=self.fetch_size).execute(
                        self._partition_query(low, high)
                    )
                    for rows in found.partitions():
                        yield self._rows_to_arrow(rows)
        except StoreError as error:
            reason = error.message.partition(" refused: ")[2]
            raise SourceUnavailable(
                f"{self.database.dialect} at {self.database.address} cannot read table {self.table!r}: {reason}",
                hint="check 'url', 'table-name', 'username', 'password' and the column names",
            ) from None

    def _partition_query(self, low: int, high: int) -> Select[*tuple[Any, ...]]:
        import sqlalchemy as sa

        query: Select[*tuple[Any, ...]] = sa.select(*(sa.column(f.name) for f in self.fields)).select_from(
            sa.table(self.table, schema=self.schema)
        )
        return (
            query if self.partition_column is None else query.where(sa.column(self.partition_column).between(low, high))
        )

    def _rows_to_arrow(self, rows: Sequence[Any]) -> pa.Table:
        columns = []
        for i, field in enumerate(self.fields):
            convert = _value_converter(field.type)
            try:
                values = [None if row[i] is None else convert(row[i]) for row in rows]
                columns.append(pa.array(values, arrow_type(field.type)))
            except (ValueError, TypeError, ArithmeticError, AttributeError, pa.ArrowInvalid) as error:
                raise SchemaMismatch(
                    f"column {field.name!r} of {self.table!r} has a value that is not {field.type}: {error}",
                    hint="declare the column with the type it has in the database",
                    column=field.name,
                ) from None
        return pa.table(columns, names=[f.name for f in self.fields])


def _scan_partitions(definition: ConnectorTable) -> tuple[str | None, tuple[tuple[int, int], ...]]:
    """The partition column and the bounds of each partition. Source: Flink `JdbcNumericBetweenParametersProvider`."""
    if not any(key in definition.options for key in _PARTITION_OPTIONS):
        return None, ((0, 0),)
    for key in _PARTITION_OPTIONS:
        definition.require(key)
    column = definition.options[_PARTITION_OPTIONS[0]]
    count, low, high = (definition.convert_option(key, 1, int) for key in _PARTITION_OPTIONS[1:])
    if column not in {f.name for f in definition.fields} or count < 1 or low > high:
        raise BadOptionValue(
            f"'scan.partition.*' are invalid: {count} partitions of {column!r} from {low} to {high}",
            hint="name a column of the table, at least one partition, and a lower bound that is not above the upper bound",
            option=_PARTITION_OPTIONS[0],
        )
    count = min(count, high - low + 1)
    edges = [low + (high - low + 1) * i // count for i in range(count + 1)]
    return column, tuple((a, b - 1) for a, b in itertools.pairwise(edges))


def _value_converter(t: DataType) -> Callable[[Any], Any]:
    """Converter from driver values to Arrow values. Drivers return booleans as numbers and times as timedeltas; SQLite returns text."""
    match t:
        case Decimal():
            return lambda v: Number(str(v)).quantize(Number(1).scaleb(-t.scale))
        case Timestamp():
            return lambda v: _to_utc_timestamp(v).replace(tzinfo=None)
        case LocalZonedTimestamp():
            return _to_utc_timestamp
        case Time():
            return _to_time
    converters: dict[str, Callable[[Any], Any]] = {
        "BOOLEAN": _to_boolean, "TINYINT": int, "SMALLINT": int, "INT": int, "BIGINT": int, "FLOAT": float, "DOUBLE": float,
        "CHAR": _to_text, "VARCHAR": _to_text, "BINARY": bytes, "VARBINARY": bytes, "DATE": _to_date,
    }  # fmt: skip
    return converters.get(t.root, lambda v: v)


def _to_boolean(value: Any) -> bool:
    return value != b"\0" if isinstance(value, bytes) else bool(value)  # BIT(1) of MySQL


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, dict | list) else str(value)


def _to_date(value: Any) -> dt.date:
    date: dt.date = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
    return date.date() if isinstance(date, dt.datetime) else date


def _to_utc_timestamp(value: Any) -> dt.datetime:
    """In UTC. A value without a time zone is interpreted as UTC."""
    timestamp: dt.datetime = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
    return timestamp.replace(tzinfo=dt.UTC) if timestamp.tzinfo is None else timestamp.astimezone(dt.UTC)


def _to_time(value: Any) -> dt.time:
    if isinstance(value, str):
        return dt.time.fromisoformat(value)
    return (dt.datetime(1970, 1, 1) + value).time() if isinstance(value, dt.timedelta) else value
