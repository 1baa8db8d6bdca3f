"""Casts between dates and times, and between them and numbers. The zone is the process's local zone, as in Java.

Source: Paimon `casting/Time*CastRule.java`, `DateTimeUtils.java`. Java truncates milliseconds towards zero in most
places.
"""

from __future__ import annotations

import datetime as dt
import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.format.types import DataType, LocalZonedTimestamp, Timestamp, arrow_type
from paimon_nb.format.types.arrow_builders import fill_null, to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable

STAMPS = ("TIMESTAMP", "TIMESTAMP_LTZ")
TIMES = (*STAMPS, "DATE", "TIME")
_DAY_MS = 86_400_000
_DAY_S = 86_400
_PER_MS = {"ms": 1, "us": 1000, "ns": 1_000_000}
_YEAR_1900 = -2_208_988_800
_FIRST, _LAST = -62_135_164_800, 253_401_955_200
"""The range of seconds that Python's datetime can convert with a zone. Beyond it the zone's first or last rule applies.
"""


def cast_between_times(column: pa.Array, old: DataType, new: DataType) -> pa.Array | None:
    """Cast DATE, TIME and both TIMESTAMPs to each other; None for pairs that Java does not cast."""
    source, target = old.root, new.root
    if source in STAMPS and target in STAMPS:
        return _cast_timestamp(column, old, new)
    if source in STAMPS and target == "DATE":
        ms = _epoch_ms(column)
        if source == "TIMESTAMP":
            return _from_units(ms // _DAY_MS, column, pa.int32()).cast(pa.date32())
        return _from_units(_wall_clock_ms(ms) // _DAY_MS, column, pa.int32()).cast(pa.date32())
    if source in STAMPS and target == "TIME":
        ms = _epoch_ms(column) if source == "TIMESTAMP" else _wall_clock_ms(_epoch_ms(column))
        return _from_units(np.mod(ms, _DAY_MS), column, pa.int32()).cast(pa.time32("ms"))
    if source == "DATE" and target in STAMPS:
        ms = _integer_units(column.cast(pa.int32()).cast(pa.int64())) * _DAY_MS
        return _as_stamp(ms if target == "TIMESTAMP" else _instant_ms(ms), column, new)
    if source == "TIME" and target in STAMPS:
        return _as_stamp(_integer_units(column.cast(pa.int32()).cast(pa.int64())), column, new)
    if source == target == "TIME":
        return column
    return None


def from_time_to_number(column: pa.Array, old: DataType, new: DataType) -> pa.Array | None:
    """Seconds since the epoch, for timestamps only."""
    if old.root not in STAMPS or new.root not in ("INT", "BIGINT"):
        return None
    seconds = _from_units(_towards_zero(_epoch_ms(column), 1000), column, pa.int64())
    return seconds.cast(arrow_type(new), safe=False)


def from_number_to_time(column: pa.Array, old: DataType, new: DataType) -> pa.Array | None:
    """Seconds since the epoch; Java converts them to the process's zone if the target is TIMESTAMP_LTZ."""
    if old.root not in ("INT", "BIGINT") or new.root not in STAMPS:
        return None
    with np.errstate(over="ignore"):
        ms = _integer_units(column.cast(pa.int64())) * 1000
    return _as_stamp(ms if new.root == "TIMESTAMP" else _wall_clock_ms(ms), column, new)


def wall_to_instant(seconds: int) -> int:
    """Seconds since the epoch of local times in the process's zone. In an hour that the clock skips, the earlier offset
    applies.
    """
    inside = min(max(seconds, _FIRST), _LAST)
    wall = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=inside)
    return int(wall.timestamp()) + seconds - inside


def _cast_timestamp(column: pa.Array, old: DataType, new: DataType) -> pa.Array:
    assert isinstance(old, Timestamp | LocalZonedTimestamp)
    assert isinstance(new, Timestamp | LocalZonedTimestamp)
    unit, arrow_target = column.type.unit, arrow_type(new)
    units = _integer_units(column.cast(pa.int64()))
    if old.root != new.root:
        per = _PER_MS[unit]
        ms = np.floor_divide(units, per)
        moved = _instant_ms(ms) if new.root == "TIMESTAMP_LTZ" else _wall_clock_ms(ms)
        units = moved * per + (units - ms * per)
    if new.precision < old.precision:
        units = _truncate_to_precision(units, unit, new.precision)
    scaled = _from_units(units, column, pa.int64()).cast(pa.timestamp(unit))
    if _PER_MS[arrow_target.unit] < _PER_MS[unit]:
        factor = _PER_MS[unit] // _PER_MS[arrow_target.unit]
        scaled = _from_units(np.floor_divide(units, factor), column, pa.int64()).cast(pa.timestamp(arrow_target.unit))
    return scaled.cast(pa.timestamp(arrow_target.unit)).cast(pa.int64()).cast(arrow_target)


def _truncate_to_precision(units: np.ndarray, unit: str, precision: int) -> np.ndarray:
    """Java's truncate: up to milliseconds towards zero, below them within the millisecond."""
    per = _PER_MS[unit]
    ms = np.floor_divide(units, per)
    if precision <= 3:
        step = 10 ** (3 - precision)
        whole: np.ndarray = _towards_zero(ms, step) * (step * per)
        return whole
    digits = {"us": 6, "ns": 9}[unit]
    truncated: np.ndarray = units - np.mod(units, 10 ** (digits - precision))
    return truncated


def _as_stamp(ms: np.ndarray, column: pa.Array, new: DataType) -> pa.Array:
    arrow_target = arrow_type(new)
    return (
        _from_units(ms, column, pa.int64())
        .cast(pa.timestamp("ms"))
        .cast(pa.timestamp(arrow_target.unit))
        .cast(arrow_target)
    )


def _integer_units(column: pa.Array) -> np.ndarray:
    out: np.ndarray = to_numpy(fill_null(column, 0))
    return out


def _epoch_ms(column: pa.Array) -> np.ndarray:
    ms: np.ndarray = np.floor_divide(_integer_units(column.cast(pa.int64())), _PER_MS[column.type.unit])
    return ms


def _from_units(values: np.ndarray, like: pa.Array, t: pa.DataType) -> pa.Array:
    return pa.array(values, pa.int64(), mask=to_numpy(like.is_null())).cast(t)


def _towards_zero(values: np.ndarray, divisor: int) -> np.ndarray:
    out: np.ndarray = np.sign(values) * (np.abs(values) // divisor)
    return out


def local_time_in_zone(column: pa.Array, zone: dt.tzinfo | None) -> pa.Array:
    """Shift a timestamp column to the local time of each instant in `zone` (None: the process's zone); its type stays
    the same.

    As `java.util.TimeZone`, which knows no changes of a zone before 1900.
    """
    if zone is None and _process_is_utc():
        return column
    per = _PER_MS[column.type.unit]
    units = _integer_units(column.cast(pa.int64()))
    ms = np.floor_divide(units, per)
    wall_ms = _map_distinct_seconds(ms, lambda seconds: seconds + _utc_offset_seconds(max(seconds, _YEAR_1900), zone))
    return _from_units(wall_ms * per + (units - ms * per), column, pa.int64()).cast(column.type)


def _wall_clock_ms(ms: np.ndarray) -> np.ndarray:
    """The local times of instants in the process's zone."""
    return (
        ms if _process_is_utc() else _map_distinct_seconds(ms, lambda seconds: seconds + _utc_offset_seconds(seconds))
    )


def _instant_ms(ms: np.ndarray) -> np.ndarray:
    """The instants of local times in the process's zone."""
    return ms if _process_is_utc() else _map_distinct_seconds(ms, wall_to_instant)


def _process_is_utc() -> bool:
    return time.tzname == ("UTC", "UTC")


def _map_distinct_seconds(ms: np.ndarray, move: Callable[[int], int]) -> np.ndarray:
    seconds = np.floor_divide(ms, 1000)
    unique, where = np.unique(seconds, return_inverse=True)
    moved = np.array([move(int(s)) for s in unique], np.int64)
    out: np.ndarray = moved[where] * 1000 + (ms - seconds * 1000)
    return out


def _utc_offset_seconds(seconds: int, zone: dt.tzinfo | None = None) -> int:
    instant = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=min(max(seconds, _FIRST), _LAST))
    offset = instant.astimezone(zone).utcoffset()
    return 0 if offset is None else offset.days * _DAY_S + offset.seconds
