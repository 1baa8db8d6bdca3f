"""The members of a table that group its methods, and the names that they replace."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paimon_nb import Table


@pytest.fixture
def table(tmp_path: Path) -> Table:
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (id INT, v INT)")
    for i in (2, 1):
        wb.table("t").append(pa.table({"id": pa.array([i], pa.int32()), "v": pa.array([i], pa.int32())}))
    return wb.table("t")


@pytest.mark.parametrize("name", ["snapshots", "files", "manifests", "schemas", "partitions", "buckets", "consumers"])
def test_inspect_has_the_facts_of_the_table(table, name):
    assert getattr(table.inspect, name)().equals(getattr(table, name)())
    assert table.inspect.system(name).equals(table.system(name))


def test_maintain_rewrites_files(table):
    assert table.maintain.sort_compact("order", ["id"]) == [3]
    assert table.to_arrow().column("id").to_pylist() == [1, 2]
    assert table.maintain.expire(retain_max=1, retain_min=1) == 2
    assert table.maintain.analyze(None) == 4
    assert table.maintain.compact() == []
    assert table.inspect.system("statistics").num_rows == 1


OLD: dict[str, tuple[Callable[[Table], object], str]] = {
    "create_tag": (lambda t: t.create_tag("x"), "t.tags.create()"),
    "replace_tag": (lambda t: t.replace_tag("x", 1, create=True), "t.tags.replace()"),
    "rename_tag": (lambda t: (t.tags.create("x"), t.rename_tag("x", "y")), "t.tags.rename()"),
    "delete_tag": (lambda t: t.delete_tag("x", if_exists=True), "t.tags.delete()"),
    "analyze": (lambda t: t.analyze(), "t.maintain.analyze()"),
    "sort_compact": (lambda t: t.sort_compact("order", ["id"]), "t.maintain.sort_compact()"),
    "compare": (lambda t: t.compare(1, 2), "t.inspect.compare()"),
}


@pytest.mark.parametrize("name", OLD)
def test_an_old_name_works_and_names_the_new_one(table, name):
    act, new = OLD[name]
    with pytest.warns(DeprecationWarning, match="is deprecated") as raised:
        act(table)
    assert [str(w.message) for w in raised] == [f"{name}() is deprecated since 0.1 and goes in 0.3; use {new}"]
    assert raised[0].filename == __file__


def test_an_old_name_of_a_table_with_keys(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE k (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    wb.table("k").append(pa.table({"id": pa.array([1], pa.int32())}))
    with pytest.warns(DeprecationWarning, match=r"use t.inspect.due_compactions\(\)"):
        old = wb.table("k").due_compactions()
    assert [due.runs for due in old] == [due.runs for due in wb.table("k").inspect.due_compactions()]


def test_names_of_today_do_not_warn(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        table.tags.create("x", 1)
        table.rollback_to(tag="x")
        table.compact()
        table.expire()
        assert table.health()
