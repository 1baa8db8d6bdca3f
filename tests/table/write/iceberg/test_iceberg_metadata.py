"""Iceberg metadata of our tables, read by pyiceberg: the same rows as ours, after every kind of change."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc
from pyroaring import BitMap64
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, UnsupportedFormat
from paimon_nb.table.write.iceberg.metadata import IcebergMetadata

pytest.importorskip("pyiceberg")
ON = "'metadata.iceberg.storage' = 'table-location', 'metadata.iceberg.manifest-compression' = 'gzip'"
"""gzip: pyiceberg reads snappy with a further package only."""


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def made(wb, columns: str, *, partition: str = "", name: str = "t", options: str = "'bucket' = '-1'") -> Any:
    partitioned = f" PARTITIONED BY ({partition})" if partition else ""
    wb.run(f"CREATE TABLE {name} ({columns}){partitioned} WITH ({options}, {ON})")
    return wb.table(name)


def iceberg(t, directory: str | None = None) -> Any:
    """The table as an Iceberg reader opens it: by its hint."""
    from pyiceberg.table import StaticTable

    home = Path(directory or f"{t.store.root}/metadata")
    hint = (home / "version-hint.text").read_text()
    files = {p.name for p in home.glob("*.metadata.json")}
    assert files == {f"v{hint}.metadata.json"}, "older metadata files are deleted"
    return StaticTable.from_metadata(str(home / f"v{hint}.metadata.json"))


def as_rows(table: pa.Table) -> list[str]:
    return sorted(repr(list(row.items())) for row in table.to_pylist())


def check_same(t, **scan: Any) -> None:
    assert as_rows(iceberg(t).scan(**scan).to_arrow()) == as_rows(t.to_arrow())


def ids(table: pa.Table) -> list[int]:
    return sorted(table.column("id").to_pylist())


def numbers(*values: int) -> pa.Table:
    return pa.table({"id": pa.array(values, pa.int32()), "v": [f"v{i}" for i in values]})


# -- shapes of tables


def test_every_type_with_nulls_and_nested_values(wb):
    t = made(
        wb,
        "ok BOOLEAN, i1 TINYINT, i2 SMALLINT, i4 INT NOT NULL, i8 BIGINT, f4 FLOAT, f8 DOUBLE, d9 DECIMAL(9, 2), "
        "d30 DECIMAL(30, 4), s STRING COMMENT 'text', c CHAR(3), b BYTES, day DATE, at3 TIMESTAMP(3), at6 TIMESTAMP(6), "
        "z TIMESTAMP_LTZ(6), a ARRAY<INT>, m MAP<STRING, BIGINT>, r ROW<x INT, y ARRAY<ROW<z STRING>>>",
    )
    row = {
        "ok": True, "i1": -5, "i2": 300, "i4": 1, "i8": 1 << 40, "f4": 1.5, "f8": -2.25, "d9": Decimal("-1.25"),
        "d30": Decimal("12345678901234567890.1234"), "s": "é", "c": "abc", "b": b"\x00\xff", "day": dt.date(1969, 12, 31),
        "at3": dt.datetime(2024, 1, 1, 0, 0, 0, 123000), "at6": dt.datetime(1969, 1, 1, 0, 0, 0, 1),
        "z": dt.datetime(2024, 1, 1, tzinfo=dt.UTC), "a": [1, None], "m": [("k", 1), ("n", None)],
        "r": {"x": 1, "y": [{"z": "q"}, {"z": None}]},
    }  # fmt: skip
    schema = t.to_arrow().schema
    t.append(pa.Table.from_pylist([row, dict.fromkeys(row) | {"i4": 2}], schema))
    check_same(t)
    for condition in (
        "i1 == -5",
        "i2 > 299",
        "d9 < 0",
        "day < '1970-01-01'",
        "at6 < '1970-01-01T00:00:00'",
        "s == 'é'",
        "ok == true",
    ):
        assert iceberg(t).scan(row_filter=condition).to_arrow()["i4"].to_pylist() == [1], condition
    doc = {f.name: f.doc for f in iceberg(t).schema().fields}
    assert doc["s"] == "text"


@pytest.mark.parametrize(
    ("sql", "values", "condition"),
    sampled(
        [
            ("STRING", ["x", "y", None], "p == 'y'"),
            ("INT", [1, -7, None], "p == -7"),
            ("BIGINT", [1, 1 << 40, None], "p > 5"),
            ("BOOLEAN", [False, True, None], "p == true"),
            ("DATE", [dt.date(2024, 1, 1), dt.date(1960, 2, 3), None], "p < '1970-01-01'"),
            ("DECIMAL(10, 2)", [Decimal("1.25"), Decimal("-3.50"), None], "p < 0"),
            ("TIMESTAMP(6)", [dt.datetime(2024, 1, 1), dt.datetime(1960, 1, 1), None], "p < '1970-01-01T00:00:00'"),
            ("DOUBLE", [1.5, -2.5, None], "p < 0"),
        ],
        3,
    ),
)
def test_partitions_of_each_type(wb, sql, values, condition):
    t = made(wb, f"id INT, p {sql}", partition="p")
    schema = t.to_arrow().schema
    t.append(pa.Table.from_pylist([{"id": i, "p": v} for i, v in enumerate(values)], schema))
    t.append(pa.Table.from_pylist([{"id": 9, "p": values[1]}], schema))
    check_same(t)
    assert ids(iceberg(t).scan(row_filter=condition).to_arrow()) == [1, 9]
    assert ids(iceberg(t).scan(row_filter="p is null").to_arrow()) == [2]


def test_two_partition_columns_with_unusual_names(wb):
    t = made(wb, "id INT, `a b` STRING, `9é` INT", partition="`a b`, `9é`")
    t.append(pa.table({"id": pa.array([1, 2], pa.int32()), "a b": ["x", "y"], "9é": pa.array([1, 2], pa.int32())}))
    t.delete(where="id = 1")
    check_same(t)


def test_many_commits_share_few_manifests(wb):
    t = made(wb, "id INT, v STRING", options="'bucket' = '-1', 'metadata.iceberg.compaction.min.file-num' = '2', "
             "'metadata.iceberg.compaction.max.file-num' = '4', 'write-only' = 'true'")  # fmt: skip
    for i in range(9):
        t.append(numbers(i))
    check_same(t)
    snapshot = iceberg(t).current_snapshot()
    assert len(snapshot.manifests(iceberg(t).io)) < 4
    assert snapshot.summary["total-records"] == "9"
    assert snapshot.summary["total-data-files"] == "9"


# -- changes of rows


def test_overwrite_delete_update_truncate_and_compact(wb):
    t = made(wb, "id INT, v STRING, p STRING", partition="p")
    rows = pa.table({"id": pa.array(range(6), pa.int32()), "v": list("abcdef"), "p": list("xxyyzz")})
    t.append(rows)
    for act in (
        lambda: t.delete(where="id = 1"),
        lambda: t.update({"v": "'new'"}, where="id = 4"),
        lambda: wb.run("ALTER TABLE t DROP PARTITION (p = 'y')"),
        lambda: t.append(rows.slice(2, 2)),
        lambda: t.compact(),
        lambda: t.overwrite(rows.slice(0, 3)),
    ):
        act()
        check_same(t)
    wb.run("TRUNCATE TABLE t")
    assert iceberg(t).scan().to_arrow().num_rows == 0
    assert iceberg(t).current_snapshot().summary["total-files-size"] == "0"


def test_key_tables_show_the_rows_of_the_last_full_compaction(wb):
    t = made(wb, "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED", options="'bucket' = '2', 'write-only' = 'true'")
    t.upsert(numbers(1, 2, 3))
    check_same(t)  # files that need no merge, as Java shows them in new metadata
    wb.run("CALL sys.compact('t')")
    check_same(t)
    assert ids(iceberg(t).scan(snapshot_id=1).to_arrow()) == [1, 2, 3]
    before = as_rows(t.to_arrow())
    t.upsert(pa.table({"id": pa.array([2, 7], pa.int32()), "v": ["B", "g"]}))
    t.delete(where="id = 1")
    assert as_rows(iceberg(t).scan().to_arrow()) == before
    wb.run("CALL sys.compact('t')")
    check_same(t)
    assert ids(t.to_arrow()) == [2, 3, 7]


@pytest.mark.parametrize("engine", ["partial-update", "aggregation", "first-row"])
def test_merge_engines(wb, engine):
    t = made(
        wb, "id INT, v INT, PRIMARY KEY (id) NOT ENFORCED",
        options=f"'bucket' = '-1', 'merge-engine' = '{engine}'",
    )  # fmt: skip
    for value in (1, 2):
        t.upsert(pa.table({"id": pa.array([5, 6], pa.int32()), "v": pa.array([value, None], pa.int32())}))
    t.compact()
    check_same(t)


# -- schemas


def test_columns_added_renamed_dropped_and_widened(wb):
    t = made(wb, "id INT, v STRING, n INT, f FLOAT, d DECIMAL(5, 2), r ROW<x INT, y INT>")
    first = {"id": 1, "v": "a", "n": 5, "f": 1.5, "d": Decimal("1.25"), "r": {"x": 1, "y": 2}}
    t.append(pa.Table.from_pylist([first], t.to_arrow().schema))
    wb.run("ALTER TABLE t MODIFY (n BIGINT, f DOUBLE, d DECIMAL(9, 2))")
    wb.run("ALTER TABLE t RENAME v TO w")
    wb.run("ALTER TABLE t ADD (v STRING)")
    wb.run("ALTER TABLE t DROP f")
    t = wb.table("t")
    second = {"id": 2, "w": "b", "n": 1 << 40, "d": Decimal("12345.25"), "r": {"x": 3, "y": 4}, "v": "new"}
    t.append(pa.Table.from_pylist([second], t.to_arrow().schema))
    check_same(t)
    assert ids(iceberg(t).scan(row_filter="n == 5").to_arrow()) == [1]
    assert ids(iceberg(t).scan(row_filter="v is null").to_arrow()) == [1]
    old = iceberg(t).scan(snapshot_id=1).to_arrow()
    assert old.column_names == ["id", "v", "n", "f", "d", "r"]
    assert old["v"].to_pylist() == ["a"]


def test_a_change_of_a_type_that_iceberg_lacks_is_refused(wb):
    made(wb, "id INT, v INT")
    with pytest.raises(BadOptionValue, match="Iceberg readers"):
        wb.run("ALTER TABLE t MODIFY v STRING")
    assert [str(f.type) for f in wb.table("t").schema.fields] == ["INT", "INT"]


# -- files without column ids


def rows_by_mapping(t) -> list[dict[int, Any]]:
    """The rows of all files as {column id: value}, with the ids that the name mapping has for the names in the files."""
    table = iceberg(t)
    names, out = table.name_mapping(), []
    for task in table.scan().plan_files():
        path = task.file.file_path
        if path.endswith(".orc"):
            stored = orc.ORCFile(path).read().to_pylist()
        else:
            with Path(path).open("rb") as file:
                stored = list(fastavro.reader(file))
        out += [{f.field_id: row[n] for f in names for n in f.names if n in row} for row in stored]
    return out


@pytest.mark.parametrize("file_format", ["orc", "avro"])
def test_orc_and_avro_files_are_read_by_the_names_of_their_columns(wb, file_format):
    t = made(wb, "id INT, v STRING, r ROW<x INT>", options=f"'bucket' = '-1', 'file.format' = '{file_format}'")
    t.append(pa.Table.from_pylist([{"id": 1, "v": "a", "r": {"x": 7}}], schema=t.to_arrow().schema))
    wb.run("ALTER TABLE t RENAME v TO w; ALTER TABLE t RENAME r.x TO y; ALTER TABLE t ADD (n INT)")
    t = wb.table("t")
    t.append(pa.Table.from_pylist([{"id": 2, "w": "b", "r": {"y": 8}, "n": 5}], schema=t.to_arrow().schema))
    assert rows_by_mapping(t) == [{0: 1, 1: "a", 2: {"x": 7}}, {0: 2, 1: "b", 2: {"y": 8}, 4: 5}]
    assert [f.names for of in iceberg(t).name_mapping() for f in of.fields] == [["x", "y"]]


def test_a_name_that_two_columns_had_is_refused_in_new_files_without_ids(wb):
    t = made(wb, "id INT, v STRING", options="'bucket' = '-1', 'file.format' = 'orc'")
    t.append(numbers(1))
    wb.run("ALTER TABLE t DROP v; ALTER TABLE t ADD (v INT)")
    with pytest.raises(UnsupportedFormat, match="an earlier column was named 'v', too"):
        wb.run("INSERT INTO t VALUES (2, 5)")
    wb.run("ALTER TABLE t SET ('file.format' = 'parquet'); INSERT INTO t VALUES (3, 6)")
    wb.run("ALTER TABLE t RENAME v TO n; ALTER TABLE t SET ('file.format' = 'orc'); INSERT INTO t VALUES (4, 7)")
    assert [(f.field_id, f.names) for f in iceberg(wb.table("t")).name_mapping()] == [
        (0, ["id"]),
        (1, ["v"]),
        (2, ["n"]),
    ]
    assert [f.file.file_format for f in iceberg(wb.table("t")).scan().plan_files()] == ["ORC", "PARQUET", "ORC"]


# -- history


def test_expired_snapshots_and_their_manifests_disappear(wb):
    t = made(wb, "id INT, v STRING")
    for i in range(5):
        t.append(numbers(i))
    wb.run("CALL sys.expire_snapshots('t', 2)")
    assert [s.snapshot_id for s in iceberg(t).snapshots()] == [4, 5]
    check_same(t)
    assert ids(iceberg(t).scan(snapshot_id=4).to_arrow()) == [0, 1, 2, 3]
    used = {m.manifest_path for s in iceberg(t).snapshots() for m in s.manifests(iceberg(t).io)}
    used |= {s.manifest_list for s in iceberg(t).snapshots()}
    home = Path(t.store.root) / "metadata"
    assert {str(p) for p in home.glob("*.avro")} == used


def test_tags_are_iceberg_tags(wb):
    t = made(wb, "id INT, v STRING")
    t.append(numbers(1))
    t.append(numbers(2))
    t.tags.create("one", snapshot=1)
    t.tags.create("two")
    wb.run("CALL sys.rename_tag('t', 'two', 'second')")
    for i in range(3, 6):
        t.append(numbers(i))
    wb.run("CALL sys.expire_snapshots('t', 1)")
    found = iceberg(t)
    tags = {n: r.snapshot_id for n, r in found.metadata.refs.items() if r.snapshot_ref_type == "tag"}
    assert tags == {"one": 1, "second": 2}
    assert ids(found.scan(snapshot_id=1).to_arrow()) == [1]
    assert [s.snapshot_id for s in found.snapshots()] == [1, 2, 5]
    t.tags.delete("one")
    assert [s.snapshot_id for s in iceberg(t).snapshots()] == [2, 5]


def test_rollback_and_the_commits_after_it(wb):
    t = made(wb, "id INT, v STRING")
    for i in range(4):
        t.append(numbers(i))
    wb.run("CALL sys.rollback_to('t', 2)")
    uuid = iceberg(t).metadata.table_uuid
    check_same(t)
    t.append(numbers(9))
    check_same(t)
    assert ids(t.to_arrow()) == [0, 1, 9]
    assert [s.snapshot_id for s in iceberg(t).snapshots()] == [1, 2, 3]
    assert iceberg(t).metadata.table_uuid == uuid


def test_fast_forward_replaces_the_history(wb):
    t = made(wb, "id INT, v STRING")
    t.append(numbers(1))
    t.tags.create("start")
    wb.run("CALL sys.create_branch('t', 'b', 'start')")
    t.append(numbers(2))
    branch = wb.table("t$branch_b")
    branch.append(numbers(7))
    check_same(t)
    wb.run("CALL sys.fast_forward('t', 'b')")
    assert ids(iceberg(t).scan().to_arrow()) == [1, 7]


def test_missed_commits_are_caught_up(wb):
    t = made(wb, "id INT, v STRING")
    t.append(numbers(1))
    off = t.copy({"paimon-nb.ignore-unsupported-options": "metadata.iceberg.storage"})
    off.append(numbers(2))
    off.append(numbers(3))
    assert ids(iceberg(t).scan().to_arrow()) == [1]
    t.append(numbers(4))
    check_same(t)
    assert [s.snapshot_id for s in iceberg(t).snapshots()] == [1, 2, 3, 4]


def test_broken_metadata_is_written_again(wb):
    t = made(wb, "id INT, v STRING")
    t.append(numbers(1))
    (Path(t.store.root) / "metadata/v1.metadata.json").write_text("{")
    t.append(numbers(2))
    check_same(t)


def test_an_existing_table_gets_metadata_of_all_its_files(wb):
    wb.run("CREATE TABLE t (id INT, v STRING) WITH ('bucket' = '-1')")
    t = wb.table("t")
    t.append(numbers(1, 2))
    t.delete(where="id = 1")
    wb.run(f"ALTER TABLE t SET ({ON})")
    t = wb.table("t")
    t.append(numbers(3))
    check_same(t)
    assert [s.snapshot_id for s in iceberg(t).snapshots()] == [3]


# -- places


def test_hadoop_catalog_and_a_table_made_again(wb, tmp_path):
    home = str(tmp_path / "w/iceberg/default/t/metadata")
    options = ON.replace("table-location", "hadoop-catalog")
    uuids = []
    for rows in (numbers(1, 2), numbers(3)):
        wb.run(f"CREATE TABLE t (id INT, v STRING) WITH ('bucket' = '-1', {options})")
        wb.table("t").append(rows)
        found = iceberg(wb.table("t"), home)
        assert as_rows(found.scan().to_arrow()) == as_rows(rows)
        uuids.append(found.metadata.table_uuid)
        wb.run("DROP TABLE t")
    assert uuids[0] != uuids[1]


def test_a_renamed_table_gets_new_paths(wb):
    t = made(wb, "id INT, v STRING")
    t.append(numbers(1))
    wb.run("ALTER TABLE t RENAME TO u")
    u = wb.table("u")
    u.append(numbers(2))
    check_same(u)
    assert all("/u/" in f.file.file_path for f in iceberg(u).scan().plan_files())


# -- deletion vectors, format version 3

V3 = (
    "'deletion-vectors.enabled' = 'true', 'deletion-vectors.bitmap64' = 'true', 'metadata.iceberg.format-version' = '3'"
)


def vectors(t) -> dict[str, list[int]]:
    """Deleted positions by data file, from the places that the delete manifests name, in Iceberg's encoding."""
    found = {}
    table = iceberg(t)
    for manifest in table.current_snapshot().manifests(table.io):
        if manifest.content == 1:
            with Path(manifest.manifest_path).open("rb") as file:
                entries = [entry["data_file"] for entry in fastavro.reader(file)]
            for of in entries:
                blob = Path(of["file_path"]).read_bytes()[of["content_offset"] :][: of["content_size_in_bytes"]]
                assert int.from_bytes(blob[:4], "big") == len(blob) - 8
                assert blob[4:8] == bytes.fromhex("d1d33964")
                rows = list(BitMap64.deserialize(blob[8:-4]))
                assert len(rows) == of["record_count"]
                found[of["referenced_data_file"]] = rows
    return found


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_deletion_vectors_are_named_in_version_3(wb, key):
    t = made(wb, f"id INT, v STRING{key}", options=f"'bucket' = '{1 if key else -1}', {V3}")
    (t.upsert if key else t.append)(numbers(1, 2, 3, 4))
    t.delete(where="id IN (1, 3)")
    table = iceberg(t)
    (deleted,) = vectors(t).items()
    assert Path(deleted[0]).exists()
    assert deleted[1] == [0, 2]
    assert table.current_snapshot().summary["total-position-deletes"] == "2"
    files = [f.file.file_path for f in table.scan().plan_files()]
    assert deleted[0] in files
    t.compact()
    assert vectors(t) == {}
    check_same(t)


def test_row_ids_of_version_3_are_kept_and_never_used_twice(wb):
    t = made(
        wb,
        "id INT, v STRING",
        options="'bucket' = '-1', 'metadata.iceberg.format-version' = '3', 'write-only' = 'true'",
    )
    for some in ((1, 2), (3,), (4, 5, 6)):
        t.append(numbers(*some))
    raw = json.loads(Path(iceberg(t).metadata_location).read_text())
    assert [(s["first-row-id"], s["added-rows"]) for s in raw["snapshots"]] == [(0, 2), (2, 1), (3, 3)]
    assert raw["next-row-id"] == 6
    t.delete(where="id = 3")
    t.compact()
    after = json.loads(Path(iceberg(t).metadata_location).read_text())
    assert after["next-row-id"] >= 6
    assert after["snapshots"][3]["first-row-id"] == 6
    check_same(t)


# -- what is refused


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ("id INT, at TIMESTAMP(9)", "'bucket' = '-1'", "TIMESTAMP\\(9\\)"),
        ("id INT, at TIMESTAMP(0)", "'bucket' = '-1'", "TIMESTAMP\\(0\\)"),
        ("id INT", "'bucket' = '-1', 'file.format' = 'json'", "do not read json"),
        ("id INT, z TIMESTAMP_LTZ(6)", "'bucket' = '-1', 'file.format' = 'orc'", "'z' of an orc file"),
        ("id INT, z TIMESTAMP_LTZ(6)", "'bucket' = '-1', 'file.format.per.level' = '0:avro'", "'z' of an avro file"),
        ("id INT, a ARRAY<TIME(0)>", "'bucket' = '-1', 'file.format' = 'avro'", "'a' of an avro file"),
        (
            "id INT",
            "'bucket' = '-1', 'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'",
            "some columns",
        ),
        ("id INT", "'bucket' = '-1', 'deletion-vectors.enabled' = 'true'", "deleted rows"),
    ],
)
def test_what_iceberg_readers_would_read_wrongly_is_refused(wb, columns, options, words):
    with pytest.raises(UnsupportedFormat, match=words):
        made(wb, columns, options=options)


def test_a_table_without_a_name_in_a_catalog_is_not_registered(wb, caplog):
    options = "'metadata.iceberg.storage' = 'hive-catalog', 'metadata.iceberg.storage-location' = 'table-location'"
    wb.run(f"CREATE TABLE t (id INT, v STRING) WITH ('bucket' = '-1', {options})")
    paimon_nb.open_table(wb.table("t").path).append(numbers(1))
    assert "was opened without a catalog" in caplog.text
    assert ids(wb.table("t").to_arrow()) == [1]


# -- what other engines wrote


def test_metadata_of_another_engine_is_continued(wb):
    """Java writes locations with a scheme, older names in manifest lists, and no identity of commits in old releases."""
    t = made(
        wb,
        "id INT, v STRING, p STRING",
        partition="p",
        options="'bucket' = '-1', 'metadata.iceberg.manifest-legacy-version' = 'true'",
    )
    rows = pa.table({"id": pa.array([1, 2], pa.int32()), "v": ["a", "b"], "p": ["x", "y"]})
    t.append(rows)
    path = Path(t.store.root) / "metadata/v1.metadata.json"
    known = path.read_text().replace(t.store.root, f"file:{t.store.root}")
    path.write_text(known.replace("paimon-commit-identity", "some-other-key"))
    t.delete(where="id = 1")
    t.append(rows)
    check_same(t)
    found = IcebergMetadata.from_json(Path(iceberg(t).metadata_location).read_bytes(), "m")
    assert found.location == f"file:{t.store.root}"
    assert [s["snapshot-id"] for s in found.snapshots] == [1, 2, 3]
    newest = {f.file.file_path for f in iceberg(t).scan().plan_files()}
    assert any(p.startswith("file:/") for p in newest)
