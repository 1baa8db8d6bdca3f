"""The documents' blocks as steps for a real Spark with Java Paimon, and what it says to each, to be compared with what is answered here.

`python tests/session/spark_documents.py steps DOCUMENTS WAREHOUSES > steps.json`; then, in a Python with PySpark 4.0.1,
`python tests/session/spark_peer.py JARS WAREHOUSES steps.json tests/session/spark_documents.json` (JARS: paimon-spark-4.0 1.3.1);
`python tests/session/spark_documents.py compare` ends with `N of N equal`.

Most blocks are Flink's words, which Spark does not take: their tables are then made in Spark's words, so that what follows finds them.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))
from document_blocks import OUTCOMES
from document_walk import Step, Walk, left_here, rows_here

from paimon_nb.statements import CreateCatalog, CreateTable

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWERS = Path(__file__).with_name("spark_documents.json")
OTHERWISE = {
    "000_415_0": "real Paimon leaves the document's option 'snapshot-id' unread; here it is 'scan.snapshot-id', as it is meant",
    "000_761_0": "one of the five rows came from Kafka, which Spark was not asked to read",
    "000_782_0": "as 000_415_0",
    "000_1194_0": "the document speaks Flink before: / of whole numbers is whole, as real Flink answers it",
    "003_127_0": "as 000_1194_0",
}
"""Statements that both take and that mean something else there, and why ours is as it is."""


class Script(Walk):
    """Writes down what a stage would do, for `spark_peer.py`."""

    def document(self, folder: Path, name: str) -> Iterator[dict[str, str]]:
        yield {"catalog": f"start{name}", "warehouse": f"{self.place}/start{name}"}
        for step in self.steps(folder, name):
            statement = step.statement
            if step.kind == "python":
                yield {"key": step.key, "python": step.text}
            elif isinstance(statement, CreateCatalog):
                yield {
                    "catalog": statement.name,
                    "warehouse": statement.options.get("warehouse", f"{self.place}/memory"),
                }
            elif isinstance(statement, CreateTable):
                if statement.temporary or statement.definition.options.get("connector"):
                    continue
                yield {"key": "", "text": f"DROP TABLE IF EXISTS {'.'.join(f'`{p}`' for p in statement.name)}"}
                yield {"key": step.key, "text": step.text, "instead": in_spark_words(statement)}
            else:
                yield {"key": step.key, "text": step.text, "instead": spark_words(step)}


def spark_words(step: Step) -> str:
    """A text with Spark's names for Flink's types, and its USE; '' where that changes nothing."""
    said = re.sub(r"TIMESTAMP\(\d\)", "TIMESTAMP_NTZ", step.text)
    said = re.sub(r"^USE CATALOG ", "USE ", said)
    return said if said != step.text else ""


def in_spark_words(statement: CreateTable) -> str:
    """A CREATE TABLE of Flink's as Spark says it; what only streams need is left out."""
    made = statement.definition
    columns = ", ".join(
        f"`{c.name}` {re.sub(r'TIMESTAMP(?:[(][0-9][)])?', 'TIMESTAMP_NTZ', c.type or '')}"
        for c in made.columns
        if c.computed is None
    )
    options = {**made.options, **({"primary-key": ",".join(made.primary_keys)} if made.primary_keys else {})}
    parts = f" PARTITIONED BY ({', '.join(made.partition_keys)})" if made.partition_keys else ""
    told = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    name = ".".join(f"`{p}`" for p in statement.name)
    return f"CREATE TABLE {name} ({columns}) USING paimon{parts}" + (f" TBLPROPERTIES ({told})" if told else "")


def compare() -> dict[str, bool]:
    """Whether each statement that Spark takes as it stands comes to the same here."""
    answers: dict[str, dict[str, Any]] = json.loads(ANSWERS.read_text())
    same = {}
    for key, answer in answers.items():
        name, line, number = key.split("_")
        if not answer["took"] or key in OTHERWISE or (number == "left" and not whole(answers, name, line)):
            continue
        if number == "left":
            same[key] = sorted(left_here(name, line), key=repr) == answer["rows"]
            continue
        outcome = OUTCOMES[name][int(line)]
        if outcome[0] == "ran" and all(isinstance(o, tuple) for o in outcome[1:]):  # a block of Python
            same[key] = outcome == ["ran", *outcome[1:]] and [list(o) for o in outcome[1:]] == answer["rows"]
        elif isinstance(outcome[int(number)], list):
            same[key] = in_spark_rows(sorted(rows_here(key), key=repr)) == answer["rows"]
        else:
            same[key] = outcome[int(number)] == "ran"
    return same


def in_spark_rows(rows: list[Any]) -> list[Any]:
    """In a document that set Flink's runtime mode, a CALL answers Flink's word for what Spark calls true."""
    return [[True]] if [list(r) for r in rows] == [["Success"]] else rows


def whole(answers: dict[str, dict[str, Any]], name: str, line: str) -> bool:
    """Whether Spark did all of a block, in its own words where it does not know Flink's."""
    of_block = [a for k, a in answers.items() if k.startswith(f"{name}_{line}_") and not k.endswith("left")]
    return all(a["took"] or a.get("instead") is True for a in of_block)


if __name__ == "__main__":
    if sys.argv[1] == "steps":
        print(json.dumps([s for name in OUTCOMES for s in Script(Path(sys.argv[3])).document(Path(sys.argv[2]), name)]))
    elif sys.argv[1] == "compare":
        told = compare()
        print(
            *(f"not equal: {k}" for k, same in told.items() if not same),
            *(f"otherwise: {k}: {why}" for k, why in OTHERWISE.items()),
            f"{sum(told.values())} of {len(told)} equal",
            sep="\n",
        )
