"""copy, copy_files, remove_unexisting_manifests: files carried as they are, and tables that lost some of their lists."""

from __future__ import annotations

from pathlib import Path

import pytest

import paimon_nb
from paimon_nb import cli
from paimon_nb.base import clock
from paimon_nb.base.errors import (
    AlreadyExists,
    CorruptFile,
    MissingFile,
    PaimonError,
    SchemaMismatch,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.table.write.maintenance.orphans import find_orphans

DONE, SUCCESS = [{"result": True}], [{"result": "Success"}]
LAYOUTS = {
    "keyed": "WITH ('bucket' = '2', 'changelog-producer' = 'input')",
    "dynamic": "WITH ('bucket' = '-1')",
    "marked": "WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true')",
    "indexed": "WITH ('bucket' = '1', 'file-index.bloom-filter.columns' = 'v', 'file-index.in-manifest-threshold' = '1 b')",
    "postponed": "WITH ('bucket' = '-2')",
    "plain": "",
}


def filled(scene, kind, name="t"):
    key = "" if kind == "plain" else ", PRIMARY KEY (k, d) NOT ENFORCED"
    scene.make(name, f"k INT, v STRING, d STRING{key}", f"PARTITIONED BY (d) {LAYOUTS[kind]}")
    scene.put((1, "a", "x"), (2, "b", "y"), name=name)
    scene.put((3, "c", "x"), (1, "aa", "x"), name=name)
    scene.wb.run(f"ALTER TABLE {name} RENAME v TO word; ALTER TABLE {name} ADD n INT")
    scene.put((4, "d", "y", 40), (2, "bb", "y", 20), name=name)
    if kind == "postponed":
        scene.call(f"compact('{name}')")
    return scene


@pytest.mark.parametrize("kind", LAYOUTS)
def test_files_are_copied_as_they_are(scene, kind):
    filled(scene, kind)
    assert scene.call("copy('t', 'other.u')") == SUCCESS
    assert scene.commits == [("other.u", 1)]
    live = len(scene.table().system("files"))
    assert scene.notes[0].startswith(f"{live} files with ")
    assert (scene.rows("other.u"), scene.kinds("other.u")) == (scene.rows(), ["OVERWRITE"])
    old, new = (t.system("files").select(["partition", "bucket", "level", "record_count", "file_size_in_bytes", "schema_id"])
                for t in (scene.table(), scene.wb.table("other.u")))  # fmt: skip
    assert sorted(map(str, old.to_pylist())) == sorted(map(str, new.to_pylist()))
    mine, its = (set(scene.files("data-*", n)) for n in ("t", "other.u"))
    assert (len(its) >= live, mine & its) == (True, set())
    # again, and of one partition: it takes the place of what is there
    assert scene.call("copy(source_table => 't', target_table => 'other.u', where => 'd = ''x''')") == DONE
    assert (scene.rows("other.u"), len(scene.ids("other.u"))) == (scene.rows(), 2)
    # it is a table like any other, and the source is not part of it
    scene.wb.run("DROP TABLE t PURGE")
    rows = scene.rows("other.u")
    scene.put((5, "e", "x", None), name="other.u")
    scene.call("compact('other.u')")
    assert scene.rows("other.u") == sorted([*rows, (5, "e", "x", None)], key=str)


def test_copy_refused(scene):
    filled(scene, "keyed")
    scene.make("tracked", "k INT", "WITH ('row-tracking.enabled' = 'true')")
    scene.make(
        "three",
        "k INT, word STRING, d STRING, n INT, PRIMARY KEY (k, d) NOT ENFORCED",
        "PARTITIONED BY (d) WITH ('bucket' = '3')",
    )
    scene.make(
        "alike",
        "k INT, word STRING, d STRING, n INT, PRIMARY KEY (k, d) NOT ENFORCED",
        "PARTITIONED BY (d) WITH ('bucket' = '2')",
    )
    for call, error in (
        ("copy('t', 't')", AlreadyExists),
        ("copy('nope', 'u')", TableNotFound),
        ("copy('tracked', 'u')", UnsupportedOperation),
        ("copy('t', 'three')", SchemaMismatch),
        ("copy('t', 'alike')", SchemaMismatch),  # its files say `v`, which no schema of the target does
        ("copy('t', 'u', 'k = 1')", UnsupportedOperation),
    ):
        with pytest.raises(error) as caught:
            scene.call(call)
        assert caught.value.hint, call
    gone = next(scene.path().rglob("data-*"))
    gone.unlink()
    with pytest.raises(MissingFile):
        scene.call("copy('t', 'n.u')")
    assert scene.wb.session.catalog.databases() == ["default"]
    assert scene.wb.session.catalog.tables("default") == ["alike", "t", "three", "tracked"]
    assert (scene.ids("three"), scene.ids("alike"), scene.files("data-*", "alike")) == ([], [], [])


@pytest.mark.parametrize("form", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (k, d) NOT ENFORCED"])
def test_a_target_may_have_more_columns_in_another_order(scene, form, key):
    options = f"PARTITIONED BY (d) WITH ('file.format' = '{form}', 'bucket' = '{1 if key else -1}')"
    scene.make("t", f"k INT, v STRING, d STRING{key}", options)
    scene.put((1, "a", "x"), (2, "b", "y"))
    scene.make("u", f"k INT, v STRING, d STRING, n INT{key}", options)
    scene.wb.run("ALTER TABLE u MODIFY n INT FIRST")
    scene.put((30, 3, "c", "x"), (40, 4, "d", "z"), name="u")
    assert scene.call("copy('t', 'u')") == SUCCESS
    whole = [(None, 1, "a", "x"), (None, 2, "b", "y"), (40, 4, "d", "z")]
    assert sorted(scene.rows("u"), key=lambda r: r[1]) == whole
    for condition, found in (
        ("n IS NULL", whole[:2]),
        ("n > 5", whole[2:]),
        ("v = 'b'", whole[1:2]),
        ("k < 2", whole[:1]),
    ):
        assert sorted(tuple(r.values()) for r in scene.wb.table("u").to_arrow(where=condition).to_pylist()) == found
    scene.call("compact('u')")
    assert sorted(scene.rows("u"), key=lambda r: r[1]) == whole


@pytest.mark.parametrize("columns", ["k INT, word STRING", "k INT, v BIGINT", "k INT"])
def test_a_target_without_the_columns_is_refused_even_if_there_are_no_files(scene, columns):
    scene.make("t", "k INT, v STRING")
    scene.make("u", columns)
    with pytest.raises(SchemaMismatch, match="lacks columns of t: v"):
        scene.call("copy('t', 'u')")
    assert scene.ids("u") == []


def test_a_target_with_another_column_that_needs_values_is_refused(scene):
    scene.make("t", "k INT, v STRING")
    scene.put((1, "a"))
    scene.make("u", "k INT, v STRING, n INT NOT NULL")
    with pytest.raises(SchemaMismatch):
        scene.call("copy('t', 'u')")
    assert scene.ids("u") == []


@pytest.mark.parametrize("more", ["", ", 'deletion-vectors.enabled' = 'true', 'index-file-in-data-file-dir' = 'true'"])
def test_files_outside_the_table_are_copied_into_it(scene, more):
    outside = scene.folder / "outside"
    scene.make("t", "k INT PRIMARY KEY NOT ENFORCED, v STRING", f"WITH ('bucket' = '1', 'data-file.external-paths' = "
               f"'file://{outside}', 'data-file.external-paths.strategy' = 'round-robin'{more})")  # fmt: skip
    scene.put((1, "a"), (2, "b"))
    scene.put((2, "bb"), (3, "c"))
    here, there = scene.folder / "w", scene.folder / "there"
    assert scene.call(f"copy_files('{here}', 'default', 't', '', '{there}', 'mine', 'u')") == SUCCESS
    scene.wb.run("DROP TABLE t PURGE")
    with paimon_nb.connect(str(there)) as wb:
        copy = wb.table("mine.u")
        assert sorted(tuple(r.values()) for r in copy.to_arrow().to_pylist()) == [(1, "a"), (2, "bb"), (3, "c")]
        assert {p.parent.name for p in Path(copy.path).rglob("data-*")} == {"bucket-0"}
    assert not outside.exists()


@pytest.mark.parametrize("kind", [pytest.param(k, marks=pytest.mark.spark) if k == "postponed" else k for k in LAYOUTS])
def test_the_newest_snapshot_whole(scene, kind, capsys):
    filled(scene, kind)
    scene.call("create_tag('t', 'one', 1)")
    scene.make("empty")
    there = scene.folder / "there"
    assert scene.call(f"copy_files('', '', '', '', '{there}')") == SUCCESS
    with paimon_nb.connect(str(there)) as wb:
        copy = wb.table("t")
        newest = scene.ids()[-1]
        assert (copy.store.snapshots.ids(), copy.store.tags.names()) == ([newest], [])
        assert copy.latest_snapshot() == scene.table().latest_snapshot()
        assert sorted((tuple(r.values()) for r in copy.to_arrow().to_pylist()), key=str) == scene.rows()
        assert [s.id for s in copy.store.schemas.all()] == [0, 1, 2]
        assert wb.table("empty").latest_snapshot() is None
        names = {p.name for p in Path(copy.path).rglob("*") if p.is_file()}
        assert names - {"EARLIEST", "LATEST"} <= {p.name for p in scene.path().rglob("*")}
        assert find_orphans(copy.store, older_than_ms=clock.now_ms() + 1000) == []
        # what lacks is copied by the next attempt, and nothing else
        snapshot, lost = Path(copy.path) / f"snapshot/snapshot-{newest}", next(Path(copy.path).rglob("data-*"))
        snapshot.unlink()
        lost.write_bytes(b"cut")
        command = f"copy_files --warehouse {scene.folder}/w --target_warehouse {there}"
        assert cli.main(command.split()) == 0
        assert f"default.t has snapshot {newest} of default.t; 1 files were copied" in capsys.readouterr().out
        assert sorted((tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist()), key=str) == scene.rows()
        # it goes on from there; then it is no place to copy to
        wb.run("INSERT INTO t VALUES (9, 'i', 'z', 90)" if kind != "postponed" else "DELETE FROM t WHERE k = 1")
    with pytest.raises(AlreadyExists):
        scene.call(f"copy_files(target_warehouse => '{there}')")
    assert scene.call(f"""copy_files(warehouse => '{scene.folder}/w', database => 'default', `table` => 't',
        target_warehouse => '{there}', target_database => 'd', target_table => 'u', parallelism => 3)""") == SUCCESS  # fmt: skip


def test_lost_manifests(scene):
    scene.make()
    for i in (1, 2, 3):
        scene.put((i, f"v{i}"))
    assert (scene.call("remove_unexisting_manifests('t')"), scene.notes) == (
        SUCCESS,
        ["no manifest of default.t is missing"],
    )
    assert scene.ids() == [1, 2, 3]
    lost = scene.table().system("manifests").to_pylist()[0]["file_name"]
    (scene.path() / "manifest" / lost).unlink()
    fresh = paimon_nb.connect(str(scene.folder / "w"))
    with pytest.raises(PaimonError) as caught:
        fresh.table("t").to_arrow()
    assert isinstance(caught.value, MissingFile | CorruptFile)
    assert scene.call("remove_unexisting_manifests(tableId => 'default.t')") == SUCCESS
    assert (scene.commits, scene.kinds()[-1]) == ([("default.t", 4)], "OVERWRITE")
    assert "rows in files: 3 before, 2 now" in scene.notes[0]
    left = scene.rows()
    assert len(left) == 2
    snapshot = scene.table().latest_snapshot()
    assert (snapshot.total_record_count, snapshot.delta_record_count) == (2, 0)
    scene.put((4, "v4"))
    scene.call("compact('t')")
    assert scene.rows() == [*left, (4, "v4")]
