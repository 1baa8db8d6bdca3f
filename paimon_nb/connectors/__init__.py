"""Level 5: sources and sinks that are no Paimon tables: what `'connector' = '...'` names in a CREATE TABLE."""

from paimon_nb.connectors.api import Sink, Source
from paimon_nb.connectors.registry import SINKS, SOURCES, open_sink, open_source

__all__ = ["SINKS", "SOURCES", "Sink", "Source", "open_sink", "open_source"]
