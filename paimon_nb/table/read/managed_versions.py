"""Snapshots and tags that a catalog server manages: it decides which commit wins, and what the latest snapshot is.

Source: Paimon `SnapshotLoader.java`, `CatalogSnapshotCommit.java`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from paimon_nb.base.errors import (
    CorruptFile,
    MissingFile,
    PaimonError,
    SnapshotNotFound,
    StoreError,
    TagNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.override import override
from paimon_nb.format.snapshot import PartitionStatistics, Published, Snapshot, SnapshotDirectory, Tag, TagDirectory

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping, Sequence

    from paimon_nb.fs import FileIO


class VersionService(Protocol):
    """A catalog server's view of one branch of a table. Pickled for Spark tasks.

    Methods that the server does not support raise UnsupportedOperation.
    """

    def on_branch(self, branch: str) -> VersionService:
        """The same for another branch."""

    def latest(self) -> Snapshot | None:
        """The latest snapshot; None if the branch has none. Raises UnsupportedOperation: the files decide."""

    def snapshot(self, snapshot_id: int) -> Snapshot | None:
        """A snapshot by id; None if the server does not have it or does not support this."""

    def commit(self, base: Snapshot | None, snapshot: Snapshot, statistics: Sequence[PartitionStatistics]) -> bool:
        """Ask the server to publish `snapshot` on top of `base`. False: it is not the next snapshot.

        Raises StoreError: there was no clear reply, so the snapshot may be published. Any other error is a refusal.
        """

    def rollback(self, target: int | str, latest: int | None) -> None:
        """Make a snapshot (by id) or a tag (by name) the latest again, unless another commit came after `latest`."""

    def tag_names(self) -> list[str]:
        """Raises UnsupportedOperation."""

    def tag(self, name: str) -> Tag:
        """Raises TagNotFound, UnsupportedOperation."""

    def create_tag(self, name: str, snapshot_id: int, retained_ms: int | None) -> None:
        """Raises AlreadyExists, SnapshotNotFound, UnsupportedOperation."""

    def delete_tag(self, name: str) -> None:
        """Raises TagNotFound, UnsupportedOperation."""

    def create_branch(self, name: str, tag: str | None) -> None:
        """Raises AlreadyExists, TagNotFound, UnsupportedOperation."""

    def drop_branch(self, name: str) -> None:
        """Raises BranchNotFound, UnsupportedOperation."""

    def rename_branch(self, name: str, to: str) -> None:
        """Raises BranchNotFound, AlreadyExists, UnsupportedOperation."""

    def fast_forward(self, name: str) -> None:
        """Raises BranchNotFound, UnsupportedOperation."""

    def mark_done(self, partitions: Sequence[Mapping[str, str]]) -> None:
        """Mark partitions as done. Nothing happens on a server that does not support it, as in Java."""


class ManagedSnapshots(SnapshotDirectory):
    """The snapshots of a branch whose commits go through a server. The server writes the files and hints.

    Args:
        fs: the file system with the snapshot files.
        branch_root: the branch's directory.
        service: the server.
    """

    def __init__(self, fs: FileIO, branch_root: str, service: VersionService) -> None:
        super().__init__(fs, branch_root)
        self._service = service

    def latest_id(self) -> int | None:
        try:
            newest = self._latest_of_server()
        except UnsupportedOperation:
            return super().latest_id()
        return None if newest is None else newest.id

    def latest(self) -> Snapshot | None:
        self.invalidate_cache()
        try:
            return self._latest_of_server()
        except UnsupportedOperation:
            return super().latest()

    def _latest_of_server(self) -> Snapshot | None:
        newest = self._service.latest()
        if newest is not None:
            self._read[newest.id] = newest
        return newest

    def get(self, snapshot_id: int) -> Snapshot:
        try:
            return super().get(snapshot_id)
        except SnapshotNotFound:
            found = self._service.snapshot(snapshot_id)
            if found is None:
                raise
            self._read[snapshot_id] = found
            return found

    def publish(
        self,
        snapshot: Snapshot,
        named: Iterable[str] = (),
        *,
        base: Snapshot | None = None,
        statistics: Sequence[PartitionStatistics] = (),
    ) -> Published:
        """Ask the server to publish; after an unclear reply, find out who holds the id.

        Raises: StoreError: neither the server nor the files say whether the snapshot is published.
        """
        self.fs.sync(named)
        try:
            if self._service.commit(base, snapshot, statistics):
                return Published.WON
        except StoreError as error:
            holder = self._published_snapshot(snapshot.id)
            if holder is None:
                raise type(error)(
                    f"{error.message}; whether the commit was published is unknown",
                    hint=f"look for commit user {snapshot.commit_user} in the snapshots before you write the rows again",
                    **error.facts,
                ) from None
            return Published.ALREADY_PUBLISHED if is_same_commit(holder, snapshot) else Published.LOST
        return Published.ALREADY_PUBLISHED if self.is_same_commit(snapshot) else Published.LOST

    def is_same_commit(self, snapshot: Snapshot) -> bool:
        holder = self._published_snapshot(snapshot.id)
        return holder is not None and is_same_commit(holder, snapshot)

    def _published_snapshot(self, snapshot_id: int) -> Snapshot | None:
        """The published snapshot of this id; None if there is none."""
        path = self.path(snapshot_id)
        try:
            return Snapshot.from_json(self.fs.read(path), path)
        except (MissingFile, CorruptFile):
            pass
        try:
            newest = self._service.latest()
        except UnsupportedOperation:
            newest = None
        if newest is not None and newest.id == snapshot_id:
            return newest
        return self._service.snapshot(snapshot_id)

    @override
    def put(self, snapshot: Snapshot) -> bool:
        raise _only_by_server("a snapshot file")

    @override
    def replace(self, snapshot: Snapshot) -> None:
        raise _only_by_server("a snapshot file")

    def write_latest_hint(self, snapshot_id: int) -> None:
        """The server writes it."""


def is_same_commit(a: Snapshot, b: Snapshot) -> bool:
    """Whether two snapshots are one commit: same user, identifier, kind and lists."""
    return (a.commit_user, a.commit_identifier, a.commit_kind, a.base_manifest_list, a.delta_manifest_list) == (
        b.commit_user, b.commit_identifier, b.commit_kind, b.base_manifest_list, b.delta_manifest_list,
    )  # fmt: skip


def _only_by_server(what: str) -> UnsupportedOperation:
    return UnsupportedOperation(
        f"{what} of this table can only be written by its catalog server",
        hint="use rollback_to or a table of a filesystem catalog",
    )


@dataclass(frozen=True, slots=True)
class _TagNamesReply:
    """What a call gave, and whether the server supports it."""

    value: list[str]
    is_supported: bool


class ManagedTags(TagDirectory):
    """Tags that a server creates. Tags that other clients wrote as files are there, too.

    A server without the tag functions leaves tags to the files, as Paimon 1.3 does.
    """

    def __init__(self, fs: FileIO, branch_root: str, service: VersionService) -> None:
        super().__init__(fs, branch_root)
        self._service = service

    def names(self) -> list[str]:
        return sorted({*super().names(), *self._tag_names_of_server().value})

    def get(self, name: str) -> Tag:
        try:
            return super().get(name)
        except TagNotFound:
            try:
                return self._service.tag(name)
            except (UnsupportedOperation, TagNotFound):
                pass
            raise

    def all(self) -> list[Tag]:
        found = []
        for name in self.names():
            with suppress(TagNotFound):  # deleted in the meantime
                found.append(self.get(name))
        return found

    def create(
        self,
        name: str,
        snapshot: Snapshot,
        create_time: dt.datetime | None = None,
        retained_ms: int | None = None,
        *,
        replace: bool = False,
    ) -> None:
        path = self.path(name)  # checks the name
        if (replace and self.fs.exists(path)) or not self._tag_names_of_server().is_supported:
            super().create(name, snapshot, create_time, retained_ms, replace=replace)
            return
        if replace:
            self._service.delete_tag(name)
        self._service.create_tag(name, snapshot.id, retained_ms)

    def delete(self, name: str) -> None:
        if not self._tag_names_of_server().is_supported:
            super().delete(name)
            return
        try:
            self._service.delete_tag(name)
        except TagNotFound:
            super().delete(name)

    def rename(self, name: str, new_name: str) -> None:
        tag = self.get(name)
        self.create(new_name, tag.snapshot, tag.create_time, tag.retained_ms)
        try:
            self.delete(name)
        except PaimonError as error:
            if not error.facts.get("sent"):  # else the old one may be gone
                with suppress(PaimonError):
                    self.delete(new_name)
            raise

    def _tag_names_of_server(self) -> _TagNamesReply:
        try:
            return _TagNamesReply(self._service.tag_names(), True)
        except UnsupportedOperation:
            return _TagNamesReply([], False)
