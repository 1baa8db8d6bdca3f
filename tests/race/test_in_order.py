"""Two commands at once leave what one after the other would have left, or one of them says that it was overtaken.

Every pair of commands on every kind of table: the second runs as a whole at the moment when the first is about to publish its
first snapshot. What is there afterwards must be what the two leave in one order or the other; where the first fails, with an
error of ours, it must be what the second leaves alone. No model says what that is: the commands themselves do, on tables of
their own.
"""

from __future__ import annotations

import itertools
import random
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from history_kit import missing
from write_kit import arrow, make_table

from paimon_nb.base.errors import PaimonError
from paimon_nb.fs import MemoryFileIO
from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.row_positions import one_split_per_file, rows_with_positions
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write.compact.rescale import rescale
from paimon_nb.table.write.compact.rewrite_index import rewrite_file_indexes
from paimon_nb.table.write.maintenance import ExpireLimits, drop_partitions, expire_snapshots, rollback_to_snapshot
from paimon_nb.table.write.row_rewrite import delete_marked_rows, rewrite_without_rows, uses_deletion_vectors

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

COLUMNS = {"p": "STRING", "k": "INT", "v": "STRING"}
KEYED: dict[str, dict[str, str]] = {
    "fixed": {"bucket": "2"},
    "fixed, write-only": {"bucket": "2", "write-only": "true"},
    "dynamic": {"bucket": "-1", "dynamic-bucket.target-row-num": "3"},
    "deletion vectors": {"bucket": "1", "deletion-vectors.enabled": "true"},
    "lookup": {"bucket": "1", "changelog-producer": "lookup"},
    "postpone": {"bucket": "-2", "postpone.batch-write-fixed-bucket": "false"},
}
APPEND: dict[str, dict[str, str]] = {
    "append": {"bucket": "-1"},
    "append, buckets": {"bucket": "2", "bucket-key": "k"},
    "append, deletion vectors": {"bucket": "-1", "deletion-vectors.enabled": "true"},
    "append, rows tracked": {"bucket": "-1", "row-tracking.enabled": "true"},
}
TABLES = KEYED | APPEND
_numbers = itertools.count()


class Interrupted(MemoryFileIO):
    """Does something as a whole before the first snapshot is published."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], object] | None = None

    def put_if_absent(self, path: str, data: bytes) -> bool:
        if "/snapshot/snapshot-" in path and self.meanwhile is not None:
            do, self.meanwhile = self.meanwhile, None
            do()
        return super().put_if_absent(path, data)


def rows(*given: tuple[str, int, str]) -> list[dict[str, object]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in given]


def delete_where(store: TableStore, k: int) -> None:
    """As DELETE does: by key, or by position in tables without keys."""
    if store.has_keys:
        Table(store).delete(pa.table({"p": ["a"], "k": pa.array([k], pa.int32())}))
        return
    plan, gone = plan_scan(store), []
    for split in one_split_per_file(plan):
        found, places = rows_with_positions(plan.store, split)
        hit = places[pc.equal(found.column("k"), k).to_numpy()]
        if len(hit):
            gone.append((split, hit))
    if gone:
        marked = uses_deletion_vectors(store)
        messages = (
            delete_marked_rows(store, plan, gone) if marked else [rewrite_without_rows(store, *one) for one in gone]
        )
        Table(store).commit().commit(messages)


def rescaled(store: TableStore) -> None:
    store, messages, scope = rescale(store, 3)
    Table(store).commit().commit(messages, overwrite=scope)


COMMANDS: dict[str, Callable[[TableStore], object]] = {
    "add": lambda s: Table(s).append(arrow(s, rows(("a", 1, "added"), ("a", 21, "added"), ("b", 22, "added")))),
    "add more": lambda s: Table(s).append(arrow(s, rows(("a", 31, "more"), ("b", 3, "more")))),
    "delete": lambda s: delete_where(s, 2),
    "compact": lambda s: Table(s).compact(),
    "compact, minor": lambda s: Table(s).compact(full=False),
    "sort": lambda s: Table(s).maintain.sort_compact("order", ["v"]),
    "rescale": lambda s: rescaled(s),
    "overwrite": lambda s: Table(s).overwrite(arrow(s, rows(("a", 5, "only")))),
    "overwrite one": lambda s: Table(s).overwrite(arrow(s, rows(("a", 6, "one"))), {"p": "a"}),
    "overwrite dynamic": lambda s: Table(s).overwrite(arrow(s, rows(("a", 7, "dynamic"))), dynamic=True),
    "truncate": lambda s: Table(s).truncate(),
    "drop partition": lambda s: drop_partitions(s, [{"p": "a"}]),
    "analyze": lambda s: Table(s).maintain.analyze(None),
    "rollback": lambda s: rollback_to_snapshot(s, 2),
    "expire": lambda s: expire_snapshots(s, ExpireLimits(1, 1, 0, 50)),
    "file indexes": lambda s: Table(s).commit().commit(rewrite_file_indexes(s)),
}
PAIRS = [(t, a, b) for t in TABLES for a in COMMANDS for b in COMMANDS]


@cache
def filled_once(table: str) -> MemoryFileIO:
    """The files of a table of four commits, below `memory:/<its name>`. Shared: do not change them."""
    fs = MemoryFileIO()
    keys = ("p", "k") if table in KEYED else ()
    options = {"file-index.bloom-filter.columns": "v", "num-sorted-run.compaction-trigger": "4", **TABLES[table]}
    store = make_table(f"memory:/{table}", COLUMNS, keys, ["p"], fs, **options)
    for turn in range(4):
        some = rows(*(("ab"[(k + turn) % 2], k, f"v{turn}") for k in range(turn, turn + 4)))
        Table(store).append(arrow(store, some))
    if table == "postpone":
        Table(store).compact()
    return fs


def filled(table: str) -> tuple[TableStore, Interrupted]:
    """A copy of the table in a place of its own."""
    root, fs = f"memory:/order{next(_numbers)}/t", Interrupted()
    fs._files = dict(filled_once(table)._files)
    fs.move(f"memory:/{table}", root)
    return TableStore.open(fs, root), fs


def again(store: TableStore) -> TableStore:
    """The table as a process sees it that opens it now."""
    return TableStore.open(store.fs, store.root)


def state(store: TableStore) -> list[tuple[object, ...]]:
    assert missing(again(store)) == []
    found = [tuple(r.values()) for r in Table(again(store)).to_arrow().to_pylist()]
    if store.has_keys:
        assert len({r[:2] for r in found}) == len(found), "a key is there twice"
    return sorted(found)


@cache
def alone(table: str, *commands: str) -> tuple[list[tuple[object, ...]], bool]:
    """(what the commands leave one after the other, whether all succeeded)."""
    store, _ = filled(table)
    fine = True
    for command in commands:
        try:
            COMMANDS[command](again(store))
        except PaimonError:
            fine = False
    return state(store), fine


def check(table: str, first: str, second: str) -> None:
    store, fs = filled(table)
    came: list[bool] = []

    def meanwhile() -> None:
        try:
            COMMANDS[second](again(store))
        except PaimonError:
            came.append(False)
        else:
            came.append(True)

    fs.meanwhile = meanwhile
    try:
        COMMANDS[first](store)
    except PaimonError:
        assert state(store) == alone(table, *([second] if came else []))[0], "it failed, and the other is not all there"
        return
    if not came:  # it had nothing to publish
        assert state(store) == alone(table, first)[0]
        return
    orders = [alone(table, first, second)[0], alone(table, second, first)[0]]
    assert state(store) in orders, "neither order leaves this"


@pytest.mark.parametrize("table", TABLES)
def test_some_pairs(table):
    for pair in random.Random(table).sample([p for p in PAIRS if p[0] == table], 4):
        check(*pair)


@pytest.mark.nightly
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("first", COMMANDS)
def test_every_pair(table, first):
    for second in COMMANDS:
        check(table, first, second)
