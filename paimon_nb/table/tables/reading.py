"""The part of the table handle that reads: scans, lazy queries, point lookups, differences and streams. Needs no Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.schema import readable_fields
from paimon_nb.table.tables.handle import TableHandle, TimestampLike

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    import pyarrow.compute as pc

    from paimon_nb.format.data.blob import BlobStream
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.read import PointLookup, Predicate, ScanPlan
    from paimon_nb.table.read.query import RecordBatches, TableQuery
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.read.stream import StreamOffset, TableStream


@dataclass(frozen=True, slots=True)
class Scan:
    """A planned read.

    Attributes:
        store: the table's metadata; `plan.store` has the schema that the rows come in.
        plan: the files to read, as splits, and a report of the files that were left out.
    """

    store: TableStore
    plan: ScanPlan

    def __repr__(self) -> str:
        return f"<Scan of {self.store.name}: {self.plan!r}>"


class ReadableTable(TableHandle):
    """A table whose rows can be read."""

    _finder: PointLookup | None = None

    def scan(
        self,
        where: str | Predicate | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        snapshot: int | str | None = None,
        tag: str | None = None,
        timestamp: TimestampLike | None = None,
    ) -> Scan:
        """Plan a read: which files, in which splits, and which files are left out and why. Reads metadata only.

        Args:
            where: SQL text such as `"id = 7 AND day >= '2024-01-01'"`, or a predicate; None is all rows.
            options: dynamic table options; they keep the latest schema.
            snapshot: read this snapshot, by id (or a tag's name).
            tag: read the snapshot of this tag.
            timestamp: read the last snapshot at or before this time: epoch milliseconds, a datetime, a date, or text such as
                `'2024-01-31 12:00:00'` in the local time zone.

        Returns:
            The plan. `read_plan` of `paimon_nb.table.read` reads it.

        Raises:
            SqlSyntaxError: `where` cannot be parsed.
            ColumnNotFound: `where` names a column that the table does not have.
            TimeTravelError: the snapshot does not exist.

        Examples:
            >>> len(t.scan("id = 3").plan.splits)
            1
        """
        from paimon_nb.table.read import plan_scan
        from paimon_nb.table.read.partition_choice import for_queries

        store = for_queries(self._store_at(options, snapshot, tag, timestamp))
        plan = plan_scan(store, where=where) if isinstance(where, str) else plan_scan(store, where)
        if plan.snapshot is None:
            self.store.check_identity()  # a dropped table has no snapshot either, and is not empty
        return Scan(plan.store, plan)

    def to_arrow(
        self,
        columns: Sequence[str] | None = None,
        where: str | Predicate | None = None,
        *,
        snapshot: int | str | None = None,
        tag: str | None = None,
        timestamp: TimestampLike | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> pa.Table:
        """The table's rows, read in this process.

        A past snapshot is read with its own schema. Use at most one of `snapshot`, `tag` and `timestamp`.

        Args:
            columns: names of the columns, in the order of the result; None is all. Tables with row tracking also have
                `_ROW_ID` and `_SEQUENCE_NUMBER`.
            where: SQL text such as `"id = 7 AND day >= '2024-01-01'"`, or a predicate; None is all rows. A condition on
                `_ROW_ID` skips files.
            snapshot: read this snapshot, by id (or a tag's name).
            tag: read the snapshot of this tag.
            timestamp: read the last snapshot at or before this time: epoch milliseconds, a datetime, a date, or text such as
                `'2024-01-31 12:00:00'` in the local time zone.
            options: dynamic table options such as `{"incremental-between": "1,5"}`; they keep the latest schema.

        Returns:
            An Arrow table with the chosen columns. The order of rows is not defined.

        Raises:
            TimeTravelError: the snapshot does not exist.
            SnapshotExpired: the snapshot existed and has expired.
            TagNotFound: the tag does not exist.
            ColumnNotFound: a column does not exist.
            SqlSyntaxError: `where` cannot be parsed.
            FormatError: a file is broken or missing.

        Examples:
            >>> t.to_arrow(where="id = 1").to_pylist()
            [{'id': 1, 'state': 'paid', 'price': 20}]
            >>> t.to_arrow(["state"], where="id = 1", tag="monday").to_pylist()
            [{'state': 'new'}]
        """
        from paimon_nb.table.read import read_plan

        if not self.store.has_keys:
            from paimon_nb.table.read.split.row_tracking import names_row_ids

            if names_row_ids(self.store, columns, where):
                from paimon_nb.table.read.row_id_reads import read_with_row_ids

                return read_with_row_ids(self._store_at(options, snapshot, tag, timestamp), columns, where)
        plan = self.scan(where, options=options, snapshot=snapshot, tag=tag, timestamp=timestamp).plan
        if columns is not None and not columns:  # no columns, but the right number of rows
            return read_plan(plan, [f.name for f in readable_fields(plan.schema)[:1]]).select([])
        return read_plan(plan, None if columns is None else [plan.schema.column_name(c) for c in columns])

    def search(
        self,
        vector: Sequence[float],
        k: int = 10,
        *,
        column: str | None = None,
        where: str | Predicate | None = None,
        columns: Sequence[str] | None = None,
        metric: str | None = None,
        options: Mapping[str, Any] | None = None,
        snapshot: int | str | None = None,
        tag: str | None = None,
        timestamp: TimestampLike | None = None,
    ) -> pa.Table:
        """The rows whose vectors are nearest to a vector: by the column's vector index where there is one, else exact.

        An index (`CALL sys.create_global_index`, extra `vector`) names candidates; only these and the rows that it does not
        cover are read and compared. `table.copy({"global-index.enabled": "false"})` compares all rows.

        Args:
            vector: the query, with as many numbers as the stored vectors have.
            k: maximum number of rows.
            column: the VECTOR or ARRAY column to search in; None is the only VECTOR column.
            where: only rows that match are compared: SQL text such as `"price < 10"`, or a predicate; None is all rows.
            columns: names of the columns, in the order of the result; None is all.
            metric: `l2`, `cosine` or `inner_product`. None is the metric of the column's index, else that of the table's
                options (`fields.<column>.distance.metric`), else `l2`. An index of another metric is not used.
            options: how an index is searched: `ivf.nprobe` clusters, `diskann.l_search` candidates,
                `ivf.refine_factor` times `k` candidates.
            snapshot: search in this snapshot, by id (or a tag's name).
            tag: search in the snapshot of this tag.
            timestamp: search in the last snapshot at or before this time, as in `to_arrow`.

        Returns:
            An Arrow table, the nearest row first. Its last column `__paimon_search_score` is a FLOAT, higher for nearer
            vectors: `1 / (1 + squared distance)` for `l2`, the cosine or the inner product. Rows without a vector are
            left out. `schema.metadata[b"paimon_nb.search"]` says how the rows were found.

        Raises:
            ColumnNotFound: a column does not exist, or the table has not exactly one VECTOR column.
            SchemaMismatch: the column has no vectors of numbers, or they have another length than the query.
            BadOptionValue: the metric is not known, an option has no number, or `k` is less than 1.
            SqlSyntaxError: `where` cannot be parsed.
            TimeTravelError: the snapshot does not exist.
            FormatError: an index file is broken, missing or of another version.

        Examples:
            >>> docs = wb.create_table("docs", pa.table({"id": [1, 2, 3], "v": pa.array([[0, 0], [3, 4], [1, 0]], pa.list_(pa.float32(), 2))}))
            >>> docs.search([0, 0], k=2, columns=["id"]).to_pylist()
            [{'id': 1, '__paimon_search_score': 1.0}, {'id': 3, '__paimon_search_score': 0.5}]
        """
        from paimon_nb.table.read.vector_search import search_vectors, vector_column

        plan = self.scan(where, snapshot=snapshot, tag=tag, timestamp=timestamp).plan
        name = None if column is None else plan.schema.column_name(column)
        field = vector_column(plan.schema, name)
        return search_vectors(plan, field, vector, k, metric, _names(plan.schema, columns), options or {})

    def full_text_search(
        self,
        query: str | Mapping[str, Any],
        k: int = 10,
        *,
        column: str | None = None,
        where: str | Predicate | None = None,
        columns: Sequence[str] | None = None,
        snapshot: int | str | None = None,
        tag: str | None = None,
        timestamp: TimestampLike | None = None,
    ) -> pa.Table:
        """The rows whose texts match words best, ranked by BM25: by the column's full-text index, and by one in memory for other rows.

        Needs the extra `fulltext`. `CALL sys.create_global_index(..., index_type => 'full-text')` builds the index.

        Args:
            query: words of which any may match, or Paimon's JSON as text or a dict, such as
                `{"match": {"query": "lake format", "operator": "And"}}` or `{"match_phrase": {"query": "lake format"}}`.
            k: maximum number of rows.
            column: the text column to search in; None is the only one.
            where: only rows that match are searched: SQL text such as `"price < 10"`, or a predicate; None is all rows.
            columns: names of the columns, in the order of the result; None is all.
            snapshot: search in this snapshot, by id (or a tag's name).
            tag: search in the snapshot of this tag.
            timestamp: search in the last snapshot at or before this time, as in `to_arrow`.

        Returns:
            An Arrow table of the rows that match, the best first. Its last column `__paimon_search_score` is a FLOAT, higher
            for better matches of this query. `schema.metadata[b"paimon_nb.search"]` says how the rows were found.

        Raises:
            ColumnNotFound: a column does not exist, or the table has not exactly one text column.
            SchemaMismatch: the column has no texts.
            BadOptionValue: the query is wrong, or `k` is less than 1.
            EnvironmentError_: the extra `fulltext` is not installed.
            SqlSyntaxError: `where` cannot be parsed.
            TimeTravelError: the snapshot does not exist.
            FormatError: an index file is broken or missing.

        Examples:
            >>> notes = wb.create_table("notes", pa.table({"id": [1, 2], "text": ["a lake house", "running shoes"]}))
            >>> notes.full_text_search("runs", columns=["id"]).column("id").to_pylist()
            [2]
        """
        from paimon_nb.table.read.text_search import best_texts, text_column

        plan = self.scan(where, snapshot=snapshot, tag=tag, timestamp=timestamp).plan
        return best_texts(plan, text_column(plan.schema, column), query, k, _names(plan.schema, columns))

    def open_blob(self, descriptor: bytes) -> BlobStream:
        """Open a value of a BLOB column as a file, without reading all of it.

        Args:
            descriptor: what a read with the option `blob-as-descriptor` returns for the value.

        Returns:
            A seekable binary file; close it, or use it in a `with` statement.

        Raises:
            BadOptionValue: other bytes than a descriptor.
            MissingFile: the file of the value was deleted.
            OutsideWarehouse: the value is in a location that the catalog does not allow.

        Examples:
            >>> media = wb.table("pictures").copy({"blob-as-descriptor": "true"})  # doctest: +SKIP
            >>> location = media.to_arrow(where="id = 1").column("picture")[0].as_py()  # doctest: +SKIP
            >>> with media.open_blob(location) as file:  # doctest: +SKIP
            ...     head = file.read(16)
        """
        from paimon_nb.format.data.blob import BlobDescriptor, BlobStream

        self.store.check_readable()
        try:
            location = BlobDescriptor.parse(descriptor)
        except ValueError as error:
            raise BadOptionValue(
                str(error), hint="read the column with the option 'blob-as-descriptor' = 'true'"
            ) from None
        return BlobStream(self.store.fs, location)

    def select(self, *columns: str | Sequence[str]) -> TableQuery:
        """A lazy read of some columns: `t.select("id").where("id > 7").limit(5).to_pandas()`.

        Args:
            columns: column names, or one list of them.

        Returns:
            A lazy query; `to_arrow`, `to_pandas`, `count` and others read it.
        """
        return self._lazy_query().select(*columns)

    def where(self, condition: str | Predicate) -> TableQuery:
        """A lazy read of the rows for which a condition is true.

        Args:
            condition: SQL text such as `"id = 7 AND dt >= '2024-01-01'"`, or a `Predicate`.

        Returns:
            A lazy query; `to_arrow`, `to_pandas`, `count` and others read it.
        """
        return self._lazy_query().where(condition)

    def limit(self, rows: int) -> TableQuery:
        """A lazy read with a limit.

        Args:
            rows: maximum number of rows, 0 or more.

        Returns:
            A lazy query; `to_arrow`, `to_pandas`, `count` and others read it.
        """
        return self._lazy_query().limit(rows)

    def at(
        self,
        *,
        snapshot: int | str | None = None,
        tag: str | None = None,
        timestamp: TimestampLike | None = None,
    ) -> TableQuery:
        """A lazy read of an earlier version, under the schema of that version.

        Args:
            snapshot: a snapshot id.
            tag: a tag name.
            timestamp: epoch milliseconds, a datetime or date, or text on this process's wall clock.

        Returns:
            A lazy query; `to_arrow`, `to_pandas`, `count` and others read it.
        """
        return self._lazy_query().at(snapshot=snapshot, tag=tag, timestamp=timestamp)

    def to_batches(self, *, batch_rows: int = BATCH_ROWS) -> RecordBatches:
        """The table's rows in record batches, in bounded memory: large splits are read and merged in ranges of keys.

        Args:
            batch_rows: rows of a batch, at most.

        Returns:
            An iterator of record batches with the table's columns. It can be used once: a second loop raises `ReaderConsumed`.
        """
        return self._lazy_query().to_batches(batch_rows=batch_rows)

    def to_reader(self, *, batch_rows: int = BATCH_ROWS) -> pa.RecordBatchReader:
        """The table's rows as a `pyarrow.RecordBatchReader`, which can be read once.

        Args:
            batch_rows: rows of a batch, at most.

        Returns:
            A reader with the table's columns.
        """
        return self._lazy_query().to_reader(batch_rows=batch_rows)

    def to_pandas(self, **options: object) -> Any:
        """The table's rows as a pandas DataFrame.

        Args:
            options: arguments of `pyarrow.Table.to_pandas`, such as `types_mapper`.

        Returns:
            A `pandas.DataFrame` with the table's columns.
        """
        return self._lazy_query().to_pandas(**options)

    def to_polars(self, *, lazy: bool = False) -> Any:
        """The table's rows as a polars DataFrame, or as a LazyFrame that reads only what its query needs.

        Args:
            lazy: True returns a LazyFrame.

        Returns:
            A `polars.DataFrame` or `polars.LazyFrame` with the table's columns.
        """
        return self._lazy_query().to_polars(lazy=lazy)

    def to_duckdb(self, connection: Any = None) -> Any:
        """The table's rows as a DuckDB relation that reads only what its query needs.

        Args:
            connection: a DuckDB connection; None: DuckDB's default one.

        Returns:
            A `duckdb.DuckDBPyRelation` with the table's columns.
        """
        return self._lazy_query().to_duckdb(connection)

    def scanner(
        self,
        columns: Sequence[str] | None = None,
        filter: str | Predicate | pc.Expression | None = None,
        *,
        batch_rows: int = BATCH_ROWS,
    ) -> Any:
        """The table's rows as a scanner of `pyarrow.dataset`, which can be read once.

        Args:
            columns: names in the order of the result; None: all.
            filter: a condition as in `where`, or an expression of Arrow. What Paimon understands of it leaves out files.
            batch_rows: rows of a batch, at most.

        Returns:
            A `pyarrow.dataset.Scanner`.
        """
        return self._lazy_query().scanner(columns, filter, batch_rows=batch_rows)

    def to_dataset(self) -> Any:
        """The table's rows as a dataset of pyarrow, into which engines push columns and conditions.

        Returns:
            A `pyarrow.dataset.Dataset`; see `TableQuery.to_dataset`.
        """
        return self._lazy_query().to_dataset()

    def to_torch(self, *, batch_rows: int = 1024) -> Any:
        """The table's rows as a dataset of PyTorch, of the snapshot that is the latest now.

        Args:
            batch_rows: rows of a batch, at most.

        Returns:
            A `torch.utils.data.IterableDataset` of dictionaries of tensors and lists; see `TableQuery.to_torch`.
        """
        return self._lazy_query().to_torch(batch_rows=batch_rows)

    def to_ray(self) -> Any:
        """The table's rows in Ray.

        Returns:
            A `ray.data.Dataset`.
        """
        return self._lazy_query().to_ray()

    def to_daft(self) -> Any:
        """The table's rows in Daft.

        Returns:
            A `daft.DataFrame`.
        """
        return self._lazy_query().to_daft()

    def count(self) -> int:
        """The number of rows. Uses only metadata if no rows need merging.

        Returns:
            The number of rows, after merging.
        """
        return self._lazy_query().count()

    def head(self, rows: int = 5) -> pa.Table:
        """Some rows of the table. Their order is not defined.

        Args:
            rows: maximum number of rows.

        Returns:
            An Arrow table with the table's columns.
        """
        return self._lazy_query().head(rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._lazy_query().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return self._lazy_query()._repr_html_()

    def _lazy_query(self) -> TableQuery:
        from paimon_nb.table.read.query import TableQuery

        return TableQuery(self)

    def lookup(self, **key: object) -> pa.Table:
        """The row with this primary key. Files that cannot hold the key are not opened.

        Args:
            key: value by column: all primary-key columns. Partition columns may be left out; then there can be several rows.

        Returns:
            An Arrow table with the table's columns and no row or one.

        Raises:
            UnsupportedOperation: the table has no primary key, or a key column is missing.
            ColumnNotFound: a column does not exist.

        Examples:
            >>> t.lookup(id=2).to_pylist()
            [{'id': 2, 'state': 'new', 'price': 35}]
        """
        from paimon_nb.table.read import Compare, PointLookup, conjunction_of, read_plan

        if not self.primary_keys:
            raise UnsupportedOperation(f"{self.name} has no primary key", hint="to_arrow(where=...) filters any table")
        for column in key:
            self.schema.field(column)
        missing = [k for k in self.schema.trimmed_primary_keys if k not in key]
        if missing:
            raise UnsupportedOperation(
                f"lookup needs every primary key column; {', '.join(missing)} is missing",
                hint=f"lookup({', '.join(k + '=...' for k in self.primary_keys)})",
                missing=missing,
            )
        condition = conjunction_of([Compare(k, "=", v) for k, v in key.items()])
        if self.store.for_queries().skips_unreadable_files:
            return self.to_arrow(where=condition)  # a lookup opens files while it plans
        if self._finder is None:
            self._finder = PointLookup(self.store)
        plan = self._finder.plan(condition)
        return self.to_arrow(where=condition) if plan is None else read_plan(plan)

    def diff(self, start: int | str, end: int | str) -> pa.Table:
        """The rows that differ between two snapshots. Reads both in full, with the latest schema.

        Args:
            start: id or tag of the earlier snapshot.
            end: id or tag of the later snapshot.

        Returns:
            An Arrow table: rowkind (string) and the table's columns. New and changed rows have the kind `+I` or `+U` and their
            values at `end`; rows that are gone have `-D`.

        Raises:
            TimeTravelError: the snapshot does not exist.
            SnapshotExpired: a snapshot has expired.
            TagNotFound: the tag does not exist.

        Examples:
            >>> sorted(t.diff("monday", 2).column("id").to_pylist())
            [1, 3]
        """
        from paimon_nb.table.read import parse_travel, resolve_time_travel
        from paimon_nb.table.read.row_kinds import with_kind_first
        from paimon_nb.table.read.split.snapshot_diff import changed_rows

        ends = []
        for version in (start, end):
            store = self.store.copy({"scan.version": str(version)})
            found = resolve_time_travel(store, parse_travel(store.options))
            assert found is not None
            ends.append(found)
        return with_kind_first(changed_rows(self.store, *ends))

    def stream(
        self,
        options: Mapping[str, Any] | None = None,
        *,
        columns: Sequence[str] | None = None,
        where: str | Predicate | None = None,
        position: StreamOffset | None = None,
        idle_s: float | None = None,
    ) -> TableStream:
        """The table's rows and then its changes, snapshot by snapshot, read in this process.

        Args:
            options: where to start and what to read: `scan.mode`, `scan.snapshot-id`, `scan.timestamp-millis`, `consumer-id`,
                `scan.bounded.watermark`, `streaming-read-overwrite` ...
            columns: as in `to_arrow`.
            where: as in `to_arrow`; it is applied to each change on its own.
            position: continue behind a batch (`StreamBatch.position`); overrides the options.
            idle_s: seconds without a new snapshot after which the iteration ends; None waits without limit.

        Returns:
            An iterator of `StreamBatch`, also a context manager. A batch has `snapshot_id` and `rows`, an Arrow table with
            rowkind (string) and the chosen columns. `poll()` returns the next batch without waiting, or None.

        Raises:
            UnsupportedOperation: the merge engine needs a changelog producer.
            BadOptionValue: an option is for batch reads only.

        Examples:
            >>> with t.stream({"scan.mode": "latest-full"}, idle_s=0) as stream:
            ...     [batch.rows.num_rows for batch in stream]
            [3]
        """
        from paimon_nb.options.spelling import checked_texts
        from paimon_nb.table.read.predicate.parser import as_predicate
        from paimon_nb.table.read.stream import TableStream

        store = self.store.copy(checked_texts(options)) if options else self.store
        predicate = as_predicate(where, self.schema, self.store.sql)
        selected = None if columns is None else [self.schema.column_name(c) for c in columns]
        return TableStream(store, columns=selected, predicate=predicate, position=position, idle_s=idle_s)


def _names(schema: TableSchema, columns: Sequence[str] | None) -> list[str]:
    """Exact names of columns; None: all that can be read. Raises: ColumnNotFound."""
    return [f.name for f in readable_fields(schema)] if columns is None else [schema.column_name(c) for c in columns]
