"""Draws the pictures of the concept pages with the code that draws the panels, from small tables made here.

Run this file to write them again: `python docs/generate/pictures.py`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import paimon_nb
from paimon_nb.notebook.compaction_svg import amplification_svg
from paimon_nb.notebook.create_model import Column, Draft
from paimon_nb.notebook.create_svg import layout_svg
from paimon_nb.notebook.lsm_model import lsm_picture
from paimon_nb.notebook.svg import lsm_svg, standalone_svg, text_svg, timeline_svg
from paimon_nb.notebook.timeline_model import timeline_of_snapshots
from paimon_nb.notebook.why_svg import why_svg
from paimon_nb.table.tables.inspect.amplification import amplification
from paimon_nb.table.tables.table import Table
from paimon_nb.workbench import Workbench

FOLDER = Path(__file__).parents[1] / "images" / "concepts"


def orders(wb: Workbench, name: str = "orders", **options: str) -> Table:
    """An empty table of orders."""
    settings = {"bucket": "1", "write-only": "true", "file.compression": "none", **options}
    text = ", ".join(f"'{key}' = '{value}'" for key, value in settings.items())
    wb.run(f"CREATE TABLE {name} (id INT, state STRING, price INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({text})")
    return wb.table(name)


def load(wb: Workbench, table: Table, first: int, count: int, state: str) -> None:
    """One commit of `count` orders with even ids from `first` on."""
    rows = ", ".join(f"({first + 2 * i}, '{state}', {first + i})" for i in range(count))
    wb.run(f"INSERT INTO {table.name.table} VALUES {rows}")


def snapshot(wb: Workbench) -> str:
    """A history: loads, a tag, a compaction, a delete, a branch."""
    table = orders(wb)
    load(wb, table, 0, 120, "new")
    load(wb, table, 100, 80, "paid")
    wb.run("CALL sys.create_tag('orders', 'monday', 2)")
    wb.run("CALL sys.compact('orders')")
    load(wb, table, 300, 60, "new")
    table.delete("id < 20")
    wb.run("CALL sys.create_branch('orders', 'trial', 'monday')")
    return timeline_svg(timeline_of_snapshots(table.store))


def bucket(wb: Workbench) -> str:
    """From the table to its partitions, buckets and levels."""
    columns = (Column("day", "DATE", key=True, partition=True), Column("id", "BIGINT", key=True), Column("state"))
    return layout_svg(Draft("orders", columns, {"bucket": "3"}, rows=3_000_000, partitions=2))


def sorted_run(wb: Workbench) -> str:
    """Three commits: three sorted runs on level 0 whose keys overlap."""
    table = orders(wb)
    for first, count, state in ((0, 150, "new"), (40, 60, "paid"), (200, 70, "sent")):
        load(wb, table, first, count, state)
    return lsm_svg(lsm_picture(table.store))


def level(wb: Workbench) -> str:
    """A full compaction, then more commits: data on the highest level and on level 0."""
    table = orders(wb, **{"target-file-size": "3 kb"})
    load(wb, table, 0, 400, "new")
    wb.run("CALL sys.compact('orders')")
    load(wb, table, 100, 60, "paid")
    load(wb, table, 500, 40, "sent")
    return lsm_svg(lsm_picture(table.store))


def merge_engine(wb: Workbench) -> str:
    """The versions of one key and the row that partial-update makes of them."""
    wb.run(
        """CREATE TABLE parcels (id INT, address STRING, sent STRING, arrived STRING, PRIMARY KEY (id) NOT ENFORCED)
           WITH ('bucket' = '1', 'merge-engine' = 'partial-update', 'write-only' = 'true')"""
    )
    wb.run("INSERT INTO parcels (id, address) VALUES (7, '12 Elm St')")
    wb.run("INSERT INTO parcels (id, sent) VALUES (7, '09:10')")
    wb.run("INSERT INTO parcels (id, address, arrived) VALUES (7, '4 Oak Ave', '17:45')")
    return why_svg(wb.table("parcels").why(id=7))


def changelog(wb: Workbench) -> str:
    """What a streaming reader receives."""
    table = orders(wb, **{"changelog-producer": "lookup", "write-only": "false"})
    wb.run("INSERT INTO orders VALUES (1, 'new', 20), (2, 'new', 35)")
    wb.run("INSERT INTO orders VALUES (1, 'paid', 20), (3, 'new', 8)")
    wb.table("orders").delete("id = 2")
    lines = ["snapshot · row kind · id, state, price"]
    with table.stream({"scan.mode": "from-snapshot", "scan.snapshot-id": "1"}, idle_s=0.5) as stream:
        for batch in stream:
            for row in batch.rows.to_pylist():
                values = ", ".join(str(row[name]) for name in ("id", "state", "price"))
                lines.append(f"snapshot {batch.snapshot_id} · {row['rowkind']} · {values}")
    return text_svg("\n".join(lines), "changes of the table orders")


def compaction(wb: Workbench) -> str:
    """What compactions cost and save over twelve commits."""
    table = orders(wb, **{"write-only": "false", "num-sorted-run.compaction-trigger": "4"})
    for i in range(12):
        load(wb, table, 40 * i, 90, "new")
    return amplification_svg(amplification(table.store), trigger=4)


PICTURES: dict[str, Callable[[Workbench], str]] = {
    "snapshot": snapshot,
    "bucket": bucket,
    "sorted-run": sorted_run,
    "level": level,
    "merge-engine": merge_engine,
    "changelog": changelog,
    "compaction": compaction,
}


def write(folder: Path) -> list[Path]:
    """All pictures as SVG files. Returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, draw in PICTURES.items():
        with tempfile.TemporaryDirectory() as warehouse, paimon_nb.connect(warehouse) as wb:
            made.append(folder / f"{name}.svg")
            made[-1].write_text(standalone_svg(draw(wb)) + "\n", encoding="utf-8")
    return made


if __name__ == "__main__":
    for path in write(FOLDER):
        sys.stdout.write(f"{path}\n")
