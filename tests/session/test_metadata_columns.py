"""`__paimon_file_path` and the others: where each row of a table without keys lies."""

import pytest

from paimon_nb.base.errors import SqlAnalysisError

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    "options", ["'bucket' = '-1'", "'bucket' = '2', 'bucket-key' = 'id', 'deletion-vectors.enabled' = 'true'"]
)
def test_rows_lie_where_they_say(swb, options):
    swb.run(f"CREATE TABLE t (id INT, v STRING, p STRING) PARTITIONED BY (p) WITH ({options}, 'write-only' = 'true')")
    swb.run(
        "INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'y'), (3, 'c', 'x'), (4, 'd', 'x'); INSERT INTO t VALUES (5, 'e', 'x'); DELETE FROM t WHERE id = 3"
    )
    rows = swb.sql(
        "SELECT id, p, __paimon_file_path f, __paimon_row_index r, __paimon_partition.p q, __paimon_bucket b FROM t"
    ).collect()
    assert sorted(r.id for r in rows) == [1, 2, 4, 5]
    assert [r.p for r in rows] == [r.q for r in rows]
    known = {f["file_path"].rpartition("/")[2]: f for f in swb.table("t").files().to_pylist()}
    for r in rows:
        name = r.f.rpartition("/")[2]
        assert f"p={r.p}/bucket-{r.b}/" in r.f
        assert known[name]["bucket"] == r.b
        stored = swb.session.spark.read.parquet(r.f).toPandas()
        assert stored.id[r.r] == r.id


def test_with_joins_travel_and_stars(swb):
    swb.run(
        "CREATE TABLE t (id INT); CREATE TABLE k (id INT, w STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')"
    )
    swb.run("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); INSERT INTO k VALUES (1, 'one'), (2, 'two')")
    count = "SELECT count(DISTINCT t.__paimon_file_path) FROM t {} JOIN k ON t.id = k.id"
    assert swb.sql(count.format("")).first()[0] == 2
    assert swb.sql(count.format("VERSION AS OF 1")).first()[0] == 1
    assert swb.sql("SELECT * FROM t").columns == ["id"]
    swb.run("INSERT INTO k VALUES (1, 'uno')")
    assert swb.sql(count.format("")).first()[0] == 2
    with pytest.raises(SqlAnalysisError):
        swb.sql("SELECT __paimon_file_path FROM k")


def test_sys_bucket_is_the_bucket_of_the_row(swb):
    columns = {
        "i": "INT", "l": "BIGINT", "s": "STRING", "b": "BINARY", "d": "DOUBLE", "w": "DECIMAL(38, 18)", "n": "DECIMAL(9, 2)",
        "z": "TIMESTAMP", "t": "TIMESTAMP_NTZ", "y": "TINYINT", "o": "BOOLEAN", "e": "DATE",
    }  # fmt: skip
    options = {
        "bucket": f"'bucket-key' = '{','.join(columns)}'",
        "mod_bucket": "'bucket-key' = 'i', 'bucket-function.type' = 'mod'",
    }
    for function, key in options.items():
        declared = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        swb.run(f"""
            CREATE TABLE {function} ({declared}) TBLPROPERTIES ('bucket' = '97', {key});
            INSERT INTO {function} VALUES
                (-7, 1, 'text', X'00FF', 1.5, 12.5, 3.25, TIMESTAMP '2024-05-06 07:08:09.123456',
                 TIMESTAMP_NTZ '1969-05-06 07:08:09.123456', 5, true, DATE '2024-05-06');
            INSERT INTO {function} VALUES (8, 2, '', X'', -0.0, -1, 0, null, null, null, null, null)
        """)
    everything = ", ".join(columns)
    query = "SELECT __paimon_bucket, {} FROM {} ORDER BY i"
    for call, name in ((f"paimon.sys.bucket(97, {everything})", "bucket"), ("sys.mod_bucket(97, i)", "mod_bucket")):
        found = [tuple(r) for r in swb.sql(query.format(call, name)).collect()]
        assert len({bucket for bucket, _ in found}) == 2
        assert all(bucket == computed for bucket, computed in found)
    from pyspark.errors import PythonException

    with pytest.raises(PythonException, match="number of buckets, an INT"):
        swb.sql("SELECT sys.bucket('4', i) FROM bucket").collect()
