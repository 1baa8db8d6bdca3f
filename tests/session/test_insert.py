"""INSERT through SQL: what lands, what is refused, and that a refusal leaves nothing behind."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame

from paimon_nb.base.errors import (
    BadOptionValue,
    ColumnNotFound,
    CommitConflict,
    NullNotAllowed,
    PaimonError,
    SchemaMismatch,
    SqlAnalysisError,
    TimeTravelError,
)
from paimon_nb.table.write import input_rows
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.compact import compact
from paimon_nb.table.write.publish.changes import compact_change

pytestmark = pytest.mark.spark


def rows(wb, text: str) -> list[tuple]:
    return sorted((tuple(r) for r in wb.sql(text).collect()), key=repr)


def test_every_form_of_insert(swb):
    swb.run("""
        CREATE TABLE t (id INT, v STRING DEFAULT 'none', n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
        INSERT INTO t VALUES (1, 'a', 10), (2, 'b', 20);
        INSERT INTO t (id, n) VALUES (3, 30);
        INSERT INTO t (n, id) SELECT n * 2, id + 3 FROM t WHERE id < 2;
        INSERT INTO t BY NAME SELECT 5 AS id, 50 AS n;
        INSERT INTO t TABLE t;
        INSERT INTO t WITH x AS (SELECT 6 AS id) SELECT id, 'six', NULL FROM x
    """)
    assert rows(swb, "SELECT * FROM t") == [
        (1, "a", 10), (2, "b", 20), (3, "none", 30), (4, "none", 20), (5, "none", 50), (6, "six", None),
    ]  # fmt: skip
    result = swb.run("INSERT INTO t VALUES (1, 'A', 1)")
    assert result.arrow.to_pylist() == [
        {"result": f"1 row inserted into default.t in snapshot {result.snapshots[0][1]}"}
    ]
    nothing = swb.run("INSERT INTO t SELECT * FROM t WHERE false")
    assert (nothing.snapshots, nothing.arrow.to_pylist()) == (
        [], [{"result": "0 rows inserted into default.t (no new snapshot)"}],
    )  # fmt: skip
    asked = swb.run(
        "INSERT INTO t /*+ OPTIONS('snapshot.ignore-empty-commit' = 'false') */ SELECT * FROM t WHERE false"
    )
    assert asked.snapshots == [("default.t", result.snapshots[0][1] + 1)]


PARTS = """
    CREATE TABLE p (id INT, v STRING, dt STRING, h INT) PARTITIONED BY (dt, h);
    INSERT INTO p VALUES (1, 'x', 'a', 1), (2, 'x', 'a', 2), (3, 'x', 'b', 1)
"""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # Flink's default and Spark's dynamic mode: the partitions that get rows.
        ("INSERT OVERWRITE p VALUES (9, 'y', 'a', 1)", [2, 3, 9]),
        ("INSERT OVERWRITE p SELECT 9, 'y', 'a', 1 WHERE false", [1, 2, 3]),
        ("INSERT OVERWRITE p PARTITION (dt = 'a') SELECT 9, 'y', 1", [2, 3, 9]),
        ("INSERT OVERWRITE p PARTITION (dt = 'a', h = 2) SELECT 9, 'y'", [1, 3, 9]),
        ("INSERT OVERWRITE p PARTITION (dt = 'a', h) SELECT 9, 'y', 2", [1, 3, 9]),
        # A whole partition is named: it is emptied when no rows come.
        ("INSERT OVERWRITE p PARTITION (dt = 'a', h = 2) SELECT 9, 'y' WHERE false", [1, 3]),
        # The option makes it static: all that matches goes.
        ("INSERT OVERWRITE p /*+ OPTIONS('dynamic-partition-overwrite' = 'false') */ VALUES (9, 'y', 'a', 1)", [9]),
        ("INSERT OVERWRITE p /*+ OPTIONS('dynamic-partition-overwrite' = 'false') */ PARTITION (dt = 'a') SELECT 9, 'y', 1", [3, 9]),
        ("INSERT OVERWRITE p /*+ OPTIONS('dynamic-partition-overwrite' = 'false') */ SELECT 9, 'y', 'a', 1 WHERE false", []),
        ("INSERT OVERWRITE TABLE p SELECT * FROM p WHERE id = 1", [1, 2, 3]),
        ("INSERT INTO p PARTITION (dt = 'c', h = 7) VALUES (9, 'y')", [1, 2, 3, 9]),
    ],
)  # fmt: skip
def test_overwrite_rules(swb, text, left):
    swb.run(PARTS)
    swb.run(text)
    assert [r[0] for r in rows(swb, "SELECT id FROM p")] == left


def test_no_digit_of_a_second_is_lost(swb):
    swb.run("""
        SET 'execution.runtime-mode' = 'batch';
        CREATE TABLE t (id INT, at TIMESTAMP(9), tags ARRAY<INT>);
        INSERT INTO t VALUES
            (1, CAST('2024-02-29 23:59:59.123456789' AS TIMESTAMP(9)), ARRAY(1)),
            (2, TIMESTAMP '2024-02-29 23:59:59.1234567', NULL),
            (4, TIMESTAMP '2024-02-29 00:00:00', NULL),
            (3, CAST('2024-03-01' AS TIMESTAMP(9)), NULL);
    """)
    assert [r["at"].value % 10**9 for r in swb.table("t").to_arrow().sort_by("id").to_pylist()] == [
        123456789,
        123456700,
        0,
        0,
    ]
    assert rows(swb, "SELECT id FROM t WHERE at > TIMESTAMP '2024-02-29 23:59:59.123456788'") == [(1,), (3,)]
    assert rows(swb, "SELECT id FROM t WHERE at IN (CAST('2024-02-29 23:59:59.123456789' AS TIMESTAMP(9)))") == [(1,)]


def test_casts_to_nanoseconds_keep_every_digit_of_columns(swb):
    swb.run("""
        SET 'execution.runtime-mode' = 'batch';
        SET 'table.local-time-zone' = 'America/New_York';
        CREATE TABLE texts (id INT, said STRING);
        INSERT INTO texts VALUES (1, '1969-12-31 23:59:59.123456789'), (2, '2024-07-01'), (3, NULL);
        CREATE TABLE t (id INT, wall TIMESTAMP(9), moment TIMESTAMP_LTZ(9));
        INSERT INTO t SELECT id, CAST(said AS TIMESTAMP(9)), CAST(said AS TIMESTAMP(9) WITH LOCAL TIME ZONE) FROM texts;
    """)
    stored = swb.table("t").to_arrow().sort_by("id")
    assert [stored[c].cast("int64").to_pylist() for c in ("wall", "moment")] == [
        [-876543211, 1719792000 * 10**9, None],
        [-876543211 + 5 * 3600 * 10**9, (1719792000 + 4 * 3600) * 10**9, None],
    ]
    seen = rows(swb, """
        SELECT CAST(wall AS TIMESTAMP(9)), CAST(wall AS TIMESTAMP(7)), CAST(moment AS TIMESTAMP(9)),
            CAST(wall AS TIMESTAMP_LTZ(8)), CAST(moment AS TIMESTAMP_LTZ(9)) = moment,
            TRY_CAST('no time' AS TIMESTAMP(9)), CAST(TIMESTAMP '2024-07-01 00:00:00.5' AS TIMESTAMP(9))
        FROM t WHERE id < 3 ORDER BY id
    """)  # fmt: skip
    assert seen == [
        (
            "1969-12-31 23:59:59.123456789", "1969-12-31 23:59:59.123456700", "1969-12-31 23:59:59.123456789",
            "1970-01-01 04:59:59.123456780Z", True, None, "2024-07-01 00:00:00.500000000",
        ),
        (
            "2024-07-01 00:00:00.000000000", "2024-07-01 00:00:00.000000000", "2024-07-01 00:00:00.000000000",
            "2024-07-01 04:00:00.000000000Z", True, None, "2024-07-01 00:00:00.500000000",
        ),
    ]  # fmt: skip
    assert rows(swb, "SELECT id FROM t WHERE moment = CAST('1969-12-31 23:59:59.123456789' AS TIMESTAMP_LTZ(9))") == [
        (1,)
    ]


def test_overwrite_of_a_table_without_partitions(swb):
    swb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1), (2)")
    result = swb.run("INSERT OVERWRITE t SELECT id + 1 FROM t")
    assert rows(swb, "SELECT * FROM t") == [(2,), (3,)]
    assert "CALL sys.compact" in result.notes[0]
    swb.run("INSERT OVERWRITE t SELECT id FROM t WHERE false")
    assert rows(swb, "SELECT * FROM t") == []


def test_a_table_that_cannot_be_replaced_stays(wb):
    wb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1)")
    with pytest.raises(PaimonError, match="nope"):
        wb.run("CREATE OR REPLACE TABLE t (k INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('sequence.field' = 'nope')")
    assert wb.run("SELECT * FROM t").arrow.to_pylist() == [{"id": 1}]


def test_replace_a_table_by_a_query_of_itself(swb):
    swb.run("CREATE TABLE t (id INT, v STRING); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    with pytest.raises(PaimonError):
        swb.run("CREATE OR REPLACE TABLE t AS SELECT id / 0 AS id FROM t")
    assert rows(swb, "SELECT * FROM t") == [(1, "a"), (2, "b")]
    swb.run("CREATE OR REPLACE TABLE t AS SELECT id + 1 AS id, 'x' AS w FROM t")
    assert rows(swb, "SELECT * FROM t") == [(2, "x"), (3, "x")]
    swb.run("CREATE TABLE u AS SELECT * FROM t WHERE id = 2; CREATE TABLE IF NOT EXISTS u AS SELECT 7 AS z")
    assert rows(swb, "SELECT * FROM u") == [(2, "x")]


BAD = [
    ("INSERT INTO k VALUES (1)", SchemaMismatch),
    ("INSERT INTO k VALUES (1, 'a', 3, 4)", SchemaMismatch),
    ("INSERT INTO k (id, vv) VALUES (1, 'a')", ColumnNotFound),
    ("INSERT INTO k VALUES (NULL, 'a', 1)", NullNotAllowed),
    ("INSERT INTO k (v) VALUES ('a')", NullNotAllowed),
    ("INSERT INTO k VALUES ('abc', 'a', 1)", PaimonError),
    ("INSERT INTO k VALUES (1, 'a', 99999999999999999999)", PaimonError),
    ("INSERT INTO k SELECT id, vv, n FROM k", SqlAnalysisError),
    ("SELECT * FROM k WHERE idd = 1", SqlAnalysisError),
    ("SELECT * FROM k VERSION AS OF 99", TimeTravelError),
    ("SELECT * FROM k TIMESTAMP AS OF '1999-01-01'", TimeTravelError),
    ("SELECT * FROM k /*+ OPTIONS('scan.snapshot-id' = 'x') */", BadOptionValue),
    ("INSERT INTO k SELECT id, v, n / 0 FROM k", PaimonError),
    ("INSERT INTO k SELECT id, v, DATE '2024-02-29' FROM k", SchemaMismatch),
    ("INSERT INTO k SELECT id, v, array(n) FROM k", SchemaMismatch),
]


@pytest.mark.parametrize(("text", "kind"), BAD, ids=[b[0] for b in BAD])
def test_bad_rows_change_nothing(swb, text, kind):
    swb.run("""CREATE TABLE k (id INT, v STRING, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
               INSERT INTO k VALUES (1, 'a', 1)""")
    root = Path(swb.table("k").path)
    before = sorted(p for p in root.rglob("*") if p.is_file())
    with pytest.raises(PaimonError) as caught:
        swb.sql(text).collect()
    error = caught.value
    assert isinstance(error, kind), repr(error)
    assert error.hint, repr(error)
    assert "\n\tat " not in str(error)
    assert sorted(p for p in root.rglob("*") if p.is_file()) == before
    assert rows(swb, "SELECT * FROM k") == [(1, "a", 1)]


def test_a_spark_frame_is_a_source_that_is_read_partition_by_partition(swb, monkeypatch):
    monkeypatch.setattr(input_rows, "_CHUNK_ROWS", 1)
    frame = swb.spark.range(5, numPartitions=2).selectExpr(
        "id", "cast(id AS STRING) AS v", "IF(id < 9, TIMESTAMP '2024-01-31 12:00:00', NULL) AS at"
    )
    chunks: list[int] = []
    t = swb.create_table("t", frame, primary_key="id", progress=lambda rows, _: chunks.append(rows))
    t.upsert(frame.selectExpr("id + 4 AS id", "'new' AS v"))
    t.append(frame.where("id < 0"))
    assert chunks == [2, 5]
    noon = frame.toArrow()["at"][0].as_py()
    found = {r["id"]: (r["v"], r["at"]) for r in t.to_arrow().to_pylist()}
    assert found == {i: ("new", None) if i > 3 else (str(i), noon) for i in range(9)}


def test_injection_is_a_value(swb):
    swb.run("CREATE TABLE t (id INT, v STRING)")
    evil = "x'); DROP TABLE t; --"
    swb.run("INSERT INTO t VALUES (1, :v)", v=evil)
    assert [tuple(r) for r in swb.sql("SELECT * FROM t WHERE v = :v", v=evil).collect()] == [(1, evil)]


def test_a_second_writer_of_the_same_rows_is_told_who_and_where(swb):
    swb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1), (2)")
    table, publish = swb.table("t"), TableCommit.commit
    table.append(swb.sql("SELECT 3 AS id").toArrow().cast(table.schema.arrow))
    assert table.latest_snapshot().id == 2
    mine = compact(table.store, full=True)
    theirs = compact(table.store, full=True)
    publish(table.commit("theirs"), theirs)
    with pytest.raises(CommitConflict) as caught:
        table.commit("mine").publish(compact_change(mine))
    assert (caught.value.user, caught.value.snapshot) == ("theirs", 3)
    assert caught.value.hint
    assert rows(swb, "SELECT * FROM t") == [(1,), (2,), (3,)]


def test_the_summary_is_a_dataframe_that_the_jvm_makes_on_first_use(swb):
    swb.sql("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED)")
    text = "1 row inserted into default.t in snapshot 1"

    summary = swb.sql("INSERT INTO t VALUES (1)")

    assert isinstance(summary, DataFrame)
    assert "_jdf" not in vars(summary)
    assert [tuple(r) for r in summary.collect()] == [(text,)]
    assert type(summary) is type(swb.sql("SELECT 1"))
    assert (summary.schema.simpleString(), summary.union(summary).count()) == ("struct<result:string>", 2)
