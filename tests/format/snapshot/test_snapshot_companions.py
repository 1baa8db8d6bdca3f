"""What stands beside snapshots: tags, consumers, branches, statistics."""

import datetime as dt
import json

import pytest

from paimon_nb.base.errors import (
    AlreadyExists,
    BranchNotFound,
    ConsumerNotFound,
    CorruptFile,
    InvalidName,
    TagNotFound,
)
from paimon_nb.format.snapshot import (
    BranchDirectory,
    ColumnStatistics,
    ConsumerDirectory,
    Snapshot,
    Statistics,
    TagDirectory,
)
from paimon_nb.fs.local import LocalFileIO

SNAPSHOT = Snapshot(
    id=3,
    schema_id=0,
    base_manifest_list="b",
    delta_manifest_list="d",
    commit_user="u",
    commit_identifier=1,
    commit_kind="APPEND",
    time_ms=5,
)
BAD_NAMES = ["", " ", ".", "..", "a/b", "a\\b", "a\0b", "a\nb", "x" * 300]


@pytest.fixture
def tags(tmp_path):
    return TagDirectory(LocalFileIO(), str(tmp_path))


def put(tags, **fields):
    node = json.loads(SNAPSHOT.to_json()) | fields
    tags.fs.overwrite(tags.path("t"), json.dumps(node).encode())


def test_a_tag_without_retention_is_a_plain_snapshot(tags):
    tags.create("t", Snapshot.from_json(SNAPSHOT.to_json(), "x"))
    assert tags.fs.read(tags.path("t")) == SNAPSHOT.to_json()


@pytest.mark.parametrize(
    ("timestamp", "written"),
    [
        (dt.datetime(2024, 6, 1, 10, 0), "[ 2024, 6, 1, 10, 0 ]"),
        (dt.datetime(2024, 6, 1, 10, 0, 7), "[ 2024, 6, 1, 10, 0, 7 ]"),
        (dt.datetime(2024, 6, 1, 10, 0, 0, 5), "[ 2024, 6, 1, 10, 0, 0, 5000 ]"),
    ],
)
def test_times_are_written_as_jackson_does(tags, timestamp, written):
    tags.create("t", SNAPSHOT, timestamp, 86_400_001)
    text = tags.fs.read(tags.path("t")).decode()
    assert text.endswith(f',\n  "tagCreateTime" : {written},\n  "tagTimeRetained" : 86400.001000000\n}}')
    tag = tags.get("t")
    assert (tag.create_time, tag.retained_ms, tag.snapshot.id) == (timestamp, 86_400_001, 3)


@pytest.mark.parametrize(
    ("time", "span", "timestamp", "ms"),
    [
        (None, None, None, None),
        ([2024, 6, 1, 10, 0, 1, 444354600], 5, dt.datetime(2024, 6, 1, 10, 0, 1, 444354), 5000),
        ("2024-06-01T10:00:01.444354600", "PT1H0.5S", dt.datetime(2024, 6, 1, 10, 0, 1, 444354), 3_600_500),
        ("2024-06-01T10:00", 1.5, dt.datetime(2024, 6, 1, 10, 0), 1500),
    ],
)
def test_both_spellings_of_times_are_read(tags, time, span, timestamp, ms):
    put(tags, tagCreateTime=time, tagTimeRetained=span)
    assert (tags.get("t").create_time, tags.get("t").retained_ms) == (timestamp, ms)


@pytest.mark.parametrize(
    "time", [5, "yesterday", [2024, 13, 1, 0, 0], ["a"], {}, [1] * 9, [2024, 1, 1, 0, 0, 0, -1], True]
)
def test_a_broken_time(tags, time):
    put(tags, tagCreateTime=time)
    with pytest.raises(CorruptFile, match="tagCreateTime"):
        tags.get("t")


@pytest.mark.parametrize("span", ["1 d", "PT", -1, True, [1], 1e300])
def test_a_broken_span(tags, span):
    put(tags, tagTimeRetained=span)
    with pytest.raises(CorruptFile, match="tagTimeRetained"):
        tags.get("t")


def test_tags_come_and_go(tags):
    for name in ("b", "a", "größe 1", "2024-01-01"):
        tags.create(name, SNAPSHOT)
    (tags.fs.make_dirs(tags.root + "/tag-success-file"))
    with pytest.raises(AlreadyExists):
        tags.create("a", SNAPSHOT)
    tags.create("a", SNAPSHOT, retained_ms=1, replace=True)
    with pytest.raises(AlreadyExists):
        tags.rename("a", "b")
    tags.rename("a", "c")
    tags.delete("b")
    assert tags.names() == ["2024-01-01", "c", "größe 1"]
    assert [t.retained_ms for t in tags.all()] == [None, 1, None]
    for missing in (tags.get, tags.delete, lambda n: tags.rename(n, "z")):
        with pytest.raises(TagNotFound):
            missing("a")


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_are_never_paths(tmp_path, name):
    fs, root = LocalFileIO(), str(tmp_path)
    for use in (
        lambda: TagDirectory(fs, root).create(name, SNAPSHOT),
        lambda: ConsumerDirectory(fs, root).set(name, 1),
        lambda: BranchDirectory(fs, root).root(name),
    ):
        with pytest.raises(InvalidName):
            use()
    assert list(tmp_path.iterdir()) == []


def test_consumers(tmp_path):
    consumers = ConsumerDirectory(LocalFileIO(), str(tmp_path))
    assert consumers.min_next_snapshot() is None
    consumers.set("a", 7)
    consumers.set("b", 5)
    consumers.set("b", 6)
    assert (tmp_path / "consumer" / "consumer-b").read_text() == '{\n  "nextSnapshot" : 6\n}'
    assert (consumers.ids(), consumers.next_snapshot("a"), consumers.min_next_snapshot()) == (["a", "b"], 7, 6)
    assert consumers.delete("b")
    assert not consumers.delete("b")
    with pytest.raises(ConsumerNotFound):
        consumers.next_snapshot("b")
    (tmp_path / "consumer" / "consumer-a").write_text('{"nextSn')
    with pytest.raises(CorruptFile):
        consumers.min_next_snapshot()


def test_branches(tmp_path):
    branches = BranchDirectory(LocalFileIO(), str(tmp_path))
    (tmp_path / "branch" / "branch-dev" / "schema").mkdir(parents=True)
    assert branches.names() == []  # being made: no schema yet
    (tmp_path / "branch" / "branch-dev" / "schema" / "schema-0").write_text("{}")
    (tmp_path / "branch" / "junk").write_text("")
    assert branches.names() == ["dev"]
    assert branches.root("main") == str(tmp_path)
    assert branches.need("dev") == str(tmp_path / "branch" / "branch-dev")
    assert list(branches.created_ms()) == ["dev"]
    with pytest.raises(BranchNotFound, match="did you mean 'dev'"):
        branches.need("devv")
    assert branches.check_new("v1") == "v1"
    for name in ("main", "123", "", "a/b"):
        with pytest.raises(InvalidName):
            branches.check_new(name)


def test_statistics():
    column = ColumnStatistics(0, 10, "1", "9", 0, 4, 4)
    full = Statistics(1, 0, 3, 99, {"a": column, "b": ColumnStatistics(1)})
    assert Statistics.from_json(full.to_json(), "s") == full
    assert json.loads(full.to_json())["colStats"]["b"] == {"colId": 1}


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"snapshotId":1,"schemaId":0,"colStats":[]}',
        '{"snapshotId":1,"schemaId":0,"colStats":{"a":1}}',
        '{"snapshotId":1,"schemaId":0,"colStats":{"a":{}}}',
        '{"snapshotId":1,"schemaId":0,"colStats":{"a":{"colId":0,"min":1}}}',
        '{"snapshotId":1,"schemaId":0,"colStats":{"a":{"colId":true}}}',
    ],
)
def test_broken_statistics(text):
    with pytest.raises(CorruptFile):
        Statistics.from_json(text, "s")
