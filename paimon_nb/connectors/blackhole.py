"""`blackhole`: a sink that discards all rows, for measurements of the query before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.override import override
from paimon_nb.connectors.api import ConnectorTable, Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Blackhole(Sink):
    def __init__(self, definition: ConnectorTable) -> None:
        definition.check_options("property-version")

    @override
    def store(self, batch: DataFrame, number: int | None = None) -> int:
        return int(batch.count())
