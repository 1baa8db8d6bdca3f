"""Real Java Paimon reads the write matrix: rows, and the changelog where there is one. A slice always, 320 tables nightly."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from matrix import COLUMNS, Case, cases

import paimon_nb

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.java
TYPES = {"INT": pa.int32(), "BIGINT": pa.int64(), "STRING": pa.string()}


def write(wb: paimon_nb.Workbench, case: Case) -> None:
    columns = ", ".join(f"{n} {t}" for n, t in COLUMNS.items())
    key = f", PRIMARY KEY ({', '.join(case.keys)}) NOT ENFORCED" if case.keyed else ""
    by = " PARTITIONED BY (p)" if case.choice["partitioned"] != "no" else ""
    options = ", ".join(f"'{k}' = '{v}'" for k, v in case.options.items())
    wb.run(f"CREATE TABLE {case.name} ({columns}{key}){by} WITH ({options})")
    for number, batch in enumerate(case.batches()):
        table = wb.table(case.name)
        for kind, act in (("+I", table.append), ("-D", getattr(table, "delete"))):  # noqa: B009
            some = [r for r in batch if r["kind"] == kind]
            if some:
                act(pa.table({n: pa.array([r[n] for r in some], TYPES[t]) for n, t in COLUMNS.items()}))
        if number == 3 and case.choice["more"] == "evolved":
            wb.run(f"ALTER TABLE {case.name} ADD COLUMN late STRING")
            wb.run(f"ALTER TABLE {case.name} DROP COLUMN late")
        if number == 4 and case.choice["compaction"] == "minor":
            wb.table(case.name).compact(full=False)
    if case.choice["compaction"] == "full" or case.choice["bucket"] == "-2":
        wb.table(case.name).compact()
    elif case.choice["compaction"] == "minor":
        wb.table(case.name).compact(full=False)


def expect(wb: paimon_nb.Workbench, case: Case, root: Path) -> None:
    beside = root / "default.db"
    _lines(beside / f"{case.name}.jsonl", case.expected())
    if case.keyed and case.choice["producer"] != "none":
        table = wb.table(case.name)
        span = {"incremental-between": f"1,{table.latest_snapshot().id}"}
        _lines(beside / f"{case.name}.log.jsonl", table.system("audit_log", options=span).to_pylist())
        (beside / f"{case.name}.queries.json").write_text(
            json.dumps([{"query": "log", "system": "audit_log", "options": span}])
        )


def _lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows))


def judge(shared: Path, tmp_path: Path, count: int, seed: int) -> list[str]:
    root, away = tmp_path / "w", f"file://{tmp_path}/away"
    wb = paimon_nb.connect(str(root), options={"data-file.external-paths": away})
    chosen = cases(count, seed, away)
    wrong = []
    for case in chosen:
        write(wb, case)
        ours = sorted(map(json.dumps, wb.table(case.name).to_arrow().to_pylist()))
        if ours != sorted(map(json.dumps, case.expected())):
            wrong.append(f"{case.name} we read other rows: {case.choice}")
        expect(wb, case, root)
    report = tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, str(shared / "oracle" / "read_check.py"), str(root), "--json", str(report), "-q"],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert report.exists(), done.stdout + done.stderr
    by_name = {c.name: c.choice for c in chosen}
    verdicts = json.loads(report.read_text())
    assert len(verdicts) >= len(chosen)
    print(done.stdout)
    return wrong + [f"{entry} {by_name[entry[0].split('.')[0]]}" for entry in verdicts if entry[1] != "equal"]


def test_java_reads_a_slice(shared, tmp_path):
    assert judge(shared, tmp_path, 8, seed=7) == []


@pytest.mark.nightly
def test_java_reads_the_matrix(shared, tmp_path):
    wrong = judge(shared, tmp_path, 320, seed=11)
    print(f"\n{320 - len(wrong)} of 320 tables equal")
    assert wrong == []
