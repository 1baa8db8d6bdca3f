"""A short slice of the benchmarks of streams: they compare every row themselves, and no time is asked for here."""

from __future__ import annotations

import pytest

from benchmarks.streams import Scene, lookups, rates

pytestmark = [pytest.mark.spark, pytest.mark.nightly]


def test_every_contender_has_every_record(swb, broker, tmp_path):
    scene = Scene(swb, broker, tmp_path, peer=None)

    figures = [*rates(scene, 2_000, 500), *lookups(scene, 2_000, 500)]

    assert [(f.contender, f.records) for f in figures] == [("paimon_nb", 2_000), ("Spark, Parquet", 2_000)] * 2
