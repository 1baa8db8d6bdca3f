"""A change or a read of a table, while others compact it and expire what it reads, rename it, or drop and create it, at each of its reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from adversary_kit import Place, before_call

from paimon_nb.base.errors import CommitConflict, PaimonError, SnapshotExpired, TableNotFound, TableReplaced

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paimon_nb import Table, Workbench

KINDS = {
    "keys": "PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')",
    "postponed": "PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '-2')",
    "append": ") WITH ('bucket' = '-1', 'write-only' = 'true')",
}
START = [(1, 10), (2, 20), (3, 30)]
BUMPED = [(1, 11), (2, 21), (3, 31)]


def rows(*pairs: tuple[int, int]) -> pa.Table:
    return pa.table(
        {"id": pa.array([i for i, _ in pairs], pa.int32()), "v": pa.array([v for _, v in pairs], pa.int32())}
    )


def _merge(_: Workbench, table: Table) -> None:
    values = {"v": pc.field("source.v")}
    table.merge(rows(*BUMPED), on="id").when_matched_update(values).when_not_matched_insert().execute()


ACTS: dict[str, tuple[Callable[[Workbench, Table], Any], list[tuple[int, int]]]] = {
    "compact": (lambda _, t: t.compact(), START),
    "CALL compact": (lambda wb, _: wb.run("CALL sys.compact('t')"), START),
    "merge": (_merge, BUMPED),
    "update": (lambda _, t: t.update({"v": pc.field("v") + 1}), BUMPED),
    "delete": (lambda _, t: t.delete(where="id = 2"), [START[0], START[2]]),
    "UPDATE": (lambda wb, _: wb.run("UPDATE t SET v = v + 1 WHERE id > 0"), BUMPED),
    "DELETE": (lambda wb, _: wb.run("DELETE FROM t WHERE id = 2"), [START[0], START[2]]),
    "append": (lambda _, t: t.append(rows((4, 40))), [*START, (4, 40)]),
    "expire": (lambda _, t: t.expire(retain_max=1), START),
    "orphans": (lambda wb, _: wb.run("CALL sys.remove_orphan_files('t')"), START),
    "to_arrow": (lambda _, t: t.to_arrow(), START),
    "SELECT": (lambda wb, _: wb.run("SELECT sum(v) FROM t").to_arrow(), START),
}


def made(folder: Path, kind: str) -> Place:
    place = Place("filesystem", {"type": "paimon", "warehouse": str(folder)})
    wb = place.open()
    wb.run(f"CREATE TABLE t (id INT, v INT{', ' if 'PRIMARY' in KINDS[kind] else ''}{KINDS[kind]}")
    for pair in START:
        wb.table("t").append(rows(pair))
    return place


def compact_and_expire(place: Place) -> None:
    place.open().table("t").compact()
    place.open().run("CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)")


def rename(place: Place) -> None:
    place.open().run("ALTER TABLE t RENAME TO u")


def replace(place: Place) -> None:
    place.open().run("DROP TABLE t")
    place.open().run("CREATE TABLE t (id INT, v INT)")


def cases() -> list[Any]:
    often = {("compact", "keys", compact_and_expire), ("merge", "keys", rename), ("to_arrow", "append", replace)}
    return [
        pytest.param(
            act,
            kind,
            other,
            id=f"{act}, {kind}, {other.__name__}",
            marks=() if (act, kind, other) in often else pytest.mark.nightly,
        )
        for act in ACTS
        for kind in KINDS
        for other in (compact_and_expire, rename, replace)
    ]


def _errors(act: str, other: Callable[[Place], None]) -> tuple[type[PaimonError], ...]:
    if other is compact_and_expire:
        return (CommitConflict, SnapshotExpired)
    return (TableReplaced, TableNotFound) if act.isupper() or act in ("CALL compact", "orphans") else (TableReplaced,)


@pytest.mark.parametrize(("act", "kind", "other"), cases())
def test_at_each_read(tmp_path, act, kind, other):
    """Others' work is done first, or what they did to the table is said: no file is called missing or lost."""
    change, expected = ACTS[act]
    call = 0
    while True:
        call += 1
        place = made(tmp_path / str(call), kind)
        wb = place.open()
        table = wb.table("t")
        error = None
        with before_call(call, lambda place=place: other(place), ("read", "open", "read_each")) as is_there:
            try:
                change(wb, table)
            except PaimonError as raised:
                error = raised
        assert error is None or isinstance(error, _errors(act, other)), f"call {call}: {error!r}"
        if not is_there():
            break
        name = "u" if other is rename else "t"
        if other is replace:
            continue
        found = sorted((r["id"], r["v"]) for r in place.open().table(name).to_arrow().to_pylist())
        assert found == (expected if error is None else START), f"call {call}: {error!r}"
    assert call > 3
