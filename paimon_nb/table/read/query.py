"""A lazy read of a table: columns, a condition, a limit and a version, resolved when rows are read.

A query offers Arrow's C stream interface, so pyarrow, pandas, polars, DuckDB, ibis and nanoarrow read it without conversion code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.base.errors import BadOptionValue, ReaderConsumed
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.optional_packages import import_optional
from paimon_nb.format.schema import readable_fields
from paimon_nb.format.types.arrow_builders import arrow_schema

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Generator, Mapping, Sequence

    import pyarrow.compute as pc

    from paimon_nb.table.read import Predicate, ScanPlan, Split

PIECE_BYTES = 64 << 20
"""Bytes of decoded rows in memory at a time, about."""
_PIECE_BYTES_OF_LIMIT = 4 << 20
"""The same where a limit may end the read early."""
_PREVIEW_ROWS = 10


class Planned(Protocol):
    """A planned read."""

    @property
    def plan(self) -> ScanPlan: ...


class Scannable(Protocol):
    """What a query needs of a table."""

    name: Any

    def scan(
        self,
        where: str | Predicate | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        snapshot: int | str | None = None,
        tag: str | None = None,
        timestamp: int | str | dt.date | None = None,
    ) -> Planned: ...


class RecordBatches(Iterator[pa.RecordBatch]):
    """The record batches of one read, which also offer Arrow's C stream interface. A second loop over them raises an error.

    Args:
        name: the table, for the error.
        schema: the columns.
        batches: yields the record batches.
    """

    def __init__(self, name: Any, schema: pa.Schema, batches: Generator[pa.RecordBatch, None, None]) -> None:
        self.schema = schema
        self._name, self._batches, self._ended = name, batches, False

    def __iter__(self) -> RecordBatches:
        if self._ended:
            raise ReaderConsumed(
                f"{self._name}: these record batches were read already",
                hint="call to_batches() of the table or query again",
                name=str(self._name),
            )
        return self

    def __next__(self) -> pa.RecordBatch:
        try:
            return next(self._batches)
        except BaseException:
            self._ended = True
            raise

    def close(self) -> None:
        """End the read and close its files."""
        self._ended = True
        self._batches.close()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.RecordBatchReader.from_batches(self.schema, self).__arrow_c_stream__(requested_schema)


@dataclass(frozen=True, slots=True)
class TableQuery:
    """A lazy read of a table. Each method returns a new query; a query can be read many times.

    pyarrow, pandas, polars, DuckDB, ibis and nanoarrow read a query directly, through Arrow's C stream interface.

    Examples:
        >>> q = t.select("id", "price").where("price > 10").limit(5)
        >>> q.to_arrow().to_pylist()
        [{'id': 1, 'price': 20}, {'id': 2, 'price': 35}]
    """

    table: Scannable
    """The table that is read."""
    columns: tuple[str, ...] | None = None
    """Names in the order of the result; None: all columns."""
    condition: str | Predicate | None = None
    """The condition; None: all rows."""
    max_rows: int | None = None
    """The limit in rows; None: no limit."""
    version: tuple[tuple[str, Any], ...] = ()
    """One of `snapshot`, `tag`, `timestamp` with its value; empty: the latest snapshot."""
    options: tuple[tuple[str, Any], ...] = ()
    """Dynamic table options."""

    # -- building

    def select(self, *columns: str | Sequence[str]) -> TableQuery:
        """Select columns.

        Args:
            columns: column names in the order of the result, or one list of them.

        Returns:
            A query with these columns.

        Raises:
            ColumnNotFound: raised when rows are read; the hint has the nearest name.

        Examples:
            >>> t.select("state", "id").schema.names
            ['state', 'id']
        """
        if not columns:
            raise BadOptionValue("select() has no column", hint="select('id', 'price')", option="columns")
        names = [c for part in columns for c in ([part] if isinstance(part, str) else part)]
        return replace(self, columns=tuple(names))

    def where(self, condition: str | Predicate) -> TableQuery:
        """Filter rows. A second condition is combined with AND.

        Args:
            condition: SQL text such as `"id = 7 AND dt >= '2024-01-01'"`, or a `Predicate`.

        Returns:
            A query with the rows for which the condition is true.

        Raises:
            SqlSyntaxError: the text is not a condition. Raised when rows are read.

        Examples:
            >>> t.select("id").where("price < 30").where("state = 'new'").to_arrow().to_pylist()
            [{'id': 3}]
        """
        if self.condition is None:
            return replace(self, condition=condition)
        if isinstance(self.condition, str) and isinstance(condition, str):
            return replace(self, condition=f"({self.condition}) AND ({condition})")
        from paimon_nb.table.read import conjunction_of, parse_predicate

        plan = self.table.scan(options=dict(self.options) or None, **dict(self.version)).plan
        parts = [
            parse_predicate(part, plan.schema, session=plan.store.sql) if isinstance(part, str) else part
            for part in (self.condition, condition)
        ]
        return replace(self, condition=conjunction_of(parts))

    def limit(self, rows: int) -> TableQuery:
        """Limit the number of rows. Splits that are not needed are not read.

        Args:
            rows: maximum number of rows, 0 or more.

        Returns:
            A query with at most `rows` rows.

        Raises:
            BadOptionValue: not a number of rows.

        Examples:
            >>> t.select("id").limit(2).count()
            2
        """
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
            raise BadOptionValue(f"limit({rows!r}) is not a number of rows", hint="limit(100)", option="limit")
        return replace(self, max_rows=rows if self.max_rows is None else min(rows, self.max_rows))

    def at(
        self,
        *,
        snapshot: int | str | None = None,
        tag: str | None = None,
        timestamp: int | str | dt.date | None = None,
    ) -> TableQuery:
        """Read an earlier version of the table, with the schema of that version.

        Args:
            snapshot: a snapshot id.
            tag: a tag name.
            timestamp: epoch milliseconds, a datetime or date, or text in the local time zone.

        Returns:
            A query of that version.

        Raises:
            BadOptionValue: none or several of the three are given.

        Examples:
            >>> t.select("id", "state").at(tag="monday").to_arrow().to_pylist()
            [{'id': 1, 'state': 'new'}, {'id': 2, 'state': 'new'}]
        """
        version = {"snapshot": snapshot, "tag": tag, "timestamp": timestamp}
        named = tuple((k, v) for k, v in version.items() if v is not None)
        if len(named) != 1:
            raise BadOptionValue(
                "at() takes one of snapshot, tag and timestamp", hint="at(tag='v1')", option="snapshot"
            )
        return replace(self, version=named)

    # -- reading

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the rows. Reads metadata only."""
        return self._arrow_schema(self._plan_scan())

    def to_batches(self, *, batch_rows: int = BATCH_ROWS) -> RecordBatches:
        """Read the rows in record batches, in bounded memory: large splits are read and merged in ranges of keys.

        Files are open only while the iterator is. It can be used once: a second loop raises `ReaderConsumed`.

        Args:
            batch_rows: maximum number of rows in a batch.

        Returns:
            An iterator of `pyarrow.RecordBatch` with the columns of `schema`.

        Raises:
            SnapshotExpired: the snapshot expired while it was read. A tag or a consumer protects it.
        """
        plan = self._plan_scan()
        return RecordBatches(self.table.name, self._arrow_schema(plan), self._read_batches(plan, batch_rows))

    def to_reader(self, *, batch_rows: int = BATCH_ROWS) -> pa.RecordBatchReader:
        """Read the rows through a `pyarrow.RecordBatchReader`, which can be read once.

        Args:
            batch_rows: maximum number of rows in a batch.

        Returns:
            A reader with the columns of `schema`.
        """
        plan = self._plan_scan()
        return pa.RecordBatchReader.from_batches(self._arrow_schema(plan), self._read_batches(plan, batch_rows))

    def to_arrow(self) -> pa.Table:
        """Read all rows.

        Returns:
            A `pyarrow.Table` with the columns of `schema`.
        """
        return self.to_reader().read_all()

    def to_pandas(self, **options: object) -> Any:
        """Read all rows into pandas.

        Args:
            options: arguments of `pyarrow.Table.to_pandas`, such as `types_mapper`.

        Returns:
            A `pandas.DataFrame`.
        """
        return self.to_arrow().to_pandas(**options)

    def to_polars(self, *, lazy: bool = False) -> Any:
        """Read the rows into polars.

        Args:
            lazy: True returns a LazyFrame. Its columns, its limit and its conditions on integers, text and dates are
                pushed down to this query, where they leave out files.

        Returns:
            A `polars.DataFrame` or `polars.LazyFrame`.

        Raises:
            EnvironmentError_: polars is not installed.
        """
        polars = _import_library("polars")
        if not lazy:
            return polars.from_arrow(self.to_arrow())
        from polars.io.plugins import register_io_source

        from paimon_nb.table.read.polars_condition import pushed_polars_condition

        plan = self._plan_scan()
        empty = polars.from_arrow(self._arrow_schema(plan).empty_table())

        def read_for_polars(
            columns: list[str] | None, condition: Any, rows: int | None, batch_rows: int | None
        ) -> Iterator[Any]:
            query = self if columns is None else self.select(columns)
            # A limit counts rows before the filter, that of this query and that of polars.
            limited = rows is not None or self.max_rows is not None
            pushed = None if limited else pushed_polars_condition(condition, plan.schema)
            query = query if pushed is None else query.where(pushed)
            query = query if rows is None else query.limit(rows)
            for batch in query.to_batches(batch_rows=batch_rows or BATCH_ROWS):
                frame = polars.from_arrow(batch)
                yield frame if condition is None else frame.filter(condition)

        return register_io_source(io_source=read_for_polars, schema=empty.schema)

    def to_duckdb(self, connection: Any = None) -> Any:
        """Offer the rows to DuckDB, which reads the columns that it needs and leaves out files by its conditions.

        Args:
            connection: a DuckDB connection; None: the default connection.

        Returns:
            A `duckdb.DuckDBPyRelation`. Each use of it reads the table.

        Raises:
            EnvironmentError_: duckdb is not installed.
        """
        return (connection or _import_library("duckdb")).from_arrow(self.to_dataset())

    def scanner(
        self,
        columns: Sequence[str] | None = None,
        filter: str | Predicate | pc.Expression | None = None,
        *,
        batch_rows: int = BATCH_ROWS,
    ) -> Any:
        """Read the rows through a scanner of `pyarrow.dataset`, which can be read once.

        Args:
            columns: names in the order of the result; None: the columns of this query.
            filter: a condition as in `where`, or an expression of Arrow. What Paimon understands of it leaves out files.
            batch_rows: maximum number of rows in a batch.

        Returns:
            A `pyarrow.dataset.Scanner`.

        Examples:
            >>> t.scanner(columns=["id"], filter="price > 10").to_table().num_rows
            2
        """
        import pyarrow.compute as pc
        import pyarrow.dataset as ds

        if isinstance(filter, pc.Expression):
            return self._filtered_scanner(columns, filter, batch_rows)
        query = self if columns is None else self.select(columns)
        query = query if filter is None else query.where(filter)
        return ds.Scanner.from_batches(query.to_reader(batch_rows=batch_rows))

    def _filtered_scanner(self, columns: Sequence[str] | None, filter: pc.Expression, batch_rows: int) -> Any:
        import pyarrow.dataset as ds

        from paimon_nb.table.read.arrow_condition import filter_columns, pushed_arrow_condition

        plan = self._plan_scan()
        names = self._arrow_schema(plan).names
        result = names if columns is None else list(columns)
        filtered = filter_columns(filter, names)
        query = self if filtered is None else self.select([*result, *(n for n in filtered if n not in result)])
        # A limit counts rows before the filter.
        pushed = None if self.max_rows is not None else pushed_arrow_condition(filter, plan.schema)
        query = query if pushed is None else query.where(pushed)
        return ds.Scanner.from_batches(query.to_reader(batch_rows=batch_rows), columns=result, filter=filter)

    def to_dataset(self) -> Any:
        """Offer the rows as a dataset of pyarrow, into which engines push columns and conditions: DuckDB, polars, Daft.

        Returns:
            A `pyarrow.dataset.Dataset`. Each scan reads the version that is the latest then, unless this query has one.

        Examples:
            >>> import pyarrow.compute as pc
            >>> t.to_dataset().to_table(columns=["id"], filter=pc.field("price") > 10).num_rows
            2
        """
        from paimon_nb.table.read.arrow_dataset import TableDataset

        return TableDataset(self)

    def to_torch(self, *, batch_rows: int = 1024) -> Any:
        """Read the rows through a dataset of PyTorch. The snapshot is fixed by this call.

        With workers of a `DataLoader` (`batch_size=None`) each reads a part of the splits.

        Args:
            batch_rows: maximum number of rows in a batch.

        Returns:
            A `torch.utils.data.IterableDataset` of dictionaries: a tensor for each column of numbers or booleans without
            NULL, a list for any other column. Its `state_dict()` has the snapshot and the position after the last batch;
            after `load_state_dict(state)` an iteration continues there, whatever was written meanwhile. With workers, the
            `StatefulDataLoader` of torchdata stores the state of each. A tag keeps the snapshot from expiring.

        Raises:
            EnvironmentError_: torch is not installed.
        """
        _import_library("torch")
        from paimon_nb.table.read.resumable_read import ResumableRead
        from paimon_nb.table.read.torch_dataset import torch_dataset

        return torch_dataset(ResumableRead(self, self._plan_scan(), batch_rows))

    def to_ray(self) -> Any:
        """Read the rows into Ray.

        Returns:
            A `ray.data.Dataset`.

        Raises:
            EnvironmentError_: ray is not installed.
        """
        return _import_library("ray.data", "ray[data]").from_arrow(self.to_arrow())

    def to_daft(self) -> Any:
        """Read the rows into Daft.

        Returns:
            A `daft.DataFrame`.

        Raises:
            EnvironmentError_: daft is not installed.
        """
        return _import_library("daft").from_arrow(self.to_arrow())

    def count(self) -> int:
        """Count the rows. Uses only metadata if no condition and no merge is needed.

        Returns:
            The number of rows.

        Examples:
            >>> t.select("state").where("state = 'new'").count()
            2
        """
        plan = self._plan_scan()
        if self.condition is None and all(map(_counts_exactly, plan.splits)) and not plan.store.skips_unreadable_files:
            rows = sum(
                s.row_count - sum(v.cardinality or 0 for v in (s.deletion_vectors or {}).values()) for s in plan.splits
            )
        else:
            first = [f.name for f in readable_fields(plan.schema)[:1]]
            rows = sum(
                b.num_rows for b in replace(self, columns=tuple(first), max_rows=None)._read_batches(plan, BATCH_ROWS)
            )
        return rows if self.max_rows is None else min(rows, self.max_rows)

    def head(self, rows: int = 5) -> pa.Table:
        """Read some rows. Their order is not defined.

        Args:
            rows: maximum number of rows.

        Returns:
            A `pyarrow.Table` with the columns of `schema`.
        """
        return self.limit(rows).to_arrow()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    # -- showing

    def __repr__(self) -> str:
        parts = [f"TableQuery({self.table.name}"]
        if self.columns is not None:
            parts.append(f"select {', '.join(self.columns)}")
        if self.condition is not None:
            parts.append(f"where {self.condition}")
        parts += [f"at {k} {v!r}" for k, v in self.version]
        if self.max_rows is not None:
            parts.append(f"limit {self.max_rows}")
        return ", ".join(parts) + ")"

    def _repr_html_(self) -> str:
        schema, rows = self.schema, self.head(_PREVIEW_ROWS).to_pylist()
        head = "".join(f"<th>{escape(f.name)}<br><small>{escape(str(f.type))}</small></th>" for f in schema)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(str(row[f.name])[:200])}</td>" for f in schema) + "</tr>" for row in rows
        )
        return (
            f"<table><caption>{escape(repr(self))}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    # -- inside

    def _plan_scan(self) -> ScanPlan:
        return self.table.scan(self.condition, options=dict(self.options) or None, **dict(self.version)).plan

    def _column_names(self, plan: ScanPlan) -> list[str] | None:
        return None if self.columns is None else [plan.schema.column_name(c) for c in self.columns]

    def _arrow_schema(self, plan: ScanPlan) -> pa.Schema:
        names = self._column_names(plan)
        fields = plan.schema.fields if names is None else [plan.schema.field(n) for n in names]
        return arrow_schema(fields, nullable=True)

    def plan_at(self, snapshot: int) -> ScanPlan:
        """The plan of this query in another snapshot.

        Args:
            snapshot: its id.

        Returns:
            The plan.
        """
        return self.at(snapshot=snapshot)._plan_scan()

    def batches_of(self, plan: ScanPlan, splits: Sequence[Split], batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Record batches of some splits of a plan of this query.

        Args:
            plan: the plan.
            splits: of its splits, the ones to read.
            batch_rows: maximum number of rows in a batch.

        Returns:
            An iterator of record batches.
        """
        return self._read_batches(replace_splits(plan, splits), batch_rows)

    def _read_batches(self, plan: ScanPlan, batch_rows: int) -> Generator[pa.RecordBatch, None, None]:
        if not isinstance(batch_rows, int) or batch_rows < 1:
            raise BadOptionValue(f"batch_rows cannot be {batch_rows!r}", hint="at least 1", option="batch_rows")
        return self._batches_of_plan(plan, batch_rows)

    def _batches_of_plan(self, plan: ScanPlan, batch_rows: int) -> Generator[pa.RecordBatch, None, None]:
        from paimon_nb.table.read import iter_split

        names, left = self._column_names(plan), self.max_rows
        piece_bytes = PIECE_BYTES if left is None else _PIECE_BYTES_OF_LIMIT
        # A query without columns still has as many rows as the table: one column is read, and then left out.
        read_for_polars = [f.name for f in readable_fields(plan.schema)[:1]] if names == [] else names
        for split in plan.splits:
            if left == 0:
                return
            with closing(
                iter_split(plan.store, split, read_for_polars, plan.predicate, piece_bytes=piece_bytes)
            ) as pieces:
                for rows in pieces:
                    rows = rows if left is None else rows.slice(0, left)
                    left = None if left is None else left - rows.num_rows
                    yield from (rows.select([]) if names == [] else rows).to_batches(max_chunksize=batch_rows)
                    if left == 0:
                        return


def _counts_exactly(split: Split) -> bool:
    """Whether a split has as many rows as its files say, less those that deletion vectors mark."""
    known = all(v.cardinality is not None for v in (split.deletion_vectors or {}).values())
    return split.raw and not split.changes and not split.diff and known


def replace_splits(plan: ScanPlan, splits: Sequence[Split]) -> ScanPlan:
    """The plan with some of its splits."""
    return replace(plan, splits=tuple(splits))


def _import_library(name: str, package: str | None = None) -> Any:
    package = package or name
    return import_optional(name, f"{package} is not installed", install=package, package=package)
