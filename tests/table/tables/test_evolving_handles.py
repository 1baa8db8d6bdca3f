"""Schema, options, tags, branches and history through handles, without SQL."""

from __future__ import annotations

import datetime as dt
import hashlib
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import (
    AccessDenied,
    AlreadyExists,
    BadOptionValue,
    BranchNotFound,
    ColumnNotFound,
    FixedOption,
    SchemaChangeError,
    SnapshotNotFound,
    TagNotFound,
    TimeTravelError,
    UnsupportedOperation,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def wb(tmp_path: Path) -> Iterator[paimon_nb.Workbench]:
    with paimon_nb.connect(str(tmp_path)) as workbench:
        yield workbench


@pytest.fixture
def t(wb) -> paimon_nb.Table:
    """Three snapshots; the first is tagged `first`."""
    t = wb.create_table("t", pa.table({"id": [1, 2], "name": ["a", "b"]}), primary_key="id", options={"bucket": 1})
    t.tags.create("first")
    t.append(pa.table({"id": [3], "name": ["c"]}))
    t.append(pa.table({"id": [1], "name": ["A"]}))
    return t


def test_columns_are_added_renamed_and_dropped_and_old_rows_follow(t) -> None:
    t = t.add_column("price", pa.decimal128(10, 2), comment="in euros", after="id")
    t = t.add_column("added", "ROW<a INT, b STRING>")
    t = t.rename_column("name", "title").add_column("added.c", pa.list_(pa.string()))
    t.append(pa.table({"id": [4], "title": ["d"]}))
    assert t.schema.names == ["id", "price", "title", "added"] or t.schema.names == ("id", "price", "title", "added")
    assert t.schema.field("price").description == "in euros"
    assert t.where("id = 2").to_arrow().to_pylist() == [{"id": 2, "price": None, "title": "b", "added": None}]
    assert t.select("id", "name").at(tag="first").count() == 2
    assert list(t.drop_column("added").schema.names) == ["id", "price", "title"]


def test_several_changes_are_applied_together_or_not_at_all(t) -> None:
    with pytest.raises(ColumnNotFound):
        t.alter().add_column("x", "INT").drop_column("nope").execute()
    assert t.schemas().num_rows == 1
    with t.alter() as change:
        change.add_column("x", pa.int32(), first=True).alter_column("name", comment="of a person").set_comment("people")
        change.set_options({"snapshot.num-retained.max": 30, "write-only": True})
    t = t.refresh()
    assert (t.schemas().num_rows, list(t.schema.names), t.schema.comment) == (2, ["x", "id", "name"], "people")
    assert (t.options.raw["write-only"], t.options.raw["snapshot.num-retained.max"]) == ("true", "30")
    t = t.alter().reset_options("write-only").alter_column("x", type="BIGINT", after="id").execute()
    assert ("write-only" in t.options.raw, list(t.schema.names)) == (False, ["id", "x", "name"])
    assert repr(t.alter().drop_column("x")) == "SchemaChange(default.t: drop_column x)"


def test_a_change_that_fails_inside_a_block_changes_nothing(t) -> None:
    def change_and_fail() -> None:
        with t.alter() as change:
            change.add_column("x", "INT")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        change_and_fail()
    assert t.schemas().num_rows == 1


def test_changes_that_are_not_possible_are_refused(t, tmp_path: Path) -> None:
    for error, call in (
        (SchemaChangeError, lambda: t.add_column("name", "INT")),
        (SchemaChangeError, lambda: t.drop_column("id")),
        (FixedOption, lambda: t.set_options({"merge-engine": "aggregation"})),
        (BadOptionValue, lambda: t.set_options({"snapshot.num-retained.max": "many"})),
        (UnsupportedOperation, lambda: paimon_nb.open_table(f"{tmp_path}/default.db/t").add_column("x", "INT")),
    ):
        with pytest.raises(error) as raised:
            call()
        assert raised.value.hint
    assert t.schemas().num_rows == 1


def test_tags_are_called_and_changed(t) -> None:
    t.tags.create("second", 2, retained="1 d")
    t.tags.create("third", retained=dt.timedelta(days=2))
    t.tags.rename("third", "last")
    t.tags.replace("second", 3)
    t.tags.replace("new", 1, create=True)
    t.tags.delete("first")
    t.tags.delete("first", if_exists=True)
    found = {r["tag_name"]: r["snapshot_id"] for r in t.tags().to_pylist()}
    assert found == {"second": 3, "last": 3, "new": 1}
    assert repr(t.tags) == "<Tags of default.t: last, new, second>"
    with pytest.raises(TagNotFound):
        t.tags.delete("first")
    with pytest.raises(AlreadyExists):
        t.tags.create("new")
    with pytest.raises(BadOptionValue):
        t.tags.create("x", retained="soon")
    with pytest.raises(SnapshotNotFound):
        t.tags.create("x", 99)


def test_branches_are_called_and_changed(wb, t) -> None:
    assert t.branches.create("trial", tag="first") is True
    assert t.branches.create("trial", if_not_exists=True) is False
    wb.table("t$branch_trial").append(pa.table({"id": [7], "name": ["g"]}))
    t.branches.create("empty")
    t.branches.rename("empty", "spare")
    assert sorted(t.branches().column("branch_name").to_pylist()) == ["spare", "trial"]
    t.branches.fast_forward("trial")
    assert sorted(t.to_arrow(["id"]).column("id").to_pylist()) == [1, 2, 7]
    t.branches.delete("spare")
    assert repr(t.branches) == "<Branches of default.t: trial>"
    with pytest.raises(BranchNotFound):
        t.branches.delete("spare")
    with pytest.raises(AlreadyExists):
        t.branches.create("trial")


def test_history_rollback_and_expiry(t) -> None:
    assert t.history().column("snapshot_id").to_pylist() == [3, 2, 1]
    assert t.rollback_to(2) == 2
    assert sorted(t.to_arrow().to_pylist(), key=str)[0] == {"id": 1, "name": "a"}
    second = t.latest_snapshot().time_ms
    assert t.rollback_to(timestamp=second) == 2
    assert t.rollback_to(tag="first") == 1
    assert t.count() == 2
    t.append(pa.table({"id": [9], "name": ["i"]}))
    assert t.expire(older_than=dt.timedelta(days=1), retain_min=1) == 0
    assert t.expire(retain_max=1) == 1
    assert t.at(tag="first").count() == 2
    with pytest.raises(BadOptionValue):
        t.rollback_to()
    with pytest.raises(TimeTravelError):
        t.rollback_to(timestamp=1)
    with pytest.raises(BadOptionValue):
        t.expire(retain_max=0)


def test_a_handle_without_the_right_to_alter_is_refused(tmp_path: Path) -> None:
    with paimon_nb.connect(str(tmp_path)) as wb:
        wb.create_table("t", pa.table({"id": [1]}))
        wb.run("CALL sys.init_file_based_privilege('root-password')")
    root = {"user": "root", "password": "root-password"}
    with paimon_nb.connect(str(tmp_path), options=root) as wb:
        wb.run("CALL sys.create_privileged_user('reader', 'pw')")
        wb.run("CALL sys.grant_privilege_to_user('reader', 'SELECT', 'default', 't')")
    with (
        paimon_nb.connect(str(tmp_path), options={"user": "reader", "password": "pw"}) as wb,
        pytest.raises(AccessDenied),
    ):
        wb.table("t").add_column("x", "INT")


def test_a_handle_is_pickled_without_its_catalog(t) -> None:
    copied = pickle.loads(pickle.dumps(t))
    assert copied.count() == 3
    with pytest.raises(UnsupportedOperation):
        copied.add_column("x", "INT")


def test_checkpoints_know_a_table_by_the_digest_of_its_first_schema(t):
    t.add_column("later", "INT")

    identity = paimon_nb.open_table(t.path).store.identity

    assert identity == hashlib.sha256(Path(t.path, "schema", "schema-0").read_bytes()).hexdigest()
