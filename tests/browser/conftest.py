"""A real JupyterLab on a free loopback port and a real Chromium, once for all; a folder and a page for each module."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lab_kit import REPO, Lab, Notebook
from server_kit import absent
from table_kit import write_carts, write_hostile, write_ill, write_orders, write_sales

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --font-render-hinting=none"
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        absent("playwright is not installed: pip install paimon-nb[test]")
    found = next((p for p in map(shutil.which, BROWSERS) if p), None)
    if found is None:
        absent("no Chromium on the path: make system-deps")
    expect.set_options(timeout=20_000)  # a busy machine is no fault of the page
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, headless=True, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """JupyterLab with settings of its own and our extension as it lies in the checkout: its address and its folder."""
    root = tmp_path_factory.mktemp("lab")
    extensions = root / "share" / "labextensions"
    extensions.mkdir(parents=True)
    (extensions / "paimon-nb").symlink_to(REPO / "paimon_nb" / "notebook" / "labextension")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folders = {
        name: str(root / name.lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
        **folders,
        "JUPYTER_PATH": str(root / "share"),
        "JUPYTERLAB_SETTINGS_DIR": str(root / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(root / "workspaces"),
        "PYTHONPATH": str(REPO),
        "NO_PROXY": "127.0.0.1,localhost",
    }
    settings = root / "settings" / "@jupyterlab" / "completer-extension"
    settings.mkdir(parents=True)
    # A busy machine is no fault of the page: offers that come later than a second would not be shown.
    (settings / "manager.jupyterlab-settings").write_text('{"providerTimeout": 20000}')
    notebooks = root / "notebooks"
    notebooks.mkdir()
    log = (root / "lab.log").open("w")
    server = subprocess.Popen(
        [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
            "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ServerApp.password=",
            "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            "--LabApp.expose_app_in_browser=True", f"--ServerApp.root_dir={notebooks}",
        ],
        env=environment, stdout=log, stderr=subprocess.STDOUT,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{url}/api/status", server, root / "lab.log")
        yield url, notebooks
    finally:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
        log.close()


@pytest.fixture(scope="module")
def lab(server: tuple[str, Path], request: pytest.FixtureRequest) -> Lab:
    """The server, and a folder in it where this module's notebooks and its warehouse lie."""
    url, root = server
    folder = request.module.__name__
    (root / folder).mkdir()
    return Lab(url, root / folder, folder)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        try:
            direct.open(url, timeout=2)
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of all the tables that tests look at; those that change them copy it."""
    warehouse = tmp_path_factory.mktemp("tables") / "warehouse"
    for write in (write_orders, write_hostile, write_ill, write_sales, write_carts):
        write(warehouse)
    return warehouse


@pytest.fixture(scope="session")
def page_of_lab(browser: Browser) -> Iterator[Notebook]:
    """One page for all tests: JupyterLab takes seconds to load."""
    context = browser.new_context(viewport={"width": 1180, "height": 1000}, device_scale_factor=1.5)
    page = context.new_page()
    page.set_default_timeout(30_000)
    yield Notebook(page)
    context.close()


@pytest.fixture(scope="module")
def notebook(page_of_lab: Notebook) -> Iterator[Notebook]:
    """The page for the tests of a module; each leaves it as the next may find it. Its kernels end with them."""
    yield page_of_lab
    page_of_lab.close_all()
