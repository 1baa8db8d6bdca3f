"""What a sync commits into a table: with its place in the source's log, and as often compacted as the table's options say."""

from __future__ import annotations

import pyarrow as pa
import pytest

from paimon_nb.base.errors import SchemaChangeError, TimeTravelError
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog
from paimon_nb.connectors.cdc.target import SourceSchema, Target, TargetOptions, open_target
from paimon_nb.format.types import parse_type
from paimon_nb.statements.ddl import AddColumn, AlterColumn, Change, RenameColumn
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
    return pa.array(values, {"k": pa.int32(), "v": pa.string()}.get(name, pa.int64()))


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


def altered(target: Target, *changes: Change) -> None:
    """By somebody else, while the sync runs."""
    target.catalog.alter_table(target.name, list(changes))


def schema_of(target: Target) -> list[str]:
    return [f"{f.name} {f.type}" for f in target.catalog.table(target.name).schema.fields]


def source(**more: str) -> SourceSchema:
    return SourceSchema(COLUMNS | {n: (parse_type(t), None) for n, t in more.items()}, ("k",))


def test_a_column_that_was_added_to_the_target_is_that_of_the_source(tmp_path):
    target = opened(tmp_path)
    put(target, 1, "at 1")
    altered(target, AddColumn(("x",), "INT", None))
    target.evolve_schema(source(x="BIGINT"))
    put(target, 2, "at 2")
    assert schema_of(target) == ["k INT NOT NULL", "v STRING", "x BIGINT"]


def test_a_type_that_somebody_else_widened_is_not_narrowed_again(tmp_path):
    target = opened(tmp_path)
    target.evolve_schema(source(n="INT"))
    altered(target, AlterColumn(("n",), type="STRING"))
    with pytest.raises(SchemaChangeError, match="STRING and cannot also hold BIGINT"):
        target.evolve_schema(source(n="BIGINT"))
    assert schema_of(target) == ["k INT NOT NULL", "v STRING", "n STRING"]


def test_a_key_column_that_was_renamed_is_named(tmp_path):
    target = opened(tmp_path)
    put(target, 1, "at 1")
    altered(target, RenameColumn(("k",), "id"))
    for again in (lambda: target.evolve_schema(source(x="INT")), lambda: opened(tmp_path)):
        with pytest.raises(SchemaChangeError, match=r"key column 'id' of d\.t is not a column of the source") as found:
            again()
        assert "ALTER TABLE" in found.value.hint
    assert schema_of(target) == ["id INT NOT NULL", "v STRING"]
