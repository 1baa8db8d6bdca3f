"""The table handle: metadata, small reads and writes without Spark. Knows no catalog.

Every method is a thin call; the rules are in the packages of `paimon_nb.table`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, TableNotFound, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.registry import did_you_mean
from paimon_nb.base.scalars import to_python
from paimon_nb.format.schema import TableSchema, readable_fields
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.format.types import arrow_type
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt
from paimon_nb.options.spelling import check_names
from paimon_nb.table.partition_spec import in_row_spec
from paimon_nb.table.scan import OWN_SCHEMA, ScanPlan, plan_scan
from paimon_nb.table.store import TableStore

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.table.commit import CommitMessage, TableCommit
    from paimon_nb.table.inspect import Compared, Due, Finding, RowHistory
    from paimon_nb.table.query import TableQuery
    from paimon_nb.table.scan import PointLookup, Predicate
    from paimon_nb.table.stream import StreamOffset, TableStream
    from paimon_nb.table.write import TableWrite
    from paimon_nb.table.write.arrow_input import Rows

TimestampLike = int | str | dt.date
"""A point in time: epoch milliseconds, text, a date or a datetime."""
Retention = str | int | dt.timedelta
"""How long a tag is kept: text such as '1 d', milliseconds, or a timedelta."""


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


class Table:
    """A table, or one branch of it. A handle is cheap: metadata is read when a method asks for it.

    Schema and options are those of the time when the handle was made. Snapshots are read anew by each call. Get one with
    `Workbench.table` or `paimon_nb.open_table`. No method needs Spark.

    Examples:
        >>> t.primary_keys
        ('id',)
        >>> t.to_arrow(columns=["id", "state"], where="price > 10").to_pylist()
        [{'id': 1, 'state': 'paid'}, {'id': 2, 'state': 'new'}]
    """

    views: ClassVar[dict[str, Callable[..., Any]]] = {}
    """`lsm`, `timeline`, `explore` ...: installed by the notebook extension."""

    def __init__(self, store: TableStore, name: Identifier | None = None) -> None:
        self.store = store
        self.name = name or _name_of(store)
        self._finder: PointLookup | None = None

    # -- properties

    @property
    def path(self) -> str:
        """The table's directory, a path or URI."""
        return self.store.root

    @property
    def schema(self) -> TableSchema:
        """Columns with their ids, partition keys, primary keys and stored options."""
        return self.store.schema

    @property
    def options(self) -> TableOptions:
        """Typed options, with the dynamic ones of this handle; `.raw` is the mapping of texts."""
        return self.store.options

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """Names of the partition columns, in order; empty for an unpartitioned table."""
        return self.schema.partition_keys

    @property
    def primary_keys(self) -> tuple[str, ...]:
        """Names of the primary-key columns, partition columns included; empty for an append table."""
        return self.schema.primary_keys

    @property
    def branch(self) -> str:
        """The branch that this handle reads and writes; `'main'` by default."""
        return self.store.branch

    def copy(self, options: Mapping[str, Any]) -> Table:
        """The same table with other options, for this handle only. Nothing is stored.

        Args:
            options: dynamic table options; they override stored ones.

        Returns:
            A new handle.

        Raises:
            UnknownOption: a name that is nearly one of Paimon's options.

        Examples:
            >>> t.copy({"scan.snapshot-id": "1"}).to_arrow().num_rows
            2
        """
        store = self.store.copy(_texts(options))
        return Table(store, replace(self.name, branch=store.branch))

    def refresh(self) -> Table:
        """A handle with the schema and options as they are now.

        Returns:
            A new handle; this one keeps its schema.

        Raises:
            TableNotFound: the table was dropped.
            TableReplaced: another table was created in its place.
        """
        return Table(self.store.refreshed(), self.name)

    def latest_snapshot(self) -> Snapshot | None:
        """The newest snapshot.

        Returns:
            The snapshot; None for a table without one.

        Examples:
            >>> t.latest_snapshot().id
            2
        """
        return self.store.latest()

    def __repr__(self) -> str:
        keys = f", primary key ({', '.join(self.primary_keys)})" if self.primary_keys else ""
        return f"<Table {self.name}: {len(self.schema.fields)} columns{keys}>"

    # -- metadata as tables

    def system(
        self,
        name: str,
        *,
        options: Mapping[str, Any] | None = None,
        snapshot: int | str | None = None,
        tag: str | None = None,
        timestamp: TimestampLike | None = None,
    ) -> pa.Table:
        """A system table, such as `'files'`, `'snapshots'` or `'audit_log'`.

        Args:
            name: the part behind `$` in SQL.
            options: dynamic table options, as in an OPTIONS hint.
            snapshot: read this snapshot, by id (or a tag's name).
            tag: read the snapshot of this tag.
            timestamp: read the last snapshot at or before this time: epoch milliseconds, a datetime, a date, or text such as
                `'2024-01-31 12:00:00'` in the local time zone.

        Returns:
            An Arrow table with the columns that Paimon's system table has.

        Raises:
            TableNotFound: no such system table; the hint has the nearest name.
            TimeTravelError: the snapshot does not exist.

        Examples:
            >>> t.system("audit_log").column("rowkind").to_pylist()
            ['+I', '+I', '+I']
        """
        from paimon_nb.table.system import SYSTEM_TABLES

        found = SYSTEM_TABLES.get(name.lower())
        if found is None:
            raise TableNotFound(
                f"no system table {self.name}${name}",
                hint=did_you_mean(name, SYSTEM_TABLES) or f"known: {', '.join(sorted(SYSTEM_TABLES))}",
                name=name,
            )
        return found.read(self._store_at(options, snapshot, tag, timestamp))

    def snapshots(self) -> pa.Table:
        """All snapshots, oldest first.

        Returns:
            An Arrow table: snapshot_id (int64), schema_id (int64), commit_user (string), commit_identifier (int64), commit_kind
            (string), commit_time (timestamp[ms], local time), base_manifest_list, delta_manifest_list,
            changelog_manifest_list (string), total_record_count, delta_record_count, changelog_record_count, watermark (int64).

        Examples:
            >>> t.snapshots().column("commit_kind").to_pylist()
            ['APPEND', 'APPEND']
        """
        return self.system("snapshots")

    def files(self, snapshot: int | None = None) -> pa.Table:
        """The data files of a snapshot.

        Args:
            snapshot: id of the snapshot; None is the newest.

        Returns:
            An Arrow table, one row a file: partition (string), bucket (int32), file_path, file_format (string), schema_id
            (int64), level (int32), record_count, file_size_in_bytes (int64), min_key, max_key, null_value_counts,
            min_value_stats, max_value_stats (string), min_sequence_number, max_sequence_number (int64), creation_time
            (timestamp[ms]), deleteRowCount (int64), file_source (string).

        Raises:
            TimeTravelError: the snapshot does not exist.

        Examples:
            >>> t.files(snapshot=1).column("level").to_pylist()
            [0]
        """
        return self.system("files", snapshot=snapshot)

    def manifests(self, snapshot: int | None = None) -> pa.Table:
        """The manifests of a snapshot.

        Args:
            snapshot: id of the snapshot; None is the newest.

        Returns:
            An Arrow table, one row a manifest: file_name (string), file_size (int64, bytes), num_added_files,
            num_deleted_files, schema_id (int64), min_partition_stats, max_partition_stats (string).

        Raises:
            TimeTravelError: the snapshot does not exist.
        """
        return self.system("manifests", snapshot=snapshot)

    def tags(self) -> pa.Table:
        """All tags.

        Returns:
            An Arrow table: tag_name (string), snapshot_id, schema_id (int64), commit_time (timestamp[ms]), record_count
            (int64), create_time (timestamp[ms]), time_retained (string, ISO duration).

        Examples:
            >>> t.tags().select(["tag_name", "snapshot_id"]).to_pylist()
            [{'tag_name': 'monday', 'snapshot_id': 1}]
        """
        return self.system("tags")

    def branches(self) -> pa.Table:
        """All branches but the main one.

        Returns:
            An Arrow table: branch_name (string), create_time (timestamp[ms]).
        """
        return self.system("branches")

    def schemas(self) -> pa.Table:
        """All versions of the schema.

        Returns:
            An Arrow table: schema_id (int64), fields, partition_keys, primary_keys, options (string, JSON), comment (string),
            update_time (timestamp[ms]).

        Examples:
            >>> t.schemas().num_rows
            1
        """
        return self.system("schemas")

    def partitions(self) -> pa.Table:
        """The partitions that have rows.

        Returns:
            An Arrow table: partition (string), record_count (int64, before merging), file_size_in_bytes, file_count (int64),
            last_update_time (timestamp[ms]).
        """
        return self.system("partitions")

    def buckets(self) -> pa.Table:
        """The buckets that have rows.

        Returns:
            An Arrow table: partition (string), bucket (int32), record_count (int64, before merging), file_size_in_bytes,
            file_count (int64), last_update_time (timestamp[ms]).

        Examples:
            >>> t.buckets().select(["bucket", "file_count"]).to_pylist()
            [{'bucket': 0, 'file_count': 2}]
        """
        return self.system("buckets")

    def consumers(self) -> pa.Table:
        """The streaming readers whose progress is stored in the table.

        Returns:
            An Arrow table: consumer_id (string), next_snapshot_id (int64).
        """
        return self.system("consumers")

    def partition_specs(self, *, legacy: bool | None = None, default_name: str | None = None) -> list[dict[str, str]]:
        """The partitions that have rows, as in directory names.

        Args:
            legacy: instead of the option `partition.legacy-name`.
            default_name: instead of the option `partition.default-name`.

        Returns:
            A dictionary of column to text for each partition; empty for an unpartitioned table.
        """
        from paimon_nb.format.row import partition_names
        from paimon_nb.table.system.file_totals import live_entries

        _, entries = live_entries(self.store)
        fields, options = self.schema.partition_fields, self.options
        return [
            dict(
                partition_names(
                    fields,
                    self.store.partition_values(p),
                    legacy=options.get(opt.PARTITION_LEGACY_NAME) if legacy is None else legacy,
                    default_name=options.get(opt.PARTITION_DEFAULT_NAME) if default_name is None else default_name,
                )
            )
            for p in dict.fromkeys(e.partition for e in entries)
            if fields
        ]

    # -- reading

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
            The plan. `read_plan` of `paimon_nb.table.scan` reads it.

        Raises:
            SqlSyntaxError: `where` cannot be parsed.
            ColumnNotFound: `where` names a column that the table does not have.
            TimeTravelError: the snapshot does not exist.

        Examples:
            >>> len(t.scan("id = 3").plan.splits)
            1
        """
        store = self._store_at(options, snapshot, tag, timestamp)
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
            columns: names of the columns, in the order of the result; None is all.
            where: SQL text such as `"id = 7 AND day >= '2024-01-01'"`, or a predicate; None is all rows.
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
        from paimon_nb.table.scan import read_plan

        plan = self.scan(where, options=options, snapshot=snapshot, tag=tag, timestamp=timestamp).plan
        if columns is not None and not columns:  # no columns, but the right number of rows
            return read_plan(plan, [f.name for f in readable_fields(plan.schema)[:1]]).select([])
        return read_plan(plan, None if columns is None else [_column(plan.schema, c) for c in columns])

    def select(self, *columns: str | Sequence[str]) -> TableQuery:
        """A lazy read of some columns: `t.select("id").where("id > 7").limit(5).to_pandas()`.

        Args:
            columns: column names, or one list of them.

        Returns:
            A lazy query; `to_arrow`, `to_pandas`, `count` and others read it.
        """
        return self._query().select(*columns)

    def where(self, condition: str | Predicate) -> TableQuery:
        """A lazy read of the rows for which a condition is true.

        Args:
            condition: SQL text such as `"id = 7 AND dt >= '2024-01-01'"`, or a `Predicate`.

        Returns:
            A lazy query; `to_arrow`, `to_pandas`, `count` and others read it.
        """
        return self._query().where(condition)

    def limit(self, rows: int) -> TableQuery:
        """A lazy read of at most so many rows.

        Args:
            rows: 0 or more.

        Returns:
            A lazy query; `to_arrow`, `to_pandas`, `count` and others read it.
        """
        return self._query().limit(rows)

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
        return self._query().at(snapshot=snapshot, tag=tag, timestamp=timestamp)

    def to_batches(self, *, batch_rows: int = 1 << 16) -> Iterator[pa.RecordBatch]:
        """The table's rows in record batches; one split is in memory at a time.

        Args:
            batch_rows: rows of a batch, at most.

        Returns:
            An iterator of record batches with the table's columns.
        """
        return self._query().to_batches(batch_rows=batch_rows)

    def to_reader(self, *, batch_rows: int = 1 << 16) -> pa.RecordBatchReader:
        """The table's rows as a `pyarrow.RecordBatchReader`, which can be read once.

        Args:
            batch_rows: rows of a batch, at most.

        Returns:
            A reader with the table's columns.
        """
        return self._query().to_reader(batch_rows=batch_rows)

    def to_pandas(self, **options: object) -> Any:
        """The table's rows as a pandas DataFrame.

        Args:
            options: arguments of `pyarrow.Table.to_pandas`, such as `types_mapper`.

        Returns:
            A `pandas.DataFrame` with the table's columns.
        """
        return self._query().to_pandas(**options)

    def to_polars(self, *, lazy: bool = False) -> Any:
        """The table's rows as a polars DataFrame, or as a LazyFrame that reads only what its query needs.

        Args:
            lazy: True returns a LazyFrame.

        Returns:
            A `polars.DataFrame` or `polars.LazyFrame` with the table's columns.
        """
        return self._query().to_polars(lazy=lazy)

    def to_duckdb(self, connection: Any = None) -> Any:
        """The table's rows as a DuckDB relation.

        Args:
            connection: a DuckDB connection; None: DuckDB's default one.

        Returns:
            A `duckdb.DuckDBPyRelation` with the table's columns.
        """
        return self._query().to_duckdb(connection)

    def count(self) -> int:
        """The number of rows. Answered from metadata where every stored row is a row of the table.

        Returns:
            The number of rows, after merging.
        """
        return self._query().count()

    def head(self, rows: int = 5) -> pa.Table:
        """Some rows of the table, in no promised order.

        Args:
            rows: how many, at most.

        Returns:
            An Arrow table with the table's columns.
        """
        return self._query().head(rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._query().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return self._query()._repr_html_()

    def _query(self) -> TableQuery:
        from paimon_nb.table.query import TableQuery

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
        from paimon_nb.table.scan import Compare, PointLookup, all_of, read_plan

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
        condition = all_of([Compare(k, "=", v) for k, v in key.items()])
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
        from paimon_nb.table.scan import parse_travel, resolve
        from paimon_nb.table.scan.read.snapshot_diff import changed_rows
        from paimon_nb.table.system.audit_log import with_kind_first

        ends = []
        for version in (start, end):
            store = self.store.copy({"scan.version": str(version)})
            found = resolve(store, parse_travel(store.options))
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
        from paimon_nb.table.scan.predicate.parser import parse_predicate
        from paimon_nb.table.stream import TableStream

        store = self.store.copy(_texts(options)) if options else self.store
        predicate = parse_predicate(where, self.schema) if isinstance(where, str) else where
        selected = None if columns is None else [_column(self.schema, c) for c in columns]
        return TableStream(store, columns=selected, predicate=predicate, position=position, idle_s=idle_s)

    # -- writing

    def write(self) -> TableWrite:
        """A writer for several pieces of rows. Its messages go to `commit().commit(...)`.

        Returns:
            A context manager. Leaving it without `prepare()` deletes the files that were written.

        Examples:
            >>> with t.write() as writing:
            ...     writing.write(pa.table({"id": pa.array([9], pa.int32()), "state": ["new"], "price": pa.array([5], pa.int32())}))
            ...     t.commit().commit(writing.prepare())
            [3]
        """
        from paimon_nb.table.write import TableWrite

        return TableWrite(self.store)

    def commit(self, commit_user: str | None = None) -> TableCommit:
        """A committer, which publishes messages of writers as snapshots.

        Args:
            commit_user: identity of the job across its commits; None is a new UUID, as for a batch write.

        Returns:
            A committer; its method `commit(messages)` returns the ids of the new snapshots.
        """
        from paimon_nb.table.commit import TableCommit

        return TableCommit(self.store, commit_user)

    def append(self, rows: Rows) -> list[int]:
        """Add rows in one commit. In a table with a primary key this is an upsert.

        Args:
            rows: Arrow data, a pyarrow dataset, or a frame of pandas, polars, DuckDB or Spark. Columns are matched by name; a missing
                nullable column is null or its default.

        Returns:
            The ids of the new snapshots; empty if there are no rows.

        Raises:
            SchemaMismatch: a column does not exist or cannot be converted.
            NullNotAllowed: a null in a column that is NOT NULL.
            CommitConflict: another commit changed the same files.
        """
        return self._write(rows, None)

    def upsert(self, rows: Rows) -> list[int]:
        """Add rows or replace them by primary key, in one commit.

        Args:
            rows: as in `append`; all primary-key columns are needed.

        Returns:
            The ids of the new snapshots; empty if there are no rows.

        Raises:
            UnsupportedOperation: the table has no primary key.
            SchemaMismatch: a column does not exist or cannot be converted.
            CommitConflict: another commit changed the same files.

        Examples:
            >>> rows = pa.table({"id": pa.array([3], pa.int32()), "state": ["paid"], "price": pa.array([8], pa.int32())})
            >>> t.upsert(rows)
            [3]
            >>> t.lookup(id=3).column("state").to_pylist()
            ['paid']
        """
        self._need_keys("upsert")
        return self._write(rows, None)

    def delete(self, keys: Rows | str | Predicate) -> list[int]:
        """Delete rows in one commit.

        Args:
            keys: rows with the primary-key columns (as in `append`), or a condition as in `to_arrow`.

        Returns:
            The ids of the new snapshots; empty if nothing matches.

        Raises:
            UnsupportedOperation: the table has no primary key, or its merge engine does not allow deletes.
            ColumnNotFound: a key column is missing.

        Examples:
            >>> t.delete("price < 10")
            [3]
            >>> t.to_arrow().num_rows
            2
        """
        import pyarrow as pa

        from paimon_nb.format.types.arrow_builders import column
        from paimon_nb.table.dml_checks import check_delete
        from paimon_nb.table.scan import Predicate
        from paimon_nb.table.write.arrow_input import as_table

        self._need_keys("delete")
        check_delete(self.store)
        if isinstance(keys, str | Predicate):
            found = self.to_arrow(where=keys)
        else:
            found = self._with_all_columns(as_table(keys))
        if not found.num_rows:
            return []
        return self._write(found, column([3] * found.num_rows, pa.int8()))

    def overwrite(self, rows: Rows, partition: Mapping[str, Any] | None = None, *, dynamic: bool = False) -> list[int]:
        """Replace the whole table, one partition, or the partitions of the rows, in one commit.

        Args:
            rows: as in `append`.
            partition: values of partition columns: only this partition is replaced.
            dynamic: replace only the partitions that the rows have.

        Returns:
            The ids of the new snapshots.

        Raises:
            SchemaMismatch: a column does not exist or cannot be converted.
            CommitConflict: another commit changed the same files.
        """
        from paimon_nb.table.commit.overwrite import Overwrite
        from paimon_nb.table.write import TableWrite
        from paimon_nb.table.write.arrow_input import as_table

        rows = as_table(rows)
        with TableWrite(self.store, overwrite=True) as writing:
            if rows.num_rows:
                writing.write(rows)
            messages = writing.prepare_commit()
        scope = Overwrite(in_row_spec(self.schema, partition or {}), dynamic=dynamic)
        return self.commit().commit(messages, overwrite=scope, expected_rows=rows.num_rows)

    def _write(self, rows: Rows, kinds: pa.Array | None) -> list[int]:
        from paimon_nb.table.write import TableWrite
        from paimon_nb.table.write.arrow_input import as_reader, as_table, chunks

        ignored = self.store.options.ignores_empty_commits
        parts = chunks(as_reader(rows)) if kinds is None and not hasattr(rows, "num_rows") else iter([as_table(rows)])
        count = 0
        with TableWrite(self.store) as writing:
            for part in parts:
                count += part.num_rows
                writing.write(part, kinds)
            messages: list[CommitMessage] = writing.prepare_commit()
        if not count and ignored:
            return []
        return self.commit().commit(messages, expected_rows=count, ignore_empty=ignored)

    def _with_all_columns(self, keys: pa.Table) -> pa.Table:
        """Rows to delete: with their current values, or only the keys with NULLs if nothing needs more."""
        import pyarrow as pa

        missing = [k for k in self.primary_keys if k not in keys.column_names]
        if missing:
            raise ColumnNotFound(f"delete needs the key column {missing[0]!r}", hint=f"keys: {', '.join(self.primary_keys)}", column=missing[0])  # fmt: skip
        rows = keys.select([n for n in self.schema.names if n in keys.column_names])
        absent = [f for f in self.schema.fields if f.name not in rows.column_names]
        if self._reads_deleted_rows() or not all(f.type.nullable for f in absent):
            return self._present_rows(keys)
        for field in absent:
            rows = rows.append_column(field.name, pa.nulls(rows.num_rows, arrow_type(field.type)))
        return rows

    def _reads_deleted_rows(self) -> bool:
        """Whether the other columns of a deleted row are needed: for its version, retractions, or the changelog."""
        o = self.options
        return bool(
            o.merge_engine != "deduplicate" or o.get(opt.SEQUENCE_FIELD) or o.get(opt.CHANGELOG_PRODUCER) == "input"
        )

    def _present_rows(self, keys: pa.Table) -> pa.Table:
        from paimon_nb.format.data.schema_cast import conform
        from paimon_nb.format.types.arrow_builders import from_numpy
        from paimon_nb.table.lsm.superseded import is_in, key_ids

        fields = [self.schema.field(k) for k in self.primary_keys]
        present_ids = key_ids(conform(keys.select(self.primary_keys), fields), fields)
        rows = self.to_arrow()
        return rows.filter(from_numpy(is_in(key_ids(rows, fields), present_ids)))

    def _need_keys(self, what: str) -> None:
        if not self.primary_keys:
            raise UnsupportedOperation(
                f"{self.name} has no primary key, so {what} is not supported",
                hint="append() adds rows; overwrite() replaces them",
            )

    # -- maintenance

    def compact(
        self,
        partitions: Sequence[Mapping[str, Any]] | Callable[[bytes], bool] | None = None,
        *,
        full: bool = True,
        buckets: Collection[int] | None = None,
    ) -> list[int]:
        """Compact in this process and commit.

        Args:
            partitions: partitions as values by column, or a test of serialized partition bytes; None is all.
            full: merge all sorted runs; False takes what the compaction rules pick.
            buckets: bucket ids; None is all.

        Returns:
            The ids of the new snapshots; empty if there was nothing to do.

        Raises:
            CommitConflict: another job compacted the same bucket.

        Examples:
            >>> t.compact()
            [3]
            >>> t.files().column("level").to_pylist()
            [5]
        """
        from paimon_nb.table.commit.overwrite import partition_matcher
        from paimon_nb.table.compact import compact

        keep_partition = partitions if callable(partitions) else None
        if partitions is not None and keep_partition is None:
            matchers = [partition_matcher(self.store, in_row_spec(self.schema, p)) for p in partitions]  # type: ignore[union-attr]
            keep_partition = lambda p: any(m(p) for m in matchers)  # noqa: E731
        return self.commit().commit(compact(self.store, keep_partition, full=full, buckets=buckets))

    def sort_compact(
        self,
        strategy: Literal["order", "zorder", "hilbert"],
        columns: Sequence[str],
        partitions: Callable[[bytes], bool] | None = None,
    ) -> list[int]:
        """Rewrite an append table in an order, in this process, and commit.

        Args:
            strategy: `'order'` sorts by the columns; `'zorder'` and `'hilbert'` keep rows with near values in several columns
                together.
            columns: names of the columns.
            partitions: a test of serialized partition bytes; None is all.

        Returns:
            The ids of the new snapshots; empty if there was nothing to do.

        Raises:
            UnsupportedOperation: the table has fixed buckets, or keys move between partitions.
            UnknownName: no such strategy.
            ColumnNotFound: a column does not exist.
            CommitConflict: rows were added meanwhile; nothing changed.
        """
        from paimon_nb.table.cluster import Order
        from paimon_nb.table.compact import plan_sort, run_sort, sort_overwrite

        newest = self.store.at_newest_schema()
        order = Order.of(newest, strategy, [_column(newest.schema, c) for c in columns])
        tasks = plan_sort(self.store, partitions)
        commit, messages = self.commit(), []
        try:
            for task in tasks:
                messages += run_sort(self.store, task, order)
        except BaseException:
            commit.abort(messages)
            raise
        if not tasks:
            return []
        return commit.commit(messages, overwrite=sort_overwrite(self.store, tasks))

    def analyze(self, columns: Sequence[str] | None = ()) -> int | None:
        """Compute statistics of the latest snapshot: row count, size, and statistics of columns.

        Args:
            columns: names of the columns; None is all, an empty sequence none.

        Returns:
            The id of the ANALYZE snapshot; None for a table without snapshots. `system("statistics")` shows the result.

        Raises:
            ColumnNotFound: a column does not exist.
        """
        from paimon_nb.table.maintenance import analyze

        return analyze(self.store, None if columns is None else [_column(self.schema, c) for c in columns])

    def create_tag(self, name: str, snapshot: int | None = None, *, retained: Retention | None = None) -> None:
        """Keep a snapshot under a name.

        Args:
            name: name of the tag.
            snapshot: id of the snapshot; None is the latest.
            retained: how long: text such as `'1 d'`, a timedelta, or milliseconds; None is as the table's options say.

        Raises:
            AlreadyExists: there is a tag of this name.
            SnapshotNotFound: the snapshot does not exist.
            BadOptionValue: `retained` is not a time span.

        Examples:
            >>> t.create_tag("tuesday", 2, retained="7 d")
            >>> t.tags().column("tag_name").to_pylist()
            ['monday', 'tuesday']
        """
        from paimon_nb.table.maintenance import create_tag

        create_tag(self.store, name, snapshot, retained_ms=_duration_ms(retained))

    def replace_tag(
        self,
        name: str,
        snapshot: int | None = None,
        *,
        retained: Retention | None = None,
        create: bool = False,
    ) -> None:
        """Make a tag name another snapshot.

        Args:
            name: name of the tag.
            snapshot: id of the snapshot; None is the latest.
            retained: as in `create_tag`.
            create: create the tag if it does not exist.

        Raises:
            TagNotFound: the tag does not exist, and not `create`.
            SnapshotNotFound: the snapshot does not exist.
            BadOptionValue: `retained` is not a time span.
        """
        from paimon_nb.table.maintenance import create_tag, replace_tag

        if create and name not in self.store.tags.names():
            create_tag(self.store, name, snapshot, retained_ms=_duration_ms(retained))
        else:
            replace_tag(self.store, name, snapshot, retained_ms=_duration_ms(retained))

    def delete_tag(self, name: str, *, if_exists: bool = False) -> None:
        """Delete a tag, and the files that only its snapshot needs.

        Args:
            name: name of the tag.
            if_exists: do nothing if the tag does not exist.

        Raises:
            TagNotFound: the tag does not exist, and not `if_exists`.
        """
        from paimon_nb.table.maintenance import delete_tag

        delete_tag(self.store, name, if_exists=if_exists)

    def rename_tag(self, name: str, new_name: str) -> None:
        """Give a tag another name.

        Args:
            name: name of the tag.
            new_name: its new name.

        Raises:
            TagNotFound: the tag does not exist.
            AlreadyExists: there is a tag of the new name.
        """
        from paimon_nb.table.maintenance import rename_tag

        rename_tag(self.store, name, new_name)

    def drop_partitions(self, specs: Sequence[Mapping[str, Any]], *, must_exist: bool = False) -> list[int]:
        """Delete all rows of partitions, in one commit.

        Args:
            specs: values by partition column for each partition; columns that are left out match any value.
            must_exist: raise an error if a spec matches no partition.

        Returns:
            The ids of the new snapshots; empty if nothing matches.

        Raises:
            UnknownName: with `must_exist`, a spec matches no partition; nothing is deleted then.
        """
        from paimon_nb.table.maintenance import drop_partitions

        made = drop_partitions(self.store, [in_row_spec(self.schema, s) for s in specs], must_exist=must_exist)
        return [] if made is None else [made]

    def truncate(self, partition: Mapping[str, Any] | None = None) -> list[int]:
        """Delete all rows, or those of one partition.

        Args:
            partition: values by partition column; None is the whole table.

        Returns:
            The ids of the new snapshots; empty if there was nothing to delete.
        """
        from paimon_nb.table.maintenance import truncate

        if partition:
            return self.drop_partitions([partition])
        made = truncate(self.store)
        return [] if made is None else [made]

    # -- inspection

    def why(self, **key: object) -> RowHistory:
        """Every stored version of a key, and how they merge into its row.

        Args:
            key: value by column: all primary-key columns.

        Returns:
            The history: `versions` in merge order, `row` as a query returns it, and `rule`, a sentence. `print` shows it as text.

        Raises:
            UnsupportedOperation: the table has no primary key, or a key column is missing.

        Examples:
            >>> [version.values["state"] for version in t.why(id=1).versions]
            ['new', 'paid']
        """
        from paimon_nb.table.inspect import why

        return why(self.store, key)

    def due_compactions(self, options: Mapping[str, Any] | None = None) -> list[Due]:
        """What a compaction would pick in each bucket, and which rule decides. Nothing is written.

        Args:
            options: dynamic table options, to see what other settings would do.

        Returns:
            One object for each bucket: `runs`, `rules`, `decided_by` (None: nothing to do), `files`, `bytes`, `output_level`.

        Examples:
            >>> t.due_compactions()[0].decided_by is None
            True
        """
        from paimon_nb.table.inspect import due_compactions

        return due_compactions(self.store, _texts(options or {}))

    def compare(self, before: int | str, after: int | str) -> Compared:
        """The files, schema and options that differ between two snapshots. Reads metadata only; `diff` compares rows.

        Args:
            before: id or tag of the earlier snapshot.
            after: id or tag of the later snapshot.

        Returns:
            The comparison; `print` shows it as text.

        Raises:
            TimeTravelError: the snapshot does not exist.
            TagNotFound: the tag does not exist.
        """
        from paimon_nb.table.inspect import compare

        return compare(self.store, before, after)

    def health(self, *, read_files: bool = False) -> list[Finding]:
        """Problems of the table, worst first, each with the statement that fixes it.

        Args:
            read_files: also read every data file to its end.

        Returns:
            Findings; a single one if there are no problems.

        Examples:
            >>> print(t.health()[0].what)
            healthy
        """
        from paimon_nb.table.inspect import health

        return health(self.store, self.name, read_files=read_files)

    # -- widgets

    def lsm(
        self,
        partition: str | None = None,
        bucket: int | None = None,
        by: Literal["key", "size"] = "key",
        snapshot: int | None = None,
    ) -> Any:
        """A panel of the levels and sorted runs of a bucket.

        Args:
            partition: the partition, as `buckets()` shows it; None is the one with most data.
            bucket: id of the bucket; None is the one with most data.
            by: the horizontal axis: `'key'` shows key ranges, `'size'` sizes.
            snapshot: id of the snapshot; None is the newest.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: the notebook extension is not loaded (`%load_ext paimon_nb`).
            UnknownName: the bucket does not exist.
        """
        return self._view("lsm", partition=partition, bucket=bucket, by=by, snapshot=snapshot)

    def timeline(self, snapshot: int | None = None) -> Any:
        """A panel of snapshots, tags and branches.

        Args:
            snapshot: id of the snapshot to begin at; None is the newest.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: the notebook extension is not loaded (`%load_ext paimon_nb`).
        """
        return self._view("timeline", snapshot=snapshot)

    def explore(self, at: str = "") -> Any:
        """A panel of the whole table as a tree, from schema and snapshots to row groups.

        Args:
            at: where to begin, such as `'snapshot/5'`; empty is the table.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: the notebook extension is not loaded (`%load_ext paimon_nb`).
        """
        return self._view("explore", at=at)

    def compaction(self, options: dict[str, str] | None = None, watch: bool = False) -> Any:
        """A panel of what a compaction would pick and why, with buttons that run it, and of past compactions.

        Args:
            options: dynamic table options, to see what other settings would do.
            watch: follow the table as it changes.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: the notebook extension is not loaded (`%load_ext paimon_nb`).
        """
        return self._view("compaction", options=options, watch=watch)

    def funnel(self, where: str = "") -> Any:
        """A panel of how much of the table a condition leaves to read.

        Args:
            where: a condition as in `to_arrow`; empty is none.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: the notebook extension is not loaded (`%load_ext paimon_nb`).
            SqlSyntaxError: the condition cannot be parsed.
        """
        return self._view("funnel", where=where)

    def compared(self, before: int | str | None = None, after: int | str | None = None) -> Any:
        """A panel of two snapshots or tags side by side; `compare` returns the facts.

        Args:
            before: id or tag of the earlier snapshot; None is the one before the newest.
            after: id or tag of the later snapshot; None is the newest.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: the notebook extension is not loaded (`%load_ext paimon_nb`).
        """
        return self._view("compared", before=before, after=after)

    def _view(self, name: str, **kwargs: Any) -> Any:
        view = self.views.get(name)
        if view is None:
            raise UnsupportedOperation(f"{name}() needs the notebook extension", hint="run %load_ext paimon_nb")  # fmt: skip
        return view(self, **kwargs)

    # -- time travel

    def _store_at(
        self,
        options: Mapping[str, Any] | None,
        snapshot: int | str | None = None,
        tag: str | None = None,
        timestamp: TimestampLike | None = None,
    ) -> TableStore:
        """The store with options for one read. A named snapshot is read with its own schema."""
        dynamic = _texts(options or {})
        if isinstance(snapshot, int):
            dynamic |= {"scan.snapshot-id": str(snapshot), OWN_SCHEMA: "true"}
        elif snapshot is not None:
            dynamic |= {"scan.version": str(snapshot)}
        if tag is not None:
            dynamic |= {"scan.tag-name": str(tag), OWN_SCHEMA: "true"}
        if timestamp is not None:
            dynamic |= {"scan.timestamp-millis": str(_epoch_ms(timestamp)), OWN_SCHEMA: "true"}
        if not (snapshot is None and tag is None and timestamp is None):
            dynamic[opt.SCAN_MODE.key] = "default"  # time travel applies whatever the table's own scan.mode is
        return self.store.copy(dynamic) if dynamic else self.store


def _texts(options: Mapping[str, Any]) -> dict[str, str]:
    """Raises: UnknownOption: a misspelled Paimon option."""
    check_names(options)
    return {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in options.items()}


def _column(schema: TableSchema, name: str) -> str:
    """A column by exact name, else case-insensitively."""
    if name in schema.names:
        return name
    folded = {n.lower(): n for n in schema.names}
    return folded.get(name.lower()) or schema.field(name).name


def _epoch_ms(time: TimestampLike) -> int:
    """Raises: BadOptionValue: not a point in time."""
    from paimon_nb.table.scan.plan.time_travel import local_ms

    match to_python(time):
        case bool():
            pass
        case int(ms):
            return ms
        case dt.datetime() as at:
            return int(at.timestamp() * 1000)
        case dt.date() as day:  # its first instant, as for a date in text
            return local_ms(day.isoformat(), "timestamp")
        case str(text):
            return int(text) if text.isdecimal() else local_ms(text, "timestamp")
    raise BadOptionValue(
        f"timestamp={time!r} is not a point in time", hint="epoch milliseconds, a datetime, or '2024-01-31 12:00:00'"
    )


def _duration_ms(value: Retention | None) -> int | None:
    """Raises: BadOptionValue: not a duration."""
    from paimon_nb.options import parse_duration_ms

    if isinstance(value, dt.timedelta):
        return value // dt.timedelta(milliseconds=1)
    try:
        return parse_duration_ms(value) if isinstance(value, str) else value
    except ValueError as error:
        raise BadOptionValue(f"{value!r} is not a duration: {error}", hint="write '1 d', or milliseconds") from None


def _name_of(store: TableStore) -> Identifier:
    parts = store.root.rstrip("/").split("/")
    database = parts[-2].removesuffix(".db") if len(parts) > 1 and parts[-2] else "default"
    return Identifier(database, parts[-1], store.branch)
