"""The code of the how-to pages: added under a name of its own, used through SQL and Python, and taken away again."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import PaimonError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.base.registry import Registry

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]


def run(page: str, block: int, **names: Any) -> dict[str, Any]:
    """The names that the page's code defines, where `names` are imported."""
    code = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "howto" / page).read_text(), re.DOTALL)[block]
    found = dict(names)
    exec(compile(f"from __future__ import annotations\n{code}", page, "exec"), found)
    return {name: value for name, value in found.items() if name not in names}


@pytest.fixture
def wb(tmp_path: Path) -> Iterator[paimon_nb.Workbench]:
    with paimon_nb.connect(str(tmp_path / "warehouse")) as workbench:
        yield workbench


def register(monkeypatch: pytest.MonkeyPatch, registry: Registry[Any], name: str, entry: Any) -> None:
    monkeypatch.setitem(registry._entries, name, entry)  # the literal that the page says to edit


def test_an_aggregate_function(wb, monkeypatch):
    from paimon_nb.table.lsm.merge.aggregate import AGGREGATES
    from paimon_nb.table.lsm.merge.aggregate.base import Aggregate

    create = (
        "CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v BOOLEAN) WITH"
        " ('bucket' = '1', 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'all_of')"
    )
    with pytest.raises(PaimonError, match="all_of"):
        wb.run(create)
    bool_and = run("add-a-merge-engine.md", 0, Aggregate=Aggregate)["BoolAnd"]
    register(monkeypatch, AGGREGATES, "all_of", type("AllOf", (bool_and,), {"name": "all_of"}))
    wb.run(create)
    for values in ([True, True, None, None], [True, False, True, None]):
        wb.table("t").upsert(pa.table({"k": pa.array(range(4), pa.int32()), "v": pa.array(values)}))
    assert wb.table("t").to_arrow()["v"].to_pylist() == [True, False, True, None]


def test_a_merge_engine(wb, monkeypatch):
    from importlib import import_module

    merge = import_module("paimon_nb.table.lsm.merge.merge")
    calls = []
    page = run("add-a-merge-engine.md", 1)["deduplicate"]

    def deduplicate(groups: Any, spec: Any) -> pa.Table:
        calls.append(spec.engine)
        return page(groups, spec)

    monkeypatch.setitem(merge.MERGE_ENGINES, "deduplicate", deduplicate)
    wb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v INT) WITH ('bucket' = '1')")
    for values in ([1, 2], [3, 4]):
        wb.table("t").upsert(pa.table({"k": pa.array([1, 2], pa.int32()), "v": pa.array(values, pa.int32())}))
    wb.run("CALL sys.compact('default.t')")
    assert wb.table("t").to_arrow().to_pylist() == [{"k": 1, "v": 3}, {"k": 2, "v": 4}]
    assert set(calls) == {"deduplicate"}


def test_a_procedure(wb, monkeypatch):
    from paimon_nb.procedures import PROCEDURES, procedure

    names = {n: getattr(procedure, n) for n in ("Argument", "Procedure", "success", "table_argument")}
    made = run("add-a-procedure.md", 0, **names)["RENAME_TAG"]
    call = "CALL sys.name_again(`table` => 'default.t', tag => 'a', target_tag => 'b')"
    wb.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1); CALL sys.create_tag('default.t', 'a')")
    with pytest.raises(PaimonError, match="name_again"):
        wb.run(call)
    register(monkeypatch, PROCEDURES, "name_again", replace(made, name="name_again"))
    assert wb.run(call).to_arrow().to_pylist() == [{"result": "Success"}]
    assert wb.table("t").system("tags")["tag_name"].to_pylist() == ["b"]


def test_a_system_table(wb, monkeypatch):
    from paimon_nb.table.tables.system import columns, registry

    made = run("add-a-system-table.md", 0, system_table_with_columns=columns.system_table_with_columns)["CONSUMERS"]
    wb.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
    wb.run("CALL sys.reset_consumer('default.t', 'reader', 2)")
    with pytest.raises(PaimonError):
        wb.run("SELECT * FROM t$positions")
    monkeypatch.setattr(columns, "POSITIONS", made, raising=False)  # stands for the page's new module
    register(monkeypatch, registry.SYSTEM_TABLES, "positions", "columns:POSITIONS")
    assert wb.run("SELECT * FROM t$positions").to_arrow().to_pylist() == [
        {"consumer_id": "reader", "next_snapshot_id": 2}
    ]
    assert wb.table("t").system("positions").num_rows == 1


def test_a_connector(wb, monkeypatch):
    from paimon_nb.connectors import api
    from paimon_nb.connectors.registry import SINKS

    create = "CREATE TEMPORARY TABLE gone (a INT) WITH ('connector' = 'nowhere', 'property-version' = '1')"
    made = run("add-a-connector.md", 0, Sink=api.Sink)["Blackhole"]
    with pytest.raises(PaimonError, match="nowhere"):
        wb.run(f"{create}; INSERT INTO gone VALUES (1)")
    monkeypatch.setattr(api, "Nowhere", made, raising=False)  # stands for the page's new module
    register(monkeypatch, SINKS, "nowhere", "api:Nowhere")
    with pytest.raises(PaimonError, match="propert-version"):
        wb.run(f"{create.replace('gone', 'b').replace('property-', 'propert-')}; INSERT INTO b VALUES (1)")


def test_a_widget(wb):
    from paimon_nb.notebook import svg
    from paimon_nb.notebook.widgets import base

    names = {"DrawnPanel": base.DrawnPanel, "script": base.script, "open_svg": svg.open_svg, "escape": svg.escape}
    made = run("add-a-widget.md", 0, **names)["FileCount"]
    wb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED) WITH ('bucket' = '1')")
    wb.run("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
    panel = made(wb.table("t"))
    assert panel.still_text() == "default.t: 2 files"
    assert 'aria-label="default.t: 2 files"' in panel.view["svg"]
    panel._on_message(panel, {"compact": True}, [])
    assert panel.view["svg"] == panel.still_svg()
    assert "default.t: 1 files" in panel.still_html()
    wb.run("DROP TABLE t")
    panel._on_message(panel, {"reload": True}, [])
    assert panel.trouble.startswith("t: the table was dropped")
