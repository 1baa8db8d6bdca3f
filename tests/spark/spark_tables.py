"""Random tables for the engine's tests: made and written without Spark."""

from __future__ import annotations

import datetime as dt
import itertools
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.identifier import Identifier
from paimon_nb.format.schema import SchemaDirectory, create_schema
from paimon_nb.fs import RootedFileIO, open_fs
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import TableCommit

if TYPE_CHECKING:
    import random
    from pathlib import Path

_numbers = itertools.count()
VALUES = {
    "i": "INT", "d": "DOUBLE", "e": "DECIMAL(10, 2)", "s": "STRING", "ts": "TIMESTAMP(3)", "tz": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "da": "DATE", "a": "ARRAY<INT>",
}  # fmt: skip
ODD = {"t": "TIME(3)", "n9": "TIMESTAMP(9)", "r": "ROW<x INT, y MAP<STRING, BIGINT>>"}


def make_table(
    where: Path,
    columns: dict[str, str],
    *,
    keys: tuple[str, ...] = (),
    partitions: tuple[str, ...] = (),
    **options: str,
) -> Table:
    root = str(where / f"db.db/t{next(_numbers)}")
    fs = RootedFileIO(open_fs(root, {}), root)
    named = {k.replace("_", "-").replace("--", "."): v for k, v in options.items()}
    schema = create_schema([(n, t, None, None) for n, t in columns.items()], list(partitions), list(keys), named, None)
    assert SchemaDirectory(fs, fs.root).create(schema)
    return Table(TableStore.open(fs, fs.root), name=Identifier("db", root.rsplit("/", 1)[-1]))


def store_rows(table: Table, rows: pa.Table, kinds: list[str] | None = None, *, compact: bool = False) -> None:
    """One commit; `compact` False keeps the level-0 files apart."""
    with TableWrite(table.store, compact=compact) as writing:
        writing.write(rows, None if kinds is None else pa.array(kinds))
        TableCommit(table.store).commit(writing.prepare_commit())


def random_rows(
    r: random.Random, count: int, keys: int, partitions: list[str] | None = None, odd: bool = False
) -> pa.Table:
    def maybe(value: object) -> object:
        return None if r.random() < 0.1 else value

    base = dt.datetime(2020, 1, 1)
    rows: dict[str, pa.Array] = {"k": pa.array([r.randrange(keys) for _ in range(count)], pa.int64())}
    if partitions:
        rows["p"] = pa.array([r.choice(partitions) for _ in range(count)])
    rows |= {
        "i": pa.array([maybe(r.randrange(100)) for _ in range(count)], pa.int32()),
        "d": pa.array([maybe(r.random()) for _ in range(count)], pa.float64()),
        "e": pa.array([maybe(Decimal(r.randrange(10**6)).scaleb(-2)) for _ in range(count)], pa.decimal128(10, 2)),
        "s": pa.array([maybe("v" * r.randrange(12)) for _ in range(count)]),
        "ts": pa.array(
            [maybe(base + dt.timedelta(milliseconds=r.randrange(10**11))) for _ in range(count)], pa.timestamp("ms")
        ),
        "tz": pa.array(
            [maybe(base + dt.timedelta(microseconds=r.randrange(10**14))) for _ in range(count)],
            pa.timestamp("us", tz="UTC"),
        ),
        "da": pa.array(
            [maybe(dt.date(1, 1, 1) + dt.timedelta(days=r.randrange(10**6))) for _ in range(count)], pa.date32()
        ),
        "a": pa.array([maybe([r.randrange(9)] * r.randrange(3)) for _ in range(count)], pa.list_(pa.int32())),
    }
    if odd:
        rows |= {
            "t": pa.array([maybe(r.randrange(86_400_000)) for _ in range(count)], pa.time32("ms")),
            "n9": pa.array([maybe(r.randrange(10**18)) for _ in range(count)], pa.timestamp("ns")),
            "r": pa.array(
                [maybe({"x": maybe(1), "y": maybe([("q", r.randrange(5))])}) for _ in range(count)],
                pa.struct([("x", pa.int32()), ("y", pa.map_(pa.string(), pa.int64()))]),
            ),
        }
    return pa.table(rows)


def as_rows(table: pa.Table) -> list[str]:
    """Rows in an order of their own, NaN and nested values included."""
    # Nanoseconds have no Python form.
    plain = [c.cast(pa.int64()) if pa.types.is_timestamp(c.type) and c.type.unit == "ns" else c for c in table.columns]
    return sorted(map(repr, pa.table(plain, names=table.column_names).to_pylist()))
