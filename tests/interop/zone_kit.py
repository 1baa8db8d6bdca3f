"""Run in a process whose `TZ` is the zone: we write tables, real Flink in a JVM of that zone writes the same and reads all,
we read all. Prints one JSON object: table -> who reads -> rows of texts.

    TZ=America/New_York python zone_kit.py ORACLE_FOLDER WAREHOUSE
"""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import paimon_nb

if TYPE_CHECKING:
    import pyarrow as pa

ZONE = os.environ["TZ"]
FORMATS = ("parquet", "orc", "avro")
MOMENTS = (
    "2024-06-01 12:00:00", "1969-12-31 23:59:57", "1970-01-01 00:00:00", "1883-11-18 12:03:57", "1900-01-01 00:00:00.000001",
    "2024-03-10 02:30:00", "2024-11-03 01:30:00.123456",  # New York's and St. John's clocks go forward, and back
    "2024-03-31 02:30:00", "2024-10-27 02:30:00.5",  # Berlin's
    "2024-10-06 02:15:00", "2024-04-07 01:45:00.25",  # Lord Howe's, by half an hour
    "2011-12-30 10:00:00",  # which Apia left out
    "9999-12-31 11:00:00.999999", "0100-01-03 00:00:00",
)  # fmt: skip
COLUMNS = "k INT, t0 TIMESTAMP(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), z0 TIMESTAMP_LTZ(0), z3 TIMESTAMP_LTZ(3), z6 TIMESTAMP_LTZ(6), d DATE"
TEXTS = "k, CAST(t0 AS STRING), CAST(t3 AS STRING), CAST(t6 AS STRING), CAST(z0 AS STRING), CAST(z3 AS STRING), CAST(z6 AS STRING), CAST(d AS STRING)"
CREATE = f"CREATE TABLE {{t}} ({COLUMNS}, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true', {{more}})"
MORE = {
    "java": "'file.format' = '{f}'",
    # By default Java undoes the zone of the JVM that reads an ORC file, and we write as a JVM in UTC would.
    "ours": "'file.format' = '{f}', 'orc.timestamp-ltz.legacy.type' = 'false'",
}


def inserts(table: str) -> list[str]:
    """Two commits whose keys overlap, so that reading merges."""
    rows = []
    for k, moment in enumerate(MOMENTS):
        stamp = f"TIMESTAMP '{moment}'"
        plain = ", ".join(f"CAST({stamp} AS TIMESTAMP({p}))" for p in (0, 3, 6))
        zoned = ", ".join(f"CAST({stamp} AS TIMESTAMP_LTZ({p}))" for p in (0, 3, 6))
        rows.append(f"({k}, {plain}, {zoned}, DATE '{moment[:10]}')")
    return [f"INSERT INTO {table} VALUES {', '.join(part)}" for part in (rows, rows[::2])]


def tables(hand: str) -> list[tuple[str, list[str]]]:
    names = {f: f"{hand}_{f}" for f in FORMATS}
    return [(n, [CREATE.format(t=n, more=MORE[hand].format(f=f)), *inserts(n)]) for f, n in names.items()]


def by_java(oracle: Path, warehouse: Path) -> dict[str, list[list]]:
    lines = [
        f"SET 'table.local-time-zone' = '{ZONE}'", f"CREATE CATALOG p WITH ('type' = 'paimon', 'warehouse' = '{warehouse}')",
        "USE CATALOG p", *(s for _, statements in tables("java") for s in statements),
    ]  # fmt: skip
    names = [name for hand in ("java", "ours") for name, _ in tables(hand)]
    asked = [f"-- @q {name}\nSELECT {TEXTS} FROM {name} ORDER BY k" for name in names]
    sql, out = warehouse.parent / "zone.sql", warehouse.parent / "answers"
    sql.write_text(";\n".join([*lines, *asked]) + ";\n")
    start = (
        f". {oracle}/env.sh; exec java ${{JAVA_COMMON/timezone=UTC/timezone={ZONE}}} -Xmx2g -XX:TieredStopAtLevel=1"
        ' -cp "$ORACLE_WORK/bin/flink:$FLINK_CP" OracleRunner --stop-on-error --out "$0" "$1"'
    )
    done = subprocess.run(
        ["bash", "-c", start, str(out), str(sql)], capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    return {
        n: [list(json.loads(line).values()) for line in (out / f"{n}.jsonl").read_text().splitlines()] for n in names
    }


def arrow_texts(rows: pa.Table) -> list[list]:
    """What Flink's CAST would say of the values, told by Python's own calendar."""
    digits = {"t0": 0, "t3": 3, "t6": 6, "z0": 0, "z3": 3, "z6": 6}

    def text(name: str, value: object) -> object:
        if isinstance(value, dt.datetime):
            if value.tzinfo is not None:
                value = value.astimezone(ZoneInfo(ZONE)).replace(tzinfo=None)
            said = value.isoformat(" ", "microseconds")
            return said[: 20 + digits[name]].rstrip(".")
        return str(value) if isinstance(value, dt.date) else value

    return [[text(n, v) for n, v in row.items()] for row in sorted(rows.to_pylist(), key=lambda r: r["k"])]


def main() -> None:
    oracle, warehouse = Path(sys.argv[1]), Path(sys.argv[2])
    wb = paimon_nb.connect(str(warehouse))
    wb.run(f"SET 'table.local-time-zone' = '{ZONE}'")
    for _, statements in tables("ours"):
        for statement in statements:
            wb.run(statement)
    said: dict[str, dict[str, list]] = {name: {"java": rows} for name, rows in by_java(oracle, warehouse).items()}
    for name, answers in said.items():
        answers["arrow"] = arrow_texts(wb.table(name).to_arrow())
        answers["sql"] = [
            list(r.values()) for r in wb.sql(f"SELECT {TEXTS} FROM {name} ORDER BY k").toArrow().to_pylist()
        ]
    print("ANSWERS " + json.dumps(said))


if __name__ == "__main__":
    main()
