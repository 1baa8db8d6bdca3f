"""The same random changes and queries for Flink's streams: changelog files, a SQL script, and the results that Flink emits."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from incremental_kit import create_target, refreshed
from random_changes import COLUMNS, TABLES, Changes, Questions

from paimon_nb import incremental

if TYPE_CHECKING:
    from pathlib import Path

    import paimon_nb

TYPES = {
    "int": "INT", "text": "STRING", "decimal": "DECIMAL(10, 2)", "double": "DOUBLE", "date": "DATE", "time": "TIMESTAMP(3)",
}  # fmt: skip
_OTHER_IN_FLINK = re.compile(
    r"avg\(|<=>|^WITH|SEMI|ANTI|collect|array_agg|listagg| OVER |LIMIT|TABLE\(|ROLLUP|CUBE|GROUPING|INTERSECT|EXCEPT"
)
"""What Flink writes or computes in another way (integer averages), has another order for, or does not have in streams."""

_AGGREGATE = re.compile(r"^SELECT (?:count|sum|min|max)\(")
_DAY = re.compile(r"\bday\b")
"""A reserved word of Flink."""


class ExactChanges(Changes):
    """Without NaN and -0.0, which JSON does not have."""

    def _value(self, kind: str) -> Any:
        value = super()._value(kind)
        if isinstance(value, float):
            return None if math.isnan(value) else value + 0.0
        return value


class FlinkStory:
    """Queries over tables that change, refreshed after each change; with all changes in files for Flink."""

    def __init__(self, wb: paimon_nb.Workbench, folder: Path, seed: int) -> None:
        self.wb, self.folder, self.seed = wb, folder, seed
        self.texts: dict[str, str] = {}

    def run(self, queries: int, rounds: int) -> str:
        """Make the changes. Returns the SQL script for Flink, whose queries are labelled."""
        wb = self.wb
        wb.run(TABLES)
        changes, questions = ExactChanges(self.seed), Questions(self.seed)
        while len(self.texts) < queries:
            text = questions.next()
            plan = incremental.analyse(wb.session, text)
            if plan.built is None or _OTHER_IN_FLINK.search(text):
                continue
            name = f"t{len(self.texts)}"
            create_target(wb, name, plan)
            self.texts[name] = text
        files = {t: (self.folder / f"{t}.json").open("w") for t in COLUMNS}
        before = {t: Counter[str]() for t in COLUMNS}
        for _ in range(rounds):
            changes.apply(wb)
            for table, file in files.items():
                rows = Counter(json.dumps(_as_json(r)) for r in wb.table(table).to_arrow().to_pylist())
                for op, key, some in (("d", "before", before[table] - rows), ("c", "after", rows - before[table])):
                    file.writelines(f'{{"op": "{op}", "{key}": {r}}}\n' for r in some.elements())
                before[table] = rows
            for name, text in self.texts.items():
                refreshed(wb, name, text)
        for file in files.values():
            file.close()
        return self._script()

    def _script(self) -> str:
        parts = ["SET 'execution.runtime-mode' = 'streaming'", "SET 'table.exec.state.ttl' = '0'"]
        for table, columns in COLUMNS.items():
            types = ", ".join(f"`{n}` {_type(table, n, k)}" for n, k in columns.items())
            parts.append(
                f"CREATE TABLE {table} ({types}) WITH ('connector' = 'filesystem', 'path' = 'file://{self.folder}/{table}.json', "
                "'format' = 'debezium-json', 'debezium-json.timestamp-format.standard' = 'SQL')"
            )
        labelled = [f"-- @q {n}\n{_DAY.sub('`day`', text)}" for n, text in self.texts.items()]
        return ";\n".join([*parts, *labelled]) + ";\n"

    def differences(self, out: Path) -> tuple[int, list[str]]:
        """The number of queries that Flink answered, and those whose last results differ."""
        compared, wrong = 0, []
        for name, text in self.texts.items():
            file = out / f"{name}.jsonl"
            if not file.exists():
                continue
            own = self.wb.table(name).to_arrow()
            theirs: Counter[str] = Counter()
            for line in file.read_text().splitlines():
                row = json.loads(line)
                sign = -1 if row.pop("_rowkind") in ("-U", "-D") else 1
                theirs[_canonical(row.values(), own.schema)] += sign
            if not +theirs and "GROUP BY" not in text and _AGGREGATE.search(text):
                continue  # of no rows, an aggregate has no row in Flink's streams, and one in a batch
            ours = Counter(_canonical(r.values(), own.schema) for r in own.to_pylist())
            compared += 1
            if ours != +theirs or any(n < 0 for n in theirs.values()):
                wrong.append(f"seed {self.seed} {name}: {text}\n  ours {ours - theirs}, Flink's {theirs - ours}")
        return compared, wrong


def _type(table: str, name: str, kind: str) -> str:
    return "BIGINT" if (table, name) in (("o", "x"), ("e", "v")) else TYPES[kind]


def _as_json(row: dict[str, Any]) -> dict[str, Any]:
    return {n: v if isinstance(v, int | float | str | None) else str(v) for n, v in row.items()}


def _canonical(values: Any, schema: pa.Schema) -> str:
    found: list[Any] = []
    for value, field in zip(values, schema, strict=True):
        if value is None:
            found.append(None)
        elif pa.types.is_decimal(field.type) or pa.types.is_integer(field.type):
            found.append(format(Decimal(str(value)).normalize() + 0, "f"))
        elif pa.types.is_floating(field.type):
            found.append(float(value))
        elif pa.types.is_timestamp(field.type):
            found.append(str(value).partition(".")[0])
        else:
            found.append(str(value))
    return repr(found)
