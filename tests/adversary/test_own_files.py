"""A table whose metadata names files of another table does not read, move or delete them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, OutsideWarehouse, PaimonError
from paimon_nb.format.manifest import read_manifest, read_manifest_list, write_manifest

APPEND = "WITH ('bucket' = '-1', 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '1')"


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(f"CREATE TABLE victim (id INT) {APPEND}; INSERT INTO victim VALUES (1), (2)")
    wb.run(f"CREATE TABLE t (id INT) {APPEND}; INSERT INTO t VALUES (7)")
    return wb


def files_of(directory: Path) -> dict[str, bytes]:
    return {str(p.relative_to(directory)): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()}


def claim(wb: paimon_nb.Workbench, path: Path) -> None:
    """Let the manifest of the newest commit of `t` name a file elsewhere, as everybody can who can write its directory."""
    store = wb.table("t").store
    snapshot = store.latest()
    [listed] = read_manifest_list(store.fs, store.manifest_path(snapshot.delta_manifest_list))
    manifest = store.manifest_path(listed.file_name)
    [entry] = read_manifest(store.fs, manifest)
    stolen = replace(entry, file=replace(entry.file, file_name=path.name, external_path=f"file:{path}"))
    Path(manifest).unlink()
    write_manifest(store.fs, manifest, [stolen], "zstd", "avro")


def attempts(wb: paimon_nb.Workbench) -> list[PaimonError]:
    """The errors of everything that reads, rewrites or deletes files of `t`."""
    found: list[PaimonError] = []
    for act in (
        lambda: wb.table("t").to_arrow(),
        lambda: wb.table("t").to_arrow(where="id > 0"),
        lambda: wb.run("CALL sys.compact('t')"),
        lambda: wb.run("INSERT OVERWRITE t VALUES (8); CALL sys.expire_snapshots('t', 1)"),
        lambda: wb.run("CALL sys.rollback('t', '1')"),
        lambda: wb.run("CALL sys.remove_orphan_files('t', older_than => '2999-01-01 00:00:00')"),
        lambda: wb.run("DROP TABLE t PURGE"),
    ):
        try:
            act()
        except PaimonError as error:
            found.append(error)
    return found


@pytest.mark.parametrize("file", ["data file", "first schema", "snapshot", "system table", "loose file"])
def test_a_file_of_another_table_is_not_touched(wb, tmp_path, file):
    warehouse = tmp_path / "w"
    victim = warehouse / "default.db" / "victim"
    (warehouse / "loose").mkdir()
    (warehouse / "loose" / "data.parquet").write_bytes(b"somebody's")
    wb.run("CALL sys.init_file_based_privilege('secret')")
    place = {
        "data file": next(victim.glob("bucket-0/*.parquet")),
        "first schema": victim / "schema" / "schema-0",
        "snapshot": victim / "snapshot" / "snapshot-1",
        "system table": warehouse / "privilege.sys" / "schema" / "schema-0",
        "loose file": warehouse / "loose" / "data.parquet",
    }[file]
    root = paimon_nb.connect(str(warehouse), options={"user": "root", "password": "secret"})
    others = [victim, warehouse / "privilege.sys", warehouse / "loose"]
    before = [files_of(directory) for directory in others]
    claim(root, place)
    errors = attempts(root)
    assert [files_of(directory) for directory in others] == before
    assert [type(e) for e in errors[:2]] == [OutsideWarehouse, OutsideWarehouse]
    assert str(place) in errors[0].message


def test_a_declared_root_inside_another_table_is_refused(wb, tmp_path):
    victim = tmp_path / "w" / "default.db" / "victim"
    before = files_of(victim)
    for place in (
        victim,
        victim / "bucket-0",
        tmp_path / "w",
        tmp_path / "w" / "default.db",
        tmp_path / "w" / ".trash",
    ):
        root = f"'data-file.external-paths' = 'file://{place}', 'data-file.external-paths.strategy' = 'round-robin'"
        with pytest.raises(BadOptionValue):
            wb.run(f"CREATE TABLE u (id INT) WITH ({root})")
        with pytest.raises(BadOptionValue):
            wb.run(f"ALTER TABLE t SET ({root})")
    assert (wb.session.catalog.tables("default"), files_of(victim)) == (["t", "victim"], before)


def test_a_stored_root_inside_another_table_is_not_used(wb, tmp_path):
    """The schema file was written by somebody else: nothing goes there, and nothing there is an orphan."""
    victim, schema = (tmp_path / "w" / "default.db" / name for name in ("victim", "t/schema/schema-0"))
    node = json.loads(schema.read_bytes())
    node["options"] |= {
        "data-file.external-paths": f"file://{victim}", "data-file.external-paths.strategy": "round-robin",
    }  # fmt: skip
    schema.write_text(json.dumps(node))
    before = files_of(victim)
    wb = paimon_nb.connect(str(tmp_path / "w"))
    with pytest.raises(OutsideWarehouse):
        wb.run("INSERT INTO t VALUES (9)")
    claim(wb, next(victim.glob("bucket-0/*.parquet")))
    assert OutsideWarehouse in [type(e) for e in attempts(wb)]
    assert files_of(victim) == before


def test_a_declared_root_of_its_own_is_used_also_after_it_changed(wb, tmp_path):
    def root(name: str) -> str:
        return f"'data-file.external-paths' = 'file://{tmp_path}/w/{name}', 'data-file.external-paths.strategy' = 'round-robin'"

    wb.run(f"CREATE TABLE u (id INT) WITH ({root('one')}); INSERT INTO u VALUES (1)")
    wb.run(f"ALTER TABLE u SET ({root('two')}); INSERT INTO u VALUES (2)")
    wb = paimon_nb.connect(str(tmp_path / "w"))
    assert sorted(wb.table("u").to_arrow()["id"].to_pylist()) == [1, 2]
    assert [len(list((tmp_path / "w" / name).rglob("*.parquet"))) for name in ("one", "two")] == [1, 1]


@pytest.mark.usefixtures("wb")
def test_a_link_into_another_table_is_not_followed(tmp_path):
    victim, own = (tmp_path / "w" / "default.db" / name for name in ("victim", "t"))
    before = files_of(victim)
    for file in own.glob("bucket-0/*"):
        file.unlink()
    (own / "bucket-0").rmdir()
    (own / "bucket-0").symlink_to(victim / "bucket-0")
    errors = attempts(paimon_nb.connect(str(tmp_path / "w")))
    assert (files_of(victim), type(errors[0])) == (before, OutsideWarehouse)


def test_a_migration_moves_only_files_of_its_own_table(wb, tmp_path):
    pytest.importorskip("pyiceberg")
    from pyiceberg.catalog.sql import SqlCatalog

    victim = tmp_path / "w" / "default.db" / "victim"
    before = files_of(victim)
    root = tmp_path / "iceberg"
    root.mkdir()
    catalog = SqlCatalog("i", uri=f"sqlite:///{tmp_path}/i.db", warehouse=f"file://{root}")
    catalog.create_namespace("d")
    table = catalog.create_table("d.t", pa.schema({"id": pa.int32()}), location=f"file://{root}/d/t")
    table.add_files([str(next(victim.glob("bucket-0/*.parquet")))])
    metadata = root / "d" / "t" / "metadata"
    newest = Path(catalog.load_table("d.t").metadata_location.removeprefix("file://"))
    (metadata / "v1.metadata.json").write_bytes(newest.read_bytes())
    (metadata / "version-hint.text").write_text("1")
    with pytest.raises(OutsideWarehouse, match="victim"):
        wb.run(
            f"CALL sys.migrate_iceberg_table('d.t', 'metadata.iceberg.storage=hadoop-catalog,iceberg_warehouse={root}')"
        )
    assert (files_of(victim), wb.session.catalog.databases()) == (before, ["default"])
