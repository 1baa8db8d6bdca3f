"""UPDATE and DELETE on key tables of every merge engine: rows, snapshots and refusals as real Flink with Paimon 1.3.1 gave them.

`java_answers.json` holds Flink's answers to `change_kit.SCRIPT`: per table the statements that it refused (by their place in
the script), (kind, total, delta and changelog record count) of each snapshot, and the rows at the end.
"""

import json
from pathlib import Path

import pytest
from change_kit import COLUMNS, SCRIPT, SOURCE
from sampling import sampled

from paimon_nb.base.errors import UnsupportedOperation

pytestmark = pytest.mark.spark
ANSWERS = json.loads((Path(__file__).parent / "java_answers.json").read_text())


LONG = {
    "partial-update, deletes ignored",
    "aggregation",
    "deduplicate, deletes ignored",
    "deduplicate, full-compaction log",
}
"""Combinations of what other cases have alone."""


@pytest.mark.parametrize(
    "case",
    [*sampled([c for c in ANSWERS if c not in LONG], 3), *(pytest.param(c, marks=pytest.mark.nightly) for c in LONG)],
)
def test_answers_are_javas(swb, case):
    java = ANSWERS[case]
    swb.run(f"CREATE TABLE t ({COLUMNS}, {java['table']}); {'; '.join(SOURCE)}; SET 'execution.runtime-mode' = 'batch'")
    refused = []
    for number, text in enumerate(SCRIPT):
        try:
            swb.run(text)
        except UnsupportedOperation:
            refused.append(number)
    assert refused == java["refused"]
    rows = sorted(([*r.values()] for r in swb.table("t").to_arrow().to_pylist()), key=repr)
    assert rows == java["rows"]
    told = ("commit_kind", "total_record_count", "delta_record_count", "changelog_record_count")
    assert [[s[c] for c in told] for s in swb.table("t").snapshots().to_pylist()] == java["snapshots"]
