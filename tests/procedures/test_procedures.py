"""Every procedure called as users call it: named and in Flink's positional order, its rows, its effect, its notes."""

from __future__ import annotations

import datetime as dt
import json
import os
import time
from typing import Any

import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base import clock
from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    BranchNotFound,
    ColumnNotFound,
    ConsumerNotFound,
    PaimonError,
    ProcedureNotFound,
    SchemaMismatch,
    SnapshotNotFound,
    SqlAnalysisError,
    TableNotFound,
    TagNotFound,
    TimeTravelError,
    UnknownName,
    UnsupportedOperation,
)
from paimon_nb.format.manifest import read_manifest
from paimon_nb.procedures import PROCEDURES, UNSUPPORTED

pytestmark = pytest.mark.spark  # few need it, but the last test asks which procedures all of them called
DONE = [{"result": True}]
SUCCESS = [{"result": "Success"}]
"""Flink's answer: a CALL with positional arguments is Flink's form."""
CALLED: set[str] = set()
"""Procedures that a test below calls; the last test compares with the registry."""
ELSEWHERE = {
    "compact_chain_table",
    *("clone", "copy", "copy_files", "remove_unexisting_manifests", "data_evolution_merge_into", "merge_branch"),
    *("init_file_based_privilege", "create_privileged_user", "drop_privileged_user"),
    *("grant_privilege_to_user", "revoke_privilege_from_user", "migrate_iceberg_table"),
    *(
        "alter_view_dialect",
        "create_global_index",
        "drop_global_index",
        "full_text_search",
        "vector_search",
        "materialize_deletion_vectors",
        "reassign_row_id",
    ),
}
"""`tests/table/read/test_chain.py`, `test_clone.py`, `test_copy.py`, `tests/session/test_data_evolution.py`, `tests/table/read/test_global_index.py`,
`tests/table/read/test_index_search.py`,
`tests/table/write/compact/test_row_range_compaction.py`, `tests/table/write/maintenance/test_reassign_row_ids.py`, `tests/catalog/test_privilege.py`, and
`test_iceberg.py` and `test_rest_sql.py` there call them."""
OF_SERVERS = {
    *(
        "mysql_sync_table",
        "mysql_sync_database",
        "postgres_sync_table",
        "postgres_sync_database",
        "kafka_sync_table",
        "kafka_sync_database",
    ),
    *("repair", "migrate_table", "migrate_database"),
}
"""They need a server: `tests/connectors/test_mysql_sync.py`, `test_postgres_sync.py` and `test_kafka_sync.py`, `tests/catalog/test_hive.py` and
`test_migrate.py` call them."""


@pytest.fixture(autouse=True)
def _remember(monkeypatch: pytest.MonkeyPatch) -> None:
    import paimon_nb.procedures as room

    real = room.call_procedure

    def noted(context: Any, call: Any, *, flink: bool = False) -> Any:
        out = real(context, call, flink=flink)
        CALLED.add(call.procedure.lower())
        return out

    monkeypatch.setattr(room, "call_procedure", noted)


# -- the rows of a call


def test_rows_follow_the_form_of_the_call(three):
    """Positional arguments and names in backquotes are Flink's form. In its runtime mode every form is."""
    assert three.call("compact_manifest('t')") == [{"result": "success"}]
    assert three.call("compact_manifest(`table` => 't')") == [{"result": "success"}]
    assert three.call("compact_manifest(table => 't')") == DONE
    three.wb.run("SET 'execution.runtime-mode' = 'batch'")
    assert three.call("compact_manifest(table => 't')") == [{"result": "success"}]


# -- tags


def test_create_tag(three):
    assert three.call("create_tag('t', 'latest')") == SUCCESS
    assert three.call("create_tag('t', 'two', 2)") == SUCCESS
    assert (
        three.call("create_tag(table => 'default.t', tag => 'one', snapshot_id => 1, time_retained => '2 d')") == DONE
    )
    assert three.tags() == {"latest": 3, "two": 2, "one": 1}
    store = three.table().store
    assert (store.tags.get("one").retained_ms, store.tags.get("two").retained_ms) == (2 * 86_400_000, None)
    with pytest.raises(AlreadyExists):
        three.call("create_tag('t', 'two', 3)")
    with pytest.raises(SnapshotNotFound, match="1 to 3"):
        three.call("create_tag('t', 'nine', 9)")


def test_create_tag_from_timestamp(three):
    times = [s.time_ms for s in three.table().store.snapshots.all()]
    answer = [{"tagName": "a", "snapshot": 2, "commit_time": times[1], "watermark": str(-(1 << 63))}]
    assert (
        three.call(f"create_tag_from_timestamp('t', 'a', {times[0] + 1})") == answer
    )  # in Flink's form, its first watermark
    answer = [{"tagName": "b", "snapshot": 3, "commit_time": times[2], "watermark": "null"}]
    call = f"create_tag_from_timestamp(table => 't', tag => 'b', timestamp => {times[2]}, time_retained => '1 h')"
    assert three.call(call) == answer
    assert three.tags() == {"a": 2, "b": 3}
    with pytest.raises(TimeTravelError):
        three.call(f"create_tag_from_timestamp('t', 'c', {times[2] + 1})")


def test_create_tag_from_timestamp_of_a_snapshot_that_only_a_tag_keeps(three):
    times = [s.time_ms for s in three.table().store.snapshots.all()]
    three.call("create_tag('t', 'kept', 2)")
    three.call("expire_snapshots(table => 't', retain_max => 1, retain_min => 1)")
    assert three.ids() == [3]
    three.call(f"create_tag_from_timestamp('t', 'a', {times[0] + 1})")
    three.call(f"create_tag_from_timestamp('t', 'b', {times[1] + 1})")
    assert three.tags() == {"kept": 2, "a": 2, "b": 3}


def marked(scene):
    scene.make()
    import pyarrow as pa

    for watermark in (None, 100, 200):
        table = scene.table()
        with table.write() as write:
            write.write(pa.table({"k": pa.array([1], pa.int32()), "v": ["x"]}))
            messages = write.prepare_commit()
        table.commit().commit(messages, watermark=watermark)
    return scene


def test_create_tag_from_watermark(scene):
    marked(scene)
    [row] = scene.call("create_tag_from_watermark('t', 'a', 150)")
    assert (row["tagName"], row["snapshot"], row["watermark"]) == ("a", 3, "200")
    assert row["commit_time"] == scene.table().store.snapshots.get(3).time_ms
    scene.call("create_tag_from_watermark(table => 't', tag => 'b', watermark => 100)")
    assert scene.tags() == {"a": 3, "b": 2}
    with pytest.raises(TimeTravelError):
        scene.call("create_tag_from_watermark('t', 'c', 201)")
    scene.call("expire_snapshots(table => 't', retain_max => 1, retain_min => 1)")
    scene.call("create_tag_from_watermark('t', 'd', 50)")
    assert scene.tags()["d"] == 2, "of the tag b, which keeps it"


def test_delete_rename_replace_tag(three):
    for name in "abcd":
        three.call(f"create_tag('t', '{name}', 1)")
    assert three.call("delete_tag('t', 'a, b')") == SUCCESS
    assert three.call("rename_tag('t', 'c', 'see')") == [{"result": "Rename [c] to [see] successfully."}]
    assert three.call("rename_tag(table => 't', tagName => 'd', targetTagName => 'dee')") == DONE
    assert three.call("replace_tag('t', 'see', 2)") == SUCCESS
    assert three.call("replace_tag(table => 't', tag => 'dee', snapshot => 3, time_retained => '1 d')") == DONE
    assert three.tags() == {"dee": 3, "see": 2}
    assert three.call("delete_tag('t', 'a')") == SUCCESS  # Java says so of a tag that is not there
    with pytest.raises(TagNotFound):
        three.call("rename_tag('t', 'a', 'z')")
    with pytest.raises(AlreadyExists):
        three.call("rename_tag('t', 'dee', 'see')")


def test_expire_tags(three, monkeypatch):
    three.call("create_tag('t', 'short', 1, '1 h')")
    three.call("create_tag('t', 'long', 2, '9 d')")
    two_hours_later = clock.now_ms() + 7_200_000
    monkeypatch.setattr(clock, "now_ms", lambda: two_hours_later)
    assert three.call("expire_tags('t')") == [{"expired_tags": "short"}]
    assert three.call("expire_tags(table => 't', older_than => '2999-01-01 00:00:00')") == [{"expired_tags": "long"}]
    assert three.tags() == {}


def test_trigger_tag_automatic_creation(scene):
    scene.make(tail="WITH ('write-only' = 'true')")
    scene.put((1, "a"))
    scene.call("trigger_tag_automatic_creation('t')")
    assert (scene.tags(), scene.notes) == ({}, ["no automatic tag is due"])
    scene.wb.run("ALTER TABLE t SET ('tag.automatic-creation' = 'process-time', 'tag.creation-period' = 'hourly')")
    assert scene.call("trigger_tag_automatic_creation(table => 't')") == DONE
    [name] = scene.tags()
    assert scene.notes == [f"created: {name}"]


# -- branches


def test_branches(three):
    three.call("create_tag('t', 'two', 2)")
    assert three.call("create_branch('t', 'empty')") == SUCCESS
    assert three.call("create_branch(table => 't', branch => 'from_two', tag => 'two')") == DONE
    assert three.call("create_branch(table => 't', branch => 'empty', ignoreIfExists => true)") == DONE
    with pytest.raises(AlreadyExists):
        three.call("create_branch('t', 'empty')")
    with pytest.raises(TagNotFound):
        three.call("create_branch('t', 'b', 'nope')")
    assert three.call("rename_branch('t', 'empty', 'blank')") == SUCCESS
    names = three.table().store.branches.names()
    assert (sorted(names), three.rows("t$branch_from_two")) == (["blank", "from_two"], [(1, "v1"), (2, "v2")])
    three.put((9, "branch"), name="t$branch_from_two")
    assert three.call("fast_forward('t', 'from_two')") == SUCCESS
    assert three.rows() == [(1, "v1"), (2, "v2"), (9, "branch")]
    assert three.call("delete_branch('t', 'blank,from_two')") == SUCCESS
    assert three.table().store.branches.names() == []
    with pytest.raises(BranchNotFound):
        three.call("fast_forward('t', 'from_two')")
    assert three.rows() == [(1, "v1"), (2, "v2"), (9, "branch")]


# -- rollback


@pytest.mark.parametrize(
    "text",
    ["rollback_to('t', 2)", "rollback_to('t', 'two')", "rollback_to(table => 't', snapshot_id => 2)",
     "rollback_to(table => 't', tag => 'two')", "rollback(table => 't', version => '2')",
     "rollback(table => 't', version => 'two')", "rollback(table => 't', snapshot => 2)",
     "rollback(table => 't', tag => 'two')"],
)  # fmt: skip
def test_rollback(three, text):
    three.call("create_tag('t', 'two', 2)")
    assert three.call(text) == [{"previous_snapshot_id": 3, "current_snapshot_id": 2}]
    assert (three.ids(), three.rows()) == ([1, 2], [(1, "v1"), (2, "v2")])
    assert len(three.files("*.parquet")) == 2


def test_rollback_refused(three):
    for text, error in (
        ("rollback_to('t')", SqlAnalysisError),
        ("rollback_to(table => 't', tag => 'a', snapshot_id => 1)", SqlAnalysisError),
        ("rollback_to('t', 9)", SnapshotNotFound),
        ("rollback_to('t', 'nope')", TagNotFound),
        ("rollback(table => 't', snapshot => 'x')", BadOptionValue),
        ("rollback_to_as_latest('t')", SqlAnalysisError),
        ("rollback_to_as_latest('t', 9)", SnapshotNotFound),
    ):
        with pytest.raises(error):
            three.call(text)
    assert three.ids() == [1, 2, 3]


def test_rollback_to_timestamp(three):
    times = [s.time_ms for s in three.table().store.snapshots.all()]
    answer = [{"previous_snapshot_id": 3, "current_snapshot_id": 2}]
    assert three.call(f"rollback_to_timestamp('t', {times[2] - 1})") == answer
    answer = [{"previous_snapshot_id": 2, "current_snapshot_id": 1}]
    assert three.call(f"rollback_to_timestamp(table => 't', timestamp => {times[0]})") == answer
    with pytest.raises(TimeTravelError):
        three.call("rollback_to_timestamp('t', 1)")


def test_rollback_to_watermark(scene):
    marked(scene)
    assert scene.call("rollback_to_watermark(table => 't', watermark => 199)") == [
        {"previous_snapshot_id": 3, "current_snapshot_id": 2}
    ]
    with pytest.raises(TimeTravelError):
        scene.call("rollback_to_watermark(table => 't', watermark => 99)")


@pytest.mark.parametrize("tail", ["", "TBLPROPERTIES ('bucket' = '1', 'bucket-key' = 'k', 'file-index.in-manifest-threshold' = '1 b', "
                                      "'file-index.bitmap.columns' = 'v')"])  # fmt: skip
@pytest.mark.parametrize(
    "how", ["'t', cast(null as string), 2", "'t', 2", "'t', 'two'", "table => 't', snapshot_id => 2"]
)
def test_rollback_to_as_latest(scene, tail, how):
    scene.make(tail=tail)
    for i in (1, 2, 3):
        scene.put((i, f"v{i}"))
    scene.call("create_tag('t', 'two', 2)")
    scene.wb.table("t").compact()
    newest = scene.ids()[-1]
    answer = [{"previous_snapshot_id": newest, "rolled_back_snapshot_id": 2, "current_snapshot_id": newest + 1}]
    assert scene.call(f"rollback_to_as_latest({how})") == answer
    assert scene.commits == [("default.t", newest + 1)]
    assert (scene.rows(), scene.kinds()[-1]) == ([(1, "v1"), (2, "v2")], "OVERWRITE")
    assert scene.ids() == list(range(1, newest + 2)), "nothing is forgotten"
    assert scene.table().latest_snapshot().total_record_count == 2
    scene.call(f"rollback_to_as_latest({how})")
    scene.call("rollback_to_as_latest('t', 2)")
    scene.call("delete_tag('t', 'two')")
    scene.call("expire_snapshots(table => 't', retain_max => 1, retain_min => 1)")
    assert scene.rows() == [(1, "v1"), (2, "v2")], "its files do not hang on old snapshots"


def test_rollback_to_as_latest_brings_deletion_vectors_back(scene):
    tail = "WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true')"
    scene.make(columns="k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED", tail=tail)
    scene.put((1, "a"), (2, "b"))
    scene.put((1, "aa"))
    before = scene.rows()
    target = scene.ids()[-1]
    scene.put((2, "bb"), (3, "c"))
    scene.table().compact()
    assert scene.rows() != before
    scene.call(f"rollback_to_as_latest('t', {target})")
    assert scene.rows() == before
    scene.put((1, "aaa"))
    assert scene.rows() == [(1, "aaa"), (2, "b")]


# -- compaction


@pytest.mark.parametrize(
    ("text", "answer"), [("compact('t')", SUCCESS), ("compact(table => 't', compact_strategy => 'full')", DONE)]
)
def test_compact(three, text, answer):
    assert three.call(text) == answer
    assert (three.kinds(), three.commits) == (["APPEND"] * 3 + ["COMPACT"], [("default.t", 4)])
    assert three.table().files().num_rows == 1
    three.call(text)
    assert three.notes == ["nothing to compact in default.t"]


def test_compact_what_is_due(three):
    three.call("compact(table => 't', compact_strategy => 'minor')")
    assert three.notes == ["nothing to compact in default.t"]
    three.call("compact(table => 't', compact_strategy => 'minor', options => 'compaction.min.file-num=2')")
    assert three.table().files().num_rows == 1


@pytest.fixture
def parted(scene):
    scene.make(columns="k INT, p INT", tail="PARTITIONED BY (p)")
    for i in range(3):
        scene.put((i, 1), (i, 2), (i, 3))
    return scene


def per_partition(scene):
    rows = scene.table().partitions().to_pylist()
    return {r["partition"]: r["file_count"] for r in rows}


@pytest.mark.parametrize(
    "text",
    [
        "compact('t', 'p=2')",
        "compact(table => 't', partitions => 'p=2')",
        "compact(table => 't', where => 'p > 1 AND p < 3')",
    ],
)
def test_compact_some_partitions(parted, text):
    parted.call(text)
    assert list(per_partition(parted).values()) == [3, 1, 3]


def test_compact_idle_partitions(parted):
    parted.call("compact(table => 't', partition_idle_time => '1 d')")
    assert list(per_partition(parted).values()) == [3, 3, 3]
    parted.call("compact(table => 't', partition_idle_time => '0 ms', partitions => 'p=1;p=3')")
    assert list(per_partition(parted).values()) == [1, 3, 1]


def test_compact_some_buckets(scene):
    scene.make(
        columns="k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED", tail="WITH ('bucket' = '3', 'write-only' = 'true')"
    )
    for _ in range(2):
        scene.put(*((i, "x") for i in range(20)))
    scene.call("compact(table => 't', buckets => '0,2', options => 'write-only=false')")
    files = {r["bucket"]: r["file_count"] for r in scene.table().buckets().to_pylist()}
    assert files == {0: 1, 1: 2, 2: 1}


@pytest.mark.parametrize(
    ("text", "answer"),
    [("compact('t', 'order', 'k')", SUCCESS), ("compact('t', '', 'zorder', 'k, v')", SUCCESS),
     ("compact(table => 't', order_strategy => 'hilbert', order_by => 'k,v')", DONE)],
)  # fmt: skip
def test_sort_compact(three, text, answer):
    assert three.call(text) == answer
    assert (three.kinds()[-1], three.commits, three.rows()) == (
        "OVERWRITE",
        [("default.t", 4)],
        [(1, "v1"), (2, "v2"), (3, "v3")],
    )
    assert three.table().files().num_rows == 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("compact_strategy => 'ful'", BadOptionValue),
        ("order_strategy => 'zorder'", SqlAnalysisError),
        ("order_by => 'k'", SqlAnalysisError),
        ("order_strategy => 'zorderr', order_by => 'k'", UnknownName),
        ("order_strategy => 'zorder', order_by => 'kk'", ColumnNotFound),
        ("order_strategy => 'zorder', order_by => 'k', buckets => '1'", SqlAnalysisError),
        ("partitions => 'p=1', where => 'p = 1'", SqlAnalysisError),
        ("partitions => 'p'", BadOptionValue),
        ("partitions => 'q=1'", ColumnNotFound),
        ("partitions => 'p=x'", BadOptionValue),
        ("where => 'k = 1'", UnsupportedOperation),
        ("where => 'p ='", PaimonError),
        ("buckets => 'a'", UnsupportedOperation),
        ("partition_idle_time => 'soon'", BadOptionValue),
        ("options => 'compaction.min.file-num=x', compact_strategy => 'minor'", BadOptionValue),
    ],
)  # fmt: skip
def test_compact_refused(parted, arguments, error):
    with pytest.raises(error):
        parted.call(f"compact(table => 't', {arguments})")
    assert parted.kinds() == ["APPEND"] * 3


def test_compact_database(three):
    three.make("other")
    three.put((1, "a"), name="other")
    three.put((2, "a"), name="other")
    three.wb.run("CREATE DATABASE d2; CREATE TABLE d2.far (k INT)")
    assert three.call("compact_database(including_databases => 'default', including_tables => 'o.*')") == [
        {"result": "Compact database finished. Success: 1, Failed: 0"}
    ]
    assert (three.kinds("other")[-1], three.kinds()[-1]) == ("COMPACT", "APPEND")
    assert three.call("compact_database('', '', '', '.*other')") == SUCCESS
    assert three.kinds()[-1] == "COMPACT"
    with pytest.raises(BadOptionValue):
        three.call("compact_database(compact_strategy => 'ful')")


def test_rewrite_file_index(three):
    three.call("rewrite_file_index('t')")
    assert three.notes == ["all files of default.t have the configured indexes already"]
    three.wb.run("ALTER TABLE t SET ('file-index.bitmap.columns' = 'v', 'file-index.in-manifest-threshold' = '1 b')")
    assert three.call("rewrite_file_index(table => 't')") == [{"written_partitions": 1, "written_indexes": 3}]
    assert (len(three.files("*.index")), three.commits, three.rows()[0]) == (3, [("default.t", 4)], (1, "v1"))


def test_rewrite_file_index_of_some_partitions(parted):
    parted.wb.run("ALTER TABLE t SET ('file-index.bitmap.columns' = 'k', 'file-index.in-manifest-threshold' = '1 b')")
    parted.call("rewrite_file_index('t', 'p=1')")
    assert len(parted.files("*.index")) == 3
    parted.call("rewrite_file_index(table => 't', where => 'p < 3')")
    assert len(parted.files("*.index")) == 6


def test_compact_manifest(three):
    assert three.call("compact_manifest(table => 't', dry_run => true)") == DONE
    assert three.ids() == [1, 2, 3]
    assert three.call("compact_manifest('t')") == [{"result": "success"}]
    assert (three.kinds()[-1], three.table().manifests().num_rows, three.rows()[2]) == ("COMPACT", 1, (3, "v3"))
    three.call("compact_manifest('t')")
    assert (three.ids()[-1], three.notes) == (4, ["the manifests of default.t are compact already"])


@pytest.mark.parametrize(
    ("arguments", "order"),
    [
        ("", [(2, 1), (1, 9), (3, 5)]),
        (", manifest_sort_enabled => true", [(1, 9), (2, 1), (3, 5)]),
        (", manifest_sort_enabled => true, manifest_sort_partition_field => 'b'", [(2, 1), (3, 5), (1, 9)]),
        (", options => 'manifest-sort.enabled=true,manifest-sort.partition-field=b'", [(2, 1), (3, 5), (1, 9)]),
        (", manifest_sort_enabled => true, manifest_sort_max_rewrite_size => '1 b'", [(2, 1), (1, 9), (3, 5)]),
    ],
)
def test_compacted_manifests_are_sorted(scene, arguments, order):
    scene.wb.run("CREATE TABLE p (v INT, a INT, b INT) PARTITIONED BY (a, b)")
    t = scene.table("p")
    for a, b in ((2, 1), (1, 9), (3, 5)):
        scene.put((1, a, b), name="p")
    scene.call(f"compact_manifest(`table` => 'p', dry_run => true{arguments})")
    size = sum(t.manifests().column("file_size").to_pylist())
    (note,) = scene.notes
    head = f"Dry run: 3 manifest files ({size} bytes), 0 deleted entries in 0 files, 3 undersized files (< 8 mb)."
    assert note.startswith(head)
    scene.call(f"compact_manifest(`table` => 'p'{arguments})")
    (manifest,) = t.manifests().column("file_name").to_pylist()
    entries = read_manifest(t.store.fs, t.store.manifest_path(manifest))
    assert [t.store.partition_values(e.partition) for e in entries] == order
    assert t.to_arrow().num_rows == 3


def test_manifests_of_a_table_without_partitions_are_not_sorted(three):
    with pytest.raises(BadOptionValue, match="not partitioned"):
        three.call("compact_manifest(`table` => 't', manifest_sort_enabled => true)")


# -- expiry


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ("'t', 1, 1", [3]),
        ("'t', 2, 1", [2, 3]),
        ("table => 't', retain_max => 1, retain_min => 1, max_deletes => 1", [2, 3]),
        ("table => 't', older_than => '2999-01-01 00:00:00', retain_min => 2", [2, 3]),
        ("'t', '2999-01-01 00:00:00'", [1, 2, 3]),  # at least ten stay
        ("table => 't', options => 'snapshot.num-retained.min=1,snapshot.num-retained.max=1'", [3]),
        ("table => 't', older_than => '2001-01-01 00:00:00', retain_min => 1", [1, 2, 3]),
        ("table => 't', retain_max => 1, retain_min => 1, options => 'snapshot.expire.limit=1'", [2, 3]),
    ],
)
def test_expire_snapshots(three, arguments, kept):
    flink = arguments.startswith("'")
    answer = {"result": str(3 - len(kept))} if flink else {"deleted_snapshots_count": 3 - len(kept)}
    assert three.call(f"expire_snapshots({arguments})") == [answer]
    assert (three.ids(), len(three.rows())) == (kept, 3)


@pytest.mark.parametrize("arguments", ["'t', 'x', 1, 1, 1, '', 7", "'t', 1, 'x'", "table => 't', keep => 1"])
def test_expire_snapshots_refused(three, arguments):
    with pytest.raises((SqlAnalysisError, BadOptionValue)):
        three.call(f"expire_snapshots({arguments})")
    assert three.ids() == [1, 2, 3]


def test_expire_snapshots_older_than_the_newest(scene):
    """As in Java: a snapshot that was made before goes, however long it was the newest."""
    scene.make()
    for i in range(6):
        scene.put((i, "x"))
        time.sleep(0.002)
    newest = dt.datetime.fromtimestamp(scene.table().store.snapshots.get(6).time_ms / 1000)
    text = newest.isoformat(" ", "milliseconds")
    assert scene.call(f"expire_snapshots(table => 't', older_than => '{text}', retain_min => 1)") == [
        {"deleted_snapshots_count": 5}
    ]
    assert scene.ids() == [6]


def test_expire_changelogs(scene):
    tail = (
        "WITH ('bucket' = '1', 'changelog-producer' = 'input', 'changelog.num-retained.min' = '10', "
        "'changelog.num-retained.max' = '100', 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '1')"
    )
    scene.make(columns="k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED", tail=tail)
    for i in range(5):
        scene.put((i, "x"))
    logs = scene.table().store.changelogs.ids()
    assert len(logs) >= 3
    assert (
        scene.call("expire_changelogs(table => 't', retain_max => 3, retain_min => 1)")[0]["deleted_changelogs_count"]
        >= 1
    )
    assert len(scene.table().store.changelogs.ids()) < len(logs)
    left = scene.table().store.changelogs.ids()
    assert scene.call("expire_changelogs('t')") == [{"result": "0"}]  # without limits none goes
    assert scene.table().store.changelogs.ids() == left
    scene.call("expire_changelogs(table => 't', delete_all => true)")
    changelogs = scene.table().store.changelogs
    assert changelogs.fs.names(changelogs.root) == []  # nor hints
    assert len(scene.rows()) == 5


def test_expire_changelogs_by_age(scene):
    tail = (
        "WITH ('bucket' = '1', 'changelog-producer' = 'input', 'changelog.num-retained.min' = '10', "
        "'changelog.num-retained.max' = '100', 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '1', 'num-sorted-run.compaction-trigger' = '99')"
    )
    scene.make(columns="k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED", tail=tail)
    for i in range(6):
        scene.put((i, "x"))
        time.sleep(0.002)
    logs = scene.table().store.changelogs
    assert logs.ids() == [1, 2, 3, 4, 5]
    third = dt.datetime.fromtimestamp(logs.get(3).time_ms / 1000).isoformat(" ", "milliseconds")
    call = f"expire_changelogs(table => 't', older_than => '{third}', {{}})"
    for more, expired, left in (
        ("retain_min => 5", 1, [2, 3, 4, 5]),  # at least five stay, the snapshot among them
        ("retain_min => 1, max_deletes => 1", 1, [3, 4, 5]),
        ("retain_min => 1", 0, [3, 4, 5]),  # the third is not older than itself
    ):
        assert scene.call(call.format(more)) == [{"deleted_changelogs_count": expired}]
        assert scene.table().store.changelogs.ids() == left
    with pytest.raises(SqlAnalysisError, match="options"):  # Java's procedure has none either
        scene.call("expire_changelogs(table => 't', options => 'changelog.num-retained.min=1')")
    assert (scene.table().store.changelogs.ids(), len(scene.rows())) == ([3, 4, 5], 6)


def test_expire_partitions(scene):
    scene.make(columns="k INT, dt STRING", tail="PARTITIONED BY (dt)")
    scene.put((1, "2020-01-01"), (2, "2020-01-02"), (3, "2999-01-01"), (4, "soon"))
    one = "expire_partitions(table => 't', expiration_time => '1 d', timestamp_formatter => 'yyyy-MM-dd', max_expires => 1)"
    assert scene.call(one) == [{"expired_partitions": "dt=2020-01-01"}]
    assert scene.notes == ["1 partition(s) without a valid time were kept"]
    assert scene.call("expire_partitions('t', '1 d', 'yyyy-MM-dd', '$dt')") == [{"expired_partitions": "dt=2020-01-02"}]
    assert scene.call("expire_partitions('t', '1 d', 'yyyy-MM-dd')") == [
        {"expired_partitions": "No expired partitions."}
    ]
    assert scene.rows() == [(3, "2999-01-01"), (4, "soon")]
    with pytest.raises(BadOptionValue):
        scene.call("expire_partitions('t')")


def test_drop_partition(parted):
    assert parted.call("drop_partition('t', 'p=1;p=3')") == SUCCESS
    assert ({r[1] for r in parted.rows()}, parted.commits) == ({2}, [("default.t", 4)])
    with pytest.raises(ColumnNotFound):
        parted.call("drop_partition(table => 't', partition => 'q=1')")
    with pytest.raises(SqlAnalysisError):
        parted.call("drop_partition('t')")


def test_remove_orphan_files(three):
    lost = three.path() / "bucket-0" / "data-lost.parquet"
    lost.write_bytes(b"12345")
    assert three.call("remove_orphan_files('t')") == [{"result": "0"}, {"result": "0"}]  # files, bytes
    os.utime(lost, (0, 0))
    answer = [{"deletedFileCount": 1, "deletedFileTotalLenInBytes": 5}]
    assert three.call("remove_orphan_files(table => 'default.*', dry_run => true)") == answer
    assert (lost.exists(), three.notes) == (True, ["dry run: nothing was deleted"])
    assert three.call("remove_orphan_files('t', '2020-01-01 00:00:00', false)") == [{"result": "1"}, {"result": "5"}]
    assert (lost.exists(), len(three.rows())) == (False, 3)
    with pytest.raises(BadOptionValue, match="before now"):
        three.call("remove_orphan_files('t', '2999-01-01 00:00:00')")


def test_remove_orphan_files_of_this_day(three):
    young = three.path() / "bucket-0" / "data-young.parquet"
    young.write_bytes(b"1")
    an_hour_ago = time.time() - 3600
    os.utime(young, (an_hour_ago, an_hour_ago))
    assert three.call("remove_orphan_files('t')")[0] == {"result": "0"}
    assert three.call(f"remove_orphan_files('t', {int(an_hour_ago * 1000) + 1000})")[0] == {"result": "1"}
    assert three.notes == ["files younger than a day may belong to a running write, which then fails"]
    assert (young.exists(), len(three.rows())) == (False, 3)


def test_remove_unexisting_files(three):
    gone = next((three.path() / "bucket-0").glob("*.parquet"))
    gone.unlink()
    answer = [{"fileName": str(gone)}]
    assert three.call("remove_unexisting_files(table => 't', dry_run => true)") == answer
    assert three.ids() == [1, 2, 3]
    assert three.call("remove_unexisting_files('t')") == [{"result": str(gone)}]
    assert (len(three.rows()), three.kinds()[-1]) == (2, "OVERWRITE")
    assert three.call("remove_unexisting_files('t')") == []


def test_purge_files(three):
    three.call("create_tag('t', 'one', 1)")
    three.call("create_branch('t', 'b', 'one')")
    three.call("reset_consumer('t', 'c', 1)")
    assert three.call("purge_files('t')") == [{"result": "Success"}]
    store = three.table().store
    assert (three.rows(), three.ids(), three.tags()) == ([], [4], {})
    assert (store.branches.names(), store.consumers.ids(), three.files("*.parquet")) == ([], [], [])
    three.put((7, "again"))
    assert three.rows() == [(7, "again")]


def test_repair_earliest_snapshot(three):
    hint = three.path() / "snapshot" / "EARLIEST"
    hint.write_text("77")
    assert three.call("repair_earliest_snapshot('t', 1)") == SUCCESS
    assert hint.read_text() == "1"
    with pytest.raises(SnapshotNotFound):
        three.call("repair_earliest_snapshot(table => 't', snapshot_id => 9)")
    with pytest.raises(SqlAnalysisError):
        three.call("repair_earliest_snapshot('t')")


# -- consumers


def test_consumers(three):
    for name in ("a1", "a2", "b1"):
        assert three.call(f"reset_consumer('t', '{name}', 2)") == SUCCESS
    three.call("reset_consumer(table => 't', consumerId => 'b1', nextSnapshotId => 3)")
    store = three.table().store
    assert {c: store.consumers.next_snapshot(c) for c in store.consumers.ids()} == {"a1": 2, "a2": 2, "b1": 3}
    assert three.call("reset_consumer('t', 'a1')") == SUCCESS
    assert three.call("clear_consumers('t', '.*', 'b.*')") == SUCCESS
    assert store.consumers.ids() == ["b1"]
    assert three.call("clear_consumers(table => 't', includingConsumers => 'b1')") == DONE
    assert store.consumers.ids() == []
    with pytest.raises(ConsumerNotFound):
        three.call("reset_consumer('t', 'a1')")
    with pytest.raises(BadOptionValue):
        three.call("reset_consumer('t', 'a1', 0)")


# -- shape


def test_rescale(scene):
    columns = "p INT, k INT, v STRING, PRIMARY KEY (p, k) NOT ENFORCED"
    scene.make(columns=columns, tail="PARTITIONED BY (p) WITH ('bucket' = '2')")
    scene.put(*((p, k, f"v{k}") for p in (1, 2) for k in range(20)))
    before = scene.rows()
    assert scene.call("rescale(table => 't', bucket_num => 5, partition => 'p=1')") == DONE
    assert scene.notes == ["writers still use the table's option; run ALTER TABLE ... SET ('bucket' = '5')"]
    assert (scene.rows(), scene.kinds()[-1]) == (before, "OVERWRITE")
    buckets: dict[str, set[int]] = {}
    for r in scene.table().files().to_pylist():
        buckets.setdefault(r["partition"], set()).add(r["bucket"])
    assert [len(b) for _, b in sorted(buckets.items())] == [5, 2]
    assert scene.call("rescale('t', 3)") == SUCCESS
    assert (scene.rows(), {r["bucket"] for r in scene.table().files().to_pylist()}) == (before, {0, 1, 2})
    assert scene.table().options.raw["bucket"] == "2"
    scene.wb.run("ALTER TABLE t SET ('bucket' = '3')")
    scene.put((1, 99, "new"))
    assert len(scene.rows()) == len(before) + 1


@pytest.mark.parametrize("arguments", ["'t', 0", "'t', 'x'"])
def test_rescale_refused(three, arguments):
    with pytest.raises(PaimonError):
        three.call(f"rescale({arguments})")
    with pytest.raises(UnsupportedOperation):
        three.call("rescale('t', 3)")


def test_rescale_of_partitions_without_files(scene):
    scene.make(
        columns="p INT, k INT, PRIMARY KEY (p, k) NOT ENFORCED", tail="PARTITIONED BY (p) WITH ('bucket' = '-2', "
        "'postpone.batch-write-fixed-bucket' = 'false')"
    )  # fmt: skip
    with pytest.raises(UnsupportedOperation, match="has no snapshot"):
        scene.call("rescale(table => 't', bucket_num => 3)")
    scene.put((1, 1))
    for selected in ("", ", partition => 'p=1'"):
        call = f"rescale(table => 't', bucket_num => 3{selected})"
        assert scene.call(call) == [{"result": True}]  # as Spark's procedure
        scene.wb.run("SET 'execution.runtime-mode' = 'batch'")
        with pytest.raises(UnsupportedOperation, match="no files in buckets"):
            scene.call(call)
        scene.wb.run("RESET 'execution.runtime-mode'")
    assert scene.table().latest_snapshot().id == 1


def test_mark_partition_done(scene):
    scene.make(columns="k INT, dt STRING, h INT", tail="PARTITIONED BY (dt, h)")
    scene.put((1, "a", 1), (2, "b", 2))
    assert scene.call("mark_partition_done('t', 'dt=a,h=1;dt=b,h=2')") == SUCCESS
    marks = sorted(p.parent.relative_to(scene.path()).as_posix() for p in scene.path().rglob("_SUCCESS"))
    assert marks == ["dt=a/h=1", "dt=b/h=2"]
    first = json.loads((scene.path() / "dt=a/h=1/_SUCCESS").read_text())
    scene.call("mark_partition_done(table => 't', partitions => 'dt=a,h=1')")
    again = json.loads((scene.path() / "dt=a/h=1/_SUCCESS").read_text())
    assert again["creationTime"] == first["creationTime"]
    assert again["modificationTime"] >= first["modificationTime"]
    assert scene.rows() == [(1, "a", 1), (2, "b", 2)]
    for partitions, error in (("x=1", ColumnNotFound), (";", BadOptionValue)):
        with pytest.raises(error):
            scene.call(f"mark_partition_done('t', '{partitions}')")


def test_partitions_with_null_expire_by_their_first_column(scene):
    """Flink's answers. A pattern needs all columns, also those that it does not name."""
    table = scene.make("n", "k INT, dt STRING, h INT", "PARTITIONED BY (dt, h)")
    scene.wb.run("INSERT INTO n VALUES (1, '1999-12-31', NULL), (2, NULL, 7), (3, '2999-12-31', 7)")
    scene.call("expire_partitions(table => 'n', expiration_time => '1 d', timestamp_pattern => '$dt')")
    assert len(table.to_arrow()) == 3
    scene.call("expire_partitions(table => 'n', expiration_time => '1 d')")
    assert sorted(table.to_arrow().column("k").to_pylist()) == [2, 3]


def test_alter_column_default_value(three):
    assert three.call("alter_column_default_value('t', 'v', 'none')") == SUCCESS
    import pyarrow as pa

    three.table().append(pa.table({"k": pa.array([4], pa.int32())}))
    assert three.rows()[-1] == (4, "none")
    with pytest.raises(ColumnNotFound):
        three.call("alter_column_default_value(table => 't', column => 'w', default_value => 'x')")


# -- all of them


@pytest.mark.parametrize("name", sampled(sorted(PROCEDURES), 3))
def test_the_table_must_be_there_and_names_must_be_known(three, name):
    procedure = PROCEDURES[name]
    samples = {"text": "'x'", "int": "1", "bool": "true", "time": "1", "span": "'1 h'"}
    needed = ", ".join(
        f"`{a.name}` => {samples[a.kind]}" for a in procedure.arguments if a.required and a.name != "table"
    )
    if procedure.arguments[0].name == "table" and name not in OF_SERVERS:
        with pytest.raises(TableNotFound):
            three.call(f"{name}(table => 'nope'{', ' + needed if needed else ''})")
        with pytest.raises(SqlAnalysisError, match="table"):
            three.call(f"{name}()")
    with pytest.raises(SqlAnalysisError, match="tabel"):
        three.call(f"{name}(tabel => 't')")
    many = ", ".join(["'t'"] * (len(procedure.arguments) + 9))
    with pytest.raises((SqlAnalysisError, BadOptionValue)):
        three.call(f"{name}({many})")
    assert (three.ids(), len(three.rows())) == ([1, 2, 3], 3)


@pytest.mark.parametrize("name", sampled(sorted(PROCEDURES), 3))
def test_numbers_booleans_and_times_are_checked(three, name):
    procedure = PROCEDURES[name]
    for argument in procedure.arguments:
        if argument.kind == "text":
            continue
        rest = {a.name: "1" if a.kind != "text" else "'t'" for a in procedure.arguments if a.required}
        rest[argument.name] = "'('" if argument.kind == "regex" else "'no such value'"
        with pytest.raises(BadOptionValue, match=argument.name):
            three.call(f"{name}({', '.join(f'`{k}` => {v}' for k, v in rest.items())})")
    assert three.ids() == [1, 2, 3]


def test_unknown_and_refused(three):
    with pytest.raises(ProcedureNotFound) as caught:
        three.call("compactt('t')")
    assert "compact" in caught.value.hint
    for name in UNSUPPORTED:
        with pytest.raises(UnsupportedOperation, match=name):
            three.call(f"{name}('t')")
    assert not set(UNSUPPORTED) & set(PROCEDURES)


def test_through_sql(tmp_path, spark):
    """The same door as users': `connect(...).sql("CALL ...")` gives a DataFrame."""
    wb = paimon_nb.connect(str(tmp_path / "w"), spark=spark)
    wb.sql("CREATE TABLE t (k INT, v STRING)")
    wb.sql("INSERT INTO t VALUES (2, 'b'), (1, 'a')")
    assert [r.asDict() for r in wb.sql("CALL sys.compact('t', 'order', 'k')").collect()] == SUCCESS
    assert wb.sql("CALL sys.rollback_to('t', 1)").collect()[0].asDict() == {
        "previous_snapshot_id": 2,
        "current_snapshot_id": 1,
    }
    wb.sql("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS k")
    [row] = wb.sql("SELECT * FROM t$statistics").collect()
    assert (row["snapshot_id"], row["mergedRecordCount"]) == (1, 2)
    assert sorted(tuple(r) for r in wb.sql("SELECT * FROM t").collect()) == [(1, "a"), (2, "b")]


def test_a_partition_of_an_analysis_of_columns_is_dropped(tmp_path, spark):
    """As Java's Spark does: statistics are of the whole table."""
    wb = paimon_nb.connect(str(tmp_path / "w"), spark=spark)
    wb.run("CREATE TABLE t (k INT, p INT) PARTITIONED BY (p); INSERT INTO t VALUES (1, 1), (2, 2), (3, 2)")
    [said] = wb.sql("ANALYZE TABLE t PARTITION (p = 2) COMPUTE STATISTICS FOR COLUMNS k").collect()
    [row] = wb.table("t").system("statistics").to_pylist()
    assert (row["snapshot_id"], row["mergedRecordCount"], "PARTITION ignored" in said["result"]) == (1, 3, True)


def test_merge_into(tmp_path, spark):
    wb = paimon_nb.connect(str(tmp_path / "w"), spark=spark)
    wb.run("""CREATE TABLE t (id INT, price INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
              CREATE TABLE s (order_id INT, price INT);
              INSERT INTO t VALUES (1, 10), (9, 90); INSERT INTO s VALUES (1, 5), (2, 6)""")

    def rows() -> list[tuple[int, int]]:
        return sorted(tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist())

    # Flink's overloads: 9 arguments update and insert, '*' by position; 6 delete; 7 update
    insert = "CALL sys.merge_into('default.t', '', '', 'default.s', 't.id = s.order_id', '', 'price = t.price + 20', '', '*')"
    result = wb.run(insert)
    assert (result.arrow.to_pylist(), result.snapshots, rows()) == (
        SUCCESS,
        [("default.t", 2)],
        [(1, 30), (2, 6), (9, 90)],
    )
    views = "CREATE TEMPORARY VIEW v AS SELECT * FROM s WHERE order_id = 2"
    for _ in range(2):  # the view is gone after the call
        wb.run(f"CALL sys.merge_into('t', 'x', '{views}', 'v', 'x.id = v.order_id', 'v.price > 5')")
    assert rows() == [(1, 30), (9, 90)]
    wb.run(
        "CALL sys.merge_into('t', 'x', '', 's', 'x.id = s.order_id', 'true', 'price = greatest(s.price, 7), id = x.id')"
    )
    assert rows() == [(1, 7), (9, 90)]
    wb.run("""CALL sys.merge_into(target_table => 't', source_table => 's', merge_condition => 't.id = s.order_id',
              not_matched_insert_values => 's.order_id, coalesce(s.price, 0) + 1', not_matched_insert_condition => 's.order_id > 1',
              not_matched_by_source_upsert_condition => 't.id > 5', not_matched_by_source_upsert_setting => 'price = -1')""")
    assert rows() == [(1, 7), (2, 7), (9, -1)]
    for bad in (
        "'t', '', '', 's', 't.id = s.order_id', '', 'price = 1', '', '', 's.price > 1'",
        "'t', '', '', 's', 't.id = s.order_id', '', '', '', 's.order_id'",
        "'t', '', '', 's', 't.id = s.order_id', '', '', '', 's.order_id, ''text'' '",
    ):
        with pytest.raises((SqlAnalysisError, SchemaMismatch)) as caught:
            wb.run(f"CALL sys.merge_into({bad})")
        assert caught.value.hint
    assert rows() == [(1, 7), (2, 7), (9, -1)]


def test_changes_leave_the_rows_of_a_fallback_branch_alone(scene, spark):
    """UPDATE and DELETE planned over the branch's files too, which are no files of the table that is changed."""
    scene.make(columns="k INT, p INT", tail="PARTITIONED BY (p)")
    scene.put((1, 1), (2, 1))
    scene.call("create_branch('t', 'old')")
    scene.put((9, 2), name="t$branch_old")
    scene.wb.run("ALTER TABLE t SET ('scan.fallback-branch' = 'old')")
    wb = paimon_nb.connect(str(scene.folder / "w"), spark=spark)
    assert scene.rows() == [(1, 1), (2, 1), (9, 2)]
    wb.run("DELETE FROM t WHERE k IN (1, 9)")
    assert (scene.rows(), scene.rows("t$branch_old")) == ([(2, 1), (9, 2)], [(9, 2)])


@pytest.mark.parametrize("strategy", ["order", "zorder", "hilbert"])
def test_sorting_as_spark_tasks(scene, spark, strategy):
    """One task a partition; the same files as in this process."""
    from paimon_nb.spark.write.compact import compact
    from paimon_nb.table.write.cluster import Order

    for name in ("here", "there"):
        scene.make(name, columns="k INT, j INT, p INT", tail="PARTITIONED BY (p)")
        for start in (0, 1):
            scene.put(*((37 * i % 100, 91 * i % 50, i % 3) for i in range(start, 90, 2)), name=name)
    tables = [scene.table(name) for name in ("here", "there")]
    order = Order.of(tables[0].store, strategy, ["k", "j"])
    assert compact(tables[0], order=order).inline
    done = compact(tables[1], spark, order=order, inline_bytes=0)
    assert (done.inline, done.tasks, done.snapshots) == (False, 3, (3,))
    # Which partition comes first is left to the tasks; within one the order is the file's.
    here, there = (sorted(t.to_arrow().to_pylist(), key=lambda r: r["p"]) for t in tables)
    assert here == there
    assert sorted(map(str, here)) == sorted(str({"k": 37 * i % 100, "j": 91 * i % 50, "p": i % 3}) for i in range(90))
    if strategy == "order":
        for p in range(3):
            mine = [(r["k"], r["j"]) for r in here if r["p"] == p]
            assert mine == sorted(mine)


def test_every_procedure_was_called():
    """Runs last: a procedure without a test of its outcome fails here."""
    if len(CALLED) > 5:  # the whole file ran, not a single test
        assert set(PROCEDURES) - CALLED <= OF_SERVERS | ELSEWHERE
