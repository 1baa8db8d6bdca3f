"""The part of the table handle that explains: row history, compaction preview, health, and the panels of the notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.stability import deprecated
from paimon_nb.table.tables.reading import ReadableTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa

    from paimon_nb.table.tables.inspect import CompactionPreview, Finding, RowHistory, SnapshotComparison


class InspectableTable(ReadableTable):
    """A table whose state can be explained and shown."""

    open_view: ClassVar[Callable[..., Any] | None] = None
    """Opens a panel by its name. The package of the panels is above this one; `import paimon_nb` sets it."""

    @property
    def inspect(self) -> TableInspect:
        """Facts about the table: `t.inspect.files()`, `t.inspect.due_compactions()`, `t.inspect.compare(1, 2)` and others."""
        return TableInspect(self)

    @property
    def show(self) -> TableShow:
        """Panels of the table: `t.show.lsm()`, `t.show.timeline()`, `t.show.compaction()` and others."""
        return TableShow(self)

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
        from paimon_nb.table.tables.inspect import row_history

        return row_history(self.store, key)

    @deprecated("0.1", "0.3", "t.inspect.due_compactions()")
    def due_compactions(self, options: Mapping[str, Any] | None = None) -> list[CompactionPreview]:
        """What a compaction would pick in each bucket, and which rule decides. Nothing is written: see `t.inspect.due_compactions()`."""
        return self.inspect.due_compactions(options)

    @deprecated("0.1", "0.3", "t.inspect.compare()")
    def compare(self, before: int | str, after: int | str) -> SnapshotComparison:
        """The files, schema and options that differ between two snapshots. Reads metadata only; `diff` compares rows: see `t.inspect.compare()`."""
        return self.inspect.compare(before, after)

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
        from paimon_nb.table.tables.inspect import health

        return health(self.store, self.name, read_files=read_files)

    # -- widgets

    def lsm(
        self,
        partition: str | None = None,
        bucket: int | None = None,
        by: Literal["key", "rank", "size"] = "key",
        snapshot: int | None = None,
    ) -> Any:
        """Short for `t.show.lsm()`."""
        return self.show.lsm(partition, bucket, by, snapshot)

    def timeline(self, snapshot: int | None = None) -> Any:
        """Short for `t.show.timeline()`."""
        return self.show.timeline(snapshot)

    def explore(self, at: str = "") -> Any:
        """Short for `t.show.explore()`."""
        return self.show.explore(at)

    @deprecated("0.1", "0.3", "t.show.compaction()")
    def compaction(self, options: dict[str, str] | None = None, watch: bool = False) -> Any:
        """A panel of what a compaction would pick and why, with buttons that run it, and of past compactions: see `t.show.compaction()`."""
        return self.show.compaction(options, watch)

    @deprecated("0.1", "0.3", "t.show.funnel()")
    def funnel(self, where: str = "") -> Any:
        """A panel of how much of the table a condition leaves to read: see `t.show.funnel()`."""
        return self.show.funnel(where)

    @deprecated("0.1", "0.3", "t.show.compared()")
    def compared(self, before: int | str | None = None, after: int | str | None = None) -> Any:
        """A panel of two snapshots or tags side by side; `compare` returns the facts: see `t.show.compared()`."""
        return self.show.compared(before, after)

    def _open_panel(self, name: str, **kwargs: Any) -> Any:
        if self.open_view is None:
            raise UnsupportedOperation(f"{name}(): the panels are not loaded", hint="open the table with paimon_nb.connect() or paimon_nb.open_table()")  # fmt: skip
        return self.open_view(self, name, **kwargs)


@dataclass(frozen=True, slots=True)
class TableInspect:
    """Facts about a table, from its metadata. The rows of a system table are `t.inspect.system(name)`."""

    table: InspectableTable
    """The table."""

    def snapshots(self) -> pa.Table:
        """As `Table.snapshots`."""
        return self.table.snapshots()

    def files(self, snapshot: int | None = None) -> pa.Table:
        """As `Table.files`."""
        return self.table.files(snapshot)

    def manifests(self, snapshot: int | None = None) -> pa.Table:
        """As `Table.manifests`."""
        return self.table.manifests(snapshot)

    def schemas(self) -> pa.Table:
        """As `Table.schemas`."""
        return self.table.schemas()

    def partitions(self) -> pa.Table:
        """As `Table.partitions`."""
        return self.table.partitions()

    def buckets(self) -> pa.Table:
        """As `Table.buckets`."""
        return self.table.buckets()

    def consumers(self) -> pa.Table:
        """As `Table.consumers`."""
        return self.table.consumers()

    def system(self, name: str, snapshot: int | None = None) -> pa.Table:
        """As `Table.system`."""
        return self.table.system(name, snapshot=snapshot)

    def why(self, **key: object) -> RowHistory:
        """As `Table.why`."""
        return self.table.why(**key)

    def health(self, *, read_files: bool = False) -> list[Finding]:
        """As `Table.health`."""
        return self.table.health(read_files=read_files)

    def due_compactions(self, options: Mapping[str, Any] | None = None) -> list[CompactionPreview]:
        """What a compaction would pick in each bucket, and which rule decides. Nothing is written.

        Args:
            options: dynamic table options, to see what other settings would do.

        Returns:
            One object for each bucket: `runs`, `rules`, `decided_by` (None: nothing to do), `files`, `bytes`, `output_level`; without
            primary key `output_files`, for each partition if there are no buckets.

        Examples:
            >>> t.inspect.due_compactions()[0].decided_by is None
            True
        """
        from paimon_nb.options.spelling import checked_texts
        from paimon_nb.table.tables.inspect import due_compactions

        return due_compactions(self.table.store, checked_texts(options or {}))

    def compare(self, before: int | str, after: int | str) -> SnapshotComparison:
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
        from paimon_nb.table.tables.inspect import compare

        return compare(self.table.store, before, after)


@dataclass(frozen=True, slots=True)
class TableShow:
    """The panels of a table: live in Jupyter and marimo, as HTML and text elsewhere; `.save("page.html")` writes one as a page."""

    table: InspectableTable
    """The table."""

    def lsm(
        self,
        partition: str | None = None,
        bucket: int | None = None,
        by: Literal["key", "rank", "size"] = "key",
        snapshot: int | None = None,
    ) -> Any:
        """A panel of the levels and sorted runs of a bucket, played commit by commit, below a heat map of all buckets.

        Args:
            partition: the partition, as `buckets()` shows it; None is the one with most data.
            bucket: id of the bucket; None is the one with most data.
            by: the horizontal axis: `'key'` shows key ranges, by value where the key is one integer or DATE column;
                `'rank'` spaces keys evenly; `'size'` shows bytes.
            snapshot: id of the snapshot; None is the newest.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: a format table, which has no snapshots.
            UnknownName: the bucket does not exist.
        """
        return self.table._open_panel("lsm", partition=partition, bucket=bucket, by=by, snapshot=snapshot)

    def timeline(self, snapshot: int | None = None) -> Any:
        """A panel of snapshots, tags and branches.

        Args:
            snapshot: id of the snapshot to begin at; None is the newest.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: a format table, which has no snapshots.
        """
        return self.table._open_panel("timeline", snapshot=snapshot)

    def explore(self, at: str = "") -> Any:
        """A panel of the whole table as a tree, from schema and snapshots to row groups.

        Args:
            at: where to begin, such as `'snapshot/5'`; empty is the table.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: a format table, which has no snapshots.
        """
        return self.table._open_panel("explore", at=at)

    def compaction(self, options: dict[str, str] | None = None, watch: bool = False) -> Any:
        """A panel of what a compaction would pick and why, with buttons that run it, and of past compactions.

        Args:
            options: dynamic table options, to see what other settings would do.
            watch: follow the table as it changes.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: a format table, which has no snapshots.
        """
        return self.table._open_panel("compaction", options=options, watch=watch)

    def funnel(self, where: str = "") -> Any:
        """A panel of how much of the table a condition leaves to read.

        Args:
            where: a condition as in `to_arrow`; empty is none.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: a format table, which has no snapshots.
            SqlSyntaxError: the condition cannot be parsed.
        """
        return self.table._open_panel("funnel", where=where)

    def compared(self, before: int | str | None = None, after: int | str | None = None) -> Any:
        """A panel of two snapshots or tags side by side; `compare` returns the facts.

        Args:
            before: id or tag of the earlier snapshot; None is the one before the newest.
            after: id or tag of the later snapshot; None is the newest.

        Returns:
            A widget.

        Raises:
            UnsupportedOperation: a format table, which has no snapshots.
        """
        return self.table._open_panel("compared", before=before, after=after)
