"""Past moments: which snapshot, which schema, and a clear error where there is none."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from write_kit import compact_all, make_table, put

from paimon_nb.base.errors import BadOptionValue, PaimonError, SnapshotExpired, TagNotFound, TimeTravelError
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.table.read import AtSnapshot, AtTime, AtVersion, AtWatermark, plan_scan, read_plan, resolve_time_travel
from paimon_nb.table.read.plan.time_travel import local_time_ms
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.system import SYSTEM_TABLES
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write.maintenance import ExpireLimits, create_tag, expire_snapshots

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = {"id": "INT", "v": "STRING"}


def ids(store: TableStore, **options: Any) -> list[int]:
    given = {k.replace("__", ".").replace("_", "-"): str(v) for k, v in options.items()}
    return sorted(read_plan(plan_scan(store.copy(given))).column("id").to_pylist())


@pytest.fixture
def history(tmp_path: Path) -> TableStore:
    """Snapshot n holds the ids 1..n; times are 1000, 2000, ...; snapshot 2 is tagged 'two' and '77'."""
    store = make_table(str(tmp_path / "t"), COLUMNS, ["id"], bucket="1", write_only="true")
    for i in range(1, 6):
        put(store, [{"id": i, "v": "x"}])
        path = store.snapshots.path(i)
        snapshot = replace(store.snapshots.get(i), time_ms=i * 1000, watermark=i * 10 if i > 2 else None)
        store.fs.overwrite(path, snapshot.to_json())
    store.snapshots.invalidate_cache()
    create_tag(store, "two", 2)
    create_tag(store, "watermark-1", 2)
    return store


@pytest.mark.parametrize(
    ("options", "last"),
    [
        ({}, 5),
        ({"scan__snapshot_id": 3}, 3),
        ({"snapshot_id": 3}, 3),
        ({"scan__tag_name": "two"}, 2),
        ({"scan__timestamp_millis": 3000}, 3),
        ({"scan__timestamp_millis": 3999}, 3),
        ({"scan__timestamp_millis": 10**12}, 5),
        ({"scan__watermark": 35}, 4),
        ({"scan__watermark": 1}, 3),
        ({"scan__version": "two"}, 2),
        ({"scan__version": "4"}, 4),
        ({"scan__version": "watermark-35"}, 4),
        ({"scan__version": "watermark-1"}, 2),  # a tag of that name goes first
        ({"scan__mode": "latest"}, 5),
        ({"scan__mode": "from-snapshot-full", "scan__snapshot_id": 3}, 3),
    ],
)
def test_moments(history: TableStore, options: dict[str, Any], last: int) -> None:
    assert ids(history, **options) == [*range(1, last + 1)]


def test_text_times_are_this_machines(history: TableStore) -> None:
    text = dt.datetime.fromtimestamp(3.5).strftime("%Y-%m-%d %H:%M:%S.%f")
    assert ids(history, scan__timestamp=text) == [1, 2, 3]
    assert local_time_ms(text, "x") == 3500


def test_latest_delta(history: TableStore) -> None:
    assert ids(history, scan__mode="latest-delta") == [5]


def test_compacted_full(history: TableStore) -> None:
    assert ids(history, scan__mode="compacted-full") == [1, 2, 3, 4, 5]  # no compaction yet: the latest
    store = history.copy({"write-only": "false"})
    compact_all(store)
    put(history, [{"id": 6, "v": "x"}])
    assert ids(history, scan__mode="compacted-full") == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"scan__snapshot_id": 9}, TimeTravelError, "snapshots 1 to 5"),
        ({"scan__snapshot_id": 0}, TimeTravelError, "snapshots 1 to 5"),
        ({"scan__tag_name": "twoo"}, TagNotFound, "did you mean 'two'"),
        ({"scan__version": "tow"}, TagNotFound, "did you mean 'two'"),
        ({"scan__version": "9"}, TimeTravelError, "snapshots 1 to 5"),
        ({"scan__timestamp_millis": 999}, TimeTravelError, "1970-01-01 00:00:01.000"),
        ({"scan__watermark": 51}, TimeTravelError, "no snapshot has a watermark"),
        ({"scan__timestamp": "yesterday"}, BadOptionValue, "not a time"),
        ({"scan__snapshot_id": 1, "scan__tag_name": "two"}, BadOptionValue, "only one time travel option"),
        ({"scan__snapshot_id": 1, "scan__version": "2"}, BadOptionValue, "only one time travel option"),
        ({"scan__snapshot_id": "x"}, BadOptionValue, "scan.snapshot-id"),
        ({"scan__mode": "from-timestamp"}, BadOptionValue, "needs a start"),
    ],
)
def test_no_such_moment(history: TableStore, options: dict[str, Any], kind: type[PaimonError], words: str) -> None:
    with pytest.raises(kind) as caught:
        ids(history, **options)
    assert words in str(caught.value)
    assert caught.value.hint


def test_expired(history: TableStore) -> None:
    now = history.snapshots.get(5)
    history.fs.overwrite(history.snapshots.path(5), replace(now, time_ms=10**12).to_json())
    expire_snapshots(history, ExpireLimits.of(history, retain_max=2, retain_min=2))
    with pytest.raises(SnapshotExpired, match="snapshots 4 to 5"):
        ids(history, scan__snapshot_id=1)
    assert ids(history, scan__tag_name="two") == [1, 2]
    with pytest.raises(TimeTravelError):
        ids(history, scan__timestamp_millis=2000)


def test_an_empty_table_has_no_past(tmp_path: Path) -> None:
    store = make_table(str(tmp_path / "t"), COLUMNS)
    assert ids(store) == []
    for options in ({"scan__snapshot_id": 1}, {"scan__timestamp_millis": 1}, {"scan__watermark": 1}):
        with pytest.raises(TimeTravelError):
            ids(store, **options)


def test_moments_as_values(history: TableStore) -> None:
    moments = [AtSnapshot(2), AtTime(2500), AtVersion("two")]
    assert [s.id for m in moments if (s := resolve_time_travel(history, m))] == [2, 2, 2]
    found = resolve_time_travel(history, AtWatermark(30))
    assert found is not None
    assert found.id == 3


def test_files_created_since(history: TableStore) -> None:
    plan = plan_scan(history)
    times = [f.creation_time_ms or 0 for f in plan.files]
    assert ids(history, scan__file_creation_time_millis=min(times)) == [1, 2, 3, 4, 5]
    assert ids(history, scan__file_creation_time_millis=max(times) + 1) == []


def test_old_and_own_schema(history: TableStore) -> None:
    """OPTIONS keeps the latest schema, VERSION AS OF takes the snapshot's own."""
    old = history.schema
    fields = (replace(old.fields[1], name="renamed"), old.fields[0], DataField(2, "extra", parse_type("INT")))
    history.schemas.create(replace(old, id=1, fields=fields, highest_field_id=2))
    store = TableStore.open(history.fs, history.root)
    put(store, [{"renamed": "y", "id": 6, "extra": 7}])

    def columns(options: dict[str, str]) -> list[str]:
        return plan_scan(store.copy(options)).schema.names

    assert columns({"scan.snapshot-id": "2"}) == ("renamed", "id", "extra")
    assert columns({"scan.version": "2"}) == ("id", "v")
    assert columns({"scan.version": "6"}) == ("renamed", "id", "extra")
    assert columns({"scan.snapshot-id": "2", "paimon-nb.own-schema": "true"}) == ("id", "v")
    late = read_plan(plan_scan(store.copy({"scan.snapshot-id": "1"}))).to_pylist()
    assert late == [{"renamed": "x", "id": 1, "extra": None}]
    where = plan_scan(store.copy({"scan.version": "2"}), where="v = 'x' AND id > 1")
    assert read_plan(where).to_pylist() == [{"id": 2, "v": "x"}]


def test_files_of_a_past_moment_are_told_in_its_own_columns(history: TableStore) -> None:
    old = history.schema
    fields = (old.fields[0], replace(old.fields[1], name="w"), DataField(2, "more", parse_type("INT")))
    assert history.schemas.create(replace(old, id=1, fields=fields, highest_field_id=2))
    store = history.refreshed()

    def told(**options: str) -> set[str]:
        return set(SYSTEM_TABLES["files"].read(store.copy(options)).column("null_value_counts").to_pylist())

    assert told() == {"{id=0, more=1, w=0}"}
    assert told(**{"scan.snapshot-id": "3"}) == {"{id=0, v=0}"}


@pytest.mark.parametrize("table", ["partitions", "buckets"])
def test_a_file_that_went_again_was_an_update_too(tmp_path: Path, table: str) -> None:
    """A deletion leaves a mark only; the time is that of the level-0 file that brought it, as Java tells it."""
    store = make_table(str(tmp_path / "t"), COLUMNS, ["id"], bucket="1", **{"deletion-vectors.enabled": "true"})
    put(store, [{"id": 1, "v": "x"}, {"id": 2, "v": "x"}])
    put(store, [{"id": 2, "v": "x"}], kinds=["-D"])

    def newest(system: str, column: str, **options: str) -> object:
        return max(SYSTEM_TABLES[system].read(store.copy(options)).column(column).to_pylist())

    then = newest("files", "creation_time", **{"scan.snapshot-id": "3"})
    assert newest("files", "creation_time") < then == newest(table, "last_update_time")
    [row] = SYSTEM_TABLES[table].read(store).to_pylist()
    assert (row["record_count"], row["file_count"]) == (2, 1)


def test_what_travels_and_what_does_not_of_partitions_that_went(tmp_path: Path) -> None:
    """Java's answers: `$partitions` of then, `$files` of then in the partitions of now, `$buckets` of now."""
    store = make_table(f"{tmp_path}/t", {"p": "STRING", "k": "INT"}, [], ["p"], bucket="-1")
    put(store, [{"p": "a", "k": 1}, {"p": "b", "k": 2}])
    Table(store).drop_partitions([{"p": "a"}])
    put(store, [{"p": "c", "k": 1}])

    def partitions(system: str) -> list[str]:
        rows = SYSTEM_TABLES[system].read(store.refreshed().copy({"scan.snapshot-id": "1"}))
        return rows.column("partition").to_pylist()

    told = {name: partitions(name) for name in ("partitions", "files", "buckets")}
    assert told == {"partitions": ["p=a", "p=b"], "files": ["{b}"], "buckets": ["{b}", "{c}"]}
