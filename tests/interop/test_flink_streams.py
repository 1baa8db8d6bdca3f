"""Real Flink streams the tables that we write: every changelog producer, every way to begin, row kinds and all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import paimon_nb

sys.path.insert(0, str(Path(__file__).parents[1] / "table" / "read" / "stream"))
from record_flink import TABLES, asking, modes, times_of

if TYPE_CHECKING:
    from collections.abc import Iterable

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.nightly]


def write(warehouse: Path, spark: Any) -> None:
    """The tables of `record_flink`, by the same statements, written by us."""
    wb = paimon_nb.connect(str(warehouse), spark=spark)
    wb.run("CREATE DATABASE d; USE d")
    for name in TABLES:
        columns, tail, options, statements = TABLES[name]
        given = ", ".join(f"'{k}' = '{v}'" for k, v in ({"bucket": "1"} | options).items())
        wb.run(f"CREATE TABLE `{name}` ({columns}) {tail} WITH ({given})")
        for text in statements:
            wb.run(text.format(t=name if "CALL" in text else f"`{name}`"))


def differences(oracle: Path, place: Path, names: Iterable[str], seconds: int) -> dict[str, Any]:
    """What Flink streams from these tables within so many seconds each, beside what we do, where it is not the same."""
    warehouse, script, out = place / "w", place / "ask.sql", place / f"out-{seconds}"
    script.write_text(asking(warehouse, names).replace("{warehouse}", str(warehouse)))
    flink = subprocess.run(
        [str(oracle / "run_flink_sql.sh"), "--out", str(out), "--timeout-s", str(seconds), str(script)],
        capture_output=True, text=True, timeout=1500, check=False,
    )  # fmt: skip
    assert "err=0" in flink.stdout, flink.stdout[-3000:] + flink.stderr[-2000:]
    wrong = {}
    for name in names:
        told: dict[str, list[list[object]]] = {}
        for line in (out / f"{name}.jsonl").read_text().splitlines():
            row = json.loads(line)
            told.setdefault(row.pop("m"), []).append(list(row.values()))
        for mode, options in modes(name, times_of(warehouse, name)).items():
            stream = paimon_nb.open_table(str(warehouse / "d.db" / name)).stream(options, idle_s=0)
            ours = [list(row.values()) for batch in stream for row in batch.rows.to_pylist()]
            # Flink reads buckets side by side: the order counts within a key.
            in_order = [sorted(r, key=lambda r: (r[1], r[3] if TABLES[name][1] else "")) for r in (ours, told.get(mode, []))]  # fmt: skip
            if in_order[0] != in_order[1]:
                wrong.setdefault(name, {})[mode] = {"ours": in_order[0], "flink": in_order[1]}
    return wrong


def test_flink_streams_from_our_tables_what_we_stream(shared: Path, tmp_path: Path, spark: Any) -> None:
    """What we stream from such tables is what Flink does, by `tests/table/read/stream`; so Flink finds in ours what it should."""
    write(tmp_path / "w", spark)
    wrong = differences(shared / "oracle", tmp_path, TABLES, 10)
    if wrong:  # a stream has no end: on a busy machine not all has come by then
        wrong = differences(shared / "oracle", tmp_path, wrong, 60)
    assert wrong == {}
