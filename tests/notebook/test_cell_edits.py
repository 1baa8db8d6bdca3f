"""Cells of a key table that are changed in the grid: an UPDATE that is shown first, one commit, and undo."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from shell_kit import KEYED, Shell, rows

from paimon_nb.base.errors import CommitConflict, NullNotAllowed, PaimonError, SqlAnalysisError, UnsupportedOperation
from paimon_nb.notebook.grid.cell_edits import edited_table
from paimon_nb.notebook.magics.active import workbench
from paimon_nb.notebook.magics.grids import _cell_edits

if TYPE_CHECKING:
    from paimon_nb.notebook.widgets.grid import Grid


def grid_of(shell: Shell, query: str) -> Grid:
    """The grid of a query, as a front end gets it."""
    result = shell.value("%%paimon\n" + query)
    grid = result.result.grid()
    grid.rows.statement = result.statement
    edits = _cell_edits(grid.rows)
    assert edits is not None, query
    grid.allow_edits(edits)
    return grid


def heard(grid: Grid) -> list[Any]:
    """What the grid sends to the page from now on, without rows."""
    sent: list[Any] = []
    grid.send = lambda message, *_: None if "pages" in message else sent.append(message)  # type: ignore[method-assign]
    return sent


@pytest.fixture
def keyed(shell: Shell) -> Any:
    shell.value("%%paimon -q\n" + KEYED.format("t"))
    table = workbench().table("t")
    table.upsert(rows([1, 2, 3], "old"))
    return table


def test_changed_cells_are_shown_as_update_written_in_one_commit_and_undone(shell: Shell, keyed: Any) -> None:
    grid = grid_of(shell, "SELECT v AS name, id FROM t ORDER BY id")
    sent = heard(grid)
    grid.on_message({"sort": [1, True]})
    grid.wait()
    grid.on_message({"edit": [0, 0], "text": "it's"})  # the last row, which is first now
    grid.on_message({"edit": [1, 0], "text": None})
    assert grid.visible.to_pydict() == {"name": ["it's", None, "old"], "id": [3, 2, 1]}
    assert grid.state["edits"] == {"cells": [[0, 0], [1, 0]], "undo": False, "count": 2}
    assert keyed.to_arrow().column("v").to_pylist() == ["old"] * 3

    grid.on_message({"edits": "show"})
    grid.on_message({"edits": "write"})

    assert sent == [
        {
            "edits_sql": "UPDATE `default`.`t` SET v = 'it''s' WHERE id = 3;\nUPDATE `default`.`t` SET v = NULL WHERE id = 2;"
        },
        {"edits_said": "written in snapshot 2"},
    ]
    assert keyed.refresh().to_arrow().to_pydict() == {"id": [1, 2, 3], "v": ["old", None, "it's"]}
    assert "UPDATE" in workbench().table("t").timeline().table["rows"][0]["statement"]

    grid.on_message({"edits": "undo"})

    assert sent[-1] == {"edits_said": "default.t rolled back to snapshot 1; snapshot 2 is removed"}
    assert keyed.refresh().to_arrow().column("v").to_pylist() == ["old"] * 3
    assert grid.visible.column("name").to_pylist() == ["old"] * 3


def test_a_discarded_change_leaves_the_result_as_it_was(shell: Shell, keyed: Any) -> None:  # noqa: ARG001
    grid = grid_of(shell, "SELECT * FROM t")
    before = grid.visible
    grid.on_message({"edit": [0, 1], "text": "x"})
    grid.on_message({"edit": [0, 1], "text": "y"})
    assert grid.state["edits"]["count"] == 1
    sent = heard(grid)
    grid.on_message({"edit_value": [0, 1]})
    assert sent == [{"edit_value": {"row": 0, "column": 1, "text": "y"}}]
    grid.on_message({"edits": "discard"})
    assert (grid.visible.to_pydict(), grid.state["edits"]["count"]) == (before.to_pydict(), 0)
    grid.on_message({"edit": [0, 1], "text": "y"})
    grid.on_message({"edit": [0, 1], "text": "old"})
    assert grid.state["edits"]["count"] == 0


def test_a_row_that_another_writer_changed_is_not_overwritten(shell: Shell, keyed: Any) -> None:
    grid = grid_of(shell, "SELECT * FROM t ORDER BY id")
    assert grid.edits is not None
    grid.on_message({"edit": [0, 1], "text": "mine"})
    grid.on_message({"edit": [1, 1], "text": "mine"})
    keyed.upsert(rows([2], "theirs"))
    with pytest.raises(CommitConflict, match=r"v of the row .* has changed since it was read"):
        grid.edits.write(grid.visible)
    keyed.delete("id = 2")
    with pytest.raises(CommitConflict, match=r"the row .* does not exist any more"):
        grid.edits.write(grid.visible)
    assert keyed.refresh().to_arrow().to_pydict() == {"id": [1, 3], "v": ["old", "old"]}
    assert grid.state["edits"]["count"] == 2


def test_each_type_is_typed_as_it_is_shown(shell: Shell) -> None:
    shell.value(
        "%%paimon -q\nCREATE TABLE types (day DATE, id BIGINT, a TINYINT, b DECIMAL(38, 18), c DOUBLE, d BOOLEAN, e TIMESTAMP(3), "
        "f TIMESTAMP_LTZ(6), g BYTES, i VARCHAR(3), PRIMARY KEY (day, id) NOT ENFORCED) PARTITIONED BY (day) WITH ('bucket' = '1')"
    )
    table = workbench().table("types")
    keys = {"day": [dt.date(2026, 1, d) for d in (1, 1, 2)], "id": [1, 2, 1]}
    nothing = {f.name: pa.nulls(3, f.type) for f in list(table.schema.arrow)[2:]}
    table.upsert(pa.table({**keys, **nothing}).cast(table.schema.arrow))
    grid = grid_of(shell, "SELECT * FROM types")
    assert grid.edits is not None
    typed = (
        "-128",
        "12345678901234567890.000000000000000001",
        "1e-3",
        "true",
        "2026-02-03 04:05:06.789",
        "2026-02-03 04:05:06",
        "00ff",
        "abc",
    )
    second = grid.visible.column("id").to_pylist().index(2)
    for column, text in enumerate(typed, 2):
        grid.on_message({"edit": [second, column], "text": text})
        assert (grid.trouble, grid.state["edits"]["count"]) == ("", column - 1)
    grid.edits.write(grid.visible)
    written = table.refresh().to_arrow()
    (row,) = (r for r in written.to_pylist() if r["id"] == 2)
    assert list(row.values())[2:7] == [
        -128,
        decimal.Decimal(typed[1]),
        0.001,
        True,
        dt.datetime(2026, 2, 3, 4, 5, 6, 789000),
    ]
    assert (row["g"], row["i"]) == (b"\x00\xff", "abc")
    assert written.num_rows == 3
    assert all(written.column(name).null_count == 2 for name in "abcdefgi")


def test_what_cannot_be_changed_says_why(shell: Shell, keyed: Any) -> None:  # noqa: ARG001
    workbench().run("CREATE TABLE log (id INT, v STRING)")
    workbench().run("INSERT INTO log VALUES (1, 'a')")
    workbench().run(
        "CREATE TABLE strict_t (id INT, n INT NOT NULL, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')"
    )
    workbench().run("INSERT INTO strict_t VALUES (1, 1)")
    cases = (
        ("SELECT * FROM t", 0, "7", UnsupportedOperation, "id is a column of the primary key"),
        ("SELECT v FROM t", 0, "x", UnsupportedOperation, "the result lacks id"),
        ("SELECT * FROM log", 1, "x", UnsupportedOperation, "default.log has no primary key"),
        ("SELECT * FROM strict_t", 1, None, NullNotAllowed, "n is NOT NULL"),
        ("SELECT * FROM strict_t", 1, "many", SqlAnalysisError, "'many' is not a valid INT"),
    )
    for query, column, text, error, message in cases:
        grid = grid_of(shell, query)
        assert grid.edits is not None
        with pytest.raises(error, match=message):
            grid.edits.change(grid.visible, 0, column, text)
        grid._on_message(None, {"edit": [0, column], "text": text}, [])
        assert (grid.is_refused, grid.state["edits"]["count"]) == (True, 0), query


def test_nan_is_a_value_and_a_text_that_is_too_long_is_refused(shell: Shell) -> None:
    shell.value(
        "%%paimon -q\nCREATE TABLE n (id INT, d DOUBLE, s VARCHAR(3), PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')"
    )
    table = workbench().table("n")
    table.upsert(pa.table({"id": [1], "d": [float("nan")], "s": ["abc"]}).cast(table.schema.arrow))
    grid = grid_of(shell, "SELECT * FROM n")
    assert grid.edits is not None
    grid.on_message({"edit": [0, 1], "text": "NaN"})
    assert grid.state["edits"]["count"] == 0
    grid.on_message({"edit": [0, 1], "text": "2"})
    grid.edits.write(grid.visible)
    assert table.refresh().to_arrow().to_pylist() == [{"id": 1, "d": 2.0, "s": "abc"}]
    changed = grid.edits.change(grid.visible, 0, 2, "abcd")
    with pytest.raises(PaimonError):
        grid.edits.write(changed)
    assert table.refresh().to_arrow().column("s").to_pylist() == ["abc"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, count(*) AS n FROM t GROUP BY id", "SELECT a.id, b.v FROM t a JOIN t b ON a.id = b.id", "SELECT id, upper(v) AS v FROM t",
        "SELECT DISTINCT id, v FROM t", "SELECT * FROM t VERSION AS OF 1", "SELECT * FROM `t$files`", "SELECT count(*) FROM t",
        "SELECT * FROM t UNION ALL SELECT * FROM t", "SELECT 1 AS id", "SHOW TABLES",
    ],
)  # fmt: skip
def test_rows_that_are_not_those_of_a_table_now_cannot_be_changed(keyed: Any, query: str) -> None:  # noqa: ARG001
    assert edited_table(workbench(), f"%%paimon\n{query}") is None
