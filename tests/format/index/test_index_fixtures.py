"""Java's own index files: deletion vectors written back byte for byte, hash indexes of known keys."""

from __future__ import annotations

import json

import pyarrow as pa

from paimon_nb.format.data import read_data_file
from paimon_nb.format.index import (
    FileIndex,
    FileIndexWriter,
    index_specs,
    read_deletion_vectors,
    read_hash_index,
    write_deletion_vectors,
)
from paimon_nb.format.manifest import IndexEntry, read_index_manifest
from paimon_nb.format.row import key_hash
from paimon_nb.format.schema import SchemaDirectory
from paimon_nb.format.snapshot import SnapshotDirectory
from paimon_nb.format.types import arrow_type
from paimon_nb.fs import LocalFileIO
from paimon_nb.options import TableOptions


def entries(fs, root) -> list[IndexEntry]:
    found = {}
    for snapshot in SnapshotDirectory(fs, str(root)).all():
        if snapshot.index_manifest:
            for entry in read_index_manifest(fs, f"{root}/manifest/{snapshot.index_manifest}"):
                found[entry.file_name] = entry
    return [e for e in found.values() if (root / "index" / e.file_name).exists()]


def test_deletion_vectors_of_java_come_back_byte_for_byte(shared, tmp_path):
    fs, compared = LocalFileIO(), 0
    for root in sorted((shared / "oracle/fixtures/warehouse/fx.db").iterdir()):
        for entry in entries(fs, root):
            if entry.index_type != "DELETION_VECTORS":
                continue
            path = f"{root}/index/{entry.file_name}"
            vectors = read_deletion_vectors(fs, path, entry.dv_ranges)
            assert [len(vectors[r.data_file]) for r in entry.dv_ranges] == [r.cardinality for r in entry.dv_ranges]
            in_order = {r.data_file: vectors[r.data_file] for r in sorted(entry.dv_ranges, key=lambda r: r.offset)}
            copy = f"{tmp_path}/{entry.file_name}"
            size, ranges = write_deletion_vectors(fs, copy, in_order)
            assert (size, set(ranges)) == (entry.file_size, set(entry.dv_ranges))
            assert fs.read(copy) == fs.read(path)
            compared += 1
    assert compared >= 3


def test_hash_indexes_of_java_hold_our_hashes(shared):
    fs, root = LocalFileIO(), shared / "oracle/fixtures/warehouse/fx.db/dyn_bucket"
    schema = SchemaDirectory(fs, str(root)).latest()
    rows = [json.loads(line) for line in (shared / "oracle/fixtures/expected/dyn_bucket.all.jsonl").open()]
    keys = schema.key_fields
    columns = [pa.array([r[f.name] for r in rows], type=arrow_type(f.type)) for f in keys]
    ours = set(key_hash([f.type for f in keys], columns).tolist())
    other_files = set()
    for entry in entries(fs, root):
        hashes = read_hash_index(fs, f"{root}/index/{entry.file_name}").tolist()
        assert len(hashes) == entry.row_count
        other_files.update(hashes)
    assert ours <= other_files
    assert ours


def test_file_index_of_java(shared):
    root = shared / "oracle/fixtures/warehouse/fx.db/file_index"
    fs, schema = LocalFileIO(), SchemaDirectory(LocalFileIO(), str(root)).latest()
    (path,) = (root / "bucket-0").glob("*.index")
    index = FileIndex.parse(path.read_bytes(), str(path))
    assert {k: set(v) for k, v in index.columns.items()} == {
        "id": {"bloom-filter"},
        "s": {"bitmap", "bloom-filter"},
        "b": {"bsi"},
    }
    table = read_data_file(fs, str(path)[: -len(".index")], schema.fields)
    for f in schema.fields:
        values = table.column(f.name).to_pylist()
        for value in {*values, None}:
            op = "is null" if value is None else "="
            rows = index.candidates(f.name, op, [] if value is None else [value], f.type)
            expected = {i for i, v in enumerate(values) if v == value}
            assert index.may_match(f.name, op, [] if value is None else [value], f.type) >= bool(expected)
            assert f.name == "id" or set(rows) == expected
    assert not index.may_match("id", "=", [-123_456], schema.field("id").type)
    ours = FileIndexWriter(index_specs(TableOptions(schema.options), schema.fields))
    ours.add(table)
    data, other_files = ours.finish(), path.read_bytes()
    own = FileIndex.parse(data)
    for column, kind in (("id", "bloom-filter"), ("s", "bloom-filter"), ("b", "bsi")):
        (a, n), (b, m) = own._columns[column][kind], index._columns[column][kind]
        assert data[a : a + n] == other_files[b : b + m]
