"""The explorer's places: every one readable, equal to the system tables, and calm about broken files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hostile import PAYLOADS, svg_tags
from shell_kit import KEYED, rows

from paimon_nb.notebook.explore_model import MAX_CHILDREN, Facts, Inspector, explore_text
from paimon_nb.notebook.widgets.explore import Explorer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.workbench import Workbench


@pytest.fixture
def orders(wb: Workbench):
    """Two schemas, a compaction, a tag, a branch, a reader, a changelog."""
    wb.run(
        "CREATE TABLE orders (id INT COMMENT 'the key', v STRING, PRIMARY KEY (id) NOT ENFORCED) "
        "WITH ('bucket' = '1', 'write-only' = 'true', 'changelog-producer' = 'input')"
    )
    table = wb.table("orders")
    table.upsert(rows([1, 2]))
    wb.run("ALTER TABLE orders ADD COLUMN w INT")
    table = wb.table("orders")
    table.upsert(pa.table({"id": pa.array([2, 3], pa.int32()), "v": ["y", None], "w": pa.array([1, 2], pa.int32())}))
    table.tags.create("release", 2)
    wb.run("CALL sys.create_branch('default.orders', 'fix', 'release')")
    table.store.consumers.set("dashboard", 2)
    table.compact()
    return wb.table("orders")


def walk(inspector: Inspector, node: str = "") -> Iterator[tuple[str, Facts]]:
    yield node, inspector.facts(node)
    for child in inspector.children(node):
        if not child.branch:
            assert inspector.children(child.id) == []
        yield from walk(inspector, child.id)


def test_every_place_of_a_sound_table_can_be_read(orders) -> None:
    seen = dict(walk(Inspector(orders)))
    assert [(p, f.error) for p, f in seen.items() if f.error] == []
    assert {p.split("/")[0] for p in seen} == {
        "", "schemas", "schema", "options", "snapshots", "snapshot", "tags", "tag", "branches", "consumers",
    }  # fmt: skip
    assert max(p.count("/") for p in seen) == 5  # snapshot / list / manifest / file / row group
    assert any("/changelog/" in p for p in seen)
    for node, facts in seen.items():
        assert all(link in seen for _, link in facts.links), node
        assert all(len(row) == len(facts.columns) for row in facts.rows), node


def test_the_places_say_what_the_system_tables_say(orders) -> None:
    inspector = Inspector(orders)
    latest = orders.latest_snapshot().id
    assert [p.id for p in inspector.children("snapshots")] == [f"snapshot/{i}" for i in range(latest, 0, -1)]
    listed = {
        p.id.split("/")[-1]: p.note
        for which in ("base", "delta")
        for p in inspector.children(f"snapshot/{latest}/{which}")
    }
    manifests = orders.manifests().to_pylist()
    assert listed == {m["file_name"]: f"+{m['num_added_files']} −{m['num_deleted_files']}" for m in manifests}
    (file,) = orders.files().to_pylist()
    (found,) = [f for _, f in walk(inspector, f"snapshot/{latest}") if f.title == Path(file["file_path"]).name]
    said = dict(found.pairs)
    assert f"{orders.path}/{said['path']}" == file["file_path"]
    assert (said["level"], said["rows"]) == (str(file["level"]), str(file["record_count"]))
    assert found.rows == (("id", "1", "3", "0"), ("v", "x", "y", "1"), ("w", "1", "2", "1"))


def test_schemas_say_what_changed(orders) -> None:
    assert [row[3] for row in Inspector(orders).facts("schemas").rows] == ["created", "+w"]
    assert Inspector(orders).facts("schema/1").rows[0][:5] == ("id", "INT NOT NULL", "PRIMARY", None, "the key")


def test_options_have_meaning_and_default(orders) -> None:
    rows = {row[0]: row[1:] for row in Inspector(orders).facts("options").rows}
    assert rows["write-only"][:2] == ("true", "false")
    assert all(meaning for *_, meaning in rows.values())


def test_the_outline_in_characters(orders) -> None:
    assert explore_text(Inspector(orders)).splitlines() == [
        "default.orders", "  primary key: id", "  buckets: 1", "  latest snapshot: 3", "  physical rows: 3", "  columns",
        "    id  INT NOT NULL", "    v  STRING", "    w  INT", "  schemas (2)", "  options (3)", "  snapshots (3)",
        "    snapshot 3  compact -1", "    snapshot 2  append +2", "    snapshot 1  append +2", "  tags (1)",
        "    release  snapshot 2", "  branches (1)", "  consumers (1)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "what",
    ["snapshot/snapshot-2", "manifest/manifest-list-*-1", "manifest/manifest-[0-9a-f]*-0", "bucket-0/data-*.parquet"],
)
@pytest.mark.parametrize("how", ["cut", "gone"])
def test_a_broken_file_is_a_fact_not_an_end(orders, what: str, how: str) -> None:
    for path in Path(orders.path).glob(what):
        path.write_bytes(path.read_bytes()[:20]) if how == "cut" else path.unlink()
    fresh = Explorer(orders.refresh())
    seen = dict(walk(fresh._inspector))
    assert seen[""].error == ""
    assert seen["schemas"].error == ""
    assert [f.error for f in seen.values() if f.error] or (what.startswith("snapshot") and how == "gone")
    assert fresh.still_text()


def test_a_place_that_is_not_there_says_so(orders) -> None:
    for node in (
        "snapshot/99",
        "nowhere",
        "tag/none",
        "snapshot/x",
        "snapshot/1/delta/none/0",
        "schema/7",
        "snapshot/1/base/a/b/c/d",
    ):
        assert Inspector(orders).facts(node).error, node
        assert Inspector(orders).children(node) == []


def test_the_front_end_opens_and_chooses(orders) -> None:
    view = Explorer(orders)
    sent = []
    view.send = lambda content, _buffers=None: sent.append(content)
    view._handle_custom_msg({"open": "snapshots"}, [])
    assert sent[0]["open"] == "snapshots"
    assert [c["label"] for c in sent[0]["children"]] == ["snapshot 3", "snapshot 2", "snapshot 1"]
    view.selected = "snapshot/2"
    assert view.facts["title"] == "snapshot 2"
    assert view.sql == "SELECT * FROM `default`.`orders` VERSION AS OF 2"
    assert view.code == "wb.table(\"default.orders\").explore(at='snapshot/2')"


def test_many_children_are_counted_not_listed(wb: Workbench) -> None:
    wb.run(KEYED.format("t"))
    table = wb.table("t")
    names = [f"tag-{i:04}" for i in range(MAX_CHILDREN + 7)]
    table.upsert(rows([1]))
    for name in names:
        table.tags.create(name)
    found = Inspector(table).children("tags")
    assert len(found) == MAX_CHILDREN + 1
    assert found[-1].label == "7 more"


def test_hostile_values_stay_text(wb: Workbench) -> None:
    wb.run(KEYED.format("t"))
    table = wb.table("t")
    for i, payload in enumerate(p for p in PAYLOADS if "\x00" not in p):
        table.upsert(rows([i], payload))
    view = Explorer(table, "snapshot/1")
    assert svg_tags(view.still_svg()) <= {"svg", "text"}
