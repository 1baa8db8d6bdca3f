"""The documents that people paste from, cut into their SQL and Python blocks, and a session that runs them in order."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from document_blocks import BEFORE, CUT, IN_BATCH, LEFT, PLACEHOLDERS, WORDS

from paimon_nb.base import clock
from paimon_nb.base.errors import (
    EnvironmentError_,
    PaimonError,
    SourceUnavailable,
    SqlSyntaxError,
    UnsupportedOperation,
)
from paimon_nb.session.streaming.stream_session import runtime_mode
from paimon_nb.sql import parse
from paimon_nb.statements import Call, Query, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest
    from binlog_server import MariaDb
    from kafka_server import KafkaServer

    import paimon_nb

FENCE = re.compile(r"^[ \t]*```(\w*)[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
Block = tuple[str, str]
"""(language, text)."""


def blocks(folder: Path, name: str) -> dict[int, Block]:
    """First line -> block: what stands between fences, and where a document has none, the lines of `CUT`."""
    (path,) = folder.glob(f"{name}_*")
    text = path.read_text()
    lines = text.split("\n")
    fenced = {
        text.count("\n", 0, m.start()) + 1: (m[1], m[2]) for m in FENCE.finditer(text) if m[1] in ("sql", "python")
    }
    cut = {first: ("sql", _statement(lines[first - 1 : last])) for first, last in CUT.get(name, ())}
    return {**fenced, **cut}


def _statement(lines: list[str]) -> str:
    """Lines of a page as text to paste: without what stands before CALL, and the comment in front of the last DROP."""
    text = "\n".join(lines)
    if "CALL" in text:
        text = text[text.index("CALL") :].rstrip(".")
    return text.removeprefix("-- ") if text.startswith("-- DROP") else text


class Stage:
    """One workbench for one document."""

    def __init__(
        self, wb: paimon_nb.Workbench, place: Path, patch: pytest.MonkeyPatch, broker: KafkaServer, mariadb: MariaDb
    ) -> None:
        self.wb, self.place, self.patch, self.broker, self.mariadb = wb, place, patch, broker, mariadb
        self.in_batch: dict[str, list[list[Any]]] = {}
        """Answers in batch mode to what a document asks in streaming mode."""

    def play(self, document: str, folder: Path) -> dict[int, list[Any]]:
        """What each block gives, by its first line: see `document_blocks.OUTCOMES`."""
        return {line: self.block(document, line, *block) for line, block in sorted(blocks(folder, document).items())}

    def block(self, document: str, line: int, language: str, text: str) -> list[Any]:
        text = self.local(text)
        if language == "python":
            self.prepare(document, line, 0)
            return self.python(text)
        try:
            statements = parse(text)
        except SqlSyntaxError:
            return ["not SQL"]
        out = []
        for number, statement in enumerate(statements):
            self.prepare(document, line, number)
            self.make_room(statement)
            one = text[statement.span.start : statement.span.stop]
            out.append(self.outcome(one, statement))
            if f"{document}_{line}_{number}" in IN_BATCH:
                with runtime_mode(self.wb.session, "batch"):
                    self.in_batch[f"{document}_{line}_{number}"] = [list(row) for row in self.rows(one)]
        if (document, line) in LEFT:
            out += ["->", self.rows(LEFT[document, line])]
        return out

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        result = self.wb.run(text)
        if result.job is not None:
            endless = "word_table" in text
            assert result.job.wait_for(lambda: result.job.rows > 0) if endless else result.job.process_available()
            result.job.stop()
            return []
        if result.live is not None:
            told = result.live.collect(timeout_s=180, idle_s=0.2).to_pylist()
            listed = [tuple(r.values())[1:] for r in told if r["op"] in ("+I", "+U")]
        elif result.frame is not None:
            listed = [tuple(r) for r in result.frame.collect()]
        else:
            listed = [tuple(r.values()) for r in result.arrow.to_pylist()]
        return sorted(listed, key=repr)

    def outcome(self, text: str, statement: Statement) -> Any:
        try:
            rows = self.rows(text)
        except (
            UnsupportedOperation,
            SourceUnavailable,
            EnvironmentError_,
        ) as error:  # no metastore listens where they say
            if not error.hint:
                return f"no next step: {error}"
            return "refused"
        except PaimonError as error:
            return f"{type(error).__name__}: {error}"
        return rows if isinstance(statement, Query | Call) else "ran"

    def python(self, text: str) -> list[Any]:
        """'ran', and for each DataFrame that the block leaves its name and number of rows."""
        from pyspark.sql import DataFrame, SparkSession

        scope: dict[str, Any] = {"spark": self.wb.spark, "SparkSession": SparkSession}
        exec(text, scope)
        return ["ran", *((k, v.count()) for k, v in scope.items() if isinstance(v, DataFrame))]

    def prepare(self, document: str, line: int, number: int) -> None:
        step = BEFORE.get((document, line, number))
        if step is None:
            return
        for part in re.split(r"(COMMITS \w+(?:\.\w+)* \d+)", self.local(step)):
            if part.startswith("COMMITS"):
                _, name, count = part.split()
                self.commits(name, int(count))
            elif part.strip(" ;\n"):
                for statement in parse(part):
                    self.make_room(statement)
                    self.wb.run(part[statement.span.start : statement.span.stop])

    def make_room(self, statement: Statement) -> None:
        """Who pastes another definition of a name means that one: the object that has the name goes first."""
        session, name = self.wb.session, getattr(statement, "name", None)
        kind = type(statement).__name__
        if kind == "CreateTable" and (session.exists(name) or name[-1] in session.temporary):
            self.wb.run(f"DROP TABLE {'.'.join(name)}")
        if kind == "CreateCatalog" and name == session.first_catalog:
            session.catalogs[name].has_created = False  # this part of the document starts a session of its own
        elif kind == "CreateCatalog" and name in session.catalogs:
            if name == session.current_catalog:
                self.wb.run(
                    "CREATE CATALOG IF NOT EXISTS waiting WITH ('type' = 'generic_in_memory'); USE CATALOG waiting"
                )
            self.wb.run(f"DROP CATALOG {name}")

    def commits(self, name: str, count: int) -> None:
        """One-row commits, user_id = number of the commit, a second apart; the fifth at 2023-10-23 00:00:00 UTC."""
        start = int(dt.datetime(2023, 10, 22, 23, 59, 55, tzinfo=dt.UTC).timestamp() * 1000)
        with self.patch.context() as patch:
            for i in range(1, count + 1):
                patch.setattr(clock, "now_ms", lambda i=i: start + i * 1000)
                rows: Mapping[str, Any] = {
                    "user_id": pa.array([i], pa.int64()),
                    "name": [f"n{i}"],
                    "age": pa.array([i], pa.int32()),
                }
                table = self.wb.table(name)
                table.upsert(pa.table({k: v for k, v in rows.items() if k in table.schema.names}))

    def local(self, text: str) -> str:
        """Warehouses on this machine, placeholders filled; nothing else is touched."""
        for word, meant in WORDS.items():
            text = text.replace(
                word, meant.format(place=self.place, broker=self.broker.address, mysql=self.mariadb.port)
            )
        return re.sub(r"(CREATE TABLE (\w+) )\(\.\.\.\)", lambda m: m[1] + PLACEHOLDERS[m[2]], text)
