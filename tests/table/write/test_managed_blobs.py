"""BLOB columns of tables with a primary key: values in `.managed.blob` files, of which each data file has a list."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb import CorruptFile, UnsupportedOperation
from paimon_nb.base.errors import BadOptionValue
from paimon_nb.format.data.blob import BlobDescriptor
from paimon_nb.table.write.maintenance.orphans import remove_orphans
from paimon_nb.table.write.managed_blobs import read_references

COLUMNS = "id INT, v STRING, x BYTES, a ARRAY<BYTES>, m MAP<STRING, BYTES>, PRIMARY KEY (id) NOT ENFORCED"


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def made(wb, options: str = "", columns: str = COLUMNS, fields: str = "x,a,m"):
    wb.run(f"CREATE TABLE t ({columns}) WITH ('bucket' = '1', 'blob-field' = '{fields}'{options})")
    return wb.table("t")


def row(number: int, x: bytes | None, v: str | None = "v") -> dict:
    array = None if x is None else [x, None, b"2" + x]
    return {"id": number, "v": v, "x": x, "a": array, "m": None if x is None else [("k", x), ("n", None)]}


def write(t, *rows: dict, kinds: list[str] | None = None) -> None:
    with t.write() as writing:
        writing.write(pa.Table.from_pylist(list(rows), t.to_arrow().schema), kinds)
        t.commit().commit(writing.prepare_commit())


def rows(t) -> list[dict]:
    return t.to_arrow().sort_by("id").to_pylist()


def names(t, suffix: str) -> list[str]:
    return sorted(p.name for p in Path(t.path).rglob(f"*{suffix}"))


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("bucket", ["1", "-1"])
def test_newer_rows_replace_older_ones_and_compaction_moves_descriptors(wb, file_format, bucket):
    t = made(wb, f", 'file.format' = '{file_format}', 'bucket' = '{bucket}', 'num-sorted-run.compaction-trigger' = '9'")
    write(t, row(1, b"one"), row(2, None), row(3, b"three"))
    write(t, row(2, b"two"), row(3, b"three"), kinds=["+I", "-D"])
    write(t, row(1, b"new", "w"), row(4, b""))
    expected = [row(1, b"new", "w"), row(2, b"two"), row(4, b"")]
    assert rows(t) == expected
    assert t.to_arrow(["x"], where="id >= 2").column("x").to_pylist() == [b"two", b""]
    packs = names(t, ".managed.blob")
    t.compact()
    assert rows(t) == expected
    assert names(t, ".managed.blob") == packs
    (file,) = t.scan().plan.files
    assert file.extra_files == (f"{file.file_name}.blobref",)
    described = t.copy({"blob-as-descriptor": "true"}).to_arrow().sort_by("id")
    places = [BlobDescriptor.parse(x) for x in described["x"].to_pylist()]
    assert [t.open_blob(x).read() for x in described["x"].to_pylist()] == [b"new", b"two", b""]
    assert t.open_blob(described["a"][0].as_py()[2]).read() == b"2new"
    listed = read_references(t.store.fs, str(next(Path(t.path).rglob(file.extra_files[0]))))
    assert {p.uri for p in places} < set(listed) <= {str(next(Path(t.path).rglob(name))) for name in packs}


def test_values_that_are_descriptors_are_copied(wb):
    t = made(wb)
    write(t, row(1, b"one"))
    (found,) = t.copy({"blob-as-descriptor": "true"}).to_arrow()["x"].to_pylist()
    write(t, row(2, found) | {"a": [found], "m": None})
    assert rows(t)[1] == {"id": 2, "v": "v", "x": b"one", "a": [b"one"], "m": None}
    with pytest.raises(paimon_nb.OutsideWarehouse):
        write(t, row(3, BlobDescriptor("/etc/hostname", 0, -1).to_bytes()))


def test_the_list_is_as_java_writes_it(wb):
    """Magic number, version, number, folder and name of each file, checksum; big endian. Of rows that are deleted: none."""
    t = made(wb, columns="id INT, x BYTES, PRIMARY KEY (id) NOT ENFORCED", fields="x")
    write(t, {"id": 1, "x": b"one"})
    (pack,), (listed,) = names(t, ".managed.blob"), list(Path(t.path).rglob("*.blobref"))
    folder = f"{t.path}/bucket-0".encode()
    payload = struct.pack(">Bi", 1, 1) + struct.pack(">H", len(folder)) + folder
    payload += struct.pack(">H", len(pack)) + pack.encode()
    assert listed.read_bytes() == struct.pack(">I", 0x50424C52) + payload + struct.pack(">I", zlib.crc32(payload))
    entry = struct.pack("<I", 1481511375) + b"one" + struct.pack("<Q", 19)
    entry += struct.pack("<I", zlib.crc32(entry))
    assert Path(t.path, "bucket-0", pack).read_bytes() == entry + bytes([38]) + struct.pack("<IB", 1, 1)
    write(t, {"id": 1, "x": b"one"}, kinds=["-D"])
    newest = max(t.scan().plan.files, key=lambda f: f.max_sequence)
    assert read_references(t.store.fs, f"{t.path}/bucket-0/{newest.extra_files[0]}") == []
    listed.write_bytes(listed.read_bytes()[:-1])
    with pytest.raises(CorruptFile):
        read_references(t.store.fs, str(listed))


def test_a_file_ends_with_the_value_that_makes_it_large_enough(wb):
    t = made(wb, ", 'blob.target-file-size' = '1 kb'", "id INT, x BYTES, PRIMARY KEY (id) NOT ENFORCED", "x")
    write(t, *({"id": n, "x": b"a" * 600} for n in range(5)))
    assert len(names(t, ".managed.blob")) == 3
    assert t.to_arrow()["x"].to_pylist() == [b"a" * 600] * 5


def test_partial_update_keeps_values_where_the_new_one_is_null(wb):
    t = made(
        wb,
        ", 'merge-engine' = 'partial-update', 'fields.s.sequence-group' = 'g'",
        "id INT, v STRING, x BYTES, s INT, g BYTES, PRIMARY KEY (id) NOT ENFORCED",
        "x,g",
    )
    write(t, {"id": 1, "v": "a", "x": b"one", "s": 5, "g": b"g5"})
    write(t, {"id": 1, "v": None, "x": None, "s": 4, "g": b"g4"})
    write(t, {"id": 1, "v": "b", "x": None, "s": None, "g": b"lost"})
    assert rows(t) == [{"id": 1, "v": "b", "x": b"one", "s": 5, "g": b"g5"}]
    write(t, {"id": 1, "v": None, "x": b"two", "s": 6, "g": None})
    t.compact()
    assert rows(t) == [{"id": 1, "v": "b", "x": b"two", "s": 6, "g": None}]


def test_first_row_keeps_the_first_value(wb):
    t = made(wb, ", 'merge-engine' = 'first-row'")
    write(t, row(1, b"one"))
    write(t, row(1, b"two"), row(2, b"three"))
    t.compact()
    assert rows(t) == [row(1, b"one"), row(2, b"three")]


def test_rows_without_bucket_wait_and_are_moved(wb):
    wb.run(f"CREATE TABLE t ({COLUMNS}) WITH ('bucket' = '-2', 'blob-field' = 'x,a,m')")
    t = wb.table("t")
    write(t, row(1, b"one"), row(2, None))
    t.compact()
    assert rows(wb.table("t")) == [row(1, b"one"), row(2, None)]


def test_update_and_delete_from_python(wb):
    t = made(wb)
    write(t, row(1, b"one"), row(2, b"two"), row(3, b"three"))
    t.update({"v": "new"}, where="id = 1")
    t.update({"x": b"TWO"}, where="id = 2")
    t.delete("id = 3")
    assert rows(t) == [row(1, b"one", "new"), row(2, b"two") | {"x": b"TWO"}]


def test_a_renamed_and_a_copied_table_have_their_values(wb, tmp_path):
    t = made(wb)
    write(t, row(1, b"one"))
    wb.run("ALTER TABLE t RENAME TO u")
    assert rows(wb.table("u")) == [row(1, b"one")]
    other = paimon_nb.connect(str(tmp_path / "other"))
    call = (
        "CALL sys.copy_files(database => 'default', `table` => 'u', target_database => 'default', target_table => 'u'"
    )
    wb.run(f"{call}, target_warehouse => '{tmp_path}/other')")
    wb.run("DROP TABLE u")
    assert rows(other.table("u")) == [row(1, b"one")]


def test_values_stay_where_orphans_are_removed(wb):
    t = made(wb)
    write(t, row(1, b"one"))
    write(t, row(1, b"two"))
    t.compact()
    t.expire(retain_max=1, retain_min=1)
    assert remove_orphans(t.store, 1 << 60, dry_run=False) == []
    assert rows(t) == [row(1, b"two")]
    assert len(names(t, ".blobref")) == 1


def test_an_aborted_write_leaves_nothing(wb):
    t = made(wb)
    writing = t.write()
    writing.write(pa.Table.from_pylist([row(1, b"one")], t.to_arrow().schema))
    writing.abort()
    assert names(t, ".managed.blob") == []


def test_descriptors_and_views_beside_keys(wb, tmp_path):
    """Their columns take references only, and an update or a compaction leaves these as they are."""
    (tmp_path / "w").mkdir(exist_ok=True)
    (tmp_path / "w/media").write_bytes(b"0123456789")
    columns = "id INT, v STRING, d BYTES, PRIMARY KEY (id) NOT ENFORCED"
    wb.run(
        f"CREATE TABLE t ({columns}) WITH ('bucket' = '1', 'blob-descriptor-field' = 'd', 'changelog-producer' = 'input')"
    )
    t = wb.table("t")
    place = BlobDescriptor(str(tmp_path / "w/media"), 2, 3).to_bytes()
    write(t, {"id": 1, "v": "a", "d": place}, {"id": 2, "v": "b", "d": None})
    write(t, {"id": 2, "v": "c", "d": place})
    t.update({"v": "new"}, where="id = 1")
    t.compact()
    assert rows(t) == [{"id": 1, "v": "new", "d": b"234"}, {"id": 2, "v": "c", "d": b"234"}]
    assert t.copy({"blob-as-descriptor": "true"}).to_arrow()["d"].to_pylist() == [place, place]
    assert names(t, ".blobref") == []
    with pytest.raises(paimon_nb.SchemaMismatch, match="not a blob descriptor"):
        write(t, {"id": 3, "v": "", "d": b"bytes"})


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("'merge-engine' = 'aggregation'", "merge engine"),
        ("'changelog-producer' = 'input'", "changelog-producer 'none'"),
        ("'changelog-producer' = 'lookup'", "changelog-producer 'none'"),
        ("'sequence.field' = 'x'", "files of their own"),
        ("'merge-engine' = 'partial-update', 'fields.x.sequence-group' = 'v'", "cannot order"),
        (
            "'merge-engine' = 'partial-update', 'fields.s.sequence-group' = 'x', 'fields.x.aggregate-function' = 'first_value'",
            "retraction",
        ),
        ("'pk-clustering-override' = 'true'", "does not support"),
    ],
)
def test_what_a_key_table_cannot_have_beside_blobs_is_refused(wb, options, why):
    with pytest.raises(BadOptionValue, match=why):
        made(wb, f", {options}", "id INT, v STRING, s INT, x BYTES, PRIMARY KEY (id) NOT ENFORCED", "x")


def test_a_blob_is_no_key(wb):
    with pytest.raises(BadOptionValue, match="files of their own"):
        made(wb, "", "id INT, x BYTES NOT NULL, PRIMARY KEY (id, x) NOT ENFORCED", "x")


def test_files_of_one_table_are_not_copied_into_another(wb):
    write(made(wb), row(1, b"one"))
    wb.run(f"CREATE TABLE u ({COLUMNS}) WITH ('bucket' = '1', 'blob-field' = 'x,a,m')")
    with pytest.raises(UnsupportedOperation, match="BLOB"):
        wb.run("CALL sys.copy(source_table => 'default.t', target_table => 'default.u')")
    wb.run("CALL sys.clone(database => 'default', `table` => 't', target_database => 'default', target_table => 'c')")
    wb.run("DROP TABLE t")
    assert rows(wb.table("c")) == [row(1, b"one")]


@pytest.mark.parametrize("keys", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_null_for_what_cannot_be_fetched(wb, tmp_path, keys):
    evolves = "'bucket' = '1'" if keys else "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'"
    wb.run(f"CREATE TABLE t (id INT, x BYTES, a ARRAY<BYTES>{keys}) WITH ({evolves}, 'blob-field' = 'x,a')")
    gone = BlobDescriptor(f"{tmp_path}/w/gone", 0, -1).to_bytes()
    elsewhere = BlobDescriptor("https://example.invalid/##1", 0, -1).to_bytes()

    def written(value: bytes, options: dict[str, str]) -> list:
        t = wb.table("t").copy(options)
        write(t, {"id": 1, "x": value, "a": [b"b", value]})
        return [wb.table("t").to_arrow()[n].to_pylist()[-1] for n in ("x", "a")]

    missing, failed = "blob-write-null-on-missing-file", "blob-write-null-on-fetch-failure"
    for value, options in ((gone, {}), (elsewhere, {}), (elsewhere, {missing: "true"})):
        with pytest.raises(paimon_nb.PaimonError):
            written(value, options)
    for value, option in ((gone, missing), (gone, failed), (elsewhere, failed)):
        with pytest.warns(UserWarning, match="NULL is written for the BLOB"):
            assert written(value, {option: "true"}) == [None, [b"b", None]]
