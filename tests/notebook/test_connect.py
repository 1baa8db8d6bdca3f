"""The connection form: what a person types becomes an open catalog, a cell without secrets, and an entry of the recent ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hostile import PAYLOADS

from paimon_nb.base.errors import BadOptionValue, PaimonError, UnknownName
from paimon_nb.notebook import recent_connections
from paimon_nb.notebook.connection_model import (
    KINDS,
    catalog_name,
    catalog_options,
    cell_of,
    create_statement,
    folder_note,
)
from paimon_nb.notebook.magics.active import current
from paimon_nb.notebook.magics.connect_form import ConnectForm
from paimon_nb.sql import parse
from paimon_nb.workbench import connect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shell_kit import Shell

SECRET = "hunter2-is-long"
FILLED = {
    "filesystem": {"warehouse": "my lake"},
    "s3": {"warehouse": "s3://b/p", "s3.access-key": SECRET, "s3.secret-key": SECRET},
    "jdbc": {"uri": "jdbc:sqlite:x.db", "warehouse": "w", "jdbc.password": SECRET},
    "hive": {"uri": "thrift://h:9083", "warehouse": "w's {x}"},
    "rest": {"uri": "https://c.example.com", "token": SECRET},
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(current, "workbench", None)
    yield tmp_path
    if current.workbench is not None:
        current.workbench.close()


class Form:
    """A page that shows the form."""

    def __init__(self) -> None:
        self.changes = 0
        current.on_catalogs_changed = self._changed
        self.widget = ConnectForm()
        self.heard: list[Any] = []
        self.widget.send = self._hear

    def _hear(self, content: Any, _buffers: Any = None) -> None:
        self.heard.append(content)

    def _changed(self) -> None:
        self.changes += 1

    def asks(self, message: Any) -> list[Any]:
        self.heard.clear()
        self.widget._on_message(None, message, [])
        return list(self.heard)

    def connects(self, kind: str, values: dict[str, str], name: str = "") -> str:
        """What the form says then."""
        self.asks({"connect": kind, "name": name, "values": values})
        return str(self.widget.view["done"])


def test_a_warehouse_is_made_and_opened_again(home: Path) -> None:
    form = Form()
    assert form.asks({"look": "lake"}) == [{"note": "This folder does not exist yet: it is made with the first table."}]
    assert form.connects("filesystem", {"warehouse": "lake"}).endswith("lake: 0 tables in 1 database.")
    assert current.workbench is not None
    current.workbench.run("CREATE TABLE t (a INT)")
    assert form.asks({"look": "lake"}) == [{"note": "This folder is a warehouse: 1 table in 1 database."}]
    assert form.connects("filesystem", {"warehouse": "lake"}).endswith("lake: 1 table in 1 database.")
    assert form.widget.view["recent"] == [
        {"kind": "filesystem", "name": "", "values": {"warehouse": str(home / "lake")}}
    ]
    assert form.changes == 2


def test_a_catalog_of_another_kind_is_added_and_used(home: Path) -> None:
    form = Form()
    values = {"uri": f"jdbc:sqlite:{home / 'lake.db'}", "warehouse": str(home / "files"), "jdbc.password": SECRET}
    assert form.connects("jdbc", values).startswith(f"Connected to {home / 'files'}")
    assert current.workbench is not None
    assert current.workbench.session.current_catalog == "lake"
    assert form.connects("jdbc", {**values, "uri": f"jdbc:sqlite:{home / 'b.db'}"}, "other")
    assert sorted(current.workbench.session.catalogs) == ["lake", "other", "paimon"]
    stored = (home / "ipython" / "paimon-nb-connections.json").read_text()
    assert SECRET not in stored
    assert [found["name"] for found in json.loads(stored)] == ["other", "lake"]
    assert SECRET not in json.dumps(form.widget.get_state()["view"])


@pytest.mark.parametrize("kind", KINDS)
def test_the_cell_opens_the_same_and_has_no_secret(kind: str) -> None:
    options = catalog_options(kind, FILLED[kind])
    cell = cell_of(kind, "lake", options)
    assert SECRET not in cell
    assert cell.startswith(("%paimon connect ", "%%paimon\n", "import os\n"))
    parse(create_statement("lake", options))
    if cell.startswith("import os"):
        line = cell.split("wb.run(f", 1)[1].rsplit(")\nwb.run", 1)[0]
        names = {"S3_ACCESS_KEY": SECRET, "S3_SECRET_KEY": SECRET, "JDBC_PASSWORD": SECRET, "TOKEN": SECRET}
        text = eval(f"f{line}", {"os": type("os", (), {"environ": names})})
        assert text == create_statement("lake", options)


def test_a_slip_is_a_sentence_and_changes_nothing() -> None:
    form = Form()
    for kind, values, name in (("filesystem", {"warehouse": " "}, ""), ("evil", {}, ""), ("s3", FILLED["s3"], "a b")):
        form.asks({"connect": kind, "name": name, "values": values})
        assert form.widget.trouble
        assert form.widget.is_refused
    assert form.changes == 0
    with pytest.raises(BadOptionValue, match="folder is empty"):
        catalog_options("filesystem", {})
    with pytest.raises(BadOptionValue, match="not the address of a bucket"):
        catalog_options("s3", {"warehouse": "folder"})
    with pytest.raises(UnknownName):
        catalog_name("x;y", {})
    assert catalog_name("", {"lake": 1, "lake_2": 1}) == "lake_3"


@pytest.mark.parametrize(
    "message",
    [None, {"look": 5}, {"connect": "s3"}, {"connect": "s3", "name": "", "values": {"warehouse": 5}}, {"cell": [], "name": "", "values": {}}],
    ids=str,
)  # fmt: skip
def test_an_unexpected_message_changes_nothing(message: Any) -> None:
    form = Form()
    before = dict(form.widget.view)
    assert form.asks(message) == []
    assert form.widget.view == before


@pytest.mark.parametrize("text", PAYLOADS)
def test_hostile_paths_stay_texts(text: str) -> None:
    form = Form()
    form.asks({"look": text})
    try:
        options = catalog_options("hive", {"uri": text, "warehouse": text})
    except PaimonError:
        return
    (statement,) = parse(create_statement("lake", options))
    assert text.strip() in dict(statement.options).values()  # type: ignore[attr-defined]


@pytest.mark.parametrize("stored", ["", "{", '[1, {}, {"kind": "x", "name": "", "values": {}}]', "[" * 100_000])
def test_a_file_of_others_has_no_recent_ones(home: Path, stored: str) -> None:
    (home / "ipython").mkdir()
    (home / "ipython" / "paimon-nb-connections.json").write_text(stored)
    assert recent_connections.recent() == []
    recent_connections.remember("filesystem", "", {"warehouse": "w"})
    assert len(recent_connections.recent()) == 1


def test_what_a_folder_has(home: Path) -> None:
    (home / "empty").mkdir()
    (home / "file").write_text("")
    with connect(str(home / "two")) as wb:
        wb.run("CREATE DATABASE d; CREATE TABLE d.t (a INT); CREATE TABLE d.u (a INT)")
    assert [folder_note(name).split(":")[-1].split(".")[0].strip() for name in ("empty", "file", "two", "s3://b/x", "")] == [
        "they come into it", "This is a file, not a folder", "2 tables in 1 database", "", "",
    ]  # fmt: skip


def test_bare_connect_is_a_form_in_a_front_end(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shell.printed("%paimon connect lake") == "connected to lake\n"
    monkeypatch.setattr("paimon_nb.notebook.magics.paimon.has_front_end", lambda: True)
    form = shell.value("%paimon connect")
    assert "application/vnd.jupyter.widget-view+json" in form._repr_mimebundle_()[0]
    shell.value("%paimon connect other")
    assert [r["values"]["warehouse"].rsplit("/", 1)[-1] for r in recent_connections.recent()] == ["other"]
