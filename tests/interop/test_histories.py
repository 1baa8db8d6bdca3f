"""Random histories replayed in real Flink with Paimon and here: the same statements are taken, the same rows, files and snapshots left."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from replay_kit import LOOKS, History

import paimon_nb
from paimon_nb.base.errors import PaimonError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FIRST_KEYS = {"snapshots": 1, "tags": 1}
"""Answers whose first columns are an order of their own; the others are multisets."""


def in_flink(shared: Path, warehouse: Path, histories: Sequence[History], out: Path) -> dict[str, Any]:
    """{table: ([statement was taken], {look: rows})} of one run of Flink."""
    lines = [f"CREATE CATALOG p WITH ('type' = 'paimon', 'warehouse' = '{warehouse}')", "USE CATALOG p", "CREATE DATABASE d", "USE d"]  # fmt: skip
    head = len(lines)
    for h in histories:
        lines += h.statements
        lines += [f"-- @q {h.table}.{look}\n{text.format(t=h.table, n=h.table)}" for look, text in LOOKS.items()]
    sql = out.with_suffix(".sql")
    sql.write_text(";\n".join(lines) + ";\n")
    done = subprocess.run(
        [str(shared / "oracle" / "run_flink_sql.sh"), "--out", str(out), str(sql)],
        capture_output=True, text=True, timeout=3000, check=False,
    )  # fmt: skip
    told = [line.startswith("OK") for line in done.stdout.splitlines() if line.startswith(("OK ", "ERR "))]
    assert len(told) == len(lines), done.stdout[-2000:] + done.stderr[-2000:]
    found, at = {}, head
    for h in histories:
        taken = told[at : at + len(h.statements)]
        at += len(h.statements) + len(LOOKS)
        answers = {look: read(out / f"{h.table}.{look}.jsonl") for look in LOOKS}
        found[h.table] = (taken, answers)
    return found


def read(path: Path) -> list[list[Any]] | None:
    return [list(json.loads(line).values()) for line in path.read_text().splitlines()] if path.exists() else None


def here(warehouse: Path, history: History) -> tuple[list[bool], dict[str, Any]]:
    wb = paimon_nb.connect(str(warehouse))
    wb.run("CREATE DATABASE IF NOT EXISTS d; USE d; SET 'execution.runtime-mode' = 'batch'")
    taken = []
    for statement in history.statements:
        try:
            wb.run(statement)
            taken.append(True)
        except PaimonError:
            taken.append(False)
    answers = {}
    for look in LOOKS:
        table = wb.table(f"d.{history.table}")
        if look == "rows":
            rows = table.to_arrow()
        else:
            wanted = LOOKS[look].split("SELECT ")[1].split(" FROM")[0].replace("`", "")
            rows = table.system(look)
            rows = rows if wanted == "*" else rows.select(wanted.split(", "))
        answers[look] = [list(row.values()) for row in rows.to_pylist()]
    return taken, answers


def in_order(rows: list[list[Any]] | None) -> list[str] | None:
    return None if rows is None else sorted(map(repr, rows))


def differences(
    history: History, java: tuple[list[bool], dict[str, Any]], ours: tuple[list[bool], dict[str, Any]]
) -> list[str]:
    out = [
        f"{history.table}: {statement}: Java {'takes' if a else 'refuses'} it"
        for statement, a, b in zip(history.statements, java[0], ours[0], strict=True)
        if a != b
    ]
    for look in LOOKS:
        a, b = in_order(java[1][look]), in_order(ours[1][look])
        if a != b:
            out.append(f"{history.table}${look}: Java {a}, here {b}")
    return out


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.java
@pytest.mark.parametrize("count", [50])
def test_flink_and_we_leave_the_same(count: int, shared: Path, tmp_path: Path) -> None:
    histories = [History(seed) for seed in range(count)]
    java = in_flink(shared, tmp_path / "java", histories, tmp_path / "answers")
    wrong = [d for h in histories for d in differences(h, java[h.table], here(tmp_path / "ours", h))]
    assert wrong == []
