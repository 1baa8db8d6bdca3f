"""A time is the same whatever zone its writer and its reader live in, in each file format."""

from __future__ import annotations

import datetime as dt
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from paimon_nb.format.data import open_data_writer, read_data_file
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.fs import LocalFileIO
from paimon_nb.options import TableOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ZONES = ("UTC", "Asia/Tokyo", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "Europe/Amsterdam")
"""Whole and half hours, both sides of the date line, and old local times that were no whole minutes."""
FIELDS = tuple(
    DataField(i, name, parse_type(text))
    for i, (name, text) in enumerate(
        {"wall": "TIMESTAMP(6)", "wall_ms": "TIMESTAMP(3)", "instant": "TIMESTAMP(6) WITH LOCAL TIME ZONE", "day": "DATE", "clock": "TIME(3)"}.items()
    )
)  # fmt: skip
MOMENTS = [
    dt.datetime(2024, 3, 10, 2, 30),  # no such hour in New York
    dt.datetime(2024, 11, 3, 1, 30, 0, 123000),  # twice in New York
    dt.datetime(2011, 12, 30, 12),  # no such day in Apia
    dt.datetime(1970, 1, 1),
    dt.datetime(1969, 12, 31, 23, 59, 58, 999000),  # ORC cannot hold the second after, and refuses it
    dt.datetime(1899, 12, 31, 23, 59, 59),  # local mean times
    dt.datetime(1582, 10, 10, 5, 6, 7),
    dt.datetime(1, 1, 2),
    None,
]  # fmt: skip


def rows() -> pa.Table:
    return pa.table({
        "wall": pa.array(MOMENTS, pa.timestamp("us")),
        "wall_ms": pa.array(MOMENTS, pa.timestamp("ms")),
        "instant": pa.array(MOMENTS, pa.timestamp("us", tz="UTC")),
        "day": pa.array([m and m.date() for m in MOMENTS], pa.date32()),
        "clock": pa.array([m and m.time() for m in MOMENTS], pa.time32("ms")),
    })  # fmt: skip


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    def live_in(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield live_in
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("kind", ["parquet", "orc", "avro"])
def test_six_zones_write_and_six_read(kind: str, tmp_path: Path, zone) -> None:
    fs, options, expected, wrong = LocalFileIO(), TableOptions({"file.format": kind}), rows(), []
    for writer in ZONES:
        path = f"{tmp_path}/{writer.replace('/', '-')}.{kind}"
        zone(writer)
        out = open_data_writer(fs, path, FIELDS, options, 0)
        out.write(expected)
        out.close()
        for reader in ZONES:
            zone(reader)
            found = read_data_file(fs, path, FIELDS, None, options=options)
            wrong += [
                (writer, reader, f.name) for f in FIELDS if not found.column(f.name).equals(expected.column(f.name))
            ]
    assert wrong == []
