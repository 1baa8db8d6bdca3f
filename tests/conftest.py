"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real Java tables and the Java oracle, kept beside the repository; tests skip without it."""
    path = REPO.parent / "shared"
    if not (path / "oracle").is_dir():
        pytest.skip("no folder ../shared with real Java tables beside this repository")
    return path
