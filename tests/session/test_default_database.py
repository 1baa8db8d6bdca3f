"""The database that a catalog puts a session into."""

from pathlib import Path

import pytest

import paimon_nb
from paimon_nb.base.errors import TableNotFound, UnsupportedOperation


def catalog(path: Path, options: str) -> paimon_nb.Workbench:
    wb = paimon_nb.connect(f"{path}/first")
    wb.run(f"CREATE CATALOG c WITH ('type' = 'paimon', 'warehouse' = '{path}/c', {options})")
    wb.run("USE CATALOG c")
    return wb


@pytest.mark.parametrize("key", ["default-database", "defaultDatabase"])
def test_its_name_is_the_catalogs_to_say(tmp_path: Path, key: str) -> None:
    wb = catalog(tmp_path, f"'{key}' = 'sales'")
    wb.run("CREATE TABLE t (k INT)")
    assert (tmp_path / "c/sales.db/t/schema").is_dir()
    assert str(wb.table("t").name) == str(wb.table("c.sales.t").name)


def test_a_workbench_begins_there(tmp_path: Path) -> None:
    wb = paimon_nb.connect(f"{tmp_path}/c", options={"default-database": "sales"})
    wb.run("CREATE TABLE t (k INT)")
    assert (tmp_path / "c/sales.db/t/schema").is_dir()


def test_it_may_be_closed_to_tables(tmp_path: Path) -> None:
    wb = catalog(tmp_path, "'disable-create-table-in-default-db' = 'true'")
    with pytest.raises(UnsupportedOperation, match="forbids tables in its default database 'default'"):
        wb.run("CREATE TABLE t (k INT)")
    wb.run("CREATE DATABASE d")
    wb.run("CREATE TABLE d.t (k INT)")
    assert [p.parent.name for p in (tmp_path / "c").rglob("schema")] == ["t"]


@pytest.mark.spark
def test_flinks_default_catalog_holds_connector_tables_and_views(swb):
    """`default_catalog.default_database` is always there in Flink; tables of connectors are made in it."""
    source = "default_catalog.default_database.source"
    swb.run(f"""
        CREATE TABLE `default_catalog`.`default_database`.`source` (id INT) WITH (
            'connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '3'
        );
        CREATE TEMPORARY VIEW default_catalog.default_database.doubled AS SELECT id * 2 AS d FROM {source};
        CREATE TABLE t (id INT, d INT);
        INSERT INTO t SELECT s.id, v.d FROM {source} AS s JOIN default_catalog.default_database.doubled AS v ON v.d = s.id * 2
    """)
    assert sorted(map(tuple, swb.sql("SELECT * FROM t").collect())) == [(1, 2), (2, 4), (3, 6)]
    assert sorted(r[0] for r in swb.sql(f"SELECT source.id FROM {source}").collect()) == [1, 2, 3]
    assert [r["col_name"] for r in swb.run(f"DESC {source}").arrow.to_pylist()] == ["id"]
    swb.run(f"DROP TABLE {source}")
    with pytest.raises(TableNotFound):
        swb.sql(f"SELECT * FROM {source}")
