"""What a sync commits into a table: with its place in the source's log, and as often compacted as the table's options say."""

from __future__ import annotations

import pyarrow as pa
import pytest

from paimon_nb.base.errors import TimeTravelError
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog
from paimon_nb.connectors.cdc.target import SourceSchema, Target, TargetOptions, open_target
from paimon_nb.format.types import parse_type
from paimon_nb.table.write.maintenance import expire_snapshots, rollback_to_snapshot
from paimon_nb.table.write.maintenance.expire import ExpireLimits

COLUMNS = {"k": (parse_type("INT NOT NULL"), None), "v": (parse_type("STRING"), None)}
OPTIONS = {"bucket": "1", "changelog-producer": "full-compaction", "full-compaction.delta-commits": "2"}


def opened(tmp_path) -> Target:
    catalog = open_catalog("here", {"warehouse": str(tmp_path)})
    return open_target(
        catalog, Identifier("d", "t"), "cdc-me", SourceSchema(COLUMNS, ("k",)), TargetOptions(options=OPTIONS)
    )


def columns(name: str, values, _kind) -> pa.Array:
    return pa.array(values, {"k": pa.int32(), "v": pa.string()}[name])


def put(target: Target, k: int, position: str) -> None:
    target.buffer_change("+I", {"k": k, "v": "a"}, columns)
    target.commit(position)


def told(target: Target) -> list[tuple]:
    found = target.table.snapshots().to_pylist()
    return [(s["commit_kind"], s["commit_identifier"], s["changelog_record_count"]) for s in found]


def test_each_second_commit_compacts_and_the_place_is_never_lost(tmp_path):
    target = opened(tmp_path)
    for n in (1, 2, 3):
        put(target, n, f"at {n}")
    target = opened(tmp_path)
    assert target.position == "at 3"
    assert told(target) == [("APPEND", 1, 0), ("APPEND", 2, 0), ("COMPACT", 2, 2), ("APPEND", 3, 0)]
    for _ in range(3):
        target.on_idle_checkpoint(0)
    assert told(target)[4:] == [("COMPACT", 3, 1)]
    assert opened(tmp_path).position == "at 3"
    put(target, 4, "at 4")
    assert told(target)[5:] == [("APPEND", 4, 0), ("COMPACT", 4, 1)]


def test_the_position_is_known_when_its_snapshot_has_expired(tmp_path):
    """Another writer commits while the sync is stopped; reading the source from its beginning would keep deleted rows."""
    put(opened(tmp_path), 1, "at 1")
    table = opened(tmp_path).table
    for k in (2, 3):
        table.append(pa.table({"k": pa.array([k], pa.int32()), "v": ["other"]}))
    expire_snapshots(table.store, ExpireLimits(1, 1, 0, 50))
    again = opened(tmp_path)
    assert again.position == "at 1"
    put(again, 4, "at 4")
    assert (again.table.refresh().snapshots().to_pylist()[-1]["commit_identifier"], opened(tmp_path).position) == (
        2,
        "at 4",
    )


@pytest.mark.parametrize("restarted", [False, True])
def test_a_sync_whose_table_was_rolled_back_stops_and_goes_on_from_there(tmp_path, restarted):
    target = opened(tmp_path)
    for n in (1, 2):
        put(target, n, f"at {n}")
    target = opened(tmp_path) if restarted else target
    rollback_to_snapshot(target.table.store, 1)
    with pytest.raises(TimeTravelError, match="rolled back to before snapshot 3"):
        put(target, 3, "at 3")
    target.abort()
    with pytest.raises(TimeTravelError, match="rolled back"):
        target.on_idle_checkpoint(0)
    assert opened(tmp_path).position == "at 1"
