"""The tests are tested: each planted fault must make one of them fail. A sample always, all of them nightly."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from faults import FAULTS, Fault

REPO = Path(__file__).resolve().parents[2]
CAUGHT, SURVIVED = 1, 0
"""What pytest says when a test failed, and when none did."""


def run(fault: Fault, place: Path) -> int:
    """pytest's answer in a copy of the repository with the fault in it."""
    copy = place / "copy"
    for name in ("paimon_nb", "tests"):
        shutil.copytree(
            REPO / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "golden", "labextension")
        )
    (copy / "tests" / "golden").symlink_to(REPO / "tests" / "golden")
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(REPO / name, copy)
    if (REPO.parent / "shared").is_dir():
        (place / "shared").symlink_to(REPO.parent / "shared")
    path = copy / "paimon_nb" / fault.file
    path.write_text(path.read_text().replace(fault.right, fault.wrong))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-m",
        "not nightly and not java and not spark",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, *(f"tests/{t}" for t in fault.tests)],
        cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip
    assert done.returncode in (CAUGHT, SURVIVED, 2), done.stdout[-2000:] + done.stderr[-2000:]
    return SURVIVED if done.returncode == 0 else CAUGHT


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_fault_can_be_planted(fault):
    text = (REPO / "paimon_nb" / fault.file).read_text()
    assert text.count(fault.right) == 1
    assert fault.right != fault.wrong
    assert all((REPO / "tests" / t).exists() for t in fault.tests)


@pytest.mark.nightly
def test_a_fault_is_caught(tmp_path):
    [swapped] = [f for f in FAULTS if f.name == "size ratio the wrong way round"]
    assert run(swapped, tmp_path) == CAUGHT


@pytest.mark.nightly
def test_95_percent_of_faults_are_caught(tmp_path, capsys):
    survived = [f.name for i, f in enumerate(FAULTS) if run(f, tmp_path / str(i)) == SURVIVED]
    with capsys.disabled():
        print(f"\n  {len(FAULTS) - len(survived)} of {len(FAULTS)} faults caught; not: {survived}")
    assert len(survived) <= 0.05 * len(FAULTS)
