"""A pytest plugin: notes which lines of the package each test runs, and how long it takes.

Lines that run while a module is imported belong to no test.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import coverage
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(os.environ["PAIMON_NB_LINES_OF_TESTS"])
_measured = coverage.Coverage(data_file=str(FOLDER / f"lines.{os.getpid()}"), source_pkgs=["paimon_nb"])
_seconds: dict[str, float] = {}


def pytest_configure() -> None:
    _measured.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _measured.switch_context(item.nodeid)
    try:
        yield
    finally:
        _measured.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0) + report.duration


def pytest_unconfigure() -> None:
    _measured.stop()
    _measured.save()
    (FOLDER / f"seconds.{os.getpid()}.json").write_text(json.dumps(_seconds))
