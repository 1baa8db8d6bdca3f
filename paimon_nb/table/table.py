"""The table handle: metadata, small reads and writes without Spark. Knows no catalog.

Every method is a thin call; the rules are in the packages of `paimon_nb.table`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

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

_TRAVEL = ("snapshot", "tag", "timestamp")


@dataclass(frozen=True, slots=True)
class Scan:
    """A planned read: `plan.store` has the schema of the rows."""

    store: TableStore
    plan: ScanPlan


class Table:
    """A table, or one branch of it. Cheap to create; reads metadata only when needed.

    `store` holds the schema and options of the time when the handle was created; snapshots are read again each time.
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
        """The table's directory."""
        return self.store.root

    @property
    def schema(self) -> TableSchema:
        return self.store.schema

    @property
    def options(self) -> TableOptions:
        """Typed options, including this handle's dynamic options; `.raw` has the texts."""
        return self.store.options

    @property
    def partition_keys(self) -> tuple[str, ...]:
        return self.schema.partition_keys

    @property
    def primary_keys(self) -> tuple[str, ...]:
        return self.schema.primary_keys

    @property
    def branch(self) -> str:
        return self.store.branch

    def copy(self, options: Mapping[str, Any]) -> Table:
        """The same table with dynamic options."""
        return Table(self.store.copy(_texts(options)), self.name)

    def refresh(self) -> Table:
        """A handle with the currently latest schema. Raises TableReplaced if the table was re-created."""
        return Table(self.store.refreshed(), self.name)

    def latest_snapshot(self) -> Snapshot | None:
        """The newest snapshot; None for a table without one."""
        return self.store.latest()

    def __repr__(self) -> str:
        keys = f", primary key ({', '.join(self.primary_keys)})" if self.primary_keys else ""
        return f"<Table {self.name}: {len(self.schema.fields)} columns{keys}>"

    # -- metadata as tables

    def system(self, name: str, *, options: Mapping[str, Any] | None = None, **travel: Any) -> pa.Table:
        """A system table: 'files', 'snapshots', 'audit_log' ... (see `SYSTEM_TABLES`).

        Args:
            options: dynamic options, as in an OPTIONS hint. travel: snapshot=, tag= or timestamp=.

        Raises: TableNotFound: no such system table; with the nearest name.
        """
        from paimon_nb.table.system import SYSTEM_TABLES

        found = SYSTEM_TABLES.get(name)
        if found is None:
            raise TableNotFound(
                f"no system table {self.name}${name}",
                hint=did_you_mean(name, SYSTEM_TABLES) or f"known: {', '.join(sorted(SYSTEM_TABLES))}",
                name=name,
            )
        return found.read(self._store_at(options, **travel))

    def snapshots(self) -> pa.Table:
        return self.system("snapshots")

    def files(self, snapshot: int | None = None) -> pa.Table:
        return self.system("files", snapshot=snapshot)

    def manifests(self, snapshot: int | None = None) -> pa.Table:
        return self.system("manifests", snapshot=snapshot)

    def tags(self) -> pa.Table:
        return self.system("tags")

    def branches(self) -> pa.Table:
        return self.system("branches")

    def schemas(self) -> pa.Table:
        return self.system("schemas")

    def partitions(self) -> pa.Table:
        return self.system("partitions")

    def buckets(self) -> pa.Table:
        return self.system("buckets")

    def consumers(self) -> pa.Table:
        return self.system("consumers")

    def partition_specs(self) -> list[dict[str, str]]:
        """The partitions that have rows: column -> text as in directory names."""
        from paimon_nb.format.row import partition_names
        from paimon_nb.table.system.file_totals import live_entries

        _, entries = live_entries(self.store)
        fields, options = self.schema.partition_fields, self.options
        return [
            dict(
                partition_names(
                    fields,
                    self.store.partition_values(p),
                    legacy=options.get(opt.PARTITION_LEGACY_NAME),
                    default_name=options.get(opt.PARTITION_DEFAULT_NAME),
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
        **travel: Any,
    ) -> Scan:
        """Plan a read: which files, in which splits, and what was skipped and why. Reads metadata only.

        Args:
            where: SQL text or a predicate; None = all rows. options: dynamic options. travel: see `to_arrow`.
        """
        store = self._store_at(options, **travel)
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
        timestamp: int | str | dt.date | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> pa.Table:
        """The table's rows, read in this process.

        Args:
            columns: names in result order; None: all. where: `"id = 7 AND dt >= '2024-01-01'"` or a predicate.
            snapshot, tag, timestamp: time travel (one of them), with the schema of that snapshot. timestamp: epoch
                milliseconds, a datetime or date, or text on this process's wall clock.
            options: dynamic options such as `{"incremental-between": "1,5"}`; these keep the latest schema.

        Raises: TimeTravelError, SnapshotExpired, TagNotFound; ColumnNotFound, SqlSyntaxError; FormatError.
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
        """
        return self._query().select(*columns)

    def where(self, condition: str | Predicate) -> TableQuery:
        """A lazy read of the rows for which a condition is true.

        Args:
            condition: SQL text such as `"id = 7 AND dt >= '2024-01-01'"`, or a `Predicate`.
        """
        return self._query().where(condition)

    def limit(self, rows: int) -> TableQuery:
        """A lazy read of at most so many rows.

        Args:
            rows: 0 or more.
        """
        return self._query().limit(rows)

    def at(
        self,
        *,
        snapshot: int | str | None = None,
        tag: str | None = None,
        timestamp: int | str | dt.date | None = None,
    ) -> TableQuery:
        """A lazy read of an earlier version, under the schema of that version.

        Args:
            snapshot: a snapshot id.
            tag: a tag name.
            timestamp: epoch milliseconds, a datetime or date, or text on this process's wall clock.
        """
        return self._query().at(snapshot=snapshot, tag=tag, timestamp=timestamp)

    def to_batches(self, *, batch_rows: int = 1 << 16) -> Iterator[pa.RecordBatch]:
        """The table's rows in record batches; one split is in memory at a time.

        Args:
            batch_rows: rows of a batch, at most.
        """
        return self._query().to_batches(batch_rows=batch_rows)

    def to_reader(self, *, batch_rows: int = 1 << 16) -> pa.RecordBatchReader:
        """The table's rows as a `pyarrow.RecordBatchReader`, which can be read once.

        Args:
            batch_rows: rows of a batch, at most.
        """
        return self._query().to_reader(batch_rows=batch_rows)

    def to_pandas(self, **options: Any) -> Any:
        """The table's rows as a pandas DataFrame.

        Args:
            options: arguments of `pyarrow.Table.to_pandas`, such as `types_mapper`.
        """
        return self._query().to_pandas(**options)

    def to_polars(self, *, lazy: bool = False) -> Any:
        """The table's rows as a polars DataFrame, or as a LazyFrame that reads only what its query needs.

        Args:
            lazy: True returns a LazyFrame.
        """
        return self._query().to_polars(lazy=lazy)

    def to_duckdb(self, connection: Any = None) -> Any:
        """The table's rows as a DuckDB relation.

        Args:
            connection: a DuckDB connection; None: DuckDB's default one.
        """
        return self._query().to_duckdb(connection)

    def count(self) -> int:
        """The number of rows. Answered from metadata where every stored row is a row of the table."""
        return self._query().count()

    def head(self, rows: int = 5) -> pa.Table:
        """Some rows of the table, in no promised order.

        Args:
            rows: how many, at most.
        """
        return self._query().head(rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._query().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return self._query()._repr_html_()

    def _query(self) -> TableQuery:
        from paimon_nb.table.query import TableQuery

        return TableQuery(self)

    def lookup(self, **key: Any) -> pa.Table:
        """The rows with these key values: `t.lookup(id=7)`. At most one row, unless partition columns are omitted.

        Raises: UnsupportedOperation: no primary key, or a key column is missing.
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
        """The changes between two snapshots (or tags): new and changed rows with their new values, removed rows as -D,
        with `rowkind` first; in the latest schema. Reads both states completely.

        Raises: TimeTravelError, SnapshotExpired, TagNotFound: no such version.
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
            options: where to start and how: 'scan.mode', 'scan.snapshot-id', 'scan.timestamp-millis', 'consumer-id',
                'scan.bounded.watermark', 'streaming-read-overwrite', ...
            columns, where: as in `to_arrow`; a condition is evaluated on each change separately.
            position: resume from a `StreamBatch.position`; takes precedence over the options.
            idle_s: end the iteration after so many seconds without data; None waits without limit.

        Returns: an iterator of `StreamBatch`, also a context manager; `poll()` does not wait.

        Raises:
            UnsupportedOperation: the merge engine needs a changelog producer. BadOptionValue: options of batch reads.
        """
        from paimon_nb.table.scan.predicate.parser import parse_predicate
        from paimon_nb.table.stream import TableStream

        store = self.store.copy(_texts(options)) if options else self.store
        predicate = parse_predicate(where, self.schema) if isinstance(where, str) else where
        selected = None if columns is None else [_column(self.schema, c) for c in columns]
        return TableStream(store, columns=selected, predicate=predicate, position=position, idle_s=idle_s)

    # -- writing

    def write(self) -> TableWrite:
        """A writer; its messages go to `commit()`."""
        from paimon_nb.table.write import TableWrite

        return TableWrite(self.store)

    def commit(self, commit_user: str | None = None) -> TableCommit:
        from paimon_nb.table.commit import TableCommit

        return TableCommit(self.store, commit_user)

    def append(self, rows: Rows) -> list[int]:
        """Append rows in one commit. Returns the ids of the new snapshots. On a primary-key table it is an upsert.

        Args:
            rows: an Arrow table or batch, a reader, a frame of pandas or polars; see `TableWrite.write`.
        """
        return self._write(rows, None)

    def upsert(self, rows: Rows) -> list[int]:
        """Insert or replace rows by primary key, in one commit. Raises UnsupportedOperation without a primary key."""
        self._need_keys("upsert")
        return self._write(rows, None)

    def delete(self, keys: Rows | str | Predicate) -> list[int]:
        """Delete rows by primary key (rows with the key columns), or those for which a condition is true.

        Raises: UnsupportedOperation: no primary key, or the table's options do not allow deletes.
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
        """Replace the whole table, one partition, or (dynamic) the partitions of the new rows; one commit."""
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
        """Compact in this process and commit. Returns the ids of the snapshots made.

        Args:
            partitions: values by column, or a filter on serialized partitions; None = all. buckets: None = all.
        """
        from paimon_nb.table.commit.overwrite import partition_matcher
        from paimon_nb.table.compact import compact

        keep_partition = partitions if callable(partitions) else None
        if partitions is not None and keep_partition is None:
            matchers = [partition_matcher(self.store, in_row_spec(self.schema, p)) for p in partitions]  # type: ignore[union-attr]
            keep_partition = lambda p: any(m(p) for m in matchers)  # noqa: E731
        return self.commit().commit(compact(self.store, keep_partition, full=full, buckets=buckets))

    def sort_compact(
        self, strategy: str, columns: Sequence[str], partitions: Callable[[bytes], bool] | None = None
    ) -> list[int]:
        """Sort compaction (order, zorder, hilbert), in this process, and commit.

        Args:
            partitions: a filter on serialized partitions; None = all.
        Raises: UnsupportedOperation: the table's buckets are fixed, or keys move between partitions. UnknownName,
            ColumnNotFound.
            CommitConflict: rows were added concurrently; nothing changed.
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
        """Compute statistics of the latest snapshot: row count and size, and column statistics (None: all columns).

        Returns the id of the ANALYZE snapshot; None for a table without rows ever written. `system("statistics")` shows
        them.
        """
        from paimon_nb.table.maintenance import analyze

        return analyze(self.store, None if columns is None else [_column(self.schema, c) for c in columns])

    def create_tag(
        self, name: str, snapshot: int | None = None, *, retained: str | int | dt.timedelta | None = None
    ) -> None:
        """Create a tag for a snapshot (default: the latest). retained: '1 d', a timedelta, or milliseconds; None: as
        configured.
        """
        from paimon_nb.table.maintenance import create_tag

        create_tag(self.store, name, snapshot, retained_ms=_duration_ms(retained))

    def replace_tag(
        self,
        name: str,
        snapshot: int | None = None,
        *,
        retained: str | int | dt.timedelta | None = None,
        create: bool = False,
    ) -> None:
        """Move a tag to another snapshot; `create` creates it if missing."""
        from paimon_nb.table.maintenance import create_tag, replace_tag

        if create and name not in self.store.tags.names():
            create_tag(self.store, name, snapshot, retained_ms=_duration_ms(retained))
        else:
            replace_tag(self.store, name, snapshot, retained_ms=_duration_ms(retained))

    def delete_tag(self, name: str, *, if_exists: bool = False) -> None:
        from paimon_nb.table.maintenance import delete_tag

        delete_tag(self.store, name, if_exists=if_exists)

    def rename_tag(self, name: str, new_name: str) -> None:
        from paimon_nb.table.maintenance import rename_tag

        rename_tag(self.store, name, new_name)

    def drop_partitions(self, specs: Sequence[Mapping[str, Any]], *, must_exist: bool = False) -> list[int]:
        """Drop the partitions that match any spec; values may be strings. Returns the snapshot ids.

        Raises: UnknownName: with `must_exist`, if a spec matches nothing; nothing is dropped then.
        """
        from paimon_nb.table.maintenance import drop_partitions

        made = drop_partitions(self.store, [in_row_spec(self.schema, s) for s in specs], must_exist=must_exist)
        return [] if made is None else [made]

    def truncate(self, partition: Mapping[str, Any] | None = None) -> list[int]:
        """Delete all rows, or those of one partition. Returns the snapshot ids."""
        from paimon_nb.table.maintenance import truncate

        if partition:
            return self.drop_partitions([partition])
        made = truncate(self.store)
        return [] if made is None else [made]

    # -- inspection

    def why(self, **key: Any) -> RowHistory:
        """Every stored version of a key, and how they merge: `t.why(id=7)`. See `table.inspect.why`.

        Raises: UnsupportedOperation: no primary key, or a key column is missing.
        """
        from paimon_nb.table.inspect import why

        return why(self.store, key)

    def due_compactions(self, options: Mapping[str, Any] | None = None) -> list[Due]:
        """What a compaction would pick in each bucket, and the deciding rule; `options` to try other settings."""
        from paimon_nb.table.inspect import due_compactions

        return due_compactions(self.store, _texts(options or {}))

    def compare(self, before: int | str, after: int | str) -> Compared:
        """Compare two snapshots (or tags): files, schema, options. `diff` returns the rows. Reads metadata only."""
        from paimon_nb.table.inspect import compare

        return compare(self.store, before, after)

    def health(self, *, read_files: bool = False) -> list[Finding]:
        """Health check, worst finding first, with the SQL that fixes each. read_files: also read every data file."""
        from paimon_nb.table.inspect import health

        return health(self.store, self.name, read_files=read_files)

    # -- widgets

    def lsm(self, **kwargs: Any) -> Any:
        """The levels and sorted runs of each bucket, as a widget."""
        return self._view("lsm", **kwargs)

    def timeline(self, **kwargs: Any) -> Any:
        """The history of snapshots, tags and branches, as a widget."""
        return self._view("timeline", **kwargs)

    def explore(self, **kwargs: Any) -> Any:
        """Everything about the table, as a widget."""
        return self._view("explore", **kwargs)

    def compaction(self, **kwargs: Any) -> Any:
        """Compaction preview with reasons, a button to run it, and the history of compactions, as a widget."""
        return self._view("compaction", **kwargs)

    def funnel(self, where: str = "") -> Any:
        """What a WHERE condition lets the scan skip, and why, as a widget."""
        return self._view("funnel", where=where)

    def compared(self, before: int | str | None = None, after: int | str | None = None) -> Any:
        """Two snapshots or tags compared, as a widget; `compare` returns the facts."""
        return self._view("compared", before=before, after=after)

    def _view(self, name: str, **kwargs: Any) -> Any:
        view = self.views.get(name)
        if view is None:
            raise UnsupportedOperation(f"{name}() needs the notebook extension", hint="run %load_ext paimon_nb")  # fmt: skip
        return view(self, **kwargs)

    # -- time travel

    def _store_at(self, options: Mapping[str, Any] | None, **travel: Any) -> TableStore:
        """The store with options for one read. A named snapshot is read with its own schema."""
        travel_options = {k: v for k, v in travel.items() if v is not None}
        for key in travel_options:
            if key not in _TRAVEL:
                raise BadOptionValue(
                    f"{key!r} is not a time travel option",
                    hint=did_you_mean(key, _TRAVEL) or "snapshot, tag or timestamp",
                )
        dynamic = _texts(options or {})
        match travel_options:
            case {"snapshot": int(number)}:
                dynamic |= {"scan.snapshot-id": str(number), OWN_SCHEMA: "true"}
            case {"snapshot": version}:
                dynamic |= {"scan.version": str(version)}
        if "tag" in travel_options:
            dynamic |= {"scan.tag-name": str(travel_options["tag"]), OWN_SCHEMA: "true"}
        if "timestamp" in travel_options:
            dynamic |= {"scan.timestamp-millis": str(_epoch_ms(travel_options["timestamp"])), OWN_SCHEMA: "true"}
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


def _epoch_ms(time: int | str | dt.date) -> int:
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


def _duration_ms(value: str | int | dt.timedelta | None) -> int | None:
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
