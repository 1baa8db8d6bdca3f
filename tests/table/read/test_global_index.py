"""Scans of data-evolution tables by global indexes: fewer rows are read, and the same ones are found."""

from __future__ import annotations

import pyarrow as pa
import pytest
from golden_tables import unpacked

import paimon_nb
from paimon_nb import BadOptionValue, ColumnNotFound, CommitConflict, MissingFile, UnsupportedOperation
from paimon_nb.notebook.funnel_model import funnel
from paimon_nb.table.read import iter_split
from paimon_nb.table.read.live_files import index_entries
from paimon_nb.table.write.build_global_index import build_global_index

OPTIONS = {
    "row-tracking.enabled": "true",
    "data-evolution.enabled": "true",
    "deletion-vectors.enabled": "true",
    "global-index.column-update-action": "IGNORE",
}
FILES, ROWS = 4, 100


def batch(first: int, count: int) -> pa.Table:
    ids = range(first, first + count)
    return pa.table(
        {
            "id": pa.array(ids, pa.int32()),
            "b": pa.array([None if i % 50 == 3 else i * 37 % 211 for i in ids], pa.int32()),
            "c": [f"c{i % 23}" for i in ids],
            "f": pa.array([(i % 40 - 20) / 8 if i % 40 != 9 else float("nan") for i in ids], pa.float32()),
        }
    )


@pytest.fixture
def wb(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    texts = ", ".join(f"'{k}' = '{v}'" for k, v in OPTIONS.items())
    wb.run(f"CREATE TABLE t (id INT, b INT, c STRING, f FLOAT) WITH ({texts})")
    for n in range(FILES):
        wb.table("t").append(batch(n * ROWS, ROWS))
    return wb


def index(wb, column="b", kind="btree", options="") -> None:
    wb.run(f"CALL sys.create_global_index(`table` => 't', index_column => '{column}', index_type => '{kind}'{options})")


def drop(wb, column="b", kind="btree") -> int:
    """The number of files that it says."""
    (text,) = wb.run(f"CALL sys.drop_global_index('t', '{column}', '{kind}')").arrow["result"].to_pylist()
    return 0 if text == f"No {kind} global index found for columns '{column}'" else int(text.split()[1])


def ids(wb, where: str, **options: str) -> list[int]:
    return sorted(wb.table("t").copy(options).to_arrow(["id"], where).column(0).to_pylist())


def without(wb, where: str) -> list[int]:
    """The rows that a scan without indexes finds."""
    return ids(wb, where, **{"global-index.enabled": "false"})


def rows_looked_at(wb, where: str) -> int | None:
    """How many rows the indexes leave; None: none was used."""
    stages = wb.table("t").scan(where).plan.skipped.stages
    return next((s.remaining for s in stages if s.name.startswith("rows by index")), None)


CONDITIONS = [
    "b = 37", "b = 1000", "b IN (37, 74, 1000)", "b <> 37", "b NOT IN (37, 74)", "b < 40", "b <= 40", "b > 190", "b >= 190",
    "b BETWEEN 30 AND 50", "NOT (b BETWEEN 30 AND 190)", "b IS NULL", "b IS NOT NULL", "b = 37 OR b IS NULL",
    "b = 37 AND c = 'c1'", "b = 37 OR c = 'c2'", "b < 60 AND b > 50 AND id < 200", "b = 37 OR id = 5", "c = 'c7'",
    "c LIKE 'c2%'", "c LIKE '%2'", "c LIKE 'c_'", "c NOT IN ('c1', 'c2')", "c > 'c21'", "f = 0.125", "f < 0.1", "f > 2.3",
    "f = 0.1", "f <> 0.125", "f = 0", "f >= 2.375", "b IN (NULL, 37)", "b NOT IN (NULL, 37)",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["btree", "bitmap"])
def test_the_same_rows_are_found(wb, kind):
    for column in ("b", "c", "f"):
        index(wb, column, kind, ", options => 'bitmap-index.dictionary-block-size=64 b,btree-index.block-size=128 b'")
    wb.table("t").delete("id IN (1, 250)")
    wb.table("t").append(batch(FILES * ROWS, 20))  # which no index covers
    wb.table("t").update({"b": 37}, where="id IN (10, 399)")  # the index is older than these values
    for where in CONDITIONS:
        assert ids(wb, where) == without(wb, where), where
    table = wb.table("t")
    plan = table.scan("b = 74").plan
    pieces = [rows for s in plan.splits for rows in iter_split(plan.store, s, ["id"], plan.predicate, piece_bytes=64)]
    assert sorted(pa.concat_tables(pieces).column(0).to_pylist()) == ids(wb, "b = 74")


def test_files_without_matching_rows_are_skipped_and_counted(wb):
    index(wb)
    plan = wb.table("t").scan("b = 37").plan
    assert [f.first_row_id for f in plan.files] == [0, 200]
    assert str(plan.skipped).splitlines()[-2:] == [
        "4 of 4 manifests, 1 of 1 partitions, 1 of 1 buckets, 4 of 4 files, 2 of 400 rows by index of b",
        "2 files: the global index of b has no matching row in it",
    ]
    assert [list(s.row_ids) for s in plan.splits] == [[1, 212]]
    assert str(funnel(plan, "b = 37")).splitlines()[5:7] == [
        "          2 of 400 rows by index of b",
        "            2 files: the global index of b has no matching row in it",
    ]
    assert rows_looked_at(wb, "id = 1") is None
    assert rows_looked_at(wb, "b = 37 OR id = 1") is None
    assert rows_looked_at(wb, "b = 37 OR b = 74") == 4


def test_rows_after_the_index_are_found_and_indexed_by_the_next_call(wb):
    index(wb)
    wb.table("t").append(batch(FILES * ROWS, 30))
    assert rows_looked_at(wb, "b = 1000 OR b = 37") == 32
    index(wb)
    assert rows_looked_at(wb, "b = 1000 OR b = 37") == len(ids(wb, "b = 37")) == 3
    before = wb.table("t").latest_snapshot().id
    index(wb)
    assert wb.table("t").latest_snapshot().id == before


def test_updated_values_are_found_and_their_range_is_indexed_again(wb):
    index(wb)
    wb.table("t").update({"b": 5000}, where="id = 120")
    assert ids(wb, "b = 5000") == [120]
    assert rows_looked_at(wb, "b IN (37, 5000)") == ROWS + 2  # all rows of the file that has newer values, and two
    index(wb)
    assert (ids(wb, "b = 5000"), rows_looked_at(wb, "b = 5000")) == ([120], 1)
    assert len(index_entries(wb.table("t").store, wb.table("t").store.latest())) == 1


def test_updated_values_are_found_though_the_index_does_not_say_how_old_it_is(tmp_path):
    """As the indexes of pypaimon 2.1.0."""
    wb = paimon_nb.connect(str(unpacked(tmp_path, "pypaimon-2.1", "evolved_indexed")))
    wb.run("ALTER TABLE evolved_indexed SET ('global-index.column-update-action' = 'IGNORE')")
    assert wb.table("evolved_indexed").scan("b = 3").plan.skipped.stages[-1].remaining == 1
    wb.table("evolved_indexed").update({"b": 5000}, where="id = 3")
    assert wb.table("evolved_indexed").to_arrow(["id"], "b = 5000").to_pylist() == [{"id": 3}]


def test_rows_are_changed_by_a_condition_on_the_index(wb):
    index(wb)
    wb.table("t").update({"c": "new"}, where="b = 37")
    wb.table("t").delete("b = 74")
    wb.table("t").delete("b = 148 AND id < 100")
    assert (ids(wb, "c = 'new'"), ids(wb, "b = 37")) == ([1, 212], [1, 212])
    assert (ids(wb, "b IN (74, 148)"), wb.table("t").count()) == ([215], FILES * ROWS - 3)
    assert wb.table("t").where("b = 37").count() == 2


def test_newer_values_of_another_column_leave_the_index_as_it_is(wb):
    index(wb)
    wb.table("t").update({"c": "new"}, where="id = 120")
    assert rows_looked_at(wb, "b = 37") == 2


def test_an_index_of_a_former_type_is_not_used(wb):
    index(wb)
    wb.run("ALTER TABLE t ALTER COLUMN b TYPE BIGINT")
    assert (ids(wb, "b = 37"), rows_looked_at(wb, "b = 37")) == ([1, 212], None)


def test_a_range_scans_no_more_of_an_index_than_the_option_allows(wb):
    index(wb)
    wb.run("ALTER TABLE t SET ('btree-index.fallback-scan-max-size' = '0 b')")
    assert (rows_looked_at(wb, "b < 30"), rows_looked_at(wb, "b = 37")) == (None, 2)


def test_an_index_of_several_files(wb):
    index(wb, options=", options => 'sorted-index.records-per-range=50'")
    entries = index_entries(wb.table("t").store, wb.table("t").store.latest())
    assert [e.row_count for e in entries] == [50] * 8
    for where in ("b IS NULL", "b = 37", "b > 100"):
        assert ids(wb, where) == without(wb, where)


def test_drop(wb):
    index(wb)
    index(wb, "c", "bitmap")
    assert wb.run("CALL sys.drop_global_index('t', 'b', 'btree', dry_run => true)").arrow["result"].to_pylist() == [
        "Dry run: 1 btree global index files would be dropped for columns 'b' on table 't'"
    ]
    assert (drop(wb, "b", "bitmap"), drop(wb), drop(wb)) == (0, 1, 0)
    assert (rows_looked_at(wb, "b = 37"), rows_looked_at(wb, "c = 'c7'")) == (None, 18)


def test_only_some_partitions(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    texts = ", ".join(f"'{k}' = '{v}'" for k, v in OPTIONS.items())
    wb.run(f"CREATE TABLE t (id INT, b INT, p STRING) PARTITIONED BY (p) WITH ({texts})")
    wb.table("t").append(
        pa.table({"id": pa.array(range(20), pa.int32()), "b": pa.array(range(20), pa.int32()), "p": ["x", "y"] * 10})
    )
    index(wb, options=", partitions => 'p=x'")
    assert (ids(wb, "b IN (4, 5)"), rows_looked_at(wb, "b IN (4, 5)")) == ([4, 5], 11)
    index(wb)
    assert (ids(wb, "b IN (4, 5)"), rows_looked_at(wb, "b IN (4, 5)")) == ([4, 5], 2)
    wb.run("ALTER TABLE t DROP PARTITION (p = 'x')")
    assert (ids(wb, "b IN (4, 5)"), drop(wb)) == ([5], 1)


def test_index_files_at_another_place(wb, tmp_path):
    wb.run(f"ALTER TABLE t SET ('global-index.external-path' = '{tmp_path}/indexes')")
    index(wb)
    assert len(list((tmp_path / "indexes").iterdir())) == 1
    assert (ids(wb, "b = 37"), rows_looked_at(wb, "b = 37")) == ([1, 212], 2)


def test_what_cannot_be_indexed_is_refused(wb):
    with pytest.raises(UnsupportedOperation, match="column b is INT, which cannot have an index of type multivalue"):
        index(wb, kind="multivalue")
    with pytest.raises(UnsupportedOperation, match="has one column"):
        index(wb, "b,c")
    with pytest.raises(BadOptionValue, match="names no column"):
        index(wb, " , ")
    with pytest.raises(ColumnNotFound):
        index(wb, "bb")
    index(wb)
    with pytest.raises(UnsupportedOperation, match="has a global index of kind btree already"):
        index(wb, kind="bitmap")
    wb.run("CREATE TABLE plain (id INT, raw BYTES)")
    with pytest.raises(UnsupportedOperation, match="needs a table with data evolution"):
        wb.run("CALL sys.create_global_index('plain', 'id', 'btree')")
    wb.run("ALTER TABLE t ADD COLUMN raw BYTES")
    with pytest.raises(UnsupportedOperation, match="raw is BYTES"):
        index(wb, "raw")


def test_two_writers_do_not_index_the_same_rows(wb):
    messages = build_global_index(wb.table("t").store, "btree", "b")
    index(wb)
    with pytest.raises(CommitConflict, match="row ids 0 to 399"):
        wb.table("t").commit().commit(messages)


def test_a_missing_index_file_is_named(wb):
    index(wb)
    store = wb.table("t").store
    (entry,) = index_entries(store, store.latest())
    store.fs.delete(store.index_path(entry))
    with pytest.raises(MissingFile, match=entry.file_name):
        ids(wb, "b = 37")
    assert without(wb, "b = 37") == [1, 212]


def test_the_list_of_indexes_names_rows_and_columns(tmp_path):
    wb = paimon_nb.connect(str(unpacked(tmp_path, "pypaimon-2.1", "evolved_indexed")))

    def told() -> list[tuple]:
        rows = wb.table("evolved_indexed").system("table_indexes").to_pylist()
        names = ("index_type", "row_count", "row_range_start", "row_range_end", "index_field_id", "index_field_name")
        return [tuple(r[n] for n in names) for r in rows]

    assert told() == [("btree", 8, 0, 7, 1, "b")]
    wb.run("ALTER TABLE evolved_indexed RENAME COLUMN b TO renamed")
    assert told() == [("btree", 8, 0, 7, 1, "renamed")]
