"""The connection form with real servers: what a person types opens the catalog, and the cell opens it again elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from paimon_nb.base.redact import is_secret
from paimon_nb.notebook.connection_model import KINDS, catalog_options, cell_of, environment_variable
from paimon_nb.notebook.magics.active import current
from paimon_nb.notebook.magics.connect_form import ConnectForm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from shell_kit import Shell

Request = pytest.FixtureRequest


def _s3(request: Request, folder: Path) -> dict[str, str]:
    return {"warehouse": f"s3://lake/{folder.name}", **request.getfixturevalue("s3")}


def _jdbc(request: Request, folder: Path) -> dict[str, str]:
    from sql_servers import PASSWORD, USER, postgresql

    server = postgresql()
    address = server.__enter__()
    request.addfinalizer(lambda: server.__exit__(None, None, None))
    return {"uri": address, "jdbc.user": USER, "jdbc.password": PASSWORD, "warehouse": str(folder / "files")}


def _hive(request: Request, folder: Path) -> dict[str, str]:
    from hive_server import hive_metastore

    server = hive_metastore(folder)
    address = server.__enter__()
    request.addfinalizer(lambda: server.__exit__(None, None, None))
    return {"uri": address, "warehouse": str(folder / "files")}


def _rest(request: Request, folder: Path) -> dict[str, str]:
    from rest_server import RestServer

    server = RestServer(str(folder / "files"))
    server.__enter__()
    request.addfinalizer(server.__exit__)
    return {**server.options(), "data-file.external-paths": str(folder / "files")}


SERVERS: dict[str, Callable[[Request, Path], dict[str, str]]] = {"s3": _s3, "jdbc": _jdbc, "hive": _hive, "rest": _rest}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", SERVERS)
def test_a_catalog_of_a_server_is_opened_by_form_and_by_cell(
    kind: str, request: Request, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    asked = [field.option for field in KINDS[kind].fields]
    values = {k: v for k, v in SERVERS[kind](request, tmp_path).items() if k in asked}
    form = ConnectForm()
    form.send = lambda *_: None  # no page listens
    form._on_message(None, {"connect": kind, "name": "there", "values": values}, [])
    assert form.trouble == ""
    assert str(form.view["done"]).startswith("Connected to ")
    shell.value("%paimon connect " + str(tmp_path / "here"))
    assert current.workbench is not None
    options = catalog_options(kind, values)
    for option, value in options.items():
        if is_secret(option):
            monkeypatch.setenv(environment_variable(option), value)
    for cell in (cell_of(kind, "again", options), cell_of(kind, "once_more", options)):
        shell.value(cell)
        shell.value("%%paimon\nCREATE TABLE IF NOT EXISTS t (a INT); INSERT INTO t VALUES (1)")
    assert len(current.workbench.table("t").to_arrow()) == 2
