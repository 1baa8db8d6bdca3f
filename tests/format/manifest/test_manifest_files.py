"""Manifests, manifest lists and index manifests: round trips, other writers' files, versions, broken rows."""

import io
import json
import tracemalloc
from dataclasses import replace

import fastavro
import pytest
from manifest_kit import ENTRIES, FULL, INDEXES, KEY, KINDS, MANIFESTS

from paimon_nb.base.errors import CorruptFile, MissingFile, NewerFormat, UnsupportedFormat
from paimon_nb.format.manifest import (
    SimpleStats,
    cache_manifest,
    manifests,
    read_index_manifest,
    read_manifest,
    read_manifest_list,
    write_index_manifest,
    write_manifest,
    write_manifest_list,
)
from paimon_nb.format.manifest.manifests import _SCHEMA
from paimon_nb.fs.file_cache import FileCache
from paimon_nb.fs.memory import MemoryFileIO

P = "memory:/t/manifest/m"


@pytest.fixture
def fs():
    return MemoryFileIO()


def avro(schema, rows):
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(schema), rows)
    return out.getvalue()


def rows_of(fs, path=P):
    reader = fastavro.reader(io.BytesIO(fs.read(path)))
    return list(reader)


def foreign(fs, change, schema_change=lambda text: text):
    """ENTRIES as another writer would store them."""
    write_manifest(fs, P, ENTRIES, "none")
    rows = rows_of(fs)
    for row in rows:
        change(row)
    schema = json.loads(schema_change(json.dumps(_SCHEMA)))
    fs.overwrite(P + "2", avro(schema, rows))
    return read_manifest(fs, P + "2")


@pytest.mark.parametrize(("read", "write", "value"), KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("codec", ["zstd", "none", "snappy", "gzip", "bzip2", "xz"])
def test_what_is_written_is_read(fs, read, write, value, codec):
    assert write(fs, P, value, codec) == fs.size(P)
    assert read(fs, P) == value
    write(fs, P + "empty", [], codec)
    assert read(fs, P + "empty") == []


def test_the_codec_is_named_as_avro_does(fs):
    write_manifest(fs, P, ENTRIES)
    with pytest.raises(UnsupportedFormat, match="lzo"):
        write_manifest(fs, P + "2", ENTRIES, "lzo")
    assert b"avro.codec\x12zstandard" in fs.read(P)


@pytest.mark.parametrize(("read", "write", "value"), KINDS.values(), ids=KINDS)
def test_answers_are_the_callers_own(fs, read, write, value):
    write(fs, P, value)
    read(fs, P).clear()
    assert read(fs, P) == value


class CountedReads(MemoryFileIO):
    """Counts the files that are read."""

    reads = 0

    def read(self, path):
        self.reads += 1
        return super().read(path)


@pytest.mark.parametrize(("read", "write", "value"), KINDS.values(), ids=KINDS)
def test_a_file_is_decoded_once(read, write, value):
    fs = CountedReads()
    write(fs, P, value)
    assert (read(fs, P), read(fs, P), fs.reads) == (value, value, 1)


def test_only_wanted_entries(fs):
    write_manifest(fs, P, ENTRIES)
    assert read_manifest(fs, P, lambda kind, partition, bucket: (kind, partition, bucket) == (0, KEY, 3)) == ENTRIES[2:]


def test_newer_fields_are_carried_along(fs):
    entries = [ENTRIES[0], replace(ENTRIES[1], file=replace(FULL, write_cols_sequences=(4, 5)))]
    write_manifest(fs, P, entries)
    assert read_manifest(fs, P) == entries
    manifests = [MANIFESTS[0], replace(MANIFESTS[1], min_row_id=0, max_row_id=9)]
    write_manifest_list(fs, P + "l", manifests)
    assert read_manifest_list(fs, P + "l") == manifests
    extra = (
        ("_ROW_RANGE_START", 0),
        ("_ROW_RANGE_END", 9),
        ("_INDEX_FIELD_ID", 1),
        ("_EXTRA_FIELD_IDS", (2, 3)),
        ("_INDEX_META", b"m"),
        ("_SOURCE_META", None),
    )
    indexes = [INDEXES[0], replace(INDEXES[1], index_type="btree", dv_ranges=None, global_index=extra)]
    write_index_manifest(fs, P + "i", indexes)
    assert read_index_manifest(fs, P + "i") == indexes


def test_plain_files_stay_as_release_1_3_writes_them(fs):
    write_manifest(fs, P, ENTRIES)
    write_manifest_list(fs, P + "l", MANIFESTS)
    write_index_manifest(fs, P + "i", INDEXES)
    assert [list(rows_of(fs, p)[0])[-1] for p in (P, P + "l", P + "i")] == ["_FILE", "_MAX_LEVEL", "_EXTERNAL_PATH"]
    assert list(rows_of(fs)[0]["_FILE"])[-1] == "_WRITE_COLS"


def test_fields_of_old_and_future_writers(fs):
    def older(row):
        for name in ("_FIRST_ROW_ID", "_WRITE_COLS"):
            del row["_FILE"][name]

    def without(text):
        schema = json.loads(text)
        file = schema["fields"][5]["type"]
        file["fields"] = [f for f in file["fields"] if f["name"] not in ("_FIRST_ROW_ID", "_WRITE_COLS")]
        schema["fields"].insert(0, {"name": "_FUTURE", "type": ["null", "double"], "default": None})
        return json.dumps(schema)

    expected = [replace(e, file=replace(e.file, first_row_id=None, write_cols=None)) for e in ENTRIES]
    assert foreign(fs, older, without) == expected


def test_other_record_names_and_types_that_fit(fs):
    def loosely(text):
        text = text.replace("record__", "DataFileMeta_").replace('"type": "bytes"', '"type": ["null", "bytes"]')
        return text.replace('"items": "string"', '"items": ["null", "string"]')

    assert foreign(fs, lambda _row: None, loosely) == ENTRIES


def test_a_union_at_the_top(fs):
    write_manifest(fs, P, ENTRIES)
    fs.overwrite(P + "2", avro(["null", _SCHEMA], rows_of(fs)))
    assert read_manifest(fs, P + "2") == ENTRIES


BAD_ROWS = {
    "kind 90": lambda r: r.update(_KIND=90),
    "negative kind": lambda r: r.update(_KIND=-1),
    "negative size": lambda r: r["_FILE"].update(_FILE_SIZE=-1),
    "negative rows": lambda r: r["_FILE"].update(_ROW_COUNT=-1),
    "negative level": lambda r: r["_FILE"].update(_LEVEL=-1),
    "path": lambda r: r["_FILE"].update(_FILE_NAME="../x"),
    "no name": lambda r: r["_FILE"].update(_FILE_NAME=""),
    "extra path": lambda r: r["_FILE"].update(_EXTRA_FILES=["a/b"]),
    "version 0": lambda r: r.update(_VERSION=0),
}


@pytest.mark.parametrize("change", BAD_ROWS.values(), ids=BAD_ROWS)
def test_rows_that_cannot_be(fs, change):
    with pytest.raises(CorruptFile) as caught:
        foreign(fs, change)
    assert caught.value.path == P + "2"


def test_an_entry_of_a_kind_that_no_release_has_yet(fs):
    with pytest.raises(UnsupportedFormat, match="kind 2"):
        foreign(fs, lambda row: row.update(_KIND=2))


def test_a_null_where_none_may_be(fs):
    with pytest.raises(CorruptFile, match="not a valid manifest entry"):
        foreign(
            fs,
            lambda row: row.update(_PARTITION=None),
            lambda text: text.replace('"_PARTITION", "type": "bytes"', '"_PARTITION", "type": ["null", "bytes"]'),
        )


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("_FILE_SIZE", '"long"', '"double"'), ("_BUCKET", '"int"', '"string"'), ("_MIN_KEY", '"bytes"', '"string"')],
)
def test_fields_of_another_type(fs, name, old, new):
    def change(row):
        where = row if name in row else row["_FILE"]
        where[name] = 0.5 if new == '"double"' else "x"

    with pytest.raises(CorruptFile):
        foreign(fs, change, lambda text: text.replace(f'"{name}", "type": {old}', f'"{name}", "type": {new}'))


def test_versions(fs):
    with pytest.raises(NewerFormat, match="manifest version 3 is newer than 2"):
        foreign(fs, lambda row: row.update(_VERSION=3))
    with pytest.raises(UnsupportedFormat, match="recreate"):
        foreign(MemoryFileIO(), lambda row: row.update(_VERSION=1))


@pytest.mark.parametrize(("read", "write", "value"), KINDS.values(), ids=KINDS)
def test_one_kind_is_not_taken_for_another(fs, read, write, value):
    for other, _, _ in KINDS.values():
        if other is not read:
            write(fs, P + other.__name__, value)
            with pytest.raises((CorruptFile, NewerFormat, UnsupportedFormat)):
                other(fs, P + other.__name__)


def test_missing(fs):
    for read, _, _ in KINDS.values():
        with pytest.raises(MissingFile):
            read(fs, P)


def test_entries_of_wide_tables_weigh_what_they_take(fs, monkeypatch):
    """An entry has the least and the greatest value of each column: memory is bounded for 300 columns, too."""
    limit = 1 << 20
    monkeypatch.setattr(manifests, "_CACHE", FileCache(limit))
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for i in range(1000):
        stats = SimpleStats(bytes(2400), bytes(2401), tuple(range(1000 + i, 1300 + i)))
        cache_manifest(fs, f"{P}-{i}", [replace(ENTRIES[0], file=replace(ENTRIES[0].file, value_stats=stats))])
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert limit / 10 < held < 2 * limit
