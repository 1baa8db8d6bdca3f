"""VECTOR columns: stored in each format, beside the rows in `.vector.*` files, updated, deleted, altered."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, PaimonError, SchemaMismatch, UnsupportedFormat

VECTOR = pa.list_(pa.float32(), 3)
EVOLVES = {"row-tracking.enabled": "true", "data-evolution.enabled": "true", "deletion-vectors.enabled": "true"}
BESIDE = {**EVOLVES, "vector.file.format": "parquet"}


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def made(wb, options, name="t"):
    texts = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    wb.run(f"CREATE TABLE {name} (id INT, v VECTOR<FLOAT, 3>, s STRING){f' WITH ({texts})' if texts else ''}")
    return wb.table(name)


def rows_of(*ids, null=()):
    vectors = [None if i in null else [i, i + 0.5, -i] for i in ids]
    return pa.table({"id": pa.array(ids, pa.int32()), "v": pa.array(vectors, VECTOR), "s": [f"s{i}" for i in ids]})


def stored(t):
    return {r["id"]: r["v"] for r in t.to_arrow().to_pylist()}


def vector_files(t):
    return sorted(Path(t.path).rglob("*.vector.*"))


@pytest.mark.parametrize(
    "options",
    [{}, {"file.format": "orc"}, {"file.format": "avro"}, {"file.format": "json"}, EVOLVES, BESIDE,
     {**BESIDE, "vector.file.format": "avro"}, {**BESIDE, "vector.target-file-size": "1 b"}],
    ids=["parquet", "orc", "avro", "json", "evolving", "beside", "beside_avro", "rolled"],
)  # fmt: skip
def test_vectors_are_read_as_written(wb, options):
    t = made(wb, options)
    t.append(rows_of(1, 2, 3, null=[2]))
    t.append(rows_of(4, null=[4]))
    t.append(rows_of(5))
    assert stored(t) == {1: [1.0, 1.5, -1.0], 2: None, 3: [3.0, 3.5, -3.0], 4: None, 5: [5.0, 5.5, -5.0]}
    assert t.to_arrow().schema.field("v").type == pa.list_(pa.field("element", pa.float32()), 3)
    assert t.to_arrow(["v"], where="id = 5").to_pylist() == [{"v": [5.0, 5.5, -5.0]}]
    assert pa.table(t.select("id", "v").where("id < 3")).num_rows == 2
    assert t.count() == 5
    assert t.to_pandas()["id"].tolist() == [1, 2, 3, 4, 5]


def test_vectors_of_keyed_tables_are_merged(wb):
    wb.run("CREATE TABLE k (id INT PRIMARY KEY NOT ENFORCED, v VECTOR<DOUBLE, 2>, s STRING) "
           "WITH ('merge-engine' = 'partial-update', 'bucket' = '1')")  # fmt: skip
    t = wb.table("k")
    t.upsert(pa.table({"id": pa.array([1, 2], pa.int32()), "v": [[1.0, 2.0], None], "s": ["a", "b"]}))
    t.upsert(pa.table({"id": pa.array([1, 2], pa.int32()), "v": [None, [3.0, 4.0]], "s": [None, "c"]}))
    t.compact(full=True)
    expected = [{"id": 1, "v": [1.0, 2.0], "s": "a"}, {"id": 2, "v": [3.0, 4.0], "s": "c"}]
    assert sorted(t.to_arrow().to_pylist(), key=lambda r: r["id"]) == expected


def test_vector_files_stand_beside_the_rows(wb):
    t = made(wb, {**BESIDE, "vector.target-file-size": "1 b", "vector.file.format": "parquet"})
    t.append(rows_of(*range(70_000)))
    (data,) = set(Path(t.path).rglob("data-*.parquet")) - set(vector_files(t))
    assert pq.read_schema(data).names == ["id", "s"]
    assert [pq.read_schema(f).names for f in vector_files(t)] == [["v"]] * 70
    first_rows = {r["file_path"]: r["record_count"] for r in t.files().to_pylist()}
    assert sorted(first_rows.values()) == [1000] * 70 + [70_000]
    assert stored(t)[69_999] == [69_999.0, 69_999.5, -69_999.0]
    assert t.delete(where="id = 65536 OR id = 3")
    left = stored(t)
    assert len(left) == 69_998
    assert (left[65_537][0], left[4][0]) == (65_537.0, 4.0)
    assert [r["v"][0] for r in t.to_arrow(["v"], where="id = 65540").to_pylist()] == [65_540.0]
    assert sum(b.num_rows for b in t.to_batches(batch_rows=1000)) == 69_998


@pytest.mark.parametrize("options", [EVOLVES, BESIDE], ids=["inside", "beside"])
def test_new_vectors_of_some_rows(wb, options):
    t = made(wb, options)
    t.append(rows_of(1, 2, 3))
    t.append(rows_of(4, 5))
    t.update({"v": [0.0, 0.0, 7.0]}, where="id = 2 OR id = 4")
    t.delete(where="id = 5")
    t.update({"s": "new"}, where="id = 1")
    t.update({"v": None}, where="id = 3")
    expected = {1: [1.0, 1.5, -1.0], 2: [0.0, 0.0, 7.0], 3: None, 4: [0.0, 0.0, 7.0]}
    assert stored(t) == expected
    assert t.to_arrow(["s"], where="id = 1").to_pylist() == [{"s": "new"}]
    assert bool(vector_files(t)) == (options is BESIDE)
    assert {r["id"]: r["v"] for r in t.to_arrow(snapshot=2).to_pylist()}[2] == [2.0, 2.5, -2.0]


def test_vectors_that_move_into_files_of_their_own(wb):
    t = made(wb, EVOLVES)
    t.append(rows_of(1, 2))
    wb.run("ALTER TABLE t SET ('vector.file.format' = 'orc')")
    t = wb.table("t")
    t.append(rows_of(3))
    t.update({"v": [9.0, 9.0, 9.0]}, where="id <> 2")
    assert stored(t) == {1: [9.0, 9.0, 9.0], 2: [2.0, 2.5, -2.0], 3: [9.0, 9.0, 9.0]}
    wb.run("ALTER TABLE t RESET ('vector.file.format'); ALTER TABLE t ADD COLUMN w VECTOR<INT, 1>")
    t = wb.table("t")
    t.update({"w": [5], "v": None}, where="id = 3")
    found = {r["id"]: (r["v"], r["w"]) for r in t.to_arrow().to_pylist()}
    assert found == {1: ([9.0, 9.0, 9.0], None), 2: ([2.0, 2.5, -2.0], None), 3: (None, [5])}


@pytest.mark.parametrize(
    ("vectors", "why"),
    [
        ([[1.0, 2.0]], "it has 2 elements"),
        ([[1.0, None, 2.0]], "NULL"),
        ([1.0], "not an array"),
        ([["a", "b", "c"]], "strings"),
    ],
)
def test_values_that_are_no_such_vector_are_refused(wb, vectors, why):
    t = made(wb, {})
    with pytest.raises(SchemaMismatch, match=why):
        t.append(pa.table({"id": pa.array([1], pa.int32()), "v": vectors, "s": ["a"]}))
    assert t.latest_snapshot() is None


def test_fixed_size_lists_become_vectors(wb):
    t = wb.create_table("docs", pa.table({"id": [1], "v": pa.array([[1, 2]], pa.list_(pa.float32(), 2))}))
    assert str(t.schema.field("v").type) == "VECTOR<FLOAT, 2>"
    assert t.to_arrow().to_pylist() == [{"id": 1, "v": [1.0, 2.0]}]


def test_comments_make_vectors(wb):
    wb.run("CREATE TABLE t (id INT, v ARRAY<FLOAT> COMMENT '__VECTOR_FIELD;3; an embedding')")
    wb.run("ALTER TABLE t ADD COLUMN w ARRAY<DOUBLE> COMMENT '__VECTOR_FIELD; 2'")
    fields = {f.name: (str(f.type), f.description) for f in wb.table("t").schema.fields[1:]}
    assert fields == {"v": ("VECTOR<FLOAT, 3>", "an embedding"), "w": ("VECTOR<DOUBLE, 2>", None)}
    assert wb.table("t").schema.options["vector-field"] == "v,w"
    wb.run("ALTER TABLE t RENAME COLUMN w TO x; ALTER TABLE t DROP COLUMN v")
    assert wb.table("t").schema.options["vector-field"] == "x"
    for wrong in (
        "INT COMMENT '__VECTOR_FIELD;3'",
        "ARRAY<FLOAT> COMMENT '__VECTOR_FIELD'",
        "ARRAY<FLOAT> COMMENT '__VECTORS;3'",
    ):
        with pytest.raises(SchemaMismatch, match="comment of column"):
            wb.run(f"CREATE TABLE u (id INT, v {wrong})")
    with pytest.raises(UnsupportedFormat, match="BLOB"):
        wb.run("CREATE TABLE u (id INT, v ROW<x BLOB>)")


def test_an_option_makes_vectors_of_arrays(wb):
    """As in Flink, which has no type VECTOR."""
    vectors = "'vector-field' = 'v', 'field.v.vector-dim' = '2'"
    assert wb.run(f"CREATE TABLE t (id INT, v ARRAY<FLOAT>, w ARRAY<FLOAT>) WITH ({vectors})").notes == []
    assert [str(f.type) for f in wb.table("t").schema.fields] == ["INT", "VECTOR<FLOAT, 2>", "ARRAY<FLOAT>"]
    rows = pa.table(
        {
            "id": pa.array([1], pa.int32()),
            **{n: pa.array([v], pa.list_(pa.float32())) for n, v in {"v": [1.0, 2.0], "w": [3.0]}.items()},
        }
    )
    wb.table("t").append(rows)
    assert wb.table("t").to_arrow().to_pylist() == [{"id": 1, "v": [1.0, 2.0], "w": [3.0]}]
    for wrong in ("'vector-field' = 'v'", "'vector-field' = 'v', 'field.v.vector-dim' = 'x'"):
        with pytest.raises(BadOptionValue):
            wb.run(f"CREATE TABLE u (id INT, v ARRAY<FLOAT>) WITH ({wrong})")


@pytest.mark.parametrize(
    ("columns", "options", "why"),
    [
        ("id INT, v VECTOR<FLOAT, 3>", "'vector.file.format' = 'parquet'", "row ids"),
        ("id INT, v ARRAY<FLOAT>", "'vector-field' = 'v'", "is ARRAY<FLOAT>"),
        ("id INT, v VECTOR<FLOAT, 3>", "'vector-field' = 'w'", "does not exist"),
        ("id INT, v VECTOR<FLOAT, 3>, PRIMARY KEY (v) NOT ENFORCED", "'bucket' = '1'", "cannot be VECTOR"),
        ("id INT, v VECTOR<STRING, 3>", "'bucket' = '-1'", "elements of a VECTOR"),
        ("id INT, v VECTOR<FLOAT, 0>", "'bucket' = '-1'", "length of the VECTOR"),
    ],
)
def test_tables_that_cannot_be(wb, columns, options, why):
    with pytest.raises(PaimonError, match=why):
        wb.run(f"CREATE TABLE t ({columns}) WITH ({options})")


def test_a_vector_keeps_its_length_and_elements(wb):
    made(wb, {})
    for change in ("MODIFY v VECTOR<FLOAT, 4>", "MODIFY v ARRAY<FLOAT>", "MODIFY v VECTOR<DOUBLE, 3>"):
        with pytest.raises(PaimonError, match="cannot change from VECTOR<FLOAT, 3>"):
            wb.run(f"ALTER TABLE t {change}")


def test_a_format_of_vector_files_that_is_not_written_here(wb):
    t = made(wb, {**BESIDE, "vector.file.format": "mosaic"})
    with pytest.raises(UnsupportedFormat, match="mosaic"):
        t.append(rows_of(1))
    assert (t.latest_snapshot(), list(Path(t.path).rglob("data-*"))) == (None, [])


def test_vector_files_that_leave_out_rows_are_corrupt(wb):
    t = made(wb, {**BESIDE, "vector.target-file-size": "1 b"})
    t.append(rows_of(*range(70_000)))
    lost = vector_files(t)[0]
    lost.unlink()
    with pytest.raises(PaimonError, match=lost.name):
        t.to_arrow()
    assert t.to_arrow(["id"]).num_rows == 70_000
