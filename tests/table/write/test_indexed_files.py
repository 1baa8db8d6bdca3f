"""File indexes of new files: made by the options, embedded or beside the file, found again by reads, gone with their file."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from write_kit import arrow, compact_all, make_table, put, rows_of

from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, CommitConflict, UnknownName
from paimon_nb.format.index import FileIndex
from paimon_nb.format.schema import SchemaDirectory
from paimon_nb.table.read import plan_scan, read_plan
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.compact import rewrite_file_indexes
from paimon_nb.table.write.maintenance import ExpireLimits, expire_snapshots, find_orphans

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.store import TableStore

COLUMNS = {"k": "INT", "v": "STRING", "n": "BIGINT"}
BLOOM = {
    "file-index.bloom-filter.columns": "v",
    "file-index.bloom-filter.v.items": "50",
    "file-index.bitmap.columns": "n",
    "metadata.stats-mode": "none",
}


def rows(*numbers: int) -> list[dict[str, Any]]:
    return [{"k": i, "v": f"v{i}", "n": i * 10} for i in numbers]


def files(store: TableStore) -> list[DataFile]:
    return sorted((e.file for e in live_entries(store, store.latest())), key=lambda f: (f.min_sequence, f.file_name))


def columns_of(file: DataFile, root: Path) -> dict[str, tuple[str, ...]]:
    """What the file's index holds, wherever it lies."""
    if file.embedded_index is not None:
        return FileIndex.parse(file.embedded_index).columns
    [name] = file.extra_files
    [path] = root.rglob(name)
    return FileIndex.parse(path.read_bytes()).columns


def index_files(root: Path) -> list[str]:
    return sorted(p.name for p in root.rglob("*.index"))


def ids(store: TableStore, where: str) -> list[int]:
    return sorted(read_plan(plan_scan(store, where=where)).column("k").to_pylist())


@pytest.mark.parametrize("kind", ["bitmap", "bloom-filter"])
def test_characters_are_found_with_and_without_their_spaces(tmp_path: Path, kind: str) -> None:
    """ORC gives CHAR without them, so an index that a compaction makes knows other values than one that a write makes."""
    indexed = {f"file-index.{kind}.columns": "c", "metadata.stats-mode": "none", "file.format": "orc"}
    store = make_table(f"{tmp_path}/t", {"k": "INT", "c": "CHAR(3)"}, bucket="-1", **indexed)
    for keys in ((1, 2), (3, 4)):
        put(store, [{"k": k, "c": "ab"[k % 2]} for k in keys])
    compact_all(store)
    put(store, [{"k": 5, "c": "b"}])
    assert len(files(store)) == 2
    assert (ids(store, "c = 'b'"), ids(store, "c IN ('a', 'z')"), ids(store, "c = 'z'")) == ([1, 3, 5], [2, 4], [])
    assert sum(len(split.files) for split in plan_scan(store, where="c = 'z'").splits) == 0
    assert ids(store, "c <> 'b'") == [2, 4]


class TestPlace:
    def test_small_ones_live_in_the_manifest(self, tmp_path: Path) -> None:
        store = make_table(f"{tmp_path}/t", COLUMNS, bucket="-1", **BLOOM)
        put(store, rows(1, 2, 3))
        [file] = files(store)
        assert file.extra_files == ()
        assert columns_of(file, tmp_path) == {"v": ("bloom-filter",), "n": ("bitmap",)}
        assert index_files(tmp_path) == []

    def test_the_threshold_is_the_last_size_embedded(self, tmp_path: Path) -> None:
        store = make_table(f"{tmp_path}/t", COLUMNS, bucket="-1", **BLOOM)
        put(store, rows(1))
        [file] = files(store)
        assert file.embedded_index is not None
        size = len(file.embedded_index)
        for limit, embedded in ((size, True), (size - 1, False)):
            name = f"t{limit}"
            other = make_table(
                f"{tmp_path}/{name}", COLUMNS, bucket="-1", **BLOOM,
                **{"file-index.in-manifest-threshold": f"{limit} b"},
            )  # fmt: skip
            put(other, rows(1))
            [made] = files(other)
            assert (made.embedded_index is not None) is embedded
            assert index_files(tmp_path / name) == ([] if embedded else [made.file_name + ".index"])
            assert made.extra_files == (() if embedded else (made.file_name + ".index",))

    def test_every_kind_of_file_gets_one(self, tmp_path: Path) -> None:
        """As Java: level 0, changelog, and the result of a compaction."""
        store = make_table(
            f"{tmp_path}/t", COLUMNS, ["k"], bucket="1", changelog_producer="input", **BLOOM,
            **{"file-index.in-manifest-threshold": "1 b"},
        )  # fmt: skip
        put(store, rows(1, 2))
        put(store, rows(2, 3))
        compact_all(store)
        data = {p.name for p in tmp_path.rglob("*.parquet")}
        assert len(data) == 5  # two flushes with a changelog file each, one merged file
        assert index_files(tmp_path) == sorted(name + ".index" for name in data)
        [merged] = files(store)
        assert (merged.row_count, merged.extra_files) == (3, (merged.file_name + ".index",))

    def test_an_upgraded_file_keeps_its_index(self, tmp_path: Path) -> None:
        store = make_table(f"{tmp_path}/t", COLUMNS, ["k"], bucket="1", **BLOOM)
        put(store, rows(1, 2))
        [before] = files(store)
        compact_all(store)
        [after] = files(store)
        assert (after.level, after.embedded_index) == (5, before.embedded_index)

    def test_each_rolled_file_knows_its_own_rows(self, tmp_path: Path) -> None:
        store = make_table(
            f"{tmp_path}/t", COLUMNS, bucket="-1", **BLOOM, **{"target-file-size": "1 b", "file.block-size": "1 b"}
        )
        with TableWrite(store) as write:
            for i in range(3):
                write.write(arrow(store, rows(i)))
            messages = write.prepare_commit()
        TableCommit(store).commit(messages)
        assert [f.row_count for f in files(store)] == [1, 1, 1]
        for i in range(3):
            plan = plan_scan(store, where=f"v = 'v{i}'")
            assert ([s.row_count for s in plan.splits], ids(store, f"v = 'v{i}'")) == ([1], [i])

    def test_a_key_of_a_map(self, tmp_path: Path) -> None:
        store = make_table(
            f"{tmp_path}/t", {"k": "INT", "m": "MAP<STRING, INT>"}, bucket="-1",
            **{"file-index.bitmap.columns": "m[x]"},
        )  # fmt: skip
        put(store, [{"k": 1, "m": [("x", 5), ("y", 6)]}, {"k": 2, "m": None}])
        [file] = files(store)
        assert columns_of(file, tmp_path) == {"m[x]": ("bitmap",)}


class TestRefused:
    @pytest.mark.parametrize(
        ("option", "value", "error"),
        [
            ("file-index.blom-filter.columns", "v", UnknownName),
            ("file-index.bloom-filter.columns", "w", ColumnNotFound),
            ("file-index.bsi.columns", "v", BadOptionValue),
        ],
    )
    def test_before_any_file_is_made(self, tmp_path: Path, option: str, value: str, error: type[Exception]) -> None:
        store = make_table(f"{tmp_path}/t", COLUMNS, bucket="-1", **{option: value})
        with pytest.raises(error):
            put(store, rows(1))
        assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["schema-0"]


class TestGone:
    BESIDE = BLOOM | {"file-index.in-manifest-threshold": "1 b"}

    @pytest.mark.parametrize("keys", [[], ["k"]])
    def test_an_aborted_write_leaves_nothing(self, tmp_path: Path, keys: list[str]) -> None:
        store = make_table(
            f"{tmp_path}/t", COLUMNS, keys, bucket="1", **self.BESIDE, bucket_key="k",
            **{"target-file-size": "1 b", "file.block-size": "1 b", "write-buffer-size": "1 b"},
        )  # fmt: skip
        with TableWrite(store) as write:
            write.write(arrow(store, rows(1, 2)))
            write.write(arrow(store, rows(3)))
            assert list(tmp_path.rglob("*.index"))
            write.abort()
        assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["schema-0"]

    def test_expiry_takes_it_with_the_file(self, tmp_path: Path) -> None:
        store = make_table(f"{tmp_path}/t", COLUMNS, ["k"], bucket="1", **self.BESIDE)
        put(store, rows(1))
        put(store, rows(1, 2))
        compact_all(store)
        [kept] = files(store)
        expire_snapshots(store, ExpireLimits.of(store, retain_min=1, retain_max=1, older_than_ms=1 << 62))
        assert index_files(tmp_path) == [kept.file_name + ".index"]
        assert find_orphans(store, older_than_ms=1 << 62) == []

    @pytest.mark.parametrize("format", ["parquet", "orc", "avro"])
    def test_no_complaint_from_an_encoder_that_was_cut_off(
        self, tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """pyarrow's writer finished its file when it was collected, into a sink that was closed by then."""
        heard: list[Any] = []
        monkeypatch.setattr(sys, "unraisablehook", heard.append)
        store = make_table(f"{tmp_path}/t", COLUMNS, bucket="-1", **{"file.format": format, "file.block-size": "1 b"})
        with TableWrite(store) as write:
            write.write(arrow(store, rows(*range(100))))
            write.abort()
        del write
        gc.collect()
        assert heard == []
        assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["schema-0"]


class TestRewrite:
    def rewrite(self, store: TableStore) -> list[int]:
        return TableCommit(store).commit(rewrite_file_indexes(store))

    @pytest.mark.parametrize("keys", [[], ["k"]])
    @pytest.mark.parametrize("threshold", ["1 b", "1 mb"])
    def test_old_files_get_what_is_asked_for_now(self, tmp_path: Path, keys: list[str], threshold: str) -> None:
        plain = make_table(f"{tmp_path}/t", COLUMNS, keys, bucket="1", bucket_key="k")
        put(plain, rows(1, 2))
        before = files(plain)
        store = plain.copy(BLOOM | {"file-index.in-manifest-threshold": threshold})
        assert self.rewrite(store) == [2]
        assert store.latest().commit_kind == "COMPACT"  # type: ignore[union-attr]
        after = files(store)
        assert [f.file_name for f in after] == [f.file_name for f in before]
        assert [columns_of(f, tmp_path) for f in after] == [{"v": ("bloom-filter",), "n": ("bitmap",)}]
        assert ids(store, "v = 'v2'") == [2]
        assert not plan_scan(store, where="v = 'v15'").files
        assert self.rewrite(store) == [], "nothing to do twice"

    def test_a_new_index_never_takes_an_old_ones_name(self, tmp_path: Path) -> None:
        beside = BLOOM | {"file-index.in-manifest-threshold": "1 b"}
        store = make_table(f"{tmp_path}/t", COLUMNS, bucket="-1", **beside)
        put(store, rows(1, 2))
        [first] = files(store)
        fewer = store.copy({"file-index.bitmap.columns": "k"})
        self.rewrite(fewer)
        [second] = files(fewer)
        assert second.extra_files == (first.file_name + "-1.index",)
        assert columns_of(second, tmp_path) == {"v": ("bloom-filter",), "k": ("bitmap",)}
        assert ids(store.copy({"scan.snapshot-id": "1"}), "n = 20") == [2]
        expire_snapshots(store, ExpireLimits.of(store, retain_min=1, retain_max=1, older_than_ms=1 << 62))
        assert index_files(tmp_path) == list(second.extra_files)
        assert sorted(r["k"] for r in rows_of(store)) == [1, 2]

    def test_no_more_indexes(self, tmp_path: Path) -> None:
        store = make_table(f"{tmp_path}/t", COLUMNS, bucket="-1", **BLOOM)
        put(store, rows(1, 2))
        none = store.copy({"file-index.bloom-filter.columns": "n", "file-index.bitmap.columns": "n"})
        self.rewrite(none)
        [file] = files(none)
        assert columns_of(file, tmp_path) == {"n": ("bloom-filter", "bitmap")}

    def test_a_refused_commit_takes_its_index_files_along(self, tmp_path: Path) -> None:
        store = make_table(f"{tmp_path}/t", COLUMNS, ["k"], bucket="1")
        put(store, rows(1, 2))
        put(store, rows(2))
        messages = rewrite_file_indexes(store.copy(BLOOM | {"file-index.in-manifest-threshold": "1 b"}))
        assert len(index_files(tmp_path)) == 2
        compact_all(store)
        commit = TableCommit(store)
        with pytest.raises(CommitConflict):
            commit.commit(messages)
        assert index_files(tmp_path) == []
        assert sorted(r["k"] for r in rows_of(store)) == [1, 2]

    def test_files_of_an_older_schema_keep_their_names_and_types(self, tmp_path: Path) -> None:
        store = make_table(f"{tmp_path}/t", COLUMNS, bucket="-1", **{"metadata.stats-mode": "none"})
        put(store, rows(1, 2))
        evolve(store)
        now = store.refreshed()
        put(now, [{"k": 3, "w": "v3", "n": 30, "x": 1}])
        asked = now.copy({"file-index.bitmap.columns": "w,n,x", "file-index.in-manifest-threshold": "1 mb"})
        self.rewrite(asked)
        found = sorted((columns_of(f, tmp_path) for f in files(asked)), key=len)
        assert found == [dict.fromkeys(("v", "n"), ("bitmap",)), dict.fromkeys(("w", "n", "x"), ("bitmap",))]
        for where, expected in (
            ("w = 'v1'", [1]),
            ("w = 'v3'", [3]),
            ("n = 20", [2]),
            ("x = 1", [3]),
            ("x IS NULL", [1, 2]),
        ):
            assert ids(asked, where) == expected, where


def evolve(store: TableStore) -> None:
    """Rename v to w, add x."""
    from dataclasses import replace

    from paimon_nb.format.types import DataField, parse_type

    old = store.schema
    fields = tuple(replace(f, name="w") if f.name == "v" else f for f in old.fields)
    added = DataField(old.highest_field_id + 1, "x", parse_type("INT"))
    new = replace(old, id=1, fields=(*fields, added), highest_field_id=old.highest_field_id + 1)
    assert SchemaDirectory(store.fs, store.root).create(new)


OPERATORS = ("=", "<>", "<", "<=", ">", ">=")


def test_pruned_is_unpruned(tmp_path: Path) -> None:
    """Every kind on every type it takes: with and without the indexes the same rows."""
    types = {"k": "INT", "s": "STRING", "i": "INT", "l": "BIGINT", "d": "DATE", "f": "DOUBLE"}
    kinds = {"bloom-filter": "s,i,l,d,f", "bitmap": "s,i,l,d", "range-bitmap": "s,i,l,d,f", "bsi": "i,l,d"}
    unpruned: dict[str, list[int]] = {}  # the rows are those of the first kind's table
    for kind, columns in kinds.items():
        store = make_table(
            f"{tmp_path}/{kind}", types, bucket="-1",
            **{f"file-index.{kind}.columns": columns, "metadata.stats-mode": "none"},
        )  # fmt: skip
        for start in range(0, 40, 10):
            numbers = pa.array([None if i % 7 == 0 else i for i in range(start, start + 10)], pa.int64())
            put(
                store,
                pa.table(
                    {
                        "k": pa.array(range(start, start + 10), pa.int32()),
                        "s": numbers.cast(pa.string()),
                        "i": numbers.cast(pa.int32()),
                        "l": numbers,
                        "d": numbers.cast(pa.int32()).cast(pa.date32()),
                        "f": numbers.cast(pa.float64()),
                    }
                ),
            )
        off = store.copy({"file-index.read.enabled": "false"})
        fewer = 0
        for column in columns.split(","):
            values = [
                f"DATE '1970-01-{n + 1:02d}'" if column == "d" else f"'{n}'" if column == "s" else str(n)
                for n in (3, 15, 27)
            ]
            compared = [
                f"{column} {op} {value}" for value in values for op in (OPERATORS if value == values[1] else ("=", "<"))
            ]
            nulls = [f"{column} IS NULL", f"{column} IS NOT NULL"]
            for where in (*compared, *nulls, f"{column} IN ({', '.join(values[:2])})"):
                if where not in unpruned:
                    unpruned[where] = ids(off, where)
                assert ids(store, where) == unpruned[where], (kind, where)
            fewer += sum(len(plan_scan(off, where=w).files) - len(plan_scan(store, where=w).files) for w in compared)
        assert fewer > 0, f"{kind} skips no file at all"
