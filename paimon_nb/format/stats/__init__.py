"""Statistics of data files: modes from options, collection while writing, decoding for pruning."""

from paimon_nb.format.stats.collect import StatsCollector, collect_stats, truncate_max
from paimon_nb.format.stats.decode import ColumnStats, decode_stats
from paimon_nb.format.stats.modes import KEY_MODE, StatsMode, key_modes, parse_mode, stats_modes

__all__ = [
    "KEY_MODE", "ColumnStats", "StatsCollector", "StatsMode", "collect_stats", "decode_stats", "key_modes", "parse_mode",
    "stats_modes", "truncate_max",
]  # fmt: skip
