"""The documents' blocks as steps in their order, for those who ask another engine what it says to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from document_blocks import BEFORE, IN_BATCH, LEFT, OUTCOMES
from document_stage import Stage, blocks

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.sql import parse
from paimon_nb.statements import ResetOption, SetOption, Statement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to say to the engine."""

    kind: str
    """'prepare', what must be there before; 'asked', a document's statement; 'python'; 'left', what a block leaves behind."""
    key: str
    """<document>_<line>_<statement>, as the answers name it; '' for what only prepares."""
    text: str
    statement: Statement | None = None


class Walk(Stage):
    """A stage that says what it would do. What a stream would read or write is left out: it never ends."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.broker, self.mariadb = SimpleNamespace(address="kafka:9092"), SimpleNamespace(port=3306)

    def steps(self, folder: Path, name: str) -> Iterator[Step]:
        for line, (language, text) in sorted(blocks(folder, name).items()):
            if language == "sql":
                yield from self._lines(name, line, self.local(text))
            else:
                yield from self._before(name, line, 0)
                yield Step("python", f"{name}_{line}_0", self.local(text))

    def _lines(self, name: str, line: int, text: str) -> Iterator[Step]:
        try:
            statements = parse(text)
        except SqlSyntaxError:
            return
        for number, statement in enumerate(statements):
            yield from self._before(name, line, number)
            outcome = OUTCOMES[name][line][number]
            if outcome in ("waits", "refused") or isinstance(statement, SetOption | ResetOption):
                continue
            one = text[statement.span.start : statement.span.stop]
            yield Step("asked", f"{name}_{line}_{number}", one, statement)
        if (name, line) in LEFT and not LEFT[name, line].startswith("SHOW"):
            yield Step("left", f"{name}_{line}_left", quoted(LEFT[name, line]))

    def _before(self, name: str, line: int, number: int) -> Iterator[Step]:
        for part in re.split(r"(COMMITS \w+(?:\.\w+)* \d+)", self.local(BEFORE.get((name, line, number), ""))):
            if part.startswith("COMMITS"):
                _, table, count = part.split()
                for i in range(1, int(count) + 1):
                    text = f"INSERT INTO {table} (user_id, name, age) VALUES ({i}, 'n{i}', {i})"
                    yield Step("prepare", "", text, parse(text)[0])
            elif part.strip(" ;\n"):
                for statement in parse(part):
                    if not isinstance(statement, ResetOption):
                        text = part[statement.span.start : statement.span.stop]
                        text = text.replace("WITH ('warehouse'", "WITH ('type' = 'paimon', 'warehouse'")
                        yield Step("prepare", "", text, statement)


def quoted(query: str) -> str:
    """Others want `t$files` in backticks."""
    return re.sub(r"(\w+)\.(\w+\$\w+)|(\w+\$\w+)", lambda m: f"{m[1]}.`{m[2]}`" if m[1] else f"`{m[3]}`", query)


def rows_here(key: str) -> list[list[Any]]:
    """Our rows for a statement, decimals as text: those of batch mode where it was asked in both."""
    name, line, number = key.split("_")
    if key in IN_BATCH:
        return IN_BATCH[key]
    return _plain(OUTCOMES[name][int(line)][int(number)])


def left_here(name: str, line: str) -> list[list[Any]]:
    """Our rows for what `LEFT` asks behind a block."""
    outcome = OUTCOMES[name][int(line)]
    return _plain(outcome[outcome.index("->") + 1])


def _plain(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    return [[str(v) if isinstance(v, Decimal) else v for v in row] for row in rows]
