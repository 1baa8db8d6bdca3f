"""Random tables, written by real Flink with Paimon and by us: both answer the same about them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from odd_merges import OddMerge
from odd_tables import OddTable

import paimon_nb
from paimon_nb.base.errors import PaimonError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def ask_flink(shared: Path, tables: Sequence[OddTable], place: Path, *, write: bool) -> None:
    """A folder as `check_product.py` takes it: warehouse, questions, Flink's answers.

    write: Flink writes the tables, too; else they are there.
    """
    place.mkdir(parents=True, exist_ok=True)
    lines = [f"CREATE CATALOG p WITH ('type' = 'paimon', 'warehouse' = '{place / 'warehouse'}')", "USE CATALOG p"]
    lines += ["CREATE DATABASE IF NOT EXISTS d", "USE d"]
    questions = []
    for table in tables:
        lines += table.statements if write else []
        for name, system, options, sql in table.questions:
            lines.append(f"-- @q {name}\n{sql}")
            questions.append(
                {"name": name, "feature": "odd", "system": system, "options": options, "sql": f"USE d; {sql}"}
            )
    (place / "queries.json").write_text(json.dumps(questions))
    (place / "all.sql").write_text(";\n".join(lines) + ";\n")
    done = subprocess.run(
        [str(shared / "oracle" / "run_flink_sql.sh"), "--out", str(place / "expected"), str(place / "all.sql")],
        capture_output=True, text=True, timeout=3000, check=False,
    )  # fmt: skip
    (place / "flink.txt").write_text(done.stdout + done.stderr)


def write_here(tables: Sequence[OddTable], warehouse: Path) -> None:
    """What is refused is left out, as in Flink."""
    wb = paimon_nb.connect(str(warehouse))
    wb.run("CREATE DATABASE IF NOT EXISTS d; USE d; SET 'execution.runtime-mode' = 'batch'")
    for table in tables:
        for statement in table.statements:
            with suppress(PaimonError):
                wb.run(statement)
    wb.close()


def differences(shared: Path, place: Path, least: int = 500) -> str:
    """Where our answers are not Flink's. `least`: questions that both can answer."""
    check = [sys.executable, str(shared / "oracle" / "check_product.py"), str(place)]
    done = subprocess.run(check, capture_output=True, text=True, timeout=3000, check=False)
    *told, last = done.stdout.splitlines()
    equal, asked = int(last.split()[1]), int(last.split()[3])
    assert asked >= least, done.stderr
    return "" if equal == asked else "\n".join(told)


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.java
@pytest.mark.parametrize("first", range(0, 120, 30))
@pytest.mark.parametrize("hand", ["Flink's", "ours"])
def test_random_tables_are_read_as_flink_reads_them(first: int, hand: str, shared: Path, tmp_path: Path) -> None:
    tables = [OddTable(seed) for seed in range(first, first + 30)]
    if hand == "ours":
        write_here(tables, tmp_path / "warehouse")
    ask_flink(shared, tables, tmp_path, write=hand == "Flink's")
    assert differences(shared, tmp_path) == ""


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.java
@pytest.mark.parametrize("first", range(0, 80, 20))
def test_the_same_statements_leave_the_same_rows(first: int, shared: Path, tmp_path: Path) -> None:
    """What is in which file after a compaction depends on sizes in bytes, which no two writers share; the rows do not."""
    tables = [OddMerge(seed) for seed in range(first, first + 20)]
    flinks, ours = tmp_path / "flink", tmp_path / "ours"
    ask_flink(shared, tables, flinks, write=True)
    assert differences(shared, flinks) == ""
    write_here(tables, ours / "warehouse")
    shutil.copytree(flinks / "expected", ours / "expected")
    asked = json.loads((flinks / "queries.json").read_text())
    alike = [q for q in asked if q["name"].partition(".")[2].startswith(("rows", "where", "audit_log", "schemas"))]
    (ours / "queries.json").write_text(json.dumps(alike))
    assert differences(shared, ours, 190) == ""
