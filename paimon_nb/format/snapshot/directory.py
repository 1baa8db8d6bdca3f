"""Snapshots: the file of one snapshot, and the directory of snapshots (or long-lived changelogs) with its hints. docs/spec/format.md sections 2 and 3."""

from __future__ import annotations

import hashlib
import posixpath
import re
import secrets
import time
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from paimon_nb.base.errors import (
    CorruptFile,
    MissingFile,
    ReadError,
    SnapshotNotFound,
    StoreError,
    TableReplaced,
)
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.metadata_json import JsonObject, java_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paimon_nb.format.snapshot.partition_statistics import PartitionStatistics
    from paimon_nb.fs import FileIO

NEWEST_VERSION = 3
FIRST_ID = 1
"""Of the first snapshot of a table."""
BATCH_IDENTIFIER = 9223372036854775807
"""`commitIdentifier` of batch writes."""
NO_WATERMARK = -9223372036854775808
COMMIT_KINDS = frozenset({"APPEND", "COMPACT", "OVERWRITE", "ANALYZE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One version of a table's content."""

    id: int
    """Equals the number in the file name."""
    schema_id: int
    """The latest schema at commit time; files may have older ones."""
    base_manifest_list: str
    """All entries before this commit."""
    delta_manifest_list: str
    """The entries of this commit."""
    changelog_manifest_list: str | None = None
    index_manifest: str | None = None
    """The complete list of live index files, not a delta."""
    commit_user: str
    commit_identifier: int
    commit_kind: str
    """APPEND, COMPACT, OVERWRITE or ANALYZE."""
    time_ms: int
    total_record_count: int | None = None
    """Rows of all live files, unmerged."""
    delta_record_count: int | None = None
    changelog_record_count: int | None = None
    watermark: int | None = None
    statistics: str | None = None
    """File name in `statistics/`."""
    properties: Mapping[str, str] | None = None
    next_row_id: int | None = None
    base_manifest_list_size: int | None = None
    delta_manifest_list_size: int | None = None
    changelog_manifest_list_size: int | None = None
    log_offsets: Mapping[str, int] | None = None
    """Offsets of a log system, up to 1.3; preserved unchanged."""
    version: int = NEWEST_VERSION
    uuid: str | None = None
    operation: str | None = None
    writer_version: str | None = None

    @staticmethod
    def from_json(data: bytes | str, path: str) -> Snapshot:
        """Parse a snapshot, tag or long-lived changelog file. Raises `CorruptFile`, `NewerFormat`."""
        node = JsonObject(data, path)
        version = node.version(NEWEST_VERSION, "snapshot")
        snapshot_id = node.natural("id")
        prefix, _, number = path.rsplit("/", 1)[-1].rpartition("-")
        if prefix in ("snapshot", "changelog") and number != str(snapshot_id):
            raise CorruptFile(path, f"it contains snapshot {snapshot_id}")
        kind = node.get("commitKind", str)
        if kind not in COMMIT_KINDS:
            raise CorruptFile(path, f"unknown commit kind {kind!r}")
        return Snapshot(
            id=snapshot_id,
            schema_id=node.natural("schemaId"),
            base_manifest_list=_checked_file_name(node, "baseManifestList"),
            delta_manifest_list=_checked_file_name(node, "deltaManifestList"),
            changelog_manifest_list=_file_name_or_none(node, "changelogManifestList"),
            index_manifest=_file_name_or_none(node, "indexManifest"),
            commit_user=node.get("commitUser", str),
            commit_identifier=node.get("commitIdentifier", int),
            commit_kind=kind,
            time_ms=node.natural("timeMillis"),
            total_record_count=node.get("totalRecordCount", int, None),
            delta_record_count=node.get("deltaRecordCount", int, None),
            changelog_record_count=node.get("changelogRecordCount", int, None),
            watermark=node.get("watermark", int, None),
            statistics=_file_name_or_none(node, "statistics"),
            properties=node.texts("properties") or None,
            next_row_id=node.get("nextRowId", int, None),
            base_manifest_list_size=node.natural("baseManifestListSize", None),
            delta_manifest_list_size=node.natural("deltaManifestListSize", None),
            changelog_manifest_list_size=node.natural("changelogManifestListSize", None),
            log_offsets={k: v for k, v in node.get("logOffsets", dict, {}).items() if type(v) is int} or None,
            version=version,
            uuid=node.get("uuid", str, None),
            operation=node.get("operation", str, None),
            writer_version=node.get("writerVersion", str, None),
        )

    @property
    def commit_uuid(self) -> UUID | None:
        """In the names of the metadata files that the commit wrote (`manifest-list-<UUID>-<number>`); None for other names."""
        try:
            return UUID(self.delta_manifest_list.removeprefix("manifest-list-")[:36])
        except ValueError:
            return None

    @property
    def is_known_sound(self) -> bool:
        """Whether this process knows that the snapshot belongs to the history of its table."""
        return self.delta_manifest_list in _known

    def remember_sound(self) -> None:
        """This process knows it from now on."""
        if len(_known) >= _KNOWN_MAX:
            _known.clear()
        _known.add(self.delta_manifest_list)

    def forget_sound(self) -> None:
        """This process looks again: a rollback may have removed what the snapshot was built on."""
        _known.discard(self.delta_manifest_list)

    def to_node(self) -> dict[str, Any]:
        """The JSON object, in Java's order; absent fields as in release 1.3."""
        node: dict[str, Any] = {"version": self.version}

        def put_unless_none(key: str, value: Any) -> None:
            if value is not None:
                node[key] = value

        put_unless_none("uuid", self.uuid)
        put_unless_none("id", self.id)
        put_unless_none("schemaId", self.schema_id)
        put_unless_none("baseManifestList", self.base_manifest_list)
        put_unless_none("baseManifestListSize", self.base_manifest_list_size)
        put_unless_none("deltaManifestList", self.delta_manifest_list)
        put_unless_none("deltaManifestListSize", self.delta_manifest_list_size)
        node["changelogManifestList"] = self.changelog_manifest_list
        put_unless_none("changelogManifestListSize", self.changelog_manifest_list_size)
        put_unless_none("indexManifest", self.index_manifest)
        put_unless_none("commitUser", self.commit_user)
        put_unless_none("commitIdentifier", self.commit_identifier)
        put_unless_none("commitKind", self.commit_kind)
        put_unless_none("timeMillis", self.time_ms)
        node["logOffsets"] = dict(self.log_offsets or {})
        put_unless_none("totalRecordCount", self.total_record_count)
        put_unless_none("deltaRecordCount", self.delta_record_count)
        put_unless_none("changelogRecordCount", self.changelog_record_count)
        put_unless_none("watermark", self.watermark)
        put_unless_none("statistics", self.statistics)
        put_unless_none("properties", dict(self.properties) if self.properties else None)
        put_unless_none("nextRowId", self.next_row_id)
        put_unless_none("operation", self.operation)
        put_unless_none("writerVersion", self.writer_version)
        return node

    def to_json(self) -> bytes:
        """The file's bytes."""
        return java_json(self.to_node())


def _checked_file_name(node: JsonObject, key: str) -> str:
    name = node.get(key, str)
    # A metadata file must not refer to other places in the file system.
    if not name or "/" in name or "\\" in name or "\0" in name or name in (".", ".."):
        raise CorruptFile(node.path, f"field {key!r} is not a file name: {name!r:.80}")
    return name


def _file_name_or_none(node: JsonObject, key: str) -> str | None:
    return None if node.get(key, str, None) is None else _checked_file_name(node, key)


LATEST, EARLIEST = "LATEST", "EARLIEST"
_TRIES = 3
_PAUSE_S = 0.05


def read_hint(fs: FileIO, directory: str, name: str) -> int | None:
    """The number in a hint file; None if it is missing or invalid, and the caller must list the directory."""
    try:
        return _number(fs.read(posixpath.join(directory, name)))
    except (MissingFile, StoreError, OSError):
        return None


def _number(hint: bytes | None) -> int | None:
    text = (hint or b"").decode("ascii", "replace").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def write_hint(fs: FileIO, directory: str, name: str, value: int) -> None:
    """Replace a hint file. Errors are ignored: the snapshot is published already, and readers do not depend on hints."""
    for attempt in range(_TRIES):
        try:
            fs.overwrite(posixpath.join(directory, name), str(value).encode(), durable=False)
            return
        except TableReplaced:
            return  # the hint would be that of another table
        except (MissingFile, StoreError, OSError):
            time.sleep(_PAUSE_S * attempt)


class Published(Enum):
    """The result of an attempt to publish."""

    WON = "won"
    ALREADY_PUBLISHED = "already published"
    """The reply was lost, but the published file is the one we wrote."""
    LOST = "lost"


_UUID_VERSION = 8
_BRANCH_BITS, _BASE_BITS, _RANDOM_BITS = 16, 44, 62


def commit_uuid(branch: str, base: Snapshot | None) -> UUID:
    """A unique id for the names of a commit's metadata files, which `continues` reads.

    Snapshot files name no predecessor, and an id alone is not enough: a rollback may have removed another snapshot of that id. So
    half of this UUID is random (version 8 of RFC 9562 leaves that open), the rest are digests of the branch and of `base`.
    """
    digests = _digests(branch, base)
    high, low = digests >> 12, digests & 0xFFF  # 48 and 12 bits, around the version
    number = (high << 80) | (_UUID_VERSION << 76) | (low << 64) | (0b10 << 62) | secrets.randbits(_RANDOM_BITS)
    return UUID(int=number)


def continues(branch: str, snapshot: Snapshot, previous: Snapshot) -> bool | None:
    """Whether `snapshot` was built on `previous`; None if its names do not say: of another engine, branch or older release."""
    found = snapshot.commit_uuid
    if found is None or found.version != _UUID_VERSION:
        return None
    digests = ((found.int >> 80) << 12) | ((found.int >> 64) & 0xFFF)
    if digests >> _BASE_BITS != _digest(branch, _BRANCH_BITS):
        return None
    return digests == _digests(branch, previous)


def _digests(branch: str, base: Snapshot | None) -> int:
    named = f"{base.id} {base.base_manifest_list} {base.delta_manifest_list}" if base is not None else ""
    return (_digest(branch, _BRANCH_BITS) << _BASE_BITS) | _digest(named, _BASE_BITS)


def _digest(text: str, bits: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> (64 - bits)


_KNOWN_MAX = 4096
_READ_MAX = 64
"""Snapshots that an open directory keeps in memory."""
_known: set[str] = set()
"""Manifest lists of snapshots that belong to the history of their tables. Names are unique."""


def same_commit(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots are the same commit: same user, identifier, kind and manifest lists."""
    return (
        one.commit_user == other.commit_user
        and one.commit_identifier == other.commit_identifier
        and one.commit_kind == other.commit_kind
        and one.base_manifest_list == other.base_manifest_list
        and one.delta_manifest_list == other.delta_manifest_list
    )


class SnapshotDirectory:
    """`<branch root>/snapshot/snapshot-<n>`, or `changelog/changelog-<n>` for long-lived changelogs. Ids are dense."""

    def __init__(self, fs: FileIO, branch_root: str, kind: str = "snapshot") -> None:
        self.fs, self.kind = fs, kind
        self.root = posixpath.join(branch_root, kind)
        self._name = re.compile(rf"{kind}-(\d{{1,18}})")
        self._read: dict[int, Snapshot] = {}
        self._last: tuple[bytes, Snapshot] | None = None
        self._newest_seen: int | None = None
        self._below: tuple[int, bytes | None] = 0, None
        """The file before the newest one, when that was found: (id of the newest one, content)."""
        self._oldest_seen: int | None = None
        self.oldest_known: Snapshot | None = None
        """The snapshot that was the oldest at the last look."""
        self._hint_ahead: int | None = None
        """Of LATEST, read when the table was opened: for the first look."""

    def begin_with(self, other: SnapshotDirectory) -> None:
        """Look first where the newest and the oldest snapshot were for `other`, which is the same directory."""
        self._newest_seen, self._oldest_seen = other._newest_seen, other._oldest_seen
        self._hint_ahead = other._hint_ahead

    def read_hint_ahead(self) -> None:
        """Read LATEST beside other files, so that the first look for the newest snapshot does not begin with it."""
        self._hint_ahead = read_hint(self.fs, self.root, LATEST)

    def path(self, snapshot_id: int) -> str:
        return posixpath.join(self.root, f"{self.kind}-{snapshot_id}")

    def ids(self) -> list[int]:
        """All ids, by listing; ascending."""
        matches = (self._name.fullmatch(name) for name in self.fs.names(self.root))
        return sorted(int(m[1]) for m in matches if m)

    def latest_id(self) -> int | None:
        """The newest id. A hint is used only if its snapshot exists and the next one does not."""
        found = self._find_newest()
        return found[0] if isinstance(found, tuple) else found

    def _find_newest(self) -> tuple[int, bytes] | int | None:
        """The newest id, with its file if that was read on the way.

        Two hints are tried: the id that was the newest before, and the file LATEST, which also shows a gap behind
        that id. The reads of one attempt do not wait for one another.
        """
        try:
            if found := self._newest_by_hints():
                self._newest_seen = found[0]
                return found
        except (OSError, StoreError):
            pass  # an unreadable hint is as good as none
        ids = self.ids()
        self._newest_seen = ids[-1] if ids else None
        return self._newest_seen

    def _newest_by_hints(self) -> tuple[int, bytes] | None:
        latest, before = posixpath.join(self.root, LATEST), self._newest_seen
        ahead, self._hint_ahead = self._hint_ahead, None
        if before is None and ahead is not None:
            found = self._newest_if(ahead)
            if found is not None:
                return found  # else others have committed or rolled back since
        if before is None:
            hint = read_hint(self.fs, self.root, LATEST)
        else:
            text, file, following = self.fs.read_each([latest, self.path(before), self.path(before + 1)])
            hint = _number(text)
            if hint is not None and hint <= before and file is not None:
                if following is None:
                    return before, file
                hint = before + 1  # published, and its hint is not written yet
        return None if hint is None else self._newest_if(hint)

    def _newest_if(self, hint: int) -> tuple[int, bytes] | None:
        """The snapshot with this id and its file, if it is the newest one."""
        if hint < FIRST_ID:
            return None
        file, following, below = self.fs.read_each([self.path(hint), self.path(hint + 1), self.path(hint - 1)])
        self._below = (hint, below)
        return (hint, file) if file is not None and following is None else None

    def earliest_id(self) -> int | None:
        """The oldest id. The hint is used only if its snapshot exists; without a hint, no id is below the first one."""
        found = self._find_oldest()
        return found[0] if isinstance(found, tuple) else found

    def earliest(self) -> Snapshot | None:
        """The oldest snapshot; None for a table without one, or if it expired in the meantime."""
        found = self._find_oldest()
        try:
            if isinstance(found, tuple):
                self.oldest_known = Snapshot.from_json(found[1], self.path(found[0]))
            else:
                self.oldest_known = None if found is None else self.get(found)
        except (SnapshotNotFound, MissingFile):
            self.oldest_known = None
        return self.oldest_known

    def _find_oldest(self) -> tuple[int, bytes] | int | None:
        """The oldest id, with its file if that was read on the way. The id that was the oldest before is a hint, too."""
        before = self._oldest_seen or FIRST_ID
        earliest = posixpath.join(self.root, EARLIEST)
        paths = list(dict.fromkeys((earliest, self.path(FIRST_ID), self.path(before))))
        try:
            found = dict(zip(paths, self.fs.read_each(paths), strict=True))
            first, file = found[self.path(FIRST_ID)], found[self.path(before)]
            hint = _number(found[earliest])
            if first is not None and hint in (None, FIRST_ID):
                return FIRST_ID, first
            if hint is not None and hint != before:
                (file,) = self.fs.read_each([self.path(hint)])
            if hint is not None and file is not None:
                self._oldest_seen = hint
                return hint, file
        except (OSError, StoreError):
            pass  # an unreadable hint is as good as none
        ids = self.ids()
        return ids[0] if ids else None

    def latest(self) -> Snapshot | None:
        """The newest snapshot, or None for a table without one. Read again each time."""
        for _ in range(_TRIES):
            self.invalidate_cache()
            newest = self._find_newest()
            if newest is None:
                return None
            if isinstance(newest, tuple):
                snapshot_id, data = newest
                return self._keep(snapshot_id, self._cached_snapshot(data, self.path(snapshot_id)))
            try:
                return self.get(newest)
            except (SnapshotNotFound, MissingFile):
                continue  # expired or rolled back between the two reads
        raise ReadError(f"{self.root}: the latest {self.kind} disappeared repeatedly", hint="try again", path=self.root)

    def get(self, snapshot_id: int) -> Snapshot:
        """The snapshot with this id. Raises `SnapshotNotFound` with the available range, `CorruptFile`."""
        held = self._read.get(snapshot_id)
        if held is not None:
            return held
        path = self.path(snapshot_id)
        try:
            snapshot = self._cached_snapshot(self.fs.read(path), path)
        except MissingFile:
            ids = self.ids()
            available = f"available: {self.kind}s {ids[0]} to {ids[-1]}" if ids else f"the table has no {self.kind}"
            raise SnapshotNotFound(
                f"{self.kind} {snapshot_id} does not exist",
                hint=available + "; create a tag to keep a snapshot",
                wanted=snapshot_id,
            ) from None
        return self._keep(snapshot_id, snapshot)

    def get_again(self, snapshot_id: int) -> Snapshot | None:
        """The snapshot as it is stored now: after a rollback another one may have its id. None if there is none."""
        self._read.pop(snapshot_id, None)
        path = self.path(snapshot_id)
        try:
            return self._keep(snapshot_id, self._cached_snapshot(self.fs.read(path), path))
        except MissingFile:
            return None

    def _keep(self, snapshot_id: int, snapshot: Snapshot) -> Snapshot:
        if len(self._read) >= _READ_MAX:  # a stream reads one after the other and never looks for the newest
            self._read.clear()
        self._read[snapshot_id] = snapshot
        return snapshot

    def newest_before(self, snapshot_id: int) -> Snapshot | None:
        """The newest snapshot with a smaller id; None if there is none."""
        if snapshot_id <= FIRST_ID:
            return None
        (newest, below), self._below = self._below, (0, None)
        if newest == snapshot_id and below is not None:
            return Snapshot.from_json(below, self.path(snapshot_id - 1))
        for _ in range(_TRIES):
            found = self.get_again(snapshot_id - 1)
            older = [] if found is not None else [i for i in self.ids() if i < snapshot_id]
            if not older or (found := self.get_again(older[-1])) is not None:
                return found
        return None  # they expire one after the other

    def _cached_snapshot(self, data: bytes, path: str) -> Snapshot:
        """Parse `data`, or return the cached snapshot: each access to a table reads the newest file, which is mostly
        unchanged.
        """
        last = self._last
        if last is None or last[0] != data:
            last = self._last = (data, Snapshot.from_json(data, path))
        return last[1]

    def all(self, last: int | None = None) -> list[Snapshot]:
        """All existing snapshots, or the newest `last` of them, ascending."""
        ids = self.ids()
        return self.get_each(ids if last is None else ids[-last:])

    def get_each(self, ids: Iterable[int]) -> list[Snapshot]:
        """Those of the snapshots that exist, in order, read side by side."""
        ids = list(ids)
        found = dict(self._read)
        missing = [i for i in ids if i not in found]
        for snapshot_id, data in zip(missing, self.fs.read_each([self.path(i) for i in missing]), strict=True):
            if data is not None:  # else it expired in the meantime
                found[snapshot_id] = self._keep(snapshot_id, Snapshot.from_json(data, self.path(snapshot_id)))
        return [found[i] for i in ids if i in found]

    def publish(
        self,
        snapshot: Snapshot,
        named: Iterable[str] = (),
        *,
        base: Snapshot | None = None,
        statistics: Sequence[PartitionStatistics] = (),
    ) -> Published:
        """Publish `snapshot` if no other commit has published its id.

        Only `put_if_absent` decides. `exists()` must not: two processes can both see that the file is absent. The caller looks
        afterwards whether its id was free because others removed snapshots (`was_overtaken`).

        Args:
            snapshot: the snapshot.
            named: paths of files that it references and that may not be durable yet. They are synced before the snapshot
                is visible.
            base: the previous snapshot, for a catalog server.
            statistics: what the commit changes in each partition, for a catalog server.
        """
        path = self.path(snapshot.id)
        try:
            if self.fs.sync_and_put_if_absent(named, path, snapshot.to_json()):
                self._newest_seen = snapshot.id
                return Published.WON
        except (OSError, StoreError):
            # The outcome is unknown: the published file decides.
            if self.fs.exists(path) and self.is_same_commit(snapshot):
                return self._already_published(snapshot)
            raise
        return self._already_published(snapshot) if self.is_same_commit(snapshot) else Published.LOST

    def _already_published(self, snapshot: Snapshot) -> Published:
        """It is there although an error was reported, perhaps before the directory was looked at again."""
        try:
            self.fs.check_pinned()
        except TableReplaced:
            with suppress(TableReplaced):
                self.withdraw(snapshot)
            raise
        return Published.ALREADY_PUBLISHED

    def is_same_commit(self, snapshot: Snapshot) -> bool:
        """Whether the published file of this id is our commit: same user, identifier, kind and manifest lists."""
        try:
            path = self.path(snapshot.id)
            return same_commit(Snapshot.from_json(self.fs.read(path), path), snapshot)
        except (MissingFile, CorruptFile):
            return False

    def invalidate_cache(self) -> None:
        """Drop cached snapshots: another process may have rolled back."""
        self._read.clear()

    def delete(self, snapshot_id: int) -> None:
        self._read.pop(snapshot_id, None)
        self.fs.delete(self.path(snapshot_id))

    def withdraw(self, snapshot: Snapshot) -> bool:
        """Delete a snapshot that does not belong to the table's history, but never another one that has taken its id.

        Returns:
            True if this call deleted it.
        """
        self._read.pop(snapshot.id, None)
        path = self.path(snapshot.id)
        (data,) = self.fs.read_each([path])
        return (
            data is not None
            and same_commit(Snapshot.from_json(data, path), snapshot)
            and self.fs.delete_if_unchanged(path, data)
        )

    def put(self, snapshot: Snapshot) -> bool:
        """Write a snapshot back under its own id (rollback to an expired tag, long-lived changelog)."""
        return self.fs.put_if_absent(self.path(snapshot.id), snapshot.to_json())

    def replace(self, snapshot: Snapshot) -> None:
        """Replace the snapshot of the same id atomically."""
        self.fs.overwrite(self.path(snapshot.id), snapshot.to_json())
        self.invalidate_cache()

    def write_latest_hint(self, snapshot_id: int) -> None:
        write_hint(self.fs, self.root, LATEST, snapshot_id)

    def delete_hints(self) -> None:
        for name in (LATEST, EARLIEST):
            self.fs.delete(f"{self.root}/{name}")

    def write_earliest_hint(self, snapshot_id: int) -> None:
        write_hint(self.fs, self.root, EARLIEST, snapshot_id)
