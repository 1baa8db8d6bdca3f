"""-U and -D on their way into tables that merge values: a result that is replaced is taken back, as in Flink."""

from __future__ import annotations

import pytest
from sampling import sampled
from test_stream_normalize import changes

from paimon_nb.base.errors import UnsupportedOperation

STREAMING = "SET 'execution.runtime-mode' = 'streaming'"
BATCH = "SET 'execution.runtime-mode' = 'batch'"
AGG = "WITH ('bucket' = '1', 'merge-engine' = 'aggregation', 'fields.s.aggregate-function' = 'sum')"


def rows(wb, table: str) -> list[tuple]:
    return sorted(tuple(r.values()) for r in wb.table(table).to_arrow().to_pylist())


def follows(wb, text: str, target: str, steps: list[tuple[str, list[tuple]]]) -> None:
    """A job; after each statement the table has these rows."""
    wb.run(STREAMING)
    job = wb.sql(text)
    try:
        for statement, expected in steps:
            wb.run(statement)
            assert job.wait_for(lambda e=expected: rows(wb, target) == e, 60), rows(wb, target)
        assert job.process_available()  # rows are visible a moment before the checkpoint has the micro-batch
    finally:
        job.stop()


@pytest.mark.spark
def test_sums_of_groups_of_changing_rows_are_replaced(swb):
    swb.run(f"""
        CREATE TABLE inp (k INT, id INT, b INT, PRIMARY KEY (k, id) NOT ENFORCED) WITH ('bucket' = '1');
        CREATE TABLE agg (k INT PRIMARY KEY NOT ENFORCED, s BIGINT) {AGG};
        INSERT INTO inp VALUES (1, 1, 1)
    """)
    follows(
        swb,
        "INSERT INTO agg SELECT k, SUM(b) FROM inp GROUP BY k",
        "agg",
        [
            ("INSERT INTO inp VALUES (1, 1, 3)", [(1, 3)]),
            ("INSERT INTO inp VALUES (1, 2, 4), (2, 1, 9)", [(1, 7), (2, 9)]),
        ],
    )


@pytest.mark.spark
def test_sums_of_rows_by_their_own_key_are_replaced(swb):
    swb.run(f"""
        CREATE TABLE inp (k INT PRIMARY KEY NOT ENFORCED, b INT) WITH ('bucket' = '1');
        CREATE TABLE agg (k INT PRIMARY KEY NOT ENFORCED, s BIGINT) {AGG};
        INSERT INTO inp VALUES (1, 1)
    """)
    text = "INSERT INTO agg SELECT k, SUM(b) FROM inp GROUP BY k"
    follows(swb, text, "agg", [("SHOW TABLES", [(1, 1)]), ("INSERT INTO inp VALUES (1, 3)", [(1, 3)])])


@pytest.mark.spark
def test_several_groups_of_one_key_are_summed(swb):
    swb.run(f"""
        CREATE TABLE inp (k INT, id INT, b INT, PRIMARY KEY (k, id) NOT ENFORCED) WITH ('bucket' = '1');
        CREATE TABLE agg (k INT PRIMARY KEY NOT ENFORCED, s BIGINT) {AGG};
        INSERT INTO inp VALUES (1, 1, 1), (1, 2, 1)
    """)
    follows(
        swb,
        "INSERT INTO agg SELECT k, SUM(b) FROM inp GROUP BY k, id",
        "agg",
        [("INSERT INTO inp VALUES (1, 2, 5)", [(1, 6)])],
    )


@pytest.mark.spark
def test_sums_of_groups_of_added_rows_are_replaced(swb):
    swb.run(f"""
        CREATE TABLE log (k INT, b INT);
        CREATE TABLE agg (k INT PRIMARY KEY NOT ENFORCED, s BIGINT) {AGG};
        INSERT INTO log VALUES (1, 1)
    """)
    follows(
        swb,
        "INSERT INTO agg SELECT k, SUM(b) FROM log GROUP BY k",
        "agg",
        [("SHOW TABLES", [(1, 1)]), ("INSERT INTO log VALUES (1, 2), (2, 5)", [(1, 3), (2, 5)])],
    )


@pytest.mark.spark
@pytest.mark.parametrize("producer", sampled(["lookup", "none"], 2))
def test_rows_that_change_are_taken_out_of_a_sum(swb, producer):
    swb.run(f"""
        CREATE TABLE inp (id INT PRIMARY KEY NOT ENFORCED, k INT, b INT) WITH ('bucket' = '1', 'changelog-producer' = '{producer}');
        CREATE TABLE agg (k INT PRIMARY KEY NOT ENFORCED, s BIGINT) {AGG};
        INSERT INTO inp VALUES (1, 1, 1), (2, 1, 10)
    """)
    follows(
        swb,
        "INSERT INTO agg SELECT k, CAST(b AS BIGINT) FROM inp",
        "agg",
        [("SHOW TABLES", [(1, 11)]), ("INSERT INTO inp VALUES (1, 1, 3), (2, 2, 10)", [(1, 3), (2, 10)])],
    )


@pytest.mark.nightly
@pytest.mark.spark
def test_a_job_that_goes_on_knows_what_it_sent(swb, tmp_path):
    swb.run(f"""
        CREATE TABLE inp (id INT PRIMARY KEY NOT ENFORCED, b INT) WITH ('bucket' = '1');
        CREATE TABLE agg (k INT PRIMARY KEY NOT ENFORCED, s BIGINT) {AGG};
        SET 'execution.checkpointing.dir' = '{tmp_path}/checkpoints';
        INSERT INTO inp VALUES (1, 1)
    """)
    text = "INSERT INTO agg SELECT id % 2, CAST(b AS BIGINT) FROM inp"
    follows(swb, text, "agg", [("SHOW TABLES", [(1, 1)])])
    swb.run("INSERT INTO inp VALUES (1, 5), (3, 2)")
    follows(swb, text, "agg", [("SHOW TABLES", [(1, 7)])])
    grouped = "INSERT INTO agg SELECT b, COUNT(*) FROM log GROUP BY b"
    swb.run("CREATE TABLE log (b INT); INSERT INTO log VALUES (8)")
    swb.run("SET 'pipeline.name' = 'counts'")
    follows(swb, grouped, "agg", [("SHOW TABLES", [(1, 7), (8, 1)])])
    with pytest.raises(UnsupportedOperation, match="cannot resume"):
        swb.sql(grouped)
    changing = "INSERT INTO agg SELECT b + 10, COUNT(*) FROM inp GROUP BY b"
    swb.run("SET 'pipeline.name' = 'changing'")
    follows(swb, changing, "agg", [("SHOW TABLES", [(1, 7), (8, 1), (12, 1), (15, 1)])])
    with pytest.raises(UnsupportedOperation, match="cannot resume"):
        swb.sql(changing)
    swb.run("RESET 'execution.checkpointing.dir'")  # a job without a checkpoint begins anew, as in Flink
    follows(swb, changing, "agg", [("SHOW TABLES", [(1, 7), (8, 1), (12, 2), (15, 2)])])


@pytest.mark.spark
@pytest.mark.parametrize(
    "table", ["log (k INT, b INT)", "log (k INT, b INT PRIMARY KEY NOT ENFORCED) WITH ('bucket' = '1')"]
)
def test_the_changes_of_a_grouped_result_say_what_they_replace(swb, table):
    swb.run(f"CREATE TABLE {table}; INSERT INTO log VALUES (1, 1)")
    swb.run(STREAMING)
    with swb.stream("SELECT k, SUM(b) FROM log GROUP BY k") as live:
        found = iter(live)
        assert [tuple(r.values()) for r in next(found).to_pylist()] == [("+I", 1, 1)]
        swb.run("INSERT INTO log VALUES (1, 3)")
        assert [tuple(r.values()) for r in next(found).to_pylist()] == [("-U", 1, 1), ("+U", 1, 4)]


@pytest.mark.nightly
@pytest.mark.spark
def test_an_expression_over_a_key_table_is_normalised(swb):
    swb.run("""
        CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING, n INT) WITH ('bucket' = '1');
        INSERT INTO t VALUES (1, 'A', 1);
        INSERT INTO t VALUES (1, 'B', 1);
        INSERT INTO t VALUES (1, 'B', 2);
    """)
    swb.run(STREAMING)
    text = "SELECT lower(v) AS v FROM t /*+ OPTIONS('scan.snapshot-id' = '1') */"
    assert changes(swb, text) == [("+I", "a"), ("-U", "a"), ("+U", "b")]


@pytest.mark.spark
def test_rows_without_a_bucket_are_in_the_results_of_a_stream(swb):
    swb.run("""
        CREATE TABLE inp (k INT PRIMARY KEY NOT ENFORCED, g INT, b INT) WITH ('bucket' = '-2');
        CREATE TABLE total (g INT PRIMARY KEY NOT ENFORCED, s BIGINT) WITH ('bucket' = '1');
        INSERT INTO inp VALUES (1, 1, 1), (9, 2, 4)
    """)
    follows(
        swb,
        "INSERT INTO total SELECT g, SUM(b) FROM inp GROUP BY g",
        "total",
        [
            ("INSERT INTO inp VALUES (1, 1, 3), (2, 1, 5)", [(1, 8), (2, 4)]),
            ("INSERT INTO inp VALUES (1, 1, 7)", [(1, 12), (2, 4)]),
        ],
    )


@pytest.mark.spark
def test_rows_that_wait_for_a_compaction_are_not_in_the_results_of_a_stream(swb):
    """Their changelog is written by the compaction, so that no stream of the table has delivered them."""
    swb.run("""
        CREATE TABLE inp (id INT PRIMARY KEY NOT ENFORCED, k INT)
            WITH ('bucket' = '1', 'write-only' = 'true', 'changelog-producer' = 'full-compaction');
        CREATE TABLE counts (k INT PRIMARY KEY NOT ENFORCED, n BIGINT) WITH ('bucket' = '1');
        INSERT INTO inp VALUES (1, 7), (2, 7);
        CALL sys.compact('inp');
        INSERT INTO inp VALUES (2, 8), (3, 8)
    """)
    follows(
        swb,
        "INSERT INTO counts SELECT k, COUNT(*) FROM inp GROUP BY k",
        "counts",
        [("SELECT 1", [(7, 2)]), ("CALL sys.compact('inp')", [(7, 1), (8, 2)])],
    )
