"""What others may decide: one test for each row of the table in SECURITY.md that has no test elsewhere."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from adversary_kit import Listener
from rest_server import RestServer

import paimon_nb
from paimon_nb.base.errors import OutsideWarehouse, PaimonError
from paimon_nb.catalog.rest.local_folders import check_local_folder
from paimon_nb.connectors.formats import open_decoder
from paimon_nb.connectors.formats.api import FormatOptions
from paimon_nb.format.types import DataField, parse_type

if TYPE_CHECKING:
    from collections.abc import Iterator

REPO = Path(__file__).parents[2]
HOSTILE = [
    "'; DROP TABLE t; --",
    "<script>alert(1)</script>",
    "${jndi:ldap://127.0.0.1/x}",
    "../../etc/passwd",
    "java.lang.System",
    "{{7*7}}",
]


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as server:
        yield server
        server.shutdown()


def test_every_row_of_the_trust_table_names_a_test() -> None:
    text = (REPO / "SECURITY.md").read_text()
    rows = [
        line
        for line in text.partition("## Who is trusted with what")[2].partition("\n## ")[0].splitlines()
        if line.startswith("| ")
    ][1:]
    assert [r.split("|")[1].strip() for r in rows][:3] == ["the user", "the notebook", "who writes a table"]
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row)
        assert named, row
        for file, test in named:
            assert f"def {test}(" in (REPO / file).read_text(), (file, test)


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_message_of_a_broker_is_a_value(kind: str) -> None:
    fields = (DataField(0, "v", parse_type("STRING")),)
    encoded = [json.dumps({"v": v}) if kind == "json" else '"' + v.replace('"', '""') + '"' for v in HOSTILE]
    decoded = open_decoder(fields, FormatOptions(kind, {}), None).decode([e.encode() for e in encoded])
    assert decoded.table.column("v").to_pylist() == HOSTILE


def test_a_row_of_a_database_is_a_value(tmp_path: Path) -> None:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.create_table("t", pa.table({"id": range(len(HOSTILE)), "v": HOSTILE}), primary_key="id")
    assert wb.run("SELECT v FROM t ORDER BY id").to_arrow().column("v").to_pylist() == HOSTILE
    assert wb.tables() == ["t"]


def test_a_catalog_server_cannot_send_requests_elsewhere(tmp_path: Path, listener: Listener) -> None:
    """Neither its defaults nor its overrides change where the token goes."""
    with RestServer(tmp_path / "w") as server:
        server.token = "a-token-of-the-user"
        hostile = {
            "uri": listener.url,
            "token": "other",
            "token.path": "/etc/passwd",
            "token.provider": "dlf",
            "dlf.token-path": "/etc/passwd",
            "header.Host": "x",
        }
        server.config = {"defaults": dict(hostile), "overrides": {**server.config["overrides"], **hostile}}
        with suppress(PaimonError), server.workbench() as wb:
            wb.databases()
    assert listener.requests == []


@pytest.mark.parametrize("server", ["https://catalog.example.com", "http://127.0.0.1:8080", "http://localhost:8080"])
def test_a_server_names_no_local_folder_that_the_user_did_not_name(tmp_path: Path, server: str) -> None:
    (tmp_path / "named").mkdir()
    (tmp_path / "named/link").symlink_to(tmp_path)
    options = {"warehouse": "w", "data-file.external-paths": f"{tmp_path}/named"}
    for path in (
        f"{tmp_path}/secret",
        "/etc",
        f"file://{tmp_path}",
        f"FILE:{tmp_path}/x",
        f"{tmp_path}/named/../secret",
        f"{tmp_path}/named/link/x",
        f"{tmp_path}/named2",
    ):
        with pytest.raises(OutsideWarehouse, match="which no option names"):
            check_local_folder("table t", path, server, options)
    for path in (f"{tmp_path}/named/t", f"file://{tmp_path}/named/t", "s3://bucket/t", "oss://bucket/etc"):
        check_local_folder("table t", path, server, options)
    check_local_folder("table t", "/data/w/t", server, {"warehouse": "/data/w"})


def test_a_server_on_this_machine_sends_no_reader_to_other_folders(tmp_path: Path) -> None:
    """Another user's process may answer at the port."""
    with RestServer(tmp_path / "w") as server:
        options = server.connect_options()
        with paimon_nb.connect("w", options=options) as wb:
            wb.run("CREATE TABLE t (id INT)")
            wb.table("t").append(pa.table({"id": pa.array([1], pa.int32())}))
        del options["data-file.external-paths"]
        with (
            paimon_nb.connect("w", options=options) as wb,
            pytest.raises(OutsideWarehouse, match="which no option names"),
        ):
            wb.run("SELECT * FROM t").to_arrow()
