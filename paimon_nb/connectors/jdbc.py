"""`jdbc`: a table of PostgreSQL, MySQL, MariaDB or SQLite, read through SQLAlchemy: at once, or as a stream that comes to its end."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, SchemaMismatch, SourceUnavailable, StoreError
from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.connectors.api import Declared, Source
from paimon_nb.format.types import DataField, DataType, Decimal, LocalZonedTimestamp, Time, Timestamp, arrow_type

if TYPE_CHECKING:
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
_PARTED = ("scan.partition.column", "scan.partition.num", "scan.partition.lower-bound", "scan.partition.upper-bound")
_FETCH = 10_000


class Jdbc(Source):
    """Options as Flink's. With `scan.partition.*` so many tasks read, and rows outside the bounds are not read, as in Flink."""

    bounded = True

    def __init__(self, declared: Declared) -> None:
        declared.only(*_OPTIONS, *_PARTED, patterns=["lookup.", "sink."])
        url_options = declared.options
        login = {"user": url_options.get("username"), "password": url_options.get("password")}
        database = Database.of(declared.need("url"), {f"jdbc.{k}": v for k, v in login.items() if v is not None})
        schema, _, table = declared.need("table-name").rpartition(".")
        fetch = declared.parsed("scan.fetch-size", 0, int) or _FETCH
        self.scan = Scan(database, schema or None, table, declared.fields, *_parted(declared), fetch)

    def batch(self, spark: SparkSession) -> DataFrame:
        from paimon_nb.spark.errors import crossing_tasks
        from paimon_nb.spark.jobs.task_runner import pieces_of, work_frame
        from paimon_nb.spark.types import spark_schema, task_batches

        scan, pieces = self.scan, range(self.scan.pieces)

        @crossing_tasks
        def make(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for piece in pieces_of(batches):
                for rows in scan.batches(piece, piece + 1):
                    yield from task_batches(rows, scan.fields)

        return work_frame(spark, pieces, [1] * len(pieces)).mapInArrow(make, spark_schema(scan.fields))

    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        from paimon_nb.connectors.datagen_source import generated_stream

        return generated_stream(spark, self.scan, self.scan.fields)


@dataclass(frozen=True, slots=True)
class Scan:
    """What is read, in pieces by number. Pickled into tasks."""

    database: Database
    schema: str | None
    table: str
    fields: tuple[DataField, ...]
    parted_by: str | None
    bounds: tuple[tuple[int, int], ...]
    """First and last value of each piece; one that is not used without `parted_by`."""
    fetch: int
    """Rows that are held at a time."""

    @property
    def pieces(self) -> int:
        return len(self.bounds)

    def due(self, now_ms: int) -> int:
        """All pieces, at any time."""
        return self.pieces

    def batches(self, start: int, stop: int) -> Iterator[pa.Table]:
        """Raises SourceUnavailable: the database does not answer, or refuses. SchemaMismatch: a value is not of its column's type."""
        try:
            with self.database.transaction() as connection:
                for low, high in self.bounds[start:stop]:
                    found = connection.execution_options(yield_per=self.fetch).execute(self._query(low, high))
                    for rows in found.partitions():
                        yield self._arrow(rows)
        except StoreError as error:
            reason = error.message.partition(" refused: ")[2]
            raise SourceUnavailable(
                f"{self.database.dialect} at {self.database.address} does not give table {self.table!r}: {reason}",
                hint="check 'url', 'table-name', 'username', 'password' and the columns' names",
            ) from None

    def _query(self, low: int, high: int) -> Select[*tuple[Any, ...]]:
        import sqlalchemy as sa

        query: Select[*tuple[Any, ...]] = sa.select(*(sa.column(f.name) for f in self.fields)).select_from(
            sa.table(self.table, schema=self.schema)
        )
        return query if self.parted_by is None else query.where(sa.column(self.parted_by).between(low, high))

    def _arrow(self, rows: Sequence[Any]) -> pa.Table:
        columns = []
        for i, field in enumerate(self.fields):
            read = _reader(field.type)
            try:
                values = [None if row[i] is None else read(row[i]) for row in rows]
                columns.append(pa.array(values, arrow_type(field.type)))
            except (ValueError, TypeError, ArithmeticError, AttributeError, pa.ArrowInvalid) as error:
                raise SchemaMismatch(
                    f"column {field.name!r} of {self.table!r} holds what is no {field.type}: {error}",
                    hint="declare the column as the database has it",
                    column=field.name,
                ) from None
        return pa.table(columns, names=[f.name for f in self.fields])


def _parted(declared: Declared) -> tuple[str | None, tuple[tuple[int, int], ...]]:
    """The column, and the bounds of each piece. Source: Flink `JdbcNumericBetweenParametersProvider`."""
    if not any(key in declared.options for key in _PARTED):
        return None, ((0, 0),)
    for key in _PARTED:
        declared.need(key)
    column = declared.options[_PARTED[0]]
    count, low, high = (declared.parsed(key, 1, int) for key in _PARTED[1:])
    if column not in {f.name for f in declared.fields} or count < 1 or low > high:
        raise BadOptionValue(
            f"'scan.partition.*' ask for {count} parts of {column!r} from {low} to {high}",
            hint="name a column of the table, one part at least, and a lower bound below the upper",
            option=_PARTED[0],
        )
    count = min(count, high - low + 1)
    ends = [low + (high - low + 1) * i // count for i in range(count + 1)]
    return column, tuple((a, b - 1) for a, b in itertools.pairwise(ends))


def _reader(t: DataType) -> Callable[[Any], Any]:
    """Values as drivers give them to those that Arrow takes: they write booleans as numbers, times as spans, and SQLite texts."""
    match t:
        case Decimal():
            return lambda v: Number(str(v)).quantize(Number(1).scaleb(-t.scale))
        case Timestamp():
            return lambda v: _timestamp(v).replace(tzinfo=None)
        case LocalZonedTimestamp():
            return _timestamp
        case Time():
            return _time
    plain: dict[str, Callable[[Any], Any]] = {
        "BOOLEAN": _flag, "TINYINT": int, "SMALLINT": int, "INT": int, "BIGINT": int, "FLOAT": float, "DOUBLE": float,
        "CHAR": _text, "VARCHAR": _text, "BINARY": bytes, "VARBINARY": bytes, "DATE": _date,
    }  # fmt: skip
    return plain.get(t.root, lambda v: v)


def _flag(value: Any) -> bool:
    return value != b"\0" if isinstance(value, bytes) else bool(value)  # BIT(1) of MySQL


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, dict | list) else str(value)


def _date(value: Any) -> dt.date:
    parsed_time = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
    return parsed_time.date() if isinstance(parsed_time, dt.datetime) else parsed_time


def _timestamp(value: Any) -> dt.datetime:
    """In UTC; what has no zone is taken for UTC."""
    parsed_time = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
    return parsed_time.replace(tzinfo=dt.UTC) if parsed_time.tzinfo is None else parsed_time.astimezone(dt.UTC)


def _time(value: Any) -> dt.time:
    if isinstance(value, str):
        return dt.time.fromisoformat(value)
    return (dt.datetime(1970, 1, 1) + value).time() if isinstance(value, dt.timedelta) else value
