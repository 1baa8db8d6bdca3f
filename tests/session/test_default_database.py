"""The database that a catalog puts a session into."""

from pathlib import Path

import pytest

import paimon_nb
from paimon_nb.base.errors import UnsupportedOperation


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
