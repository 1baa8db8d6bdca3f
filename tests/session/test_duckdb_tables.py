"""DuckDB's dialect over tables: names, versions, frames, what is pushed down, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimon_nb
from paimon_nb.base.errors import SqlAnalysisError, SqlSyntaxError, TimeTravelError, UnsupportedOperation

if TYPE_CHECKING:
    from pathlib import Path

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    """Orders with keys, tagged after their first commit, and items in another database."""
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("""
        CREATE TABLE orders (id INT, state STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
        INSERT INTO orders VALUES (1, 'new'), (2, 'new');
        CALL sys.create_tag('orders', 'v1');
        INSERT INTO orders VALUES (2, 'paid'), (3, 'new');
        CREATE DATABASE shop;
        CREATE TABLE shop.items (id INT, n BIGINT);
        INSERT INTO shop.items VALUES (1, 5), (2, 7)
    """)
    return wb


ANSWERS: dict[str, list[tuple[Any, ...]]] = {
    "FROM orders SELECT id, state ORDER BY ALL": [(1, "new"), (2, "paid"), (3, "new")],
    "SELECT state, count(*) FROM orders GROUP BY ALL ORDER BY state": [("new", 2), ("paid", 1)],
    "SELECT o.id, n FROM orders o JOIN shop.items USING (id) WHERE state = 'paid'": [(2, 7)],
    "SELECT sum(n) FROM paimon.shop.items": [(12,)],
    'SELECT commit_kind FROM "orders$snapshots" WHERE snapshot_id = 2': [("APPEND",)],
    "SELECT count(*) FROM orders AT (VERSION => 1)": [(2,)],
    "SELECT o.state FROM orders AS o AT (VERSION => 'v1') WHERE o.id = 2": [("new",)],
    "SELECT old.state, orders.state FROM orders AT (VERSION => 'v1') old JOIN orders USING (id) WHERE id > 1": [("new", "paid")],
    "SELECT count(*) FROM orders AT (TIMESTAMP => '2999-01-01')": [(3,)],
    "WITH orders AS (SELECT 7 AS id) SELECT id FROM orders": [(7,)],
    "SELECT 'orders' AS orders, \"state\" FROM orders WHERE id = 3": [("orders", "new")],
    "PIVOT orders ON state USING count(*) GROUP BY id": [(1, 1, 0), (2, 0, 1), (3, 1, 0)],
    "SHOW TABLES": [("orders",)],
    "SELECT 1; SELECT 2": [(2,)],
}  # fmt: skip


@pytest.mark.parametrize("text", ANSWERS)
def test_answers(wb: paimon_nb.Workbench, text: str) -> None:
    rows = wb.duckdb().sql(text).fetchall()
    assert (sorted(rows) if text.startswith("PIVOT") else rows) == ANSWERS[text]
    assert not wb.session.spark_started


def test_parameters_and_frames(wb: paimon_nb.Workbench) -> None:
    wb.session.variables = {"df": pa.table({"id": [2], "x": ["y"]}), "orders": pa.table({"no": [1]})}.get
    assert wb.duckdb().sql("SELECT x FROM df JOIN orders USING (id) WHERE state = $s", s="paid").fetchall() == [("y",)]
    tables = wb.duckdb()
    tables.connection.register("mine", pa.table({"id": [3]}))
    assert tables.sql("SELECT state FROM mine JOIN orders USING (id)").fetchall() == [("new",)]


REFUSED = {
    "INSERT INTO orders VALUES (9, 'x')": (UnsupportedOperation, "INSERT is refused"),
    "COPY orders TO 'x.csv'": (UnsupportedOperation, "COPY is refused"),
    "SELECT 1; DROP TABLE orders": (UnsupportedOperation, "DROP is refused"),
    "CREATE TABLE z AS PIVOT orders ON state USING count(*)": (UnsupportedOperation, "CREATE is refused"),
    "SET threads = 1": (UnsupportedOperation, "SET is refused"),
    "SELEC 1": (SqlSyntaxError, 'syntax error at or near "SELEC"'),
    "": (SqlSyntaxError, "no statement"),
    "SELECT nothing FROM orders": (SqlAnalysisError, "nothing"),
    "FROM nowhere": (SqlAnalysisError, "nowhere does not exist"),
    "SELECT count(*) FROM orders AT (TIMESTAMP => '2000-01-01')": (TimeTravelError, "no snapshot at or before"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(wb: paimon_nb.Workbench, text: str) -> None:
    kind, message = REFUSED[text]
    with pytest.raises(kind, match=message):
        wb.duckdb().sql(text)
    assert wb.table("orders").count() == 3


PUSHED = {
    "SELECT state FROM orders WHERE id > 1 AND id <= 7": (["state", "id"], "id > 1 AND id <= 7"),
    "SELECT id FROM orders WHERE state = 'new' OR id = 2": (["id", "state"], "state = 'new' OR id = 2"),
    "SELECT id FROM orders WHERE state IN ('paid', 'open')": (["id", "state"], "state IN ('paid', 'open')"),
    "SELECT id FROM orders WHERE state IS NULL": (["id", "state"], "state IS NULL"),
    "SELECT id FROM orders WHERE length(state) > 3 AND id = 2": (["id", "state"], "id = 2"),
    "SELECT id FROM orders": (["id"], "None"),
}


@pytest.mark.parametrize("text", PUSHED)
def test_columns_and_conditions_are_pushed_down(
    wb: paimon_nb.Workbench, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from paimon_nb.table.read.query import TableQuery

    seen: list[tuple[list[str], str]] = []
    read = TableQuery.to_reader

    def to_reader(self: TableQuery, **more: Any) -> Any:
        seen.append((list(self.columns or ()), str(self.condition)))
        return read(self, **more)

    monkeypatch.setattr(TableQuery, "to_reader", to_reader)
    wb.duckdb().sql(text).fetchall()
    assert seen == [PUSHED[text]]


HOSTILE = [
    pc.field("state") == "x' OR (\"state\" == \"new",
    (pc.field("id") > 1) & (pc.field("state") == "end: 'and_kleene'"),
    ~(pc.field("id") > 1),
    pc.field("id") + 1 > 2,
    pc.field("id").cast("float64") > 1.5,
    pc.if_else(pc.field("id") > 1, pc.field("state"), "new") == "new",
    pc.field("id").isin([1, None]),
    pc.field("id") > pa.scalar(None, pa.int32()),
    pc.scalar(True),
]  # fmt: skip


@pytest.mark.parametrize("filter", HOSTILE, ids=str)
def test_a_dataset_filters_as_arrow_does(wb: paimon_nb.Workbench, filter: pc.Expression) -> None:
    t = wb.table("orders")
    assert t.to_dataset().to_table(filter=filter) == t.to_arrow().filter(filter)
    assert t.to_dataset().count_rows(filter) == t.to_arrow().filter(filter).num_rows
    limited = t.limit(2).to_dataset().to_table(filter=pc.field("id") > 1)
    assert limited.num_rows < 3


def test_the_command_line(wb: paimon_nb.Workbench, tmp_path: Path) -> None:
    assert wb.tables() == ["orders"]
    command = [sys.executable, "-m", "paimon_nb.cli", "sql", "--warehouse", str(tmp_path / "w")]
    done = subprocess.run(
        [*command, "--engine", "duckdb", "FROM orders SELECT max(id) AS m"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.split() == ["m", "-", "3"]
    wrong = subprocess.run(
        [*command, "--engine", "local", "SELECT soundex(state) AS m FROM orders"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "cannot be answered without Spark" in wrong.stderr


def test_a_text_reads_one_snapshot_of_a_table(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE empty (id INT); ALTER TABLE orders ADD COLUMN late INT")
    texts = {
        "SELECT count(*), count(a.late) FROM orders a JOIN orders USING (id) JOIN shop.items i USING (id)": (2, 0),
        "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM paimon.default.orders)": (3, 3),
        "SELECT count(*) FROM orders AT (TIMESTAMP => '2999-01-01')": (3,),
        "SELECT count(*) FROM empty": (0,),
    }
    read = {text: wb.duckdb().sql(text) for text in texts}
    wb.run("INSERT INTO orders VALUES (4, 'new', 1); INSERT INTO empty VALUES (1)")
    assert {text: found.fetchall()[0] for text, found in read.items()} == texts
    assert wb.duckdb().sql("SELECT count(*), count(late) FROM orders").fetchall()[0] == (4, 1)
