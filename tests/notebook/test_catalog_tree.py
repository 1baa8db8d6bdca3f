"""The catalog of the side bar: names, size and health from metadata; the answers to requests of the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hostile import PAYLOADS

import paimon_nb
from paimon_nb.base.errors import DatabaseNotFound, PaimonError, UnknownName
from paimon_nb.notebook import catalog_tree
from paimon_nb.notebook.catalog_comm import CatalogComm
from paimon_nb.notebook.catalog_tree import Node, search_names, table_facts, tree_children
from paimon_nb.notebook.magics.active import current

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.workbench import Workbench

DEFAULT = ("paimon", "default")
ORDERS = (*DEFAULT, "orders")
TYPES = (
    "(day STRING, id INT COMMENT 'the number', note STRING, PRIMARY KEY (day, id) NOT ENFORCED) PARTITIONED BY (day)"
)


@pytest.fixture
def wb(tmp_path: Path) -> Iterator[Workbench]:
    with paimon_nb.connect(str(tmp_path / "warehouse")) as wb:
        wb.run(f"CREATE TABLE orders {TYPES} WITH ('bucket' = '1')")
        wb.run("INSERT INTO orders VALUES ('mon', 1, 'a'), ('mon', 2, 'b')")
        yield wb


def labels(wb: Workbench, kind: str, *path: str) -> list[str]:
    return [node.label for node in tree_children(wb, kind, path).nodes]


def node_of(wb: Workbench, kind: str, path: tuple[str, ...], label: str) -> Node:
    (found,) = [n for n in tree_children(wb, kind, path).nodes if n.label == label]
    return found


def test_the_tree_from_catalogs_to_columns(wb: Workbench) -> None:
    assert labels(wb, "root") == ["paimon", "Jobs"]
    assert labels(wb, "catalog", "paimon") == ["default"]
    assert labels(wb, "database", *DEFAULT) == ["orders"]
    inside = tree_children(wb, "table", ORDERS).nodes
    assert [(n.label, n.note, n.mark) for n in inside if n.kind == "column"] == [
        ("day", "STRING NOT NULL", "key"), ("id", "INT NOT NULL", "key"), ("note", "STRING", ""),
    ]  # fmt: skip
    assert [n.label for n in inside if n.kind != "column"] == ["Tags", "Branches", "System tables"]
    assert "the number" in inside[1].tip
    assert "snapshots" in labels(wb, "system", *ORDERS)


@pytest.mark.spark
def test_tags_branches_views_and_temporary_tables(wb: Workbench) -> None:
    table = wb.table("orders")
    assert tree_children(wb, "tags", ORDERS).empty == "no tags"
    assert tree_children(wb, "branches", ORDERS).empty == "no branches"
    table.tags.create("it's")
    wb.run("CALL sys.create_branch('orders', 'trial')")
    tag = node_of(wb, "tags", ORDERS, "it's")
    assert (tag.note, tag.insert) == ("snapshot 1", "'it''s'")
    assert node_of(wb, "branches", ORDERS, "trial").insert == "`orders$branch_trial`"
    wb.run("CREATE TEMPORARY VIEW recent AS SELECT * FROM orders")
    assert labels(wb, "root") == ["paimon", "Temporary", "Jobs"]
    assert labels(wb, "temporary") == ["recent"]


def test_names_are_as_short_as_the_session_allows(wb: Workbench) -> None:
    wb.create_database("sales")
    wb.create_table("sales.`a b`", pa.schema({"x": pa.int32()}))
    wb.create_table("sales.plain", pa.schema({"x": pa.int32()}))
    assert node_of(wb, "database", DEFAULT, "orders").insert == "orders"
    spaced, plain = (node_of(wb, "database", ("paimon", "sales"), name) for name in ("a b", "plain"))
    assert (spaced.insert, spaced.command) == ("sales.`a b`", "")
    assert (plain.insert, plain.command) == ("sales.plain", "sales.plain")
    for node in (spaced, plain):
        assert wb.table(node.insert).name.database == "sales"
    wb.run("USE sales")
    assert node_of(wb, "database", ("paimon", "sales"), "plain").insert == "plain"
    assert node_of(wb, "database", DEFAULT, "orders").insert == "default.orders"


def test_size_and_health_come_from_the_metadata(wb: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    wb.run("CREATE TABLE none (id INT)")
    wb.run("CREATE TABLE slow (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")
    for i in range(7):
        wb.run(f"INSERT INTO slow VALUES ({i})")
    for data in Path(wb.table("orders").path).rglob("data-*"):
        data.unlink()  # no data file is opened
    facts, left = table_facts(wb, [(*DEFAULT, name) for name in ("orders", "none", "slow", "dropped")])
    assert [(f.path[2], f.health, f.key) for f in facts] == [
        ("orders", "ok", "day= id="), ("none", "empty", ""), ("slow", "slow", "id="), ("dropped", "broken", ""),
    ]  # fmt: skip
    assert left == 0
    assert facts[0].note.endswith("B")
    assert "many sorted runs" in facts[2].tip
    monkeypatch.setattr(catalog_tree, "MAX_FILES", 3)
    (large,), _ = table_facts(wb, [(*DEFAULT, "slow")])
    assert (large.note, large.health) == ("7 rows", "unknown")
    assert not wb.session.spark_started


def test_a_damaged_table_is_one_line_of_the_tree(wb: Workbench) -> None:
    for manifest in Path(wb.table("orders").path).glob("manifest/manifest-list-*"):
        manifest.write_bytes(b"damaged")
    (facts,), _ = table_facts(wb, [ORDERS])
    assert (facts.health, facts.note) == ("broken", "unreadable")
    assert facts.tip


def test_requests_for_facts_end_in_time(wb: Workbench) -> None:
    facts, left = table_facts(wb, [ORDERS] * 5, seconds=0)
    assert (len(facts), left) == (1, 4)


def test_long_lists_come_in_pages_and_are_searched(wb: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_tree, "PAGE", 2)
    for name in ("a1", "a2", "b1"):
        wb.create_table(name, pa.schema({"x": pa.int32()}))
    first = tree_children(wb, "database", DEFAULT)
    assert ([n.label for n in first.nodes], first.more) == (["a1", "a2"], 2)
    assert [n.label for n in tree_children(wb, "database", DEFAULT, start=2).nodes] == ["b1", "orders"]
    assert [n.label for n in tree_children(wb, "database", DEFAULT, match="ORD").nodes] == ["orders"]
    assert tree_children(wb, "database", DEFAULT, match="zz").empty == "no name contains 'zz'"
    # The groups of a table with many columns are before them.
    assert [n.label for n in tree_children(wb, "table", ORDERS).nodes] == ["Tags", "Branches"]


def test_names_are_searched_in_all_catalogs(wb: Workbench, tmp_path: Path) -> None:
    """Tables and columns that the tree has not loaded, too; what is damaged or does not answer takes nothing else away."""
    wb.run("CREATE DATABASE orders_old; CREATE TABLE orders_old.parts (order_id INT, Ordered DATE)")
    other = tmp_path / "other"
    wb.run(f"CREATE CATALOG shop WITH ('type' = 'paimon', 'warehouse' = '{other}')")
    wb.run("CREATE TABLE shop.`default`.`re ordered` (x INT); CREATE TABLE `default`.broken (order_no INT)")
    for schema in (tmp_path / "warehouse" / "default.db" / "broken" / "schema").iterdir():
        schema.write_text("no JSON")
    found = search_names(wb, "ORDER")
    assert [(m.node.kind, m.node.label, m.node.note) for m in found.matches] == [
        ("database", "orders_old", ""), ("table", "orders", "default"), ("table", "re ordered", "shop.default"),
        ("column", "order_id", "orders_old.parts"), ("column", "Ordered", "orders_old.parts"),
    ]  # fmt: skip
    column = found.matches[3]
    assert (column.node.insert, column.table.insert if column.table else "") == ("order_id", "orders_old.parts")
    assert (found.tables, found.unread, found.more) == (4, 0, 0)
    assert search_names(wb, "nowhere").matches == ()


def test_a_search_ends_in_time_and_says_what_it_left_out(wb: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    wb.run("CREATE TABLE parts (note STRING, notes STRING)")
    hurried = search_names(wb, "note", seconds=-1)
    assert (hurried.tables, hurried.unread, [m.node.label for m in hurried.matches]) == (1, 1, ["note"])
    monkeypatch.setattr(catalog_tree, "PAGE", 2)
    assert (len(search_names(wb, "note").matches), search_names(wb, "note").more) == (2, 1)


def test_unknown_nodes_are_errors(wb: Workbench) -> None:
    for kind, path in (("column", (*ORDERS, "id")), ("table", DEFAULT), ("catalog", ("other",))):
        with pytest.raises(UnknownName):
            tree_children(wb, kind, path)
    with pytest.raises(DatabaseNotFound):
        tree_children(wb, "database", ("paimon", "other"))


class Page:
    """The front end's side of the comm: what it was sent, as JSON."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.on_msg = self.on_close = self._keep
        self.closed = False

    def _keep(self, callback: Any) -> None:
        if not hasattr(self, "receive"):
            self.receive = callback

    def send(self, data: Any) -> None:
        self.sent.append(json.loads(json.dumps(data)))

    def close(self) -> None:
        self.closed = True

    def ask(self, **request: Any) -> Any:
        before = len(self.sent)
        self.receive({"content": {"data": json.loads(json.dumps({"id": "7", **request}))}})
        return self.sent[-1] if len(self.sent) > before else None


@pytest.fixture
def page(wb: Workbench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    monkeypatch.setattr(current, "workbench", wb)
    page = Page()
    comm = CatalogComm(page)
    yield page
    comm.close()
    assert page.closed


def test_requests_are_answered_with_their_id(page: Page, wb: Workbench) -> None:
    answer = page.ask(do="children", kind="database", path=DEFAULT, match="", start=0)
    assert (answer["id"], answer["nodes"][0]["label"], answer["current"]) == ("7", "orders", "paimon.default")
    assert answer["warehouse"] == str(wb.session.catalog.warehouse)
    assert page.ask(do="facts", paths=[ORDERS])["facts"][0]["health"] == "ok"
    assert "error" in page.ask(do="children", kind="database", path=["paimon", "other"], match="", start=0)


@pytest.mark.parametrize(
    "request_",
    [
        {"do": "children", "kind": "root", "path": "paimon", "match": "", "start": 0},
        {"do": "snapshot", "tab": 3, "snapshot": 1}, {"do": "children"}, {"do": "run", "code": "1"}, {"id": 7, "do": "facts", "paths": []}, {},
    ],
)  # fmt: skip
def test_unexpected_requests_have_no_answer(page: Page, request_: dict[str, Any]) -> None:
    assert page.ask(**request_) is None


def test_a_tab_shows_rows_panels_and_system_tables(page: Page, wb: Workbench) -> None:
    wb.run("INSERT INTO orders VALUES ('tue', 3, 'c')")

    def text(panel: str, kind: str, *path: str, snapshot: int | None = None) -> str:
        answer = page.ask(do="open", tab="t", panel=panel, kind=kind, path=path, snapshot=snapshot)
        return str(answer["data"]["text/plain"])

    assert "tue" in text("preview", "table", *ORDERS)
    assert "tue" not in text("preview", "table", *ORDERS, snapshot=1)
    assert "2" in text("preview", "system_table", *ORDERS, "snapshots")
    assert "· snapshot 1 ·" in text("lsm", "table", *ORDERS, snapshot=1)
    assert "healthy" in text("doctor", "table", *ORDERS)
    assert "did you mean" in page.ask(do="open", tab="t", panel="timelin", kind="table", path=ORDERS)["error"]
    assert page.ask(do="close", tab="t") == {"id": "7"}


SNAPSHOT_PANELS = {
    "timeline": lambda panel: panel.snapshot,
    "lsm": lambda panel: panel.snapshot,
    "skip": lambda panel: panel.model.snapshot,
    "compare": lambda panel: panel.compared.after,
    "explore": lambda panel: int(panel.selected.rpartition("/")[2] or 0),
}
"""How to see which snapshot a panel shows; 0: the explorer's page of the table."""


@pytest.fixture
def tabs(wb: Workbench, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Page, dict[str, Any]]]:
    """A tab of each panel of a snapshot, by the panel's name, on a table of three commits."""
    wb.run("INSERT INTO orders VALUES ('tue', 3, 'c')")
    wb.run("INSERT INTO orders VALUES ('wed', 4, 'd')")
    wb.table("orders").tags.create("first", 1)
    monkeypatch.setattr(current, "workbench", wb)
    page = Page()
    comm = CatalogComm(page)
    for name in SNAPSHOT_PANELS:
        page.ask(do="open", tab=name, panel=name, kind="table", path=ORDERS)
    page.sent.clear()
    yield page, comm._panels
    comm.close()


def shown(panels: dict[str, Any]) -> dict[str, Any]:
    return {name: of(panels[name]) for name, of in SNAPSHOT_PANELS.items()}


def test_tabs_move_to_a_snapshot_and_back(tabs: tuple[Page, dict[str, Any]]) -> None:
    page, panels = tabs
    for name in SNAPSHOT_PANELS:
        assert page.ask(do="snapshot", tab=name, snapshot=2) == {"id": "7"}
    assert shown(panels) == dict.fromkeys(SNAPSHOT_PANELS, 2)
    assert panels["compare"].compared.before == 1
    assert "VERSION AS OF 2" in panels["skip"].sql
    for name in SNAPSHOT_PANELS:
        page.ask(do="snapshot", tab=name, snapshot=None)
    assert shown(panels) == dict.fromkeys(SNAPSHOT_PANELS, 3) | {"explore": 0}
    assert [m for m in page.sent if "event" in m] == []  # who follows does not report


def test_the_latest_snapshot_is_the_one_that_was_committed_last(
    tabs: tuple[Page, dict[str, Any]], wb: Workbench
) -> None:
    page, panels = tabs
    wb.run("INSERT INTO orders VALUES ('thu', 5, 'e')")
    for name in SNAPSHOT_PANELS:
        page.ask(do="snapshot", tab=name, snapshot=4)
    assert shown(panels) == dict.fromkeys(SNAPSHOT_PANELS, 4)
    assert {panel.selected_snapshot for panel in panels.values()} == {None}


def test_a_choice_in_a_tab_is_reported_to_the_page(tabs: tuple[Page, dict[str, Any]]) -> None:
    page, panels = tabs
    panels["timeline"].position = 1
    panels["lsm"].position = 0
    panels["explore"].selected = "snapshot/2"
    panels["explore"].selected = "options"
    panels["compare"].show(1, 2)
    panels["compare"].show("first", 3)
    assert page.sent == [
        {"event": "snapshot", "tab": tab, "snapshot": snapshot}
        for tab, snapshot in (("timeline", 2), ("lsm", 1), ("explore", 2), ("compare", 2), ("compare", None))
    ]


def test_snapshots_to_choose_are_tags_and_the_newest(tabs: tuple[Page, dict[str, Any]], wb: Workbench) -> None:
    page, panels = tabs
    offered = page.ask(do="snapshots", kind="table", path=ORDERS)["snapshots"]
    assert [(s["id"], s["tag"]) for s in offered] == [(1, "first"), (3, ""), (2, ""), (1, "")]
    wb.table("orders").expire(retain_max=1, retain_min=1)
    offered = page.ask(do="snapshots", kind="table", path=ORDERS)["snapshots"]
    assert [(s["id"], s["tag"]) for s in offered] == [(1, "first"), (3, "")]
    assert "does not exist" in page.ask(do="snapshot", tab="skip", snapshot=2)["error"]
    assert page.ask(do="snapshot", tab="skip", snapshot=1) == {"id": "7"}  # the tag keeps it
    assert panels["skip"].model.snapshot == 1


def test_a_closed_tab_stops_its_stream(page: Page, wb: Workbench) -> None:
    page.ask(do="open", tab="t", panel="live", kind="table", path=ORDERS)
    (job,) = wb.session.jobs.all.values()
    assert job.isActive
    assert node_of(wb, "jobs", (), job.name).mark == "running"
    page.ask(do="close", tab="t")
    assert job.wait_for(lambda: not job.isActive, timeout=20)


def test_hostile_names_are_texts(page: Page, wb: Workbench) -> None:
    made = 0
    for payload in PAYLOADS:
        try:
            wb.create_table(f"`{payload.replace('`', '``')}`", pa.schema({payload: pa.int32()}))
        except PaimonError:
            continue  # a name of a table is a name of a directory
        made += 1
        node = node_of(wb, "database", DEFAULT, payload)
        assert wb.table(node.insert).schema.names == (payload,)
        column = tree_children(wb, "table", node.path).nodes[0]
        assert column.label == payload
    assert made > 10
    answer = page.ask(do="children", kind="database", path=DEFAULT, match="<script", start=0)
    assert all("<script" in node["label"].lower() for node in answer["nodes"])
