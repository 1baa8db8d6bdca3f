"""Decides when a lookup table is refreshed, from options and times; reads no table.

Source: Paimon `flink/lookup/FileStoreLookupFunction.java`, `RefreshBlacklist.java`, `DynamicPartitionLoader.java`.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options.read import (
    LOOKUP_DYNAMIC_PARTITION_REFRESH_ASYNC,
    LOOKUP_DYNAMIC_PARTITION_REFRESH_INTERVAL,
    LOOKUP_REFRESH_TIME_PERIODS_BLACKLIST,
)
from paimon_nb.options.table import CONTINUOUS_DISCOVERY_INTERVAL, LOOKUP_CONTINUOUS_DISCOVERY_INTERVAL

if TYPE_CHECKING:
    from paimon_nb.options import TableOptions


Partitions = list[dict[str, Any]] | None
"""Column -> value of each selected partition; None: all."""


@dataclass(frozen=True, slots=True)
class RefreshSchedule:
    """Refresh intervals in milliseconds; None (not set): with each micro-batch."""

    interval_ms: int | None = None
    """Between two checks for new snapshots."""
    partitions_ms: int | None = None
    """Between two checks for the greatest partition."""
    partitions_async: bool = False
    """Whether the micro-batch that finds new partitions still uses the former ones."""
    closed: tuple[tuple[int, int], ...] = ()
    """Periods without refresh: first and last epoch ms."""

    @classmethod
    def of(cls, options: TableOptions) -> RefreshSchedule:
        """Raises BadOptionValue: an invalid time."""
        interval = next(
            (options.get(o) for o in (LOOKUP_CONTINUOUS_DISCOVERY_INTERVAL, CONTINUOUS_DISCOVERY_INTERVAL) if options.has(o)),
            None,
        )  # fmt: skip
        partitions = LOOKUP_DYNAMIC_PARTITION_REFRESH_INTERVAL
        return cls(
            interval,
            options.get(partitions) if options.has(partitions) else None,
            options.get(LOOKUP_DYNAMIC_PARTITION_REFRESH_ASYNC),
            _refresh_blackout_periods(options.get(LOOKUP_REFRESH_TIME_PERIODS_BLACKLIST)),
        )

    def is_closed(self, now_ms: int) -> bool:
        return any(first <= now_ms <= last for first, last in self.closed)

    def partitions_to_use(self, former: Partitions, found: Partitions) -> tuple[Partitions, Partitions]:
        """The partitions of the micro-batch that found others, and those that wait for the next one."""
        return (former, found) if self.partitions_async and found != former else (found, None)

    def snapshots_due(self, last_ms: int, now_ms: int) -> bool:
        """Whether to check for new snapshots, after a check at `last_ms`."""
        return self.interval_ms is None or now_ms - last_ms >= self.interval_ms

    def partitions_due(self, last_ms: int, now_ms: int) -> bool:
        """Whether to check for new partitions, after a check at `last_ms`."""
        return self.partitions_ms is None or now_ms - last_ms > self.partitions_ms


def _refresh_blackout_periods(text: str | None) -> tuple[tuple[int, int], ...]:
    """'2024-01-31 08:00->2024-01-31 20:00,...' in this machine's time zone."""
    periods = []
    for period in filter(None, (p.strip() for p in (text or "").split(","))):
        first, arrow, last = period.partition("->")
        try:
            span = _epoch_ms(first), _epoch_ms(last)
        except ValueError:
            raise _bad_value(text, f"{period!r} is not a period START->END") from None
        if not arrow or span[0] > span[1]:
            raise _bad_value(text, f"{period!r} ends before it begins")
        periods.append(span)
    return tuple(periods)


def _epoch_ms(text: str) -> int:
    return int(datetime.strptime(text.strip(), "%Y-%m-%d %H:%M").timestamp() * 1000)


def _bad_value(value: str | None, why: str) -> BadOptionValue:
    key = LOOKUP_REFRESH_TIME_PERIODS_BLACKLIST.key
    return BadOptionValue(
        f"option {key!r}: {why}", hint="'2024-01-31 08:00->2024-01-31 20:00,...'", option=key, value=value
    )
