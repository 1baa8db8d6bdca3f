"""Stored notebooks as pages: how heavy each is, that nothing is fetched, that no widget is left that needs a kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_nb.cli import main

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
FETCHES = re.compile(r"""<(?!a\b)[^>]*\b(?:src|href)="(?!data:|\#)[^"]*"|@import|\burl\(\s*['"]?(?!data:|\#)[^)]*\)""")


def test_every_tutorial_is_a_light_page_that_fetches_nothing(tmp_path, capsys):
    from paimon_nb.notebook.page import MAX_PAGE_BYTES

    assert main(["export", *map(str, NOTEBOOKS), "--to", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    with capsys.disabled():
        print("\n" + "\n".join(line.replace(f"{tmp_path}/", "") for line in lines))
    assert [line.rsplit("/", 1)[1] for line in lines] == [f"{n.stem}.html" for n in NOTEBOOKS]
    for source in NOTEBOOKS:
        page = (tmp_path / f"{source.stem}.html").read_text()
        assert len(page.encode()) <= MAX_PAGE_BYTES
        assert FETCHES.findall(page) == [], source.name
        assert "widget-view" not in page
        assert '<style media="(prefers-color-scheme: dark)"' in page
    assert 'href="01-quickstart.html"' in (tmp_path / "START.html").read_text()


def notebook(*outputs):
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    return new_notebook(cells=[new_code_cell("1", outputs=[new_output("display_data", data=data)]) for data in outputs])


def test_a_widget_becomes_its_still_picture(tmp_path):
    from paimon_nb.notebook.page import WIDGET, write_page

    made = notebook({WIDGET: {"model_id": "m"}, "text/html": "<b>the picture</b>", "text/plain": "text"})
    made.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {"m": "x" * 100_000}}}
    size = write_page(made, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert size == len(page.encode()) < 400_000
    assert "<b>the picture</b>" in page
    assert made.metadata["widgets"]  # the notebook itself stays as it is


@pytest.fixture
def table(wb):
    wb.run("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")
    for n in range(5):
        wb.table("t").upsert(pa.table({"id": pa.array([n, n + 1], pa.int32())}))
    return wb.table("t")


def test_a_timeline_becomes_a_history_with_all_its_pictures_in_the_page(table, tmp_path):
    from paimon_nb.notebook.page import write_page
    from paimon_nb.notebook.story import FRAMES
    from paimon_nb.notebook.widgets.timeline import Timeline

    data = Timeline(table, snapshot=3)._repr_mimebundle_()[0]
    write_page(notebook(data, data), tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    pictures = re.findall(r'<div class="frame[^>]*data-label="([^"]*)"[^>]*><svg', page)
    assert pictures == [f"snapshot {n} · append · +2 physical rows · {'1 file in 1 run' if n == 1 else f'{n} files in {n} runs'}" for n in range(1, 6)] * 2  # fmt: skip
    assert page.count('type="range"') == 2
    assert page.count("matchMedia") == 1  # one script for both
    assert FETCHES.findall(page) == []
    assert FRAMES not in page


def test_the_pictures_of_a_long_history_are_bounded(table, monkeypatch):
    from paimon_nb.notebook import story
    from paimon_nb.notebook.widgets.timeline import Timeline

    panel = Timeline(table)
    commits = panel.model.commits
    assert [c.id for c in story.frame_commits(commits, 3)] == [1, 3, 5]
    shown = len(panel.frames().encode())
    monkeypatch.setattr(story, "MAX_FRAME_BYTES", shown // 2)
    fewer = panel.frames()
    assert re.findall(r'class="frame[^"]*" data-snapshot="(\d)"', fewer) == ["1", "5"]
    monkeypatch.setattr(story, "MAX_FRAME_BYTES", 10)
    assert panel.frames() == ""


def test_one_snapshot_or_a_damaged_one_leaves_the_others(table):
    from paimon_nb.notebook.widgets.timeline import Timeline

    panel = Timeline(table)
    manifest = table.store.snapshots.get(2).delta_manifest_list
    (Path(table.store.root.removeprefix("file:")) / "manifest" / manifest).unlink()
    panel._table = table.refresh()
    assert re.findall(r'class="frame[^"]*" data-snapshot="(\d)"', panel.frames()) == ["1", "3", "4", "5"]


def test_links_go_to_the_pages_that_are_there(tmp_path):
    from nbformat.v4 import new_markdown_cell, new_notebook

    from paimon_nb.notebook.page import write_page

    made = new_notebook(cells=[new_markdown_cell("[one](one.ipynb) [two](two.ipynb)")])
    write_page(made, tmp_path / "a.html", pages={"one"})
    assert re.findall(r'<a href="([^"#]+)"', (tmp_path / "a.html").read_text()) == ["one.html", "two.ipynb"]


def test_a_heavy_page_fails_the_command_and_a_missing_notebook_too(tmp_path, capsys):
    import nbformat

    from paimon_nb.notebook.page import MAX_PAGE_BYTES

    nbformat.write(notebook({"text/html": "x" * MAX_PAGE_BYTES}), tmp_path / "heavy.ipynb")
    assert main(["export", str(tmp_path / "heavy.ipynb"), "--to", str(tmp_path / "out")]) == 1
    assert "exceeds the size limit" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["export", str(tmp_path / "none.ipynb")])
    assert "no such notebook" in capsys.readouterr().err
