"""Each cell of statement x merge engine x bucket mode: the rows that real Flink leaves, or refused with nothing written."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cells import ALIKE, ASKED_WHOLE, CELLS, COLUMNS, KEYED, ROWS, SOURCE, STATEMENTS, Cell, asked, values

from paimon_nb.base.errors import BadOptionValue, PaimonError

pytestmark = pytest.mark.spark
FLINK: dict[str, Any] = json.loads((Path(__file__).parent / "flink_answers.json").read_text())
REFUSED = "refused"
SLICE = 29
"""Every so many cells, so that each statement and each bucket mode is among them; all of them in the nightly run."""


def arrow(rows: list[tuple[Any, ...]]) -> pa.Table:
    types = (pa.int32(), pa.string(), pa.int32(), pa.string())
    columns = [pa.array(c, t) for c, t in zip(zip(*rows, strict=True), types, strict=True)]
    return pa.table(columns, names=["id", "v", "n", "p"])


def stored(wb) -> list[list[Any]]:
    return sorted(([*r.values()] for r in wb.table("t").to_arrow().to_pylist()), key=repr)


def picture(wb) -> dict[str, str]:
    root = Path(wb.table("t").path)
    return {str(p): hashlib.md5(p.read_bytes()).hexdigest() for p in root.rglob("*") if p.is_file()}


def by_plain_sql(cell: Cell) -> list[list[Any]]:
    """What the statement does to a table that is nothing but its rows."""
    db = sqlite3.connect(":memory:")
    for name, rows in (("t", [r for part in ROWS for r in part]), ("src", SOURCE)):
        db.execute(f"CREATE TABLE {name} ({COLUMNS.replace('STRING', 'TEXT')})")
        db.execute(f"INSERT INTO {name} VALUES {values(rows)}")
    same = "EXISTS (SELECT 1 FROM src WHERE src.id = t.id AND src.p = t.p{})"
    set_v = f"UPDATE t SET v = (SELECT v FROM src WHERE src.id = t.id) WHERE {same.format('')}"
    steps = {
        "UPDATE": [STATEMENTS["UPDATE"].format(t="t").replace("AS STRING", "AS TEXT")],
        "OVERWRITE": [
            "DELETE FROM t" + (" WHERE p IN ('a', 'c')" if "partitions" in cell.bucket else ""),
            "INSERT INTO t VALUES (1, 'new', 5, 'a'), (9, 'nine', 9, 'c')",
        ],
        "OVERWRITE partition": ["DELETE FROM t WHERE p = 'a'", "INSERT INTO t VALUES (9, 'nine', 9, 'a')"],
        "MERGE": [
            set_v,
            "INSERT INTO t SELECT * FROM src WHERE NOT EXISTS (SELECT 1 FROM t WHERE src.id = t.id AND src.p = t.p)",
        ],
        "MERGE deleting": [f"DELETE FROM t WHERE {same.format(' AND src.n > 100')}", set_v],
    }
    for step in steps.get(cell.statement, [cell.text("t")]):
        db.execute(step)
    return sorted(map(list, db.execute("SELECT * FROM t")), key=repr)


def expected(cell: Cell) -> Any:
    """Flink's answer, but two: rows of tables without keys change by the rules of SQL, and a DELETE without condition drops
    the files whatever the merge engine is. Spark does both, Flink refuses them."""
    if not cell.keyed or cell.statement == "DELETE all":
        return by_plain_sql(cell)
    return FLINK[str(asked(cell))]


def test_flink_gives_the_same_rows_however_they_are_bucketed():
    pairs = [
        (c, Cell(c.engine, ALIKE[c.bucket], c.statement))
        for c in CELLS
        if c.engine in ASKED_WHOLE[:2] and c.bucket in ALIKE
    ]
    assert {str(c): FLINK[str(c)] for c, _ in pairs} == {str(c): FLINK[str(other)] for c, other in pairs}
    assert len(pairs) > 70


def test_plain_sql_is_what_flink_does_where_it_does_it():
    both = {
        str(c): (FLINK[str(c)], by_plain_sql(c)) for c in CELLS if not c.keyed and FLINK.get(str(c), REFUSED) != REFUSED
    }
    assert {name: a for name, (a, _) in both.items()} == {name: b for name, (_, b) in both.items()}
    assert len(both) > 5


@pytest.mark.parametrize("bucket", [b for b in KEYED if "vectors" in b])
def test_first_row_has_no_vectors(swb, bucket):
    with pytest.raises(BadOptionValue, match="first-row"):
        swb.run(Cell("first-row", bucket, "UPDATE").create("t"))
    assert swb.run("SHOW TABLES").arrow.num_rows == 0


@pytest.mark.parametrize(
    "cell",
    [pytest.param(c, id=str(c), marks=[pytest.mark.nightly] if i % SLICE else []) for i, c in enumerate(CELLS)],
)
def test_cell(swb, cell):
    swb.run(f"{cell.create('t')}; CREATE TABLE src ({COLUMNS})")
    swb.table("src").append(arrow(SOURCE))
    settle = (lambda: swb.run("CALL sys.compact('t')")) if cell.postponed else (lambda: None)
    for rows in ROWS:
        swb.table("t").append(arrow(rows))
        settle()
    answer = expected(cell)
    if answer == REFUSED and cell.statement == "DELETE":  # Spark's DELETE rewrites files whose rows need no merging
        swb.run("CALL sys.compact('t')")
        answer = [row for row in stored(swb) if row[0] != 2 and row[2] != 31]
    before, files = stored(swb), picture(swb)
    if answer == REFUSED:
        with pytest.raises(PaimonError) as caught:
            swb.run(cell.text("t"))
        assert caught.value.hint
        assert (picture(swb), stored(swb)) == (files, before)
        return
    swb.run(cell.text("t"))
    settle()
    assert stored(swb) == answer
