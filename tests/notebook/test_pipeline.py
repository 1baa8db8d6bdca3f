"""The pipeline panel, and the input rows in the panel of a row. No JVM."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

import paimon_nb
from paimon_nb.base.errors import TableNotFound
from paimon_nb.notebook.pipeline_svg import layers, pipeline_svg
from paimon_nb.notebook.widgets.pipeline import PipelineView
from paimon_nb.notebook.widgets.why import WhyView

STAGES = """SET 'paimon-nb.materialized-table.auto-refresh' = 'false';
CREATE TABLE orders (id INT NOT NULL, region STRING, price INT, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO orders VALUES (1, 'eu', 5), (2, 'us', 7), (3, 'eu', 9);
CREATE MATERIALIZED TABLE dear (PRIMARY KEY (id) NOT ENFORCED) AS SELECT id, region, price * 2 AS cents FROM orders WHERE price > 5;
CREATE MATERIALIZED TABLE totals (PRIMARY KEY (region) NOT ENFORCED) AS SELECT region, sum(cents) AS total FROM dear GROUP BY region"""


@pytest.fixture
def wb(tmp_path):
    with paimon_nb.connect(str(tmp_path / "w")) as workbench:
        workbench.run(STAGES)
        yield workbench


def test_text_and_picture(wb):
    view = PipelineView(wb)
    assert view.still_text() == (
        "table default.orders: 3 rows\n"
        "materialized table default.dear ← default.orders: 3 minutes · 2 rows · up to date\n"
        "materialized table default.totals ← default.dear: 3 minutes · 2 rows · up to date"
    )
    tree = ET.fromstring(view.still_svg())
    assert len([e for e in tree.iter() if e.get("data-node")]) == 3
    assert [len(column) for column in layers(view.pipeline)] == [1, 1, 1]


def test_the_selected_part_has_details(wb):
    view = PipelineView(wb, "dear")
    details = view.view["details"]
    assert details["title"] == "materialized table default.dear"
    assert details["columns"] == [
        ["id", "selected", "orders.id"],
        ["region", "selected", "orders.region"],
        ["cents", "price * 2", "orders.price"],
    ]
    assert ["Timeline", "%paimon timeline paimon.default.dear"] in details["commands"]
    view.on_message({"select": "`paimon`.`default`.`orders`"})
    assert (view.view["details"]["title"], view.view["details"]["refreshes"]) == ("table default.orders", False)
    with pytest.raises(TableNotFound):
        PipelineView(wb, "nothing")


def test_refresh_from_the_page(wb):
    wb.run("INSERT INTO orders VALUES (4, 'us', 10)")
    view = PipelineView(wb, "dear")
    assert "1 snapshot behind" in view.still_text()
    view.on_message({"refresh": True})
    assert view.view["message"] == "materialized table default.dear refreshed (incremental): 1 row added, 0 removed"
    assert "default.dear ← default.orders: 3 minutes · 3 rows · up to date" in view.still_text()
    wb.run("DROP TABLE orders")
    view.on_message({"refresh": True})
    assert "no table default.orders" in view.view["message"]
    assert "cannot be read" in view.still_text()


@pytest.mark.parametrize(
    "content", [{}, None, {"select": 3}, {"select": "nothing"}, {"refresh": "yes"}, {"select": ["a"]}, "refresh"]
)
def test_messages_of_a_page_that_is_not_ours(wb, content):
    view = PipelineView(wb, "dear")
    before = view.view
    view._on_message(view, content, [])
    assert (view.view, view.trouble) == (before, "")


def test_names_that_are_markup(wb):
    wb.run('CREATE MATERIALIZED TABLE `<b> & "x"` AS SELECT id AS `<i>` FROM orders')
    svg = PipelineView(wb).still_svg()
    ET.fromstring(svg)
    assert "<b>" not in svg


def test_a_wide_and_a_long_pipeline(wb):
    for n in range(12):
        wb.run(f"CREATE MATERIALIZED TABLE m{n} AS SELECT id FROM {'orders' if n < 6 else f'm{n - 1}'}")
    view = PipelineView(wb)
    svg = pipeline_svg(view.pipeline, "", 700)
    boxes = [
        tuple(float(e.get(k)) for k in ("x", "y", "width", "height"))
        for e in ET.fromstring(svg).iter()
        if e.get("data-node")
    ]
    assert len(boxes) == 15
    overlaps = [
        (a, b) for i, a in enumerate(boxes) for b in boxes[:i] if abs(a[0] - b[0]) < a[2] and abs(a[1] - b[1]) < a[3]
    ]
    assert overlaps == []
    width = float(re.search(r'viewBox="0 0 (\d+)', svg)[1])
    assert all(x + w <= width for x, _, w, _ in boxes)


def test_without_pipelines(tmp_path):
    with paimon_nb.connect(str(tmp_path / "empty")) as wb:
        view = PipelineView(wb)
        assert view.still_text() == "no materialized tables and no jobs"
        ET.fromstring(view.still_svg())


def test_why_shows_the_input_rows(wb):
    view = WhyView(wb.table("totals"), {"region": "eu"}, wb)
    assert view.still_text().endswith("made from 1 row of default.dear\n  id = 3, region = eu, cents = 18")
    assert (
        "<div>made from 1 row of default.dear</div><table><thead><tr><th>id</th><th>region</th><th>cents</th></tr></thead>"
        "<tbody><tr><td>3</td><td>eu</td><td>18</td></tr></tbody></table>" in view.still_html()
    )
    [dear] = view.view["origin"]["inputs"]
    assert (dear["columns"], dear["rows"]) == (["id", "region", "cents"], [["3", "eu", "18"]])
    assert dear["follow"] == [["why 3", "%paimon why paimon.default.dear id=3"]]
    view.on_message({"key": {"region": "us"}})
    assert view.view["origin"]["inputs"][0]["rows"] == [["2", "us", "14"]]


def test_why_of_a_plain_table_is_as_before(wb):
    view = WhyView(wb.table("orders"), {"id": 1}, wb)
    assert view.view["origin"] is None
    assert "made from" not in view.still_text()


def test_why_when_an_input_is_gone(wb):
    wb.run("DROP TABLE orders")
    view = WhyView(wb.table("dear"), {"id": 3}, wb)
    assert "input rows are not known: no table default.orders" in view.still_text()
    assert "<div>input rows are not known: no table default.orders" in view.still_html()
