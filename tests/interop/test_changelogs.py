"""The changes of each commit of our tables, as `$audit_log` and `$binlog` show them: to Java and to us the same rows in the same order."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from cases_changelog import CASES
from merge_case import Case, comparable, told
from test_java_answers import bag, written

from paimon_nb.format.types import Array, DataType, VarChar

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.java

BUCKETS = {"bucket": "3"}
ORC = {"file.format": "orc"}
TURNED = {"log_lookup_levels_vectors": ORC, "log_first_row_levels": BUCKETS, "log_full_levels_dedup": BUCKETS | ORC, "log_lookup_levels_agg": {"file.format": "avro"}}  # fmt: skip


def cases() -> list[Case]:
    """The recorded cases, and some of them in other formats and with several buckets."""
    turned = [
        replace(c, name=f"{c.name}_turned", options=dict(c.options) | TURNED[c.name]) for c in CASES if c.name in TURNED
    ]
    return [*CASES, *turned]


def shown(case: Case, view: str) -> dict[str, DataType]:
    types = case.types if view == "audit_log" else {n: Array(t) for n, t in case.types.items()}
    return {"rowkind": VarChar(), **types}


@pytest.mark.nightly
def test_java_sees_the_changes_we_see(shared: Path, tmp_path: Path) -> None:
    """A third of the cases. `test_java_answers.py` compares all of them with the recorded answers."""
    assert compared_rows(cases()[::3], shared, tmp_path) > 400


@pytest.mark.nightly
def test_java_sees_the_changes_of_all_cases(shared: Path, tmp_path: Path) -> None:
    assert compared_rows(cases(), shared, tmp_path) > 1000


def compared_rows(chosen: list[Case], shared: Path, tmp_path: Path) -> int:
    """Compare the changes of each commit with Java; return the number of compared rows."""
    warehouse, out = tmp_path / "w", tmp_path / "java"
    ours: dict[str, list[dict[str, Any]]] = {}
    queries: list[dict[str, Any]] = []
    types: dict[str, dict[str, DataType]] = {}
    buckets = {c.name: int(c.table_options["bucket"]) for c in chosen}
    for case in chosen:
        table = written(case, warehouse)
        for snapshot in range(1, table.latest_snapshot().id + 1):
            for view in ("audit_log", "binlog"):
                options = {"incremental-between": f"{snapshot - 1},{snapshot}"}
                name = f"{case.name}.{snapshot}.{view}"
                types[name] = shown(case, view)
                rows = table.system(view, options=options).to_pylist()
                ours[name] = [{n: comparable(v, types[name][n]) for n, v in row.items()} for row in rows]
                queries.append({"name": name, "db": "d", "table": case.name, "system": view, "options": options})
    (tmp_path / "queries.json").write_text(json.dumps(queries))
    told_by = subprocess.run(
        [sys.executable, str(shared / "oracle" / "read_check.py"), str(warehouse), "--queries", str(tmp_path / "queries.json"),
         "--expected", str(tmp_path), "--keep-out", str(out), "-q"],
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    files = {name: out / "out" / f"{name}.jsonl" for name in ours}
    assert [n for n, f in files.items() if not f.exists()] == [], told_by.stdout[-3000:] + told_by.stderr[-2000:]
    for name, file in files.items():
        java = [
            {n: told(v, types[name][n]) for n, v in json.loads(line).items()} for line in file.read_text().splitlines()
        ]
        if buckets[name.split(".")[0]] == 1:
            assert (name, ours[name]) == (name, java)
        else:  # Java goes through buckets in the order of a hash map
            assert (name, bag(ours[name])) == (name, bag(java))
    return sum(map(len, ours.values()))
