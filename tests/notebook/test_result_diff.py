"""`%paimon diff`: the rows in which two results differ."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from paimon_nb.base.errors import ColumnNotFound, SchemaMismatch, SqlAnalysisError
from paimon_nb.notebook.result_diff import differing_rows

if TYPE_CHECKING:
    from shell_kit import Shell


def test_results_and_frames_are_compared_by_key_and_as_whole_rows(shell: Shell) -> None:
    shell.value("%%paimon -o old\nSELECT * FROM (VALUES (1, 'a'), (2, 'b'), (3, 'c')) AS t (id, v)")
    shell.value("import pandas as pd; new = pd.DataFrame({'v': ['c', 'x', 'd'], 'id': pd.array([3, 2, 4], 'int32')})")
    by_key = shell.value("%paimon diff old new by id")
    assert by_key.to_arrow().to_pydict() == {
        "rowkind": ["-D", "-U", "+U", "+I"],
        "id": [1, 2, 2, 4],
        "v": ["a", "b", "x", "d"],
    }
    assert by_key.notes == ["old has 3 rows, new 3; they differ in 4"]
    whole = shell.value("%paimon diff old new").to_arrow()
    assert whole.column("rowkind").to_pylist() == ["-D", "-D", "+I", "+I"]
    assert shell.value("%paimon diff old old").to_arrow().num_rows == 0


def test_random_tables_differ_as_a_multiset_says() -> None:
    draw = random.Random(3)
    for _ in range(20):
        tables = [
            pa.table({"a": pa.array([draw.choice([None, 1, 2]) for _ in range(n)], pa.int64()), "b": pa.array([draw.choice([None, 0.5, float("nan")]) for _ in range(n)], pa.float64())})
            for n in (draw.randrange(6), draw.randrange(6))
        ]  # fmt: skip
        found = differing_rows(*tables)
        old, new = (Counter(map(repr, zip(*t.to_pydict().values(), strict=True))) for t in tables)
        for kind, expected in (("-D", old - new), ("+I", new - old)):
            rows = [r for r in found.to_pylist() if r.pop("rowkind") == kind]
            assert Counter(repr(tuple(r.values())) for r in rows) == expected


def test_keys_are_checked() -> None:
    old = pa.table({"id": [1, 1], "v": ["a", "b"]})
    with pytest.raises(SqlAnalysisError, match="two rows have id = 1"):
        differing_rows(old, old, ["id"])
    with pytest.raises(ColumnNotFound, match="no column 'ids'"):
        differing_rows(old, old, ["ids"])
    with pytest.raises(SchemaMismatch, match="other columns: id, v and id"):
        differing_rows(old, old.select(["id"]))


@pytest.mark.parametrize("text", ["", "old", "old nothing", "old old by", "old old id"])
def test_what_is_wrong_is_said(shell: Shell, text: str) -> None:
    shell.value("%%paimon -o old\nSELECT 1 AS id")
    assert shell.error(f"%paimon diff {text}")[0] == "UsageError"
