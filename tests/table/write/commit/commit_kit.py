"""Tables without data: files are names only, which is all that commits look at."""

from __future__ import annotations

import itertools

from paimon_nb.format.manifest import EMPTY_ROW, EMPTY_STATS, DataFile
from paimon_nb.format.row import serialize
from paimon_nb.format.schema import SchemaDirectory, create_schema
from paimon_nb.format.snapshot import directory
from paimon_nb.format.types import Atomic, parse_type
from paimon_nb.fs import FileIO, MemoryFileIO
from paimon_nb.table.read.live_files import LIVE_FILES, live_entries
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.write.commit import CommitMessage
from paimon_nb.table.write.maintenance.reachable import reachable_from_all_branches
from paimon_nb.table.write.publish import changes

_numbers = itertools.count()
KEY = (Atomic("INT", False),)


def make_table(
    fs: FileIO | None = None, root: str | None = None, *, keys: bool = True, partitioned: bool = False, **options: str
) -> TableStore:
    fs = fs or MemoryFileIO()
    root = root or f"memory:/w{next(_numbers)}/t"  # what a process remembers of its commits goes by path
    columns = [("k", "INT"), ("v", "STRING"), *([("dt", "STRING")] if partitioned else [])]
    schema = create_schema(
        [(n, parse_type(t), None, None) for n, t in columns],
        ["dt"] if partitioned else [],
        (["k", "dt"] if partitioned else ["k"]) if keys else [],
        {"bucket": "2" if keys else "-1", **{k.replace("_", "-"): v for k, v in options.items()}},
        None,
    )
    assert SchemaDirectory(fs, root).create(schema)
    return TableStore.open(fs, root)


def data_file(name: str | None = None, low: int = 1, high: int = 9, level: int = 0, rows: int = 10) -> DataFile:
    return DataFile(
        file_name=name or f"data-{next(_numbers)}.parquet", file_size=100, row_count=rows,
        min_key=serialize(KEY, [low]), max_key=serialize(KEY, [high]), key_stats=EMPTY_STATS, value_stats=EMPTY_STATS,
        min_sequence=0, max_sequence=rows - 1, schema_id=0, level=level, creation_time_ms=0, delete_row_count=0, file_source=0,
    )  # fmt: skip


def partition_of(dt: str | None) -> bytes:
    return EMPTY_ROW if dt is None else serialize([parse_type("STRING")], [dt])


def added(
    *files: DataFile, dt: str | None = None, bucket: int = 0, total: int = 2, base: int | None = None
) -> CommitMessage:
    return CommitMessage(
        partition_of(dt), bucket, total, new_files=files, base_snapshot=base, row_count=sum(f.row_count for f in files)
    )


def compacted(
    before: list[DataFile], after: list[DataFile], dt: str | None = None, bucket: int = 0, base: int | None = None
) -> CommitMessage:
    return CommitMessage(
        partition_of(dt), bucket, 2, compact_before=tuple(before), compact_after=tuple(after), base_snapshot=base
    )


def live(store: TableStore) -> set[str]:
    """Names of the live files now."""
    return {e.file.file_name for e in live_entries(store, store.latest())}


def leftovers(store: TableStore) -> set[str]:
    """Metadata files that no snapshot names."""
    return _listed(store) - reachable_from_all_branches(store).manifests


def lacking(store: TableStore) -> set[str]:
    """Metadata files that a snapshot names and that are not there."""
    return reachable_from_all_branches(store).manifests - _listed(store)


def _listed(store: TableStore) -> set[str]:
    return {s.name for s in store.fs.list(f"{store.root}/manifest")}


def new_process() -> None:
    """Forget what this process remembers of its commits, and of snapshots that it has looked at."""
    directory._known.clear()
    changes._last.clear()
    changes._consumed.clear()
    LIVE_FILES.invalidate_cache()
