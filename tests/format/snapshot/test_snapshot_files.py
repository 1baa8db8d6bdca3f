"""Snapshot files: golden text, versions, broken ones; the directory, its hints, and who wins a publish."""

import json
from dataclasses import replace

import pytest

from paimon_nb.base.errors import CorruptFile, NewerFormat, NotWritable, SnapshotNotFound
from paimon_nb.format.snapshot import Published, Snapshot, SnapshotDirectory
from paimon_nb.fs.local import LocalFileIO
from paimon_nb.fs.memory import MemoryFileIO

JAVA = """{
  "version" : 3,
  "id" : 3,
  "schemaId" : 0,
  "baseManifestList" : "manifest-list-u-0",
  "baseManifestListSize" : 1016,
  "deltaManifestList" : "manifest-list-u-1",
  "deltaManifestListSize" : 989,
  "changelogManifestList" : null,
  "commitUser" : "u",
  "commitIdentifier" : 9223372036854775807,
  "commitKind" : "APPEND",
  "timeMillis" : 1795233898359,
  "logOffsets" : { },
  "totalRecordCount" : 4,
  "deltaRecordCount" : -1,
  "changelogRecordCount" : 0,
  "watermark" : -9223372036854775808,
  "nextRowId" : 0
}"""
PATH = "t/snapshot/snapshot-3"
SNAPSHOT = Snapshot.from_json(JAVA, PATH)


def node(**changes):
    out = json.loads(JAVA)
    out.update(changes)
    return json.dumps({k: v for k, v in out.items() if v is not ...})


def test_javas_text_is_kept_byte_for_byte():
    assert SNAPSHOT.to_json() == JAVA.encode()


def test_every_field_survives():
    full = replace(
        SNAPSHOT,
        changelog_manifest_list="manifest-list-u-2",
        changelog_manifest_list_size=5,
        index_manifest="index-manifest-u-0",
        statistics="stat-u-0",
        properties={"a": "b"},
        log_offsets={"0": 7},
        uuid="x",
        operation="MERGE",
        writer_version="python-2.1.0",
    )
    assert Snapshot.from_json(full.to_json(), PATH) == full


def test_what_is_unknown_or_absent_is_no_obstacle():
    bare = node(
        **dict.fromkeys(("changelogManifestList", "logOffsets", "watermark", "nextRowId", "baseManifestListSize"), ...),
        future=[1],
    )
    expected = replace(SNAPSHOT, log_offsets=None, watermark=None, next_row_id=None, base_manifest_list_size=None)
    assert Snapshot.from_json(bare, PATH) == expected


def test_a_newer_version_is_refused():
    with pytest.raises(NewerFormat, match="version 4 is newer than 3"):
        Snapshot.from_json(node(version=4), PATH)


BROKEN = {
    "no JSON": "}",
    "text": '"x"',
    "other id": node(id=4),
    "no id": node(id=...),
    "negative schema": node(schemaId=-1),
    "negative size": node(baseManifestListSize=-5),
    "list is a number": node(baseManifestList=7),
    "list is a path": node(baseManifestList="../../etc/passwd"),
    "list is empty": node(deltaManifestList=""),
    "no delta": node(deltaManifestList=...),
    "unknown kind": node(commitKind="APPENDED"),
    "kind is null": node(commitKind=None),
    "count is text": node(totalRecordCount="4"),
    "count is a fraction": node(totalRecordCount=4.5),
    "properties of lists": node(properties={"a": [1]}),
    "user is a number": node(commitUser=5),
    "version is text": node(version="3"),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_files(text):
    with pytest.raises(CorruptFile) as caught:
        Snapshot.from_json(text, PATH)
    assert caught.value.path == PATH


@pytest.fixture
def snapshots(tmp_path):
    directory = SnapshotDirectory(LocalFileIO(), str(tmp_path))
    for n in (8, 9, 10, 11):
        assert directory.publish(replace(SNAPSHOT, id=n)) is Published.WON
    return directory


def test_the_directory_lists_numbers_only(snapshots, tmp_path):
    for name in (".snapshot-12.u.tmp", "snapshot-", "snapshot-x", "snapshot-12.crc", "LATEST"):
        (tmp_path / "snapshot" / name).write_text("junk")
    assert snapshots.ids() == [8, 9, 10, 11]
    assert [s.id for s in snapshots.all()] == [8, 9, 10, 11]
    with pytest.raises(SnapshotNotFound, match="8 to 11"):
        snapshots.get(12)


@pytest.mark.parametrize(
    "hint", [None, "11", " 11\n", "9", "1", "99", "-1", "0", "", "junk", "1" * 40, "\u0661", "11\0"]
)
def test_hints_may_be_anything(snapshots, tmp_path, hint):
    for name in ("LATEST", "EARLIEST"):
        if hint is not None:
            (tmp_path / "snapshot" / name).write_text(hint)
    assert snapshots.latest_id() == 11
    # A stale EARLIEST is believed while its snapshot stands, as Java does.
    assert snapshots.earliest_id() in ({8, int(hint)} if hint and hint.strip() in ("9", "11") else {8})


def test_a_hint_may_be_a_directory(snapshots, tmp_path):
    (tmp_path / "snapshot" / "LATEST").mkdir()
    snapshots.write_latest_hint(11)
    assert snapshots.latest_id() == 11


def test_an_empty_directory(tmp_path):
    directory = SnapshotDirectory(LocalFileIO(), str(tmp_path))
    assert (directory.latest_id(), directory.earliest_id(), directory.latest(), directory.ids()) == (
        None,
        None,
        None,
        [],
    )


def test_long_lived_changelogs_are_the_same_under_another_name(tmp_path):
    directory = SnapshotDirectory(LocalFileIO(), str(tmp_path), "changelog")
    assert directory.put(SNAPSHOT)
    assert (tmp_path / "changelog" / "changelog-3").read_bytes() == JAVA.encode()
    assert directory.get(3) == SNAPSHOT


class LosesReplies(MemoryFileIO):
    """Publishes, and then fails to say so."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def put_if_absent(self, path, data):
        super().put_if_absent(path, data)
        raise self.error


@pytest.mark.parametrize("error", [OSError("timeout"), NotWritable("refused")], ids=["os", "store"])
def test_a_lost_reply_is_asked_of_the_file(error):
    directory = SnapshotDirectory(LosesReplies(error), "memory:/t")
    assert directory.publish(SNAPSHOT) is Published.ALREADY_PUBLISHED
    with pytest.raises(type(error)):
        directory.publish(replace(SNAPSHOT, commit_user="other"))


def test_only_the_first_wins():
    directory = SnapshotDirectory(MemoryFileIO(), "memory:/t")
    assert directory.publish(SNAPSHOT) is Published.WON
    assert directory.publish(SNAPSHOT) is Published.ALREADY_PUBLISHED
    for other in (
        {"commit_user": "v"},
        {"commit_identifier": 1},
        {"commit_kind": "COMPACT"},
        {"base_manifest_list": "b"},
    ):
        assert directory.publish(replace(SNAPSHOT, **other)) is Published.LOST
    assert SnapshotDirectory(directory.fs, "memory:/t").get(3) == SNAPSHOT


def test_a_broken_winner_is_not_ours():
    directory = SnapshotDirectory(MemoryFileIO(), "memory:/t")
    directory.fs.put_if_absent(directory.path(3), b"{")
    assert directory.publish(SNAPSHOT) is Published.LOST
