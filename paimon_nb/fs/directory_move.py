"""Moves the objects below a prefix so that a table is complete at the source, or complete at the target, at every moment.

An object store has no rename. A move copies and deletes, and its process may be killed, or stand still, between any two
requests. Two records, objects named `.moving`, say what is under way: one in the source directory, with the state of the move
and the table's first schema, and one in the target directory, which names the source. The state changes by conditional
PUTs only, so exactly one of several processes decides: before it is `done`, the source is the table, afterwards the target.
The order of the steps is explained in docs/decisions/0012.
"""

from __future__ import annotations

import json
import posixpath
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import MissingFile, PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.fs.api import MOVE_LEASE_S, FoundMove, is_immutable, moving_error
from paimon_nb.fs.s3_client import directory_prefix, split_uri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.fs.s3_client import StoredObject

MARKERS = ("schema/schema-0", "_paimon/schema/schema-0")
"""What makes a directory that of a table. It goes first when a directory is moved or deleted, and comes last at the target."""
RECORD = ".moving"
_RENEW_S = 5
_LAST_COPIED = ("snapshot/", "changelog/", "tag/", "branch/", "consumer/")
"""They name other files, which must be at the target before."""
_REQUESTS_AT_ONCE = 16
_KEYS_AT_ONCE = 1000
"""Deleted by one request, after a look whether the move is still this process's."""
_ATTEMPTS = 5

COPYING, DONE, TAKEN_BACK = "copying", "done", "taken back"
"""States of the record at the source. `TAKEN_BACK` stays in the table: a process that stood still may remove its first schema."""
CLAIMED, ARRIVING, CLEANING = "claimed", "arriving", "cleaning"
"""States of the record at the target. From `ARRIVING` on, all objects there are copies: the target was empty."""


@dataclass(frozen=True)
class MoveRecord:
    """The content of `.moving`."""

    move: str
    """Identifies the move; the same in both records."""
    owner: str
    """Identifies the process that makes or continues it."""
    state: str
    other: str
    """The other directory, relative to this one: copies of a warehouse stay independent of each other."""
    renewed: int = 0
    """Counts the signs of life."""
    markers: tuple[tuple[str, str], ...] = ()
    """Of the source: path and text of its first schema."""

    def to_json(self) -> bytes:
        return json.dumps({**self.__dict__, "markers": dict(self.markers)}).encode()

    @classmethod
    def from_json(cls, data: bytes) -> MoveRecord | None:
        """None if it is something else."""
        try:
            found = json.loads(data)
            record = cls(**{**found, "markers": tuple(found["markers"].items())})
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        texts = (record.move, record.owner, record.state, record.other, *(t for pair in record.markers for t in pair))
        return record if all(isinstance(t, str) for t in texts) and isinstance(record.renewed, int) else None

    @property
    def is_source(self) -> bool:
        return self.state in (COPYING, DONE, TAKEN_BACK)


@dataclass(frozen=True)
class _Stored:
    """A record as the store has it."""

    record: MoveRecord
    etag: str
    age_s: float
    """Since it was written, by the store's clock."""

    def is_stale(self) -> bool:
        return self.age_s >= MOVE_LEASE_S


def _read_record(fs: Any, directory: str) -> _Stored | None:
    with suppress(MissingFile):
        body, etag, modified, now = fs._get_with_times(_record_path(directory))
        if (record := MoveRecord.from_json(body)) is not None:
            return _Stored(record, etag, ((now or datetime.now(UTC)) - modified).total_seconds())
    return None


def _record_path(directory: str) -> str:
    return f"{directory.rstrip('/')}/{RECORD}"


def _other_directory(directory: str, record: MoveRecord) -> str:
    if "://" in record.other:
        return record.other
    scheme, _, rest = directory.partition("://")
    return f"{scheme}://{posixpath.normpath(posixpath.join(rest, record.other))}"


def _relative(directory: str, base: str) -> str:
    if split_uri(directory)[0] != split_uri(base)[0]:
        return directory
    return posixpath.relpath(*(f"/{split_uri(path)[1]}" for path in (directory, base)))


class _Lease:
    """The record at the source, while this process makes the move."""

    def __init__(self, fs: Any, source: str, stored: MoveRecord, etag: str) -> None:
        self.fs, self.source, self.record, self._etag = fs, source, stored, etag
        self.target = _other_directory(source, stored)
        self.lost = False
        self._remove = False
        self._lock = threading.Lock()

    @classmethod
    def take(cls, fs: Any, source: str, found: _Stored, state: str) -> _Lease | None:
        """Take over a move that was found; None: another process did something first."""
        record = replace(found.record, owner=uuid.uuid4().hex, state=state, renewed=found.record.renewed + 1)
        etag = fs._replace_unchanged(_record_path(source), record.to_json(), found.etag)
        return None if etag is None else cls(fs, source, record, etag)

    def renew(self, state: str | None = None) -> bool:
        """Write the record again. Returns False if another process has taken over the move."""
        with self._lock:
            if self._replace(state) or (self._is_unchanged_in_store() and self._replace(state)):
                return True
            self.lost = True
            return False

    def renew_surely(self, state: str | None = None) -> None:
        """`renew`. Raises TableIsMoving: another process has taken over the move."""
        if not self.renew(state):
            raise moving_error(FoundMove(self.source, self.target, "under way"))

    def _replace(self, state: str | None) -> bool:
        record = replace(self.record, renewed=self.record.renewed + 1, state=state or self.record.state)
        etag = self.fs._replace_unchanged(_record_path(self.source), record.to_json(), self._etag)
        if etag is not None:
            self.record, self._etag = record, etag
        return etag is not None

    def _is_unchanged_in_store(self) -> bool:
        """Whether only the ETag was unknown: the reply to an earlier renewal was lost."""
        found = _read_record(self.fs, self.source)
        if found is None or (found.record.owner, found.record.state) != (self.record.owner, self.record.state):
            return False
        self.record, self._etag = found.record, found.etag
        return True

    def is_held(self) -> bool:
        """A look whether the record is still this process's."""
        found = _read_record(self.fs, self.source)
        return found is not None and found.record.owner == self.record.owner

    def is_decided(self) -> bool:
        """Whether the record of this process says `done`: the reply to the decision may have been lost."""
        with self._lock:
            found = _read_record(self.fs, self.source)
            if found is None or found.record.owner != self.record.owner or found.record.state != DONE:
                return False
            self.record, self._etag = found.record, found.etag
            return True

    @contextmanager
    def renewing(self) -> Iterator[None]:
        """Renew it in the background inside the block. Removes it at the end, if that is all that is left to do."""
        stop = threading.Event()

        def keep() -> None:
            while not stop.wait(_RENEW_S) and not self.lost:
                with suppress(PaimonError, OSError):  # the next one may succeed
                    self.renew()

        thread = threading.Thread(target=keep, name="paimon-move", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            if self._remove:
                self.remove()

    def remove_afterwards(self) -> None:
        """Remove the record when nothing renews it any more."""
        self._remove = True

    def remove(self) -> None:
        self.fs._delete_unchanged(_record_path(self.source), self._etag)


def move_directory(fs: Any, source: str, target: str) -> None:
    """Move all objects below `source`.

    Args:
        fs: the `S3FileIO` of both, which imports this module.

    Raises:
        FileExistsError: there is something at the target.
        MissingFile: another process has moved or deleted the source.
        TableIsMoving: another process moves the source, or has taken this move back.
    """
    lease = _begin(fs, source, target)
    copied: list[str] = []
    with lease.renewing():
        try:
            _claim_target(lease)
            _delete_markers(lease)
            _copy_all(lease, copied)
            if _has_marker(fs, target):
                raise FileExistsError(target)
            lease.renew_surely(DONE)
        except BaseException:
            if not lease.is_decided():
                if lease.renew(TAKEN_BACK):
                    if _undo(lease):
                        lease.remove_afterwards()
                else:
                    _repair_after_loss(lease, copied)
                raise
        _finish(lease, has_objects=bool(copied))


def _begin(fs: Any, source: str, target: str) -> _Lease:
    """Write the record at the source."""
    for _ in range(_ATTEMPTS):
        markers = _markers_at(fs, source)
        record = MoveRecord(uuid.uuid4().hex, uuid.uuid4().hex, COPYING, _relative(target, source), 0, markers)
        found, path = _read_record(fs, source), _record_path(source)
        if found is None:
            etag = fs._put_record(path, record.to_json())
        elif found.record.state == TAKEN_BACK and (markers or not found.record.markers):
            etag = fs._replace_unchanged(path, record.to_json(), found.etag)
        else:
            move, etag = settle(fs, source), None
            if move is not None and move.source == source.rstrip("/") and move.outcome == "under way":
                raise moving_error(move)
            if move is not None and move.outcome in ("under way", "decided"):
                raise MissingFile(source)
        if etag is not None:
            lease = _Lease(fs, source, record, etag)
            if _markers_at(fs, source) == markers and any(fs._objects_below_but_record(source)):
                return lease
            lease.remove()  # moved or deleted before the record was there
        if not any(fs._objects_below_but_record(source)):
            raise MissingFile(source)
    raise moving_error(FoundMove(source, target, "under way"))


def _markers_at(fs: Any, directory: str) -> tuple[tuple[str, str], ...]:
    found = ((m, fs._read_or_none(f"{directory.rstrip('/')}/{m}")) for m in MARKERS)
    return tuple((marker, data.decode()) for marker, data in found if data is not None)


def _has_marker(fs: Any, directory: str) -> bool:
    return any(fs._head_object(f"{directory.rstrip('/')}/{marker}") is not None for marker in MARKERS)


def _claim_target(lease: _Lease) -> None:
    """Write the record at the target. Who creates a table there looks for it after writing the first schema."""
    fs, target = lease.fs, lease.target
    claim, etag = MoveRecord(lease.record.move, lease.record.owner, CLAIMED, _relative(lease.source, target)), None
    for _ in range(_ATTEMPTS):
        if (etag := fs._put_record(_record_path(target), claim.to_json())) is not None:
            break
        move = settle(fs, target)
        if move is None or move.outcome in ("under way", "decided"):
            raise FileExistsError(target)
    is_empty = fs._head_object(target) is None and not any(fs._objects_below_but_record(target))
    if etag is None or not is_empty:
        raise FileExistsError(target)
    if fs._replace_unchanged(_record_path(target), replace(claim, state=ARRIVING).to_json(), etag) is None:
        raise moving_error(FoundMove(lease.source, target, "under way"))
    lease.renew_surely()  # before anything of the source is deleted: this process may have stood still


def _delete_markers(lease: _Lease) -> None:
    """Delete the first schema at the source: a writer that commits from now on notices it."""
    start = directory_prefix(lease.source)
    lease.fs._delete_keys(lease.source, [start + marker for marker, _ in lease.record.markers])
    lease.renew_surely()


def _repair_after_loss(lease: _Lease, copied: list[str]) -> None:
    """This process stood still, and another one has taken its move back: undo what it did afterwards."""
    fs, found = lease.fs, _read_record(lease.fs, lease.source)
    if (found is None or found.record.state == TAKEN_BACK) and any(fs._objects_below_but_record(lease.source)):
        for marker, text in lease.record.markers:
            fs.put_if_absent(f"{lease.source}/{marker}", text.encode())
    claim = MoveRecord(lease.record.move, lease.record.owner, CLEANING, _relative(lease.source, lease.target))
    if copied and (etag := fs._put_record(_record_path(lease.target), claim.to_json())) is not None:
        if not _has_marker(fs, lease.target):
            fs._delete_keys(lease.target, copied)
        fs._delete_unchanged(_record_path(lease.target), etag)


def _copy_all(lease: _Lease, copied: list[str]) -> None:
    """Copy all objects, those that name others last. Appends the keys of the copies to `copied`."""
    fs, start = lease.fs, directory_prefix(lease.source)
    owner = fs.digest(lease.record.markers[0][1].encode()) if lease.record.markers else None

    def copy_one(file: StoredObject) -> None:
        if lease.lost:
            raise moving_error(FoundMove(lease.source, lease.target, "under way"))
        path = f"{lease.target}/{file.key[len(start) :]}"
        with suppress(MissingFile):  # a writer took it back: its snapshot was deleted before, and is not copied
            copied.append(split_uri(path)[1] + ("/" if path.endswith("/") else ""))
            fs._copy_object(split_uri(lease.source)[0], file.key, file.size, path, owner)

    markers = {start + marker for marker in MARKERS}  # there again if another process has taken the move back
    files = [f for f in fs._objects_below_but_record(lease.source) if f.key not in markers]
    with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as pool:
        for last in (False, True):
            list(pool.map(copy_one, [f for f in files if f.key[len(start) :].startswith(_LAST_COPIED) == last]))


def _finish(lease: _Lease, *, has_objects: bool) -> None:
    """After the decision: make the target a table and delete the source, unless another process does.

    has_objects: whether something was copied.
    """
    fs, target = lease.fs, lease.target
    claim = _read_record(fs, target)
    if claim is not None and claim.record.move == lease.record.move:
        for marker, text in lease.record.markers:
            # What another process creates there it withdraws when it sees the record.
            if _read_text(fs, f"{target}/{marker}") not in (None, text):
                fs.delete(f"{target}/{marker}")
            token = _put_marker(lease, target, marker, text)
            if token and has_objects and not lease.is_held() and not _has_other_objects(fs, target):
                _remove_marker(lease, target, marker, token)  # the table has moved on from there
    # Twice: what late writers left there; none of it was acknowledged.
    if not all(_delete_objects(lease) for _ in range(2)):
        return
    if claim is not None and claim.record.move == lease.record.move:
        fs._delete_unchanged(_record_path(target), claim.etag)
    lease.remove_afterwards()


def _delete_objects(lease: _Lease) -> bool:
    """Delete what is at the source. Returns False if another process has taken over the move."""
    fs = lease.fs
    found = list(fs._objects_below_but_record(lease.source))
    unique = [f.key for f in found if is_immutable(f.key)]
    for start in range(0, len(unique), _KEYS_AT_ONCE):
        if not lease.is_held():
            return False
        fs._delete_keys(lease.source, unique[start : start + _KEYS_AT_ONCE])
    # Others could be those of a new table there, if this process stands still.
    bucket = split_uri(lease.source)[0]
    with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as pool:
        others = (f for f in found if not is_immutable(f.key))
        list(pool.map(lambda f: fs._delete_unchanged(f"s3://{bucket}/{f.key}", f.etag), others))
    return lease.is_held()


def _undo(lease: _Lease) -> bool:
    """After `taken back`: make the source a table again and delete the copies. Returns whether all of it is done."""
    for marker, text in lease.record.markers:
        token = _put_marker(lease, lease.source, marker, text)
        if token and not lease.is_held():
            found = _read_record(lease.fs, lease.source)
            if found is None or found.record.state != TAKEN_BACK:
                _remove_marker(lease, lease.source, marker, token)  # the table has moved on from here
    return _clean_target(lease.fs, lease.target, lease.record.move) is None


def _put_marker(lease: _Lease, directory: str, marker: str, text: str) -> str | None:
    """Write a first schema unless another process has taken over the move. Returns its token if this call created it."""
    path, token = f"{directory}/{marker}", uuid.uuid4().hex
    return token if lease.is_held() and lease.fs._put_object(path, text.encode(), token) else None


def _remove_marker(lease: _Lease, directory: str, marker: str, token: str) -> None:
    """Delete a first schema that this process has written, but not that of a table that was moved there since."""
    path = f"{directory}/{marker}"
    found = lease.fs._head_object(path)
    if found is not None and lease.fs.has_token(found, token):
        lease.fs._delete_unchanged(path, found["ETag"])


def _has_other_objects(fs: Any, directory: str) -> bool:
    markers = {directory_prefix(directory) + marker for marker in MARKERS}
    return any(f.key not in markers for f in fs._objects_below_but_record(directory))


def _read_text(fs: Any, path: str) -> str | None:
    data = fs._read_or_none(path)
    return None if data is None else data.decode()


# -- moves of other processes


def settle(fs: Any, directory: str) -> FoundMove | None:
    """Complete or undo a move from or to a directory whose process does not give signs of life any more.

    Returns:
        What was found; None without a move.
    """
    directory = directory.rstrip("/")
    for _ in range(_ATTEMPTS):
        found = _read_record(fs, directory)
        if found is None:
            return None
        if found.record.is_source:
            move = _settle_source(fs, directory, found)
        else:
            source = _other_directory(directory, found.record)
            origin = _read_record(fs, source)
            if origin is not None and origin.record.is_source and origin.record.move == found.record.move:
                move = _settle_source(fs, source, origin)
            else:
                move = _clean_target(fs, directory, found.record.move) or FoundMove(source, directory, "taken back")
        if move is not None:
            return move
    return FoundMove(directory, directory, "under way")


def _settle_source(fs: Any, source: str, found: _Stored) -> FoundMove | None:
    """None: another process did something first."""
    target, state = _other_directory(source, found.record), found.record.state
    if state != TAKEN_BACK and not found.is_stale():
        return FoundMove(source, target, "decided" if state == DONE else "under way")
    lease = _Lease.take(fs, source, found, DONE if state == DONE else TAKEN_BACK)
    if lease is None:
        return None
    with lease.renewing():
        if state == DONE:
            _finish(lease, has_objects=False)
        else:
            _undo(lease)
    return FoundMove(source, target, "finished" if state == DONE else "taken back")


def _clean_target(fs: Any, target: str, move: str) -> FoundMove | None:
    """Delete the copies of a move that was taken back. Returns what is in the way: another process does it."""
    found = _read_record(fs, target)
    if found is None or found.record.is_source or found.record.move != move:
        return None
    source = _other_directory(target, found.record)
    if found.record.state == CLEANING and not found.is_stale():
        return FoundMove(source, target, "under way")
    if found.record.state == CLAIMED or _has_marker(fs, target):  # the files of another table
        fs._delete_unchanged(_record_path(target), found.etag)
        return None
    claim = replace(found.record, owner=uuid.uuid4().hex, state=CLEANING)
    etag = fs._replace_unchanged(_record_path(target), claim.to_json(), found.etag)
    if etag is None:
        return FoundMove(source, target, "under way")
    fs._delete_keys(target, [f.key for f in fs._objects_below_but_record(target)])
    fs._delete_unchanged(_record_path(target), etag)
    return None
