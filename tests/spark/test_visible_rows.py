"""Rows that are read by position are those of a merge; no Spark is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import MissingFile
from paimon_nb.table.read import Compare
from paimon_nb.table.read.strategy.planned_scan import PlannedScan, plan_table_scan
from paimon_nb.table.read.strategy.routes import ScanStrategy, StrategyLimits
from paimon_nb.table.read.strategy.visible_rows import hides_by_position, visible_rows
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import TableCommit

if TYPE_CHECKING:
    from pathlib import Path

ENGINES = {
    "deduplicate": "'merge-engine' = 'deduplicate'",
    "first-row": "'merge-engine' = 'first-row'",
    "sequence field": "'sequence.field' = 'n'",
    "deletion vectors": "'deletion-vectors.enabled' = 'true'",
}


def scan_of(table: paimon_nb.Table, **options: object) -> PlannedScan:
    """A scan of all rows, none of it small."""
    return plan_table_scan(table, limits=StrategyLimits(inline_rows=10), **options)  # type: ignore[arg-type]


def read(scan: PlannedScan, rows_ahead: int) -> pa.Table:
    found = visible_rows(
        scan.store, scan.plan.splits, scan.fields, scan.plan.predicate, rows_ahead=rows_ahead, piece_rows=1_000
    )
    return pa.concat_tables(found)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_rows_are_those_of_a_merge(tmp_path: Path, engine: str) -> None:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(f"""
        CREATE TABLE t (k BIGINT, v STRING, n INT, PRIMARY KEY (k) NOT ENFORCED)
        WITH ('bucket' = '2', 'write-only' = 'true', 'file.block-size' = '16 kb', {ENGINES[engine]})
    """)
    for number, step in enumerate((1, 3, 7)):
        keys = np.arange(0, 9_000, step)
        rows = {"k": keys, "v": [f"{number}-{k}" for k in keys], "n": pa.array((keys % 11 - number).astype(np.int32))}
        wb.table("t").upsert(pa.table(rows))
    wb.run("ALTER TABLE t RENAME COLUMN v TO w; ALTER TABLE t ADD COLUMN late INT")
    wb.table("t").upsert(
        pa.table(
            {
                "k": [5, 9_001],
                "w": ["new", "new"],
                "n": pa.array([99, 99], pa.int32()),
                "late": pa.array([1, 2], pa.int32()),
            }
        )
    )
    if engine in ("deletion vectors", "first-row"):  # which are read when they are compacted
        wb.table("t").copy({"write-only": "false"}).compact()
    table = wb.table("t")
    expected = table.to_arrow().sort_by("k")
    assert expected.num_rows == 9_001
    for columns in (None, ["late"], ["w", "n"]):
        scan = scan_of(table, columns=columns)
        assert {r.strategy for r in scan.routes} <= {ScanStrategy.MASKED, ScanStrategy.NATIVE}
        assert hides_by_position(scan.store, scan.plan.splits, scan.routes)
        names = columns or expected.column_names
        found = read(scan, rows_ahead=1_500)
        by = [(n, "ascending") for n in names]
        assert found.sort_by(by).to_pydict() == expected.select(names).sort_by(by).to_pydict()


@pytest.mark.parametrize("sequence", ["", ", 'sequence.field' = 'n'"])
def test_files_of_writers_at_the_same_time_are_compared_row_by_row(tmp_path: Path, sequence: str) -> None:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    options = f"'bucket' = '1', 'write-only' = 'true'{sequence}"
    wb.run(f"CREATE TABLE t (k BIGINT, v STRING, n INT, PRIMARY KEY (k) NOT ENFORCED) WITH ({options})")
    table = wb.table("t")
    with TableWrite(table.store, compact=False) as first, TableWrite(table.store, compact=False) as second:
        for writer, name, keys in ((first, "first", range(99)), (second, "second", range(98, -1, -1))):
            numbers = pa.array([k % 3 for k in keys], pa.int32())
            writer.write(pa.table({"k": list(keys), "v": [name] * 99, "n": numbers}))
        for writer in (second, first):
            TableCommit(table.store).commit(writer.prepare_commit())
    files = wb.table("t").scan().plan.files
    assert files[0].max_sequence >= files[1].min_sequence
    assert files[1].max_sequence >= files[0].min_sequence
    expected = wb.table("t").to_arrow().sort_by("k")
    assert set(expected.column("v").to_pylist()) == {"first", "second"}
    assert read(scan_of(wb.table("t")), rows_ahead=100).sort_by("k").to_pydict() == expected.to_pydict()


def test_row_groups_are_left_out_by_their_statistics(tmp_path: Path) -> None:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (k INT, v STRING) WITH ('file.block-size' = '16 kb')")
    wb.table("t").append(pa.table({"k": pa.array(range(20_000), pa.int32()), "v": [str(k) for k in range(20_000)]}))
    scan = scan_of(wb.table("t"), filter=Compare("k", "<", 50))
    found = read(scan, rows_ahead=0)
    assert found.column("k").to_pylist()[:50] == list(range(50))
    assert found.num_rows < 20_000


def test_created_rows_and_other_formats_have_no_position(tmp_path: Path) -> None:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    options = {
        "sums": "'merge-engine' = 'aggregation', 'fields.n.aggregate-function' = 'sum'",
        "rows": "'file.format' = 'orc'",
    }
    for name, option in options.items():
        wb.run(
            f"CREATE TABLE {name} (k INT, n INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true', {option})"
        )
        for _ in range(2):
            wb.table(name).upsert(
                pa.table({"k": pa.array(range(20), pa.int32()), "n": pa.array(range(20), pa.int32())})
            )
        scan = scan_of(wb.table(name))
        assert not hides_by_position(scan.store, scan.plan.splits, scan.routes)


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (k INT)")
    wb.table("t").append(pa.table({"k": pa.array(range(20), pa.int32())}))
    scan = scan_of(wb.table("t"))
    for file in (tmp_path / "w").rglob("data-*.parquet"):
        file.unlink()
    with pytest.raises(MissingFile):
        read(scan, rows_ahead=100)
