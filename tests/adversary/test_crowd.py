"""Eight processes do everything to a few tables at once; some are killed or stopped. At the end nothing acknowledged is lost."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

import pytest
from race_kit import Place, check, race

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def place_of(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    if kind == "s3":
        return Place(f"s3://lake/{uuid.uuid4().hex}", request.getfixturevalue("s3"))
    options = {"metastore": "jdbc", "uri": f"jdbc:sqlite:{tmp_path}/c.db"} if kind == "jdbc" else {}
    return Place(str(tmp_path / "w"), options)


def run(kind: str, seconds: float, seed: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    place = place_of(kind, tmp_path, request)
    report = check(place, race(place, tmp_path, seconds, seed))
    print(kind, report)
    assert report["problems"] == []
    assert report["acknowledged rows"] > 0


@pytest.mark.parametrize("kind", ["filesystem", "jdbc", "s3"])
def test_a_crowd(kind, tmp_path, request):
    run(kind, 20, 1, tmp_path, request)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["filesystem", "jdbc", "s3"])
def test_a_crowd_for_minutes(kind, tmp_path, request):
    """Ten minutes; `PAIMON_NB_CROWD=seconds` runs for another time."""
    run(kind, float(os.environ.get("PAIMON_NB_CROWD", "600")), 2, tmp_path, request)
