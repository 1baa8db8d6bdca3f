"""More faults that later releases of Paimon repaired, each played here. `tests/interop/paimon_commits.toml` names the changes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rest_server import RestServer

import paimon_nb

EVOLVES = "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'"
BLOBS = f"{EVOLVES}, 'blob-field' = 'b'"


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    return paimon_nb.connect(str(tmp_path / "w"))


def stored(wb: paimon_nb.Workbench, name: str = "t", **how: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(r.values()) for r in wb.table(name).to_arrow(**how).to_pylist()), key=repr)


def put(wb: paimon_nb.Workbench, **columns: Any) -> None:
    wb.table("t").append(pa.table(columns))


# -- files of other writers


def foreign(wb: paimon_nb.Workbench, columns: str, rows: pa.Table, **how: Any) -> None:
    """A format table `f` with one Parquet file that another writer made."""
    wb.run(f"CREATE TABLE f ({columns}) WITH ('type' = 'format-table', 'file.format' = 'parquet')")
    folder = wb.table("f").path
    pq.write_table(rows, f"{folder}/other.parquet", **how)


def test_old_timestamps_are_found_behind_rows_that_are_left_out(wb: paimon_nb.Workbench) -> None:
    times = [datetime(2024, 1, 1, 0, n // 60, n % 60) for n in range(1000)]
    rows = pa.table({"id": pa.array(range(1000), pa.int32()), "ts": pa.array(times, pa.timestamp("us"))})
    foreign(wb, "id INT, ts TIMESTAMP(6)", rows, use_deprecated_int96_timestamps=True, row_group_size=100)
    assert stored(wb, "f", where="id = 999 OR id = 250") == [(250, times[250]), (999, times[999])]


@pytest.mark.parametrize("encoding", ["DELTA_BINARY_PACKED", "RLE_DICTIONARY", "PLAIN"])
def test_single_rows_of_encoded_columns(wb: paimon_nb.Workbench, encoding: str) -> None:
    rows = pa.table(
        {"id": pa.array(range(5000), pa.int64()), "v": pa.array([n // 700 for n in range(5000)], pa.int32())}
    )
    encoded = {"use_dictionary": ["v"]} if encoding == "RLE_DICTIONARY" else {
        "use_dictionary": False, "column_encoding": dict.fromkeys(("id", "v"), encoding)}  # fmt: skip
    foreign(wb, "id BIGINT, v INT", rows, data_page_size=512, write_page_index=True, **encoded)
    wanted = [3, 699, 700, 2101, 4999]
    assert stored(wb, "f", where=f"id IN ({', '.join(map(str, wanted))})") == sorted(
        ((n, n // 700) for n in wanted), key=repr
    )


def test_a_file_with_other_types_than_the_table(wb: paimon_nb.Workbench) -> None:
    rows = pa.table({"v": pa.array([1, 300, None], pa.int16()), "id": pa.array([7, 8, 9], pa.int32())})
    foreign(wb, "id BIGINT, v DOUBLE, w STRING", rows)
    assert stored(wb, "f") == [(7, 1.0, None), (8, 300.0, None), (9, None, None)]
    assert stored(wb, "f", where="v > 299.5") == [(8, 300.0, None)]
    assert stored(wb, "f", where="id = 7") == [(7, 1.0, None)]


def test_rows_are_deleted_where_they_are_in_files_of_several_pages(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (id INT, v INT) WITH ('deletion-vectors.enabled' = 'true', 'file.block-size' = '4 kb')")
    put(wb, id=pa.array(range(20_000), pa.int32()), v=pa.array([n % 7 for n in range(20_000)], pa.int32()))
    wb.table("t").delete(where="id >= 12345 AND v = 3")
    wb.table("t").update({"v": 100}, where="id = 19999")
    kept = [(n, 100 if n == 19_999 else n % 7) for n in range(20_000) if n < 12_345 or n % 7 != 3]
    assert stored(wb) == sorted(kept, key=repr)


@pytest.mark.parametrize("file_format", ["avro", "orc", "parquet"])
def test_multisets_of_numbers_and_rows_that_are_null(wb: paimon_nb.Workbench, file_format: str) -> None:
    wb.run(
        f"CREATE TABLE t (id INT, m MULTISET<INT>, r ROW<a INT, b ROW<c STRING>>) WITH ('file.format' = '{file_format}')"
    )
    nested = pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string())]))])
    values = [{"a": 1, "b": {"c": "x"}}, None, {"a": None, "b": None}]
    counts = pa.array([[(1, 2), (5, 1)], None, []], pa.map_(pa.int32(), pa.int32()))
    put(wb, id=pa.array([1, 2, 3], pa.int32()), m=counts, r=pa.array(values, nested))
    found = wb.table("t").to_arrow().sort_by("id")
    assert (found.column("r").to_pylist(), found.column("m").to_pylist()) == (values, [[(1, 2), (5, 1)], None, []])


# -- tables with primary keys


def test_bytes_are_ordered_as_unsigned(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (k VARBINARY(9), v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')")
    keys = [b"\x7f", b"\x80", b"", b"\xff\x00", b"\xff"]
    wb.table("t").upsert(pa.table({"k": pa.array(keys, pa.binary()), "v": pa.array(range(5), pa.int32())}))
    wb.table("t").upsert(pa.table({"k": pa.array([b"\x80"], pa.binary()), "v": pa.array([9], pa.int32())}))
    assert wb.table("t").to_arrow().column("k").to_pylist() == sorted(keys)
    assert wb.table("t").to_arrow(where="k = X'80'").column("v").to_pylist() == [9]
    assert wb.table("t").to_arrow(where="k > X'7f'").column("k").to_pylist() == [b"\x80", b"\xff", b"\xff\x00"]


def test_equal_maps_with_keys_of_bytes_are_no_change(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (k INT, m MAP<BYTES, INT>, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1',"
        " 'changelog-producer' = 'lookup', 'changelog-producer.row-deduplicate' = 'true')"
    )
    maps = pa.map_(pa.binary(), pa.int32())
    for pairs in ([(b"a", 1), (b"\xff", 2)], [(b"\xff", 2), (b"a", 1)], [(b"a", 1), (b"\xff", 3)]):
        wb.table("t").upsert(pa.table({"k": pa.array([1], pa.int32()), "m": pa.array([pairs], maps)}))
    assert wb.table("t").snapshots().column("changelog_record_count").to_pylist()[-1] == 2
    assert sum(filter(None, wb.table("t").snapshots().column("changelog_record_count").to_pylist())) == 3


def test_a_deletion_of_a_sequence_group_counts_without_its_columns(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (k INT, a INT, g INT, b INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true',"
        " 'merge-engine' = 'partial-update', 'fields.g.sequence-group' = 'b', 'partial-update.remove-record-on-sequence-group' = 'g')"
    )
    for kind, row in ((0, (1, 1, 1, 1)), (0, (2, 2, 2, 2)), (3, (1, None, 2, 1))):
        columns = {n: pa.array([v], pa.int32()) for n, v in zip("kagb", row, strict=True)}
        with wb.table("t").write() as writing:
            writing.write(pa.table(columns), np.array([kind], np.int8))
            wb.table("t").commit().commit(writing.prepare_commit())
    assert stored(wb) == [(2, 2, 2, 2)]
    for columns in (["k"], ["a"], ["k", "a"], ["b"]):
        assert stored(wb, columns=columns) == [tuple([2] * len(columns))], columns


def test_an_overwrite_has_no_changelog_of_its_rows(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'lookup')"
    )
    wb.run("INSERT INTO t VALUES (1, 1), (2, 2)")
    wb.run("INSERT OVERWRITE t VALUES (1, 10), (3, 3)")
    last = wb.table("t").snapshots().to_pylist()[-1]
    assert (last["commit_kind"], last["changelog_record_count"] or 0) == ("OVERWRITE", 0)
    wb.run("INSERT INTO t VALUES (1, 11)")
    assert wb.table("t").snapshots().to_pylist()[-1]["changelog_record_count"] == 2
    assert stored(wb) == [(1, 11), (3, 3)]


def test_no_deletion_vector_outlives_its_file(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true')"
    )
    for first in (0, 5, 2):
        wb.run("INSERT INTO t VALUES " + ", ".join(f"({n}, {first})" for n in range(first, first + 8)))
    assert wb.table("t").system("table_indexes").num_rows > 0
    wb.run("CALL sys.compact(`table` => 't', compact_strategy => 'full')")
    files = {f["file_path"].rsplit("/", 1)[-1] for f in wb.table("t").system("files").to_pylist()}
    vectors = [r["dv_ranges"] or [] for r in wb.table("t").system("table_indexes").to_pylist()]
    assert {v["f0"] for ranges in vectors for v in ranges} <= files
    assert wb.table("t").count() == 13


def test_automatic_tags_follow_the_time_zone_of_the_option(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (a INT) WITH ('tag.automatic-creation' = 'process-time', 'tag.creation-period' = 'hourly',"
        " 'sink.process-time-zone' = 'UTC', 'snapshot.time-retained' = '1 h')"
    )
    before = datetime.now(UTC)
    wb.run("INSERT INTO t VALUES (1)")
    after = datetime.now(UTC)
    (tag,) = wb.table("t").system("tags").column("tag_name").to_pylist()
    hours = {(t.replace(minute=0, second=0, microsecond=0)).timestamp() - 3600 for t in (before, after)}
    assert datetime.strptime(tag, "%Y-%m-%d %H").replace(tzinfo=UTC).timestamp() in hours


# -- data evolution, blobs and indexes


def test_blobs_stay_after_a_new_column_and_a_compaction(wb: paimon_nb.Workbench) -> None:
    wb.run(
        f"CREATE TABLE t (id INT, b BYTES, p STRING) PARTITIONED BY (p) WITH ({BLOBS}, 'blob.target-file-size' = '64 b')"
    )
    blobs = [bytes([n]) * (n * 20) for n in range(6)]
    for part in (slice(0, 3), slice(3, 6)):
        put(wb, id=pa.array(range(6)[part], pa.int32()), b=pa.array(blobs[part], pa.large_binary()), p=["x", "y", "x"])
    wb.run("ALTER TABLE t ADD c INT")
    wb.run("CALL sys.compact('t')")
    put(wb, id=pa.array([6], pa.int32()), b=pa.array([None], pa.large_binary()), p=["y"], c=pa.array([1], pa.int32()))
    wb.run("CALL sys.compact('t')")
    found = {r["id"]: (r["b"], r["p"], r["c"]) for r in wb.table("t").to_arrow().to_pylist()}
    assert found == {n: (blobs[n], "xyx"[n % 3], None) for n in range(6)} | {6: (None, "y", 1)}
    assert stored(wb, columns=["id"], where="b IS NULL") == [(6,)]
    assert stored(wb, columns=["id", "b"], where="p = 'y' AND id < 3") == [(1, blobs[1])]


def test_rows_are_found_by_their_ids_in_files_of_single_blobs(wb: paimon_nb.Workbench) -> None:
    wb.run(f"CREATE TABLE t (id INT, b BYTES) WITH ({BLOBS}, 'blob.target-file-size' = '1 b')")
    put(wb, id=pa.array(range(8), pa.int32()), b=pa.array([bytes([n]) * 9 for n in range(8)], pa.large_binary()))
    found = wb.table("t").to_arrow(columns=["id", "b", "_ROW_ID"], where="_ROW_ID IN (2, 5, 99)").to_pylist()
    assert [(r["id"], r["b"], r["_ROW_ID"]) for r in found] == [(n, bytes([n]) * 9, n) for n in (2, 5)]
    assert stored(wb, columns=["b"], where="_ROW_ID = 7") == [(bytes([7]) * 9,)]


def indexed(wb: paimon_nb.Workbench, kind: str, column: str) -> None:
    wb.run(f"CALL sys.create_global_index(`table` => 't', index_column => '{column}', index_type => '{kind}')")


@pytest.mark.parametrize("kind", ["btree", "bitmap"])
def test_an_index_of_nothing_but_null(wb: paimon_nb.Workbench, kind: str) -> None:
    wb.run(f"CREATE TABLE t (id INT, v STRING) WITH ({EVOLVES})")
    put(wb, id=pa.array([1, 2], pa.int32()), v=pa.array([None, None], pa.string()))
    indexed(wb, kind, "v")
    put(wb, id=pa.array([3], pa.int32()), v=["x"])
    assert stored(wb, columns=["id"], where="v = 'x'") == [(3,)]
    assert stored(wb, columns=["id"], where="v IS NULL") == [(1,), (2,)]
    indexed(wb, kind, "v")
    assert stored(wb, columns=["id"], where="v IS NOT NULL") == [(3,)]


def test_conditions_beside_an_index(wb: paimon_nb.Workbench) -> None:
    wb.run(
        f"CREATE TABLE t (id INT, v STRING, n INT, p STRING) PARTITIONED BY (p) WITH ({EVOLVES}, 'deletion-vectors.enabled' = 'true')"
    )
    names = ["a", "b", "c", "a", "b", "c"]
    for p in ("x", "y"):
        put(wb, id=pa.array(range(6), pa.int32()), v=names, n=pa.array([0, 1, 0, 1, 0, 1], pa.int32()), p=[p] * 6)
    indexed(wb, "btree", "v")
    put(wb, id=pa.array([6, 7], pa.int32()), v=["a", "b"], n=pa.array([1, 1], pa.int32()), p=["x", "z"])
    assert stored(wb, columns=["id", "p"], where="v = 'a' AND n = 1") == [(3, "x"), (3, "y"), (6, "x")]
    assert stored(wb, columns=["id", "p"], where="v = 'b' AND p <> 'x'") == [(1, "y"), (4, "y"), (7, "z")]
    assert stored(wb, columns=["id", "p"], where="v = 'c' OR n = 1 AND p = 'z'") == [
        (2, "x"), (2, "y"), (5, "x"), (5, "y"), (7, "z")]  # fmt: skip
    assert stored(wb, columns=["id"], where="v LIKE '%c%' AND id > 2 AND p = 'y'") == [(5,)]


def test_deleted_rows_stay_deleted_under_an_index(wb: paimon_nb.Workbench) -> None:
    wb.run(f"CREATE TABLE t (id INT, v STRING) WITH ({EVOLVES}, 'deletion-vectors.enabled' = 'true')")
    put(wb, id=pa.array(range(6), pa.int32()), v=["a", "b"] * 3)
    indexed(wb, "btree", "v")
    wb.table("t").delete(where="id IN (2, 3)")
    assert stored(wb, columns=["id"], where="v = 'a'") == [(0,), (4,)]
    assert stored(wb, columns=["id"], where="v = 'b' AND id > 0") == [(1,), (5,)]
    put(wb, id=pa.array([6], pa.int32()), v=["a"])
    indexed(wb, "btree", "v")
    assert stored(wb, columns=["id"], where="v = 'a'") == [(0,), (4,), (6,)]


def test_only_the_partitions_of_the_call_are_compacted(wb: paimon_nb.Workbench) -> None:
    wb.run(f"CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) WITH ({EVOLVES}, 'compaction.min.file-num' = '2')")
    for p in "xy":
        for n in range(3):
            put(wb, id=pa.array([n], pa.int32()), p=[p])
    wb.run("CALL sys.compact(`table` => 't', partitions => 'p=x')")
    files = [f["partition"] for f in wb.table("t").system("files").to_pylist()]
    assert (files.count("{x}"), files.count("{y}")) == (1, 3)
    assert stored(wb) == [(n, p) for n in range(3) for p in "xy"]


def test_a_rewrite_of_indexes_that_are_there_commits_nothing(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (id INT) WITH ('file-index.bitmap.columns' = 'id')")
    wb.run("INSERT INTO t VALUES (1), (2)")
    before = wb.table("t").store.latest().id
    wb.run("CALL sys.rewrite_file_index('t')")
    assert wb.table("t").store.latest().id == before


def test_files_that_are_missing_are_removed_beside_deletion_vectors(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (id INT) WITH ('deletion-vectors.enabled' = 'true')")
    put(wb, id=pa.array([1, 2, 3], pa.int32()))
    put(wb, id=pa.array([4, 5], pa.int32()))
    wb.table("t").delete(where="id IN (2, 4)")
    gone = next(f["file_path"] for f in wb.table("t").system("files").to_pylist() if f["record_count"] == 3)
    Path(gone).unlink()
    wb.run("CALL sys.remove_unexisting_files('t')")
    assert stored(wb) == [(5,)]
    assert wb.table("t").count() == 1


def test_the_ranges_of_an_index_are_those_of_its_rows(wb: paimon_nb.Workbench) -> None:
    wb.run(
        f"CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) WITH ({EVOLVES}, 'sorted-index.records-per-range' = '4')"
    )
    for p in ("x", "y", "x"):
        put(wb, id=pa.array(range(5), pa.int32()), p=[p] * 5)
    indexed(wb, "btree", "id")
    entries = wb.table("t").system("table_indexes").to_pylist()
    covered = sorted((e["partition"], e["row_range_start"], e["row_range_end"]) for e in entries)
    assert sorted(set(covered)) == [("{x}", 0, 4), ("{x}", 10, 14), ("{y}", 5, 9)]
    assert sum(e["row_count"] for e in entries) == 15
    assert stored(wb, columns=["_ROW_ID"], where="id = 4") == [(14,), (4,), (9,)]


def test_columns_of_blobs_alone(wb: paimon_nb.Workbench) -> None:
    wb.run(
        f"CREATE TABLE t (id INT, a BYTES, b BYTES) WITH ({EVOLVES}, 'blob-field' = 'a,b', 'blob.target-file-size' = '30 b')"
    )
    put(wb, id=pa.array(range(4), pa.int32()), a=pa.array([b"1" * n for n in range(4)], pa.large_binary()),
        b=pa.array([b"2" * 40, None, b"", b"3"], pa.large_binary()))  # fmt: skip
    assert wb.table("t").to_arrow(columns=["b"]).column("b").to_pylist() == [b"2" * 40, None, b"", b"3"]
    assert wb.table("t").to_arrow(columns=["b", "a"]).to_pylist()[3] == {"b": b"3", "a": b"111"}
    assert wb.run("SELECT b FROM t LIMIT 2").to_arrow().num_rows == 2
    assert wb.table("t").count() == 4


@pytest.mark.parametrize("order", ["zorder", "hilbert", "order"])
def test_rows_are_sorted_whose_columns_are_null(wb: paimon_nb.Workbench, order: str) -> None:
    wb.run("CREATE TABLE t (a INT, b STRING) WITH ('bucket' = '-1')")
    put(wb, a=pa.array([3, None, 1, None], pa.int32()), b=["x", None, None, "y"])
    put(wb, a=pa.array([None], pa.int32()), b=pa.array([None], pa.string()))
    before = stored(wb)
    wb.table("t").maintain.sort_compact(order, ["a", "b"])
    assert (stored(wb), wb.table("t").system("files").num_rows) == (before, 1)


@pytest.mark.parametrize("digits", [0, 3, 6, 9])
def test_keys_of_times_stay_in_their_dynamic_bucket(wb: paimon_nb.Workbench, digits: int) -> None:
    wb.run(
        f"CREATE TABLE t (k TIMESTAMP({digits}), v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('dynamic-bucket.target-row-num' = '1')"
    )
    unit = {0: "s", 3: "ms", 6: "us", 9: "ns"}[digits]
    for v in (1, 2):
        keys = pa.array([0, 1, -1], pa.timestamp(unit))
        wb.table("t").upsert(pa.table({"k": keys, "v": pa.array([v] * 3, pa.int32())}))
    assert wb.table("t").to_arrow().column("v").to_pylist() == [2, 2, 2]


def test_changes_of_rows_that_wait_for_buckets(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED)"
        " WITH ('bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'false', 'changelog-producer' = 'input')"
    )
    wb.run("INSERT INTO t VALUES (1, 1)")
    wb.run("CALL sys.compact('t')")
    between = wb.table("t").store.latest().id
    wb.run("INSERT INTO t VALUES (1, 2), (2, 2)")
    waiting = wb.table("t").store.latest().id
    wb.run("CALL sys.compact('t')")
    given = wb.table("t").store.latest().id
    changes = [
        wb.table("t").copy({"incremental-between": f"{a},{b}"}).to_arrow()
        for a, b in ((between, waiting), (waiting, given))
    ]
    assert [c.sort_by("k").to_pylist() for c in changes] == [[], [{"k": 1, "v": 2}, {"k": 2, "v": 2}]]


def test_an_empty_format_table_with_partitions(wb: paimon_nb.Workbench) -> None:
    for file_format in ("csv", "json", "parquet"):
        wb.run(
            f"CREATE TABLE f (id INT, p STRING) PARTITIONED BY (p) WITH ('type' = 'format-table', 'file.format' = '{file_format}')"
        )
        assert stored(wb, "f") == []
        assert stored(wb, "f", columns=["p"]) == []
        wb.run("DROP TABLE f")


def test_iceberg_metadata_has_no_documentation_of_columns_without_comments(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (a INT COMMENT 'said', b INT) WITH ('metadata.iceberg.storage' = 'table-location')")
    wb.run("INSERT INTO t VALUES (1, 2)")
    (text,) = [path.read_text() for path in Path(wb.table("t").path).glob("metadata/*.metadata.json")]
    fields = {f["name"]: f.get("doc", "none") for f in json.loads(text)["schemas"][0]["fields"]}
    assert fields == {"a": "said", "b": "none"}


def test_conditions_on_columns_with_an_index_of_a_key_table(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (k INT, v STRING, n INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '2', 'deletion-vectors.enabled' = 'true',"
        " 'pk-btree.index.columns' = 'v')"
    )
    wb.run("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'a', 3), (4, CAST(NULL AS STRING), 4)")
    wb.run("INSERT INTO t VALUES (1, 'b', 5), (5, 'a', 6)")
    assert stored(wb, columns=["k"], where="v = 'a'") == [(3,), (5,)]
    assert stored(wb, columns=["k", "n"], where="v = 'b' AND n > 2") == [(1, 5)]
    assert stored(wb, columns=["k"], where="v IS NULL OR v LIKE 'a%'") == [(3,), (4,), (5,)]


def test_several_deletion_vectors_in_one_file(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (id INT) WITH ('deletion-vectors.enabled' = 'true')")
    for first in (0, 10, 20, 30):
        put(wb, id=pa.array(range(first, first + 10), pa.int32()))
    wb.table("t").delete(where="id % 10 < 3")
    wb.table("t").delete(where="id IN (5, 39)")
    assert stored(wb) == sorted(((n,) for n in range(40) if n % 10 >= 3 and n not in (5, 39)), key=repr)


def test_updated_columns_have_the_ids_of_their_rows(wb: paimon_nb.Workbench) -> None:
    wb.run(f"CREATE TABLE t (id INT, v STRING, w INT) WITH ({EVOLVES}, 'fields.v.stats-mode' = 'none')")
    for first in (0, 4):
        put(wb, id=pa.array(range(first, first + 4), pa.int32()), v=list("abcd"), w=pa.array([1] * 4, pa.int32()))
    wb.table("t").update_by_row_id(pa.table({"_ROW_ID": pa.array([5, 7], pa.int64()), "v": ["x", "y"]}))
    assert wb.table("t").snapshots().column("commit_kind").to_pylist() == ["APPEND"] * 3
    files = wb.table("t").system("files").to_pylist()
    assert sorted(
        (f["first_row_id"], f["record_count"], f["write_cols"]) for f in files if f["write_cols"] == ["v"]
    ) == [(4, 4, ["v"])]
    assert stored(wb, where="v = 'x'") == [(5, "x", 1)]
    assert stored(wb, where="v = 'b' OR w > 1") == [(1, "b", 1)]
    assert stored(wb, columns=["id"], where="id >= 6 AND w = 1") == [(6,), (7,)]


def test_updated_blobs_are_compacted(wb: paimon_nb.Workbench) -> None:
    wb.run(
        f"CREATE TABLE t (id INT, b BYTES) WITH ({BLOBS}, 'blob-compaction.enabled' = 'true', 'compaction.min.file-num' = '2')"
    )
    for n in range(3):
        put(wb, id=pa.array([n], pa.int32()), b=pa.array([bytes([n]) * 5], pa.large_binary()))
    new = pa.table({"_ROW_ID": pa.array([1], pa.int64()), "b": pa.array([b"new"], pa.large_binary())})
    wb.table("t").update_by_row_id(new)
    wb.run("CALL sys.compact('t')")
    assert stored(wb) == [(0, bytes(5)), (1, b"new"), (2, b"\x02" * 5)]


def test_rows_that_wait_do_not_hold_back_a_number_of_buckets(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'false')"
    )
    wb.run("INSERT INTO t VALUES (1, 1)")
    wb.run("CALL sys.compact('t')")
    wb.run("ALTER TABLE t SET ('bucket' = '1')")
    wb.run("INSERT INTO t VALUES (1, 2), (2, 2)")
    assert stored(wb) == [(1, 2), (2, 2)]


def test_the_name_of_a_warehouse_is_encoded_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def remember(_method: str, path: str, params: dict[str, str], _headers: object, _body: str) -> bool:
        asked.extend(params[k] for k in ("warehouse",) if path == "/v1/config")
        return True

    with RestServer(tmp_path / "w") as server:
        server.check = remember
        with server.workbench("a b/ü&100%25") as wb:
            wb.run("SHOW TABLES")
    assert set(asked) == {"a b/ü&100%25"}
