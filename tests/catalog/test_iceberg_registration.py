"""Tables with `metadata.iceberg.storage` = hive-catalog or rest-catalog: pyiceberg reads them by name through that catalog."""

from __future__ import annotations

import copy
import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from catalog_kit import at_once

import paimon_nb
from paimon_nb.base.errors import BadOptionValue
from paimon_nb.catalog.iceberg_registration.rest import updates_to

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("pyiceberg")
GZIP = "'metadata.iceberg.manifest-compression' = 'gzip'"
"""pyiceberg reads snappy with a further package only."""


def made(wb, options: str, columns: str = "id INT, v STRING", name: str = "t") -> Any:
    wb.run(f"CREATE TABLE {name} ({columns}) WITH ({GZIP}, {options})")
    return wb.table(name)


def numbers(*values: int) -> pa.Table:
    return pa.table({"id": pa.array(values, pa.int32()), "v": [f"v{i}" for i in values]})


def ids(table: Any) -> list[int]:
    return sorted(table.to_arrow().column("id").to_pylist())


def scanned(catalog: Any, name: str = "default.t", **scan: Any) -> list[int]:
    return sorted(catalog.load_table(name).scan(**scan).to_arrow().column("id").to_pylist())


# -- Hive


@pytest.fixture
def in_hive(hive, tmp_path) -> Iterator[Any]:
    """A catalog of pyiceberg; the database `default` of the metastore is shared, so a test names its own."""
    from pyiceberg.catalog.hive import HiveCatalog

    return HiveCatalog("h", uri=hive, warehouse=str(tmp_path / "unused"))


def test_hive_names_the_newest_metadata(hive, in_hive, tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    t = made(
        wb,
        f"'metadata.iceberg.storage' = 'hive-catalog', 'metadata.iceberg.uri' = '{hive}', 'metadata.iceberg.database' = 'ice1;ice2', "
        "'metadata.iceberg.table' = 'numbers'",
    )
    t.append(numbers(1, 2))
    assert [scanned(in_hive, f"{d}.numbers") for d in ("ice1", "ice2")] == [[1, 2]] * 2
    wb.run("ALTER TABLE t ADD COLUMN w INT; INSERT INTO t VALUES (3, 'v3', 30); CALL sys.create_tag('t', 'three')")
    registered = in_hive.load_table("ice1.numbers")
    assert registered.scan().to_arrow().sort_by("id").to_pylist() == wb.table("t").to_arrow().sort_by("id").to_pylist()
    assert scanned(in_hive, "ice2.numbers", snapshot_id=registered.snapshot_by_name("three").snapshot_id) == [1, 2, 3]
    wb.run("INSERT INTO t VALUES (4, 'v4', 40); CALL sys.rollback('t', 'three')")
    assert scanned(in_hive, "ice1.numbers") == ids(wb.table("t")) == [1, 2, 3]
    with in_hive._client as client:
        entry = client.get_table("ice1", "numbers")
    assert (entry.tableType, entry.parameters["table_type"], [c.name for c in entry.sd.cols]) == (
        "EXTERNAL_TABLE",
        "ICEBERG",
        ["id", "v", "w"],
    )
    assert Path(entry.parameters["previous_metadata_location"].removeprefix("file:")).name == "v3.metadata.json"


def test_a_table_of_a_hive_catalog_is_a_table_of_both(hive, in_hive, tmp_path):
    options = {"metastore": "hive", "uri": hive, "warehouse": str(tmp_path / "w")}
    wb = paimon_nb.connect(str(tmp_path / "other"))
    wb.run("CREATE CATALOG h WITH ('type' = 'paimon', " + ", ".join(f"'{k}' = '{v}'" for k, v in options.items()) + ")")
    wb.run("USE CATALOG h; CREATE DATABASE both; USE both")
    t = made(wb, "'metadata.iceberg.storage' = 'hive-catalog'")  # the address is that of the table's own catalog
    t.append(numbers(1))
    t.append(numbers(2))
    assert scanned(in_hive, "both.t") == ids(wb.table("t")) == [1, 2]
    wb.run("ALTER TABLE t ADD COLUMN w INT; INSERT INTO t VALUES (3, 'v3', 30)")
    assert scanned(in_hive, "both.t") == ids(wb.table("t")) == [1, 2, 3]
    wb.run("DROP TABLE t; DROP DATABASE both")


def test_a_metastore_that_does_not_answer_fails_no_commit(tmp_path, caplog):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    t = made(wb, "'metadata.iceberg.storage' = 'hive-catalog', 'metadata.iceberg.uri' = 'thrift://127.0.0.1:1'")
    with caplog.at_level(logging.WARNING):
        t.append(numbers(1))
    assert "Iceberg metadata was not updated" in caplog.text
    assert "127.0.0.1:1" in caplog.text
    assert ids(t) == [1]


# -- REST


def test_the_address_of_the_catalog_is_needed(tmp_path):
    with pytest.raises(BadOptionValue, match=r"needs 'metadata\.iceberg\.rest\.uri'"):
        made(paimon_nb.connect(str(tmp_path)), "'metadata.iceberg.storage' = 'rest-catalog'")


def metadata(*snapshots: int, tags: dict[str, int] | None = None, schemas: tuple[int, ...] = (0,)) -> dict[str, Any]:
    nodes = [
        {
            "snapshot-id": i,
            "schema-id": schemas[-1],
            "summary": {"operation": "append", "paimon-commit-identity": f"c{i}"},
        }
        for i in snapshots
    ]
    return {
        "format-version": 2, "current-snapshot-id": snapshots[-1], "snapshots": nodes, "properties": {}, "last-column-id": 9,
        "schemas": [{"schema-id": i, "type": "struct", "fields": [{"id": k} for k in range(i + 1)]} for i in schemas],
        "current-schema-id": schemas[-1], "refs": {n: {"snapshot-id": i, "type": "tag"} for n, i in (tags or {}).items()},
    }  # fmt: skip


def actions(there: dict[str, Any], wanted: dict[str, Any]) -> list[str] | None:
    updates = updates_to(there, wanted)
    return None if updates is None else [u["action"] for u in updates]


def test_updates_are_the_difference():
    assert actions(metadata(1, 2), metadata(1, 2)) == []
    assert actions(metadata(1), metadata(1, 2, 3)) == ["add-snapshot", "add-snapshot", "set-snapshot-ref"]
    assert actions(metadata(1, 2), metadata(2, 3)) == ["add-snapshot", "set-snapshot-ref", "remove-snapshots"]
    assert actions(metadata(1, tags={"a": 1, "b": 1}), metadata(1, tags={"a": 1})) == ["remove-snapshot-ref"]
    assert actions(metadata(1), metadata(1, tags={"a": 1})) == ["set-snapshot-ref"]
    assert actions(metadata(1), metadata(1, 2, schemas=(0, 1)))[:2] == ["add-schema", "set-current-schema"]


def test_a_schema_that_the_catalog_has_under_another_id_is_not_added():
    there = metadata(1)
    there["schemas"][0]["schema-id"] = there["current-schema-id"] = 5
    added, newest = updates_to(there, metadata(1, 2))
    assert (added["snapshot"]["schema-id"], newest["snapshot-id"]) == (5, 2)


def test_another_history_cannot_be_updated():
    other = copy.deepcopy(metadata(1, 2))
    other["snapshots"][1]["summary"]["paimon-commit-identity"] = "rolled back"
    assert actions(other, metadata(1, 2, 3)) is None
    assert actions(metadata(1, 2, 3), metadata(1, 2)) is None
    assert actions(metadata(1), {**metadata(1, 2), "format-version": 3}) is None


@pytest.fixture(scope="module")
def iceberg_rest(tmp_path_factory) -> Iterator[str]:
    from iceberg_rest_server import iceberg_rest_server

    with iceberg_rest_server(tmp_path_factory.mktemp("iceberg") / "rest") as address:
        yield address


@pytest.fixture
def in_rest(iceberg_rest) -> Any:
    from pyiceberg.catalog.rest import RestCatalog

    return RestCatalog("r", uri=iceberg_rest)


def on_rest(address: str, database: str) -> str:
    return (
        f"'metadata.iceberg.storage' = 'rest-catalog', 'metadata.iceberg.rest.uri' = '{address}', "
        f"'metadata.iceberg.database' = '{database}', 'metadata.iceberg.table-properties.owner' = 'us'"
    )


@pytest.mark.nightly
@pytest.mark.parametrize("version", [2, 3])
def test_a_rest_catalog_follows_every_kind_of_change(iceberg_rest, in_rest, tmp_path, version):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    name = f"v{version}.t"
    t = made(wb, f"{on_rest(iceberg_rest, f'v{version}')}, 'metadata.iceberg.format-version' = '{version}'")
    t.append(numbers(1, 2))
    first = in_rest.load_table(name)
    assert (scanned(in_rest, name), first.properties["owner"], first.format_version) == ([1, 2], "us", version)
    for i in range(3, 6):
        t.append(numbers(i))
    wb.run("ALTER TABLE t ADD COLUMN w INT; INSERT INTO t VALUES (6, 'v6', 60); CALL sys.create_tag('t', 'six')")
    registered = in_rest.load_table(name)
    assert registered.metadata.table_uuid == first.metadata.table_uuid, "it was updated"
    assert registered.scan().to_arrow().sort_by("id").to_pylist() == wb.table("t").to_arrow().sort_by("id").to_pylist()
    wb.run(
        "DELETE FROM t WHERE id = 2; CALL sys.compact('t'); ALTER TABLE t DROP COLUMN v; INSERT INTO t VALUES (7, 70)"
    )
    assert scanned(in_rest, name) == ids(wb.table("t")) == [1, 3, 4, 5, 6, 7]
    by_tag = in_rest.load_table(name).snapshot_by_name("six")
    assert scanned(in_rest, name, snapshot_id=by_tag.snapshot_id) == [1, 2, 3, 4, 5, 6]
    wb.run("CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)")
    kept = [s.snapshot_id for s in in_rest.load_table(name).snapshots()]
    assert kept == [by_tag.snapshot_id, wb.table("t").latest_snapshot().id]
    wb.run("CALL sys.rollback('t', 'six'); INSERT INTO t VALUES (8, 80)")
    assert scanned(in_rest, name) == ids(wb.table("t")) == [1, 2, 3, 4, 5, 6, 8]


@pytest.mark.nightly
def test_a_table_that_is_created_again_replaces_the_old_one(iceberg_rest, in_rest, tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    made(wb, on_rest(iceberg_rest, "again")).append(numbers(1))
    wb.run("DROP TABLE t")
    made(wb, on_rest(iceberg_rest, "again")).append(numbers(2))
    assert scanned(in_rest, "again.t") == [2]


@pytest.mark.nightly
def test_what_a_catalog_missed_is_added_by_the_next_commit(iceberg_rest, in_rest, tmp_path, caplog):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    t = made(wb, on_rest(iceberg_rest, "later"))
    t.append(numbers(1))
    wb.run("ALTER TABLE t SET ('metadata.iceberg.rest.uri' = 'http://127.0.0.1:1')")
    wb.table("t").append(numbers(2))
    assert "Iceberg metadata was not updated" in caplog.text
    wb.run(f"ALTER TABLE t SET ('metadata.iceberg.rest.uri' = '{iceberg_rest}')")
    assert scanned(in_rest, "later.t") == [1]
    wb.table("t").append(numbers(3))
    assert scanned(in_rest, "later.t") == [1, 2, 3]


@pytest.mark.nightly
def test_commits_at_the_same_time_are_all_in_the_rest_catalog(iceberg_rest, in_rest, tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    made(wb, f"'bucket' = '-1', {on_rest(iceberg_rest, 'busy')}").append(numbers(0))
    uuid = in_rest.load_table("busy.t").metadata.table_uuid
    assert at_once([partial(append_one_by_one, str(tmp_path / "w"), worker) for worker in range(4)]) == [None] * 4
    assert scanned(in_rest, "busy.t") == list(range(21))
    assert in_rest.load_table("busy.t").metadata.table_uuid == uuid


@pytest.mark.nightly
def test_commits_at_the_same_time_are_all_in_hive(hive, in_hive, tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    options = f"'metadata.iceberg.storage' = 'hive-catalog', 'metadata.iceberg.uri' = '{hive}', 'metadata.iceberg.database' = 'busy'"
    made(wb, f"'bucket' = '-1', {options}").append(numbers(0))
    assert at_once([partial(append_one_by_one, str(tmp_path / "w"), worker) for worker in range(4)]) == [None] * 4
    assert scanned(in_hive, "busy.t") == list(range(21))


def append_one_by_one(root: str, worker: int) -> None:
    t = paimon_nb.connect(root).table("t")
    for i in range(1, 6):
        t.append(numbers(worker * 5 + i))
