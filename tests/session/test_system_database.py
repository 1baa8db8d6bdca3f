"""The database `sys`, the definitions of system tables, and watermarks in DESCRIBE, as Flink shows them."""

import pytest

from paimon_nb.base.errors import PaimonError, TableNotFound

SCHEMAS_TABLE = """CREATE TABLE `paimon`.`default`.`t$schemas` (
  `schema_id` BIGINT NOT NULL,
  `fields` VARCHAR(2147483647) NOT NULL,
  `partition_keys` VARCHAR(2147483647) NOT NULL,
  `primary_keys` VARCHAR(2147483647) NOT NULL,
  `options` VARCHAR(2147483647) NOT NULL,
  `comment` VARCHAR(2147483647),
  `update_time` TIMESTAMP(3) NOT NULL
) """


def rows(wb, text: str) -> list[dict]:
    return wb.run(text).arrow.to_pylist()


def names(wb, text: str) -> list[str]:
    return [r["tableName"] for r in rows(wb, text)]


def test_the_database_sys_is_used_and_listed(wb):
    wb.run("CREATE TABLE t (a INT) WITH ('bucket' = '2', 'bucket-key' = 'a')")
    for text in ("SHOW TABLES FROM sys", "SHOW TABLES IN sys", "SHOW TABLES IN paimon.sys"):
        assert names(wb, text) == ["all_table_options", "catalog_options"]
    assert names(wb, "SHOW TABLES IN sys LIKE 'all%'") == ["all_table_options"]
    wb.run("USE sys")
    assert names(wb, "SHOW TABLES") == ["all_table_options", "catalog_options"]
    assert {"database_name": "default", "table_name": "t", "key": "bucket", "value": "2"} in rows(
        wb, "SELECT * FROM all_table_options"
    )
    for text in ("CREATE TABLE x (a INT)", "ALTER TABLE all_table_options SET ('bucket' = '5')", "DROP TABLE catalog_options", "CREATE DATABASE sys", "DROP DATABASE sys"):  # fmt: skip
        with pytest.raises(PaimonError):
            wb.run(text)


def test_another_catalogs_sys_is_its_own(wb, tmp_path):
    wb.run(f"CREATE CATALOG other WITH ('type' = 'paimon', 'warehouse' = '{tmp_path}/other')")
    wb.run("CREATE TABLE other.`default`.t (a INT) WITH ('bucket' = '7', 'bucket-key' = 'a')")
    assert {"key": "warehouse", "value": f"{tmp_path}/other"} in rows(wb, "SELECT * FROM other.sys.catalog_options")
    assert {r["value"] for r in rows(wb, "SELECT * FROM other.sys.all_table_options")} >= {"7"}


def test_the_definition_of_a_system_table(wb):
    wb.run("CREATE TABLE t (a INT, b STRING, c BYTES, PRIMARY KEY (a) NOT ENFORCED)")
    text = rows(wb, "SHOW CREATE TABLE t$schemas")[0]["createtab_stmt"]
    assert text == SCHEMAS_TABLE
    text = rows(wb, "SHOW CREATE TABLE sys.catalog_options")[0]["createtab_stmt"]
    assert text == "CREATE TABLE `paimon`.`sys`.`catalog_options` (\n  `key` VARCHAR(2147483647) NOT NULL,\n  `value` VARCHAR(2147483647) NOT NULL\n) "  # fmt: skip
    text = rows(wb, "SHOW CREATE TABLE t$ro")[0]["createtab_stmt"]
    assert text.splitlines()[1:] == [
        "  `a` INT NOT NULL,",
        "  `b` VARCHAR(2147483647),",
        "  `c` VARBINARY(2147483647)",
        ") ",
    ]
    assert [r["col_name"] for r in rows(wb, "DESC sys.all_table_options")] == ["database_name", "table_name", "key", "value"]  # fmt: skip
    for name in ("t$nope", "sys.nope", "nope$files"):
        with pytest.raises(TableNotFound):
            wb.run(f"SHOW CREATE TABLE {name}")


def test_describe_shows_the_watermark(wb):
    wb.run("""
        CREATE TABLE t (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
        CREATE TABLE plain (id INT, ts TIMESTAMP(3))
    """)
    assert [(r["col_name"], r["watermark"]) for r in rows(wb, "DESC t")] == [("id", None), ("ts", "`ts` - INTERVAL '5' SECOND")]  # fmt: skip
    assert "watermark" not in rows(wb, "DESC plain")[0]
    assert [r["watermark"] for r in rows(wb, "DESCRIBE EXTENDED t")][:3] == [None, "`ts` - INTERVAL '5' SECOND", None]


def test_results_of_procedures_in_flinks_mode(wb):
    wb.run("""
        SET 'execution.runtime-mode' = 'batch';
        CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
        INSERT INTO t VALUES (1, 'a'); INSERT INTO t VALUES (2, 'b'); INSERT INTO t VALUES (3, 'c')
    """)

    def result(call: str) -> list[str]:
        return [r["result"] for r in rows(wb, f"CALL sys.{call}")]

    assert result("create_tag('default.t', 'one', 1)") == ["Success"]
    assert result("rename_tag('default.t', 'one', 'two')") == ["Rename [one] to [two] successfully."]
    assert rows(wb, "CALL sys.expire_tags('default.t')") == [{"expired_tags": "No expired tags."}]
    made = rows(wb, "CALL sys.create_tag_from_timestamp('default.t', 'first', 0)")
    assert [{k: v for k, v in r.items() if k != "commit_time"} for r in made] == [
        {"tagName": "first", "snapshot": 1, "watermark": "-9223372036854775808"}
    ]
    assert result("compact_manifest('default.t')") == ["success"]
    assert result("compact('default.t')") == ["Success"]
    assert result("remove_orphan_files('default.t')") == ["0", "0"]
    assert result("rewrite_file_index('default.t')") == ["Success"]
    older = wb.table("t").latest_snapshot().id - 1
    assert result("expire_snapshots(`table` => 'default.t', retain_max => 1, retain_min => 1)") == [str(older)]
    assert result("expire_changelogs('default.t', 1, 1)") == ["0"]
    assert result("expire_changelogs(`table` => 'default.t', delete_all => true)") == ["Delete all separated changelogs success."]  # fmt: skip
    latest = wb.table("t").latest_snapshot().id
    assert rows(wb, f"CALL sys.rollback_to(`table` => 'default.t', snapshot_id => {latest})") == [
        {"previous_snapshot_id": latest, "current_snapshot_id": latest}
    ]
    wb.run("RESET 'execution.runtime-mode'")
    assert rows(wb, "CALL sys.delete_tag(table => 'default.t', tag => 'two')") == [{"result": True}]
