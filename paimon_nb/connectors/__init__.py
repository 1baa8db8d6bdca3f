"""Level 5: connectors, the sources and sinks that `'connector' = '...'` selects in a CREATE TABLE."""

from paimon_nb.connectors.api import Sink, Source
from paimon_nb.connectors.registry import SINKS, SOURCES, open_sink, open_source

__all__ = ["SINKS", "SOURCES", "Sink", "Source", "open_sink", "open_source"]
