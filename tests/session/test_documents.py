"""The documents that people paste from: every SQL and Python block as it stands there, run in a scene of its own."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from document_blocks import (
    AFTER,
    AFTER_UNFENCED,
    BLOCKS,
    COMMITS,
    FIRST_COLUMNS,
    FRAMES,
    PLACEHOLDERS,
    SCENES,
    UNFENCED,
)

import paimon_nb
from paimon_nb.base import clock
from paimon_nb.base.errors import PaimonError, SqlSyntaxError, UnsupportedOperation
from paimon_nb.plan import Query
from paimon_nb.sql import parse

DOCUMENTS = Path(__file__).resolve().parents[3] / "shared" / "documents"
FENCE = re.compile(r"^[ \t]*```(\w*)[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
WAREHOUSES = ("hdfs:///paimon/warehouse", "hdfs:///warehouse", "s3://bucket/warehouse", "<path-to-paimon-table-files>")


def document(name: str) -> str:
    found = sorted(DOCUMENTS.glob(f"{name}_*"))
    if not found:
        pytest.skip("no folder ../shared with the documents beside this repository")
    return found[0].read_text()


def blocks(name: str) -> dict[int, tuple[str, str]]:
    """Line of the fence -> (language, text)."""
    text = document(name)
    return {text.count("\n", 0, m.start()) + 1: (m[1], m[2]) for m in FENCE.finditer(text) if m[1] in ("sql", "python")}


def test_every_block_is_in_the_table():
    assert set(blocks("000")) == {line for name, line in BLOCKS if name == "000"}
    assert blocks("001") == blocks("003") == {}  # they have no fences; what can be told apart is listed
    for name, text, _, _ in UNFENCED:
        assert text in document(name), text


class Stage:
    """A workbench with the tables of a scene, and its way to run a block."""

    def __init__(self, wb: paimon_nb.Workbench, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wb, self.place, self.monkeypatch = wb, place, monkeypatch

    def set(self, scene: str) -> None:
        if scene == "paimon_catalog":
            self.wb.run(f"""CREATE CATALOG paimon_catalog WITH ('type' = 'paimon', 'warehouse' = '{self.place}/pc');
                            CREATE DATABASE paimon_catalog.my_db;
                            CREATE TABLE paimon_catalog.my_db.users (user_id BIGINT, name STRING, email STRING)""")
            return
        text = self.local(SCENES[scene])
        for statement in parse(text):
            self.wb.run(text[statement.span.start : statement.span.stop])
        for name, count in COMMITS.items():
            if f"{name} (user_id BIGINT, name" in SCENES[scene]:
                self.commits(name, count)

    def commits(self, name: str, count: int) -> None:
        start = int(dt.datetime(2023, 10, 22, 23, 59, 55, tzinfo=dt.UTC).timestamp() * 1000)
        with self.monkeypatch.context() as patch:
            for i in range(1, count + 1):
                patch.setattr(clock, "now_ms", lambda i=i: start + i * 1000)
                rows = {
                    "user_id": pa.array([i], pa.int64()),
                    "name": ["n"],
                    "email": ["e"],
                    "age": pa.array([i], pa.int32()),
                }
                self.wb.table(name).upsert(pa.table(rows))

    def run(self, text: str) -> list[tuple[type, Any]]:
        """The statements one after the other: kind, and its rows or the error that it ended with."""
        text = self.local(text)
        out: list[tuple[type, Any]] = []
        made: set[tuple[str, ...]] = set()
        for statement in parse(text):
            one = text[statement.span.start : statement.span.stop]
            name = getattr(statement, "name", None)
            if one.upper().startswith("CREATE TABLE") and name in made:
                self.wb.run(f"DROP TABLE {'.'.join(name)}")  # the block shows the same table in two ways
            made.add(name)
            try:
                out.append((type(statement), [tuple(r) for r in self.wb.sql(one).collect()]))
            except PaimonError as error:
                out.append((type(statement), error))
        return out

    def python(self, text: str) -> dict[str, Any]:
        from pyspark.sql import SparkSession

        scope = {"spark": self.wb.spark, "SparkSession": SparkSession}
        exec(self.local(text), scope)
        return scope

    def local(self, text: str) -> str:
        """Warehouses on this machine, `(...)` filled; nothing else is touched."""
        for n, place in enumerate(WAREHOUSES):
            text = text.replace(place, f"{self.place}/wh{n}")
        text = re.sub(r"(CREATE TABLE (\w+) )\(\.\.\.\)", lambda m: m[1] + PLACEHOLDERS[m[2]], text)
        return text.replace("  ...\n", "  'topic' = 'orders'\n")


@pytest.fixture
def stage(swb, tmp_path, monkeypatch) -> Stage:
    return Stage(swb, tmp_path, monkeypatch)


def check(outcome: str, results: list[Any]) -> None:
    errors = [r for r in results if isinstance(r, PaimonError)]
    assert all(e.hint for e in errors), errors
    match outcome:
        case "ran":
            assert errors == []
        case "waits":
            assert [type(e) for e in errors] == [UnsupportedOperation], errors
            assert "batch mode" in str(errors[0])
        case "refused":
            assert [type(e) for e in errors] == [UnsupportedOperation], errors
        case names:
            assert [type(e).__name__ for e in errors] == names.split()


@pytest.mark.spark
@pytest.mark.parametrize(
    "where", [k for k, v in BLOCKS.items() if v[1] != "not SQL"], ids=lambda w: f"{w[0]}-line-{w[1]}"
)
def test_block(stage, where):
    language, text = blocks(where[0])[where[1]]
    scene, outcome = BLOCKS[where]
    stage.set(scene)
    if language == "python":
        made = stage.python(text)
        if where[1] in FRAMES:
            name, count = FRAMES[where[1]]
            assert made[name].count() == count
        return
    results = stage.run(text)
    check(outcome, [r for _, r in results])
    queried = [sorted(row[0] for row in r) for kind, r in results if kind is Query and isinstance(r, list)]
    assert queried == FIRST_COLUMNS.get(where[1], [[]] * len(queried))
    if where[1] in AFTER:
        query, rows = AFTER[where[1]]
        assert sorted(tuple(r) for r in stage.wb.sql(query).collect()) == rows


@pytest.mark.spark
@pytest.mark.parametrize("block", UNFENCED, ids=lambda b: f"{b[0]}-{b[1][:50]}")
def test_unfenced_block(stage, block):
    _, text, scene, outcome = block
    stage.set(scene)
    results = stage.run(text.removeprefix("-- ") if text.startswith("-- DROP") else text)
    check(outcome, [r for _, r in results])
    for beginning, (query, rows) in AFTER_UNFENCED.items():
        if text.startswith(beginning):
            assert sorted(tuple(r) for r in stage.wb.sql(query).collect()) == rows


def test_a_list_of_options_is_no_statement(wb):
    text = blocks("000")[1258][1]
    with pytest.raises(SqlSyntaxError):
        wb.run(text)
