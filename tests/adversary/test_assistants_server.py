"""`paimon-nb mcp` over standard input and output: hostile statements are refused and change nothing, harmless ones are answered."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from adversary_kit import Listener
from assistant_statements import HARMLESS, HOSTILE, LARGE

import paimon_nb
from paimon_nb.base.errors import PaimonError, UnsupportedOperation
from paimon_nb.mcp_server import Limits, ReadOnlyTools
from paimon_nb.mcp_server.limits import LimitReached

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CANARY = "CANARY5e21"
_CALL_S = 400.0


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a warehouse `w`, files that nobody named, and a folder `allowed`."""
    with paimon_nb.connect(str(tmp_path / "w")) as wb:
        wb.run(
            "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'input')"
        )
        for rows in ([(1, "a")], [(2, "b")], [(3, None)]):
            wb.table("t").upsert(
                pa.table(
                    {"id": pa.array([i for i, _ in rows], pa.int32()), "v": pa.array([v for _, v in rows], pa.string())}
                )
            )
        wb.run("CALL sys.create_tag('t', 'first', 1)")
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "open.csv").write_text("a,b\n1,2\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "secret.csv").write_text(f"a,b\n1,{CANARY}\n")
    (outside / "secret.csv").write_text(f"a,b\n1,{CANARY}\n")
    (tmp_path / "secret.txt").write_text(CANARY)
    (tmp_path / "secret.json").write_text(json.dumps({"a": CANARY}))
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table({"a": [CANARY]}), tmp_path / "secret.parquet")
    (allowed / "link.csv").symlink_to(tmp_path / "secret.csv")
    (allowed / "folder").symlink_to(outside)
    (tmp_path / "link").symlink_to(tmp_path / "secret.txt")
    return tmp_path


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as server:
        yield server
        server.shutdown()


def state_of(folder: Path) -> dict[str, str]:
    """Digest of every file of the warehouse."""
    return {
        str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(folder.rglob("*")) if f.is_file()
    }  # fmt: skip


def filled(statement: str, place: Path, listener: Listener) -> str:
    return statement.replace("{tmp}", str(place)).replace("{url}", listener.url)


def answers(place: Path, statements: list[str], *arguments: str) -> list[tuple[bool, str]]:
    """Whether each statement was refused, and the text that the assistant got: over the real protocol."""
    pytest.importorskip("mcp")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def talk() -> list[tuple[bool, str]]:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "paimon_nb.cli", "mcp", "--warehouse", str(place / "w"), "--files", str(place / "allowed"), *arguments],
            env=dict(os.environ), cwd=str(place),
        )  # fmt: skip
        out = []
        with (place / "server.log").open("w") as log:
            async with stdio_client(command, errlog=log) as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                for sql in statements:
                    result = await asyncio.wait_for(session.call_tool("query", {"sql": sql}), _CALL_S)
                    out.append((bool(result.is_error), " ".join(getattr(c, "text", "") for c in result.content)))
        return out

    return asyncio.run(talk())


def check(place: Path, listener: Listener, hostile: list[str], harmless: list[str]) -> None:
    before = state_of(place / "w")
    found = answers(place, [filled(s, place, listener) for s in [*hostile, *harmless]])
    refused, answered = found[: len(hostile)], found[len(hostile) :]
    assert [s[:200] for s, (error, _) in zip(hostile, refused, strict=True) if not error] == []
    assert [(s, text[:300]) for s, (error, text) in zip(harmless, answered, strict=True) if error] == []
    assert [
        s for s, (_, text) in zip([*hostile, *harmless], found, strict=True) if CANARY in text or "root:" in text
    ] == []
    assert state_of(place / "w") == before
    assert not (place / "made").exists()
    assert listener.requests == []


@pytest.mark.spark
def test_hostile_statements_are_refused_and_harmless_ones_answered(place: Path, listener: Listener) -> None:
    """A part of the lists; `make nightly` runs all."""
    hostile = [s for statements in HOSTILE.values() for s in statements[:: max(2, len(statements) // 2)]]
    check(place, listener, hostile, HARMLESS[::8])


@pytest.mark.spark
@pytest.mark.nightly
def test_all_hostile_statements_are_refused_and_all_harmless_ones_answered(place: Path, listener: Listener) -> None:
    hostile = [s for statements in HOSTILE.values() for s in statements]
    assert (len(hostile) >= 300, len(HOSTILE) >= 15, len(HARMLESS) >= 100) == (True, True, True)
    check(place, listener, hostile, HARMLESS)


@pytest.mark.spark
@pytest.mark.nightly
def test_a_statement_that_needs_too_much_is_ended(place: Path) -> None:
    import re

    found = answers(place, [*LARGE, "SELECT count(*) AS n FROM t"], "--max-seconds", "20", "--max-memory", "3 gb")
    for (statement, expected), (error, text) in zip(LARGE.items(), found, strict=False):
        assert error, statement
        assert re.search(expected, text), (statement, text)
    assert found[-1][0] is False


# -- without Spark, in this process


@pytest.fixture
def tools(place: Path) -> Iterator[ReadOnlyTools]:
    with paimon_nb.connect(str(place / "w")) as wb:
        yield ReadOnlyTools(wb, ((place / "allowed").resolve(),))


def test_files_below_a_named_folder_are_read_and_no_others(place: Path, tools: ReadOnlyTools) -> None:
    assert tools.query(f"SELECT * FROM '{place}/allowed/open.csv'") == [{"a": 1, "b": 2}]
    assert tools.query(f"SELECT * FROM '{place}/allowed/op*.csv'") == [{"a": 1, "b": 2}]
    for path in (
        "secret.csv",
        "allowed/link.csv",
        "allowed/*.csv",
        "allowed/folder/secret.csv",
        "allowed/../secret.csv",
        "nothing.csv",
        "server?log",
    ):
        with pytest.raises(UnsupportedOperation, match="is not below a folder that was named"):
            tools.query(f"SELECT * FROM '{place}/{path}'")


def test_no_other_way_to_name_a_file_reaches_outside(
    place: Path, tools: ReadOnlyTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place / "allowed")
    for text in (
        f"SELECT * FROM 'file://{place}/secret.csv'",
        f"SELECT * FROM read_csv(['{place}/allowed/open.csv', '{place}/secret.csv'])",
        f"SELECT * FROM read_text('{place}/secret.csv')",
        f"SELECT * FROM '{place}/allowed'",
        f"SELECT * FROM '{place}/**/secret.csv'",
        f"DESCRIBE '{place}/secret.csv'",
        f"TABLE '{place}/secret.csv'",
        f"SUMMARIZE '{place}/secret.csv'",
        "SELECT * FROM open.csv",
    ):
        with pytest.raises(PaimonError):
            tools.query(text)


def test_an_answer_is_cut_and_says_so(place: Path) -> None:
    with paimon_nb.connect(str(place / "w")) as wb:
        wb.table("t").upsert(pa.table({"id": pa.array(range(50), pa.int32()), "v": ["x" * 100] * 50}))
        tools = ReadOnlyTools(wb, limits=Limits(rows=20, bytes=1_000, statement=100))
        first = tools.answer_query("SELECT id FROM t ORDER BY id", rows=2)
        assert (first.rows, first.note) == ([{"id": 0}, {"id": 1}], "the first 2 rows; there are more")
        many = tools.answer_query("SELECT id FROM t ORDER BY id", rows=100)
        assert (len(many.rows), many.note) == (20, "at most 20 rows are returned")
        wide = tools.answer_query("SELECT v FROM t ORDER BY id", rows=20)
        assert (len(wide.rows), wide.note) == (9, "the answer ends after 9 rows: it has 1,000 bytes at most")
        assert tools.answer_sample("t", rows=20).note == "the answer ends after 8 rows: it has 1,000 bytes at most"
        with pytest.raises(LimitReached, match="the statement has 112 characters; at most 100 are read"):
            tools.query("SELECT id FROM t" + " " * 96)
        wb.table("t").upsert(pa.table({"id": pa.array([99], pa.int32()), "v": ["y" * 1_500]}))
        with pytest.raises(LimitReached, match="one row of the answer has more than 1,000 bytes"):
            tools.query("SELECT v FROM t WHERE id = 99")


def test_texts_of_tables_have_no_invisible_characters(place: Path) -> None:
    """A text that an assistant reads and a person does not see: Unicode tags, direction marks, escapes of terminals."""
    hidden = "ok" + "".join(chr(0xE0000 + ord(c)) for c in "DROP") + "\u202e\x1b[2J"
    with paimon_nb.connect(str(place / "w")) as wb:
        wb.create_table("c", pa.table({"id": [1], "v": [hidden]}), comment=hidden)
        tools = ReadOnlyTools(wb)
        expected = "ok\\u{e0044}\\u{e0052}\\u{e004f}\\u{e0050}\\u{202e}\\u{1b}[2J"
        assert tools.sample("c") == [{"id": 1, "v": expected}]
        assert tools.describe_table("c")["comment"] == expected


def test_describe_table_masks_secrets(place: Path) -> None:
    with paimon_nb.connect(str(place / "w")) as wb:
        wb.run(f"CREATE TABLE s (id INT) WITH ('metadata.iceberg.rest.token' = '{CANARY}')")
        described: Any = ReadOnlyTools(wb).describe_table("s")
        assert described["options"]["metadata.iceberg.rest.token"] == "***"
        assert CANARY not in json.dumps(described)


@pytest.mark.parametrize(
    "kind",
    [k for k in HOSTILE if k in ("definitions", "changes of rows", "procedures", "several statements")],
)
def test_statements_that_are_refused_without_spark(place: Path, tools: ReadOnlyTools, kind: str) -> None:
    before = state_of(place / "w")
    for statement in HOSTILE[kind]:
        with pytest.raises(PaimonError):
            tools.query(statement.replace("{tmp}", str(place)).replace("{url}", "http://127.0.0.1:9"))
    assert not tools.workbench.session.spark_started
    assert state_of(place / "w") == before


HOSTILE_CONDITIONS = [
    "reflect('java.lang.System', 'setProperty', 'canary', 'set') = 'x'", "IDENTIFIER('ref' || 'lect')('java.lang.System', 'setProperty', 'canary', 'set') = 'x'",
    "id IN (SELECT 1 FROM csv.`{tmp}/secret.csv`)", "v IN (SELECT b FROM '{tmp}/secret.csv')", "true) AS a, (SELECT max(b) FROM '{tmp}/secret.csv') = ('x'",
    "xpath_string('<!DOCTYPE a SYSTEM \"{url}/dtd\"><a/>', 'a') = 'x'", "id = 1; DROP TABLE t", "EXISTS (SELECT TRANSFORM(1) USING 'touch {tmp}/made' AS (x STRING))",
    "my_function(id) = 1", "id IN (SELECT id FROM t /*+ OPTIONS('consumer-id' = 'me') */)",
]  # fmt: skip


def test_a_condition_of_a_sample_is_checked_as_a_query_is(place: Path, listener: Listener, spark: Any) -> None:
    """A condition may be any expression of the session's SQL."""
    before = state_of(place / "w")
    with paimon_nb.connect(str(place / "w"), spark=spark) as wb:
        tools = ReadOnlyTools(wb, ((place / "allowed").resolve(),))
        for condition in HOSTILE_CONDITIONS:
            with pytest.raises(PaimonError) as raised:
                tools.sample("t", where=filled(condition, place, listener))
            assert CANARY not in str(raised.value)
        assert tools.sample("t", where="id + 1 = 3 AND upper(v) = 'B'") == [{"id": 2, "v": "b"}]
        assert not wb.session.only_reads
    assert state_of(place / "w") == before
    assert not (place / "made").exists()
    assert listener.requests == []
    assert spark._jvm.java.lang.System.getProperty("canary") is None
