"""A real JupyterLab on a free loopback port, with settings of its own and our extension as it lies in the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lab_kit import REPO

sys.path.append(str(REPO / "tests" / "servers"))
from server_kit import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --font-render-hinting=none"
)
"""Chromium's, so that it asks nobody and draws the same everywhere."""


@contextmanager
def jupyterlab(root: Path, python: str | Path = "") -> Iterator[tuple[str, Path]]:
    """Start JupyterLab and yield its address and the folder that it shows.

    Args:
        python: the Python of an environment in which paimon_nb is installed; without it the checkout is used.

    Raises:
        RuntimeError: it did not start; the text has its log.
    """
    if not python:
        extensions = root / "share" / "labextensions"
        extensions.mkdir(parents=True)
        (extensions / "paimon-nb").symlink_to(REPO / "paimon_nb" / "notebook" / "labextension")
    port = free_port()
    folders = {
        name: str(root / name.lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHON", "JUPYTER"))},
        **folders,
        **({} if python else {"JUPYTER_PATH": str(root / "share"), "PYTHONPATH": str(REPO)}),
        "JUPYTERLAB_SETTINGS_DIR": str(root / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(root / "workspaces"),
        "NO_PROXY": "127.0.0.1,localhost",
    }
    settings = {
        # A busy machine is no fault of the page: offers that come later than a second would not be shown.
        "completer-extension/manager": '{"providerTimeout": 60000}',
        # A question whether to show JupyterLab's news would lie over the page.
        "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
    }
    for name, values in settings.items():
        file = root / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(values)
    notebooks = root / "notebooks"
    notebooks.mkdir()
    log = (root / "lab.log").open("w")
    server = subprocess.Popen(
        [
            str(python or sys.executable), "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
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
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")
