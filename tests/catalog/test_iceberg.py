"""Tables that pyiceberg wrote become Paimon tables in place: the same rows, the same files, nothing lost when it fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    CorruptFile,
    OutsideWarehouse,
    TableNotFound,
    UnsupportedOperation,
)

pytest.importorskip("pyiceberg")
from iceberg_kit import COLUMNS, Iceberg, rows
from pyiceberg.transforms import DayTransform, IdentityTransform


@pytest.fixture
def iceberg(tmp_path: Path) -> Iceberg:
    return Iceberg(tmp_path)


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    return paimon_nb.connect(str(tmp_path / "w"))


def told(table: pa.Table) -> list[dict[str, Any]]:
    return table.sort_by("id").to_pylist()


def listed(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_manifests_compressed_with_snappy_name_files_of_the_table_that_wrote_them(tmp_path):
    """Paimon compresses Iceberg's metadata so unless `metadata.iceberg.manifest-compression` says otherwise."""
    with paimon_nb.connect(str(tmp_path / "source")) as source:
        source.run("CREATE DATABASE d; CREATE TABLE d.t (id INT) WITH ('metadata.iceberg.storage' = 'hadoop-catalog')")
        source.run("INSERT INTO d.t VALUES (1); INSERT INTO d.t VALUES (2)")
    folder = f"{tmp_path}/source/iceberg"
    with paimon_nb.connect(str(tmp_path)) as wb, pytest.raises(OutsideWarehouse, match=r"d\.db/t/bucket-0/data-"):
        wb.run(
            f"CALL sys.migrate_iceberg_table('d.t', 'metadata.iceberg.storage=hadoop-catalog,iceberg_warehouse={folder}')"
        )
    with paimon_nb.connect(str(tmp_path / "source")) as source:
        assert told(source.table("d.t").to_arrow()) == [{"id": 1}, {"id": 2}]


def test_rows_and_files_stay_as_they_are(iceberg, wb):
    table = iceberg.create("t")
    for ids in ((1, 2, 3), (4, 5)):
        table.append(rows(*ids))
    place = iceberg.publish("t")
    data = sorted(p.read_bytes() for p in place.glob("data/*.parquet"))
    result = wb.run(iceberg.call())
    assert (result.arrow.to_pylist(), result.notes) == (
        [{"result": "Success"}],
        ["2 files were moved, none was rewritten"],
    )
    paimon = wb.table("d.t")
    assert told(paimon.to_arrow()) == told(rows(1, 2, 3, 4, 5))
    assert sorted(p.read_bytes() for p in Path(paimon.path).glob("bucket-0/*.parquet")) == data
    assert [str(f.type) for f in paimon.schema.fields][:6] == [
        "BIGINT NOT NULL", "STRING", "DECIMAL(8, 2)", "TIMESTAMP(6)", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "DATE",
    ]  # fmt: skip
    assert not place.exists()
    # It is a table like any other: statistics lead past files, rows are added, files are put together.
    assert paimon.to_arrow(where="id > 4").num_rows == 1
    paimon.append(rows(9))
    paimon.compact(full=True)
    assert told(wb.table("d.t").to_arrow()) == told(rows(1, 2, 3, 4, 5, 9))


def test_partitions_by_plain_columns(iceberg, wb):
    iceberg.create("t", partition={"day": IdentityTransform(), "name": IdentityTransform()}).append(rows(1, 2, 3, 4))
    iceberg.publish("t")
    wb.run(iceberg.call())
    table = wb.table("d.t")
    assert table.partition_keys == ("day", "name")
    assert told(table.to_arrow()) == told(rows(1, 2, 3, 4))
    assert table.to_arrow(where="day = DATE '2024-01-01' AND name = 'n2'").num_rows == 1
    assert table.to_arrow(where="name IS NULL").column("id").to_pylist() == [3]
    assert len(table.partition_specs()) == 4


def test_older_schemas_come_along(iceberg, wb):
    table = iceberg.create("t", pa.schema([("id", pa.int32()), ("old", pa.string()), ("gone", pa.int32())]))
    table.append(pa.table({"id": pa.array([1], pa.int32()), "old": ["a"], "gone": pa.array([7], pa.int32())}))
    with table.update_schema() as update:
        from pyiceberg.types import LongType, StringType

        update.rename_column("old", "new")
        update.delete_column("gone")
        update.update_column("id", LongType())
        update.add_column("more", StringType(), doc="added later")
    table.append(pa.table({"id": pa.array([2], pa.int64()), "new": ["b"], "more": ["c"]}))
    iceberg.publish("t")
    wb.run(iceberg.call())
    migrated = wb.table("d.t")
    assert told(migrated.to_arrow()) == [{"id": 1, "new": "a", "more": None}, {"id": 2, "new": "b", "more": "c"}]
    assert [(f.id, f.name, str(f.type), f.description) for f in migrated.schema.fields] == [
        (1, "id", "BIGINT", None), (2, "new", "STRING", None), (4, "more", "STRING", "added later"),
    ]  # fmt: skip
    wb.run("ALTER TABLE d.t ADD COLUMN next INT")
    assert wb.table("d.t").schema.field("next").id == 5


def test_a_table_without_rows(iceberg, wb):
    iceberg.create("t")
    iceberg.publish("t")
    wb.run(iceberg.call())
    assert (wb.table("d.t").to_arrow().num_rows, wb.table("d.t").schema.names) == (0, tuple(COLUMNS.names))


def test_computed_partitions_are_refused(iceberg, wb):
    iceberg.create("t", partition={"seen": DayTransform()})
    place = iceberg.publish("t")
    before = listed(place)
    with pytest.raises(UnsupportedOperation, match=r"partitioned by day\(seen_day\)"):
        wb.run(iceberg.call())
    assert (listed(place), wb.session.catalog.databases()) == (before, ["default"])


def test_delete_files_are_refused(iceberg, wb, monkeypatch):
    """pyiceberg writes none itself, so the manifest's own word is changed."""
    from pyiceberg.manifest import ManifestContent, ManifestFile

    iceberg.create("t").append(rows(1))
    place = iceberg.publish("t")
    before = listed(place)
    real = ManifestFile.content
    monkeypatch.setattr(ManifestFile, "content", property(lambda _self: ManifestContent.DELETES))
    with pytest.raises(UnsupportedOperation, match="has delete files"):
        wb.run(iceberg.call())
    monkeypatch.setattr(ManifestFile, "content", real)
    assert listed(place) == before


def test_a_broken_file_leaves_iceberg_as_it_was(iceberg, wb):
    table = iceberg.create("t")
    table.append(rows(1))
    table.append(rows(2))
    place = iceberg.publish("t")
    next(iter(place.glob("data/*.parquet"))).write_bytes(b"PAR1 cut short")
    before = listed(place)
    with pytest.raises(CorruptFile):
        wb.run(iceberg.call())
    assert (listed(place), wb.session.catalog.tables("d")) == (before, [])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ("iceberg_warehouse=/x", BadOptionValue, "metadata.iceberg.storage"),
        ("metadata.iceberg.storage=hive-catalog,iceberg_warehouse=/x", BadOptionValue, "Hadoop catalog"),
        ("metadata.iceberg.storage=hadoop-catalog", BadOptionValue, "'iceberg_warehouse' is missing"),
        ("metadata.iceberg.storage=hadoop-catalog,iceberg_warehouse=/nowhere/at/all", TableNotFound, "version-hint"),
    ],
)
def test_bad_options_are_refused(wb, options, error, message):
    with pytest.raises(error, match=message):
        wb.run(f"CALL sys.migrate_iceberg_table('d.t', '{options}')")


def test_bad_metadata_and_taken_names_are_refused(iceberg, wb):
    iceberg.create("t")
    place = iceberg.publish("t")
    wb.run("CREATE DATABASE d; CREATE TABLE d.t (a INT)")
    with pytest.raises(AlreadyExists):
        wb.run(iceberg.call())
    wb.run("DROP TABLE d.t")
    (place / "metadata" / "v1.metadata.json").write_text("{}")
    with pytest.raises(CorruptFile):
        wb.run(iceberg.call())
