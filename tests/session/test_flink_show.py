"""SHOW, DESCRIBE and SHOW CREATE TABLE in Flink's mode: the columns, types and clauses that Flink 1.20 prints."""

from __future__ import annotations

import pytest

MADE = """CREATE TABLE orders (id INT NOT NULL, `full name` STRING COMMENT 'it''s', raw BYTES, ts TIMESTAMP(3), at TIMESTAMP_LTZ(6),
    r ROW<a INT, s STRING>, tags ARRAY<STRING NOT NULL>, m MAP<STRING, ARRAY<BYTES>>, next AS id + 1 COMMENT 'plus',
    loud AS UPPER(`full name`), dt DATE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id, dt) NOT ENFORCED)
    COMMENT 'all of them' PARTITIONED BY (dt) WITH ('bucket' = '2', 'a.b' = 'it''s')"""
COLUMNS = """  `id` INT NOT NULL,
  `full name` VARCHAR(2147483647) COMMENT 'it''s',
  `raw` VARBINARY(2147483647),
  `ts` TIMESTAMP(3),
  `at` TIMESTAMP(6) WITH LOCAL TIME ZONE,
  `r` ROW<`a` INT, `s` VARCHAR(2147483647)>,
  `tags` ARRAY<VARCHAR(2147483647) NOT NULL>,
  `m` MAP<VARCHAR(2147483647), ARRAY<VARBINARY(2147483647)>>,
  `next` AS `id` + 1 COMMENT 'plus',
  `loud` AS UPPER(`full name`),
  `dt` DATE NOT NULL,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `PK_id_dt` PRIMARY KEY (`id`, `dt`) NOT ENFORCED
"""
CREATED = f"""CREATE TABLE `paimon`.`default`.`orders` (
{COLUMNS}) COMMENT 'all of them'
PARTITIONED BY (`dt`)
WITH (
  'bucket' = '2',
  'a.b' = 'it''s'
)
"""


def rows(wb, text):
    return [tuple(r.values()) for r in wb.run(text).arrow.to_pylist()]


@pytest.fixture
def flink(wb):
    wb.run("SET 'execution.runtime-mode' = 'batch'")
    return wb


@pytest.mark.spark
def test_create_table_as_flink_writes_it(swb):
    swb.run("SET 'execution.runtime-mode' = 'batch'")
    swb.run(MADE)
    assert rows(swb, "SHOW CREATE TABLE orders") == [(CREATED,)]
    swb.run(CREATED.replace("`orders`", "`again`"))
    assert rows(swb, "SHOW CREATE TABLE again") == [(CREATED.replace("`orders`", "`again`"),)]
    log = rows(swb, "SHOW CREATE TABLE `orders$audit_log`")[0][0]
    assert log.startswith(
        "CREATE TABLE `paimon`.`default`.`orders$audit_log` (\n  `rowkind` VARCHAR(2147483647),\n  `id` INT NOT NULL"
    )
    end = "  `dt` DATE NOT NULL,\n  `next` AS `id` + 1 COMMENT 'plus',\n  `loud` AS UPPER(`full name`),\n"
    assert log.endswith(end + "  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND\n) ")
    described = swb.run("DESC orders").arrow
    assert described.column_names == ["name", "type", "null", "key", "extras", "watermark", "comment"]
    key = "PRI(id, dt)"
    assert rows(swb, "DESC orders") == [
        ("id", "INT", False, key, None, None, None), ("full name", "STRING", True, None, None, None, "it's"),
        ("raw", "BYTES", True, None, None, None, None), ("ts", "TIMESTAMP(3)", True, None, None, "`ts` - INTERVAL '5' SECOND", None),
        ("at", "TIMESTAMP_LTZ(6)", True, None, None, None, None), ("r", "ROW<`a` INT, `s` STRING>", True, None, None, None, None),
        ("tags", "ARRAY<STRING NOT NULL>", True, None, None, None, None),
        ("m", "MAP<STRING, ARRAY<BYTES>>", True, None, None, None, None),
        ("next", "INT", True, None, "AS `id` + 1", None, "plus"), ("loud", "STRING", True, None, "AS UPPER(`full name`)", None, None),
        ("dt", "DATE", False, key, None, None, None),
    ]  # fmt: skip


def test_a_plain_table(flink):
    flink.run("CREATE TABLE t (a INT, b STRING)")
    plain = "CREATE TABLE `paimon`.`default`.`t` (\n  `a` INT,\n  `b` VARCHAR(2147483647)\n) "
    assert rows(flink, "SHOW CREATE TABLE t") == [(plain,)]
    assert flink.run("DESCRIBE t").arrow.to_pylist() == [
        {"name": "a", "type": "INT", "null": True, "key": None, "extras": None, "watermark": None},
        {"name": "b", "type": "STRING", "null": True, "key": None, "extras": None, "watermark": None},
    ]
    assert rows(flink, "DESCRIBE t b") == [("b", "STRING", True, None, None, None)]
    assert rows(flink, "SHOW COLUMNS FROM t LIKE '%a%'") == [("a", "INT", True, None, None, None)]
    assert rows(flink, "DESC `t$tags`")[0] == ("tag_name", "STRING", False, None, None, None)
    flink.run("CREATE TEMPORARY TABLE g (x INT COMMENT 'c', y BIGINT) WITH ('connector' = 'datagen')")
    assert rows(flink, "DESC g") == [
        ("x", "INT", True, None, None, None, "c"),
        ("y", "BIGINT", True, None, None, None, None),
    ]
    assert not flink.session.spark_started


def test_lists_have_one_column(flink):
    flink.run("CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p); INSERT INTO t VALUES (1, 'x')")
    flink.run("CREATE TEMPORARY TABLE g (x INT) WITH ('connector' = 'datagen')")
    shown = {
        "TABLES": {"table name": "g"}, "DATABASES": {"database name": "default"}, "CATALOGS": {"catalog name": "paimon"},
        "CURRENT CATALOG": {"current catalog name": "paimon"}, "CURRENT DATABASE": {"current database name": "default"},
        "PARTITIONS t": {"partition name": "p=x"},
    }  # fmt: skip
    assert {what: flink.run(f"SHOW {what}").arrow.to_pylist()[0] for what in shown} == shown
    assert rows(flink, "SHOW TABLES") == [("g",), ("t",)]
    flink.run("USE sys")
    assert rows(flink, "SHOW TABLES LIKE '%options'") == [("all_table_options",), ("catalog_options",)]


def test_without_flinks_mode_the_answers_are_sparks(wb):
    wb.run("CREATE TABLE t (a INT, b STRING)")
    assert rows(wb, "SHOW TABLES") == [("default", "t", False)]
    assert wb.run("DESC t").arrow.column_names[:3] == ["col_name", "data_type", "comment"]
    assert rows(wb, "SHOW CREATE TABLE t") == [("CREATE TABLE `default`.`t` (\n  `a` INT,\n  `b` STRING\n)",)]
