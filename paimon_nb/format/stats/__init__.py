"""Statistics of data files: modes from options, collection while writing, decoding for pruning."""

from paimon_nb.format.stats.collect import (
    KEY_MODE,
    StatsCollector,
    StatsMode,
    collect_stats,
    key_modes,
    parse_mode,
    stats_modes,
    truncate_max,
)
from paimon_nb.format.stats.decode import ColumnStats, decode_stats

__all__ = [
    "KEY_MODE", "ColumnStats", "StatsCollector", "StatsMode", "collect_stats", "decode_stats", "key_modes", "parse_mode",
    "stats_modes", "truncate_max",
]  # fmt: skip
