"""Large splits are read and merged in pieces: the same rows as at once, with every merge engine, and files closed early."""

from __future__ import annotations

import gc
from pathlib import Path

import all_types
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import ReaderConsumed, SnapshotExpired
from paimon_nb.table.read import query
from paimon_nb.table.read.query import TableQuery
from paimon_nb.table.read.row_positions import one_split_per_file
from paimon_nb.table.write.column_file_writer import columns_change, write_columns

KEYS = 9_000
"""More than are read of a file at a time."""


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "PIECE_BYTES", 1)


@pytest.fixture
def wb(tmp_path: Path):
    with paimon_nb.connect(str(tmp_path)) as workbench:
        yield workbench


def in_runs(t: paimon_nb.Table) -> paimon_nb.Table:
    """Four overlapping runs of different sizes."""
    t.append(all_types.rows(t, range(KEYS)))
    t.append(all_types.rows(t, range(2_000, KEYS, 3), 1))
    t.append(all_types.rows(t, range(0, 5_000, 2), 2))
    t.append(all_types.rows(t, range(KEYS - 10, KEYS + 10), 3))
    return t


def in_order(table: pa.Table) -> pa.Table:
    """Rows by `id`, or by all columns without it; NaN is a number that equals itself."""
    for i, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            table = table.set_column(
                i, field, pc.if_else(pc.is_nan(table[i]), pa.scalar(-0.12345, field.type), table[i])
            )
    order = ["id"] if "id" in table.column_names else table.column_names
    return table.sort_by([(name, "ascending") for name in order]).combine_chunks()


def same_rows(found: TableQuery, at_once: pa.Table) -> int:
    """Check that pieces have the rows of the whole read; returns the number of pieces."""
    batches = list(found.to_batches())
    together = pa.Table.from_batches(batches, found.schema)
    assert together.schema == at_once.schema
    assert in_order(together) == in_order(at_once)
    return len(batches)


@pytest.mark.parametrize("engine", sampled(all_types.ENGINES, 2))
def test_every_merge_engine_gives_the_same_rows_in_pieces(wb, engine: str) -> None:
    t = in_runs(all_types.make(wb, "t", write_only="true", merge_engine=engine, **all_types.ENGINES[engine]))
    if engine == "first-row":
        t.compact(full=False)
        t.append(all_types.rows(t, range(KEYS + 5, KEYS + 50), 4))
    assert same_rows(TableQuery(t), t.to_arrow()) > 1


def test_retractions_and_deletes_are_merged_in_pieces(wb) -> None:
    t = in_runs(all_types.make(wb, "t", write_only="true"))
    t.delete(pa.table({"id": pa.array(range(0, KEYS, 5))}))
    assert same_rows(TableQuery(t), t.to_arrow()) > 1
    assert t.where("id = 5").count() == 0


@pytest.mark.parametrize("merge_on_read", ["true", "false"])
def test_deletion_vectors_are_applied_by_position_in_pieces(wb, merge_on_read: str) -> None:
    t = all_types.make(wb, "t", deletion_vectors_enabled="true", deletion_vectors_merge_on_read=merge_on_read)
    in_runs(t)
    assert same_rows(TableQuery(t), t.to_arrow()) > 1


def test_tables_that_look_up_do_not_merge_older_results_twice(wb) -> None:
    options = {"fields.n.aggregate-function": "sum", "changelog-producer": "lookup"}
    t = in_runs(all_types.make(wb, "t", merge_engine="aggregation", **options))
    t = t.copy({"write-only": "true"})
    t.append(all_types.rows(t, range(100), 4))
    assert same_rows(TableQuery(t), t.to_arrow()) > 1


def test_old_schemas_are_evolved_in_pieces(wb) -> None:
    t = all_types.make(wb, "t", write_only="true")
    t.append(all_types.rows(t, range(KEYS)))
    wb.run(
        "ALTER TABLE t ADD added INT; ALTER TABLE t RENAME note TO remark; ALTER TABLE t MODIFY tiny BIGINT; ALTER TABLE t DROP small"
    )
    t = wb.table("t")
    t.append(pa.table({"id": pa.array(range(0, KEYS, 2)), "added": pa.array(range(0, KEYS, 2), pa.int32())}))
    assert same_rows(TableQuery(t), t.to_arrow()) > 1
    assert same_rows(t.select("remark", "tiny", "added"), t.to_arrow(["remark", "tiny", "added"])) > 1


@pytest.mark.parametrize(
    "condition",
    [
        "n > 100",
        "id BETWEEN 4000 AND 4100",
        "id = 77",
        "name IN ('name 1', 'name 2') AND id > 10",
        "tags IS NULL",
        "id < 0",
    ],
)
def test_conditions_are_applied_in_pieces(wb, condition: str) -> None:
    t = in_runs(all_types.make(wb, "t", write_only="true"))
    same_rows(t.where(condition), t.to_arrow(where=condition))
    assert t.where(condition).count() == t.to_arrow(where=condition).num_rows


@pytest.mark.parametrize(
    "condition", sampled(["n > 100", "id BETWEEN 4000 AND 4100", "id = 77", "name = 'name 1'", "id < 0"], 3)
)
@pytest.mark.parametrize("kind", ["parquet", "orc", "avro"])
def test_append_tables_are_read_in_pieces_in_every_format(wb, kind: str, condition: str) -> None:
    t = all_types.make(wb, "t", keys="", file_format=kind)
    t.append(all_types.rows(t, range(KEYS)))
    same_rows(t.where(condition), t.to_arrow(where=condition))
    assert same_rows(t.select("note", "id"), t.to_arrow(["note", "id"])) > 1


def test_a_small_file_of_repeated_values_is_read_in_pieces(wb, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.table({"n": pa.nulls(KEYS, pa.int64()), "text": pa.array(["the same text"] * KEYS)})
    t = wb.create_table("t", rows)
    size = sum(t.files().column("file_size_in_bytes").to_pylist())
    monkeypatch.setattr(query, "PIECE_BYTES", 20 * size)
    assert rows.nbytes > 2 * query.PIECE_BYTES
    assert same_rows(TableQuery(t), rows) > 1


def test_partitions_and_a_string_key_are_read_in_pieces(wb) -> None:
    t = all_types.make(wb, "t", keys="note, code", partition="code", write_only="true")
    for turn in (0, 0, 7):
        rows = all_types.rows(t, range(KEYS), turn)
        filled = rows.set_column(rows.schema.get_field_index("note"), "note", pa.array(map(str, range(KEYS))))
        codes = pa.array([f"{i % 2:03d}" for i in range(KEYS)])
        t.append(filled.set_column(rows.schema.get_field_index("code"), "code", codes))
    assert t.count() == KEYS
    assert same_rows(t.select("code", "note", "id"), t.to_arrow(["code", "note", "id"])) > 1


def test_data_evolution_files_are_read_together_in_pieces(wb) -> None:
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    t = all_types.make(wb, "t", keys="", bucket="-1", **options)
    t.append(all_types.rows(t, range(KEYS)))
    (split,) = one_split_per_file(t.scan().plan)
    fields = [f for f in t.schema.fields if f.name in ("n", "note")]
    newer = pa.table({"n": pa.array(range(KEYS), pa.int32()), "note": pa.array(map(str, range(KEYS)))})
    message = write_columns(t.store, split, fields, newer)
    t.commit().publish(lambda latest: columns_change(t.store, latest, [message], [split]))
    assert t.where("n = 77 AND note = '77'").count() == 1
    assert same_rows(TableQuery(t), t.to_arrow()) > 1


def open_files(folder: Path) -> set[str]:
    targets = (str(p.readlink()) for p in Path("/proc/self/fd").iterdir() if p.is_symlink())
    return {target for target in targets if str(folder) in target}


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed in /proc")
def test_a_limit_ends_the_read_early_and_closes_its_files(wb, tmp_path: Path) -> None:
    t = in_runs(all_types.make(wb, "t", write_only="true"))
    assert t.limit(3).to_arrow().num_rows == 3
    assert open_files(tmp_path) == set()
    batches = t.to_batches(batch_rows=10)
    next(batches)
    assert open_files(tmp_path)
    batches.close()
    assert open_files(tmp_path) == set()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed in /proc")
def test_a_reader_that_is_dropped_closes_its_files(wb, tmp_path: Path) -> None:
    t = in_runs(all_types.make(wb, "t", write_only="true"))
    reader = t.to_reader()
    reader.read_next_batch()
    del reader
    gc.collect()
    assert open_files(tmp_path) == set()


def test_a_batch_iterator_is_consumed_once_and_a_query_many_times(wb) -> None:
    t = in_runs(all_types.make(wb, "t", write_only="true"))
    batches = t.to_batches()
    assert sum(b.num_rows for b in batches) == KEYS + 10
    assert next(batches, None) is None
    for again in (lambda: list(batches), lambda: pa.table(batches), lambda: t.append(batches)):
        with pytest.raises(ReaderConsumed, match="these record batches were read already") as raised:
            again()
        assert "to_batches()" in (raised.value.hint or "")
    assert sum(b.num_rows for b in t.to_batches()) == KEYS + 10


def test_a_reader_whose_snapshot_expires_says_so(wb) -> None:
    t = all_types.make(wb, "t", partition="code", keys="id, code")
    rows = all_types.rows(t, range(KEYS))
    codes = pa.array([f"{i % 2:03d}" for i in range(KEYS)])
    t.append(rows.set_column(rows.schema.get_field_index("code"), "code", codes))
    reader = t.to_reader()
    reader.read_next_batch()
    t.truncate()
    wb.run("CALL sys.expire_snapshots(`table` => 'default.t', retain_max => 1, retain_min => 1)")
    with pytest.raises(SnapshotExpired) as raised:
        reader.read_all()
    assert "tag" in (raised.value.hint or "")
