"""What a machine lacks is skipped by name, fails in continuous integration, and stands in the closing table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SERVERS = Path(__file__).parent
CONFTEST = f"""
import sys

sys.path.insert(0, {str(SERVERS)!r})
pytest_plugins = ("requirements",)

import pytest

@pytest.fixture
def mariadb():
    return "a server"
"""
TESTS = """
import os, shutil, subprocess, sys
import pytest

def test_alone(): pass
def test_by_fixture(mariadb): pass
@pytest.mark.spark
def test_by_marker(): pass
@pytest.mark.needs("chromium", "java")
def test_of_two(): pass
def test_programs_are_hidden():
    assert shutil.which("java") is None and shutil.which("mvn") is None and shutil.which("sh")
    look = "from paimon_nb.spark.runtime.java import find_java\\nprint(find_java())"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True)
    assert "no Java was found" in done.stderr
"""


@pytest.fixture
def bare(tmp_path: Path):
    """Runs pytest where nothing is installed. Returns its exit code, its output and what it recorded."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  spark\n  needs\n  unit\n  missing\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_bare.py").write_text(TESTS)
    record = tmp_path / "left_out.jsonl"

    def run(*arguments: str, **environment: str) -> tuple[int, str, list[list[str]]]:
        path = os.pathsep.join([str(SERVERS.parents[1]), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": path, "PAIMON_NB_CI": "", "PAIMON_NB_WITHOUT": "all", "PAIMON_NB_LEFT_OUT": str(record), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
        )  # fmt: skip
        return (
            done.returncode,
            done.stdout + done.stderr,
            [json.loads(line) for line in record.open()] if record.exists() else [],
        )

    return run


def test_what_is_missing_is_skipped_by_name(bare):
    code, out, left_out = bare()
    assert (code, left_out) == (0, [
        ["test_bare.py::test_by_fixture", "no MariaDB: make system-deps"],
        ["test_bare.py::test_by_marker", "no Java of 17 to 23: make system-deps"],
        ["test_bare.py::test_of_two", "no Java of 17 to 23: make system-deps"],
    ]), out  # fmt: skip


def test_in_continuous_integration_it_fails(bare):
    code, out, left_out = bare(PAIMON_NB_CI="1")
    assert (code, left_out) == (1, [])
    assert "2 passed, 3 errors" in out
    assert "PAIMON_NB_CI=1, but no MariaDB" in out


def test_what_needs_nothing_is_a_unit_test(bare):
    _, out, _ = bare("-m", "unit", "--collect-only")
    assert "2/5 tests collected (3 deselected)" in out


def test_a_test_that_does_not_say_what_it_needs_fails(bare, tmp_path):
    text = "import pytest\n\ndef test_late():\n    pytest.skip('no MariaDB: make system-deps')\n"
    (tmp_path / "test_bare.py").write_text(text)
    code, out, _ = bare()
    assert code == 1
    assert "test_late needs more than Python (no MariaDB: make system-deps)" in out


def test_the_list_of_skips_is_exact(bare, tmp_path):
    skips = tmp_path / "skips.txt"
    look = ("--collect-only", "--skips", str(skips))
    lines = [
        "test_bare.py::test_by_fixture mariadb",
        "test_bare.py::test_by_marker java",
        "test_bare.py::test_of_two java",
    ]
    skips.write_text("\n".join(lines))
    assert bare(*look)[0] == 0
    skips.write_text("\n".join([*lines[1:], "test_bare.py::test_alone java"]))
    code, out, _ = bare(*look)
    assert code != 0
    assert "unexpected skip: test_bare.py::test_by_fixture mariadb" in out
    assert "missing skip: test_bare.py::test_alone java" in out


def test_the_table_says_how_many_why_and_which_command_adds_them(tmp_path):
    record = tmp_path / "left_out.jsonl"
    lines = [
        *(["tests/test_a.py::test_1", "no Java of 17 to 23: make system-deps"] for _ in range(12)),
        ["notebooks/10-cdc.ipynb::Cell 0", "no MariaDB: make system-deps"],
        ["tests/test_b.py::test_2", "root may write everywhere"],
    ]
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = subprocess.run([sys.executable, str(SERVERS / "requirements.py"), str(record)], capture_output=True, text=True, check=True)  # fmt: skip
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["left", "out", "added", "by"],
        [*["12", "tests:", "no", "Java", "of", "17", "to", "23", "make", "system-deps"]],
        [*["1", "cells", "of", "notebooks/10-cdc.ipynb:", "no", "MariaDB", "make", "system-deps"]],
        [*["1", "tests:", "root", "may", "write", "everywhere"]],
    ]
    record.write_text("")
    done = subprocess.run([sys.executable, str(SERVERS / "requirements.py"), str(record)], capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout == "left out: nothing\n"
