"""A catalog gives the same handle of a table while its schema stays. What others do to the table is seen all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import ColumnNotFound, TableNotFound, TimeTravelError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    wb.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    return wb


@pytest.fixture
def other(wb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    """A session of its own on the same warehouse: it shares nothing with the first but the files."""
    return paimon_nb.connect(wb.session.catalog.warehouse)


def value(wb: paimon_nb.Workbench, key: int = 1) -> list[object]:
    return wb.table("t").lookup(id=key).column("v").to_pylist()


def test_an_unchanged_table_has_one_handle_for_each_set_of_options(wb: paimon_nb.Workbench) -> None:
    assert wb.table("t") is wb.table("default.t") is wb.table("t")
    assert wb.table("t", **{"scan.snapshot-id": "1"}) is not wb.table("t")
    wb.run("INSERT INTO t VALUES (1, 'c')")
    assert wb.table("t", **{"scan.snapshot-id": "1"}).to_arrow(where="id = 1").column("v").to_pylist() == ["a"]
    assert value(wb) == ["c"]


def test_a_lookup_sees_the_commits_of_others(wb: paimon_nb.Workbench, other: paimon_nb.Workbench) -> None:
    assert value(wb) == ["a"]
    other.run("INSERT INTO t VALUES (1, 'theirs')")
    assert value(wb) == ["theirs"]
    other.table("t").compact()
    assert value(wb) == ["theirs"]
    other.table("t").delete("id = 1")
    assert (value(wb), value(wb, 2)) == ([], ["b"])


@pytest.mark.parametrize("by", ["this session", "another"])
def test_a_changed_schema_has_a_new_handle(wb: paimon_nb.Workbench, other: paimon_nb.Workbench, by: str) -> None:
    before = wb.table("t")
    session = wb if by == "this session" else other
    session.run("ALTER TABLE t ADD COLUMN w INT; INSERT INTO t VALUES (1, 'x', 7)")
    assert wb.table("t").lookup(id=1).to_pylist() == [{"id": 1, "v": "x", "w": 7}]
    assert before.schema.names == ("id", "v")
    wb.run("INSERT INTO t VALUES (3, 'y', 8)")
    assert other.table("t").lookup(id=3).to_pylist() == [{"id": 3, "v": "y", "w": 8}]


@pytest.mark.parametrize("by", ["this session", "another"])
def test_a_table_that_was_made_again_is_another(wb: paimon_nb.Workbench, other: paimon_nb.Workbench, by: str) -> None:
    assert value(wb) == ["a"]
    session = wb if by == "this session" else other
    session.run("DROP TABLE t")
    with pytest.raises(TableNotFound):
        wb.table("t")
    session.run("CREATE TABLE t (k INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')")
    with pytest.raises(ColumnNotFound):
        wb.table("t").lookup(id=1)
    wb.run("INSERT INTO t VALUES (5)")
    assert wb.table("t").lookup(k=5).to_pylist() == [{"k": 5}]


def test_the_same_definition_made_again_has_none_of_the_old_rows(
    wb: paimon_nb.Workbench, other: paimon_nb.Workbench
) -> None:
    assert value(wb) == ["a"]
    other.run(
        "DROP TABLE t; CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');"
        "INSERT INTO t VALUES (1, 'new')"
    )
    assert value(wb) == ["new"]
    wb.table("t").append(pa.table({"id": pa.array([2], pa.int32()), "v": ["mine"]}))
    assert other.table("t").to_arrow().sort_by("id").column("v").to_pylist() == ["new", "mine"]


def test_a_snapshot_that_was_rolled_back_is_not_remembered(wb: paimon_nb.Workbench, other: paimon_nb.Workbench) -> None:
    wb.run("INSERT INTO t VALUES (1, 'gone')")
    assert wb.table("t").to_arrow(snapshot=2, where="id = 1").column("v").to_pylist() == ["gone"]
    other.run("CALL sys.rollback_to('t', 1)")
    with pytest.raises(TimeTravelError):
        wb.table("t").to_arrow(snapshot=2)
    other.run("INSERT INTO t VALUES (1, 'again')")
    assert wb.table("t").to_arrow(snapshot=2, where="id = 1").column("v").to_pylist() == ["again"]
    assert value(wb) == ["again"]


def test_a_branch_and_the_option_branch(wb: paimon_nb.Workbench) -> None:
    wb.run("CALL sys.create_branch('t', 'dev'); INSERT INTO `t$branch_dev` VALUES (1, 'dev')")
    assert value(wb) == ["a"]
    assert wb.table("t$branch_dev").to_arrow().to_pylist() == [{"id": 1, "v": "dev"}]
    assert wb.table("t", branch="dev").to_arrow().to_pylist() == [{"id": 1, "v": "dev"}]
    wb.run("ALTER TABLE t SET ('branch' = 'dev')")
    assert wb.table("t").to_arrow().to_pylist() == [{"id": 1, "v": "dev"}]
    wb.run("ALTER TABLE `t$branch_dev` ADD COLUMN w INT")
    assert wb.table("t").schema.names == ("id", "v", "w")
