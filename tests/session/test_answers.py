"""What each statement that needs no Spark answers, and that none of them starts a JVM."""

import pyarrow as pa
import pytest

from paimon_nb.base.errors import AlreadyExists, SqlSyntaxError, UnknownName
from paimon_nb.session import Result

DEFINE = """
CREATE TABLE IF NOT EXISTS sales (
  id BIGINT COMMENT 'the key', dt STRING, amount DECIMAL(10, 2) DEFAULT '0.00', ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id, dt) NOT ENFORCED
) COMMENT 'sold' PARTITIONED BY (dt) WITH ('bucket' = '2', 'merge-engine' = 'partial-update')
"""


@pytest.fixture
def run(wb, monkeypatch):
    """Runs text; the answer's rows as tuples. Starting Spark fails the test."""
    monkeypatch.setattr(type(wb.session), "spark", property(lambda _self: pytest.fail("Spark was started")))

    def go(text: str) -> list[tuple]:
        result = wb.run(text)
        assert isinstance(result, Result)
        assert result.frame is None
        return [tuple(row.values()) for row in result.arrow.to_pylist()]

    go.wb = wb
    return go


def said(answer: list[tuple]) -> str:
    ((text,),) = answer
    return text


def test_catalogs_and_databases(run, tmp_path):
    assert said(
        run(f"CREATE CATALOG two WITH ('type' = 'paimon', 'warehouse' = '{tmp_path}/two', 's3.secret-key' = 'xyz')")
    )
    assert said(run("CREATE CATALOG IF NOT EXISTS two WITH ('warehouse' = 'x')")) == "catalog two exists already"
    with pytest.raises(AlreadyExists, match="two"):
        run("CREATE CATALOG two WITH ('warehouse' = 'x')")
    assert run("SHOW CATALOGS") == [("paimon",), ("two",)]
    assert run("SHOW CURRENT CATALOG") == [("paimon",)]
    assert said(run("CREATE DATABASE two.d")) == "database d created"
    assert said(run("CREATE DATABASE IF NOT EXISTS two.d")) == "database d exists already"
    assert said(run("USE two.d")) == "using two.d"
    assert run("SHOW CURRENT DATABASE") == [("two", "d")]
    assert run("SHOW DATABASES") == [("d",), ("default",)]
    assert run("SHOW DATABASES LIKE 'de%'") == [("default",)]
    assert ("s3.secret-key", "***") in run("DESCRIBE CATALOG two")
    assert "xyz" not in run("SHOW CREATE CATALOG two")[0][0]
    assert said(run("USE CATALOG paimon")) == "using catalog paimon"
    assert run("SHOW CURRENT DATABASE") == [("paimon", "default")]
    assert said(run("DROP DATABASE two.d")) == "database d dropped"
    assert said(run("DROP DATABASE IF EXISTS two.d")) == "no database d"
    assert said(run("DROP CATALOG two")).startswith("catalog two removed")
    assert run("SHOW CATALOGS") == [("paimon",)]


def test_the_first_catalog_gives_way_to_one_of_its_name(run, tmp_path):
    first = run.wb.session.catalog.warehouse
    text = f"CREATE CATALOG paimon WITH ('type' = 'paimon', 'warehouse' = '{tmp_path}/own')"
    assert run.wb.run(text).notes == [f"catalog paimon was open on {first}; it is now {tmp_path}/own"]
    assert run("SHOW TABLES") == []
    with pytest.raises(AlreadyExists):
        run(text)


def test_the_first_catalog_defined_once_more_is_the_same(run):
    place = run.wb.session.catalog.warehouse
    run("CREATE TABLE t (id INT)")
    for again in ("", "IF NOT EXISTS "):
        done = run.wb.run(f"CREATE CATALOG {again}paimon WITH ('type' = 'paimon', 'warehouse' = 'file:{place}/')")
        assert done.notes == [f"catalog paimon was open on {place} already; nothing changed"]
    assert [row[1] for row in run("SHOW TABLES")] == ["t"]
    run(f"CREATE CATALOG paimon WITH ('warehouse' = '{place}', 'table-default.file.format' = 'orc')")
    run("CREATE TABLE u (id INT)")
    assert run.wb.table("u").schema.options == {"file.format": "orc"}


def test_the_first_catalog_stays_once_something_was_made_in_it(run, tmp_path):
    run("CREATE DATABASE d")
    with pytest.raises(AlreadyExists, match="where this session made tables"):
        run(f"CREATE CATALOG paimon WITH ('type' = 'paimon', 'warehouse' = '{tmp_path}/own')")
    assert run("SHOW DATABASES LIKE 'd'") == [("d",)]


def test_a_cell_of_comments_and_one_that_ends_with_a_comment(run):
    assert said(run("CREATE TABLE t (id INT); -- note")) == "table default.t created"
    assert said(run("-- note\n/* another */")) == "the text has only comments; nothing to run"
    with pytest.raises(SqlSyntaxError, match="expected an option"):
        run("CREATE TABLE u (id INT) WITH (3)")


def test_a_database_with_tables_goes_only_with_cascade(run):
    run("CREATE DATABASE d; CREATE TABLE d.t (id INT)")
    with pytest.raises(Exception, match="CASCADE"):
        run("DROP DATABASE d")
    assert run("SHOW TABLES IN d") == [("d", "t", False)]
    result = run.wb.run("DROP DATABASE d CASCADE")
    assert result.arrow.to_pylist() == [{"result": "database d dropped"}]
    assert result.notes == ["in the trash: t; UNDROP TABLE d.t restores that one"]


def test_a_table_as_it_was_defined(run):
    assert said(run(DEFINE)) == "table default.sales created"
    assert said(run(DEFINE)) == "table default.sales exists already"
    assert run("DESC sales") == [
        ("id", "BIGINT", "the key", False, "PRIMARY", None, None),
        ("dt", "STRING", None, False, "PRIMARY PARTITION", None, None),
        ("amount", "DECIMAL(10, 2)", None, True, None, "0.00", None),
        ("ts", "TIMESTAMP(3)", None, True, None, None, "`ts` - INTERVAL '5' SECOND"),
    ]
    assert run("DESCRIBE sales amount") == [("amount", "DECIMAL(10, 2)", None, True, None, "0.00", None)]
    assert dict(row[:2] for row in run("DESCRIBE EXTENDED sales"))["Comment"] == "sold"
    assert run("SHOW COLUMNS FROM sales") == [("id",), ("dt",), ("amount",), ("ts",)]
    assert ("merge-engine", "partial-update") in run("SHOW TBLPROPERTIES sales")


def test_show_create_makes_the_same_table_again(run):
    run(DEFINE)
    first = run.wb.table("sales").schema
    again = run("SHOW CREATE TABLE sales")[0][0]
    run("DROP TABLE sales")
    run(again)
    second = run.wb.table("sales").schema
    assert (second.fields, second.primary_keys, second.partition_keys, second.options, second.comment) == (
        first.fields, first.primary_keys, first.partition_keys, first.options, first.comment,
    )  # fmt: skip


def test_spark_form_of_the_same(run):
    run(
        """CREATE TABLE s (id BIGINT NOT NULL, dt STRING, v DOUBLE COMMENT 'x') USING paimon PARTITIONED BY (dt)
           TBLPROPERTIES ('primary-key' = 'id,dt', 'bucket' = '2') COMMENT 'c'"""
    )
    table = run.wb.table("s")
    assert (table.primary_keys, table.partition_keys, dict(table.schema.options)) == (
        ("id", "dt"),
        ("dt",),
        {"bucket": "2"},
    )


def test_like(run):
    run(DEFINE)
    run("CREATE TABLE twin LIKE sales; CREATE TABLE other LIKE sales WITH ('bucket' = '5')")
    assert run.wb.table("twin").schema.fields == run.wb.table("sales").schema.fields
    assert run.wb.table("other").schema.options["bucket"] == "5"


def test_alter_step_by_step(run):
    run("CREATE TABLE t (id INT, a INT, b STRING, PRIMARY KEY (id) NOT ENFORCED)")
    for text in (
        "ALTER TABLE t ADD c DOUBLE COMMENT 'new' AFTER id",
        "ALTER TABLE t ADD COLUMNS (d INT, e ROW<x INT>)",
        "ALTER TABLE t MODIFY a BIGINT",
        "ALTER TABLE t ALTER COLUMN b COMMENT 'text'",
        "ALTER TABLE t RENAME COLUMN a TO aa",
        "ALTER TABLE t RENAME b TO bb",
        "ALTER TABLE t DROP COLUMN d",
        "ALTER TABLE t SET ('snapshot.num-retained.max' = '70')",
        "ALTER TABLE t SET TBLPROPERTIES ('write-only' = 'true')",
        "ALTER TABLE t RESET ('write-only')",
        "ALTER TABLE t ADD COLUMN e.y STRING",
        "ALTER TABLE t ALTER COLUMN aa FIRST",
    ):
        assert said(run(text)).startswith("table default.t altered: schema"), text
    schema = run.wb.table("t").schema
    assert [(f.name, str(f.type), f.description) for f in schema.fields] == [
        ("aa", "BIGINT", None),
        ("id", "INT NOT NULL", None),
        ("c", "DOUBLE", "new"),
        ("bb", "STRING", "text"),
        ("e", "ROW<`x` INT, `y` STRING>", None),
    ]
    assert (schema.id, dict(schema.options)) == (12, {"snapshot.num-retained.max": "70"})
    assert said(run("ALTER TABLE t RENAME TO u")) == "table default.t altered: renamed to default.u"
    assert run("SHOW TABLES") == [("default", "u", False)]


def test_rows_by_partition_tags_and_branches(run):
    run("CREATE TABLE t (id INT, dt STRING) PARTITIONED BY (dt)")
    run.wb.table("t").append(pa.table({"id": pa.array([1, 2, 3], pa.int32()), "dt": ["a", "b", "b"]}))
    assert run("SHOW PARTITIONS t") == [("dt=a",), ("dt=b",)]
    assert run("SHOW PARTITIONS t PARTITION (dt = 'b')") == [("dt=b",)]
    assert said(run("ALTER TABLE t CREATE TAG one")) == "table default.t altered: tag one"
    assert said(run("ALTER TABLE t CREATE TAG IF NOT EXISTS one AS OF VERSION 1 RETAIN 1 DAYS"))
    assert said(run("ALTER TABLE t RENAME TAG one TO uno")) == "table default.t altered: tag one renamed to uno"
    assert run("SHOW TAGS t") == [("uno",)]
    dropped = run.wb.run("ALTER TABLE t DROP PARTITION (DT = 'a')")
    assert (said([tuple(dropped.arrow.to_pylist()[0].values())]), dropped.snapshots) == (
        "table default.t altered: partitions dropped", [("default.t", 2)],
    )  # fmt: skip
    assert said(run("ALTER TABLE t DROP IF EXISTS PARTITION (dt = 'zz')")) == (
        "table default.t altered: no such partition, nothing dropped"
    )
    with pytest.raises(UnknownName, match=r"no partition \(dt = zz\)"):
        run("ALTER TABLE t DROP PARTITION (dt = 'b'), PARTITION (dt = 'zz')")
    assert run("SHOW PARTITIONS t") == [("dt=b",)]
    assert said(run("TRUNCATE TABLE t PARTITION (dt = 'b')")) == "default.t truncated"
    assert run.wb.table("t").to_arrow().num_rows == 0
    assert run.wb.table("t", **{"scan.tag-name": "uno"}).to_arrow().num_rows == 3
    assert said(run("ALTER TABLE t DELETE TAG uno")) == "table default.t altered: tag uno deleted"


def test_truncate_tells_its_snapshot(run):
    run("CREATE TABLE t (id INT)")
    run.wb.table("t").append(pa.table({"id": pa.array([1], pa.int32())}))
    result = run.wb.run("TRUNCATE TABLE t")
    assert result.snapshots == [("default.t", 2)]
    assert run.wb.table("t").to_arrow().num_rows == 0


def test_a_dropped_table_comes_back(run):
    run("CREATE TABLE t (id INT)")
    run.wb.table("t").append(pa.table({"id": pa.array([1], pa.int32())}))
    result = run.wb.run("DROP TABLE t")
    assert result.notes == ["in the trash; UNDROP TABLE default.t restores it"]
    assert said(run("DROP TABLE IF EXISTS t")) == "no table default.t"
    assert said(run("UNDROP TABLE t")) == "table default.t restored"
    assert run.wb.table("t").to_arrow().num_rows == 1
    assert run.wb.run("DROP TABLE t PURGE").notes == ["permanently deleted"]
    with pytest.raises(Exception, match="t"):
        run("UNDROP TABLE t")


def test_settings(run):
    assert run("SET 'execution.runtime-mode' = 'batch'") == [("execution.runtime-mode", "batch")]
    assert run("SET 'paimon.*.*.t.scan.snapshot-id' = '1'") == [("paimon.*.*.t.scan.snapshot-id", "1")]
    assert run("SET 'my.secret-key' = 'xyz'") == [("my.secret-key", "***")]
    assert ("execution.runtime-mode", "batch") in run("SET")
    assert run("SET 'execution.runtime-mode'") == [("execution.runtime-mode", "batch")]
    assert run.wb.run("SET 'table.exec.mini-batch.enabled' = 'true'").notes
    assert said(run("RESET 'execution.runtime-mode'")) == "execution.runtime-mode reset"
    assert said(run("RESET")) == "all settings reset"
    assert run("SET") == []


def test_settings_for_one_table_reach_its_reads(run):
    run("CREATE TABLE t (id INT); CREATE TABLE u (id INT)")
    for name in "tu":
        for _ in range(2):
            run.wb.table(name).append(pa.table({"id": pa.array([1], pa.int32())}))
    run("SET 'paimon.paimon.default.t.scan.snapshot-id' = '1'")
    assert [run.wb.table(n).to_arrow().num_rows for n in "tu"] == [1, 2]
    run("SET 'paimon.*.*.*.scan.snapshot-id' = '2'")
    assert [run.wb.table(n).to_arrow().num_rows for n in "tu"] == [1, 2]  # the pattern with names goes before '*'
    run("RESET 'paimon.paimon.default.t.scan.snapshot-id'")
    assert [run.wb.table(n).to_arrow().num_rows for n in "tu"] == [2, 2]


def test_procedures_answer_as_spark_does(run):
    run("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")
    for n in range(3):
        run.wb.table("t").upsert(pa.table({"id": pa.array([n], pa.int32())}))
    assert run("CALL sys.create_tag(table => 't', tag => 'x', snapshot => 2)") == [(True,)]
    assert run("CALL sys.compact(table => 'default.t', options => map('target-file-size', '1 mb'))") == [(True,)]
    result = run.wb.run("CALL sys.expire_snapshots(table => 't', retain_max => 1, retain_min => 1)")
    assert result.arrow.to_pylist() == [{"deleted_snapshots_count": 3}]
    assert run("CALL sys.delete_tag(table => 't', tag => 'x')") == [(True,)]
    assert ("compact",) in run("SHOW PROCEDURES")


def test_explain_of_a_definition(run):
    assert run("EXPLAIN CREATE TABLE t (id INT)") == [("CreateTable: changes metadata only; no job runs",)]
    assert run("SHOW TABLES") == []


def test_temporary_tables_by_path(run, tmp_path):
    run(f"""CREATE TEMPORARY TABLE x (id INT, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('connector' = 'paimon', 'path' = '{tmp_path}/x', 'auto-create' = 'true', 'bucket' = '1')""")
    assert run("SHOW TABLES") == [("", "x", True)]
    assert (tmp_path / "x/schema/schema-0").is_file()
    assert said(run("DROP TEMPORARY TABLE x")) == "temporary table x dropped"
    assert (tmp_path / "x/schema/schema-0").is_file()


@pytest.mark.parametrize(
    ("kind", "values", "literal"),
    [
        ("INT", [7, 8], "7"),
        ("BIGINT", [-7, 8], "-7"),
        ("DATE", [19000, 19001], "DATE '2022-01-08'"),
        ("STRING", ["it's", "b"], "'it''s'"),
        ("STRING", ["a=b/c", "b"], "'a=b/c'"),
        ("STRING", [None, "b"], "NULL"),
        ("BOOLEAN", [True, False], "TRUE"),
    ],
    ids=str,
)
def test_a_partition_goes_by_a_literal_of_its_type(run, kind, values, literal):
    run(f"CREATE TABLE t (id INT, p {kind}) PARTITIONED BY (p)")
    types = {"INT": pa.int32(), "BIGINT": pa.int64(), "DATE": pa.date32(), "STRING": pa.string(), "BOOLEAN": pa.bool_()}
    run.wb.table("t").append(pa.table({"id": pa.array([1, 2], pa.int32()), "p": pa.array(values, types[kind])}))
    run(f"ALTER TABLE t DROP PARTITION (p = {literal})")
    assert run.wb.table("t").to_arrow().column("id").to_pylist() == [2]
