"""Exported pages in a browser without a network, light and dark as the reader's system is."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from lab_kit import REPO
from panel_kit import CONTRAST, LIVE
from playwright.sync_api import expect
from table_kit import PAYLOADS

import paimon_nb
from paimon_nb.notebook.widgets.compaction import Compaction
from paimon_nb.notebook.widgets.compare import CompareView
from paimon_nb.notebook.widgets.explore import Explorer
from paimon_nb.notebook.widgets.funnel import FunnelView
from paimon_nb.notebook.widgets.lsm import LsmView
from paimon_nb.notebook.widgets.timeline import Timeline
from paimon_nb.notebook.widgets.why import WhyView

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from paimon_nb.notebook.widgets.base import Panel

pytestmark = pytest.mark.browser

# Code is coloured by JupyterLab; ours are the tables, the pictures and the text around them.
OURS = CONTRAST.replace("'.jp-Notebook'", "'body.jp-Notebook'")
READ = "td, th, .pnb text:not(.sign, [style]), .jp-MarkdownOutput p, .pnb-t div"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The quickstart, as `make demo` makes it, and a notebook of tables and reports."""
    import nbformat

    from paimon_nb.notebook.page import write_page

    folder = tmp_path_factory.mktemp("pages")
    for name in ("01-quickstart", "08-maintenance-and-repair"):
        write_page(nbformat.read(REPO / "notebooks" / f"{name}.ipynb", as_version=4), folder / f"{name}.html")
    return folder


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.nightly), "dark"])
def test_a_page_follows_the_system_and_fetches_nothing(browser: Browser, pages: Path, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme, offline=True, viewport={"width": 900, "height": 1000})
    try:
        for file in sorted(pages.glob("*.html")):
            page, asked, said = context.new_page(), [], []
            page.on("request", lambda r, a=asked: a.append(r.url))
            page.on("console", lambda m, s=said: s.append(m.text))
            page.goto(file.as_uri())
            assert ([u for u in asked if not u.startswith("data:")], said) == ([file.as_uri()], [])
            ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
            assert (sum(ground) / 3 > 128) == (scheme == "light")
            least, text = page.locator("body").evaluate(OURS.replace("text:not(.sign), .bar output, .facts", READ))
            assert least >= 4.5, (file.name, text, least)  # WCAG AA
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), file.name
            assert page.locator("svg rect.file").count() > 0 or "maintenance" in file.name
    finally:
        context.close()


@pytest.mark.nightly
def test_hostile_texts_stay_texts_on_a_page(browser: Browser, tables: Path, tmp_path: Path) -> None:
    """Every still picture of a table that is made of payloads, in one page, opened."""
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    from paimon_nb.notebook.page import write_page

    with paimon_nb.connect(str(tables)) as wb:
        t = wb.table("hostile")
        views: list[Panel] = [LsmView(t), Timeline(t), Explorer(t), Compaction(t), FunnelView(t), CompareView(t)]
        views += [WhyView(t, {"k": key}) for key in PAYLOADS[::7]]
        bundles = [view._repr_mimebundle_()[0] for view in views]
    cells = [new_code_cell("t", outputs=[new_output("display_data", data)]) for data in bundles]
    write_page(new_notebook(cells=cells), tmp_path / "page.html")
    said: list[str] = []
    page = browser.new_page()
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.accept()))
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".jp-OutputArea-output")).to_have_count(len(views))
    outputs = page.locator(".jp-OutputArea-output").all()
    assert [node for output in outputs for node in output.evaluate(LIVE)] == []
    assert "alert(1)" in page.locator("body").text_content()
    assert said == []
    page.close()


@pytest.mark.nightly
def test_texts_stand_left_and_numbers_right(browser: Browser, pages: Path) -> None:
    """nbconvert's and JupyterLab's own rules for tables put everything at the right."""
    page = browser.new_page()
    page.goto((pages / "01-quickstart.html").as_uri())
    row = page.locator(".pnb-t tr", has=page.locator("td", has_text="HA")).first.locator("td")
    assert row.evaluate_all("cells => cells.map(c => getComputedStyle(c).textAlign)") == ["left"] + ["right"] * 4
    page.close()


@pytest.fixture
def story(browser: Browser, pages: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The quickstart's page without a network; the parameter is the reader's wish for motion. Its clock stands still."""
    context = browser.new_context(offline=True, reduced_motion=request.param)
    began = datetime(2026, 3, 1, tzinfo=UTC)
    context.clock.install(time=began)
    page = context.new_page()
    page.goto((pages / "01-quickstart.html").as_uri())
    context.clock.pause_at(began + timedelta(hours=1))
    yield page
    context.close()


def shown(page: Page) -> list[str]:
    """The snapshots of the picture, of the marked commit and of the words below the slider."""
    picture = page.locator(".story .frame").filter(visible=True)
    words = page.locator(".story output").text_content() or ""
    marked = page.locator(".story circle.at").get_attribute("data-snapshot")
    return [picture.get_attribute("data-snapshot") or "", marked or "", words.split()[1]]


@pytest.mark.parametrize("story", ["no-preference"], indirect=True)
def test_the_history_plays_when_the_reader_gets_to_it(story: Page) -> None:
    last = story.locator(".story .frame").last.get_attribute("data-snapshot")
    assert shown(story) == [last] * 3
    story.locator(".story").scroll_into_view_if_needed()
    story.get_by_role("button", name="Pause the history").wait_for()
    story.clock.run_for(2_500)
    assert shown(story) == ["3"] * 3
    story.get_by_role("button", name="Pause the history").click()
    story.clock.run_for(5_000)
    assert shown(story) == ["3"] * 3
    story.get_by_role("button", name="Play the history").click()
    story.clock.run_for(60_000)
    assert shown(story) == [last] * 3
    expect(story.get_by_role("button", name="Play the history")).to_be_visible()


@pytest.mark.nightly
@pytest.mark.parametrize("story", ["reduce"], indirect=True)
def test_less_motion_is_respected_and_mouse_and_keyboard_choose(story: Page) -> None:
    last = int(story.locator(".story .frame").last.get_attribute("data-snapshot") or 0)
    story.locator(".story").scroll_into_view_if_needed()
    story.clock.run_for(5_000)
    assert shown(story) == [str(last)] * 3
    slider = story.get_by_role("slider", name="snapshot")
    slider.press("ArrowLeft")
    assert shown(story) == [str(last - 1)] * 3
    assert (slider.get_attribute("aria-valuetext") or "").startswith(f"snapshot {last - 1} · ")
    story.locator('.story circle[data-snapshot="2"]').click()
    assert shown(story) == ["2"] * 3
    slider.click(position={"x": 3, "y": 8})
    assert shown(story) == ["1"] * 3


@pytest.mark.nightly
def test_a_cancel_button_that_nothing_handles_is_not_shown(browser: Browser, tmp_path: Path) -> None:
    """The progress line of a cell, on a page without the JupyterLab extension."""
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    from paimon_nb.notebook.page import write_page
    from paimon_nb.notebook.progress import CANCEL

    line = new_output("display_data", {"text/html": f"<progress></progress> 3 of 4 tasks {CANCEL}"})
    write_page(new_notebook(cells=[new_code_cell("t", outputs=[line])]), tmp_path / "page.html")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.get_by_text("3 of 4 tasks")).to_be_visible()
    expect(page.locator("button.pnb-cancel")).to_have_count(1)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    page.close()


def test_the_search_of_the_documentation_has_its_worker_in_a_page_of_a_file(browser: Browser, tmp_path: Path) -> None:
    """Messages that are sent before the script is loaded arrive, in their order."""
    shutil.copy(REPO / "docs" / "assets" / "worker-of-a-file.js", tmp_path)
    (tmp_path / "twice.js").write_text("addEventListener('message', (e) => postMessage(2 * e.data));")
    (tmp_path / "index.html").write_text("<script src='worker-of-a-file.js'></script><body></body>")
    page = browser.new_page()
    page.goto((tmp_path / "index.html").as_uri())
    said = page.evaluate("""async () => {
      const worker = new Worker("twice.js"), said = [];
      worker.addEventListener("message", (e) => said.push(e.data));
      for (const n of [1, 2]) worker.postMessage(n);
      while (said.length < 2) await new Promise(requestAnimationFrame);
      worker.postMessage(3);
      while (said.length < 3) await new Promise(requestAnimationFrame);
      const missing = new Worker("none.js");
      const why = await new Promise((tell) => missing.addEventListener("error", (e) => tell(e.message)));
      return [...said, why];
    }""")
    page.close()
    assert said == [2, 4, 6, "none.js is not there"]
