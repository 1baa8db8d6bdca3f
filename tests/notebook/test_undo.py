"""Taking a cell back, and queries kept as snippets."""

from __future__ import annotations

import pytest
from shell_kit import KEYED, Shell, rows

from paimon_nb.base.errors import UnknownName, UnsupportedOperation
from paimon_nb.notebook.magics.active import current, workbench
from paimon_nb.notebook.snippets import query_text, with_snippets


@pytest.fixture
def two(shell: Shell) -> Shell:
    """Tables `a` and `b` with one snapshot each, made outside cells."""
    for name in ("a", "b"):
        shell.value("%%paimon -q\n" + KEYED.format(name))
        workbench().table(name).upsert(rows([1, 2, 3]))
    return shell


def latest(*names: str) -> list[int]:
    return [workbench().table(n).latest_snapshot().id for n in names]


CHANGE = (
    "%%paimon -q\nDELETE FROM a WHERE id = 1;\nCALL sys.compact(`table` => 'default.b');\nDELETE FROM a WHERE id = 2"
)


@pytest.mark.spark
def test_a_cell_is_taken_back_and_then_the_one_before(two: Shell) -> None:
    two.value("%%paimon -q\nDELETE FROM a WHERE id = 3")
    two.value(CHANGE)
    assert latest("a", "b") == [4, 2]
    assert two.printed("%paimon undo") == (
        "default.a rolled back to snapshot 2; snapshots 3 to 4 are removed\ndefault.b rolled back to snapshot 1; snapshot 2 is removed\n"
    )
    assert workbench().table("a").to_arrow()["id"].to_pylist() == [1, 2]
    assert two.printed("%paimon undo") == "default.a rolled back to snapshot 1; snapshot 2 is removed\n"
    assert workbench().table("a").to_arrow()["id"].to_pylist() == [1, 2, 3]
    assert "no cell of this session" in two.error("%paimon undo")[1]


@pytest.mark.spark
def test_what_others_did_since_stays(two: Shell) -> None:
    two.value(CHANGE)
    workbench().table("b").upsert(rows([9]))
    assert "has changed since the cell committed snapshot 2: the latest snapshot is 3" in two.error("%paimon undo")[1]
    assert latest("a", "b") == [3, 3]  # not half of it


@pytest.mark.spark
def test_a_tag_is_not_taken_away(two: Shell) -> None:
    two.value(CHANGE)
    workbench().table("a").tags.create("mine")
    assert "tag 'mine' of default.a protects a snapshot that undo would remove" in two.error("%paimon undo")[1]
    workbench().table("a").tags.delete("mine")
    two.value("%paimon undo")
    assert latest("a", "b") == [1, 1]


def test_a_first_snapshot_has_none_before_it(shell: Shell) -> None:
    shell.value("%%paimon -q\n" + KEYED.format("c"))
    workbench().commits.append(("default.c", 1))
    current.history.record([("default.c", 1)], 0)
    workbench().table("c").upsert(rows([1]))
    assert "first snapshot" in shell.error("%paimon undo")[1]
    assert latest("c") == [1]


@pytest.mark.spark
def test_a_table_made_anew_is_another_one(two: Shell) -> None:
    two.value("%%paimon -q\nDELETE FROM a WHERE id = 1")
    current.history.cells[-1] = type(current.history.cells[-1])(
        {"default.b": (1, 1)}, current.history.cells[-1].since_ms + 60_000
    )
    assert "was recreated after" in two.error("%paimon undo")[1]


@pytest.mark.spark
def test_what_was_committed_before_a_failure_can_be_undone(two: Shell) -> None:
    assert two.error("%%paimon\nDELETE FROM a WHERE id = 1;\nDELETE FROM nosuch WHERE id = 1")[0]
    assert latest("a") == [2]
    two.value("%paimon undo")
    assert latest("a") == [1]


def test_reading_leaves_nothing_to_undo(two: Shell) -> None:
    two.value("%%paimon -q\nSHOW TABLES")
    assert current.history.cells == []
    assert two.error("%paimon undo now")[0] == "UsageError"


# -- snippets


def test_a_snippet_goes_in_front_as_it_was_written() -> None:
    known = {"big": "SELECT * FROM t -- all\nWHERE n > :least", "odd": "VALUES (1)"}
    assert with_snippets("SELECT count(*) FROM big;", ["big"], known) == (
        "WITH `big` AS (\nSELECT * FROM t -- all\nWHERE n > :least\n)\nSELECT count(*) FROM big"
    )
    both = with_snippets("-- why\nWITH x AS (SELECT 1) SELECT * FROM x, odd", ["big", "odd"], known)
    assert both.startswith("-- why\nWITH `big` AS (\n")
    assert both.endswith("`odd` AS (\nVALUES (1)\n), x AS (SELECT 1) SELECT * FROM x, odd")


@pytest.mark.parametrize("text", ["SHOW TABLES", "SELECT 1; SELECT 2", "DELETE FROM t WHERE id = 1"])
def test_only_one_query_is_a_snippet(text: str) -> None:
    with pytest.raises(UnsupportedOperation, match="one query"):
        query_text(text)


def test_an_unknown_snippet_has_a_nearest_one() -> None:
    with pytest.raises(UnknownName) as raised:
        with_snippets("SELECT 1", ["bgi"], {"big": "SELECT 1"})
    assert "big" in str(raised.value.hint)


def test_snippets_are_saved_by_cells(shell: Shell) -> None:
    shell.printed("%%paimon --dry-run --save big\nSELECT 1 AS n;")
    shell.printed("%%paimon --dry-run --save more --with big\nSELECT n + 1 FROM big")
    assert current.snippets == {
        "big": "SELECT 1 AS n",
        "more": "WITH `big` AS (\nSELECT 1 AS n\n)\nSELECT n + 1 FROM big",
    }
    assert shell.printed("%paimon snippets").startswith("big\n    SELECT 1 AS n\nmore\n")
    assert shell.error("%%paimon --save 'a b'\nSELECT 1")[0] == "UsageError"
    assert "nearest" not in shell.error("%%paimon --with nope\nSELECT 1")[1]


@pytest.mark.spark
def test_snippets_answer(shell: Shell) -> None:
    shell.value("%%paimon -q --save big\nSELECT 20 AS n")
    shell.value("%%paimon -q --save more --with big\nSELECT n + 1 AS m FROM big")
    got = shell.value(
        "%%paimon --with big --with more\nWITH mine AS (SELECT 1 AS one) SELECT n, m, one FROM big, more, mine"
    )
    assert got.to_arrow().to_pylist() == [{"n": 20, "m": 21, "one": 1}]


PYTHON = "wb = get_ipython().run_line_magic('paimon', 'workbench'); from shell_kit import rows"


def test_a_python_cell_that_writes_is_undone(two: Shell) -> None:
    two.value(PYTHON)
    two.value("wb.table('a').upsert(rows([7]))\nwb.table('b').upsert(rows([8])); wb.table('b').upsert(rows([9]))")
    assert latest("a", "b") == [2, 3]
    assert two.printed("%paimon undo") == (
        "default.a rolled back to snapshot 1; snapshot 2 is removed\ndefault.b rolled back to snapshot 1; snapshots 2 to 3 are removed\n"
    )
    assert latest("a", "b") == [1, 1]
    assert "no cell of this session" in two.error("%paimon undo")[1]


def test_a_cell_with_statements_and_python_is_one_cell(two: Shell) -> None:
    two.value(PYTHON)
    two.value(
        "wb.table('a').upsert(rows([7]))\n%paimon INSERT INTO b VALUES (8, 'x')\nwb.run(\"INSERT INTO a VALUES (8, 'x')\")"
    )
    assert latest("a", "b") == [3, 2]
    two.value("%paimon undo")
    assert latest("a", "b") == [1, 1]


def test_the_history_shows_the_text_of_a_python_cell(two: Shell) -> None:
    two.value(PYTHON)
    cell = "wb.table('a').upsert(rows([7]))  # Monday's orders"
    two.value(cell)
    panel = two.value("wb.table('a').timeline()")
    assert [row["statement"] for row in panel.table["rows"]] == [cell, ""]


def test_commits_of_threads_and_of_other_warehouses_are_not_the_cells(two: Shell) -> None:
    two.value(PYTHON + "; import paimon_nb, threading")
    two.value("t = threading.Thread(target=lambda: wb.table('a').upsert(rows([7]))); t.start(); t.join()")
    two.value(
        "other = paimon_nb.connect('elsewhere'); other.create_table('a', rows([1]), primary_key='id').upsert(rows([2]))"
    )
    assert "no cell of this session" in two.error("%paimon undo")[1]


def test_a_rollback_counts_merged_rows(two: Shell) -> None:  # noqa: ARG001
    """Three versions of the same rows are three rows in files and one row of the table."""
    table = workbench().table("a")
    for _ in range(3):
        table.upsert(rows([1, 2, 3]))
    table.compact(full=True)
    table = table.refresh()
    panel = table.timeline()
    panel._on_message(None, {"preview_rollback": 4}, [])
    assert "Rows: 3 now, 3 after it." in panel.table["rollback"]["lines"]


def test_a_kernel_without_connect_says_which_warehouse_it_opened(shell: Shell) -> None:
    shell.value("%paimon connect wh")
    shell.value("%reload_ext paimon_nb")
    current.workbench = None
    said = shell.printed("%paimon tables")
    assert "no %paimon connect in this kernel: opened" in said
    assert "warehouse (without tables)" in said
    assert "no %paimon connect" not in shell.printed("%paimon tables")
