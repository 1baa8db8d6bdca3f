"""clone: what arrives, what is refused before anything is written, and what happens when it is disturbed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sampling import sampled

import paimon_nb
from paimon_nb import cli
from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    ColumnNotFound,
    CorruptFile,
    DatabaseNotFound,
    SchemaMismatch,
    SqlAnalysisError,
    TableNotFound,
    UnsupportedOperation,
)

SUCCESS = [{"result": "Success"}]
KINDS = {
    "keyed": ("k INT, v STRING, d STRING, PRIMARY KEY (k, d) NOT ENFORCED", "PARTITIONED BY (d) WITH ('bucket' = '2')"),
    "dynamic": (
        "k INT, v STRING, d STRING, PRIMARY KEY (k, d) NOT ENFORCED",
        "PARTITIONED BY (d) WITH ('bucket' = '-1')",
    ),
    "moving": ("k INT, v STRING, d STRING, PRIMARY KEY (k) NOT ENFORCED", "PARTITIONED BY (d) WITH ('bucket' = '-1')"),
    "partial": (
        "k INT, v STRING, d STRING, PRIMARY KEY (k, d) NOT ENFORCED",
        "PARTITIONED BY (d) WITH ('bucket' = '1', 'merge-engine' = 'partial-update', 'changelog-producer' = 'lookup')",
    ),
    "marked": (
        "k INT, v STRING, d STRING, PRIMARY KEY (k, d) NOT ENFORCED",
        "PARTITIONED BY (d) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true')",
    ),
    "plain": ("k INT, v STRING, d STRING", "PARTITIONED BY (d) WITH ('file.format' = 'orc')"),
    "hashed": ("k INT, v STRING, d STRING", "PARTITIONED BY (d) WITH ('bucket' = '2', 'bucket-key' = 'k')"),
    "tracked": ("k INT, v STRING, d STRING", "PARTITIONED BY (d) WITH ('row-tracking.enabled' = 'true')"),
}
ROWS = [(1, "a", "x"), (2, "b", "x"), (3, "c", "y"), (4, None, "y")]


def filled(scene, kind, name="t"):
    scene.make(name, *KINDS[kind])
    scene.put(*ROWS[:3], name=name)
    scene.put((2, "b", "x"), ROWS[3], name=name) if "KEY" in KINDS[kind][0] else scene.put(ROWS[3], name=name)
    return scene


def everything(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


@pytest.mark.parametrize("kind", sampled(KINDS, 3))
def test_rows_and_schema_arrive(scene, kind):
    filled(scene, kind)
    scene.wb.run("ALTER TABLE t ADD w INT; COMMENT ON TABLE t IS 'said'; COMMENT ON COLUMN t.v IS 'a value'")
    scene.put((5, "e", "y", 5))
    before = everything(scene.path())
    assert scene.call("clone('default', 't', '', 'other', 'u')") == SUCCESS
    source, clone = scene.table(), scene.wb.table("other.u")
    assert scene.rows("other.u") == scene.rows()
    options = {k: v for k, v in source.schema.options.items() if k != "bucket"}
    bucket = {"bucket": "-2"} if source.primary_keys else {"bucket": "2"} if kind == "hashed" else {}
    assert (dict(clone.schema.options), clone.schema.comment, clone.schema.id) == (options | bucket, "said", 0)
    assert [(f.id, f.name, f.type, f.description) for f in clone.schema.fields] == [
        (i, f.name, f.type, f.description) for i, f in enumerate(source.schema.fields)
    ]
    assert scene.kinds("other.u") == ["OVERWRITE"]  # as Java's, whose rows have their buckets at once
    assert everything(scene.path()) == before
    assert scene.notes == [f"{len(scene.rows())} rows of default.t were cloned to other.u"]
    assert scene.commits == [("other.u", i) for i in scene.ids("other.u")]
    # it is a table like any other
    scene.put((9, "n", "z", None), name="other.u")
    scene.call("compact('other.u')")
    assert len(scene.rows("other.u")) == len(scene.rows()) + 1


def test_named_positional_and_on_the_command_line(scene, capsys):
    filled(scene, "keyed")
    there = scene.folder / "there"
    calls = [
        f"clone('default', 't', '', 'a', 't', 'warehouse={there}', 2, 'd = ''x''')",
        f"""clone(database => 'default', `table` => 't', catalog_conf => 'warehouse={scene.folder}/w', target_database => 'b',
            target_table => 't', target_catalog_conf => 'warehouse={there}', `where` => 'd = ''x''', clone_from => 'paimon',
            prefer_file_format => 'ORC', target_table_conf => 'bucket=3,snapshot.num-retained.max=17')""",
    ]
    for call in calls:
        assert (scene.call(call), scene.commits) == (SUCCESS, [])
    words = f"--warehouse {scene.folder}/w --database default --table t --target_warehouse {there} --target_database c"
    assert (
        cli.main(["clone", *words.split(), "--target_table", "t", "--where", "d = 'x'", "--clone_from", "paimon"]) == 0
    )
    assert "result: Success\nnote: 2 rows of default.t were cloned to c.t" in capsys.readouterr().out
    assert cli.main(["clone", "--path", f"{scene.folder}/w/default.db/t", "--target_database", "c", "--target_table", "u",
                     "--target_catalog_conf", f"warehouse={there}", "--target_table_conf", "write-only=true", "--target_table_conf", "postpone.batch-write-fixed-bucket=false"]) == 0  # fmt: skip
    assert "run CALL sys.compact to make its rows visible" in capsys.readouterr().out
    with paimon_nb.connect(str(there)) as wb:
        got = {
            name: sorted((r["k"], r["v"]) for r in wb.table(name).to_arrow().to_pylist())
            for name in ("a.t", "b.t", "c.t", "c.u")
        }
        assert got == {key: [(1, "a"), (2, "b")] for key in ("a.t", "b.t", "c.t")} | {"c.u": []}
        b = wb.table("b.t")
        assert [b.schema.options[k] for k in ("bucket", "snapshot.num-retained.max", "file.format")] == [
            "3",
            "17",
            "orc",
        ]
        assert {p.suffix for p in Path(b.path).rglob("data-*")} == {".orc"}
        wb.run("CALL sys.compact('c.u', options => 'write-only=false')")
        assert wb.table("c.u").to_arrow().num_rows == 4


def test_databases_and_catalogs(scene):
    for name in ("one", "two", "three"):
        scene.make(name)
        scene.put((1, name), name=name)
    scene.wb.run("CREATE DATABASE d2; CREATE TABLE d2.four (k INT, v STRING)")
    there = scene.folder / "there"

    def tables(*databases):
        with paimon_nb.connect(str(there)) as wb:
            return {d: wb.session.catalog.tables(d) for d in databases if d in wb.session.catalog.databases()}

    conf = f"target_catalog_conf => 'warehouse={there}'"
    scene.call(f"clone(database => 'default', target_database => 'a', {conf}, excluded_tables => 'default.two')")
    assert tables("a") == {"a": ["one", "three"]}
    scene.call(f"clone(database => 'default', target_database => 'b', {conf}, included_tables => 'default.two,default.one', excluded_tables => 'default.one')")  # fmt: skip
    assert tables("b") == {"b": ["two"]}
    scene.call(f"clone({conf}, included_tables => 'default.three, d2.four')")
    assert tables("default", "d2") == {"default": ["three"], "d2": ["four"]}
    assert scene.notes == [
        "1 rows of default.three were cloned to default.three",
        "0 rows of d2.four were cloned to d2.four",
    ] or (
        scene.notes
        == ["0 rows of d2.four were cloned to d2.four", "1 rows of default.three were cloned to default.three"]
    )
    # one name of many is taken: nothing at all is written
    with pytest.raises(AlreadyExists, match=r"a\.one"):
        scene.call(f"clone(database => 'default', target_database => 'a', {conf})")
    assert tables("a") == {"a": ["one", "three"]}
    scene.call(f"clone(database => 'default', target_database => 'a', {conf}, clone_if_exists => false)")
    assert tables("a") == {"a": ["one", "three", "two"]}
    assert "a.one exists already and is unchanged" in scene.notes


def test_columns_only(scene):
    filled(scene, "keyed")
    scene.call("clone(database => 'default', `table` => 't', target_database => 'default', target_table => 'u', meta_only => true)")  # fmt: skip
    assert (scene.ids("u"), scene.table("u").schema.names) == ([], ("k", "v", "d"))
    assert scene.notes == ["default.u has the schema of default.t, and no rows"]


def test_a_target_that_is_there(scene):
    filled(scene, "plain")
    scene.make("u", *KINDS["plain"])
    scene.put((7, "old", "x"), (8, "old", "z"), name="u")
    with pytest.raises(AlreadyExists) as caught:
        scene.call("clone('default', 't', '', 'default', 'u')")
    assert "clone_if_exists" in caught.value.hint
    scene.call("clone(database => 'default', `table` => 't', target_database => 'default', target_table => 'u', clone_if_exists => false)")  # fmt: skip
    assert (scene.rows("u"), scene.ids("u")) == ([(7, "old", "x"), (8, "old", "z")], [1])
    over = "clone(database => 'default', `table` => 't', target_database => 'default', target_table => '{}', clone_if_exists => true)"
    scene.call(over.format("u"))  # the partitions that rows come for are replaced, as in Java
    assert scene.rows("u") == sorted([*ROWS, (8, "old", "z")], key=str)
    with pytest.raises(AlreadyExists, match="source table itself"):
        scene.call(over.format("t"))
    scene.make("other", "k BIGINT, v STRING, d STRING", "PARTITIONED BY (d)")
    scene.make("flat", "k INT, v STRING, d STRING")
    scene.make("wide", "k INT, v STRING, d STRING, more INT", "PARTITIONED BY (d)")
    for name in ("other", "flat"):
        with pytest.raises(SchemaMismatch):
            scene.call(over.format(name))
        assert scene.ids(name) == []
    scene.call(over.format("wide"))
    assert scene.rows("wide") == [(*row, None) for row in ROWS]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("`table` => 't'", SqlAnalysisError),
        ("database => 'default', `table` => 't'", SqlAnalysisError),
        ("database => 'default', `table` => 't', target_database => 'n'", SqlAnalysisError),
        ("database => 'default', target_database => 'n', target_table => 'x'", SqlAnalysisError),
        ("database => 'default'", SqlAnalysisError),
        ("target_database => 'n'", SqlAnalysisError),
        ("database => 'nope', target_database => 'n'", DatabaseNotFound),
        ("database => 'default', target_database => 'n', included_tables => 'default.nope'", SqlAnalysisError),
        ("database => 'default', `table` => 'nope', target_database => 'n', target_table => 'x'", TableNotFound),
        ("{one}, included_tables => 'default.t'", SqlAnalysisError),
        ("{one}, `where` => 'k = 1'", UnsupportedOperation),
        ("{one}, `where` => 'dd = 1'", ColumnNotFound),
        ("{one}, prefer_file_format => 'csv'", BadOptionValue),
        ("{one}, clone_from => 'iceberg'", BadOptionValue),
        ("{one}, clone_from => 'hive'", UnsupportedOperation),
        ("{one}, target_catalog_conf => 'type=paimon'", BadOptionValue),
        ("{one}, target_table_conf => 'bucket=many'", BadOptionValue),
    ],
)
def test_refused_and_nothing_is_left(scene, arguments, error):
    filled(scene, "keyed")
    before = everything(scene.folder)
    one = "database => 'default', `table` => 't', target_database => 'n', target_table => 'x'"
    with pytest.raises(error) as caught:
        scene.call(f"clone({arguments.format(one=one)})")
    assert caught.value.hint
    assert everything(scene.folder) == before


def test_a_broken_source_leaves_nothing(scene):
    filled(scene, "keyed")
    broken = next(scene.path().rglob("data-*"))
    broken.write_bytes(broken.read_bytes()[:50])
    before = everything(scene.folder)
    with pytest.raises(CorruptFile):
        scene.call("clone('default', 't', '', 'n', 'x')")
    assert everything(scene.folder) == before


def test_a_source_that_is_written_and_expired_meanwhile(scene):
    """Each commit gives all keys one value, and keeps one snapshot: a clone holds one value, whichever."""
    scene.make("t", "k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED", """WITH ('bucket' = '3', 'snapshot.num-retained.min' = '1',
        'snapshot.num-retained.max' = '1', 'num-sorted-run.compaction-trigger' = '1')""")  # fmt: skip
    scene.put(*((k, "0") for k in range(60)))
    stop, written = threading.Event(), []

    def write() -> None:
        table = scene.table()
        import pyarrow as pa

        while not stop.is_set():
            written.append(str(len(written) + 1))
            table.append(pa.table({"k": pa.array(range(60), pa.int32()), "v": [written[-1]] * 60}))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for i in range(6):
            scene.call(f"clone('default', 't', '', 'n', 'c{i}')")
    finally:
        stop.set()
        writer.join()
    for i in range(6):
        rows = scene.rows(f"n.c{i}")
        assert ([k for k, _ in sorted(rows)], len({v for _, v in rows})) == (list(range(60)), 1)
    assert len(written) > 1


def test_killed_on_the_way_and_done_again(scene):
    scene.make("t", *KINDS["plain"])
    scene.put(*((k, "v" * 50, f"p{k % 40}") for k in range(4000)))
    text = f"""
import paimon_nb
wb = paimon_nb.connect({str(scene.folder / "w")!r})
wb.run("CALL sys.clone('default', 't', '', 'n', 'x')")
"""
    process = subprocess.Popen(
        [sys.executable, "-c", text], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    place, deadline = scene.folder / "w/n.db/x", time.monotonic() + 60
    while not list(place.glob("p*/**/data-*")) and not list(place.rglob("data-*")) and time.monotonic() < deadline:
        if process.poll() is not None:
            break
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if (place / "snapshot/snapshot-1").exists():
        with pytest.raises(AlreadyExists):
            scene.call("clone('default', 't', '', 'n', 'x')")
    else:
        assert scene.rows("n.x") == []
        scene.call("clone('default', 't', '', 'n', 'x')")
    assert scene.rows("n.x") == scene.rows()
    scene.age(3, "n.x")
    scene.call("remove_orphan_files('n.x')")
    assert scene.rows("n.x") == scene.rows()
    assert len(scene.files("data-*", "n.x")) == 40


def test_a_branch_and_time(scene):
    filled(scene, "plain")
    scene.call("create_tag('t', 'one', 1)")
    scene.call("create_branch('t', 'b', 'one')")
    scene.put((9, "branch", "x"), name="t$branch_b")
    scene.call("clone('default', 't$branch_b', '', 'n', 'x')")
    assert scene.rows("n.x") == [*ROWS[:3], (9, "branch", "x")]


@pytest.mark.nightly
@pytest.mark.java
def test_java_reads_clones_and_copies(scene, shared):
    there = scene.folder / "w/n.db"
    wanted = {}
    for kind in KINDS:
        filled(scene, kind, kind)
        scene.call(f"clone('default', '{kind}', '', 'n', 'cloned_{kind}')")
        wanted[f"cloned_{kind}"] = scene.rows(kind)
        if kind != "tracked":
            scene.wb.run(f"ALTER TABLE {kind} ADD w INT")
            scene.put((7, "g", "y", 70), name=kind)
            scene.call(f"copy('{kind}', 'n.copied_{kind}')")
            wanted[f"copied_{kind}"] = scene.rows(kind)
        scene.call(f"copy_files('', 'default', '{kind}', '', '{scene.folder}/w', 'n', 'whole_{kind}')")
        wanted[f"whole_{kind}"] = scene.rows(kind)
    for name, rows in wanted.items():
        lines = [json.dumps(dict(zip(("k", "v", "d", "w"), row, strict=False))) for row in rows]
        (there / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))
    done = subprocess.run(
        [sys.executable, str(shared / "oracle/read_check.py"), str(scene.folder / "w"), "--only", "cloned|copied|whole"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == f"SUMMARY {{'equal': {len(wanted)}}}", done.stdout + done.stderr[-2000:]


def test_rows_that_others_write_into_a_new_clone_stay(tmp_path, monkeypatch):
    """The target is visible before its rows are: its first commit must not replace what came in between."""
    from paimon_nb.table.tables.copy import clone

    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE a (id INT) WITH ('bucket' = '-1'); INSERT INTO a VALUES (1)")
    read_split = clone.read_split

    def read_while_another_writes(*arguments):
        if not paimon_nb.open_table(str(tmp_path / "default.db" / "b")).snapshots().num_rows:
            paimon_nb.connect(str(tmp_path)).run("INSERT INTO b VALUES (2)")
        return read_split(*arguments)

    monkeypatch.setattr(clone, "read_split", read_while_another_writes)
    wb.run("CALL sys.clone(`database` => 'default', `table` => 'a', target_database => 'default', target_table => 'b')")
    assert sorted(wb.table("b").to_arrow().column("id").to_pylist()) == [1, 2]


@pytest.mark.parametrize("creates", [True, False], ids=["created by another", "filled by another"])
def test_a_table_that_others_fill_after_the_clone_has_looked_keeps_its_rows(tmp_path, monkeypatch, creates):
    """Without clone_if_exists, nothing of a table is replaced, whoever has created it."""
    from paimon_nb.procedures import clone

    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE a (id INT) WITH ('bucket' = '-1'); INSERT INTO a VALUES (1)")
    create, look = clone.created_target, clone.PaimonSource.write
    other = paimon_nb.connect(str(tmp_path))

    def created_after_another(*arguments):
        other.run("CREATE TABLE b (id INT) WITH ('bucket' = '-1'); INSERT INTO b VALUES (2)")
        return create(*arguments)

    def written_after_another(*arguments):
        other.run("INSERT INTO b VALUES (2)")
        return look(*arguments)

    if creates:
        monkeypatch.setattr(clone, "created_target", created_after_another)
    else:
        monkeypatch.setattr(clone.PaimonSource, "write", written_after_another)
    call = "CALL sys.clone(`database` => 'default', `table` => 'a', target_database => 'default', target_table => 'b')"
    if creates:
        with pytest.raises(AlreadyExists, match=r"default\.b exists already"):
            wb.run(call)
    else:
        wb.run(call)
    assert sorted(wb.table("b").to_arrow().column("id").to_pylist()) == ([2] if creates else [1, 2])
