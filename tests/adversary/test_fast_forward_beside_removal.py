"""A fast-forward and a removal of the branch, or of its old snapshots, at once: main must not end with snapshots whose files were deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from adversary_kit import CALLS_OF_MAINTENANCE, before_call

import paimon_nb
from paimon_nb.base.errors import BranchNotFound
from paimon_nb.table.read.live_files import LIVE_FILES

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.workbench import Workbench

FAST_FORWARD, DELETE = "CALL sys.fast_forward('t', 'b')", "CALL sys.delete_branch('t', 'b')"
EXPIRE = "CALL sys.expire_snapshots(`table` => 't$branch_b', retain_max => 1, retain_min => 1)"
PAIRS = [(FAST_FORWARD, DELETE), (DELETE, FAST_FORWARD), (FAST_FORWARD, EXPIRE), (EXPIRE, FAST_FORWARD)]


def ids_of(wb: Workbench, name: str = "t") -> list[int]:
    return sorted(wb.table(name).to_arrow().column("id").to_pylist())


def failed(wb: Workbench, statement: str) -> bool:
    try:
        wb.run(statement)
    except BranchNotFound:
        return True
    return False


def check_at(first: str, second: str, root: str, call: int) -> bool:
    """Main has the rows of the branch if the fast-forward has succeeded, else its own. Returns whether there was such a call."""
    wb, other = paimon_nb.connect(root), paimon_nb.connect(root)
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1', 'write-only' = 'true')")
    wb.run(
        "INSERT OVERWRITE t VALUES (1); CALL sys.create_tag('t', 'begin'); CALL sys.create_branch('t', 'b', 'begin')"
    )
    wb.run(
        "INSERT OVERWRITE t VALUES (2); INSERT OVERWRITE `t$branch_b` VALUES (3); INSERT OVERWRITE `t$branch_b` VALUES (4)"
    )
    errors: dict[str, bool] = {}
    with before_call(call, lambda: errors.update({second: failed(other, second)}), CALLS_OF_MAINTENANCE) as is_there:
        errors[first] = failed(wb, first)
    LIVE_FILES.invalidate_cache()
    now = paimon_nb.connect(root)
    rows = [4] if errors.get(FAST_FORWARD) is False else [2]
    assert ids_of(now) == rows, (first, call, errors)
    table = now.table("t")
    for snapshot_id in table.store.snapshots.ids():
        assert table.copy({"scan.snapshot-id": str(snapshot_id)}).to_arrow().num_rows == 1
    assert ("b" in table.store.branches.names()) == (errors.get(DELETE) is not False)
    table.append(pa.table({"id": pa.array([9], pa.int32())}))
    assert ids_of(paimon_nb.connect(root)) == [*rows, 9]
    return is_there()


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("call", [15, 20])
def test_a_fast_forward_and_a_deletion_of_its_branch_at_some_calls(
    tmp_path: Path, first: str, second: str, call: int
) -> None:
    assert check_at(first, second, str(tmp_path), call)


@pytest.mark.nightly
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_fast_forward_and_a_deletion_of_its_branch_at_every_call(tmp_path: Path, first: str, second: str) -> None:
    call = 1
    while check_at(first, second, str(tmp_path / str(call)), call):
        call += 1
    assert call > 20
