"""Health checks of a table: each finding comes with the SQL that fixes it. Reads metadata and listings; rows only on
request.

Limits come from the table's own options where Paimon has one, and from Paimon's advice on bucket sizes otherwise.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import TYPE_CHECKING

from paimon_nb.base.errors import FormatError, PaimonError
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import read_data_file
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.levels import run_count
from paimon_nb.table.read.live_files import by_bucket, live_entries, snapshot_manifests
from paimon_nb.table.read.split.split_reader import schema_and_system
from paimon_nb.table.tables.inspect.formatting import bytes_text, partition_text
from paimon_nb.table.write.maintenance.orphans import find_orphans
from paimon_nb.table.write.maintenance.reachable import unreadable_tags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

BUCKET_MAX = 2 << 30
"""Bytes; Paimon advises 200 MB to 1 GB per bucket, twice that is reported."""
SKEW = 4.0
"""A bucket this many times the median is skewed."""
SKEW_MIN = 64 << 20
"""Bytes below which skew does not matter."""
MANIFESTS_MAX = 500
"""Manifests that every plan must open."""
DELETES_MAX = 0.25
"""Share of stored rows that are retractions."""
_THREADS = 8

Bucket = tuple[bytes, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `grade`: broken (rows cannot be read), slow (works, but costs more than necessary), ok."""

    grade: str
    what: str
    """A short name, the same for all findings of this kind."""
    detail: str
    fix: str | None = None
    """The statement to run."""
    price: str = ""
    """What the statement costs or takes away."""

    def __str__(self) -> str:
        return f"{self.grade:<6} {self.what}: {self.detail}" + (f"\n       {self.fix}" if self.fix else "")


@dataclass(frozen=True, slots=True)
class _TableState:
    store: TableStore
    name: str
    """Escaped for a SQL string."""
    snapshot: Snapshot
    buckets: Mapping[Bucket, Sequence[DataFile]]

    @property
    def files(self) -> Iterator[tuple[Bucket, DataFile]]:
        return ((bucket, f) for bucket, files in self.buckets.items() for f in files)

    def where(self, bucket: Bucket) -> str:
        partition = partition_text(self.store, bucket[0])
        return f"{partition}, bucket {bucket[1]}" if partition else f"bucket {bucket[1]}"


def health(store: TableStore, name: Identifier | None = None, *, read_files: bool = False) -> list[Finding]:
    """Findings, worst first; one of grade 'ok' when nothing was found.

    Args:
        name: the table's name in statements; None: the folder's name. read_files: also read every data file completely.
    """
    snapshot = store.latest()
    title = str(name.of_table() if name else Identifier("default", store.name)).replace("'", "''")
    if snapshot is None:
        return [Finding("ok", "empty", "no snapshot yet")]
    lost = _find_lost_snapshots(store, title, snapshot)
    try:
        buckets = {k: [e.file for e in v] for k, v in by_bucket(live_entries(store, snapshot)).items()}
    except FormatError as error:
        back = _last_complete_snapshot(store, snapshot)
        fix = f"CALL sys.rollback_to('{title}', {back})" if back is not None else None
        return [
            Finding("broken", "broken metadata", str(error).splitlines()[0], fix, _price_of_rollback(snapshot, back))
        ]
    table_state = _TableState(store, title, snapshot, buckets)
    found = lost + [f for check in CHECKS for f in check(table_state) if not (lost and f.what == "broken history")]
    if read_files:
        found += _find_unreadable_files(table_state)
    order = {"broken": 0, "slow": 1, "ok": 2}
    return sorted(found, key=lambda f: order[f.grade]) or [_healthy_finding(table_state)]


def _find_lost_snapshots(store: TableStore, title: str, newest: Snapshot) -> list[Finding]:
    """Snapshots above the newest one of the history, see `snapshot_below_lost`."""
    lost = [str(i) for i in store.snapshots.ids() if i > newest.id]
    if not lost or store.versions is not None:
        return []
    return [
        Finding(
            "broken", "lost snapshot",
            f"snapshot {', '.join(lost)} was built on one that a rollback removed, and its writer was stopped before it saw that;"
            f" reads use snapshot {newest.id}, the next commit deletes it, other engines cannot read the table before",
            f"CALL sys.rollback_to('{title}', {newest.id})",
        )
    ]  # fmt: skip


def health_of_manifests(
    store: TableStore, snapshot: Snapshot, name: Identifier | None = None
) -> tuple[list[Finding], int]:
    """The findings of the checks that open manifests and nothing else: no listing, no data file.

    Returns:
        The findings (empty if there are none), and the size of the snapshot's data files in bytes.

    Raises:
        FormatError: a manifest is missing or damaged.
    """
    title = str(name.of_table() if name else Identifier("default", store.name)).replace("'", "''")
    buckets = {k: [e.file for e in v] for k, v in by_bucket(live_entries(store, snapshot)).items()}
    table_state = _TableState(store, title, snapshot, buckets)
    findings = [finding for check in MANIFEST_CHECKS for finding in check(table_state)]
    return findings, sum(f.file_size for _, f in table_state.files)


def _healthy_finding(table_state: _TableState) -> Finding:
    files = [f for _, f in table_state.files]
    return Finding(
        "ok", "healthy",
        f"{len(files)} file{'s' * (len(files) != 1)} ({bytes_text(sum(f.file_size for f in files))}), none missing",
    )  # fmt: skip


def _find_missing_files(table_state: _TableState) -> Iterator[Finding]:
    """Live files that are missing, or not as long as the manifest says."""

    def relative_path(path: str) -> str:
        return path.removeprefix(f"{table_state.store.root}/")

    def problem_of_file(item: tuple[Bucket, DataFile]) -> str | None:
        (partition, bucket), file = item
        path = table_state.store.data_path(partition, bucket, file)
        try:
            size = table_state.store.fs.size(path)
        except PaimonError:
            return f"{relative_path(path)} is missing"
        return None if size == file.file_size else f"{relative_path(path)} has {size:,} of {file.file_size:,} bytes"

    with ThreadPoolExecutor(_THREADS) as pool:
        missing = [text for text in pool.map(problem_of_file, table_state.files) if text is not None]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        back = _last_complete_snapshot(table_state.store, table_state.snapshot)
        fix = f"CALL sys.rollback_to('{table_state.name}', {back})" if back is not None else None
        price = _price_of_rollback(table_state.snapshot, back)
        yield Finding("broken", "missing files", missing[0] + more, fix or "restore the files from a backup", price)


def _find_unreadable_files(table_state: _TableState) -> Iterator[Finding]:
    for (partition, bucket), file in table_state.files:
        path = table_state.store.data_path(partition, bucket, file)
        fields = schema_and_system(table_state.store.schema_by_id(file.schema_id))
        try:
            rows = read_data_file(
                table_state.store.fs,
                path,
                fields if table_state.store.has_keys else fields[:-2],
                options=table_state.store.options,
            )
        except FormatError as error:
            yield Finding("broken", "unreadable file", str(error).splitlines()[0], "restore the file from a backup")
            continue
        if rows.num_rows != file.row_count:
            yield Finding(
                "broken",
                "unreadable file",
                f"{path} has {rows.num_rows:,} rows, but its manifest lists {file.row_count:,}",
            )


def _price_of_rollback(latest: Snapshot, back: int | None) -> str:
    return (
        ""
        if back is None
        else "removes 1 newer snapshot with its rows"
        if latest.id - back == 1
        else f"removes {latest.id - back} newer snapshots with their rows"
    )


def _price_of_rewrite(files: Sequence[DataFile]) -> str:
    return f"rewrites {len(files)} file{'s' * (len(files) != 1)}, {bytes_text(sum(f.file_size for f in files))}"


def _last_complete_snapshot(store: TableStore, latest: Snapshot) -> int | None:
    """The newest older snapshot without missing files."""
    for snapshot in sorted(store.snapshots.all(), key=lambda s: -s.id):
        if snapshot.id >= latest.id:
            continue
        try:
            entries = live_entries(store, snapshot)
        except FormatError:
            continue
        if all(_has_recorded_size(store, e.partition, e.bucket, e.file) for e in entries):
            return snapshot.id
    return None


def _has_recorded_size(store: TableStore, partition: bytes, bucket: int, file: DataFile) -> bool:
    try:
        return store.fs.size(store.data_path(partition, bucket, file)) == file.file_size
    except PaimonError:
        return False


def _find_many_runs(table_state: _TableState) -> Iterator[Finding]:
    """Buckets close to the number of runs at which writers stop."""
    if not table_state.store.has_keys:
        return
    options = table_state.store.options
    trigger = options.get(opt.NUM_SORTED_RUN_COMPACTION_TRIGGER)
    stop = options.stop_trigger
    runs = {b: run_count(files) for b, files in table_state.buckets.items() if b[1] >= 0}
    high = {b: n for b, n in runs.items() if n > trigger}
    if high:
        worst = max(high, key=lambda b: high[b])
        write_only = "; write-only is set, so writers do not compact" if options.write_only else ""
        yield Finding(
            "slow", "many sorted runs",
            f"{table_state.where(worst)} has {high[worst]} sorted runs (compaction starts at {trigger}, writers wait at {stop});"
            f" {len(high)} of {len(runs)} buckets are above{write_only}",
            f"CALL sys.compact('{table_state.name}')",
            _price_of_rewrite([f for b in high for f in table_state.buckets[b]]),
        )  # fmt: skip


def _find_small_files(table_state: _TableState) -> Iterator[Finding]:
    """More files than necessary for the rows: reads open each of them."""
    if table_state.store.has_keys:
        return
    small = table_state.store.options.compaction_file_size(has_primary_key=False)
    needed = table_state.store.options.get(opt.COMPACTION_MIN_FILE_NUM)
    small_by_bucket = {b: [f for f in files if f.file_size < small] for b, files in table_state.buckets.items()}
    crowded = {b: files for b, files in small_by_bucket.items() if len(files) >= max(2, needed)}
    if crowded:
        count = sum(map(len, crowded.values()))
        size = sum(f.file_size for files in crowded.values() for f in files)
        yield Finding(
            "slow", "small files",
            f"{count} files below {bytes_text(small)}, {bytes_text(size / count)} on average",
            f"CALL sys.compact('{table_state.name}')",
            _price_of_rewrite([f for files in crowded.values() for f in files]),
        )  # fmt: skip


def _find_many_deletes(table_state: _TableState) -> Iterator[Finding]:
    rows = sum(f.row_count for _, f in table_state.files)
    deletes = sum(f.delete_row_count or 0 for _, f in table_state.files)
    if rows and deletes / rows > DELETES_MAX:
        yield Finding(
            "slow", "many retractions", f"{deletes:,} of {rows:,} physical rows are deletes or retractions",
            f"CALL sys.compact('{table_state.name}')",
            _price_of_rewrite([f for _, f in table_state.files]),
        )  # fmt: skip


def _find_bad_bucket_sizes(table_state: _TableState) -> Iterator[Finding]:
    """Buckets that are too large, or much larger than the others of their partition."""
    if table_state.store.bucket_option <= 0:
        return
    sizes = {b: sum(f.file_size for f in files) for b, files in table_state.buckets.items()}
    worst = max(sizes, key=lambda b: sizes[b], default=None)
    if worst is None:
        return
    if sizes[worst] > BUCKET_MAX:
        bucket_count = max(
            table_state.store.bucket_option + 1, -(-sizes[worst] * table_state.store.bucket_option // (1 << 30))
        )
        yield Finding(
            "slow", "big buckets", f"{table_state.where(worst)} holds {bytes_text(sizes[worst])}; recommended: 200 MB to 1 GB",
            f"CALL sys.rescale('{table_state.name}', {bucket_count})",
            _price_of_rewrite([f for _, f in table_state.files]),
        )  # fmt: skip
    for partition in {b[0] for b in sizes}:
        here = {b: s for b, s in sizes.items() if b[0] == partition}
        top, middle = max(here, key=lambda b: here[b]), median(here.values())
        if len(here) > 1 and here[top] > SKEW_MIN and here[top] > SKEW * middle:
            yield Finding(
                "slow", "skewed buckets",
                f"{table_state.where(top)} holds {bytes_text(here[top])}, the median is {bytes_text(middle)}:"
                f" {', '.join(table_state.store.schema.bucket_keys)} distributes rows unevenly",
            )  # fmt: skip


def _find_long_history(table_state: _TableState) -> Iterator[Finding]:
    """Snapshots beyond the configured number, and consumers that retain them."""
    store = table_state.store
    ids = [s.id for s in store.snapshots.all()]
    max_snapshots = store.options.get(opt.SNAPSHOT_NUM_RETAINED_MAX)
    behind = {
        c: n for c in store.consumers.ids() if (n := store.consumers.next_snapshot(c)) < table_state.snapshot.id - 100
    }
    if len(ids) > max_snapshots:
        yield Finding(
            "slow", "many snapshots", f"{len(ids)} retained, snapshot.num-retained.max is {max_snapshots}",
            f"CALL sys.expire_snapshots('{table_state.name}')",
            f"the {len(ids) - max_snapshots} oldest can no longer be read, unless they have a tag",
        )  # fmt: skip
    for consumer, at in sorted(behind.items()):
        yield Finding(
            "slow", "reader far behind", f"consumer {consumer} is at snapshot {at} of {table_state.snapshot.id} and blocks snapshot expiry",
            f"CALL sys.reset_consumer('{table_state.name}', '{consumer}')",
            "the consumer's position is deleted: its reader starts again where its options say",
        )  # fmt: skip


def _find_many_manifests(table_state: _TableState) -> Iterator[Finding]:
    manifests = snapshot_manifests(table_state.store, table_state.snapshot, changelog=True)
    if len(manifests) > MANIFESTS_MAX:
        yield Finding(
            "slow", "many manifests", f"each query opens {len(manifests)} manifests",
            f"CALL sys.compact_manifest('{table_state.name}')",
            f"rewrites {len(manifests)} manifests, no data file",
        )  # fmt: skip


def _find_orphan_files(table_state: _TableState) -> Iterator[Finding]:
    try:
        orphans = find_orphans(table_state.store)
    except FormatError as error:
        if "tag" in error.facts:
            yield from _find_unreadable_tags(table_state)
            return
        yield Finding("broken", "broken history", f"no file can be deleted: {str(error).splitlines()[0]}")
        return
    if orphans:
        yield Finding(
            "slow", "orphan files", f"{len(orphans)} unreferenced files ({bytes_text(sum(o.size for o in orphans))})",
            f"CALL sys.remove_orphan_files('{table_state.name}')",
            "deletes those that are older than a day; others may belong to a writer at work",
        )  # fmt: skip


def _find_unreadable_tags(table_state: _TableState) -> Iterator[Finding]:
    for tag, error in unreadable_tags(table_state.store):
        yield Finding(
            "broken", "unreadable tag",
            f"tag {tag}: {str(error).splitlines()[0]}; nothing expires until the tag is deleted",
            f"CALL sys.delete_tag('{table_state.name}', '{tag.replace(chr(39), chr(39) * 2)}')",
            "its snapshot may then expire",
        )  # fmt: skip


CHECKS: tuple[Callable[[_TableState], Iterator[Finding]], ...] = (
    _find_missing_files, _find_many_runs, _find_small_files, _find_many_deletes, _find_bad_bucket_sizes, _find_long_history, _find_many_manifests, _find_orphan_files,
)  # fmt: skip
MANIFEST_CHECKS: tuple[Callable[[_TableState], Iterator[Finding]], ...] = (
    _find_many_runs, _find_small_files, _find_many_deletes, _find_bad_bucket_sizes, _find_many_manifests,
)  # fmt: skip
"""Those of `CHECKS` that open manifests and nothing else."""
