"""`paimon-nb mcp`: what an assistant can do with tables, and that it can change nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import EnvironmentError_, SqlSyntaxError, UnsupportedOperation
from paimon_nb.cli import main
from paimon_nb.mcp_server import ReadOnlyTools, create_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def wb(tmp_path: Path) -> Iterator[paimon_nb.Workbench]:
    with paimon_nb.connect(str(tmp_path / "w")) as wb:
        rows = pa.table({"id": [1, 2, 3], "note": ["a", None, "x" * 5_000], "ratio": [0.5, float("nan"), float("inf")]})
        wb.create_table("t", rows, primary_key="id", options={"bucket": 1}, comment="things")
        wb.table("t").upsert(pa.table({"id": [1], "note": ["b"], "ratio": [1.5]}))
        yield wb


def test_the_tools_read_tables_as_plain_data(wb) -> None:
    tools = ReadOnlyTools(wb)
    assert tools.list_tables() == {"default": ["t"]}
    about = tools.describe_table("t")
    assert (about["comment"], about["primary_keys"], about["latest_snapshot"]["id"]) == ("things", ["id"], 2)
    assert [c["name"] for c in about["columns"]] == ["id", "note", "ratio"]
    found = {r["id"]: r for r in tools.sample("t")}
    assert (found[1], found[2]["ratio"], found[3]["ratio"]) == ({"id": 1, "note": "b", "ratio": 1.5}, "nan", "inf")
    assert len(found[3]["note"]) == 2_001
    assert tools.sample("t", rows=5, where="id = 2")[0]["note"] is None
    assert tools.query("SELECT id FROM t WHERE id > 1", rows=1) in ([{"id": 2}], [{"id": 3}])
    assert "note" in tools.why("t", {"id": 1})
    assert tools.health("t")[0]["grade"]
    json.dumps([about, tools.sample("t"), tools.health("t")], allow_nan=False)


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM t", "DROP TABLE t", "INSERT INTO t VALUES (9, 'x', 1)", "CALL sys.compact('t')", "SET 'a' = 'b'",
        "SELECT 1; DROP TABLE t", "WITH s AS (SELECT * FROM t) INSERT INTO t SELECT * FROM s", "TRUNCATE TABLE t",
        "CREATE TABLE u AS SELECT * FROM t", "ALTER TABLE t SET ('a' = 'b')", "", "USE sys",
        "SELECT reflect('java.lang.System', 'exit', 1)", "SELECT `java_method`('java.lang.System', 'exit', 1)",
    ],
)  # fmt: skip
def test_a_statement_that_changes_something_is_refused(wb, text: str) -> None:
    with pytest.raises((UnsupportedOperation, SqlSyntaxError)) as raised:
        ReadOnlyTools(wb).query(text)
    assert raised.value.hint
    assert (wb.tables(), wb.table("t").count(), wb.table("t").latest_snapshot().id) == (["t"], 3, 2)


def test_the_missing_package_is_named(wb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(EnvironmentError_, match="mcp is not installed") as raised:
        create_server(wb)
    assert raised.value.hint == "pip install 'paimon-nb[mcp]'"


def test_the_command_names_a_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["mcp", "--config", "nowhere.yaml"])
    assert "no such file: nowhere.yaml" in capsys.readouterr().err


@pytest.mark.nightly
def test_a_client_lists_and_calls_the_tools(wb, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    script = f"""
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def talk():
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "paimon_nb.cli", "mcp", "--warehouse", {str(tmp_path / "w")!r}], env=dict(**__import__("os").environ)
    )
    async with stdio_client(command) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        print(sorted(t.name for t in tools), all(t.annotations.read_only_hint for t in tools))
        print((await session.call_tool("sample", {{"table": "t", "where": "id = 1"}})).content[0].text)
        print((await session.call_tool("query", {{"sql": "DROP TABLE t"}})).is_error)

asyncio.run(talk())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "['describe_table', 'health', 'list_tables', 'query', 'sample', 'why'] True" in done.stdout
    assert '"note": "b"' in done.stdout
    assert done.stdout.strip().endswith("True")
    assert wb.tables() == ["t"]
