"""UPDATE, DELETE and MERGE of a table that tracks its rows: each keeps its `_ROW_ID`, and one that changed has a new sequence number."""

import pytest

from paimon_nb.spark.scan import located_rows
from paimon_nb.spark.write import row_level_write

pytestmark = pytest.mark.spark
COPIES, VECTORS = "", ", 'deletion-vectors.enabled' = 'true'"


def tracked(wb) -> list[tuple]:
    return sorted(tuple(r.values()) for r in wb.table("t").system("row_tracking").to_pylist())


@pytest.mark.parametrize(
    ("kind", "inline"),
    [
        pytest.param(COPIES, row_level_write.INLINE_BYTES, marks=pytest.mark.nightly),
        (VECTORS, row_level_write.INLINE_BYTES),
        pytest.param(COPIES, 0, marks=pytest.mark.nightly),
        pytest.param(VECTORS, 0, marks=pytest.mark.nightly),
    ],
    ids=["copies", "vectors", "copies in tasks", "vectors in tasks"],
)
def test_rows_keep_their_ids(swb, monkeypatch, kind, inline):
    monkeypatch.setattr(located_rows, "INLINE_BYTES", inline)
    monkeypatch.setattr(row_level_write, "INLINE_BYTES", inline)
    swb.run(f"""
        CREATE TABLE t (id INT, v STRING, p STRING) PARTITIONED BY (p) WITH ('bucket' = '-1', 'row-tracking.enabled' = 'true'{kind});
        INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'x');
        INSERT INTO t VALUES (4, 'd', 'x'), (5, 'e', 'y')""")
    swb.run("UPDATE t SET v = 'B' WHERE id = 2")
    assert tracked(swb) == [
        (1, "a", "x", 0, 1),
        (2, "B", "x", 1, 3),
        (3, "c", "x", 2, 1),
        (4, "d", "x", 3, 2),
        (5, "e", "y", 4, 2),
    ]
    swb.run("DELETE FROM t WHERE id = 1")
    assert tracked(swb) == [(2, "B", "x", 1, 3), (3, "c", "x", 2, 1), (4, "d", "x", 3, 2), (5, "e", "y", 4, 2)]
    swb.run("UPDATE t SET p = 'y' WHERE id = 3")  # another partition, the same row
    assert tracked(swb)[1] == (3, "c", "y", 2, 5)
    swb.run("""
        MERGE INTO t USING (SELECT * FROM VALUES (2, 'BB'), (6, 'f') AS s(id, v)) AS s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (s.id, s.v, 'z')
        WHEN NOT MATCHED BY SOURCE AND t.id = 4 THEN DELETE""")
    found = tracked(swb)
    assert found[:3] == [(2, "BB", "x", 1, 6), (3, "c", "y", 2, 5), (5, "e", "y", 4, 2)]
    [(*row, new, sequence)] = found[3:]
    assert (row, sequence) == ([6, "f", "z"], 6)
    assert new > 4
    swb.run("CALL sys.compact('t')")
    assert tracked(swb) == found
    named = swb.sql("SELECT id, v, p, _ROW_ID, _SEQUENCE_NUMBER FROM t").collect()
    assert sorted(tuple(r) for r in named) == found
    swb.run("DELETE FROM t WHERE _ROW_ID = 2 OR _SEQUENCE_NUMBER = 2")
    assert tracked(swb) == [found[0], found[3]]
    assert sorted(tuple(r) for r in swb.sql("SELECT * FROM t").collect()) == [found[0][:3], found[3][:3]]


def test_only_new_rows_take_row_ids(swb):
    swb.run("""
        CREATE TABLE t (id INT, b INT) TBLPROPERTIES ('row-tracking.enabled' = 'true');
        INSERT INTO t VALUES (1, 1), (2, 2);
        UPDATE t SET b = 0;
        MERGE INTO t USING (SELECT 2 AS id, 22 AS b UNION ALL SELECT 3, 33) s ON t.id = s.id
            WHEN MATCHED THEN UPDATE SET b = s.b WHEN NOT MATCHED THEN INSERT *;
        DELETE FROM t WHERE id = 1;
        INSERT INTO t VALUES (4, 44)
    """)
    found = swb.sql("SELECT id, b, _ROW_ID, _SEQUENCE_NUMBER FROM t ORDER BY id").collect()
    assert [tuple(r) for r in found] == [(2, 22, 1, 3), (3, 33, 2, 3), (4, 44, 3, 5)]
    swb.run("CALL sys.compact(table => 't')")
    assert [tuple(r) for r in swb.sql("SELECT id, b, _ROW_ID, _SEQUENCE_NUMBER FROM t ORDER BY id").collect()] == [
        tuple(r) for r in found
    ]
