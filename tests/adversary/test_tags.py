"""A tag whose files are gone can be deleted, and stops only what could delete files that it may need."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from adversary_kit import CALLS_OF_MAINTENANCE, before_call

import paimon_nb
from paimon_nb.base.errors import AlreadyExists, FormatError, SnapshotNotFound, TagNotFound
from paimon_nb.fs import LocalFileIO

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paimon_nb.workbench import Workbench


def append(wb: Workbench, *ids: int) -> None:
    wb.table("t").append(pa.table({"id": pa.array(ids, pa.int32())}))


def ids_of(wb: Workbench, **options: str) -> list[int]:
    return sorted(wb.table("t").copy(options).to_arrow().column("id").to_pylist())


def made(tmp_path: Path) -> Workbench:
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1', 'write-only' = 'true')")
    for n in range(1, 5):
        append(wb, n)
        wb.run(f"CALL sys.create_tag('t', 'tag{n}')")
    return wb


def tag_names(wb: Workbench) -> list[str]:
    return sorted(wb.run("SELECT tag_name FROM t$tags").to_arrow().column(0).to_pylist())


def broken(tmp_path: Path, way: str) -> Workbench:
    """A table whose tag `tag1` lacks a file, or is no JSON; its snapshot has expired."""
    wb = made(tmp_path)
    wb.run("CALL sys.expire_snapshots(`table` => 't', retain_max => 3, retain_min => 3)")
    table = tmp_path / "default.db/t"
    if way == "tag file":
        (table / "tag/tag-tag1").write_text("{")
    else:
        (table / "manifest" / json.loads((table / "tag/tag-tag1").read_text())[way]).unlink()
    return paimon_nb.connect(str(tmp_path))


WAYS = ["deltaManifestList", "baseManifestList", "tag file"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("statement", ["CALL sys.delete_tag('t', 'tag1')", "ALTER TABLE t DELETE TAG tag1"])
def test_a_broken_tag_can_be_deleted(tmp_path, way, statement):
    wb = broken(tmp_path, way)
    wb.run(statement)
    assert tag_names(wb) == ["tag2", "tag3", "tag4"]
    wb.run("CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)")
    wb.run("CALL sys.rollback('t', 'tag2')")
    assert ids_of(wb) == [1, 2]


@pytest.mark.parametrize("way", WAYS)
def test_a_broken_tag_stops_deletions_of_files_and_nothing_else(tmp_path, way):
    wb = broken(tmp_path, way)
    for stopped in ("expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)", "remove_orphan_files('t')"):
        with pytest.raises(FormatError, match="tag 'tag1' of t cannot be read") as caught:
            wb.run(f"CALL sys.{stopped}")
        assert "CALL sys.delete_tag('t', 'tag1') removes the tag" in caught.value.hint
    (finding,) = wb.table("t").health()
    assert (finding.grade, finding.what, finding.fix) == (
        "broken",
        "unreadable tag",
        "CALL sys.delete_tag('default.t', 'tag1')",
    )
    append(wb, 5)
    wb.run("CALL sys.create_tag('t', 'other')")
    wb.run("CALL sys.delete_tag('t', 'other')")
    wb.run("CALL sys.delete_tag('t', 'tag3')")
    wb.run("CALL sys.rollback('t', '3')")
    assert ids_of(wb) == [1, 2, 3]
    wb.run(finding.fix)
    assert (tag_names(wb), ids_of(wb, **{"scan.tag-name": "tag2"})) == (["tag2"], [1, 2])
    assert [f.grade for f in wb.table("t").health()] == ["ok"]


@pytest.mark.parametrize("way", WAYS[:2])
def test_a_broken_tag_can_be_replaced(tmp_path, way):
    wb = broken(tmp_path, way)
    wb.run("CALL sys.replace_tag('t', 'tag1', 4)")
    assert ids_of(wb, **{"scan.tag-name": "tag1"}) == [1, 2, 3, 4]


REMOVERS = {
    "expire": "CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)",
    "rollback": "CALL sys.rollback('t', '1')",
    "delete the other tag": "CALL sys.delete_tag('t', 'only')",
}


@pytest.mark.parametrize("remover", REMOVERS)
@pytest.mark.parametrize("tagging", ["CALL sys.create_tag('t', 'new', {})", "CALL sys.replace_tag('t', 'old', {})"])
def test_a_tag_and_a_removal_of_its_snapshot_at_once(tmp_path, remover, tagging, monkeypatch):
    """One runs completely before each change of the other, in turn: each tag that is there at the end can be read and deleted."""
    number, changes = 0, 1
    while number < changes:
        changes = _interleaved(tmp_path / f"a{number}", tagging.format(2), REMOVERS[remover], number, monkeypatch)
        _interleaved(tmp_path / f"b{number}", REMOVERS[remover], tagging.format(2), number, monkeypatch)
        number += 1


@pytest.mark.parametrize("again", [False, True], ids=["deleted", "replaced"])
def test_a_branch_of_a_tag_that_is_removed_meanwhile(tmp_path, again):
    """The files of the tag are gone: the branch is not created, so that nothing stops on it."""

    def others() -> None:
        other.run("CALL sys.delete_tag('t', 'tag1')")
        if again:
            other.run("CALL sys.create_tag('t', 'tag1', 2)")

    call, there = 0, True
    while there:
        call += 1
        wb, other = (paimon_nb.connect(str(tmp_path / str(call))) for _ in range(2))
        wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1', 'write-only' = 'true')")
        wb.run("INSERT OVERWRITE t VALUES (1); CALL sys.create_tag('t', 'tag1'); INSERT OVERWRITE t VALUES (2)")
        wb.run(REMOVERS["expire"])
        with before_call(call, others, CALLS_OF_MAINTENANCE) as is_there, suppress(TagNotFound):
            wb.run("CALL sys.create_branch('t', 'b', 'tag1')")
        there = is_there()
        fresh = paimon_nb.connect(str(tmp_path / str(call)))
        if "b" in fresh.table("t").store.branches.names():
            assert fresh.table("default.t$branch_b").to_arrow().num_rows == 1, call
        append(fresh, 3)
        fresh.run(REMOVERS["expire"])
        assert ids_of(fresh) == [2, 3]
    assert call > 5


def _interleaved(folder: Path, first: str, second: str, number: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run `second` before the change `number` of `first`. Returns the number of changes of `first`."""
    wb, other = paimon_nb.connect(str(folder)), paimon_nb.connect(str(folder))
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1', 'write-only' = 'true')")
    for n in range(1, 4):
        wb.run(f"INSERT OVERWRITE t VALUES ({n})")
    wb.run("CALL sys.create_tag('t', 'old', 1)")
    if "only" in first + second:
        wb.run("CALL sys.create_tag('t', 'only', 2)")
        wb.run(REMOVERS["expire"])
    seen = 0

    def change() -> None:
        nonlocal seen
        seen += 1
        if seen == number + 1:
            seen = -1000
            _allowed_to_fail(other, second)
            seen = number + 1

    for name in ("put_if_absent", "overwrite", "delete", "delete_each"):
        monkeypatch.setattr(LocalFileIO, name, _before(change, getattr(LocalFileIO, name)))
    _allowed_to_fail(wb, first)
    monkeypatch.undo()
    fresh = paimon_nb.connect(str(folder))
    for tag in tag_names(fresh):
        assert len(ids_of(fresh, **{"scan.tag-name": tag})) == 1
    for tag in tag_names(fresh):
        fresh.run(f"CALL sys.delete_tag('t', '{tag}')")
    assert len(ids_of(fresh)) == 1
    return min(seen, 12)


def _before(act: Callable[[], None], call: Callable[..., Any]) -> Callable[..., Any]:
    def acting(self: Any, *arguments: Any, **named: Any) -> Any:
        act()
        return call(self, *arguments, **named)

    return acting


def _allowed_to_fail(wb: Workbench, statement: str) -> None:
    with suppress(SnapshotNotFound, TagNotFound, AlreadyExists):
        wb.run(statement)
