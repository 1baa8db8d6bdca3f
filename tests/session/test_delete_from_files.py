"""DELETE in Spark's dialect from tables whose merge engine takes no delete markers: compacted files are rewritten."""

import pytest

from paimon_nb.base.errors import UnsupportedOperation

pytestmark = pytest.mark.spark

ENGINES = {
    "partial-update": "",
    "aggregation": "",
    "first-row": ", 'changelog-producer' = 'lookup'",
    "aggregation, with vectors": ", 'deletion-vectors.enabled' = 'true'",
}


def rows(wb) -> list[tuple]:
    return [tuple(r) for r in wb.spark.sql("SELECT id, name, age FROM t ORDER BY id").collect()]


def make(wb, engine: str) -> None:
    wb.run(f"""
        CREATE TABLE t (id INT, name STRING, age INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1',
            'merge-engine' = '{engine.split(",")[0]}', 'write-only' = 'true'{ENGINES[engine]});
        INSERT INTO t VALUES (1, 'a', CAST(NULL AS INT)), (3, 'c', 30);
        INSERT INTO t VALUES (2, 'b', CAST(NULL AS INT));
        INSERT INTO t VALUES (1, CAST(NULL AS STRING), 16)
    """)


@pytest.mark.parametrize("engine", ENGINES)
def test_compacted_files_are_rewritten(swb, engine):
    make(swb, engine)
    with pytest.raises(UnsupportedOperation, match="only from compacted files") as refused:
        swb.spark.sql("DELETE FROM t WHERE id = 1")
    assert "CALL sys.compact" in refused.value.hint
    swb.spark.sql("CALL sys.compact(table => 't')")
    swb.spark.sql("DELETE FROM t WHERE id = 1")
    assert rows(swb) == [(2, "b", None), (3, "c", 30)]
    swb.run("INSERT INTO t VALUES (2, 'x', 5)")
    swb.spark.sql("CALL sys.compact(table => 't')")
    assert rows(swb) == [(2, "b" if "first" in engine else "x", None if "first" in engine else 5), (3, "c", 30)]
