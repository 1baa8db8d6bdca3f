"""`hybrid_search` in FROM, and the numbers of found rows: scenarios of Paimon's own HybridSearchTest, over each kind of table."""

from __future__ import annotations

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb import BadOptionValue, UnsupportedOperation
from paimon_nb.base.errors import SqlAnalysisError

OPTIONS = {
    "keys": """'bucket' = '1', 'deletion-vectors.enabled' = 'true', 'pk-vector.index.columns' = 'vec',
        'fields.vec.pk-vector.index.type' = 'ivf-flat', 'fields.vec.pk-vector.distance.metric' = 'l2',
        'fields.vec.pk-vector.index.options' = '{"nlist":"1"}', 'pk-full-text.index.columns' = 'content',
        'primary-key' = 'id'""",
    "evolution": "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'fields.vec.metric' = 'l2'",
    "append": "'fields.vec.metric' = 'l2'",
}


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path))


def create(wb, kind="append") -> None:
    wb.run(f"CREATE TABLE t (id INT, content STRING, vec VECTOR<FLOAT, 2>) WITH ({OPTIONS[kind]})")
    vectors = pa.array([[1, 0], [0.9, 0.1], [0, 1]], pa.list_(pa.float32(), 2))
    texts = ["lake format", "paimon hybrid search", "paimon full text"]
    wb.table("t").append(pa.table({"id": pa.array([0, 1, 2], pa.int32()), "content": texts, "vec": vectors}))
    if kind == "evolution":
        wb.run(
            "CALL sys.create_global_index('t', 'vec', 'ivf-flat', '', 'ivf-flat.nlist=1,ivf-flat.distance.metric=l2')"
        )


def vector(x, y, **more):
    parts = "".join(f", '{name}', {value}" for name, value in more.items())
    return f"named_struct('field', 'vec', 'query_vector', array({x}f, {y}f){parts})"


def words(text, **more):
    parts = "".join(f", '{name}', {value}" for name, value in more.items())
    return f"named_struct('column', 'content', 'query', '{text}'{parts})"


def found(wb, vectors, texts, k=3, ranker="rrf", where=""):
    sql = f"""SELECT id, __paimon_search_score AS score FROM hybrid_search('t', array({", ".join(vectors)}), array({", ".join(texts)}),
        {k}, '{ranker}') {where}"""
    return [(r["id"], round(r["score"], 4)) for r in wb.run(sql).to_arrow().to_pylist()]


@pytest.mark.parametrize("kind", OPTIONS)
def test_vectors_and_texts_are_ranked_together(wb, kind):
    create(wb, kind)
    routes = (
        [vector(1.0, 0.0, limit=2, weight="1.0f", options="map()")],
        [words('{"match":{"column":"content","terms":"paimon"}}', limit=2)],
    )
    first, second = round(1 / 61, 4), round(1 / 62, 4)
    assert found(wb, *routes) == [(1, round(1 / 62 + 1 / 61, 4)), (0, first), (2, second)]
    assert found(wb, *routes, k=1) == [(1, round(1 / 62 + 1 / 61, 4))]
    assert found(wb, *routes, ranker="mrr") == [(1, 1.5), (0, 1.0), (2, 0.5)]
    assert found(wb, *routes, where="WHERE id > 1") == [(2, round(1 / 61 * 2, 4))]


def test_weighted_scores_are_relative_within_a_route(wb):
    create(wb)
    routes = [vector(1.0, 0.0, limit=3, weight="2.0f"), vector(1.0, 0.0, limit=3, weight="1.0f")]
    scores = dict(found(wb, routes, [], ranker="weighted_score"))
    assert (scores[0], scores[2]) == (3.0, 0.0)
    assert dict(found(wb, routes[:1], [], k=1, ranker="weighted_score")) == {0: 2.0}


def test_deleted_rows_are_not_found(wb):
    create(wb, "keys")
    wb.table("t").delete(where="id = 1")
    assert [i for i, _ in found(wb, [vector(1.0, 0.0)], [words("paimon")])] == [2, 0]


@pytest.mark.parametrize("kind", OPTIONS)
def test_found_rows_have_numbers(wb, kind):
    create(wb, kind)
    sql = "SELECT id, _row_id, __paimon_search_score AS s FROM vector_search('t', 'vec', array(0.0, 1.0), 2)"
    assert [(r["id"], r["_row_id"]) for r in wb.run(sql).to_arrow().to_pylist()] == [(2, 2), (1, 1)]
    only = wb.run("SELECT _row_id FROM full_text_search('t', 'content', 'lake', 2)").to_arrow()
    assert only.to_pylist() == [{"_row_id": 0}]


def test_wrong_searches(wb):
    create(wb)
    with pytest.raises(BadOptionValue, match="Unsupported hybrid ranker: nope"):
        found(wb, [vector(1.0, 0.0)], [], ranker="nope")
    with pytest.raises(BadOptionValue, match="Weight must be finite and positive"):
        found(wb, [vector(1.0, 0.0, weight="0.0f")], [])
    with pytest.raises(SqlAnalysisError, match="Routes cannot be empty"):
        found(wb, [], [])
    with pytest.raises(SqlAnalysisError, match="take no options"):
        found(wb, [], [words("lake", options="map('a', '1')")])
    with pytest.raises(SqlAnalysisError, match="hybrid_search needs"):
        wb.run("SELECT * FROM hybrid_search('t', 'vec', 3)")
    with pytest.raises(SqlAnalysisError, match="at most 2147483647, not 2147483648"):
        wb.run("SELECT * FROM full_text_search('t', 'content', 'lake', 2147483648)")


def test_rows_that_must_be_merged_have_no_numbers(wb):
    wb.run("CREATE TABLE k (id INT, vec VECTOR<FLOAT, 2>, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    for x in (1, 2):
        vectors = pa.array([[x, 0]], pa.list_(pa.float32(), 2))
        wb.table("k").append(pa.table({"id": pa.array([1], pa.int32()), "vec": vectors}))
    with pytest.raises(UnsupportedOperation, match="have no numbers"):
        wb.run("SELECT _row_id FROM vector_search('k', 'vec', array(0.0, 1.0), 2)")
