"""The documents' blocks as one script for real Flink, and its answers as JSON, to be compared with `document_blocks.OUTCOMES`.

`python tests/session/flink_documents.py sql DOCUMENTS WAREHOUSES > d.sql`; run it in Flink 1.20 with Paimon 1.3.1 in batch mode (each
`-- @q NAME` saves the rows of the query below it as NAME.jsonl) with its log in d.log; then
`python tests/session/flink_documents.py json DIRECTORY d.log`. What a stream would read or write is left out: it never ends.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from document_blocks import BEFORE, LEFT, OUTCOMES
from document_stage import Stage, blocks

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.plan import CreateCatalog, CreateTable, Query, ResetOption, SetOption, Statement
from paimon_nb.sql import parse

ANSWERS = Path(__file__).with_name("flink_documents.json")


class Script(Stage):
    """Writes down what a stage would do."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.catalogs: set[str] = set()

    def document(self, folder: Path, name: str) -> Iterator[str]:
        yield f"CREATE CATALOG start{name} WITH ('type' = 'paimon', 'warehouse' = '{self.place}/start{name}')"
        yield f"USE CATALOG start{name}"
        for line, (language, text) in sorted(blocks(folder, name).items()):
            if language == "sql":
                yield from self.lines(name, line, self.local(text))
            else:
                yield from self.before(name, line, 0)

    def lines(self, name: str, line: int, text: str) -> Iterator[str]:
        try:
            statements = parse(text)
        except SqlSyntaxError:
            return
        for number, statement in enumerate(statements):
            yield from self.before(name, line, number)
            outcome = OUTCOMES[name][line][number]
            if outcome in ("waits", "refused") or isinstance(statement, SetOption | ResetOption):
                continue
            yield from self.room(statement)
            one = text[statement.span.start : statement.span.stop]
            yield (f"-- @q q{name}_{line}_{number}\n" if isinstance(statement, Query) else "") + one
        if (name, line) in LEFT and not LEFT[name, line].startswith("SHOW"):
            yield f"-- @q q{name}_{line}_left\n{quoted(LEFT[name, line])}"

    def before(self, name: str, line: int, number: int) -> Iterator[str]:
        for part in re.split(r"(COMMITS \w+(?:\.\w+)* \d+)", self.local(BEFORE.get((name, line, number), ""))):
            if part.startswith("COMMITS"):
                _, table, count = part.split()
                yield from (
                    f"INSERT INTO {table} (user_id, name, age) VALUES ({i}, 'n{i}', {i})"
                    for i in range(1, int(count) + 1)
                )
            elif part.strip(" ;\n"):
                for statement in parse(part):
                    if isinstance(statement, ResetOption):
                        continue
                    yield from self.room(statement)
                    yield part[statement.span.start : statement.span.stop].replace(
                        "WITH ('warehouse'", "WITH ('type' = 'paimon', 'warehouse'"
                    )

    def room(self, statement: Statement) -> Iterator[str]:
        if isinstance(statement, CreateTable):
            yield f"DROP {'TEMPORARY ' * statement.temporary}TABLE IF EXISTS {'.'.join(f'`{p}`' for p in statement.name)}"
        if isinstance(statement, CreateCatalog):
            if statement.name in self.catalogs:
                yield "USE CATALOG default_catalog"
                yield f"DROP CATALOG {statement.name}"
            self.catalogs.add(statement.name)


def quoted(query: str) -> str:
    """Flink wants `t$files` in backticks."""
    return re.sub(r"(\w+)\.(\w+\$\w+)|(\w+\$\w+)", lambda m: f"{m[1]}.`{m[2]}`" if m[1] else f"`{m[3]}`", query)


if __name__ == "__main__":
    if sys.argv[1] == "sql":
        out = [s for name in OUTCOMES for s in Script(Path(sys.argv[3])).document(Path(sys.argv[2]), name)]
        print(";\n".join(out) + ";")
    else:
        found = {
            p.stem[1:]: [[*json.loads(r).values()] for r in p.read_text().splitlines()]
            for p in sorted(Path(sys.argv[2]).glob("q*.jsonl"))
        }
        body = ",\n".join(f" {json.dumps(k)}: {json.dumps(sorted(v, key=repr))}" for k, v in found.items())
        ANSWERS.write_text("{\n" + body + "\n}\n")
