"""A rollback and an expiry at once: each removes what the other one keeps, and the table must not end without a snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from adversary_kit import CALLS_OF_MAINTENANCE, before_call

import paimon_nb
from paimon_nb.base.errors import SnapshotExpired, SnapshotNotFound, TagNotFound
from paimon_nb.table.read.live_files import LIVE_FILES

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.workbench import Workbench

EXPIRY = "CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)"
ROLLBACK, TO_TAG = "CALL sys.rollback('t', '2')", "CALL sys.rollback('t', 'kept')"
OVERWRITE = "INSERT OVERWRITE t VALUES (4)"
DELETE_TAG = "CALL sys.delete_tag('t', 'kept')"
PAIRS = {
    "rollback, expiry": (ROLLBACK, [EXPIRY]),
    "rollback, overwrite and expiry": (ROLLBACK, [OVERWRITE, EXPIRY]),
    "rollback to a tag, expiry": (TO_TAG, [EXPIRY]),
    "rollback to a tag, the tag is deleted": (TO_TAG, [DELETE_TAG]),
    "rollback to a tag, another one of this name": (TO_TAG, [DELETE_TAG, "CALL sys.create_tag('t', 'kept', 3)"]),
    "expiry, rollback": (EXPIRY, [ROLLBACK]),
    "expiry, rollback to a tag": (EXPIRY, [TO_TAG]),
}
"""A statement, and those that another session runs before one of its calls."""
CASES = [
    (pair, expired) for pair in PAIRS for expired in (False, True) if not expired or pair.startswith("rollback to")
]
"""With the whole history, or with the newest snapshot and that of the tag."""


def ids_of(wb: Workbench, **options: str) -> list[int]:
    return sorted(wb.table("t").copy(options).to_arrow().column("id").to_pylist())


def failed(wb: Workbench, statement: str) -> bool:
    try:
        wb.run(statement)
    except (SnapshotExpired, SnapshotNotFound, TagNotFound):
        return True
    return False


def check_at(pair: str, root: str, call: int, *, expired: bool) -> bool:
    """A rollback that succeeds is done, one that fails has changed nothing. Returns whether there was such a call."""
    wb, other = paimon_nb.connect(root), paimon_nb.connect(root)
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1', 'write-only' = 'true')")
    for n in (1, 2, 3):
        wb.run(f"INSERT OVERWRITE t VALUES ({n})")
        if n == 2 and "tag" in pair:
            wb.run("CALL sys.create_tag('t', 'kept')")
    if expired:
        wb.run(EXPIRY)
    first, second = PAIRS[pair]
    errors: dict[str, bool] = {}

    def others() -> None:
        for statement in second:
            errors[statement] = failed(other, statement)

    with before_call(call, others, CALLS_OF_MAINTENANCE) as is_there:
        errors[first] = failed(wb, first)
    LIVE_FILES.invalidate_cache()
    now = paimon_nb.connect(root)
    rows, newest = ids_of(now), [4] if OVERWRITE in errors else [3]
    rolled_back = any("rollback" in statement and not error for statement, error in errors.items())
    allowed = [newest] if not rolled_back else [[2], [4]] if OVERWRITE in errors else [[2]]
    if "another" in pair:
        allowed = [[2], [3]]
    assert rows in allowed, (pair, call, errors)
    for tag in now.table("t").store.tags.names():
        assert len(ids_of(now, **{"scan.tag-name": tag})) == 1
    now.table("t").append(pa.table({"id": pa.array([9], pa.int32())}))
    assert ids_of(paimon_nb.connect(root)) == [*rows, 9]
    found = now.table("t").store.snapshots.ids()
    assert found == list(range(found[0], found[-1] + 1))
    return is_there()


@pytest.mark.parametrize(("pair", "expired"), [case for case in CASES if "another" not in case[0]])
def test_a_rollback_and_an_expiry_at_some_calls(tmp_path: Path, pair: str, expired: bool) -> None:
    for call in (8, 20):
        check_at(pair, str(tmp_path / str(call)), call, expired=expired)


@pytest.mark.nightly
@pytest.mark.parametrize(("pair", "expired"), CASES)
def test_a_rollback_and_an_expiry_at_every_call(tmp_path: Path, pair: str, expired: bool) -> None:
    call = 1
    while check_at(pair, str(tmp_path / str(call)), call, expired=expired):
        call += 1
    assert call > 10
