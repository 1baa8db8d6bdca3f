"""The definition of a materialized table: what Java Paimon's Flink catalog stores in the table's options. Reads no table.

Source: Paimon `FlinkCatalog.fillOptionsForMaterializedTable`, Flink `IntervalFreshness`, `MaterializedTableConfigOptions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import table as opt
from paimon_nb.options.materialized import DIALECT, LAST_ERROR, MATERIALIZED_TABLE
from paimon_nb.options.option import parse_duration_ms
from paimon_nb.statements import Freshness

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTINUOUS, FULL, AUTOMATIC = "CONTINUOUS", "FULL", "AUTOMATIC"
ACTIVATED, SUSPENDED = "ACTIVATED", "SUSPENDED"
_UNIT_MS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000}
_CRON = {"SECOND": 60, "MINUTE": 60, "HOUR": 24, "DAY": 1}
"""By unit: the number that the freshness of FULL mode must divide, as Flink turns it into a cron expression."""
_DEFAULTS = {
    CONTINUOUS: ("materialized-table.default-freshness.continuous", "3 min"),
    FULL: ("materialized-table.default-freshness.full", "1 h"),
}
_THRESHOLD = ("materialized-table.refresh-mode.freshness-threshold", "30 min")


@dataclass(frozen=True, slots=True)
class Definition:
    """What fills a table, and how fresh it must be."""

    query: str
    """With full names of tables."""
    dialect: str
    """'flink' or 'spark'."""
    freshness: Freshness
    logical_mode: str
    """As in the statement: CONTINUOUS, FULL, or AUTOMATIC if it named none."""
    mode: str
    """CONTINUOUS or FULL."""
    status: str = ACTIVATED
    """INITIALIZING, ACTIVATED or SUSPENDED."""
    handler: str | None = None
    """Flink's description of the job that refreshes the table; None: no job of Flink does."""
    last_error: str | None = None

    @property
    def freshness_ms(self) -> int:
        return freshness_ms(self.freshness)

    @property
    def is_suspended(self) -> bool:
        return self.status == SUSPENDED

    def options(self) -> dict[str, str]:
        """The options of a new table, with the values that Java writes."""
        return {
            opt.TYPE.key: MATERIALIZED_TABLE,
            opt.MATERIALIZED_TABLE_DEFINITION_QUERY.key: self.query,
            **freshness_options(self.freshness),
            opt.MATERIALIZED_TABLE_LOGICAL_REFRESH_MODE.key: self.logical_mode.lower(),
            opt.MATERIALIZED_TABLE_REFRESH_MODE.key: self.mode.lower(),
            opt.MATERIALIZED_TABLE_REFRESH_STATUS.key: self.status.lower(),
            DIALECT.key: self.dialect,
        }


def is_materialized(options: Mapping[str, str]) -> bool:
    """Whether a table with these options is a materialized table."""
    return options.get(opt.TYPE.key) == MATERIALIZED_TABLE


def definition_of(options: Mapping[str, str], name: object) -> Definition:
    """The definition in a table's options.

    Raises:
        UnsupportedFormat: an option is missing, or has no value that Flink writes.
    """
    try:
        amount = int(options[opt.MATERIALIZED_TABLE_INTERVAL_FRESHNESS.key])
        unit = options[opt.MATERIALIZED_TABLE_INTERVAL_FRESHNESS_TIME_UNIT.key].upper()
        _UNIT_MS[unit]
        return Definition(
            options[opt.MATERIALIZED_TABLE_DEFINITION_QUERY.key],
            options.get(DIALECT.key, str(DIALECT.default)),
            Freshness(amount, unit),
            options[opt.MATERIALIZED_TABLE_LOGICAL_REFRESH_MODE.key].upper(),
            options[opt.MATERIALIZED_TABLE_REFRESH_MODE.key].upper(),
            options[opt.MATERIALIZED_TABLE_REFRESH_STATUS.key].upper(),
            _handler(options),
            options.get(LAST_ERROR.key),
        )
    except (KeyError, ValueError) as error:
        raise UnsupportedFormat(
            f"{name}: the definition of this materialized table cannot be read: {error}",
            hint=f"DROP MATERIALIZED TABLE {name}, and create it again",
            feature=MATERIALIZED_TABLE,
        ) from None


def _handler(options: Mapping[str, str]) -> str | None:
    if not options.get(opt.MATERIALIZED_TABLE_REFRESH_HANDLER_BYTES.key):
        return None
    return options.get(opt.MATERIALIZED_TABLE_REFRESH_HANDLER_DESCRIPTION.key) or "a job of Flink"


def freshness_ms(freshness: Freshness) -> int:
    """The interval in milliseconds."""
    return freshness.amount * _UNIT_MS[freshness.unit]


def freshness_options(freshness: Freshness) -> dict[str, str]:
    """The options that hold a freshness."""
    return {
        opt.MATERIALIZED_TABLE_INTERVAL_FRESHNESS.key: str(freshness.amount),
        opt.MATERIALIZED_TABLE_INTERVAL_FRESHNESS_TIME_UNIT.key: freshness.unit.lower(),
    }


def checked_freshness(freshness: Freshness, mode: str) -> Freshness:
    """The freshness. Raises BadOptionValue: FULL mode, and it is not an interval that Flink can schedule."""
    if mode == FULL and (_CRON[freshness.unit] % freshness.amount or freshness.amount >= max(2, _CRON[freshness.unit])):
        allowed = [str(n) for n in range(1, max(2, _CRON[freshness.unit])) if _CRON[freshness.unit] % n == 0]
        raise BadOptionValue(
            f"in FULL mode the freshness cannot be {freshness}: it must divide the next larger unit",
            hint=f"{freshness.unit}: {', '.join(allowed)}; or REFRESH_MODE = CONTINUOUS",
            option="FRESHNESS",
        )
    return freshness


def mode_and_freshness(
    logical: str | None, freshness: Freshness | None, settings: Mapping[str, str]
) -> tuple[str, Freshness]:
    """The refresh mode and the freshness of a new table, with Flink's defaults.

    Args:
        logical: the mode in the statement; None: it follows from the freshness, or is CONTINUOUS.
        settings: of the session, which may set other defaults.

    Raises:
        BadOptionValue: the freshness is not possible in the mode.
    """
    if freshness is None:
        mode = logical or CONTINUOUS
        return mode, checked_freshness(_default_freshness(mode, settings), mode)
    mode = logical or (CONTINUOUS if freshness_ms(freshness) < _setting_ms(*_THRESHOLD, settings) else FULL)
    return mode, checked_freshness(freshness, mode)


def _setting_ms(key: str, default: str, settings: Mapping[str, str]) -> int:
    try:
        return parse_duration_ms(settings.get(key, default))
    except ValueError as error:
        raise BadOptionValue(f"{key!r}: {error}", hint=f"SET '{key}' = '{default}'", option=key) from None


def _default_freshness(mode: str, settings: Mapping[str, str]) -> Freshness:
    millis = _setting_ms(*_DEFAULTS[mode], settings)
    unit = next((u for u in ("DAY", "HOUR", "MINUTE", "SECOND") if millis % _UNIT_MS[u] == 0 and millis), None)
    if unit is None:
        key = _DEFAULTS[mode][0]
        raise BadOptionValue(f"{key!r} must be a number of seconds", hint=f"SET '{key}' = '3 min'", option=key)
    return Freshness(millis // _UNIT_MS[unit], unit)
