"""Write, read and space amplification over the commit history. Reads metadata only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import ADD, DataFile, ManifestEntry
from paimon_nb.table.lsm.levels import Levels, key_decoder
from paimon_nb.table.read.live_files import drop_deleted, read_changes
from paimon_nb.table.tables.inspect.formatting import bytes_text, count_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.table.read.store import TableStore

MAX_SNAPSHOTS = 300
"""Maximum number of commits, the latest ones."""

Bucket = tuple[bytes, int]


@dataclass(frozen=True, slots=True)
class Sample:
    """The table after one commit, and the work of that commit."""

    snapshot: int
    kind: str
    written: int
    """Bytes of data files that this commit wrote; upgraded files are not written again."""
    rewritten: int
    """Bytes of data files that it replaced."""
    runs: int
    """Sorted runs in the fullest bucket, which a read must merge. Without primary key: its files."""
    size: int
    """Bytes of all live data files."""
    oldest: int
    """Bytes in the oldest run of each bucket: the size without later changes."""

    @property
    def space(self) -> float | None:
        """Live bytes per byte of the oldest runs; 1.0 right after a full compaction."""
        return self.size / self.oldest if self.oldest else None


@dataclass(frozen=True, slots=True)
class Amplification:
    """The available history."""

    table: str
    samples: tuple[Sample, ...]
    has_runs: bool = True
    """False: a table without primary key, whose `Sample.runs` are files."""

    @property
    def by_writers(self) -> int:
        """Bytes written by writers (not compactions)."""
        return sum(m.written for m in self.samples if m.kind != "COMPACT")

    @property
    def by_compaction(self) -> int:
        return sum(m.written for m in self.samples if m.kind == "COMPACT")

    @property
    def write(self) -> float | None:
        """Total bytes written per byte written by writers."""
        return (self.by_writers + self.by_compaction) / self.by_writers if self.by_writers else None

    def __str__(self) -> str:
        if not self.samples:
            return f"{self.table}: no snapshot yet"
        now = self.samples[-1]
        first = f"since snapshot {self.samples[0].snapshot}: "
        write = "nothing written" if self.write is None else f"write amplification {self.write:.1f}"
        space = "" if now.space is None or not self.has_runs else f"; {now.space * 100:.0f} % of the oldest run"
        reads = f"merge {count_text(now.runs, 'run')}" if self.has_runs else f"open {count_text(now.runs, 'file')}"
        return (
            f"{self.table}, {first}{write} ({bytes_text(self.by_writers)} by writers, {bytes_text(self.by_compaction)} by compaction); "
            f"reads {reads}; {bytes_text(now.size)} live{space}"
        )


def amplification(store: TableStore, max_snapshots: int = MAX_SNAPSHOTS) -> Amplification:
    """Walk the history, delta by delta. `max_snapshots`: only that many of the latest commits."""
    snapshots = sorted(store.snapshots.all(), key=lambda s: s.id)[-max_snapshots:]
    if not snapshots:
        return Amplification(store.name, (), store.has_keys)
    buckets: dict[Bucket, dict[str, DataFile]] = {}
    _apply_delta(buckets, drop_deleted(read_changes(store, snapshots[0].base_manifest_list).entries))
    shapes = {b: _runs_and_bytes_of_bucket(store, files.values()) for b, files in buckets.items()}
    samples = []
    for snapshot in snapshots:
        delta = read_changes(store, snapshot.delta_manifest_list).entries
        written, rewritten = _written_and_replaced_bytes(delta)
        for bucket in _apply_delta(buckets, delta):
            shapes[bucket] = _runs_and_bytes_of_bucket(store, buckets[bucket].values())
        samples.append(
            Sample(
                snapshot.id, snapshot.commit_kind, written, rewritten, max((s[0] for s in shapes.values()), default=0),
                sum(s[1] for s in shapes.values()), sum(s[2] for s in shapes.values()),
            )
        )  # fmt: skip
    return Amplification(store.name, tuple(samples), store.has_keys)


def _apply_delta(buckets: dict[Bucket, dict[str, DataFile]], entries: Iterable[ManifestEntry]) -> set[Bucket]:
    """Apply a delta. A moved file is deleted and added: the last ADD counts."""
    entries = list(entries)
    for e in entries:
        if e.kind != ADD:
            buckets.setdefault((e.partition, e.bucket), {}).pop(e.file.file_name, None)
    for e in entries:
        if e.kind == ADD:
            buckets.setdefault((e.partition, e.bucket), {})[e.file.file_name] = e.file
    return {(e.partition, e.bucket) for e in entries}


def _written_and_replaced_bytes(delta: Iterable[ManifestEntry]) -> tuple[int, int]:
    """(bytes written, bytes replaced), without files that only moved."""
    added = {e.file.file_name: e.file.file_size for e in delta if e.kind == ADD}
    removed = {e.file.file_name: e.file.file_size for e in delta if e.kind != ADD}
    return (
        sum(size for name, size in added.items() if name not in removed),
        sum(size for name, size in removed.items() if name not in added),
    )


def _runs_and_bytes_of_bucket(store: TableStore, files: Iterable[DataFile]) -> tuple[int, int, int]:
    """(sorted runs, bytes, bytes of the oldest run) of one bucket."""
    files = list(files)
    size = sum(f.file_size for f in files)
    if not store.has_keys:
        return len(files), size, size
    runs = Levels.of(files, store.options.num_levels, key_decoder([f.type for f in store.schema.key_fields])).runs
    return len(runs), size, runs[-1].run.size if runs else 0
