"""Stored notebooks as pages: how heavy each is, that nothing is fetched, that no widget is left that needs a kernel."""

from __future__ import annotations

import re
from pathlib import Path

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
