"""`blackhole`: rows go in and nothing comes of it; for measuring what is before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.connectors.api import Declared, Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Blackhole(Sink):
    def __init__(self, declared: Declared) -> None:
        declared.only("property-version")

    def store(self, batch: DataFrame, number: int | None = None) -> int:
        return int(batch.count())
