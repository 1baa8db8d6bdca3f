"""Brings a table's Iceberg metadata to its newest Paimon snapshot: after commits, tags, expiry and rollbacks.

Each Paimon snapshot becomes an Iceberg snapshot with the same id. Snapshots that Paimon expired or rolled back disappear.
What is missing after a crash is added by the next call. Source: Paimon 2.1 `IcebergCommitCallback`; docs/spec/format.md section 21.
"""

from __future__ import annotations

import json
import logging
import re
import uuid
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import CorruptFile, MissingFile, PaimonError, SnapshotNotFound, UnsupportedOperation
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.iceberg.files import FileEntries
from paimon_nb.table.write.iceberg.layout import VERSION_HINT, IcebergLayout, layout_of
from paimon_nb.table.write.iceberg.manifests import DATA, DELETES, EXISTING, ManifestWriter, assign_row_ids
from paimon_nb.table.write.iceberg.metadata import IDENTITY, IcebergMetadata, describes, identity_of
from paimon_nb.table.write.iceberg.name_mapping import NAME_MAPPING, column_names, name_mapping
from paimon_nb.table.write.iceberg.schema import partition_spec, schema_node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import ManifestEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.iceberg.files import Changes
    from paimon_nb.table.write.iceberg.manifests import Entry, Manifest

log = logging.getLogger(__name__)
_METADATA_FILE = re.compile(r"v(\d+)\.metadata\.json")


def publish_iceberg(store: TableStore) -> None:
    """Bring the table's Iceberg metadata, if it has any, to its newest snapshot and its tags.

    The Paimon snapshot is published already, so an error here is logged and not raised: the next commit tries again.
    """
    try:
        layout = layout_of(store)
        if layout is not None:
            IcebergPublisher(store, layout).publish()
    except (PaimonError, OSError) as error:
        log.warning("%s: Iceberg metadata was not updated, the next commit retries: %s", store.name, error)


def _below_scheme(path: str) -> str:
    """A location without its scheme, which engines write differently (`file:`, `s3a:`)."""
    return re.sub(r"^[a-z0-9]+:(//)?", "", path).rstrip("/")


class IcebergPublisher:
    """Writes the Iceberg metadata of one table."""

    def __init__(self, store: TableStore, layout: IcebergLayout) -> None:
        self.store, self.layout, self.fs = store, layout, store.fs

    def publish(self) -> None:
        """See `publish_iceberg`. Raises PaimonError, OSError."""
        newest = self.store.latest()
        if newest is None:
            return
        old = self._newest_metadata()
        if old is not None and not self._is_same_table(old):
            self.fs.delete_tree(self.layout.directory)  # of a dropped table with this name
            old = None
        is_here = old is not None and _below_scheme(old.location) == _below_scheme(self.store.root)
        retained = self._without_expired_snapshots(old, newest) if old is not None and is_here else None
        location = old.location if old is not None and is_here else self.store.root
        files = FileEntries(self.store, self.layout, location)
        done = retained.newest["snapshot-id"] if retained is not None and retained.snapshots else 0
        if retained is not None and done == newest.id:
            self._replace_if_changed(retained, newest)
            return
        missing = (
            self._snapshots_between(done, newest) if retained is not None and self._can_continue(retained) else None
        )
        if missing:
            made = retained
            assert made is not None
            for snapshot in missing:
                made = self._with_incremental_snapshot(made, snapshot, files)
        else:
            made = self._rebuilt_from_live_files(old, retained, newest, location, files)
        self._write_metadata_file(replace(made, tags=self._tags(made)), newest)
        if old is not None:
            self._delete_unused(old, made)

    # -- what is there

    def _newest_metadata(self) -> IcebergMetadata | None:
        versions = self._versions()
        path = self.layout.metadata_path(max(versions)) if versions else ""
        try:
            return IcebergMetadata.from_json(self.fs.read(path), path) if versions else None
        except (CorruptFile, MissingFile):
            return None  # it is written again from the table's files

    def _versions(self) -> list[int]:
        found = (_METADATA_FILE.fullmatch(name) for name in self.fs.names(self.layout.directory))
        return [int(match[1]) for match in found if match]

    def _is_same_table(self, old: IcebergMetadata) -> bool:
        """False if none of its snapshots is one of this table, whose first snapshot exists."""
        if self._paimon_snapshot(1) is None:
            return True  # expired, as in a table with a history; a table that was created again has it
        return any(
            describes(node, s)
            for node in old.snapshots
            if (s := self._paimon_snapshot(node["snapshot-id"])) is not None
        )

    def _paimon_snapshot(self, snapshot_id: int) -> Snapshot | None:
        try:
            return self.store.snapshots.get(snapshot_id)
        except (SnapshotNotFound, MissingFile):
            return None

    def _without_expired_snapshots(self, old: IcebergMetadata, newest: Snapshot) -> IcebergMetadata:
        """The old metadata without snapshots that are rolled back, or expired and not tagged."""
        ids = set(self.store.snapshots.ids())
        retained: set[int] = set()
        for node in reversed(old.snapshots):
            number = node["snapshot-id"]
            if number > newest.id or number not in ids:
                continue
            # All snapshots before a common one are common, too.
            if retained or ((own := self._paimon_snapshot(number)) is not None and describes(node, own)):
                retained.add(number)
        tagged = {s.id: s for s in self._tagged.values()}
        retained |= {
            n["snapshot-id"]
            for n in old.snapshots
            if (s := tagged.get(n["snapshot-id"])) is not None and describes(n, s)
        }
        return old.only(frozenset(retained))

    @cached_property
    def _tagged(self) -> dict[str, Snapshot]:
        return {name: self.store.tags.get(name).snapshot for name in self.store.tags.names()}

    def _tags(self, metadata: IcebergMetadata) -> dict[str, int]:
        """Tags of the snapshots that Iceberg has."""
        known = {node["snapshot-id"]: node for node in metadata.snapshots}
        return {name: s.id for name, s in self._tagged.items() if s.id in known and describes(known[s.id], s)}

    def _snapshots_between(self, done: int, newest: Snapshot) -> list[Snapshot] | None:
        """The snapshots after `done`; None if one of them has expired."""
        found = [self._paimon_snapshot(i) for i in range(done + 1, newest.id)] if done else [None]
        return None if None in found else [*(s for s in found if s is not None), newest]

    def _can_continue(self, retained: IcebergMetadata) -> bool:
        """Whether the metadata has this version of the format, and schemas that still are the table's."""
        same = all(self._schema_node(node["schema-id"]) in (node, None) for node in retained.schemas)
        return same and bool(retained.snapshots) and retained.format_version == self.layout.format_version

    def _schema_node(self, schema_id: int) -> dict[str, Any] | None:
        """The schema for Iceberg; None if the table has lost it."""
        if schema_id not in self._schema_ids:
            return None
        return schema_node(self.store.schemas.get(schema_id))

    @cached_property
    def _schema_ids(self) -> list[int]:
        return sorted(self.store.schemas.ids())

    # -- new metadata

    @cached_property
    def _writer(self) -> ManifestWriter:
        o, newest = self.store.options, self.store.schemas.get(self._schema_ids[-1])
        return ManifestWriter(
            self.fs, self.layout.directory, tuple(newest.partition_fields), self.layout.format_version,
            str(o.get(opt.METADATA_ICEBERG_MANIFEST_COMPRESSION)), bool(o.get(opt.METADATA_ICEBERG_MANIFEST_LEGACY_VERSION)),
            json.dumps(schema_node(newest)), json.dumps(partition_spec(newest)["fields"]),
        )  # fmt: skip

    def _with_incremental_snapshot(
        self, base: IcebergMetadata, snapshot: Snapshot, files: FileEntries
    ) -> IcebergMetadata:
        """The metadata with the changes of the following snapshot."""
        writer = self._writer
        before = writer.read_list(base.newest["manifest-list"])
        changes = files.changes_of_snapshot(snapshot)
        data, operation = [m for m in before if m.content == DATA], "append"
        if not changes.only_adds:
            data, changes = self._without_removed_files(data, changes, snapshot)
            if changes.removed:
                operation = "replace" if snapshot.commit_kind == "COMPACT" else "overwrite"
        data += writer.write(files.added(changes.added, snapshot), snapshot.id)
        data = self._merged_manifests(data, snapshot)
        return self._with_snapshot(
            base, snapshot, data, self._deletion_vector_manifests(before, snapshot, files), operation, changes
        )

    def _rebuilt_from_live_files(
        self,
        old: IcebergMetadata | None,
        retained: IcebergMetadata | None,
        snapshot: Snapshot,
        location: str,
        files: FileEntries,
    ) -> IcebergMetadata:
        """Metadata from the live files, with the identity and the retained snapshots of what it replaces."""
        entries = files.readable_of(live_entries(self.store, snapshot))
        changes = files.all_of(entries)
        base = IcebergMetadata(
            self.layout.format_version, old.table_uuid if old else str(uuid.uuid4()), location,
            old.last_column_id if old else 0, (), -1, {},
            retained.snapshots if retained and old and old.format_version == self.layout.format_version else (),
            (old.next_row_id if old else None),
        )  # fmt: skip
        base = base.only(frozenset(n["snapshot-id"] for n in base.snapshots if n["snapshot-id"] < snapshot.id))
        data = self._writer.write(files.added(changes.added, snapshot), snapshot.id)
        return self._with_snapshot(
            base, snapshot, data, self._deletion_vector_manifests([], snapshot, files), "append", changes, afresh=True
        )

    def _without_removed_files(
        self, manifests: Sequence[Manifest], changes: Changes, snapshot: Snapshot
    ) -> tuple[list[Manifest], Changes]:
        """The manifests without removed files, and the changes that Iceberg readers see."""
        out: list[Manifest] = []
        removed_files: dict[str, ManifestEntry] = {}
        added = dict(changes.added)
        for manifest in manifests:
            entries = self._writer.read(manifest)
            for entry in entries:
                if entry.is_live:  # a file whose level changed stays
                    added.pop(changes.key_of(entry), None)
            removed = {changes.key_of(e) for e in entries if e.is_live} & changes.removed.keys()
            if not removed:
                out.append(manifest)
                continue
            removed_files |= {key: changes.removed[key] for key in removed}
            left = [changes.entry_in_rewritten_manifest(e, removed, snapshot.id) for e in entries if e.is_live]
            out += self._writer.write(left, snapshot.id)
        return out, replace(changes, added=added, removed=removed_files)

    def _merged_manifests(self, manifests: list[Manifest], snapshot: Snapshot) -> list[Manifest]:
        """Small manifests become one if there are many of them."""
        o = self.store.options
        target = int(o.get(opt.MANIFEST_TARGET_FILE_SIZE))
        manifests = [m for m in manifests if m.live_files or m.added_snapshot_id == snapshot.id]
        small = [m for m in manifests if m.length < target * 2 // 3]
        if len(small) < o.get(opt.METADATA_ICEBERG_COMPACTION_MIN_FILE_NUM):
            return manifests
        if len(small) < o.get(opt.METADATA_ICEBERG_COMPACTION_MAX_FILE_NUM) and sum(m.length for m in small) < target:
            return manifests
        entries: list[Entry] = []
        for manifest in small:
            for entry in self._writer.read(manifest):
                if entry.snapshot_id == snapshot.id:
                    entries.append(entry)
                elif entry.is_live:
                    entries.append(replace(entry, status=EXISTING))
            if manifest.added_snapshot_id == snapshot.id:
                self._writer.delete(manifest.path)
        return [m for m in manifests if m not in small] + self._writer.write(entries, snapshot.id)

    def _deletion_vector_manifests(
        self, before: Sequence[Manifest], snapshot: Snapshot, files: FileEntries
    ) -> list[Manifest]:
        """Manifests of the deletion vectors: those of before if they did not change."""
        if not self.layout.deletion_vectors:
            return []
        previous = self._paimon_snapshot(snapshot.id - 1)
        if before and previous is not None and previous.index_manifest == snapshot.index_manifest:
            return [m for m in before if m.content == DELETES]
        return self._writer.write(files.deletion_vector_entries(snapshot), snapshot.id, DELETES)

    def _with_snapshot(
        self, base: IcebergMetadata, snapshot: Snapshot, data: list[Manifest], vectors: list[Manifest], operation: str,
        changes: Changes, *, afresh: bool = False,
    ) -> IcebergMetadata:  # fmt: skip
        first = base.next_row_id or 0
        manifests, next_row = [*data, *vectors], None
        node: dict[str, Any] = {"sequence-number": snapshot.id, "snapshot-id": snapshot.id}
        if snapshot.id > 1:
            node["parent-snapshot-id"] = snapshot.id - 1
        if self.layout.format_version == 3:
            manifests, next_row = assign_row_ids(manifests, first)
        before = {} if afresh else base.newest["summary"]
        node |= {
            "timestamp-ms": snapshot.time_ms,
            "summary": changes.snapshot_summary(operation, before, data, vectors) | dict(snapshot.properties or {})
            | {IDENTITY: identity_of(snapshot)},
            "manifest-list": self._writer.write_list(manifests, snapshot.id),
            "schema-id": snapshot.schema_id,
        }  # fmt: skip
        if next_row is not None:
            node |= {"first-row-id": first, "added-rows": next_row - first}
        known = {s["schema-id"]: s for s in base.schemas}
        known |= {i: schema_node(self.store.schemas.get(i)) for i in self._schema_ids if i not in known}
        newest = self.store.schemas.get(self._schema_ids[-1])
        names = column_names(known[i] for i in sorted(known))
        return replace(
            base, properties={**base.properties, NAME_MAPPING: name_mapping(names)},
            last_column_id=max(base.last_column_id, newest.highest_field_id), schemas=tuple(known.values()),
            current_schema_id=newest.id, spec=partition_spec(newest), snapshots=(*base.snapshots, node), next_row_id=next_row,
        )  # fmt: skip

    # -- files

    def _replace_if_changed(self, retained: IcebergMetadata, newest: Snapshot) -> None:
        """The same snapshots, but others expired, or tags changed: the file is replaced, as for Java's tags."""
        retained = replace(retained, tags=self._tags(retained))
        path = self.layout.metadata_path(newest.id)
        try:
            there = IcebergMetadata.from_json(self.fs.read(path), path)
        except (CorruptFile, MissingFile):
            there = None
        if there != retained:
            self._write_metadata_file(retained, newest)
            if there is not None:
                self._delete_unused(there, retained)
        elif max(self._versions()) > newest.id:
            self._write_metadata_file(retained, newest)
        else:
            self._register(newest)  # an earlier attempt may have failed

    def _write_metadata_file(self, made: IcebergMetadata, newest: Snapshot) -> None:
        """Write the metadata file, then the hint; then older files and those of rolled back snapshots are deleted."""
        self.fs.sync(self._writer.written)
        self.fs.overwrite(self.layout.metadata_path(newest.id), made.to_json())
        current = self.store.latest()
        if current is None or current.id != newest.id:
            return  # a later commit moves the hint
        self.fs.overwrite(f"{self.layout.directory}/{VERSION_HINT}", str(newest.id).encode())
        self._register(newest)  # before the file is deleted that the catalog names
        o = self.store.options
        oldest = newest.id - int(o.get(opt.METADATA_ICEBERG_PREVIOUS_VERSIONS_MAX))
        for version in self._versions():
            expired = version < oldest and o.get(opt.METADATA_ICEBERG_DELETE_AFTER_COMMIT_ENABLED)
            if expired or (version > newest.id and self._paimon_snapshot(version) is None):
                self.fs.delete(self.layout.metadata_path(version))

    def _register(self, newest: Snapshot) -> None:
        """Let the table's catalog of Iceberg, if it has one, name the metadata of this snapshot. Raises PaimonError."""
        if not self.layout.is_registered:
            return
        if self.store.iceberg_catalog is None:
            raise UnsupportedOperation(
                f"{self.store.name} was opened without a catalog, so it has no name in the catalog of Iceberg",
                hint="open the table by its name; the next commit then registers it",
                table=self.store.name,
            )
        registered: Snapshot | None = None
        # A later commit may have registered its own file before this one did.
        while registered is None or (newest.id != registered.id and newest.id in self._versions()):
            self.store.iceberg_catalog.register(self.store, self.layout.metadata_path(newest.id))
            registered, newest = newest, self.store.latest() or newest

    def _delete_unused(self, old: IcebergMetadata, made: IcebergMetadata) -> None:
        """Delete manifest lists of expired snapshots, and the manifests that no other snapshot has."""
        retained_lists = {node["manifest-list"] for node in made.snapshots}
        expired_lists = [node["manifest-list"] for node in old.snapshots if node["manifest-list"] not in retained_lists]
        if not expired_lists:
            return
        used = {m.path for path in retained_lists for m in self._writer.read_list(path)}
        for path in expired_lists:
            try:
                manifests = self._writer.read_list(path)
            except MissingFile:
                continue  # deleted by another writer
            for manifest in manifests:
                if manifest.path not in used:
                    self._writer.delete(manifest.path)
            self._writer.delete(path)
