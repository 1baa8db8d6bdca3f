"""A real JupyterLab on a free loopback port and a real Chromium, once for all; a folder and a page for each module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lab_kit import Lab, Notebook
from lab_server import FLAGS, jupyterlab
from requirements import REQUIREMENTS, chromium
from server_kit import absent
from table_kit import write_carts, write_hostile, write_ill, write_orders, write_sales
from waits import PATIENT_MS, slowed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        absent("playwright is not installed: pip install paimon-nb[test]")
    found = chromium()
    if found is None:
        absent(REQUIREMENTS["chromium"].missing)
    expect.set_options(timeout=PATIENT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, headless=True, args=FLAGS.split())
        yield slowed(browser)
        browser.close()


@pytest.fixture(scope="session")
def server(
    browser: Browser,  # noqa: ARG001  is there before JupyterLab starts
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[str, Path]]:
    """Its address and its folder."""
    with jupyterlab(tmp_path_factory.mktemp("lab")) as started:
        yield started


@pytest.fixture(scope="module")
def lab(server: tuple[str, Path], request: pytest.FixtureRequest) -> Lab:
    """The server, and a folder in it where this module's notebooks and its warehouse lie."""
    url, root = server
    folder = request.module.__name__
    (root / folder).mkdir()
    return Lab(url, root / folder, folder)


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of all the tables that tests look at; those that change them copy it."""
    warehouse = tmp_path_factory.mktemp("tables") / "warehouse"
    for write in (write_orders, write_hostile, write_ill, write_sales, write_carts):
        write(warehouse)
    return warehouse


@pytest.fixture(scope="session")
def page_of_lab(browser: Browser) -> Iterator[Notebook]:
    """One page for all tests: its scripts are loaded once and then cached."""
    context = browser.new_context(viewport={"width": 1180, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(PATIENT_MS)
    yield Notebook(page)
    context.close()


@pytest.fixture(scope="module")
def notebook(page_of_lab: Notebook) -> Iterator[Notebook]:
    """The page for the tests of a module; each leaves it as the next may find it. Its kernels end with them.

    JupyterLab stays loaded: to load it takes 3 s of CPU.
    """
    yield page_of_lab
    page_of_lab.close_all()
