"""Views of a JDBC catalog: rows of `paimon_views` as Java 2.1 writes them."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import pytest

import paimon_nb
from paimon_nb.base.errors import (
    AlreadyExists,
    PaimonError,
    StoreError,
    TableNotFound,
    UnknownName,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    return connect(tmp_path)


def connect(place: Path) -> paimon_nb.Workbench:
    return paimon_nb.connect(str(place / "w"), options={"metastore": "jdbc", "uri": f"jdbc:sqlite:{place}/c.db"})


def stored(place: Path) -> dict[str, dict[str, object]]:
    with sqlite3.connect(f"{place}/c.db") as connection:
        rows = connection.execute("SELECT view_name, view_schema FROM paimon_views").fetchall()
    return {name: json.loads(text) for name, text in rows}


def names(wb: paimon_nb.Workbench) -> list[str]:
    return sorted(
        r["viewName"] if "viewName" in r else next(iter(r.values())) for r in wb.run("SHOW VIEWS").arrow.to_pylist()
    )


@pytest.fixture
def view(wb: paimon_nb.Workbench, tmp_path: Path) -> paimon_nb.Workbench:
    """A view as another engine stored it, of a table with two rows."""
    wb.run("CREATE TABLE t (a INT, b STRING); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    definition = {
        "fields": [{"id": 0, "name": "a", "type": "INT"}], "query": "SELECT a FROM t WHERE a > 1", "dialects": {},
        "comment": None, "options": {},
    }  # fmt: skip
    with sqlite3.connect(f"{tmp_path}/c.db") as connection:
        connection.execute("INSERT INTO paimon_views VALUES ('jdbc', 'default', 'v', ?)", (json.dumps(definition),))
    return wb


def test_a_view_of_another_engine_is_read_and_dropped(view: paimon_nb.Workbench, tmp_path: Path) -> None:
    assert view.run("SELECT * FROM v").arrow.to_pylist() == [{"a": 2}]
    assert view.run("SELECT COUNT(*) AS n FROM v JOIN t ON v.a = t.a").arrow.to_pylist() == [{"n": 1}]
    assert names(view) == ["v"]
    assert names(connect(tmp_path)) == ["v"]
    view.run("DROP VIEW v")
    assert names(view) == []
    view.run("DROP VIEW IF EXISTS v")
    with pytest.raises(PaimonError):
        view.run("DROP VIEW v")
    with pytest.raises(TableNotFound):
        view.run("SELECT * FROM v")


def test_tables_and_views_share_names(view: paimon_nb.Workbench) -> None:
    with pytest.raises(AlreadyExists, match="is a view already"):
        view.run("CREATE TABLE v (a INT)")
    with pytest.raises(AlreadyExists, match="is a view already"):
        view.run("ALTER TABLE t RENAME TO v")
    catalog = view.session.catalog
    found = catalog.view(Identifier("default", "v"))
    assert found is not None
    for name, kind in (("v", "a view"), ("t", "a table")):
        with pytest.raises(AlreadyExists, match=f"is {kind} already"):
            catalog.create_view(Identifier("default", name), found)


def test_what_is_stored_is_javas(view: paimon_nb.Workbench, tmp_path: Path) -> None:
    catalog = view.session.catalog
    found = catalog.view(Identifier("default", "v"))
    assert found is not None
    catalog.create_view(Identifier("default", "copy"), found)
    assert stored(tmp_path)["copy"] == stored(tmp_path)["v"]
    catalog.alter_view_dialect(Identifier("default", "copy"), "add", "spark", "SELECT 1 AS a")
    catalog.alter_view_dialect(Identifier("default", "copy"), "update", "spark", "SELECT 7 AS a")
    assert stored(tmp_path)["copy"]["dialects"] == {"spark": "SELECT 7 AS a"}
    with pytest.raises(UnknownName, match="has a query in the dialect"):
        catalog.alter_view_dialect(Identifier("default", "copy"), "add", "spark", "SELECT 1 AS a")
    catalog.alter_view_dialect(Identifier("default", "copy"), "drop", "spark", None)
    with pytest.raises(UnknownName, match="has no query in the dialect"):
        catalog.alter_view_dialect(Identifier("default", "copy"), "drop", "spark", None)
    assert stored(tmp_path)["copy"] == stored(tmp_path)["v"]


def test_a_broken_definition_is_named(view: paimon_nb.Workbench, tmp_path: Path) -> None:
    with sqlite3.connect(f"{tmp_path}/c.db") as connection:
        connection.execute("""UPDATE paimon_views SET view_schema = '{"query": 1}'""")
    with pytest.raises((StoreError, PaimonError), match="paimon_views"):
        view.session.catalog.view(Identifier("default", "v"))


def test_a_database_with_views_is_dropped_by_cascade_only(wb: paimon_nb.Workbench, tmp_path: Path) -> None:
    wb.run("CREATE DATABASE d")
    with sqlite3.connect(f"{tmp_path}/c.db") as connection:
        connection.execute("INSERT INTO paimon_views VALUES ('jdbc', 'd', 'v', '{}')")
    with pytest.raises(UnsupportedOperation, match=r"has 1 view\(s\)"):
        wb.run("DROP DATABASE d")
    wb.run("DROP DATABASE d CASCADE")
    assert stored(tmp_path) == {}
