"""Waits of the browser tests. A page and its kernel may be slow: a test reads what has settled, and nothing before."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab_kit import Notebook
    from playwright.sync_api import Browser, FloatRect, Locator, Page

T = TypeVar("T")

PATIENT_MS = 60_000
"""How long a test waits for what a page and its kernel do: a busy machine is no fault of the page."""

SLOW_PAGE = "PAIMON_NB_SLOW_PAGE"
"""The variable with the factor by which pages are slowed: 6 is a sixth of the processor. `make nightly` does not set it."""


def slowed(browser: Browser) -> Browser:
    """The same browser; its pages are slow if the environment says so."""
    rate = float(os.environ.get(SLOW_PAGE, "1"))

    def slow(page: Page) -> None:
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": rate})

    def new_context(*args: Any, **how: Any) -> Any:
        context = type(browser).new_context(browser, *args, **how)
        context.on("page", slow)
        return context

    def new_page(*args: Any, **how: Any) -> Any:
        page = type(browser).new_page(browser, *args, **how)
        slow(page)
        return page

    for make in (new_context, new_page) if rate > 1 else ():
        setattr(browser, make.__name__, make)
    return browser


def settled(page: Page, read: Callable[[], T], is_whole: Callable[[T], bool] = lambda _: True) -> T:
    """What `read` gives twice in a row and `is_whole` accepts.

    Raises:
        AssertionError: it still changes after a minute, or is not accepted.
    """
    deadline, before = time.monotonic() + PATIENT_MS / 1000, None
    while True:
        now = read()
        if now == before and is_whole(now):
            return now
        assert time.monotonic() < deadline, f"not settled: {before!r}, then {now!r}"
        before = now
        page.wait_for_timeout(100)


def texts_of(cells: Locator, least: int = 1) -> list[str]:
    """The texts of at least so many cells, none of which still waits for its value. What is out of sight has its text, too."""

    def are_here(texts: list[str]) -> bool:
        return len(texts) >= least and not {"", "…"} & set(texts)

    return settled(cells.page, cells.all_text_contents, are_here)


def text_of(target: Locator) -> str:
    """Its text, once it is there."""
    return texts_of(target)[0]


def box_of(target: Locator) -> FloatRect:
    """Where it stands in the window, once nothing moves."""
    target.scroll_into_view_if_needed()
    box = settled(target.page, target.bounding_box, bool)
    assert box is not None
    return box


def drag(start: Locator, end: Locator) -> None:
    """Press the mouse in the middle of one element, and let it go in the middle of another one."""
    mouse = start.page.mouse
    start.hover()
    mouse.down()
    end.hover()
    mouse.up()


def drag_by(target: Locator, pixels: float) -> None:
    """Press the mouse in the middle of an element, and let it go to the right of it."""
    mouse = target.page.mouse
    target.hover()
    box = box_of(target)
    x, y = box["x"] + box["width"] / 2, box["y"] + min(10, box["height"] / 2)
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + pixels, y, steps=4)
    mouse.up()


def clipboard_is(page: Page, text: str) -> None:
    """Wait until this is what has been copied."""
    page.wait_for_function("text => navigator.clipboard.readText().then((now) => now === text)", arg=text)


def at_rest(page: Page) -> None:
    """What the page itself is doing is drawn: its tasks, two frames, and transitions of styles."""
    page.evaluate(
        """() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => done(null)))))"""
    )
    page.wait_for_function(
        "() => document.getAnimations().every((a) => !(a instanceof CSSTransition) || a.playState !== 'running')"
    )


ANSWERED = """
async () => {
  const sessions = [...(window.jupyterapp?.shell.widgets("main") ?? [])].map((w) => w.sessionContext?.session);
  for (const session of sessions) {
    const kernel = session?.kernel;
    if (!kernel || kernel.connectionStatus !== "connected" || !["idle", "busy"].includes(kernel.status)) continue;
    await kernel.requestExecute({ code: "", silent: true, store_history: false }).done.catch(() => null);
  }
}
"""
"""The kernel takes requests in their order, and its messages arrive in theirs."""


def answered(notebook: Notebook) -> None:
    """All that the page has asked of the kernel is answered and drawn; threads of the kernel may go on."""
    at_rest(notebook.page)
    notebook.page.evaluate(ANSWERED)
    at_rest(notebook.page)


def expect_no_overflow(notebook: Notebook, cells: list[int] | tuple[int, ...]) -> None:
    """Wait until nothing in these outputs is wider than its output."""
    answered(notebook)
    for cell in cells:
        handle = notebook.output(cell).element_handle()
        notebook.page.wait_for_function("e => e.scrollWidth <= e.clientWidth + 1", arg=handle)
