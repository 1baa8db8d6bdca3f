"""The buckets of a snapshot as cells of a heat map, and what a commit did to a bucket. Reads metadata only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import ADD
from paimon_nb.table.lsm.levels import run_count
from paimon_nb.table.tables.inspect.formatting import bytes_text, partition_text
from paimon_nb.table.write.maintenance.reachable import delta_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.notebook.lsm_model import BucketEntries, BucketName
    from paimon_nb.table.read.store import TableStore

MAX_CELLS = 200
"""Cells of a heat map; of more buckets, neighbours share a cell."""


@dataclass(frozen=True, slots=True)
class BucketCell:
    """One bucket, or several neighbours."""

    first: int
    """Place of the first bucket in the list of all buckets."""
    last: int
    worst: int
    """Place of the bucket with the most sorted runs."""
    label: str
    """The partition and bucket with the most sorted runs."""
    partition: str
    """Partition of the first bucket; '' without partitions."""
    runs: int
    """Sorted runs that a read of the worst bucket must merge."""
    files: int
    bytes: int


def bucket_cells(
    buckets: BucketEntries, names: Sequence[BucketName], has_keys: bool, first: int = 0, last: int | None = None
) -> list[BucketCell]:
    """At most `MAX_CELLS` cells for some neighbouring buckets.

    Args:
        buckets: the live files of a snapshot. names: all buckets, sorted; those that the snapshot lacks have no files.
        has_keys: without keys, each file counts as a run. first, last: places in `names`; None is the end.
    """
    last = len(names) - 1 if last is None else last
    step = max(1, -(-(last - first + 1) // MAX_CELLS))
    return [_bucket_cell(buckets, names, has_keys, i, min(i + step - 1, last)) for i in range(first, last + 1, step)]


def _bucket_cell(
    buckets: BucketEntries, names: Sequence[BucketName], has_keys: bool, first: int, last: int
) -> BucketCell:
    files = [[e.file for e in buckets.get(names[i], ())] for i in range(first, last + 1)]
    runs = [run_count(some) if has_keys else len(some) for some in files]
    worst = max(range(len(runs)), key=lambda i: runs[i])
    sizes = [f.file_size for some in files for f in some]
    return BucketCell(
        first, last, first + worst, bucket_label(names[first + worst]), names[first][0], runs[worst], len(sizes), sum(sizes)
    )  # fmt: skip


def bucket_label(name: BucketName) -> str:
    """`day=2026-03-01 · bucket 2`, without partitions `bucket 2`."""
    partition, bucket = name
    return (f"{partition} · " if partition else "") + f"bucket {bucket}"


def change_text(store: TableStore, snapshot: Snapshot | None, name: BucketName) -> str:
    """What the commit of a snapshot did to a bucket, as `4 files merged into 1 file (L5, 20 MB)`.

    '' if there is no snapshot, or if its delta manifests are gone: a tag keeps a snapshot without them.
    """
    if snapshot is None:
        return ""
    try:
        entries = [e for e in delta_entries(store, snapshot) if (partition_text(store, e.partition), e.bucket) == name]
    except PaimonError:
        return ""
    added = {e.file.file_name: e.file for e in entries if e.kind == ADD}
    removed = {e.file.file_name: e.file for e in entries if e.kind != ADD}
    moved = [file for file_name, file in added.items() if file_name in removed]
    new = [file for file_name, file in added.items() if file_name not in removed]
    old = [file for file_name, file in removed.items() if file_name not in added]
    parts = []
    if new and old:
        verb = "merged into" if snapshot.commit_kind == "COMPACT" else "replaced by"
        parts.append(f"{_files_text(old)} {verb} {_files_text(new)} ({_levels_and_size_text(new)})")
    elif new:
        parts.append(f"{_files_text(new)} added ({_levels_and_size_text(new)})")
    elif old:
        parts.append(f"{_files_text(old)} removed ({_levels_and_size_text(old)})")
    if moved:
        parts.append(f"{_files_text(moved)} moved to {_levels_text(moved)}")
    return ", ".join(parts) or "no change in this bucket"


def _files_text(files: Sequence[DataFile]) -> str:
    return f"{len(files):,} file{'s' * (len(files) != 1)}"


def _levels_text(files: Sequence[DataFile]) -> str:
    return ", ".join(f"L{level}" for level in sorted({f.level for f in files}))


def _levels_and_size_text(files: Sequence[DataFile]) -> str:
    return f"{_levels_text(files)}, {bytes_text(sum(f.file_size for f in files))}"
