"""What panels and pages say of themselves: scales, controls that work where they are shown, examples that return rows."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pyarrow as pa
import pytest
from shell_kit import KEYED, rows

from paimon_nb.notebook.page import write_page
from paimon_nb.notebook.progress import CANCEL
from paimon_nb.notebook.widgets.compaction import Compaction
from paimon_nb.notebook.widgets.lsm import LsmView
from paimon_nb.notebook.widgets.timeline import Timeline

if TYPE_CHECKING:
    from shell_kit import Shell

    from paimon_nb.workbench import Workbench

ROOT = Path(__file__).parents[2]


def texts(svg: str) -> list[str]:
    return [html.unescape(t) for t in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def test_an_axis_by_rank_is_labelled(wb: Workbench) -> None:
    wb.run("CREATE TABLE names (k STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')")
    wb.table("names").upsert(pa.table({"k": ["a", "b"]}))
    wb.run(KEYED.format("numbers"))
    wb.table("numbers").upsert(rows([1, 2]))
    labels = {name: texts(LsmView(wb.table(name)).still_svg()) for name in ("names", "numbers")}
    assert "keys in order, not to scale →" in labels["names"]
    assert "key →" in labels["numbers"]


def test_bars_that_are_not_to_scale_say_so(wb: Workbench) -> None:
    wb.run(KEYED.format("t"))
    wb.table("t").upsert(rows([1, 2]))
    assert "bar = rows added (not to scale)" in texts(Timeline(wb.table("t")).still_svg())


def test_the_buttons_say_what_a_compaction_rewrites_and_then_that_nothing_is_left(wb: Workbench) -> None:
    wb.run(KEYED.format("t"))
    table = wb.table("t")
    for n in range(3):
        table.upsert(rows([n]))
    panel = Compaction(table)
    assert panel.view["prices"]["minor"] == "nothing to do"
    assert re.fullmatch(r"3 files, \d\.\d kB", panel.view["prices"]["full"])
    panel.run(full=True)
    assert panel.view["prices"] == {"minor": "nothing to do", "full": "nothing to do"}
    assert "picked for compaction" not in panel.view["svg"]
    assert panel.work["result"]["before"].count("picked for compaction") >= 3


def test_a_cancel_button_is_hidden_where_nothing_handles_it() -> None:
    assert "display:none" in CANCEL
    (extension,) = (ROOT / "paimon_nb" / "notebook" / "labextension" / "static").glob("remoteEntry.*.js")
    assert "button.pnb-cancel{display:inline-block !important}" in extension.read_text()


def test_the_exported_quickstart_has_the_controls_that_it_names(tmp_path: Path) -> None:
    made = nbformat.read(ROOT / "notebooks" / "01-quickstart.ipynb", as_version=4)
    write_page(made, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    (story,) = re.findall(r'<div class="pnb story">.*?</table>', page, re.S)
    commits = re.findall(r'<circle[^>]* data-snapshot="(\d+)"', story)
    assert re.findall(r'<div class="frame[^>]* data-snapshot="(\d+)"', story) == commits
    assert len(commits) > 10
    (slider,) = re.findall(r'<input[^>]*type="range"[^>]*>', page)
    assert f'max="{len(commits) - 1}"' in slider
    assert page.count('aria-label="Play the history"') == 1


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_first_queries_of_the_readme_return_rows(shell: Shell) -> None:
    blocks = re.findall(r"```sql\n(%%paimon\n.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert [shell.value(block).to_arrow().num_rows for block in blocks] == [2, 2]
