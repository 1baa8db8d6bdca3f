"""The documents' blocks as one script for real Flink, and what it says to each statement, to be compared with what is answered here.

`python tests/session/flink_documents.py sql DOCUMENTS WAREHOUSES > d.sql`; run it in Flink 1.20 with Paimon 1.3.1 in batch mode (each
`-- @q NAME` saves the rows of the query below it as NAME.jsonl; a line OK or ERR for each statement) with its output in d.log; then
`python tests/session/flink_documents.py json d.sql DIRECTORY d.log`. What a stream would read or write is left out: it never ends.
`python tests/session/flink_documents.py compare DOCUMENTS` ends with `N of N equal`.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))
from document_blocks import OUTCOMES
from document_stage import blocks
from document_walk import Step, Walk, left_here, quoted, rows_here

from paimon_nb.sql import parse
from paimon_nb.statements import Call, CreateCatalog, CreateTable, Query, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MADE = "fields, partition_keys, primary_keys, options, `comment`"
"""Columns of `t$schemas` that say what a statement has made."""
ANSWERS = Path(__file__).with_name("flink_documents.json")


class Script(Walk):
    """Writes down what a stage would do."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.catalogs: set[str] = set()

    def document(self, folder: Path, name: str) -> Iterator[str]:
        yield f"CREATE CATALOG start{name} WITH ('type' = 'paimon', 'warehouse' = '{self.place}/start{name}')"
        yield f"USE CATALOG start{name}"
        for step in self.steps(folder, name):
            if step.kind == "left":
                yield f"-- @q q{step.key}\n{step.text}"
            elif step.statement is not None:
                yield from self.room(step.statement)
                yield from self.said(step, step.statement)

    def said(self, step: Step, statement: Statement) -> Iterator[str]:
        if step.kind == "prepare":
            yield step.text
            return
        yield (f"-- @q q{step.key}\n" if isinstance(statement, Query | Call) else f"-- @s q{step.key}\n") + step.text
        if isinstance(statement, CreateTable) and not statement.temporary:
            yield f"-- @q t{step.key}\nSELECT {MADE} FROM {quoted(_schemas(statement.name))}"

    def room(self, statement: Statement) -> Iterator[str]:
        if isinstance(statement, CreateTable):
            yield f"DROP {'TEMPORARY ' * statement.temporary}TABLE IF EXISTS {'.'.join(f'`{p}`' for p in statement.name)}"
        if isinstance(statement, CreateCatalog):
            if statement.name in self.catalogs:
                yield "USE CATALOG default_catalog"
                yield f"DROP CATALOG {statement.name}"
            self.catalogs.add(statement.name)


def _schemas(name: Sequence[str]) -> str:
    return ".".join([*name[:-1], f"{name[-1]}$schemas"])


def said(script: str, log: str) -> dict[str, bool]:
    """Whether Flink took a statement, by the statement's name."""
    told = [line.startswith("OK") for line in log.splitlines() if line.startswith(("OK ", "ERR "))]
    statements = script.rstrip().rstrip(";").split(";\n")
    assert len(told) == len(statements), (len(told), len(statements))
    names = [re.match(r"-- @[qs] q(\S+)\n", s) for s in statements]
    return {m[1]: ok for m, ok in zip(names, told, strict=True) if m is not None and not m[1].endswith("left")}


def tables_here(folder: Path, keys: Iterable[str], place: Path) -> dict[str, dict[str, Any]]:
    """What this makes of the documents' CREATE TABLEs, as `MADE` says it."""
    import paimon_nb

    found = {}
    for key in keys:
        name, line, number = key.split("_")
        text = Script(place).local(blocks(folder, name)[int(line)][1])
        statement = parse(text)[int(number)]
        assert isinstance(statement, CreateTable)
        wb = paimon_nb.connect(str(place / key))
        before = statement.name[:-1]
        if len(before) == 2:
            wb.run(f"CREATE CATALOG `{before[0]}` WITH ('type' = 'paimon', 'warehouse' = '{place / key}')")
        if before:
            wb.run(f"CREATE DATABASE IF NOT EXISTS {'.'.join(before)}")
        wb.run(text[statement.span.start : statement.span.stop])
        row = wb.table(".".join(statement.name)).system("schemas").to_pylist()[0]
        found[key] = {c: row[c] for c in MADE.replace("`", "").split(", ")}
    return found


def plain(made: dict[str, Any]) -> dict[str, Any]:
    """Texts of JSON as what they say. Flink's own words of a watermark are quoted, and it wants a key's columns NOT NULL."""
    read = {k: json.loads(v) if v and v[0] in "[{" else v for k, v in made.items()}
    read["options"] = {k: v.replace("`", "") for k, v in read["options"].items()}
    return read


def compared(answers: dict[str, Any], tables: dict[str, dict[str, Any]]) -> dict[str, bool]:
    """Whether a statement that Flink takes comes to the same here: its rows, the table it makes, what its block leaves behind."""
    same = {}
    for key in answers["taken"]:
        name, line, number = key.split("_")
        outcome = OUTCOMES[name][int(line)][int(number)]
        flink = answers["answers"].get(key)
        if flink == [["Success"]]:  # Spark's columns tell more, when there is something to tell
            same[key] = isinstance(outcome, list)
        elif flink is not None:
            same[key] = rows_here(key) == flink
        elif key in answers["tables"]:
            same[key] = plain(tables[key]) == plain(answers["tables"][key])
        else:
            same[key] = outcome == "ran" and _left(answers, name, line)
    return same


def _left(answers: dict[str, Any], name: str, line: str) -> bool:
    """Whether the block leaves the same behind; nothing to say when it leaves nothing, or Flink took only a part of it."""
    flink = answers["answers"].get(f"{name}_{line}_left")
    if flink is None or any(k.startswith(f"{name}_{line}_") for k in answers["not taken"]):
        return True
    return left_here(name, line) == flink


def compare(folder: Path) -> dict[str, bool]:
    """All of it, with tables made anew."""
    answers = json.loads(ANSWERS.read_text())
    with tempfile.TemporaryDirectory() as place:
        return compared(answers, tables_here(folder, answers["tables"], Path(place)))


if __name__ == "__main__":
    if sys.argv[1] == "sql":
        out = [s for name in OUTCOMES for s in Script(Path(sys.argv[3])).document(Path(sys.argv[2]), name)]
        print(";\n".join(out) + ";")
    elif sys.argv[1] == "compare":
        told = compare(Path(sys.argv[2]))
        print(
            *(f"not equal: {k}" for k, same in told.items() if not same),
            f"{sum(told.values())} of {len(told)} equal",
            sep="\n",
        )
    elif sys.argv[1] == "json":
        found = {
            p.stem[1:]: [[*json.loads(r).values()] for r in p.read_text().splitlines()]
            for p in sorted(Path(sys.argv[3]).glob("q*.jsonl"))
        }
        taken = said(Path(sys.argv[2]).read_text(), Path(sys.argv[4]).read_text())
        tables = {
            p.stem[1:]: json.loads(p.read_text()) for p in sorted(Path(sys.argv[3]).glob("t*.jsonl")) if p.read_text()
        }
        parts = {
            "answers": {k: sorted(v, key=repr) for k, v in found.items()},
            "tables": tables,
            "taken": [k for k, ok in taken.items() if ok],
            "not taken": [k for k, ok in taken.items() if not ok],
        }
        ANSWERS.write_text(json.dumps(parts, indent=1) + "\n")
