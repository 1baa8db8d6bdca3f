"""One plugin of each kind. Copy what you need; `pyproject.toml` says under which name each is found."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.catalog import FilesystemCatalog
from paimon_nb.connectors.api import ConnectorTable, Sink, Source
from paimon_nb.connectors.formats.api import INSERT, Decoder, Encoder, Rows
from paimon_nb.fs import LocalFileIO
from paimon_nb.fs.rooted import RootedFileIO
from paimon_nb.procedures import Argument, Procedure
from paimon_nb.table.lsm.merge.aggregate import Aggregate
from paimon_nb.table.tables.system.columns import system_table_with_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb import Workbench
    from paimon_nb.connectors.formats.api import FormatOptions
    from paimon_nb.format.types import DataField
    from paimon_nb.procedures import Context
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.maintenance.mark_done import DonePartition

# -- sources and sinks: CREATE TEMPORARY TABLE ... WITH ('connector' = 'squares', 'rows' = '5')


class Squares(Source):
    """The numbers from 1 and their squares."""

    bounded = True

    def __init__(self, definition: ConnectorTable) -> None:
        definition.check_options("rows")
        self.rows = definition.convert_option("rows", 3, int)
        self.names = [f.name for f in definition.fields]

    def batch(self, spark: SparkSession) -> DataFrame:
        return spark.createDataFrame([(i, i * i) for i in range(1, self.rows + 1)], self.names)

    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        raise NotImplementedError("squares are read in batch mode")


class Lines(Sink):
    """Appends each row as one line of text to a file."""

    def __init__(self, definition: ConnectorTable) -> None:
        definition.check_options("path")
        self.path = Path(definition.require("path"))

    def store(self, batch: DataFrame, number: int | None = None) -> int:
        rows = batch.collect()
        with self.path.open("a") as file:
            file.writelines(",".join(map(str, row)) + "\n" for row in rows)
        return len(rows)


# -- message formats: 'format' = 'key-value'


class KeyValue(Decoder, Encoder):
    """Messages such as `id=1;name=a`; all values are text."""

    changes = False

    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        options.check_options()
        self.names = [f.name for f in fields]

    def decode(self, messages: Sequence[bytes | None]) -> Rows:
        parsed = [dict(pair.split("=", 1) for pair in (m or b"").decode().split(";") if pair) for m in messages]
        table = pa.table({name: pa.array([row.get(name) for row in parsed], pa.string()) for name in self.names})
        return Rows(table, [INSERT] * len(parsed), list(range(len(parsed))))

    def encode(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[bytes | None]:
        for row in rows.to_pylist():
            yield ";".join(f"{name}={row[name]}" for name in self.names).encode()


# -- merge functions: 'fields.name.aggregate-function' = 'longest'


class Longest(Aggregate):
    """Keeps the longest text of a key, the first one of equal length."""

    name = "longest"
    types = frozenset({"VARCHAR"})

    def add(self, accumulator: str | None, value: str | None) -> str | None:
        return value if accumulator is None or (value is not None and len(value) > len(accumulator)) else accumulator


# -- procedures: CALL sys.row_counts('default')


def _count_rows(context: Context, database: str) -> pa.Table:
    names = sorted(context.catalog.tables(database))
    counts = [context.table(f"{database}.{name}").count() for name in names]
    return pa.table({"table": pa.array(names, pa.string()), "rows": pa.array(counts, pa.int64())})


ROW_COUNTS = Procedure(
    "row_counts", "How many rows each table of a database has.", (Argument("database", required=True),), _count_rows
)

# -- system tables: SELECT * FROM t$commits_per_user


def _commits(store: TableStore) -> Iterator[tuple[str, int]]:
    yield from sorted(Counter(s.commit_user for s in store.snapshots.all()).items())


COMMITS_PER_USER = system_table_with_columns({"commit_user": "STRING NOT NULL", "commits": "BIGINT NOT NULL"}, _commits)

# -- file systems and catalogs: connect("scratch:/tmp/x"), options={"metastore": "scratch", "scratch.root": "/tmp/x"}


class ScratchFileIO(LocalFileIO):
    """Local files under another scheme."""


def open_scratch(options: Mapping[str, str]) -> LocalFileIO:
    return ScratchFileIO()


def open_scratch_catalog(name: str, options: Mapping[str, str]) -> FilesystemCatalog:
    """A catalog in the directory of the option `scratch.root`."""
    root = options["scratch.root"]
    return FilesystemCatalog(name, root, options, RootedFileIO(LocalFileIO(), root))


# -- actions of finished partitions: 'partition.mark-done-action' = 'note'


def note_partition(done: DonePartition) -> None:
    """Writes the partition's values to a file in the table."""
    values = ",".join(f"{k}={v}" for k, v in done.partition.items())
    Path(done.table.removeprefix("file:"), "DONE").write_text(values)


# -- panels: %paimon sizes


class _Sizes:
    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = sizes

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {size} bytes" for name, size in self.sizes.items())

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(f"<tr><td>{escape(name)}</td><td>{size}</td></tr>" for name, size in self.sizes.items())
        return f"<table><tr><th>table</th><th>bytes</th></tr>{rows}</table>"


def sizes_panel(wb: Workbench, text: str) -> _Sizes:
    """sizes of the tables whose names begin with a text, in bytes"""
    names = sorted(name for name in wb.tables() if name.startswith(text))
    return _Sizes({n: sum(wb.table(n).files().column("file_size_in_bytes").to_pylist()) for n in names})


PAIMON_NB_PLUGINS = {
    "procedures": {"row_counts": ROW_COUNTS},
    "system_tables": {"commits_per_user": COMMITS_PER_USER},
}
"""The same by the name of the module, without an installation: `connect(..., options={"plugins": "example_plugins"})`."""
