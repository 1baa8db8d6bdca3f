"""Iceberg tables as pyiceberg writes them, laid out as a Hadoop catalog does, and rows of many types."""

from __future__ import annotations

import datetime as dt
import shutil
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = pa.schema([
    pa.field("id", pa.int64(), nullable=False), ("name", pa.string()), ("price", pa.decimal128(8, 2)),
    ("seen", pa.timestamp("us")), ("at", pa.timestamp("us", tz="UTC")), ("day", pa.date32()), ("raw", pa.binary()),
    ("code", pa.binary(3)), ("tags", pa.list_(pa.string())), ("m", pa.map_(pa.string(), pa.int32())),
    ("place", pa.struct({"x": pa.float64(), "y": pa.float32()})), ("ok", pa.bool_()),
])  # fmt: skip


def rows(*ids: int) -> pa.Table:
    return pa.table({
        "id": ids, "name": [None if i % 3 == 0 else f"n{i}" for i in ids], "price": [Decimal(i) / 4 for i in ids],
        "seen": [dt.datetime(2024, 1, 1, 0, 0, i % 60, 123456) for i in ids],
        "at": [dt.datetime(2024, 1, 1, 0, 0, i % 60, 5, tzinfo=dt.UTC) for i in ids],
        "day": [dt.date(2024, 1, 1 + i % 2) for i in ids], "raw": [bytes([i]) for i in ids], "code": [b"abc" for _ in ids],
        "tags": [[f"t{i}"] * (i % 3) for i in ids], "m": [[("a", i)] for i in ids],
        "place": [{"x": i / 2, "y": None} for i in ids], "ok": [i % 2 == 0 for i in ids],
    }, COLUMNS)  # fmt: skip


class Iceberg:
    """An Iceberg warehouse as a Hadoop catalog lays it out."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "iceberg"
        self.root.mkdir()
        self.catalog = SqlCatalog("i", uri=f"sqlite:///{folder}/i.db", warehouse=f"file://{self.root}")
        self.catalog.create_namespace("d")

    def create(self, name: str, schema: pa.Schema = COLUMNS, partition: dict[str, Any] | None = None) -> Any:
        table = self.catalog.create_table(f"d.{name}", schema, location=f"file://{self.root}/d/{name}")
        with table.update_spec() as update:
            for column, transform in (partition or {}).items():
                update.add_field(column, transform)
        return table

    def publish(self, name: str) -> Path:
        """Write what a Hadoop catalog has beside the files: a metadata file by its number, and the hint."""
        metadata = self.root / "d" / name / "metadata"
        newest = self.catalog.load_table(f"d.{name}").metadata_location.removeprefix("file://")
        shutil.copy(newest, metadata / "v1.metadata.json")
        (metadata / "version-hint.text").write_text("1")
        return metadata.parent

    def call(self, name: str = "t") -> str:
        """The statement that takes a table over."""
        return f"CALL sys.migrate_iceberg_table('d.{name}', 'metadata.iceberg.storage=hadoop-catalog,iceberg_warehouse={self.root}')"
