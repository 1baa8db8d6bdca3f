"""What the works share: rows, the tables made of them, Spark, the peer. Each is made when first asked for."""

from __future__ import annotations

import itertools
import os
import shutil
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import paimon_nb
from benchmarks import data
from benchmarks.peer import CORES, Peer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from paimon_nb.table.tables.table import Table

BUCKETS = 4
PURE_ROWS = 5_000_000
"""Rows up to which pypaimon is measured without its core, too: it takes a minute for two million."""
WRITE_ONLY = {"bucket": str(BUCKETS), "write-only": "true"}
"""Without compaction as a side effect: pypaimon has none, and the runs must still be there when the scans come."""


class Stage:
    """One run's directory and what is in it."""

    def __init__(self, directory: Path, rows: int) -> None:
        self.directory, self.rows = directory, rows
        self.peer = Peer.start()
        self._numbers = itertools.count()
        self.workbench = paimon_nb.connect(str(directory / "ours"))

    def close(self) -> None:
        self.workbench.close()
        if self.peer is not None:
            self.peer.close()

    @property
    def cores(self) -> dict[str, bool]:
        """pypaimon's ways that are measured: name -> whether its Rust core does the work."""
        return {name: native for name, native in CORES.items() if native or self.rows <= PURE_ROWS}

    # -- rows

    @cached_property
    def base(self) -> pa.Table:
        return data.base(self.rows)

    @cached_property
    def upserts(self) -> list[pa.Table]:
        return [data.upsert(self.rows, n) for n in range(data.UPSERTS)]

    @cached_property
    def base_arrow(self) -> str:
        """The base as an Arrow file, for the peer."""
        return self._arrow_file("base", self.base)

    @cached_property
    def upsert_arrow(self) -> list[str]:
        return [self._arrow_file(f"upsert{n}", rows) for n, rows in enumerate(self.upserts)]

    @cached_property
    def base_parquet(self) -> str:
        """The base as a plain Parquet file: the source of loads through Spark."""
        return self._parquet_file("source-base", self.base)

    @cached_property
    def upsert_parquet(self) -> list[str]:
        return [self._parquet_file(f"source-upsert{n}", rows) for n, rows in enumerate(self.upserts)]

    # -- Spark

    @cached_property
    def spark(self) -> SparkSession:
        """The same session for paimon_nb and for plain Spark."""
        return self.workbench.session.spark

    # -- tables

    def create(self, options: dict[str, str]) -> str:
        """A new, empty key table of ours; its name."""
        name = f"t{next(self._numbers)}"
        given = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
        self.workbench.run(f"CREATE TABLE {name} ({data.COLUMNS}, PRIMARY KEY (k) NOT ENFORCED) WITH ({given})")
        return name

    def table(self, name: str) -> Table:
        return self.workbench.table(name)

    def copy(self, name: str) -> str:
        """The same table under a new name, its files linked: nothing that was remembered of it helps."""
        new = f"t{next(self._numbers)}"
        shutil.copytree(self._home(name), self._home(new), copy_function=_link)
        return new

    @cached_property
    def loaded(self) -> str:
        """A table of ours with the base rows, one run a bucket."""
        name = self.create(WRITE_ONLY)
        self.table(name).append(self.base)
        return name

    @cached_property
    def with_runs(self) -> str:
        """The base and the upserts, six runs a bucket."""
        name = self.copy(self.loaded)
        for rows in self.upserts:
            self.table(name).upsert(rows)
        return name

    @cached_property
    def compacted(self) -> str:
        """The same rows in one run a bucket."""
        name = self.copy(self.with_runs)
        self.table(name).copy({"write-only": "false"}).compact()
        return name

    @cached_property
    def plain(self) -> str:
        """The same rows as plain Spark Parquet."""
        merged = self._parquet_file("merged", self.table(self.with_runs).to_arrow())
        path = self.path("plain")
        by_bucket(self.spark.read.parquet(merged)).write.parquet(path)
        return path

    @property
    def warehouse(self) -> str:
        return str(self.directory / "ours")

    @property
    def peer_warehouse(self) -> str:
        return str(self.directory / "peer")

    def new_name(self) -> str:
        return f"t{next(self._numbers)}"

    def data_files(self, name: str) -> list[list[str]]:
        """Paths of a table's data files, by bucket."""
        return [sorted(map(str, b.glob("data-*.parquet"))) for b in sorted(self._home(name).glob("bucket-*"))]

    def live_files(self, name: str) -> list[str]:
        """Paths of the data files that the newest snapshot holds."""
        return sorted(self.table(name).files().column("file_path").to_pylist())

    def evict(self) -> None:
        """Send the files of all tables out of the system's page cache, so that the next run reads them from the disk."""
        for path in self.directory.rglob("*"):
            if path.is_file():
                file = os.open(path, os.O_RDONLY)
                os.fsync(file)  # pages that wait to be written would stay
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(file)

    # -- files

    def path(self, name: str) -> str:
        """A path that nothing is at."""
        return str(self.directory / f"{name}-{next(self._numbers)}")

    def _home(self, name: str) -> Path:
        return self.directory / "ours" / "default.db" / name

    def _arrow_file(self, name: str, rows: pa.Table) -> str:
        path = str(self.directory / f"{name}.arrow")
        with pa.ipc.new_file(path, rows.schema) as writer:
            writer.write_table(rows)
        return path

    def _parquet_file(self, name: str, rows: pa.Table) -> str:
        path = str(self.directory / f"{name}.parquet")
        pq.write_table(rows, path, row_group_size=max(1, rows.num_rows // 8), compression="zstd")
        return path


def by_bucket(frame: Any) -> Any:
    """Shuffled by bucket and sorted by key: the same layout that a key table has, made by Spark alone."""
    from pyspark.sql import functions as F

    return frame.repartitionById(BUCKETS, F.pmod(F.hash("k"), F.lit(BUCKETS))).sortWithinPartitions("k")


def _link(source: str, target: str) -> None:
    # Data files never change, so links do; hints and the rest are replaced, not rewritten in place.
    Path(target).hardlink_to(source)
