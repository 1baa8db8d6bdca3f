"""How many files of the package one call goes through: a person who follows it should not open more than docs/architecture.md says.

Functions that run are counted, and not what importing a module runs. `pytest -s` prints the files.
"""

from __future__ import annotations

import inspect
import re
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

PACKAGE = Path(paimon_nb.__file__).parent
STATED = re.compile(r"^\| ([^|]+) \| (\d+) \| \d+ \|$", re.MULTILINE)
"""A line of the page: the call, the most files it may enter, the aim."""
GENERATED = "base/lazy_dataclass.py"
"""Methods of dataclasses: nobody opens a file to follow them. Those that the standard decorator compiles are in none, either."""


def entered(call: Callable[[], object]) -> list[str]:
    """The files of the package with functions that the call runs, in this thread or in threads that it starts."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        in_function = code.co_flags & inspect.CO_OPTIMIZED  # neither the body of a module nor that of a class
        if event == "call" and in_function and code.co_filename.startswith(str(PACKAGE)):
            found.add(str(Path(code.co_filename).relative_to(PACKAGE)))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(found - {GENERATED})


def rows(key: int, value: str) -> pa.Table:
    return pa.table({"id": pa.array([key], pa.int32()), "v": [value]})


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    """A workbench with two primary-key tables. Both were written and read, so everything is imported."""
    wb = paimon_nb.connect(str(tmp_path / "w"))
    for name in ("t", "other"):
        wb.run(f"CREATE TABLE {name} (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
        wb.run(f"INSERT INTO {name} VALUES (1, 'a')")
        wb.table(name).append(rows(1, "b"))
        assert wb.table(name).to_arrow(where="v <> 'a'").num_rows == 1
    return wb


def check(call: str, files: list[str]) -> None:
    """Compares the number with the page's line for a call."""
    page = PACKAGE.parent / "docs" / "architecture.md"
    stated = {name: int(most) for name, most in STATED.findall(page.read_text())}
    print(f"\n{call}: {len(files)} files", *files, sep="\n  ")
    assert len(files) <= stated[call]


def test_an_insert_of_one_row(wb: paimon_nb.Workbench) -> None:
    table = wb.table("t")
    check("`Table.append`", entered(lambda: table.append(rows(2, "c"))))
    assert table.to_arrow().num_rows == 2


def test_an_insert_of_one_row_in_sql(wb: paimon_nb.Workbench) -> None:
    files = entered(lambda: wb.run("INSERT INTO t VALUES (2, 'c')"))
    check("`INSERT INTO t VALUES`", files)
    assert wb.table("t").to_arrow().num_rows == 2


@pytest.mark.parametrize("where", ["id >= 1 AND v <> 'q'", "v = 'b'", "id = 1"])
def test_a_merge_on_read(wb: paimon_nb.Workbench, where: str) -> None:
    table = wb.table("t")
    found: list[pa.Table] = []
    check("`Table.to_arrow`", entered(lambda: found.append(table.to_arrow(where=where))))
    assert found[0].to_pylist() == [{"id": 1, "v": "b"}]


def test_a_batch_of_a_stream(wb: paimon_nb.Workbench) -> None:
    stream, found = wb.table("t").stream(), []
    check("`Table.stream`, the first batch", entered(lambda: found.append(next(iter(stream)))))
    assert [row["v"] for row in found[0].rows.to_pylist()] == ["b"]


SELECTS = {
    "a displayed SELECT by this process": "SELECT v FROM t WHERE id = 1",
    "a displayed SELECT by the embedded engine": "SELECT v, count(*) AS n FROM t GROUP BY v",
}


@pytest.mark.parametrize("call", SELECTS)
def test_a_displayed_select(wb: paimon_nb.Workbench, call: str) -> None:
    found: list[pa.Table | None] = []
    wb.run(SELECTS[call])  # everything is imported
    check(call, entered(lambda: found.append(wb.run(SELECTS[call]).arrow)))
    assert found[0] is not None
    assert found[0].column("v").to_pylist() == ["b"]


def test_functions_are_counted_and_definitions_are_not() -> None:
    assert entered(lambda: exec("class Some:\n    x = 1")) == []
    assert entered(lambda: dir(paimon_nb)) == ["__init__.py"]
