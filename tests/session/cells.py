"""UPDATE, DELETE, MERGE INTO and INSERT OVERWRITE on every merge engine and every way to bucket: one cell each.

`flink_answers.json` beside this file holds the answers of real Flink 1.20 with Paimon 1.3.1 to the same statements. To record
them again: `python tests/session/cells.py sql > cells.sql`, run that file in Flink's batch mode on an empty warehouse (each
`-- @q NAME` saves the rows of the query below it as NAME.jsonl) with the log of refused statements in cells.log, then
`python tests/session/cells.py json DIRECTORY cells.log`.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ENGINES: dict[str, str] = {
    "deduplicate": "",
    "partial-update": "'merge-engine' = 'partial-update'",
    "partial-update deleting": "'merge-engine' = 'partial-update', 'partial-update.remove-record-on-delete' = 'true'",
    "aggregation": "'merge-engine' = 'aggregation', 'fields.n.aggregate-function' = 'sum'",
    "aggregation deleting": "'merge-engine' = 'aggregation', 'aggregation.remove-record-on-delete' = 'true'",
    "first-row": "'merge-engine' = 'first-row'",
}
_KEY, _KEY_P = "PRIMARY KEY (id) NOT ENFORCED)", "PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p)"
_CROSS, _DV = "PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (p)", "'deletion-vectors.enabled' = 'true'"
KEYED: dict[str, tuple[str, str]] = {
    "fixed": (_KEY, "'bucket' = '2'"),
    "fixed, partitions": (_KEY_P, "'bucket' = '1'"),
    "fixed, vectors": (_KEY, f"'bucket' = '2', {_DV}"),
    "dynamic": (_KEY, "'bucket' = '-1'"),
    "dynamic, vectors": (_KEY, f"'bucket' = '-1', {_DV}"),
    "cross-partition": (_CROSS, "'bucket' = '-1'"),
    "cross-partition, vectors": (_CROSS, f"'bucket' = '-1', {_DV}"),
    "postpone": (_KEY, "'bucket' = '-2'"),
}
PLAIN: dict[str, tuple[str, str]] = {
    "unaware": (")", "'bucket' = '-1'"),
    "unaware, partitions": (") PARTITIONED BY (p)", "'bucket' = '-1'"),
    "unaware, vectors": (")", f"'bucket' = '-1', {_DV}"),
    "fixed": (")", "'bucket' = '2', 'bucket-key' = 'id'"),
    "fixed, vectors": (")", f"'bucket' = '2', 'bucket-key' = 'id', {_DV}"),
}
"""Tables without a primary key."""
COLUMNS = "id INT, v STRING, n INT, p STRING"
ROWS = [
    [(1, "a", 10, "a"), (2, "b", 20, "b"), (3, "c", 30, "a")],
    [(3, "c2", 31, "a"), (4, "d", 40, "b")],
]
"""Two INSERTs."""
SOURCE = [(2, "s2", 50, "b"), (4, "s4", 200, "b"), (8, "s8", 8, "c")]
_MERGE = "MERGE INTO {t} USING src ON {t}.id = src.id AND {t}.p = src.p "
STATEMENTS: dict[str, str] = {
    "UPDATE": "UPDATE {t} SET n = n + 100, v = CASE WHEN id = 1 THEN CAST(NULL AS STRING) ELSE 'up' END WHERE id <= 2",
    "DELETE": "DELETE FROM {t} WHERE id = 2 OR n = 31",
    "DELETE all": "DELETE FROM {t}",
    "OVERWRITE": "INSERT OVERWRITE {t} VALUES (1, 'new', 5, 'a'), (9, 'nine', 9, 'c')",
    "OVERWRITE partition": "INSERT OVERWRITE {t} PARTITION (p = 'a') VALUES (9, 'nine', 9)",
    "MERGE": _MERGE + "WHEN MATCHED THEN UPDATE SET v = src.v WHEN NOT MATCHED THEN INSERT *",
    "MERGE deleting": _MERGE + "WHEN MATCHED AND src.n > 100 THEN DELETE WHEN MATCHED THEN UPDATE SET v = src.v",
}  # fmt: skip
_AS_CALL = {
    "MERGE": "CALL sys.merge_into('default.{t}', '', '', 'default.src', '{t}.id = src.id AND {t}.p = src.p', '', 'v = src.v', '', '*')",
    "MERGE deleting": "CALL sys.merge_into('default.{t}', '', '', 'default.src', '{t}.id = src.id AND {t}.p = src.p',"
    " 'src.n <= 100', 'v = src.v', '', '', 'src.n > 100')",
}
"""Flink has MERGE as a procedure, for key tables only."""


@dataclass(frozen=True, slots=True)
class Cell:
    engine: str
    """A name of `ENGINES`, or 'no key'."""
    bucket: str
    statement: str

    def __str__(self) -> str:
        return f"{self.engine} - {self.bucket} - {self.statement}"

    @property
    def keyed(self) -> bool:
        return self.engine != "no key"

    @property
    def postponed(self) -> bool:
        """Rows are seen once a compaction has given them a bucket."""
        return self.bucket == "postpone"

    def create(self, name: str) -> str:
        keys, options = (KEYED if self.keyed else PLAIN)[self.bucket]
        engine = ENGINES.get(self.engine, "")
        comma = ", " if keys.startswith("P") else ""
        return f"CREATE TABLE {name} ({COLUMNS}{comma}{keys} WITH ({options}{', ' if engine else ''}{engine})"

    def text(self, name: str) -> str:
        return STATEMENTS[self.statement].format(t=name)


CELLS = [
    Cell(engine, bucket, statement)
    for engine, buckets in [*((e, KEYED) for e in ENGINES), ("no key", PLAIN)]
    for bucket, (keys, options) in buckets.items()
    for statement in STATEMENTS
    if statement != "OVERWRITE partition" or "PARTITIONED" in keys
    if (engine, _DV in options) != ("first-row", True)
]
"""First-row tables have no deletion vectors: Java refuses to create them, and so does this."""


ALIKE = {
    "fixed, partitions": "cross-partition",
    "fixed, vectors": "fixed",
    "dynamic": "fixed",
    "dynamic, vectors": "fixed",
    "cross-partition, vectors": "cross-partition",
    "postpone": "fixed",
}
"""Bucket mode -> another that gives the same rows: buckets say where rows lie, not which there are. Flink was asked about
every mode of the first two merge engines, and a test compares them; of the other engines it was asked about the right side."""
ASKED_WHOLE = ("deduplicate", "partial-update", "no key")


def asked(cell: Cell) -> Cell:
    """The cell that has Flink's answer to this one."""
    if cell.engine in ASKED_WHOLE:
        return cell
    return Cell(cell.engine, ALIKE.get(cell.bucket, cell.bucket), cell.statement)


def values(rows: list[tuple[object, ...]]) -> str:
    return ", ".join("(" + ", ".join(repr(v) for v in row) + ")" for row in rows)


def _flink_sql(warehouse: str) -> str:
    out = [f"CREATE CATALOG pm WITH ('type' = 'paimon', 'warehouse' = '{warehouse}')", "USE CATALOG pm"]
    out += [f"CREATE TABLE src ({COLUMNS})", f"INSERT INTO src VALUES {values(SOURCE)}"]
    for number, cell in enumerate(CELLS):
        if asked(cell) != cell:
            continue
        name = f"c{number}"
        settle = [f"CALL sys.compact('default.{name}')"] if cell.postponed else []
        out.append(cell.create(name))
        for rows in ROWS:
            out += [f"INSERT INTO {name} VALUES {values(rows)}", *settle]
        text = _AS_CALL.get(cell.statement, STATEMENTS[cell.statement]).format(t=name)
        out += [text, *settle, f"-- @q {name}\nSELECT * FROM {name}"]
    return ";\n".join(out) + ";\n"


def _answers(directory: Path, log: str) -> dict[str, object]:
    """'refused', or the rows, by cell."""
    out: dict[str, object] = {}
    for number, cell in enumerate(CELLS):
        if asked(cell) != cell or (cell.statement.startswith("MERGE") and not cell.keyed):
            continue
        # Flink's MERGE writes deletes that partial-update then cannot read: that table is broken, so it counts as refused.
        if re.search(rf"^ERR  (?!CALL sys.compact).*\bc{number}\b", log, re.MULTILINE):
            out[str(cell)] = "refused"
            continue
        rows = [json.loads(line) for line in (directory / f"c{number}.jsonl").read_text().splitlines()]
        out[str(cell)] = sorted(([*r.values()] for r in rows), key=repr)
    return out


if __name__ == "__main__":
    if sys.argv[1] == "sql":
        print(_flink_sql(sys.argv[2]))
    else:
        found = _answers(Path(sys.argv[2]), Path(sys.argv[3]).read_text())
        Path(__file__).with_name("flink_answers.json").write_text(
            "{\n" + ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n"
        )
