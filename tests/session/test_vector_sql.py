"""VECTOR columns and `vector_search` in SQL on Spark: arrays in, arrays out."""

from __future__ import annotations

import pytest

import paimon_nb
from paimon_nb.base.errors import PaimonError

pytestmark = pytest.mark.spark


@pytest.fixture
def wb(tmp_path, spark):
    return paimon_nb.connect(str(tmp_path / "w"), spark=spark)


@pytest.mark.parametrize("options", ["", " TBLPROPERTIES ('file.format' = 'orc')", " TBLPROPERTIES ('row-tracking.enabled' = 'true', "
                         "'data-evolution.enabled' = 'true', 'vector.file.format' = 'parquet')"])  # fmt: skip
def test_spark_writes_and_reads_vectors(wb, options):
    wb.run(f"CREATE TABLE t (id INT, v VECTOR<FLOAT, 2>){options}")
    wb.run("INSERT INTO t VALUES (1, array(1.0, 0.5)), (2, NULL)")
    wb.run("INSERT INTO t SELECT /*+ REPARTITION(2) */ id + 10, transform(v, x -> x * 2) FROM t")
    expected = [(1, [1.0, 0.5]), (2, None), (11, [2.0, 1.0]), (12, None)]
    rows = wb.sql("SELECT id, v, size(v) s FROM t ORDER BY id").collect()
    assert [(r.id, r.v) for r in rows] == expected
    assert sorted((r["id"], r["v"]) for r in wb.table("t").to_arrow().to_pylist()) == expected


def test_a_vector_of_another_length_is_refused(wb):
    wb.run("CREATE TABLE t (id INT, v VECTOR<FLOAT, 2>)")
    with pytest.raises(PaimonError, match=r"VECTOR<FLOAT, 2>"):
        wb.run("INSERT INTO t SELECT id, array(1.0, 2.0, 3.0) FROM range(5)")
    with pytest.raises(PaimonError, match="NULL"):
        wb.run("INSERT INTO t SELECT id, array(1.0, NULL) FROM range(5)")
    assert wb.table("t").count() == 0


def test_vector_search_joins_other_tables(wb):
    wb.run("""CREATE TABLE t (id INT, v VECTOR<FLOAT, 2>); CREATE TABLE names (id INT, name STRING);
              INSERT INTO t VALUES (1, array(0.0, 0.0)), (2, array(3.0, 4.0)), (3, array(1.0, 0.0));
              INSERT INTO names VALUES (1, 'one'), (2, 'two'), (3, 'three')""")
    text = """SELECT n.name, s.__paimon_search_score AS score FROM vector_search('t', 'v', array(0.0, 0.0), 2) s
              JOIN names n ON n.id = s.id ORDER BY score DESC"""
    assert [tuple(r) for r in wb.sql(text).collect()] == [("one", 1.0), ("three", 0.5)]
    text = "SELECT id FROM vector_search('t', 'v', array(0.0, 0.0), 1) WHERE id > 1 AND length(cast(id AS STRING)) = 1"
    assert [tuple(r) for r in wb.sql(text).collect()] == [(3,)]


def test_update_and_merge_of_vectors(wb):
    wb.run("""CREATE TABLE t (id INT, v VECTOR<FLOAT, 2>, s STRING) TBLPROPERTIES ('row-tracking.enabled' = 'true',
                'data-evolution.enabled' = 'true', 'deletion-vectors.enabled' = 'true', 'vector.file.format' = 'parquet');
              INSERT INTO t VALUES (1, array(0.0, 0.0), 'a'), (2, array(3.0, 4.0), 'b'), (3, NULL, 'c')""")
    wb.run("UPDATE t SET v = array(9.0, 9.0) WHERE id = 3")
    wb.run("DELETE FROM t WHERE id = 1")
    wb.run("""MERGE INTO t USING (SELECT 2 AS id, array(5.0F, 6.0F) AS v UNION ALL SELECT 4, array(7.0F, 8.0F)) s ON t.id = s.id
              WHEN MATCHED THEN UPDATE SET t.v = s.v WHEN NOT MATCHED THEN INSERT (id, v, s) VALUES (s.id, s.v, 'd')""")
    expected = [(2, [5.0, 6.0], "b"), (3, [9.0, 9.0], "c"), (4, [7.0, 8.0], "d")]
    assert sorted(tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist()) == expected
    assert sorted(tuple(r) for r in wb.sql("SELECT id, v, concat(s, '') FROM t").collect()) == expected


def test_full_text_search_joins_other_tables(wb):
    wb.run("""CREATE TABLE t (id INT, s STRING) TBLPROPERTIES ('row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true');
              CREATE TABLE names (id INT, name STRING); INSERT INTO names VALUES (1, 'one'), (2, 'two'), (3, 'three');
              INSERT INTO t VALUES (1, 'a lake'), (2, 'lakes and a lake'), (3, 'sea');
              CALL sys.create_global_index('t', 's', 'full-text')""")
    text = """SELECT n.name FROM full_text_search('t', 's', 'lake', 5) f JOIN names n ON n.id = f.id
              ORDER BY f.__paimon_search_score DESC"""
    assert [tuple(r) for r in wb.sql(text).collect()] == [("two",), ("one",)]
    plan = wb.run("EXPLAIN SELECT id FROM full_text_search('t', 's', 'lake', 5) WHERE id > 1").arrow[0][0].as_py()
    assert plan.startswith(
        "== Paimon: full_text_search in default.t ==\nfilter before the search: id > 1\nsearch: index full-text of s for 3 of 3 rows\n"
    )
    wb.run("""CREATE TABLE v (id INT, v VECTOR<FLOAT, 2>) TBLPROPERTIES ('row-tracking.enabled' = 'true',
                'data-evolution.enabled' = 'true'); INSERT INTO v VALUES (1, array(0.0, 0.0)), (2, array(3.0, 4.0));
              CALL sys.create_global_index('v', 'v', 'ivf-flat')""")
    merge = "MERGE INTO v USING (SELECT 2 AS id, array(5.0F, 6.0F) AS v) s ON v.id = s.id WHEN MATCHED THEN UPDATE SET v.v = s.v"
    with pytest.raises(PaimonError, match=r"column v has a global index \(ivf-flat\)"):
        wb.run(merge)
    wb.run("ALTER TABLE v SET TBLPROPERTIES ('global-index.column-update-action' = 'DROP_PARTITION_INDEX')")
    wb.run(merge)
    assert wb.table("v").search([5, 6], 1).schema.metadata[b"paimon_nb.search"].startswith(b"no index of v")


@pytest.mark.nightly
def test_indexes_of_a_key_table(wb):
    """Scenarios of Paimon's own suites: UPDATE and DELETE over indexes, searches in FROM, conditions on arrays."""
    wb.run("""CREATE TABLE t (id INT, score INT, category STRING, tags ARRAY<STRING>, content STRING, v ARRAY<FLOAT>) TBLPROPERTIES (
        'primary-key' = 'id', 'bucket' = '2', 'deletion-vectors.enabled' = 'true', 'vector-field' = 'v', 'field.v.vector-dim' = '2',
        'pk-multivalue.index.columns' = 'tags', 'pk-btree.index.columns' = 'score', 'pk-bitmap.index.columns' = 'category',
        'pk-full-text.index.columns' = 'content', 'pk-vector.index.columns' = 'v', 'fields.v.pk-vector.index.type' = 'ivf-flat',
        'fields.v.pk-vector.distance.metric' = 'l2', 'fields.v.pk-vector.index.options' = '{"nlist":"2"}')""")
    wb.run("""INSERT INTO t VALUES (1, 10, 'red', array('red', 'blue'), 'lake format', array(3.0f, 0.0f)),
        (2, 20, 'blue', array('green'), 'paimon full text', array(1.0f, 0.0f)), (3, 30, 'red', array('red'), 'apache paimon', array(2.0f, 0.0f))""")
    wb.run("CALL sys.compact(table => 't')")
    wb.run("UPDATE t SET score = 25, content = 'new' WHERE id = 2")
    wb.run("DELETE FROM t WHERE id = 3")
    words = '{"match":{"column":"content","terms":"new lake"}}'
    for text, found in {
        "SELECT id FROM t WHERE score >= 20 AND score < 40": [2],
        "SELECT id FROM t WHERE score >= 10 AND category IN ('red', 'blue') ORDER BY id": [1, 2],
        "SELECT id FROM t WHERE array_contains(tags, 'red')": [1],
        "SELECT id FROM vector_search('t', 'v', array(0.0f, 0.0f), 1)": [2],
        f"SELECT id FROM full_text_search('t', 'content', '{words}', 5) ORDER BY id": [1, 2],
    }.items():
        assert wb.run(text).to_arrow().column("id").to_pylist() == found
        assert [r.id for r in wb.sql(text).collect()] == found


@pytest.mark.nightly
def test_a_search_for_each_row_of_another_table(wb):
    """Paimon's own scenarios of `LATERAL (SELECT ... FROM vector_search(...))`: aliases, conditions inside and outside, definitions."""
    wb.run("""CREATE TABLE t (id INT, v ARRAY<FLOAT>, q ARRAY<FLOAT>) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1',
        'deletion-vectors.enabled' = 'true', 'vector-field' = 'v', 'field.v.vector-dim' = '2', 'pk-vector.index.columns' = 'v',
        'fields.v.pk-vector.index.type' = 'ivf-flat', 'fields.v.pk-vector.distance.metric' = 'l2',
        'fields.v.pk-vector.index.options' = '{"nlist":"1"}');
        INSERT INTO t VALUES (1, array(1.0f, 0.0f), array(0.0f, 0.0f)), (2, array(5.0f, 0.0f), array(0.5f, 0.0f)), (3, NULL, NULL)""")
    for text, expected in {
        """SELECT q.id, r.id, r._row_id, round(r.__paimon_search_score, 4) FROM t AS q, LATERAL (
            SELECT id, _row_id, __paimon_search_score FROM vector_search('t', 'v', q.q, 1)) AS r""": [
            (1, 1, 0, 0.5),
            (2, 1, 0, 0.8),
        ],
        """SELECT q.id, r.found FROM t AS q, LATERAL (SELECT id AS found, __paimon_search_score AS score
            FROM vector_search('t', 'v', q.v, 5)) AS r WHERE q.id = r.found AND r.score >= 0.0""": [(1, 1), (2, 2)],
        "SELECT q.id, r.id FROM t q, LATERAL (SELECT id FROM vector_search('t', 'v', q.v, 1) WHERE id > 1) r": [
            (1, 2),
            (2, 2),
        ],
        """WITH few AS (SELECT * FROM t WHERE id = 2 LIMIT 1)
            SELECT q.id, r.id FROM few AS q, LATERAL (SELECT id FROM vector_search('t', 'v', q.q, 1)) AS r""": [(2, 1)],
        "SELECT q.id, r.id FROM t q JOIN LATERAL vector_search('t', 'v', q.q, 2) AS r": [
            (1, 1),
            (1, 2),
            (2, 1),
            (2, 2),
        ],
        """SELECT e, r.id FROM (SELECT v[0] AS e FROM t WHERE id = 1) q, LATERAL (
            SELECT id FROM vector_search('t', 'v', array(q.e, 0.0f), 1)) AS r""": [(1.0, 1)],
        "SELECT q.id, r.id FROM t q, LATERAL (SELECT id FROM vector_search('t', 'v', q.v, 1)) r WHERE q.id > 5": [],
        "SELECT q.id, r.id FROM (SELECT * FROM t WHERE id > 5) q, LATERAL (SELECT id FROM vector_search('t', 'v', q.v, 1)) r": [],
    }.items():
        assert sorted(tuple(round(x, 4) for x in r) for r in wb.sql(text).collect()) == expected
    with pytest.raises(PaimonError, match="nope"):
        wb.sql("SELECT q.id FROM t q, LATERAL (SELECT id FROM vector_search('t', 'v', q.nope, 1)) r")
