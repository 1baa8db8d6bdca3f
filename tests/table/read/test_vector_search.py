"""Nearest neighbours: what NumPy finds over all rows, for each metric, with conditions, deleted rows and past snapshots."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, SchemaMismatch

SCORE = "__paimon_search_score"
DIMENSION = 8


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def rows_of(rng, count, begin=0):
    vectors = rng.normal(size=(count, DIMENSION)).astype(np.float32)
    values = [None if i % 10 == 9 else v.tolist() for i, v in enumerate(vectors)]
    return pa.table({
        "id": pa.array(range(begin, begin + count), pa.int32()),
        "v": pa.array(values, pa.list_(pa.float32(), DIMENSION)),
        "c": [f"c{i % 3}" for i in range(count)],
    })  # fmt: skip


def scores(rows, query, metric):
    found = {}
    for row in rows:
        if row["v"] is None:
            continue
        v = np.array(row["v"], np.float64)
        norms = np.linalg.norm(v) * np.linalg.norm(query)
        found[row["id"]] = {
            "l2": 1 / (1 + ((v - query) ** 2).sum()), "inner_product": v @ query, "cosine": v @ query / norms,
        }[metric]  # fmt: skip
    return found


KINDS = {
    "append": "",
    "keyed": ", PRIMARY KEY (id) NOT ENFORCED",
    "evolving": "",
}
OPTIONS = {
    "append": "",
    "keyed": " WITH ('bucket' = '3')",
    "evolving": " WITH ('row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'deletion-vectors.enabled' = 'true', "
    "'vector.file.format' = 'parquet')",
}


@pytest.mark.parametrize("metric", ["l2", "cosine", "inner_product"])
@pytest.mark.parametrize("kind", sampled(KINDS, 3))
def test_the_nearest_rows(wb, kind, metric):
    wb.run(f"CREATE TABLE t (id INT, v VECTOR<FLOAT, {DIMENSION}>, c STRING{KINDS[kind]}){OPTIONS[kind]}")
    t, rng = wb.table("t"), np.random.default_rng(7)
    t.append(rows_of(rng, 300))
    t.append(rows_of(rng, 300, 300 if kind != "keyed" else 150))
    t.delete(where="id = 17 OR id = 400") if kind != "append" else None
    query = rng.normal(size=DIMENSION)
    for where, keeps in ((None, lambda _: True), ("c = 'c1' AND id > 20", lambda r: r["c"] == "c1" and r["id"] > 20)):
        for version in ({}, {"snapshot": 1}):
            expected = scores(filter(keeps, t.to_arrow(**version).to_pylist()), query, metric)
            best = sorted(expected, key=expected.__getitem__, reverse=True)[:20]
            found = t.search(query, 20, where=where, columns=["id"], metric=metric, **version)
            assert found.column("id").to_pylist() == best
            np.testing.assert_allclose(found.column(SCORE).to_numpy(), [expected[i] for i in best], rtol=1e-5)
            assert found.column(SCORE).type == pa.float32()


def test_a_search_in_an_array_column(wb):
    t = wb.create_table("a", pa.table({"id": [1, 2, 3], "v": [[1.0, 0.0], None, [0.0, 1.0]]}))
    found = t.search([0, 2], 5, column="v", metric="cosine").to_pylist()
    assert found == [{"id": 3, "v": [0.0, 1.0], SCORE: 1.0}, {"id": 1, "v": [1.0, 0.0], SCORE: 0.0}]
    t.append(pa.table({"id": [4], "v": [[1.0]]}))
    with pytest.raises(SchemaMismatch, match="a row has 1 elements, the query has 2"):
        t.search([0, 2], column="v")
    assert t.search([0, 2], 1, column="v", where="id < 4").num_rows == 1


def test_the_metric_of_the_table(wb):
    wb.run("CREATE TABLE t (id INT, v VECTOR<DOUBLE, 1>) WITH ('fields.v.distance.metric' = 'inner_product')")
    t = wb.table("t")
    t.append(pa.table({"id": pa.array([1, 2], pa.int32()), "v": [[1.0], [5.0]]}))
    assert t.search([1], 1).column(SCORE).to_pylist() == [5.0]
    assert t.search([1], 1, metric="L2").column("id").to_pylist() == [1]


def test_an_empty_table_has_no_neighbours(wb):
    wb.run("CREATE TABLE t (id INT, v VECTOR<FLOAT, 2>)")
    found = wb.table("t").search([1, 2], 3)
    assert (found.num_rows, found.column_names) == (0, ["id", "v", SCORE])


def test_equal_scores_keep_the_order_of_the_rows(wb):
    t = wb.create_table("t", pa.table({"id": range(50), "v": pa.array([[1, 1]] * 50, pa.list_(pa.int32(), 2))}))
    assert t.search([1, 1], 3).column("id").to_pylist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "error", "why"),
    [
        ({"vector": [1, 2, 3]}, SchemaMismatch, "the query has 3 elements"),
        ({"vector": "abc"}, SchemaMismatch, "finite numbers"),
        ({"vector": [1, float("nan")]}, SchemaMismatch, "finite numbers"),
        ({"vector": [1, 2], "k": 0}, BadOptionValue, "k must be at least 1, not 0"),
        ({"vector": [1, 2], "metric": "manhattan"}, BadOptionValue, "manhattan"),
        ({"vector": [1, 2], "column": "s"}, SchemaMismatch, "not a vector of numbers"),
        ({"vector": [1, 2], "column": "w"}, ColumnNotFound, "'w'"),
        ({"vector": [1, 2], "columns": ["w"]}, ColumnNotFound, "'w'"),
    ],
)
def test_searches_that_cannot_be(wb, arguments, error, why):
    wb.run("CREATE TABLE t (id INT, v VECTOR<FLOAT, 2>, s STRING)")
    with pytest.raises(error, match=why):
        wb.table("t").search(**arguments)


def test_the_column_is_named_where_there_are_several(wb):
    wb.run("CREATE TABLE t (v VECTOR<FLOAT, 2>, w VECTOR<FLOAT, 2>)")
    with pytest.raises(ColumnNotFound, match="2 VECTOR columns: v, w"):
        wb.table("t").search([1, 2])


def test_vector_search_in_sql_needs_no_spark(wb):
    wb.run("CREATE TABLE t (id INT, v VECTOR<FLOAT, 2>, s STRING)")
    wb.table("t").append(pa.table({
        "id": pa.array([1, 2, 3], pa.int32()), "v": pa.array([[0, 0], [3, 4], [1, 0]], pa.list_(pa.float32(), 2)), "s": ["a", "b", "a"],
    }))  # fmt: skip
    asked = {
        "SELECT * FROM vector_search('t', 'v', ARRAY(0, 0), 2)": [(1, [0.0, 0.0], "a"), (3, [1.0, 0.0], "a")],
        "SELECT id, __paimon_search_score FROM vector_search('default.t', 'v', array(0.0f, 0.0f), 2)": [(1, 1.0), (3, 0.5)],
        "SELECT id FROM vector_search('t', 'v', ARRAY(0, 0), 1) WHERE s = 'b'": [(2,)],
        "SELECT id FROM vector_search('t', 'v', ARRAY(1, 1), 1, MAP('metric', 'inner_product'))": [(2,)],
        "SELECT count(*) FROM vector_search('t', 'v', ARRAY(0, 0), 2)": [(2,)],
        "SELECT id FROM vector_search(table => 't', column => 'v', vector => ARRAY(0, 0), top_k => 3) ORDER BY id DESC": [
            (3,), (2,), (1,),
        ],
    }  # fmt: skip
    for text, expected in asked.items():
        assert [tuple(r.values()) for r in wb.run(text).arrow.to_pylist()] == expected, text
    assert not wb.session.spark_started
