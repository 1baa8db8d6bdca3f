"""Schema merging on write: DataFrames, INSERT BY NAME, and MERGE WITH SCHEMA EVOLUTION."""

import pytest

from paimon_nb.base.errors import ColumnNotFound, PaimonError, SchemaMismatch
from paimon_nb.format.schema import create_schema
from paimon_nb.session.execute.schema_merging import SchemaMerging, merging_changes
from paimon_nb.statements import AddColumn, AlterColumn

PLAIN, WIDE, ANY = SchemaMerging(), SchemaMerging(widen=True), SchemaMerging(widen=True, explicit=True)


def schema(*columns: tuple[str, str]):
    return create_schema([(n, t, None, None) for n, t in columns], (), (), {}, None)


@pytest.mark.parametrize(
    ("own", "new", "how", "wanted"),
    [
        ("INT", "INT", PLAIN, []),
        ("BIGINT", "INT", PLAIN, []),
        ("BIGINT", "INT", WIDE, []),
        ("INT", "BIGINT", PLAIN, []),
        ("INT", "BIGINT", WIDE, [AlterColumn(("a",), type="BIGINT")]),
        ("FLOAT", "DOUBLE", WIDE, [AlterColumn(("a",), type="DOUBLE")]),
        ("BIGINT", "STRING", WIDE, []),
        ("BIGINT", "STRING", ANY, [AlterColumn(("a",), type="STRING")]),
        ("ROW<x INT>", "ROW<x BIGINT, y STRING>", PLAIN, [AddColumn(("a", "y"), "STRING")]),
        ("ROW<x INT>", "ROW<X BIGINT>", WIDE, [AlterColumn(("a", "x"), type="BIGINT")]),
        ("ARRAY<ROW<x INT>>", "ARRAY<ROW<x INT, y INT>>", PLAIN, [AddColumn(("a", "element", "y"), "INT")]),
        ("MAP<STRING, INT>", "MAP<STRING, BIGINT>", WIDE, SchemaMismatch),  # Java has no cast of stored elements
        ("ARRAY<INT>", "ARRAY<BIGINT>", WIDE, SchemaMismatch),
        ("ARRAY<INT>", "ARRAY<BIGINT>", PLAIN, []),
        ("BOOLEAN", "DATE", ANY, SchemaMismatch),
        ("ROW<x INT>", "INT", WIDE, SchemaMismatch),
    ],
    ids=str,
)
def test_what_a_type_becomes(own, new, how, wanted):
    table, rows = schema(("id", "INT"), ("a", own)), schema(("A", new), ("b", "STRING")).fields
    if wanted is SchemaMismatch:
        with pytest.raises(SchemaMismatch, match=r"'a[.']"):
            merging_changes(table, rows, how)
    else:
        assert merging_changes(table, rows, how) == [*wanted, AddColumn(("b",), "STRING")]


def stored(wb) -> list[dict]:
    return sorted(wb.table("t").to_arrow().to_pylist(), key=lambda r: r["id"])


@pytest.mark.spark
def test_dataframes(swb, tmp_path):
    spark = swb.spark
    swb.run(
        "CREATE TABLE t (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1'); INSERT INTO t VALUES (1, 1)"
    )
    more = spark.sql("SELECT 2 AS id, 'x' AS v, 5000000000L AS n")
    with pytest.raises(PaimonError):
        more.write.format("paimon").mode("append").saveAsTable("t")
    assert swb.table("t").schema.id == 0
    given = {"write.merge-schema": "true", "write.merge-schema.type-widening": "true"}
    more.write.format("paimon").mode("append").options(**given).saveAsTable("t")
    assert [str(f.type) for f in swb.table("t").schema.fields] == ["INT NOT NULL", "BIGINT", "STRING"]
    assert stored(swb) == [{"id": 1, "n": 1, "v": None}, {"id": 2, "n": 5000000000, "v": "x"}]
    assert sorted(tuple(r) for r in swb.sql("SELECT * FROM t VERSION AS OF 1").collect()) == [(1, 1)]
    spark.sql("SELECT 3 AS id").write.format("paimon").mode("append").options(**given).saveAsTable("t")
    assert stored(swb)[-1] == {"id": 3, "n": None, "v": None}
    place = str(tmp_path / "p")
    for text in ("SELECT 1 AS id", "SELECT 2 AS id, 'y' AS w"):
        spark.sql(text).write.format("paimon").mode("append").options(**given).save(place)
    assert sorted(tuple(r) for r in spark.read.format("paimon").load(place).collect()) == [(1, None), (2, "y")]


@pytest.mark.spark
def test_insert_by_name(swb):
    swb.run("CREATE TABLE t (id INT)")
    with pytest.raises(ColumnNotFound):
        swb.run("INSERT INTO t BY NAME SELECT 1 AS id, 'x' AS v")
    swb.run("SET spark.paimon.write.merge-schema = true")
    try:
        swb.run("INSERT INTO t BY NAME SELECT 1 AS id, 'x' AS v")
        assert stored(swb) == [{"id": 1, "v": "x"}]
    finally:
        swb.run("RESET spark.paimon.write.merge-schema")


@pytest.mark.spark
@pytest.mark.parametrize("keys", [", PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')", ")"], ids=["key", "append"])
def test_merge_with_schema_evolution(swb, keys):
    swb.run(
        f"CREATE TABLE t (id INT, n INT DEFAULT '7', own STRING{keys}; INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b')"
    )
    source = "(SELECT * FROM VALUES (2, 5000000000L, 'two', true), (3, 3L, 'three', false) AS x(id, n, v, unused)) s"
    star = f"INTO t USING {source} ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    with pytest.raises(ColumnNotFound):
        swb.run(f"MERGE {star}")
    swb.run(f"MERGE WITH SCHEMA EVOLUTION INTO t USING {source} ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v")
    assert stored(swb) == [{"id": 1, "n": 1, "own": "a", "v": None}, {"id": 2, "n": 2, "own": "b", "v": "two"}]
    swb.run(f"MERGE WITH SCHEMA EVOLUTION {star}")
    assert stored(swb) == [
        {"id": 1, "n": 1, "own": "a", "v": None, "unused": None},
        {"id": 2, "n": 5000000000, "own": "b", "v": "two", "unused": True},
        {"id": 3, "n": 3, "own": None, "v": "three", "unused": False},
    ]


@pytest.mark.spark
def test_names_in_another_case_are_other_columns_where_spark_says_so(swb):
    swb.run("""
        CREATE TABLE t (id INT, name STRING) TBLPROPERTIES ('bucket' = '-1');
        INSERT INTO t VALUES (1, 'a');
        SET spark.paimon.write.merge-schema = true
    """)
    try:
        swb.run("INSERT INTO t BY NAME SELECT 2 AS ID, 'b' AS NAME")
        assert swb.table("t").schema.names == ("id", "name")
        swb.run("SET spark.sql.caseSensitive = true")
        swb.run("INSERT INTO t BY NAME SELECT 3 AS ID, 'c' AS name")
        swb.run("MERGE INTO t USING (SELECT 3 AS ID, 4 AS Id) s ON t.ID = s.ID WHEN MATCHED THEN UPDATE SET *")
        got = swb.table("t").to_arrow().to_pydict()
    finally:
        swb.run("RESET spark.sql.caseSensitive; RESET spark.paimon.write.merge-schema")
    rows = sorted(zip(*got.values(), strict=True), key=lambda row: row[1])
    assert tuple(got) == ("id", "name", "ID", "Id")
    assert rows == [(1, "a", None, None), (2, "b", None, None), (None, "c", 3, 4)]
