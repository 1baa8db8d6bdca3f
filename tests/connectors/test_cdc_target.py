"""What a sync commits into a table: with its place in the source's log, and as often compacted as the table's options say."""

from __future__ import annotations

import pyarrow as pa

from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog
from paimon_nb.connectors.cdc.target import SourceSchema, Target, TargetOptions, open_target
from paimon_nb.format.types import parse_type

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
