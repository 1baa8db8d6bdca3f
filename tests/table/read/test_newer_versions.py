"""A table of a release that is not known yet: what is read rightly is read, the rest is refused by name."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb import NewerFormat, UnsupportedFormat
from paimon_nb.format.manifest import read_manifest, write_manifest
from paimon_nb.format.manifest.index_manifests import read_index_manifest, write_index_manifest

ROWS = pa.table({"id": pa.array([1, 2], pa.int32()), "v": ["a", "b"]})


@pytest.fixture
def wb(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '-1')")
    wb.table("t").append(ROWS)
    return wb


def edited(path: Path, **fields) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def snapshot(wb, number: int = 1) -> Path:
    return Path(wb.table("t").path) / f"snapshot/snapshot-{number}"


def with_index(wb, **changes) -> paimon_nb.Table:
    """The table's index file, said to be of another kind."""
    t = wb.table("t")
    path = t.store.manifest_path(json.loads(snapshot(wb).read_text())["indexManifest"])
    entries = [replace(e, **changes) for e in read_index_manifest(t.store.fs, path)]
    Path(path).unlink()
    write_index_manifest(t.store.fs, path, entries, "zstd")
    return paimon_nb.connect(str(Path(t.path).parents[1])).table("t")


def test_a_newer_snapshot_is_refused_and_older_ones_are_read(wb):
    wb.table("t").append(pa.table({"id": pa.array([3], pa.int32()), "v": ["c"]}))
    edited(snapshot(wb, 2), version=4)
    t = wb.table("t")
    with pytest.raises(NewerFormat, match="version 4"):
        t.to_arrow()
    assert t.to_arrow(snapshot=1).num_rows == 2


def test_fields_of_a_snapshot_that_are_not_known_are_ignored(wb):
    edited(snapshot(wb), somethingNew={"a": [1]}, another=True)
    assert wb.table("t").to_arrow().num_rows == 2


def test_an_index_of_an_unknown_kind_may_hide_rows(wb):
    t = with_index(wb, index_type="DELETION_MAPS")
    with pytest.raises(UnsupportedFormat, match="'DELETION_MAPS'"):
        t.to_arrow()
    with pytest.raises(UnsupportedFormat, match="'DELETION_MAPS'"):
        t.lookup(id=1)
    assert t.system("table_indexes").column("index_type").to_pylist() == ["DELETION_MAPS"]
    assert t.system("files").num_rows


def test_a_global_index_of_an_unknown_kind_only_finds_rows(wb):
    index = (
        ("_ROW_RANGE_START", 0),
        ("_ROW_RANGE_END", 1),
        ("_INDEX_FIELD_ID", 1),
        ("_EXTRA_FIELD_IDS", None),
        ("_INDEX_META", None),
        ("_SOURCE_META", None),
    )
    assert with_index(wb, index_type="quantum", global_index=index).to_arrow().num_rows == 2


def test_an_option_that_is_not_known_is_kept(wb):
    path = Path(wb.table("t").path) / "schema/schema-0"
    found = json.loads(path.read_text())
    found["options"]["something.of-3.0"] = "true"
    path.write_text(json.dumps(found))
    t = paimon_nb.connect(str(path.parents[3])).table("t")
    assert t.to_arrow().num_rows == 2
    assert {"key": "something.of-3.0", "value": "true"} in t.system("options").to_pylist()


def test_a_newer_schema_is_refused_by_its_number_and_other_tables_are_read(wb):
    wb.run("CREATE TABLE other (id INT)")
    edited(Path(wb.table("t").path) / "schema/schema-0", version=4)
    newer = paimon_nb.connect(str(Path(wb.table("other").path).parents[1]))
    with pytest.raises(NewerFormat, match="version 4"):
        newer.table("t")
    assert newer.run("SHOW TABLES").arrow.column("tableName").to_pylist() == ["other", "t"]
    assert newer.table("other").count() == 0


def with_entries(wb, change) -> paimon_nb.Table:
    """The table with other entries in its manifest."""
    t = wb.table("t")
    (path,) = (p for p in Path(t.path).glob("manifest/manifest-*") if "list" not in p.name)
    entries = [change(e) for e in read_manifest(t.store.fs, str(path))]
    path.unlink()
    write_manifest(t.store.fs, str(path), entries)
    return paimon_nb.connect(str(Path(t.path).parents[1])).table("t")


def test_a_file_of_an_unknown_format_is_named_and_the_others_are_read(wb):
    before = wb.table("t").latest_snapshot().id
    (file,) = Path(wb.table("t").path).glob("bucket-*/data-*")
    file.rename(file.with_suffix(".quantum"))
    t = with_entries(wb, lambda e: replace(e, file=replace(e.file, file_name=file.with_suffix(".quantum").name)))
    with pytest.raises(UnsupportedFormat, match="quantum") as refused:
        t.to_arrow()
    assert "parquet" in refused.value.hint
    t.append(pa.table({"id": pa.array([7], pa.int32()), "v": ["c"]}))
    assert t.latest_snapshot().id == before + 1
    assert set(t.files()["file_format"].to_pylist()) == {"quantum", "parquet"}


def test_an_entry_that_is_neither_new_nor_deleted_is_refused_and_not_called_broken(wb):
    t = with_entries(wb, lambda e: replace(e, kind=2))
    with pytest.raises(UnsupportedFormat, match="kind 2"):
        t.to_arrow()
    with pytest.raises(UnsupportedFormat, match="kind 2"):
        t.append(ROWS)


def test_a_storage_of_iceberg_metadata_that_is_not_known_does_not_stop_reads(wb):
    path = Path(wb.table("t").path) / "schema/schema-0"
    edited(path, options={**json.loads(path.read_text())["options"], "metadata.iceberg.storage": "some-later-catalog"})
    t = paimon_nb.connect(str(path.parents[3])).table("t")
    assert t.to_arrow().num_rows == 2
    with pytest.raises(UnsupportedFormat, match="some-later-catalog"):
        t.append(ROWS)
