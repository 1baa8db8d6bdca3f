"""The part of the table handle that alters the table: schema and options, branches, tags, and its history."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Self

from paimon_nb.base.errors import BadOptionValue, TimeTravelError
from paimon_nb.table.tables.handle import TimestampLike, epoch_ms
from paimon_nb.table.tables.inspection import InspectableTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from paimon_nb.table.tables.schema_change import SchemaChange, TableBranches, TableTags


class AlterableTable(InspectableTable):
    """A table whose schema, branches, tags and snapshots can be changed."""

    # -- schema

    def alter(self) -> SchemaChange[Self]:
        """Several changes of columns, options or the comment, applied together or not at all.

        Returns:
            A `SchemaChange`: its methods add changes; `execute()`, or leaving it as a context manager, applies them.

        Examples:
            >>> t = t.alter().add_column("note", "STRING").rename_column("price", "amount").execute()
            >>> t.schema.names
            ('id', 'state', 'amount', 'note')
        """
        from paimon_nb.table.tables.schema_change import SchemaChange

        return SchemaChange(self)

    def add_column(
        self,
        name: str,
        type: str | pa.DataType,
        *,
        comment: str | None = None,
        default: str | None = None,
        first: bool = False,
        after: str | None = None,
    ) -> Self:
        """Add a column; rows that exist have NULL in it.

        Args:
            name: its name; `outer.inner` is a field of a ROW column.
            type: text such as `'DECIMAL(10, 2)'`, or an Arrow type.
            comment: a comment.
            default: the default of new rows, as text.
            first: make it the first column.
            after: put it after this column.

        Returns:
            A handle with the new schema; this one keeps its schema.

        Raises:
            SchemaChangeError: the column exists, or the type does not allow NULL.
            UnsupportedOperation: the handle was opened without a catalog.

        Examples:
            >>> t.add_column("note", "STRING", after="id").schema.names
            ('id', 'note', 'state', 'price')
        """
        change = self.alter().add_column(name, type, comment=comment, default=default, first=first, after=after)
        return change.execute()

    def drop_column(self, name: str) -> Self:
        """Drop a column. Earlier snapshots still show it.

        Args:
            name: its name.

        Returns:
            A handle with the new schema.

        Raises:
            ColumnNotFound: the column does not exist.
            SchemaChangeError: a key column.
            UnsupportedOperation: the handle was opened without a catalog.
        """
        return self.alter().drop_column(name).execute()

    def rename_column(self, name: str, new_name: str) -> Self:
        """Rename a column.

        Args:
            name: its name; `outer.inner` is a field of a ROW column.
            new_name: its new name.

        Returns:
            A handle with the new schema.

        Raises:
            ColumnNotFound: the column does not exist.
            SchemaChangeError: there is a column of the new name, or a partition column.
            UnsupportedOperation: the handle was opened without a catalog.
        """
        return self.alter().rename_column(name, new_name).execute()

    def set_options(self, options: Mapping[str, Any]) -> Self:
        """Store table options. `copy` changes options of a handle alone.

        Args:
            options: values by option; strings, numbers or booleans.

        Returns:
            A handle with the new options.

        Raises:
            BadOptionValue: a value that is not allowed.
            FixedOption: an option that cannot change.
            UnsupportedOperation: the handle was opened without a catalog.

        Examples:
            >>> t.set_options({"snapshot.num-retained.max": 20}).options.raw["snapshot.num-retained.max"]
            '20'
        """
        return self.alter().set_options(options).execute()

    # -- tags and branches

    @property
    def tags(self) -> TableTags:
        """The tags: `t.tags()` returns them as an Arrow table; `t.tags.create(name)` and others change them.

        Examples:
            >>> t.tags.create("tuesday", 2)
            >>> t.tags().select(["tag_name", "snapshot_id"]).to_pylist()
            [{'tag_name': 'monday', 'snapshot_id': 1}, {'tag_name': 'tuesday', 'snapshot_id': 2}]
        """
        from paimon_nb.table.tables.schema_change import TableTags

        return TableTags(self)

    @property
    def branches(self) -> TableBranches:
        """The branches but main: `t.branches()` returns an Arrow table; `t.branches.create(name)` and others change them.

        Examples:
            >>> t.branches.create("trial", tag="monday")
            True
            >>> t.branches().column("branch_name").to_pylist()
            ['trial']
        """
        from paimon_nb.table.tables.schema_change import TableBranches

        return TableBranches(self)

    # -- history

    def history(self) -> pa.Table:
        """All snapshots, newest first.

        Returns:
            An Arrow table with the columns of `snapshots()`.

        Examples:
            >>> t.history().column("snapshot_id").to_pylist()
            [2, 1]
        """
        return self.snapshots().sort_by([("snapshot_id", "descending")])

    def rollback_to(
        self, snapshot: int | None = None, *, tag: str | None = None, timestamp: TimestampLike | None = None
    ) -> int:
        """Make an earlier version the latest one. Later snapshots and their files are deleted.

        Args:
            snapshot: id of the snapshot.
            tag: or a tag's name.
            timestamp: or a time: the last snapshot at or before it.

        Returns:
            The id of the snapshot that is now the latest.

        Raises:
            BadOptionValue: none or several of the three.
            SnapshotNotFound: the snapshot does not exist.
            TagNotFound: the tag does not exist.
            TimeTravelError: no snapshot is that old.

        Examples:
            >>> t.rollback_to(tag="monday")
            1
            >>> t.to_arrow().num_rows
            2
        """
        from paimon_nb.table.write.maintenance import rollback_to_snapshot, rollback_to_tag

        if sum(v is not None for v in (snapshot, tag, timestamp)) != 1:
            raise BadOptionValue(
                "rollback_to() takes one of snapshot, tag and timestamp",
                hint="rollback_to(tag='v1')",
                option="snapshot",
            )
        if tag is not None:
            return rollback_to_tag(self.store, tag).id
        if timestamp is not None:
            limit = epoch_ms(timestamp)
            snapshot = max((s.id for s in self.store.snapshots.all() if s.time_ms <= limit), default=None)
            if snapshot is None:
                raise TimeTravelError(f"{self.name} has no snapshot at or before {timestamp}", hint="use a later time")
        assert snapshot is not None
        return rollback_to_snapshot(self.store, snapshot).id

    def expire(
        self,
        *,
        retain_max: int | None = None,
        retain_min: int | None = None,
        older_than: TimestampLike | dt.timedelta | None = None,
        max_deletes: int | None = None,
    ) -> int:
        """Expire snapshots, and delete the files that only they need. Tags and consumers protect theirs.

        Args:
            retain_max: number of snapshots that are retained at most.
            retain_min: number that is retained at least, whatever their age.
            older_than: a time, or an age: snapshots before it expire.
            max_deletes: expire no more than this number.

        Returns:
            How many snapshots expired. Arguments that are None follow the table's options.

        Raises:
            BadOptionValue: a number that is not allowed.

        Examples:
            >>> t.expire(retain_max=1)
            1
        """
        from paimon_nb.base import clock
        from paimon_nb.table.write.maintenance import ExpireLimits, expire_snapshots

        if isinstance(older_than, dt.timedelta):
            before: int | None = clock.now_ms() - older_than // dt.timedelta(milliseconds=1)
        else:
            before = None if older_than is None else epoch_ms(older_than)
        limits = ExpireLimits.of(
            self.store, retain_min=retain_min, retain_max=retain_max, older_than_ms=before, max_deletes=max_deletes
        )
        return expire_snapshots(self.store, limits)
