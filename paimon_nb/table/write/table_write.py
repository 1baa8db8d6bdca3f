"""TableWrite: Arrow rows in, commit messages out; and the writers of one bucket. Runs in the driver and in Spark tasks.

It reads the table's state once, writes files that are not visible yet, and publishes nothing. A bucket's writer buffers, sorts, merges
and flushes to level 0 if the table has a primary key, else it writes in arrival or clustering order.
Source: docs/spec/merge-semantics.md section 4; docs/spec/format.md section 8.1.
"""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import MissingFile, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import ROW_ID_FIELD, SEQUENCE_NUMBER, VALUE_KIND
from paimon_nb.format.data.schema_cast import cast_to_schema, without_char_padding
from paimon_nb.format.row import EMPTY_ROW
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.options import table as opt
from paimon_nb.options.support import Access
from paimon_nb.table.lsm.merge import MergeSpec, SortedChunks, merge, merge_sorted_groups
from paimon_nb.table.lsm.merge.merge import DELETE, UPDATE_BEFORE
from paimon_nb.table.read.live_files import LIVE_FILES, BucketFiles, BucketKey
from paimon_nb.table.read.plan.time_travel import retry_on_expiry
from paimon_nb.table.read.side_by_side import in_threads_on_object_store
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write.cluster import Order, OrderedRows
from paimon_nb.table.write.cross_partition import CrossPartition
from paimon_nb.table.write.data_file_writer import FileTarget, write_key_values
from paimon_nb.table.write.dedicated_files import dedicated_fields, open_append_writer
from paimon_nb.table.write.dynamic_bucket import DynamicBuckets
from paimon_nb.table.write.input_rows import (
    Kinds,
    Rows,
    as_table,
    fixed_buckets,
    partition_groups,
    row_kinds,
    rows_to_keep,
    split_by_bucket,
    take_rows,
    with_defaults,
)
from paimon_nb.table.write.managed_blobs import ManagedBlobs
from paimon_nb.table.write.publish.abort import abort_messages
from paimon_nb.table.write.publish.attempt import manifest_format
from paimon_nb.table.write.publish.changes import CommitMessage
from paimon_nb.table.write.publish.head import TableHead
from paimon_nb.table.write.waiting_rows import WaitingRows, max_open_writers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.snapshot import Snapshot

_LARGE = 16 << 20
"""From this flush size on, memory is returned to the system."""


class KeyBucketWriter:
    """Takes rows in arrival order; returns level-0 files and, for changelog-producer=input, changelog files.

    Memory: the rows since the last `flush`, which writes them to level-0 files. The owner of several writers decides
    when.
    """

    def __init__(
        self,
        store: TableStore,
        spec: MergeSpec,
        target: FileTarget,
        next_sequence: int,
        *,
        write_changelog: bool = True,
    ) -> None:
        """`write_changelog`: False for an overwrite, which has no changelog with any producer."""
        self.store = store
        self.spec = spec
        self.target = target
        self.next_sequence = next_sequence
        self.new_files: list[DataFile] = []
        self.changelog_files: list[DataFile] = []
        self.row_count = 0
        self._buffer: list[pa.Table] = []
        self.buffered = 0
        """Bytes of buffered rows."""
        self._blobs = ManagedBlobs(store, target.partition, target.bucket) if store.managed_blobs else None
        self._log_input = write_changelog and str(store.options.get(opt.CHANGELOG_PRODUCER)) == "input"

    def write(self, rows: pa.Table, kinds: np.ndarray) -> None:
        """Add conformed rows with their kinds (int8 codes)."""
        count = rows.num_rows
        if self._blobs is not None:
            rows = self._blobs.with_descriptors(rows, kinds)
        numbers = np.arange(self.next_sequence, self.next_sequence + count, dtype=np.int64)
        self.next_sequence += count
        self.row_count += count
        kv = rows.append_column(SEQUENCE_NUMBER, from_numpy(numbers)).append_column(VALUE_KIND, from_numpy(kinds))
        self._buffer.append(kv)
        self.buffered += kv.nbytes

    def flush(self) -> None:
        """Write the buffer to level-0 files."""
        if not self._buffer:
            return
        rows, large = SortedChunks(self._buffer, self.spec), self.buffered >= _LARGE
        self._buffer, self.buffered = [], 0
        if self._log_input:
            changes = (groups.sorted for groups in rows)
            self.changelog_files += write_key_values(self.store, replace(self.target, changelog=True), changes)
        merged = (merge_sorted_groups(groups, self.spec) for groups in rows)
        self.new_files += write_key_values(self.store, self.target, merged)
        del rows, merged
        if large:  # otherwise the memory pool stays fragmented by each flush
            pa.default_memory_pool().release_unused()

    def files(self) -> tuple[list[DataFile], list[DataFile]]:
        """Flush, then (new files, changelog files)."""
        self.flush()
        if self._blobs is not None:
            self._blobs.close()
        return self.new_files, self.changelog_files

    def abort(self) -> None:
        """Delete every file written so far."""
        if self._blobs is not None:
            self._blobs.abort()
        for file in [*self.new_files, *self.changelog_files]:
            for path in self.store.paths_of(self.target.partition, self.target.bucket, file):
                self.store.fs.delete(path)
        self._buffer = []


class AppendBucketWriter:
    """Streams rows to files in input order. Memory: one slice of rows.

    `tracked` as for `AppendFileWriter`. With an order, rows are buffered until the end: in memory up to `write-buffer-size`,
    then on local disk.
    """

    buffered = 0
    """Bytes of rows that a flush would write: none, rows stream to their file."""

    def __init__(
        self,
        store: TableStore,
        target: FileTarget,
        next_sequence: int,
        order: Order | None = None,
        *,
        tracked: bool = False,
    ) -> None:
        self.row_count = 0
        self._files = open_append_writer(store, target, next_sequence, tracked=tracked)
        self._ordered = OrderedRows(store, order) if order is not None else None

    def write(self, rows: pa.Table, kinds: np.ndarray) -> None:
        self.row_count += rows.num_rows
        if self._ordered is not None:
            self._ordered.add(rows)
        else:
            self._files.write(rows)

    def flush(self) -> None:
        """Does nothing: no rows are buffered."""

    def files(self) -> tuple[list[DataFile], list[DataFile]]:
        """(new files, no changelog)."""
        if self._ordered is not None:
            for rows in self._ordered.sorted():
                self._files.write(rows)
            self._ordered.close()
        return self._files.finish(), []

    def abort(self) -> None:
        """Delete every file written so far."""
        if self._ordered is not None:
            self._ordered.close()
        self._files.abort()


def write_order(store: TableStore) -> Order | None:
    """The order of a batch write (`clustering.columns`); None: arrival order.

    Rows of a bucket keep their order. Incremental clustering leaves the work to compaction by default.
    """
    o = store.options
    if store.has_keys or store.bucket_option != -1:
        return None
    if o.get(opt.CLUSTERING_INCREMENTAL) and not o.get(opt.CLUSTERING_INCREMENTAL_OPTIMIZE_WRITE):
        return None
    return Order.of_options(store)


Writer = KeyBucketWriter | AppendBucketWriter
MIN_THREADS = 4
"""Parallel writers: small files wait for the disk, not for a core."""


@dataclass(frozen=True)
class WriterState:
    """The table's state when the write began."""

    snapshot: Snapshot | None
    buckets: dict[BucketKey, BucketFiles]
    totals: dict[bytes, int]
    """Number of buckets per partition."""
    newest_schema: int | None = None
    """Id of the newest schema; only a compaction needs it."""
    head: TableHead | None = None
    """What a commit may build on that follows at once."""

    def next_sequence(self, key: BucketKey) -> int:
        return self._files_of_bucket(key).max_sequence + 1

    def files(self, key: BucketKey) -> list[DataFile]:
        return [e.file for e in self._files_of_bucket(key).entries]

    def _files_of_bucket(self, key: BucketKey) -> BucketFiles:
        return self.buckets.get(key, BucketFiles())


_THREADS_OF_OBJECT_STORE = 32
"""They wait for replies most of the time."""
_FEW_ROWS = 10_000
"""Below this size, starting threads costs more than it saves."""


def load_writer_state(
    store: TableStore, *, overwrite: bool = False, compact: bool = True, at_once: bool = False
) -> WriterState:
    """State of the latest snapshot: its id, live files and buckets.

    Args:
        overwrite: True leaves out the files.
        compact: False leaves out the newest schema.
        at_once: the commit follows at once. On an object store it then builds on what is read here.
    """
    head = None
    if at_once and store.fs.is_object_store and store.versions is None:
        head = TableHead.checked(store)
        snapshot, schema = head.snapshot, head.newest_schema
    elif compact:
        snapshot, schema = in_threads_on_object_store(store.fs, store.latest, store.schemas.latest_id)
    else:
        snapshot, schema = store.latest(), None
    if overwrite or (head is not None and not store.has_keys and store.bucket_option == -1):
        buckets: dict[BucketKey, BucketFiles] = {}
        totals: dict[bytes, int] = {}
    else:
        newest = snapshot
        snapshot, buckets, totals = LIVE_FILES.at_newest(store, newest)
        head = head if snapshot is newest else None
    return WriterState(snapshot, buckets, totals, schema, head)


class TableWrite:
    """Writes the rows of one commit; returned by `Table.write`.

    A context manager: leaving it without `prepare_commit()` deletes the written files.

    Args:
        store: the table.
        overwrite: True if the commit replaces the files it touches, so that existing rows do not matter.
        compact: False leaves compaction to another job, as with `write-only`.
        tracked: the rows have `_ROW_ID` as the last column, NULL for new rows.
        full: whether this commit of a stream is a full compaction (see `StreamCommitter`); None for a batch job.
        pad_chars: False stores the values of CHAR columns unpadded.
        at_once: the rows are few, and their commit follows at once: see `head`.

    Examples:
        >>> with t.write() as write:
        ...     write.write(pa.table({"id": pa.array([5], pa.int32()), "state": ["new"], "price": pa.array([7], pa.int32())}))
        ...     write.write(pa.table({"id": pa.array([2], pa.int32())}), ["-D"])
        ...     messages = write.prepare_commit()
        >>> t.commit().commit(messages)
        [3]
        >>> sorted(t.to_arrow(["id"]).column("id").to_pylist())
        [1, 3, 5]
    """

    def __init__(
        self,
        store: TableStore,
        *,
        overwrite: bool = False,
        compact: bool = True,
        tracked: bool = False,
        full: bool | None = None,
        pad_chars: bool = True,
        at_once: bool = False,
    ) -> None:
        manifest_format(store)
        store.check_supported(Access.WRITE)
        store.check_writable_columns()
        self._compact = compact and not store.options.write_only
        if self._compact and store.has_keys:
            store.check_supported(Access.COMPACT)
        self.store = store
        self.overwrite, self.tracked, self._full = overwrite, tracked, full
        self._fields = store.schema.fields if pad_chars else without_char_padding(store.schema.fields)
        self.row_count = 0
        self._restored = load_writer_state(
            store,
            overwrite=overwrite,
            compact=self._compact and (store.has_keys or store.bucket_option > 0),
            at_once=at_once,
        )
        self._spec = MergeSpec.of(store.schema, store.options) if store.has_keys else None
        self._order = write_order(store)
        existing = None if overwrite else self._restored.snapshot
        crossing = is_dynamic(store) and store.schema.is_cross_partition
        self._crossing = (
            CrossPartition(store, existing, overwrite=overwrite, sort_first_rows=full is None) if crossing else None
        )
        dynamic = is_dynamic(store) and not crossing
        self._dynamic = DynamicBuckets(store, existing) if dynamic else None
        self._writers: dict[BucketKey, Writer] = {}
        self._max_open = 0 if store.has_keys else max_open_writers(store, 1 + len(dedicated_fields(store)))
        self._waiting: WaitingRows | None = None
        self._waiting_keys: dict[BucketKey, int] = {}
        """The number of each bucket whose rows wait until the files of others are closed."""
        self._buffered, self._buffer_size = 0, max(1, store.options.get(opt.WRITE_BUFFER_SIZE))
        self._done = False
        self._prepared: list[CommitMessage] | None = None

    @property
    def head(self) -> TableHead | None:
        """What a commit may build on that follows at once; None: it reads the newest snapshot itself."""
        return self._restored.head

    # -- rows in

    def write(self, rows: Rows, kinds: Kinds | None = None) -> None:
        """Write rows. Columns are matched by name; missing columns get their default value.

        Args:
            rows: an Arrow table, batch or stream, or a pandas or polars frame.
            kinds: the row kind of each row, `+I`, `-U`, `+U` or `-D`, or the codes 0 to 3; None means +I.

        Raises:
            SchemaMismatch: a column does not fit the table. No row of this call is written.
            NullNotAllowed: a NOT NULL column contains NULL. No row of this call is written.
            UnsupportedOperation: the table does not accept the row kinds, or this writer is closed.
        """
        self._check_open()
        rows = as_table(rows)
        ids = rows.column(ROW_ID_FIELD.name) if self.tracked else None
        rows = rows if ids is None else rows.drop_columns([ROW_ID_FIELD.name])
        rows = cast_to_schema(with_defaults(rows, self.store.schema), self._fields)
        if ids is not None:  # a changed row gets the sequence number of the snapshot that changes it
            rows = rows.append_column(ROW_ID_FIELD.name, ids)
            rows = rows.append_column(SEQUENCE_NUMBER, pa.nulls(rows.num_rows, pa.int64()))
        codes = row_kinds(self.store, rows, kinds)
        self.row_count += rows.num_rows
        mask = rows_to_keep(self.store, codes)
        if mask is not None:
            rows, codes = rows.filter(from_numpy(mask)), codes[mask]
        if self._crossing is not None:
            routed = self._crossing.route_rows_to_partitions(rows, codes)
            rows, codes, partitions, groups, buckets = (
                routed.rows, routed.kinds, routed.partitions, routed.groups, routed.buckets,
            )  # fmt: skip
        else:
            partitions, groups = partition_groups(self.store, rows)
            buckets = self._assign_buckets(rows, partitions, groups)
        waiting: list[np.ndarray] = []
        owners: list[np.ndarray] = []
        for group, bucket, numbers in split_by_bucket(rows, groups, buckets):
            number = self._waiting_number((partitions[group], bucket))
            if number is None:
                self._buffer_rows(partitions[group], bucket, take_rows(rows, numbers), codes[numbers])
            else:
                waiting.append(numbers)
                owners.append(np.full(len(numbers), number))
        if waiting:
            self._let_wait(take_rows(rows, np.concatenate(waiting)), np.concatenate(owners))

    def write_bucket(self, partition: bytes, bucket: int, rows: pa.Table, kinds: np.ndarray) -> None:
        """Write rows of one bucket, which were shuffled before, for example in Spark tasks.

        Args:
            partition: the partition as a serialized BinaryRow.
            bucket: the bucket.
            rows: the rows with exactly the columns and types of the table.
            kinds: the row kind of each row as int8 codes 0 to 3.

        Raises:
            UnsupportedOperation: this writer is closed.
        """
        self._check_open()
        self.row_count += rows.num_rows
        number = self._waiting_number((partition, bucket))
        if number is None:
            self._buffer_rows(partition, bucket, rows, kinds)
        else:
            self._let_wait(rows, np.full(rows.num_rows, number))

    # -- messages out

    def prepare_commit(self) -> list[CommitMessage]:
        """Flush all rows, run due compactions and close this writer.

        Returns:
            One commit message per changed bucket, for `TableCommit.commit`. Messages can be pickled.

        Raises:
            UnsupportedOperation: this writer is closed.
        """
        self._check_open()
        self._done = True
        try:
            with self.store.fs.writing_in_background():
                messages = self._prepare_messages()
                if self._dynamic is not None:
                    messages = self._dynamic.add_index(messages)
                if self.overwrite and self.store.options.get(opt.OVERWRITE_UPGRADE):
                    from paimon_nb.table.write.bucket_compact.bucket import upgrade_to_max_level

                    messages = [upgrade_to_max_level(self.store, m) for m in messages]
                if self._compact and self._may_compact(messages):
                    from paimon_nb.table.write.bucket_compact.bucket import compact_after_write

                    messages = compact_after_write(
                        self._store_to_compact(messages),
                        messages,
                        self._restored,
                        write_changelog=not self.overwrite,
                        full=self._full,
                    )
        except BaseException:
            self.abort()
            raise
        self._prepared = self._with_ignored_rows(messages)
        return self._prepared

    prepare = prepare_commit
    """Former name of `prepare_commit`."""

    def abort(self) -> None:
        """Delete all files of this writer that are not committed."""
        self._done = True
        if self._prepared is not None:
            abort_messages(self.store, self._prepared)
            return
        if self._waiting is not None:
            self._waiting.close()
        for writer in self._writers.values():
            writer.abort()

    def __enter__(self) -> TableWrite:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._done:
            return
        self.abort()
        if kind is None:
            self._warn_dropped_rows()

    def __del__(self) -> None:
        if not getattr(self, "_done", True):  # used without `with`: its files are left to orphan-file removal
            self._warn_dropped_rows()

    # -- inside

    def _warn_dropped_rows(self) -> None:
        if self.row_count:
            warnings.warn(
                f"{self.store.name}: {self.row_count} rows were written and not committed; they are discarded",
                stacklevel=3,
            )

    def _assign_buckets(self, rows: pa.Table, partitions: list[bytes], groups: np.ndarray) -> np.ndarray:
        if self._dynamic is not None:
            return self._dynamic.assign_buckets_of_rows(rows, partitions, groups)
        return fixed_buckets(self.store, rows)

    def _buffer_rows(self, partition: bytes, bucket: int, rows: pa.Table, kinds: np.ndarray) -> None:
        """Assign a bucket's rows to it. All buckets share `write-buffer-size`, as in Java: the fullest is flushed first."""
        if bucket == POSTPONE_BUCKET:
            self._check_retraction(rows, kinds)
        writer = self._writer_for(partition, bucket)
        before = writer.buffered
        writer.write(rows, kinds)
        self._buffered += writer.buffered - before
        while self._buffered >= self._buffer_size:
            max(self._writers.values(), key=lambda w: w.buffered).flush()
            self._buffered = sum(w.buffered for w in self._writers.values())

    def _waiting_number(self, key: BucketKey) -> int | None:
        """The number of a bucket whose rows have to wait, because too many files are open; None if it has or gets a writer."""
        if not self._max_open or key in self._writers or len(self._writers) < self._max_open:
            return None
        return self._waiting_keys.setdefault(key, len(self._waiting_keys))

    def _let_wait(self, rows: pa.Table, numbers: np.ndarray) -> None:
        self._waiting = self._waiting or WaitingRows(self.store)
        self._waiting.add(rows, numbers)

    def _check_retraction(self, rows: pa.Table, kinds: np.ndarray) -> None:
        """Raises UnsupportedOperation for a retraction that the merge engine does not accept: no compaction could merge it."""
        found = np.flatnonzero((kinds == UPDATE_BEFORE) | (kinds == DELETE))[:1]
        if len(found) and self._spec is not None:
            row = take_rows(rows, found).append_column(SEQUENCE_NUMBER, pa.array([0], pa.int64()))
            row = row.append_column(VALUE_KIND, from_numpy(kinds[found]))
            merge([row], self._spec, drop_delete=False, alone_as_is=False)

    def _writer_for(self, partition: bytes, bucket: int) -> Writer:
        key = (partition, bucket)
        if key not in self._writers:
            self._check_bucket_count(partition)
            target, sequence = FileTarget(partition, bucket), self._restored.next_sequence(key)
            if self._spec is not None:
                # Postponed rows emit changelog when compaction assigns their bucket.
                write_changelog = not self.overwrite and bucket != POSTPONE_BUCKET
                self._writers[key] = KeyBucketWriter(
                    self.store, self._spec, target, sequence, write_changelog=write_changelog
                )
            else:
                # A bucket-unaware table has many writers without an order between them; each counts from 0, as in Java.
                start = sequence if self.store.bucket_option > 0 else 0
                self._writers[key] = AppendBucketWriter(self.store, target, start, self._order, tracked=self.tracked)
        return self._writers[key]

    def _check_bucket_count(self, partition: bytes) -> None:
        have, want = self._restored.totals.get(partition), total_buckets(self.store)
        if have is not None and have != want and want != POSTPONE_BUCKET:
            raise UnsupportedOperation(
                f"{self.store.name}: partition {self.store.partition_values(partition)} has {have} buckets, but "
                f"the table's 'bucket' option is {want}",
                hint="INSERT OVERWRITE the partition to redistribute its rows, or CALL sys.rescale",
                have=have,
                want=want,
            )

    def _prepare_messages(self) -> list[CommitMessage]:
        messages = self._finish_writers()
        if self._waiting is not None:  # no other file is open now
            keys = list(self._waiting_keys)
            for number, tables in self._waiting.by_writer():
                writer = self._writer_for(*keys[number])
                for rows in tables:
                    writer.write(rows, np.zeros(rows.num_rows, np.int8))
                messages.append(self._prepare_message(keys[number], writer))
            self._waiting.close()
        return messages

    def _finish_writers(self) -> list[CommitMessage]:
        """Buckets are independent, and sorting and encoding release the GIL, so several run in parallel."""
        waits = self.store.fs.is_object_store
        if len(self._writers) <= 1 or (self.row_count < _FEW_ROWS and not waits):
            return [self._prepare_message(key, writer) for key, writer in self._writers.items()]
        threads = max(MIN_THREADS, os.cpu_count() or 1, _THREADS_OF_OBJECT_STORE if waits else 1)
        with ThreadPoolExecutor(min(len(self._writers), threads)) as pool:
            # Leaving the block waits for all of them, so that an abort sees every file.
            futures = [pool.submit(copy_context().run, self._prepare_message, k, w) for k, w in self._writers.items()]
        return [future.result() for future in futures]

    def _store_to_compact(self, messages: list[CommitMessage]) -> TableStore:
        """The table with a schema that has the columns of all files that a compaction of these buckets can take."""
        newest = self._restored.newest_schema
        known = max(
            (
                f.schema_id
                for m in messages
                for f in (*self._restored.files((m.partition, m.bucket)), *m.new_files)
            ),
            default=0,
        )  # fmt: skip
        if newest is None or known > newest:  # changed while the state was read
            return self.store.at_newest_schema()
        return self.store if newest <= self.store.schema.id else self.store.at_schema(self.store.schemas.get(newest))

    def _may_compact(self, messages: list[CommitMessage]) -> bool:
        """Whether a compaction may be due. A key table's bucket with few files needs none, unless an option says so."""
        options = self.store.options
        full = options.needs_full_compaction_each_time if self._full is None else self._full
        if not self.store.has_keys:
            return self.store.bucket_option > 0
        if full or self._restored.newest_schema != self.store.schema.id:
            return True
        return any(
            options.may_need_compaction(len(self._restored.files((m.partition, m.bucket))) + len(m.new_files))
            for m in messages
        )

    def _prepare_message(self, key: BucketKey, writer: Writer) -> CommitMessage:
        new_files, changelog = writer.files()
        return CommitMessage(
            key[0],
            key[1],
            total_buckets(self.store),
            new_files=tuple(new_files),
            changelog_files=tuple(changelog),
            base_snapshot=None if self._restored.snapshot is None else self._restored.snapshot.id,
            row_count=writer.row_count,
        )

    def _with_ignored_rows(self, messages: list[CommitMessage]) -> list[CommitMessage]:
        """Make the row counts of the messages equal to the rows received, so that the check at commit detects lost tasks
        only.

        They differ by rows that options filter out and by retractions of keys that move between partitions.
        """
        missing = self.row_count - sum(m.row_count for m in messages)
        if not missing:
            return messages
        return [*messages, CommitMessage(EMPTY_ROW, 0, total_buckets(self.store), row_count=missing)]

    def _check_open(self) -> None:
        if self._done:
            raise UnsupportedOperation(
                f"{self.store.name}: this writer is closed; its messages can be committed only once",
                hint="create a new writer for more rows",
            )


def total_buckets(store: TableStore) -> int:
    """`_TOTAL_BUCKETS` of new files: the option; -1 for dynamic and bucket-unaware tables, -2 for postponed ones."""
    return store.bucket_option


def is_dynamic(store: TableStore) -> bool:
    """True if buckets are assigned dynamically (bucket = -1 with a primary key)."""
    return store.has_keys and store.bucket_option == -1


def write_all(
    store: TableStore,
    open_writer: Callable[[], TableWrite],
    parts: Iterable[pa.Table],
    kinds: pa.Array | None,
    *,
    again: bool,
) -> tuple[TableWrite, list[CommitMessage], int]:
    """Write the files of all rows: (writer, messages, number of rows).

    Args:
        store: the table.
        open_writer: begins a write.
        parts: the rows; a list with `again`.
        kinds: their row kinds; None for inserts.
        again: the rows are all there, and are written again if others have deleted a file that the write needed.

    Raises:
        TableReplaced: the table was dropped or moved meanwhile.
        MissingFile: a file of the newest snapshot is lost.
    """

    def write() -> tuple[TableWrite, list[CommitMessage], int]:
        count = 0
        with open_writer() as writing:
            for part in parts:
                count += part.num_rows
                writing.write(part, kinds)
            return writing, writing.prepare_commit(), count

    try:
        return write()  # alone: nearly all writes need nothing of the repetition
    except MissingFile:
        store.check_identity()  # it was dropped or moved: that says more
        if not again:
            raise
    return retry_on_expiry(store, write)
