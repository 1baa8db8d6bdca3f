"""Every metadata file that real Java wrote: read, and written again with the same bytes."""

from pathlib import Path

import pytest

from paimon_nb.format.avro.container import parse_container
from paimon_nb.format.manifest import (
    read_index_manifest,
    read_manifest,
    read_manifest_list,
    write_index_manifest,
    write_manifest,
    write_manifest_list,
)
from paimon_nb.format.manifest.manifests import MAGIC
from paimon_nb.format.schema import SchemaDirectory
from paimon_nb.format.snapshot import ConsumerDirectory, SnapshotDirectory, Statistics, TagDirectory
from paimon_nb.fs.local import LocalFileIO

FS = LocalFileIO()
GOLDEN = Path(__file__).parents[2] / "golden" / "java-1.3.1"
MANIFESTS = {
    "manifest-list-": (read_manifest_list, write_manifest_list),
    "index-manifest-": (read_index_manifest, write_index_manifest),
    "manifest-": (read_manifest, write_manifest),
}


def differences(tables: Path, tmp_path: Path) -> tuple[int, list[str]]:
    """How many files were compared, and those that we would write otherwise."""
    seen, wrong = 0, []
    for home in sorted({p.parent.parent for p in tables.rglob("schema-0")}):
        for name, again in _texts(str(home)):
            seen += 1
            wrong += [name] if FS.read(name) != again else []
        for file in sorted((home / "manifest").glob("*")):
            seen += 1
            wrong += [] if _same_manifest(file, str(tmp_path / f"m-{seen}")) else [str(file)]
    return seen, wrong


def _texts(home: str):
    """(path, the bytes that we would write) of all JSON files of a table or branch."""
    for schema in SchemaDirectory(FS, home).all():
        yield f"{home}/schema/schema-{schema.id}", schema.to_json()
    for kind in ("snapshot", "changelog"):
        directory = SnapshotDirectory(FS, home, kind)
        for snapshot in directory.all():
            yield directory.path(snapshot.id), snapshot.to_json()
    for status in FS.list(f"{home}/statistics"):
        yield status.path, Statistics.from_json(FS.read(status.path), status.path).to_json()
    consumers = ConsumerDirectory(FS, home)
    for consumer in consumers.ids():
        assert consumers.next_snapshot(consumer) > 0
    for tag in TagDirectory(FS, home).all():
        if tag.create_time is None:
            yield TagDirectory(FS, home).path(tag.name), tag.snapshot.to_json()


def _same_manifest(file: Path, target: str) -> bool:
    read, write = next(v for k, v in MANIFESTS.items() if file.name.startswith(k))
    value = read(FS, str(file))
    write(FS, target, value)
    if read(FS, target) != value:
        return False
    other_files, ours = file.read_bytes(), FS.read(target)
    if other_files[:4] != MAGIC:
        return True  # ORC: we write Avro
    return parse_container(other_files, "java").blocks == parse_container(ours, "us").blocks and _schema(
        other_files
    ) == _schema(ours)


def _schema(data: bytes) -> bytes:
    return data[data.index(b'{"type"') : data.rindex(b"]}", 0, data.index(b"avro.codec")) + 2]


def test_golden_tables(tmp_path):
    seen, wrong = differences(GOLDEN, tmp_path)
    assert wrong == []
    assert seen == 61


def test_shared_tables(shared, tmp_path):
    seen, wrong = differences(shared / "oracle" / "fixtures" / "warehouse", tmp_path)
    assert wrong == []
    assert seen > 900


def test_a_golden_can_fail(tmp_path):
    source = next((GOLDEN / "pk_dedup" / "manifest").glob("manifest-list-*-0"))
    broken = bytearray(source.read_bytes())
    broken[-20] ^= 0x55
    (tmp_path / "m").write_bytes(broken)
    with pytest.raises(Exception, match="is broken"):
        read_manifest_list(FS, str(tmp_path / "m"))


def test_a_tag_with_retention():
    tag = TagDirectory(FS, str(GOLDEN / "tagged")).get("t3")
    assert (tag.retained_ms, tag.create_time.isoformat()) == (315_360_000_000, "2026-11-21T04:04:58.444354")


def test_what_java_says_of_its_files():
    home = GOLDEN / "pk_dedup"
    snapshot = SnapshotDirectory(FS, str(home)).latest()
    entries = [
        entry
        for name in (snapshot.base_manifest_list, snapshot.delta_manifest_list)
        for manifest in read_manifest_list(FS, str(home / "manifest" / name))
        for entry in read_manifest(FS, str(home / "manifest" / manifest.file_name))
    ]
    files = [e.file for e in entries]
    assert [e.kind for e in entries] == [0] * 4
    assert sum(f.row_count for f in files) == snapshot.total_record_count
    assert sum(f.delete_row_count for f in files) == 1
    for f in files:
        assert (home / "bucket-0" / f.file_name).stat().st_size == f.file_size
        assert (f.level, f.file_source, f.schema_id, f.value_stats_cols) == (0, 0, 0, None)
    assert [f.max_sequence - f.min_sequence + 1 for f in files] == [f.row_count for f in files]
