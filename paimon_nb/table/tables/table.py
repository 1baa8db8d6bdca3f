"""The table handle: metadata, small reads and writes without Spark. Knows no catalog.

Every method is a thin call; the rules are in the packages of `paimon_nb.table`. The class is built in layers, one a module:
`handle` (metadata), `reading`, `inspection`, `altering`, and here writing and maintenance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, CommitRemoved, SchemaMismatch, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.stability import deprecated
from paimon_nb.format.types import arrow_type
from paimon_nb.options import table as opt
from paimon_nb.table.read.partition_spec import in_row_spec
from paimon_nb.table.tables.altering import AlterableTable

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Collection, Iterable, Sequence

    import pyarrow as pa

    from paimon_nb.table.read import Predicate
    from paimon_nb.table.tables.handle import TimestampLike
    from paimon_nb.table.tables.schema_change import Retention
    from paimon_nb.table.write import TableWrite
    from paimon_nb.table.write.commit import TableCommit
    from paimon_nb.table.write.input_rows import Rows
    from paimon_nb.table.write.merge_builder import TableMerge

_FEW_ROWS = 100_000
"""Their commit builds on the state that their write began with. More rows take longer, and others may commit meanwhile."""


class Table(AlterableTable):
    """A table, or one branch of it. A handle is cheap: metadata is read when a method asks for it.

    Schema and options are those of the time when the handle was created. Each call reads the snapshots again. Get one with
    `Workbench.table` or `paimon_nb.open_table`. No method needs Spark.

    Examples:
        >>> t.primary_keys
        ('id',)
        >>> t.to_arrow(columns=["id", "state"], where="price > 10").to_pylist()
        [{'id': 1, 'state': 'paid'}, {'id': 2, 'state': 'new'}]
    """

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
        return self._write()

    def _write(self, *, at_once: bool = False) -> TableWrite:
        from paimon_nb.table.write import FormatTableWrite, TableWrite

        self.store.check_not_materialized("a write")
        if self.store.is_format_table:
            return cast("TableWrite", FormatTableWrite(self.store))  # the same methods, without keys and row ids
        return TableWrite(self.store, at_once=at_once)

    def commit(self, commit_user: str | None = None) -> TableCommit:
        """A committer, which publishes messages of writers as snapshots.

        Args:
            commit_user: identity of the job across its commits; None is a new UUID, as for a batch write.

        Returns:
            A committer; its method `commit(messages)` returns the ids of the new snapshots.
        """
        from paimon_nb.table.write.commit import FormatTableCommit, TableCommit

        if commit_user is not None and not isinstance(commit_user, str):
            raise BadOptionValue(
                "commit() takes the name of a job and returns a committer; nothing is committed yet",
                hint="t.commit().commit(messages)", option="commit_user",
            )  # fmt: skip
        if self.store.is_format_table:
            return cast("TableCommit", FormatTableCommit(self.store))  # it takes what a writer of this table prepares
        return TableCommit(self.store, commit_user)

    def append(self, rows: Rows, *, progress: Callable[[int, int], None] | None = None) -> list[int]:
        """Add rows in one commit. In a table with a primary key this is an upsert.

        Args:
            rows: Arrow data, a pyarrow dataset, or a frame of pandas, polars, DuckDB or Spark. Columns are matched by name; a missing
                nullable column is null or its default. A stream is written in chunks; one without rows gives a warning, since
                it may have been read before.
            progress: called after each chunk of about 131072 rows, before the commit, with the number of rows so far and
                their bytes in memory. An error that it raises ends the write, and nothing is stored.

        Returns:
            The ids of the new snapshots; empty if there are no rows.

        Raises:
            SchemaMismatch: a column does not exist or cannot be converted.
            NullNotAllowed: a null in a column that is NOT NULL.
            CommitConflict: another commit changed the same files.
            ReaderConsumed: `rows` are record batches of a query, and were read before.

        Examples:
            >>> rows = pa.table({"id": pa.array([7, 8], pa.int32()), "price": pa.array([1, 2], pa.int32())})
            >>> t.append(rows, progress=lambda rows, bytes: print(rows, "rows,", bytes, "bytes"))
            2 rows, 16 bytes
            [3]
        """
        return self._write_and_commit(rows, None, progress)

    def upsert(self, rows: Rows, *, progress: Callable[[int, int], None] | None = None) -> list[int]:
        """Add rows or replace them by primary key, in one commit.

        Args:
            rows: as in `append`; all primary-key columns are needed.
            progress: as in `append`.

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
        self._require_primary_key("upsert")
        return self._write_and_commit(rows, None, progress)

    def delete(self, keys: Rows | str | Predicate | None = None, *, where: str | Predicate | None = None) -> list[int]:
        """Delete rows in one commit.

        Args:
            keys: rows with the primary-key columns (as in `append`), or a condition as in `to_arrow`.
            where: the condition, by name.

        Returns:
            The ids of the new snapshots; empty if nothing matches.

        Raises:
            UnsupportedOperation: keys for a table without a primary key, or the merge engine does not allow deletes.
            SchemaMismatch: neither `keys` nor `where`; `truncate` deletes all rows.
            BadOptionValue: both `keys` and `where`.
            ColumnNotFound: a key column is missing.

        Examples:
            >>> t.delete(where="price < 10")
            [3]
            >>> t.to_arrow().num_rows
            2
        """
        import numpy as np
        import pyarrow as pa

        from paimon_nb.format.types.arrow_builders import arrow_column
        from paimon_nb.table.read import Predicate
        from paimon_nb.table.read.plan.time_travel import retry_on_expiry
        from paimon_nb.table.write.dml_checks import check_delete
        from paimon_nb.table.write.input_rows import as_reader, warn_of_empty_stream
        from paimon_nb.table.write.row_changes import ChangedRows, change_rows

        if keys is None and where is None:
            raise SchemaMismatch(
                "rows of type NoneType cannot be written: delete() takes keys or a condition",
                hint="delete(where='id = 7'); truncate() deletes all rows",
            )
        if keys is not None and where is not None:
            raise BadOptionValue(
                "delete() takes keys or a condition, not both", hint="delete(where=...)", option="where"
            )
        condition = keys if where is None else where
        if isinstance(condition, str | Predicate):
            check_delete(self.store)

            def all_of_them(rows: pa.Table) -> ChangedRows:
                return ChangedRows(np.zeros(rows.num_rows, bool), np.ones(rows.num_rows, bool))

            return retry_on_expiry(self.store, lambda: change_rows(self.store, condition, all_of_them))
        self._require_primary_key("delete of keys")
        check_delete(self.store)
        assert condition is not None
        found = self._with_all_columns(as_reader(condition).read_all())
        if not found.num_rows:
            warn_of_empty_stream(condition, self.name)
            return []
        return self._write_and_commit(found, arrow_column([3] * found.num_rows, pa.int8()))

    def update(self, values: Mapping[str, Any], *, where: str | Predicate | None = None) -> list[int]:
        """Update columns of the rows that match a condition, in one commit.

        Args:
            values: by column: a Python value, an Arrow scalar, an expression of Arrow such as `pc.field("price") * 2`, or a
                function that takes the rows as an Arrow table and returns one value per row.
            where: a condition as in `to_arrow`; None updates all rows.

        Returns:
            The ids of the new snapshots; empty if nothing matches.

        Raises:
            ColumnNotFound: a column does not exist.
            SchemaMismatch: a value does not fit its column.
            NullNotAllowed: a null for a column that is NOT NULL.
            UnsupportedOperation: a key column, or the merge engine does not allow updates.
            CommitConflict: another commit changed the same files.

        Examples:
            >>> import pyarrow.compute as pc
            >>> t.update({"state": "paid", "price": pc.field("price") + 1}, where="id = 2")
            [3]
            >>> t.lookup(id=2).to_pylist()
            [{'id': 2, 'state': 'paid', 'price': 36}]
        """
        import numpy as np

        from paimon_nb.table.read.plan.time_travel import retry_on_expiry
        from paimon_nb.table.write.dml_checks import check_merge_update, check_update
        from paimon_nb.table.write.row_changes import ChangedRows, change_rows, evaluate_assignments

        fields = {self.schema.column_name(name): value for name, value in values.items()}
        if not fields:
            raise BadOptionValue("update() has no values", hint="update({'state': 'paid'})", option="values")
        (check_merge_update if self.store.evolves_data else check_update)(self.store, sorted(fields))
        by_name = {f.name: f for f in self.schema.fields}

        def set_values(rows: pa.Table) -> ChangedRows:
            yes = np.ones(rows.num_rows, bool)
            return ChangedRows(yes, ~yes, evaluate_assignments(rows, fields, by_name))

        return retry_on_expiry(self.store, lambda: change_rows(self.store, where, set_values, sorted(fields)))

    def update_by_row_id(self, rows: Rows) -> list[int]:
        """New values of columns for rows that are named by their row ids, in one commit.

        Only the new values are written, beside the rows (`data-evolution.enabled`). The ids are the column `_ROW_ID` of
        `t.system("row_tracking")`.

        Args:
            rows: the column `_ROW_ID` and the columns with new values; each id once.

        Returns:
            The ids of the new snapshots.

        Raises:
            SchemaMismatch: an id is null, twice there or not in the table, or a value does not fit its column.
            UnsupportedOperation: the table has no data evolution, or a column is a partition column.
            CommitConflict: another commit changed the same rows.

        Examples:
            >>> evolves = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
            >>> notes = wb.create_table("notes", pa.table({"id": [1, 2], "n": [0, 0]}), options=evolves)
            >>> notes.update_by_row_id(pa.table({"_ROW_ID": [1], "n": [7]}))
            [2]
            >>> notes.to_arrow().to_pylist()
            [{'id': 1, 'n': 0}, {'id': 2, 'n': 7}]
        """
        from paimon_nb.table.write.column_changes import update_by_row_id
        from paimon_nb.table.write.input_rows import as_table

        self.store.check_not_materialized("UPDATE")
        return update_by_row_id(self.store, as_table(rows))

    def backfill(
        self,
        values: Mapping[str, Callable[[pa.Table], Any]],
        columns: Sequence[str],
        *,
        overwrite: bool = False,
        rows_per_commit: int = 1_000_000,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[int]:
        """Fill columns from functions of other columns, file by file, without rewriting rows (`data-evolution.enabled`).

        Rows of files that have values of all these columns are left out, so that a backfill that was interrupted
        continues where its last commit ended.

        Args:
            values: a function for each column. It takes rows as an Arrow table and returns one value per row: an Arrow
                array, a list or a NumPy array; a matrix is a column of vectors.
            columns: names of the columns that the functions get.
            overwrite: also replace values that are there.
            rows_per_commit: number of rows after which a commit is published.
            progress: called after each commit with the number of rows that are done and of all rows to fill.

        Returns:
            The ids of the new snapshots.

        Raises:
            ColumnNotFound: a column does not exist.
            SchemaMismatch: a value does not fit its column.
            UnsupportedOperation: the table has no data evolution, or a column is a partition column.
            CommitConflict: another commit changed the same rows.

        Examples:
            >>> evolves = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
            >>> words = wb.create_table("words", pa.table({"word": ["a", "bcd"]}), options=evolves)
            >>> words = words.add_column("length", "INT")
            >>> words.backfill({"length": lambda rows: [len(w) for w in rows["word"].to_pylist()]}, ["word"])
            [2]
            >>> words.to_arrow().to_pylist()
            [{'word': 'a', 'length': 1}, {'word': 'bcd', 'length': 3}]
        """
        from paimon_nb.table.write.column_changes import backfill

        self.store.check_not_materialized("a backfill")
        named = {self.schema.column_name(name): function for name, function in values.items()}
        read = [self.schema.column_name(name) for name in columns]
        return backfill(
            self.store, named, read, overwrite=overwrite, rows_per_commit=rows_per_commit, progress=progress
        )

    def merge(self, source: Rows, on: str | Sequence[str] | Mapping[str, str]) -> TableMerge:
        """Merge a frame into the table: updates, deletes and inserts in one commit.

        Args:
            source: the frame, as in `append`. It is kept in memory.
            on: the columns that must be equal: a name, several names, or columns of the source by those of the table.

        Returns:
            A `TableMerge`: add clauses such as `when_matched_update()`, then `execute()`.

        Raises:
            BadOptionValue: `on` has no column.

        Examples:
            >>> rows = pa.table({"id": pa.array([1, 4], pa.int32()), "state": ["sent", "new"]})
            >>> t.merge(rows, on="id").when_matched_update().when_not_matched_insert().execute()
            [3]
            >>> sorted(t.to_arrow(["id", "state"]).to_pylist(), key=lambda row: row["id"])[0]
            {'id': 1, 'state': 'sent'}
        """
        from paimon_nb.table.write.merge_builder import TableMerge

        names = on if isinstance(on, Mapping) else {n: n for n in ([on] if isinstance(on, str) else on)}
        if not names:
            raise BadOptionValue("merge() needs a column in `on`", hint="merge(rows, on='id')", option="on")
        return TableMerge(self.store, source, {self.schema.column_name(k): v for k, v in names.items()})

    def overwrite(
        self,
        rows: Rows,
        partition: Mapping[str, Any] | None = None,
        *,
        dynamic: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[int]:
        """Replace the whole table, one partition, or the partitions of the rows, in one commit.

        Args:
            rows: as in `append`.
            partition: values of partition columns: only this partition is replaced.
            dynamic: replace only the partitions that the rows have.
            progress: as in `append`.

        Returns:
            The ids of the new snapshots.

        Raises:
            SchemaMismatch: a column does not exist or cannot be converted.
            CommitConflict: another commit changed the same files.
        """
        from paimon_nb.table.write import FormatTableWrite, TableWrite
        from paimon_nb.table.write.input_rows import chunks_to_write
        from paimon_nb.table.write.publish.overwrite import Overwrite

        self.store.check_not_materialized("INSERT OVERWRITE")
        count = 0
        store = self.store
        with FormatTableWrite(store) if store.is_format_table else TableWrite(store, overwrite=True) as writing:
            for part in chunks_to_write(rows, self.name, progress):
                count += part.num_rows
                writing.write(part)
            messages: Any = writing.prepare_commit()
        scope = Overwrite(in_row_spec(self.schema, partition or {}), dynamic=dynamic)
        return self.commit().commit(messages, overwrite=scope, expected_rows=count)

    def _write_and_commit(
        self, rows: Rows, kinds: pa.Array | None, progress: Callable[[int, int], None] | None = None
    ) -> list[int]:
        from paimon_nb.table.write.input_rows import as_table, chunks_to_write

        ignored = self.store.options.ignores_empty_commits
        at_once = kinds is not None or (hasattr(rows, "num_rows") and progress is None)
        parts = iter([as_table(rows)]) if at_once else chunks_to_write(rows, self.name, progress)
        if self.store.is_format_table:
            return self._commit_parts(parts, kinds, ignored=ignored)
        few = at_once and cast("Any", rows).num_rows <= _FEW_ROWS
        with self.store.fs.writing_in_background():  # the files of the rows beside the manifests
            return self._commit_parts(parts, kinds, ignored=ignored, at_once=few)

    def _commit_parts(
        self, parts: Iterable[pa.Table], kinds: pa.Array | None, *, ignored: bool, at_once: bool = False
    ) -> list[int]:
        from paimon_nb.table.write.table_write import write_all

        parts = list(parts) if at_once else parts
        while True:
            writing, messages, count = write_all(
                self.store, lambda: self._write(at_once=at_once), parts, kinds, again=at_once
            )
            if not count and ignored:
                return []
            committing = self.commit()
            if at_once:
                committing.begin_with(writing.head)
            try:
                return committing.commit(messages, expected_rows=count, ignore_empty=ignored)
            except CommitRemoved:
                if not at_once:
                    raise  # the rows cannot be read again

    def _with_all_columns(self, keys: pa.Table) -> pa.Table:
        """Rows to delete: with their current values, or only the keys with NULLs if nothing needs more."""
        import pyarrow as pa

        missing = [k for k in self.primary_keys if k not in keys.column_names]
        if missing:
            raise ColumnNotFound(f"delete needs the key column {missing[0]!r}", hint=f"keys: {', '.join(self.primary_keys)}", column=missing[0])  # fmt: skip
        rows = keys.select([n for n in self.schema.names if n in keys.column_names])
        absent = [f for f in self.schema.fields if f.name not in rows.column_names]
        if self._reads_deleted_rows() or not all(f.type.nullable for f in absent):
            return self._existing_rows(keys)
        for field in absent:
            rows = rows.append_column(field.name, pa.nulls(rows.num_rows, arrow_type(field.type)))
        return rows

    def _reads_deleted_rows(self) -> bool:
        """Whether the other columns of a deleted row are needed: for its version, retractions, or the changelog."""
        o = self.options
        return bool(
            o.merge_engine != "deduplicate" or o.get(opt.SEQUENCE_FIELD) or o.get(opt.CHANGELOG_PRODUCER) == "input"
        )

    def _existing_rows(self, keys: pa.Table) -> pa.Table:
        from paimon_nb.format.data.schema_cast import cast_to_schema
        from paimon_nb.format.types.arrow_builders import from_numpy
        from paimon_nb.table.lsm.superseded import is_in, key_ids

        fields = [self.schema.field(k) for k in self.primary_keys]
        present_ids = key_ids(cast_to_schema(keys.select(self.primary_keys), fields), fields)
        rows = self.to_arrow()
        return rows.filter(from_numpy(is_in(key_ids(rows, fields), present_ids)))

    def _require_primary_key(self, what: str) -> None:
        if not self.primary_keys:
            raise UnsupportedOperation(
                f"{self.name} has no primary key, so {what} is not supported",
                hint="append() adds rows; overwrite() replaces them",
            )

    # -- maintenance

    @property
    def maintain(self) -> TableMaintain:
        """Work on files: `t.maintain.compact()`, `t.maintain.expire()`, `t.maintain.analyze()` and others."""
        return TableMaintain(self)

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
        from paimon_nb.table.write.compact import compact
        from paimon_nb.table.write.publish.overwrite import partition_matcher

        keep_partition = partitions if callable(partitions) else None
        if partitions is not None and keep_partition is None:
            matchers = [partition_matcher(self.store, in_row_spec(self.schema, p)) for p in partitions]  # type: ignore[union-attr]
            keep_partition = lambda p: any(m(p) for m in matchers)  # noqa: E731
        return self.commit().commit(compact(self.store, keep_partition, full=full, buckets=buckets))

    @deprecated("0.1", "0.3", "t.maintain.sort_compact()")
    def sort_compact(
        self,
        strategy: Literal["order", "zorder", "hilbert"],
        columns: Sequence[str],
        partitions: Callable[[bytes], bool] | None = None,
    ) -> list[int]:
        """Rewrite an append table in an order, in this process, and commit: see `t.maintain.sort_compact()`."""
        return self.maintain.sort_compact(strategy, columns, partitions)

    @deprecated("0.1", "0.3", "t.maintain.analyze()")
    def analyze(self, columns: Sequence[str] | None = (), *, spark: bool = False) -> int | None:
        """Compute statistics of the latest snapshot: row count, size, and statistics of columns: see `t.maintain.analyze()`."""
        return self.maintain.analyze(columns, spark=spark)

    @deprecated("0.1", "0.3", "t.tags.create()")
    def create_tag(self, name: str, snapshot: int | None = None, *, retained: Retention | None = None) -> None:
        """Create a tag for a snapshot, which then does not expire: see `t.tags.create()`."""
        self.tags.create(name, snapshot, retained=retained)

    @deprecated("0.1", "0.3", "t.tags.replace()")
    def replace_tag(
        self,
        name: str,
        snapshot: int | None = None,
        *,
        retained: Retention | None = None,
        create: bool = False,
    ) -> None:
        """Move a tag to another snapshot: see `t.tags.replace()`."""
        self.tags.replace(name, snapshot, retained=retained, create=create)

    @deprecated("0.1", "0.3", "t.tags.delete()")
    def delete_tag(self, name: str, *, if_exists: bool = False) -> None:
        """Delete a tag, and the files that only its snapshot needs: see `t.tags.delete()`."""
        self.tags.delete(name, if_exists=if_exists)

    @deprecated("0.1", "0.3", "t.tags.rename()")
    def rename_tag(self, name: str, new_name: str) -> None:
        """Rename a tag: see `t.tags.rename()`."""
        self.tags.rename(name, new_name)

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
        self.store.check_not_materialized("DROP PARTITION")
        if self.store.is_format_table:
            from paimon_nb.table.write.commit import drop_format_table_partitions

            drop_format_table_partitions(
                self.store, [in_row_spec(self.schema, s) for s in specs], must_exist=must_exist
            )
            return []
        from paimon_nb.table.write.maintenance import drop_partitions

        made = drop_partitions(self.store, [in_row_spec(self.schema, s) for s in specs], must_exist=must_exist)
        return [] if made is None else [made]

    def truncate(self, partition: Mapping[str, Any] | None = None) -> list[int]:
        """Delete all rows, or those of one partition.

        Args:
            partition: values by partition column; None is the whole table.

        Returns:
            The ids of the new snapshots; empty if there was nothing to delete.
        """
        if partition is not None and not partition:
            raise BadOptionValue(
                "truncate() got a partition without values",
                hint="truncate() empties the whole table",
                option="partition",
            )
        self.store.check_not_materialized("TRUNCATE")
        if self.store.is_format_table:
            from paimon_nb.table.write.commit import truncate_format_table

            truncate_format_table(self.store, [in_row_spec(self.schema, partition)] if partition else [])
            return []
        from paimon_nb.table.write.maintenance import truncate

        if partition:
            return self.drop_partitions([partition])
        made = truncate(self.store)
        return [] if made is None else [made]


@dataclass(frozen=True, slots=True)
class TableMaintain:
    """Work on the files of a table that leaves its rows as they are. Runs in this process."""

    table: Table
    """The table."""

    def compact(
        self,
        partitions: Sequence[Mapping[str, Any]] | Callable[[bytes], bool] | None = None,
        *,
        full: bool = True,
        buckets: Collection[int] | None = None,
    ) -> list[int]:
        """As `Table.compact`."""
        return self.table.compact(partitions, full=full, buckets=buckets)

    def expire(
        self,
        *,
        retain_max: int | None = None,
        retain_min: int | None = None,
        older_than: TimestampLike | dt.timedelta | None = None,
        max_deletes: int | None = None,
    ) -> int:
        """As `Table.expire`."""
        return self.table.expire(
            retain_max=retain_max, retain_min=retain_min, older_than=older_than, max_deletes=max_deletes
        )

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
        from paimon_nb.table.write.cluster import Order
        from paimon_nb.table.write.compact import plan_sort, run_sort, sort_overwrite

        newest = self.table.store.at_newest_schema()
        order = Order.of(newest, strategy, [newest.schema.column_name(c) for c in columns])
        tasks = plan_sort(self.table.store, partitions)
        commit, messages = self.table.commit(), []
        try:
            for task in tasks:
                messages += run_sort(self.table.store, task, order)
        except BaseException:
            commit.abort(messages)
            raise
        if not tasks:
            return []
        return commit.commit(messages, overwrite=sort_overwrite(self.table.store, tasks))

    def analyze(self, columns: Sequence[str] | None = (), *, spark: bool = False) -> int | None:
        """Compute statistics of the latest snapshot: row count, size, and statistics of columns.

        Args:
            columns: names of the columns; None is all, an empty sequence none.
            spark: collect what Spark's ANALYZE collects, also lengths of numbers and bounds of booleans; else what Flink's does.

        Returns:
            The id of the ANALYZE snapshot; None for a table without snapshots. `system("statistics")` shows the result.

        Raises:
            ColumnNotFound: a column does not exist.
        """
        from paimon_nb.table.write.maintenance import analyze

        names = None if columns is None else [self.table.schema.column_name(c) for c in columns]
        return analyze(self.table.store, names, spark=spark)
