"""The examples in the docstrings of the public API, each run on a fresh table; and what those docstrings must say."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb import workbench
from paimon_nb.catalog import api
from paimon_nb.session.core import live_result, result
from paimon_nb.table.read import query
from paimon_nb.table.read.stream import stream
from paimon_nb.table.tables import altering, handle, inspection, reading, schema_change, table
from paimon_nb.table.tables import open as table_open
from paimon_nb.table.write import merge_builder, table_write
from paimon_nb.table.write.commit import commit
from paimon_nb.table.write.publish import publisher

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "generate"))

from typing import TYPE_CHECKING

import public_api

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = (
    workbench, handle, reading, inspection, table, table_open, api, query, stream, table_write, commit, publisher, result,
    live_result, merge_builder, altering, schema_change,
)  # fmt: skip
FINDER = doctest.DocTestFinder(exclude_empty=True)
EXAMPLES = {test.name: test for module in MODULES for test in FINDER.find(module) if test.examples}


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """`wb` with the table `orders` in `warehouse`, and its handle `t`: two commits, the first one tagged `monday`."""
    monkeypatch.chdir(tmp_path)
    with paimon_nb.connect("warehouse") as wb:
        wb.run(
            "CREATE TABLE orders (id INT, state STRING, price INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')"
        )
        wb.run("INSERT INTO orders VALUES (1, 'new', 20), (2, 'new', 35)")
        wb.run("CALL sys.create_tag('orders', 'monday', 1)")
        wb.run("INSERT INTO orders VALUES (1, 'paid', 20), (3, 'new', 8)")
        yield {"paimon_nb": paimon_nb, "pa": pa, "wb": wb, "t": wb.table("orders")}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_example(name: str, scene: dict[str, object]) -> None:
    test, wrong = EXAMPLES[name], []
    test.globs = dict(scene)
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=wrong.append)
    assert "".join(wrong) == ""


def test_every_public_member_and_parameter_is_described() -> None:
    assert public_api.problems() == []
    assert public_api.members() > 140
    assert len(EXAMPLES) > 40


def test_reprs_are_short(scene: dict[str, object]) -> None:
    handle = scene["t"]
    assert isinstance(handle, paimon_nb.Table)
    scan = handle.scan("id = 1")
    assert repr(scan) == "<Scan of orders: <ScanPlan snapshot 2, where id = 1: 1 splits, 2 files>>"
    assert repr(scan.store).endswith("orders, branch main, schema 0>")


def test_a_predicate_is_exported_and_taken_as_a_condition(scene: dict[str, object]) -> None:
    handle = scene["t"]
    assert isinstance(handle, paimon_nb.Table)
    condition = handle.scan("id = 1").plan.predicate
    assert isinstance(condition, paimon_nb.Predicate)
    assert handle.to_arrow(["state"], where=condition & condition).to_pylist() == [{"state": "paid"}]
