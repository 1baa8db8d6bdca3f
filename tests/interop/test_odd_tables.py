"""Random tables that real Flink with Paimon wrote, and what it answers about them: we answer the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from odd_tables import OddTable


def written_by_flink(shared: Path, tables: list[OddTable], place: Path) -> None:
    """A folder as `check_product.py` takes it: warehouse, questions, Flink's answers."""
    lines = [f"CREATE CATALOG p WITH ('type' = 'paimon', 'warehouse' = '{place / 'warehouse'}')", "USE CATALOG p", "CREATE DATABASE d", "USE d"]  # fmt: skip
    questions = []
    for table in tables:
        lines += table.statements
        for name, system, options, sql in table.questions:
            lines.append(f"-- @q {name}\n{sql}")
            full = sql.replace(f" {table.name} ", f" d.{table.name} ").replace(f"`{table.name}$", f"`d`.`{table.name}$")
            full = full if not full.endswith(f" {table.name}") else full.removesuffix(table.name) + f"d.{table.name}"
            questions.append({"name": name, "feature": "odd", "system": system, "options": options, "sql": full})
    place.mkdir(parents=True)
    (place / "queries.json").write_text(json.dumps(questions))
    (place / "all.sql").write_text(";\n".join(lines) + ";\n")
    done = subprocess.run(
        [str(shared / "oracle" / "run_flink_sql.sh"), "--out", str(place / "expected"), str(place / "all.sql")],
        capture_output=True, text=True, timeout=3000, check=False,
    )  # fmt: skip
    (place / "flink.txt").write_text(done.stdout + done.stderr)


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.java
@pytest.mark.parametrize("first", range(0, 120, 30))
def test_random_tables_of_flink_are_read_as_flink_reads_them(first: int, shared: Path, tmp_path: Path) -> None:
    written_by_flink(shared, [OddTable(seed) for seed in range(first, first + 30)], tmp_path / "odd")
    check = [sys.executable, str(shared / "oracle" / "check_product.py"), str(tmp_path / "odd")]
    done = subprocess.run(check, capture_output=True, text=True, timeout=3000, check=False)
    *told, last = done.stdout.splitlines()
    equal, asked = int(last.split()[1]), int(last.split()[3])
    assert asked > 600, done.stderr
    assert equal == asked, "\n".join(told)
