"""The home card of bare `%paimon`: its content, damaged tables, many tables, and the text without a front end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shell_kit import KEYED, Shell, rows

import paimon_nb.notebook.home_model as model
from paimon_nb.notebook.home_model import home_of
from paimon_nb.notebook.widgets.home import HomeCard

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from paimon_nb.workbench import Workbench


def test_it_lists_tables_and_the_newest_commits(wb: Workbench) -> None:
    for name in ("a", "b"):
        wb.run(KEYED.format(name))
    wb.run(KEYED.format("empty"))
    for name, ids in (("a", [1, 2]), ("b", [1]), ("a", [2])):
        wb.table(name).upsert(rows(ids))
    home = home_of(wb)
    assert [(t.name, t.rows, t.commit) for t in home.tables] == [
        ("a", 3, "just now"), ("b", 1, "just now"), ("empty", None, ""),
    ]  # fmt: skip
    assert home.tables[0].kind.startswith("primary-key table · deduplicate")
    assert {(c.table, c.snapshot, c.rows) for c in home.commits} == {("a", 1, 2), ("b", 1, 1), ("a", 2, 1)}
    assert [c.time_ms for c in home.commits] == sorted((c.time_ms for c in home.commits), reverse=True)
    assert str(home).splitlines()[-1] == "tables     a, b, empty"
    assert not wb.session.spark_started


def test_a_damaged_table_is_shown_with_its_error(wb: Workbench, tmp_path: Path) -> None:
    for name in ("bad", "good"):
        wb.run(KEYED.format(name))
        wb.table(name).upsert(rows([1]))
    (snapshot,) = (tmp_path / "wh" / "default.db" / "bad" / "snapshot").glob("snapshot-*")
    snapshot.write_text("{")
    found = {t.name: bool(t.error) for t in home_of(wb).tables}
    assert found == {"bad": True, "good": False}


def test_many_tables_are_counted(wb: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MAX_TABLES", 2)
    for name in ("a", "b", "c"):
        wb.run(f"CREATE TABLE {name} (id INT)")
    card = HomeCard(wb)
    assert [t["name"] for t in card.view["tables"]] == ["a", "b"]
    assert card.view["more"] == "1 more table: %paimon tables lists all"


def test_it_follows_the_warehouse_and_ignores_other_messages(wb: Workbench) -> None:
    card = HomeCard(wb)
    assert card.view["tables"] == []
    wb.run("CREATE TABLE `odd name` (id INT)")
    card.on_message({"insert": "DROP TABLE x"})
    assert card.view["tables"] == []
    card.on_message({"reload": True})
    (table,) = card.view["tables"]
    assert (table["explore"], table["select"]) == ("", "%%paimon\nSELECT * FROM `odd name`")


def test_without_a_front_end_it_is_text(shell: Shell) -> None:
    shell.value("%%paimon\nCREATE TABLE t (id INT)")
    assert "tables     t" in shell.printed("%paimon").splitlines()
