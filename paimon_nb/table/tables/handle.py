"""The base of the table handle: identity, options, snapshots and system tables. Knows no catalog."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from paimon_nb.base.errors import BadOptionValue, TableNotFound
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.registry import did_you_mean
from paimon_nb.base.scalars import to_python
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt
from paimon_nb.table.read import OWN_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

TimestampLike = int | str | dt.date
"""A point in time: epoch milliseconds, text, a date or a datetime."""
SchemaStep = tuple[str, Mapping[str, Any]]
"""A change of a schema: its kind, such as 'add_column', and its arguments."""


class TableHandle:
    """What a table is: its metadata, as properties and as system tables."""

    def __init__(self, store: TableStore, name: Identifier | None = None) -> None:
        self.store = store
        self.name = name or _name_from_path(store)
        self.change_schema: Callable[[Sequence[SchemaStep]], object] | None = None
        """Writes the table's next schema; set by the catalog that opened the table."""

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

    def copy(self, options: Mapping[str, Any]) -> Self:
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
        from paimon_nb.options.spelling import checked_texts

        store = self.store.copy(checked_texts(options))
        return self._with_store(store, replace(self.name, branch=store.branch))

    def refresh(self) -> Self:
        """A handle with the schema and options as they are now.

        Returns:
            A new handle; this one keeps its schema.

        Raises:
            TableNotFound: the table was dropped.
            TableReplaced: another table was created in its place.
        """
        return self._with_store(self.store.refreshed(), self.name)

    def _with_store(self, store: TableStore, name: Identifier) -> Self:
        made = type(self)(store, name)
        made.change_schema = self.change_schema if name == self.name else None
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "change_schema": None}  # a catalog stays in its process

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
        from paimon_nb.table.tables.system import SYSTEM_TABLES

        found = SYSTEM_TABLES.get(name.lower())
        if found is None:
            raise TableNotFound(
                f"no system table {self.name}${name}",
                hint=did_you_mean(name, SYSTEM_TABLES) or f"known: {', '.join(sorted(SYSTEM_TABLES))}",
                name=name,
            )
        self.store.check_has_snapshots("system tables")
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
            (timestamp[ms]), deleteRowCount (int64), file_source (string), first_row_id (int64), write_cols (list of string).

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
            num_deleted_files, schema_id (int64), min_partition_stats, max_partition_stats (string), min_row_id, max_row_id
            (int64; None unless all its files have row ids).

        Raises:
            TimeTravelError: the snapshot does not exist.
        """
        return self.system("manifests", snapshot=snapshot)

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
        """The partitions that have rows which a query sees, as in directory names.

        Args:
            legacy: instead of the option `partition.legacy-name`.
            default_name: instead of the option `partition.default-name`.

        Returns:
            A dictionary of column to text for each partition; empty for an unpartitioned table.
        """
        from paimon_nb.table.read.partition_spec import partition_texts

        if not self.partition_keys:
            return []
        found = self._partition_values()
        return [partition_texts(self.schema, self.options, v, legacy=legacy, default_name=default_name) for v in found]

    def _partition_values(self) -> list[tuple[Any, ...]]:
        """The values of each partition with rows, those too that wait for a compaction; of a format table each directory."""
        if self.store.is_format_table:
            from paimon_nb.table.read.format_table import find_partitions

            return [p.values for p in find_partitions(self.store)]
        from paimon_nb.table.read.plan.snapshot_scan import merges_postponed
        from paimon_nb.table.tables.system.file_totals import selected_entries

        _, entries = selected_entries(self.store)
        postponed = merges_postponed(self.store)
        seen = [e for e in entries if e.bucket >= 0 or postponed]
        return [self.store.partition_values(p) for p in dict.fromkeys(e.partition for e in seen)]

    # -- time travel

    def _store_at(
        self,
        options: Mapping[str, Any] | None,
        snapshot: int | str | None = None,
        tag: str | None = None,
        timestamp: TimestampLike | None = None,
    ) -> TableStore:
        """The store with options for one read. A named snapshot is read with its own schema."""
        dynamic: dict[str, str] = {}
        if options:
            from paimon_nb.options.spelling import checked_texts

            dynamic = checked_texts(options)
        if isinstance(snapshot, int):
            dynamic |= {"scan.snapshot-id": str(snapshot), OWN_SCHEMA: "true"}
        elif snapshot is not None:
            dynamic |= {"scan.version": str(snapshot)}
        if tag is not None:
            dynamic |= {"scan.tag-name": str(tag), OWN_SCHEMA: "true"}
        if timestamp is not None:
            dynamic |= {"scan.timestamp-millis": str(epoch_ms(timestamp)), OWN_SCHEMA: "true"}
        if not (snapshot is None and tag is None and timestamp is None):
            dynamic[opt.SCAN_MODE.key] = "default"  # time travel applies whatever the table's own scan.mode is
        return self.store.copy(dynamic) if dynamic else self.store


def epoch_ms(time: TimestampLike) -> int:
    """A point in time as a number.

    Args:
        time: epoch milliseconds, a datetime, a date, or text in the local time zone.

    Returns:
        Epoch milliseconds.

    Raises:
        BadOptionValue: not a point in time.
    """
    from paimon_nb.table.read.plan.time_travel import local_time_ms

    match to_python(time):
        case bool():
            pass
        case int(ms):
            return ms
        case dt.datetime() as at:
            return int(at.timestamp() * 1000)
        case dt.date() as day:  # its first instant, as for a date in text
            return local_time_ms(day.isoformat(), "timestamp")
        case str(text):
            return int(text) if text.isdecimal() else local_time_ms(text, "timestamp")
    raise BadOptionValue(
        f"timestamp={time!r} is not a point in time", hint="epoch milliseconds, a datetime, or '2024-01-31 12:00:00'"
    )


def _name_from_path(store: TableStore) -> Identifier:
    parts = store.root.rstrip("/").split("/")
    database = parts[-2].removesuffix(".db") if len(parts) > 1 and parts[-2] else "default"
    return Identifier(database, parts[-1], store.branch)
