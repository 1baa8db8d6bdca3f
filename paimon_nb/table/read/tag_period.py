"""The periods of automatic tags: length, start and name. Source: Paimon `tag/TagPeriodHandler.java`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

_PERIODS = {"daily": timedelta(days=1), "hourly": timedelta(hours=1), "two-hours": timedelta(hours=2)}
_FORMATS = {
    ("with_dashes", True): "%Y-%m-%d",
    ("with_dashes", False): "%Y-%m-%d %H",
    ("without_dashes", True): "%Y%m%d",
    ("without_dashes", False): "%Y%m%d %H",
    ("without_dashes_and_spaces", True): "%Y%m%d",
    ("without_dashes_and_spaces", False): "%Y%m%d%H",
}
_FREE_FORMAT = "%Y%m%d%H%M"
"""Names of tags whose period is a free duration."""


@dataclass(frozen=True, slots=True)
class Period:
    """The length of a tag's period, and the tag's name from the period's start."""

    length: timedelta
    pattern: str

    @classmethod
    def of(cls, store: TableStore) -> Period:
        o = store.options
        free_ms = o.get(opt.TAG_CREATION_PERIOD_DURATION)
        if free_ms is not None:
            return cls(timedelta(milliseconds=free_ms), _FREE_FORMAT)
        name = str(o.get(opt.TAG_CREATION_PERIOD))
        return cls(_PERIODS[name], _FORMATS[(str(o.get(opt.TAG_PERIOD_FORMATTER)), name == "daily")])

    def floor(self, time: datetime) -> datetime:
        """Start of the period that contains a time."""
        zero = datetime(1970, 1, 1)
        return zero + (time - zero) // self.length * self.length

    def name(self, start: datetime) -> str:
        return start.strftime(self.pattern)

    def start(self, name: str) -> datetime | None:
        """The period start in an automatic tag's name; None for other tags."""
        try:
            time = datetime.strptime(name, self.pattern)
        except ValueError:
            return None
        return time if self.name(time) == name else None
