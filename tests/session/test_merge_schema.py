"""MERGE INTO under `spark.paimon.write.merge-schema`: what the source has and the table lacks, and the other way round."""

from collections.abc import Iterator

import pytest
from sampling import sampled

from paimon_nb.base.errors import ColumnNotFound, SchemaMismatch

pytestmark = pytest.mark.spark

KEYS = "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')"


@pytest.fixture
def merging(swb) -> Iterator:
    swb.run("SET spark.paimon.write.merge-schema = true")
    yield swb
    swb.run("RESET spark.paimon.write.merge-schema")


def rows(wb, text: str) -> list[tuple]:
    return sorted((tuple(r) for r in wb.sql(text).collect()), key=repr)


def merge(source: str, clauses: str = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *") -> str:
    return f"MERGE INTO t USING ({source}) s ON t.id = s.id {clauses}"


@pytest.mark.parametrize("keys", sampled([KEYS, ""], 2), ids=["key", "append"])
def test_columns_that_only_the_source_has(merging, keys):
    merging.run(f"CREATE TABLE t (id INT, name STRING) {keys}; INSERT INTO t VALUES (1, 'a'), (5, 'e')")
    merging.run(merge("SELECT 1 AS id, 'A' AS name, 'upd' AS op UNION ALL SELECT 2, 'b', 'ins'"))
    assert rows(merging, "SELECT * FROM t") == [(1, "A", "upd"), (2, "b", "ins"), (5, "e", None)]


@pytest.mark.parametrize("keys", sampled(["", KEYS], 2), ids=["append", "key"])
def test_columns_that_only_the_table_has(merging, keys):
    merging.run(f"CREATE TABLE t (id INT, name STRING, n INT DEFAULT 7) {keys}; INSERT INTO t VALUES (1, 'a', 1)")
    merging.run(merge("SELECT 1 AS id, 'A' AS name UNION ALL SELECT 2, 'b'"))
    assert rows(merging, "SELECT * FROM t") == [(1, "A", 1), (2, "b", 7)]


@pytest.mark.parametrize("keys", sampled([KEYS, ""], 2), ids=["key", "append"])
def test_nested_fields_come_in_and_stay(merging, keys):
    merging.run(f"""
        CREATE TABLE t (id INT, info STRUCT<a: STRING, b: STRING, in: STRUCT<x: INT, y: INT>>) {keys};
        INSERT INTO t VALUES (1, struct('a', 'b', struct(1, 2))), (3, struct('c', 'd', NULL)), (4, NULL)
    """)
    info = "named_struct('c', {0}, 'a', 'n{0}', 'in', named_struct('y', {0}))"
    source = " UNION ALL ".join(f"SELECT {i} AS id, {info.format(i)} AS info" for i in (1, 2, 4))
    merging.run(merge(source))
    assert rows(merging, "SELECT id, info.a, info.b, info.in.x, info.in.y, info.c FROM t") == [
        (1, "n1", "b", 1, 1, 1), (2, "n2", None, None, 2, 2), (3, "c", "d", None, None, None), (4, "n4", None, None, 4, 4),
    ]  # fmt: skip


def test_a_null_struct_of_the_source_is_null(merging):
    merging.run(
        f"CREATE TABLE t (id INT, info STRUCT<a: STRING, b: STRING>) {KEYS}; INSERT INTO t VALUES (1, struct('a', 'b'))"
    )
    merging.run(merge("SELECT 1 AS id, CAST(NULL AS STRUCT<b: STRING, a: STRING>) AS info"))
    assert rows(merging, "SELECT * FROM t") == [(1, None)]


@pytest.mark.nightly
def test_named_columns_evolve_where_the_source_alone_has_them(merging):
    merging.run(f"CREATE TABLE t (id INT, name STRING) {KEYS}; INSERT INTO t VALUES (1, 'a')")
    source = "SELECT 1 AS id, 'A' AS name, 9 AS extra, 1 AS unused UNION ALL SELECT 2, 'b', 8, 2"
    merging.run(
        merge(source, "WHEN MATCHED THEN UPDATE SET extra = s.extra WHEN NOT MATCHED THEN INSERT (id, extra) VALUES (s.id, s.extra)")
    )  # fmt: skip
    assert rows(merging, "SELECT * FROM t") == [(1, "a", 9), (2, None, 8)]
    merging.run(merge(source, "WHEN MATCHED THEN DELETE"))
    assert list(merging.table("t").schema.names) == ["id", "name", "extra"]


@pytest.mark.nightly
def test_elements_of_arrays_take_their_fields_by_name(merging):
    merging.run(f"CREATE TABLE t (id INT, l ARRAY<STRUCT<a: STRING, b: INT>>) {KEYS}; INSERT INTO t VALUES (1, NULL)")
    merging.run(merge("SELECT 1 AS id, array(named_struct('b', 1, 'a', 'x', 'c', true)) AS l"))
    merging.run(merge("SELECT 2 AS id, array(named_struct('b', 2)) AS l"))
    assert rows(merging, "SELECT id, l[0].a, l[0].b, l[0].c FROM t") == [(1, "x", 1, True), (2, None, 2, None)]


def test_a_struct_that_is_assigned_lacks_fields(merging):
    merging.run(
        f"CREATE TABLE t (id INT, info STRUCT<a: STRING, b: STRING>) {KEYS}; INSERT INTO t VALUES (1, struct('a', 'b'))"
    )
    merging.run("UPDATE t SET info = named_struct('b', 'B') WHERE id = 1")
    assert rows(merging, "SELECT info.a, info.b FROM t") == [(None, "B")]


@pytest.mark.nightly
def test_without_the_setting_nothing_evolves(swb):
    swb.run(
        f"CREATE TABLE t (id INT, info STRUCT<a: STRING, b: STRING>, n INT) {KEYS}; INSERT INTO t VALUES (1, NULL, 1)"
    )
    with pytest.raises(ColumnNotFound, match="'n'"):
        swb.run(merge("SELECT 1 AS id, CAST(NULL AS STRUCT<a: STRING, b: STRING>) AS info"))
    with pytest.raises(SchemaMismatch, match="'info'"):
        swb.run(merge("SELECT 1 AS id, named_struct('a', 'x') AS info, 1 AS n"))
    swb.run(merge("SELECT 1 AS id, named_struct('b', 'y', 'a', 'x') AS info, 2 AS n, 'more' AS dropped"))
    assert rows(swb, "SELECT id, info.a, info.b, n FROM t") == [(1, "x", "y", 2)]


@pytest.mark.nightly
def test_a_table_merged_with_itself_by_row_id(merging):
    merging.run("""
        CREATE TABLE t (id INT, v STRING) TBLPROPERTIES ('row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true');
        INSERT INTO t VALUES (1, 'a'), (2, 'b');
        MERGE INTO t USING t AS s ON t._ROW_ID = s._ROW_ID WHEN MATCHED THEN UPDATE SET v = concat(s.v, s._ROW_ID)
    """)
    assert rows(merging, "SELECT id, v, _ROW_ID FROM t") == [(1, "a0", 0), (2, "b1", 1)]
