"""The context of one table: location, schema and directories, shared by all rules. Holds no rule and reads no data."""

from __future__ import annotations

import time
import uuid
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import (
    BranchNotFound,
    FixedOption,
    MissingFile,
    TableNotFound,
    TableReplaced,
    UnsupportedFormat,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import MAIN_BRANCH
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.row import deserialize, path_of_names
from paimon_nb.format.schema import (
    FORMAT_TABLE,
    SchemaDirectory,
    TableSchema,
    hidden_schema_directory,
    new_schema_directory,
)
from paimon_nb.format.snapshot import SnapshotDirectory
from paimon_nb.format.types import is_blob_type, is_opaque
from paimon_nb.fs import DirectoryPin, settle_move
from paimon_nb.options import TABLE_OPTIONS, TableOptions
from paimon_nb.options import table as opt
from paimon_nb.options.materialized import MATERIALIZED_TABLE
from paimon_nb.options.read import SCAN_PARTITIONS
from paimon_nb.options.support import IGNORE_UNSUPPORTED, Access, check_supported, unsupported_options_set
from paimon_nb.table.read.lost_base import snapshot_below_lost
from paimon_nb.table.read.own_files import ExternalFiles
from paimon_nb.table.read.partition_spec import matches_partition_spec, parse_scan_partitions, partition_texts
from paimon_nb.table.read.side_by_side import in_threads_on_object_store

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from paimon_nb.format.manifest import DataFile, IndexEntry
    from paimon_nb.format.snapshot import BranchDirectory, ConsumerDirectory, Snapshot, TagDirectory
    from paimon_nb.fs import AccessPolicy, FileIO
    from paimon_nb.table.read.external_paths import PathAllocator
    from paimon_nb.table.read.managed_versions import VersionService
    from paimon_nb.table.read.partition_service import PartitionService
    from paimon_nb.table.read.sql_session import SqlSession
    from paimon_nb.table.read.watchers import CommitWatcher, IcebergCatalog

_JUST_S = 5.0
"""How long what was read when a table was opened counts as new."""
POSTPONE_BUCKET = -2
"""Bucket id of postponed files, which `compact` moves to real buckets (docs/spec/format.md section 1)."""


_OWN_PARTITIONS = {
    opt.SCAN_FALLBACK_BRANCH.key: "",
    opt.SCAN_PRIMARY_BRANCH.key: "",
    opt.CHAIN_TABLE_ENABLED.key: "false",
}
"""Options without which a read gives the partitions of one branch only."""


@dataclass(frozen=True)
class TableStore:
    """The context of one table (or one branch). Cheap to create, copy and pickle.

    `schema` is the selected schema; its options include the dynamic options.
    """

    fs: FileIO
    root: str
    """The table's directory with the manifests, indexes and data of all branches."""
    branch: str
    schema: TableSchema
    first_schema: bytes = field(default=b"", compare=False, repr=False)
    """The bytes of `schema-0` when the table was opened; a re-created table has others."""
    dynamic: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Dynamic options of this handle; never stored."""
    watcher: CommitWatcher | None = field(default=None, compare=False, repr=False)
    iceberg_catalog: IcebergCatalog | None = field(default=None, compare=False, repr=False)
    """Where the table's Iceberg metadata is registered; None for tables that were opened without a catalog, and those without it."""
    rights: AccessPolicy | None = field(default=None, compare=False, repr=False)
    """The user's permissions on the rows; None without access control."""
    versions: VersionService | None = field(default=None, compare=False, repr=False)
    """The catalog server that decides about snapshots, tags and branches; None where the files decide."""
    partitions: PartitionService | None = field(default=None, compare=False, repr=False)
    """The catalog server that decides which partitions a format table has; None where its directories are the partitions."""
    sql: SqlSession | None = field(default=None, compare=False, repr=False)
    """The session whose SQL `where=` speaks; None: conditions compare columns with literals, and a backslash is plain in strings."""
    skips_unreadable_files: bool = field(default=False, compare=False)
    """Whether `scan.ignore-lost-files` and `scan.ignore-corrupt-files` take effect; see `for_queries`."""
    read_partitions: tuple[Mapping[str, Any], ...] | None = field(default=None, compare=False)
    """The partitions of `scan.partitions`, in the in-row form by column; None: all. See `for_queries`."""
    starts_chain: bool = field(default=False, compare=False)
    """Of the delta branch of a chain table: its whole state is that of the chain, as a stream of the table begins."""

    def __repr__(self) -> str:
        return f"<TableStore {self.root}, branch {self.branch}, schema {self.schema.id}>"

    @classmethod
    def open(
        cls, fs: FileIO, root: str, branch: str = MAIN_BRANCH, dynamic: Mapping[str, str] | None = None
    ) -> TableStore:
        """The table at `root` with its latest schema.

        Raises: TableNotFound: no schema file. BranchNotFound: the table has no such branch. TableIsMoving: see the error.
        """
        root = root.rstrip("/")
        try:
            return cls._open(fs, root, branch, dynamic)
        except TableNotFound:
            move = settle_move(fs, root)
            if move is None:
                raise
        try:
            return cls._open(fs, root, branch, dynamic)
        except TableNotFound as error:
            error.facts["move"] = move
            raise

    @classmethod
    def _open(cls, fs: FileIO, root: str, branch: str, dynamic: Mapping[str, str] | None) -> TableStore:
        branch_root = _branch_root(fs, root, branch)
        schemas, snapshots = SchemaDirectory(fs, branch_root), SnapshotDirectory(fs, branch_root)
        marker, looked_s = _first_schema_path(root), time.monotonic()
        # An object store reads the first schema file with the others.
        read_marker = None if fs.is_object_store and marker == schemas.path(0) else marker
        newest, first, _ = in_threads_on_object_store(
            fs,
            schemas.latest_id,
            lambda: None if read_marker is None else _read_if_present(fs, read_marker),
            snapshots.read_hint_ahead if fs.is_object_store else lambda: None,
        )
        if read_marker is None:
            first = schemas.first_content()
        if newest is None and branch == MAIN_BRANCH:
            hidden = hidden_schema_directory(fs, root)  # of a format table
            newest = hidden.latest_id()
            if newest is not None:
                schemas, marker = hidden, hidden.path(0)
                first = _read_if_present(fs, marker)
        elif newest == 0 and branch_root == root and first is not None:
            schemas.hold(0, first)
        is_in_pieces = first is None and fs.is_object_store  # of a move or a deletion: see `FileIO.settle_move`
        schema = None if newest is None or is_in_pieces else schemas.get_newest(newest)
        if schema is None:
            if not is_in_pieces and branch != MAIN_BRANCH and SchemaDirectory(fs, root).ids():
                raise BranchNotFound(
                    f"table {root.rsplit('/', 1)[-1]} has no branch {branch!r}",
                    hint="CALL sys.create_branch creates one",
                    branch=branch,
                    path=root,
                )
            raise TableNotFound(f"no Paimon table at {root}", hint="check the path, or CREATE TABLE first", path=root)
        if first:
            fs = schemas.fs = snapshots.fs = fs.pinned(DirectoryPin(root, marker.removeprefix(f"{root}/"), first))
        store = cls(fs, root, branch, schema, first or b"")
        schemas.looked_s = looked_s
        store.__dict__["schemas"] = schemas  # the cached property: `is_current` compares with what was read here
        if fs.is_object_store and not store.is_format_table:
            store.__dict__["snapshots"] = snapshots
        return store.copy(dynamic) if dynamic else store

    def is_current(self) -> bool:
        """Whether the table at this path, and its newest schema, are still those that `open` read."""
        own, first = self.schemas.paths_of_newest(self.schema.id), self._first_schema_path
        paths = list(dict.fromkeys((*own, first)))
        looked_s, found = time.monotonic(), dict(zip(paths, self.fs.read_each(paths), strict=True))
        same = self.schemas.is_newest(self.schema.id, found) and self.first_schema == (found[first] or b"")
        if same:
            self.schemas.looked_s = looked_s
        return same

    @property
    def is_just_opened(self) -> bool:
        """Whether the first and the newest schema were read a moment ago, so that a commit on an object store need not read them again.

        It looks at the table again after it has published, in any case.
        """
        return self.fs.is_object_store and time.monotonic() - self.schemas.looked_s < _JUST_S

    @property
    def identity(self) -> str:
        """Digest of `first_schema`, as checkpoints store it; empty if the table has none."""
        if not self.first_schema:
            return ""
        import hashlib  # loads OpenSSL

        return hashlib.sha256(self.first_schema).hexdigest()

    @property
    def _first_schema_path(self) -> str:
        return self.schemas.path(0) if self.is_format_table else _first_schema_path(self.root)

    # -- copies of the context

    def copy(self, dynamic: Mapping[str, str]) -> TableStore:
        """The same table with dynamic options: they override the stored ones, in memory only.

        The option `branch` is the name of the branch to use, under that branch's own schema and options.
        Raises: BranchNotFound. FixedOption: an option that the table's files depend on, such as `bucket`, would change.
        """
        self._check_fixed_options(dynamic)
        branch = dynamic.get(opt.BRANCH.key)
        if branch is not None:
            others = {k: v for k, v in dynamic.items() if k != opt.BRANCH.key}
            return (self if branch == self.branch else self.on_branch(branch)).copy(others)
        return self._with_dynamic_options(dynamic)

    def open_for_catalog(self, dynamic: Mapping[str, str], *, on_stored_branch: bool) -> TableStore:
        """The table as a catalog opens it: with dynamic options, on the branch that its own option `branch` names.

        Args:
            dynamic: dynamic options; a `branch` here overrides the stored one.
            on_stored_branch: False if the name already says which branch to open.

        Raises:
            BranchNotFound, FixedOption: see `copy`.
        """
        stored = self.schema.options.get(opt.BRANCH.key)
        if stored is not None and on_stored_branch:
            dynamic = {opt.BRANCH.key: stored, **dynamic}
        return self.copy(dynamic) if dynamic else self

    def with_buckets(self, count: int) -> TableStore:
        """The same table with another number of buckets, for what rewrites all its rows."""
        return self._with_dynamic_options({opt.BUCKET.key: str(count)})

    def _with_dynamic_options(self, dynamic: Mapping[str, str]) -> TableStore:
        merged = {**self.dynamic, **dynamic}
        schema = replace(self.schema, options={**self.schema.options, **dynamic})
        return self.with_known_newest(replace(self, schema=schema, dynamic=merged))

    def with_known_newest(self, copy: TableStore) -> TableStore:
        """The copy, which begins its search for the newest snapshot and schema with those that were seen here."""
        if "snapshots" in self.__dict__ and copy.branch_root == self.branch_root:
            copy.snapshots.begin_with(self.snapshots)
            copy.schemas.begin_with(self.schemas)
        return copy

    def _check_fixed_options(self, dynamic: Mapping[str, str]) -> None:
        if opt.BRANCH.key in dynamic:
            return  # the branch has options of its own
        for key, value in dynamic.items():
            option = TABLE_OPTIONS.get(key)
            is_fixed = key == opt.BUCKET.key or (option is not None and option.fixed_after_data)
            if is_fixed and self.schema.options.get(key) != value:
                raise FixedOption(
                    f"{self.name}: option {key!r} cannot be changed for one statement",
                    hint="ALTER TABLE ... SET changes it, where that is possible", option=key,
                )  # fmt: skip

    def without_options(self, keys: Collection[str]) -> TableStore:
        """The same table without these options, stored and dynamic, in memory only."""
        schema = replace(self.schema, options={k: v for k, v in self.schema.options.items() if k not in keys})
        return replace(self, schema=schema, dynamic={k: v for k, v in self.dynamic.items() if k not in keys})

    def without_fallback(self) -> TableStore:
        """The same table without partitions of other branches."""
        return self.copy(_OWN_PARTITIONS)

    def for_metadata(self) -> TableStore:
        """The same table for listing files: without options that would change its rows."""
        return self.copy({**_OWN_PARTITIONS, IGNORE_UNSUPPORTED.key: "all"})

    @property
    def chain_names(self) -> tuple[str, str] | None:
        """Snapshot and delta branch of a chain table; None: it is none, or has no such branches yet."""
        if not self.options.get(opt.CHAIN_TABLE_ENABLED):
            return None
        full = self.options.get(opt.SCAN_FALLBACK_SNAPSHOT_BRANCH)
        delta = self.options.get(opt.SCAN_FALLBACK_DELTA_BRANCH)
        return (str(full), str(delta)) if full and delta else None

    @property
    def chain_branches(self) -> tuple[str, str] | None:
        """The same for a table to which reads add the partitions of these branches; None for the branches themselves."""
        names = self.chain_names
        return None if names is None or self.branch.lower() in map(str.lower, names) else names

    @property
    def reads_other_branches(self) -> bool:
        """Whether a read may give partitions of other branches: a fallback or primary branch, or those of a chain table."""
        get = self.options.get
        return any((get(opt.SCAN_FALLBACK_BRANCH), get(opt.SCAN_PRIMARY_BRANCH), get(opt.CHAIN_TABLE_ENABLED)))

    def for_queries(self) -> TableStore:
        """The same table for reading rows that are not written back: options select the partitions, and may leave out files
        that cannot be read.

        Raises: BadOptionValue: `scan.partitions` names no partition column, or a text that is not a value.
        """
        ignores = (opt.SCAN_IGNORE_LOST_FILES, opt.SCAN_IGNORE_CORRUPT_FILES)
        found = replace(self, skips_unreadable_files=True) if any(map(self.options.get, ignores)) else self
        if not any(key in self.options.raw for key in (SCAN_PARTITIONS.key, *SCAN_PARTITIONS.fallback_keys)):
            return found
        text = SCAN_PARTITIONS.read(self.options.raw)
        if not text or "max_pt()" in text.lower() or "max_two_pt()" in text.lower():  # see partition_choice
            return found
        return replace(found, read_partitions=tuple(parse_scan_partitions(self.schema, text)))

    def reads_partition(self, values: Sequence[Any]) -> bool:
        """Whether `scan.partitions` selects a partition, or may select one that begins with these values."""
        if self.read_partitions is None:
            return True
        named = dict(zip(self.schema.partition_keys, values, strict=False))
        return any(matches_partition_spec(named, spec) for spec in self.read_partitions)

    def at_schema(self, schema: TableSchema) -> TableStore:
        """The same table with another of its schemas; dynamic options stay in force."""
        return self.with_known_newest(replace(self, schema=replace(schema, options={**schema.options, **self.dynamic})))

    def schema_by_id(self, schema_id: int) -> TableSchema:
        """A version of the schema, such as the one that a file was written with; the selected one with its dynamic options."""
        return self.schema if schema_id == self.schema.id else self.schemas.get(schema_id)

    def at_newest_schema(self) -> TableStore:
        """This table with its latest schema, for rewriting existing rows: an older schema would lose values of columns
        that were added or widened since.
        """
        newest = self.schemas.latest_id()
        return self if newest is None or newest <= self.schema.id else self.at_schema(self.schemas.get(newest))

    def on_branch(self, branch: str) -> TableStore:
        """Another branch of the same table, with that branch's latest schema."""
        if self.is_format_table and branch == self.branch and not self.first_schema:
            return self  # the catalog server has its schema
        found = TableStore.open(self.fs, self.root, branch, self.dynamic)
        if self.first_schema and found.first_schema != self.first_schema:
            raise self._replaced_error(found.first_schema)
        versions = self.versions.on_branch(branch) if self.versions is not None else None
        return replace(
            found, watcher=self.watcher, iceberg_catalog=self.iceberg_catalog, rights=self.rights, versions=versions, sql=self.sql,
            skips_unreadable_files=self.skips_unreadable_files, read_partitions=self.read_partitions,
        )  # fmt: skip

    def refreshed(self) -> TableStore:
        """The same table with the currently latest schema. Raises TableReplaced if it was re-created."""
        self.check_identity()
        return self.on_branch(self.branch)

    def check_readable(self) -> None:
        """Raise AccessDenied if the user may not read this table's rows, UnsupportedFormat as `check_supported`."""
        if self.rights is not None:
            self.rights.check_read()
        self.check_supported(Access.READ)

    def check_supported(self, access: Access) -> None:
        """Raise UnsupportedFormat if an option of the table requires an unsupported feature for such an access."""
        if self._requests_unsupported:
            check_supported({**self.schema.options, opt.BRANCH.key: self.branch}, access, self.name)

    @cached_property
    def _requests_unsupported(self) -> bool:
        """Whether an option of the table requires a feature that some access does not support."""
        return bool(unsupported_options_set({**self.schema.options, opt.BRANCH.key: self.branch}))

    @cached_property
    def inline_blobs(self) -> frozenset[str]:
        """BLOB columns whose data files have references instead of the values: with a primary key all of them."""
        return self.referring_blobs | self.managed_blobs

    @cached_property
    def referring_blobs(self) -> frozenset[str]:
        """BLOB columns that take only references: descriptors of files, or views of other tables."""
        inline = {n for o in opt.INLINE_BLOBS for n in self.options.names(o)}
        return frozenset(f.name for f in self.schema.fields if f.type.root == "BLOB" and f.name in inline)

    @cached_property
    def managed_blobs(self) -> frozenset[str]:
        """BLOB columns of a table with a primary key whose values are in `.managed.blob` files."""
        if not self.has_keys:
            return frozenset()
        return frozenset(f.name for f in self.schema.fields if is_blob_type(f.type)) - self.referring_blobs

    def check_writable_columns(self) -> None:
        """Raise UnsupportedFormat if the table has a column whose values cannot be written."""
        for column in self.schema.fields:
            if is_opaque(column.type) or (is_blob_type(column.type) and not self.evolves_data and not self.has_keys):
                raise UnsupportedFormat(
                    f"{self.name}: rows cannot be written here, since column {column.name!r} is {column.type.bare()}",
                    hint="write the table with a newer Paimon, or ALTER TABLE ... DROP COLUMN",
                    column=column.name,
                    feature=column.type.root,
                )

    def check_not_replaced(self, schema_id: int) -> None:
        """Raise TableReplaced if a newer schema is that of another table, which replaced this one in place."""
        newer = self.schemas.get(schema_id)
        if {f.id for f in newer.fields}.isdisjoint(f.id for f in self.schema.fields):
            raise TableReplaced(
                f"{self.name}: the table was replaced since it was opened",
                hint="open the table again; write uncommitted rows again", path=self.root,
            )  # fmt: skip

    def check_identity(self) -> None:
        """Raise TableReplaced if the table at this path is not the one that was opened."""
        self.check_first_schema()
        self.check_schema_unchanged()

    def check_first_schema(self) -> None:
        """The first half of `check_identity`."""
        now = _read_if_present(self.fs, self._first_schema_path)
        if self.first_schema and (now or b"") != self.first_schema:
            raise self._replaced_error(now)

    def check_schema_unchanged(self) -> None:
        """Raise TableReplaced if the schema that was opened is gone: files that name it could not be read."""
        if self.schema.id == 0:
            return  # `check_first_schema` looks at it
        now = self.schemas.get_again(self.schema.id)
        if now is None or now.fields != self.schema.fields:
            raise TableReplaced(
                f"{self.name}: a fast-forward replaced the schema since the table was opened; nothing was changed",
                hint="open the table again; write uncommitted rows again", path=self.root,
            )  # fmt: skip

    def _replaced_error(self, now: bytes | None) -> TableReplaced:
        return DirectoryPin(self.root, self._first_schema_path, self.first_schema).replaced(now)

    def latest(self) -> Snapshot | None:
        """The newest snapshot of the table's history; None for a table without one.

        Read again each time: another process may have rolled back and committed under an id that was read before. A snapshot of a
        writer that was killed before it saw a rollback is left out (`snapshot_below_lost`).
        """
        found = self.snapshots.latest()
        while found is not None and not found.is_known_sound and self.versions is None:
            if (below := snapshot_below_lost(self, found)) is None:
                break
            found = below
        return found

    def forget_snapshots(self) -> None:
        """Drop snapshots that were read before: another process may have rolled back."""
        if not self.is_format_table:
            self.snapshots.invalidate_cache()
            self.changelogs.invalidate_cache()

    # -- names and options

    @property
    def name(self) -> str:
        """The table's name from its directory, with the branch if it is not main."""
        base = self.root.rsplit("/", 1)[-1]
        return base if self.branch == MAIN_BRANCH else f"{base}$branch_{self.branch}"

    @cached_property
    def options(self) -> TableOptions:
        return TableOptions(self.schema.options)

    @property
    def has_keys(self) -> bool:
        """True for a primary-key table."""
        return bool(self.schema.primary_keys)

    @property
    def is_format_table(self) -> bool:
        """Whether the table is a directory of plain files, without snapshots."""
        return self.schema.options.get(opt.TYPE.key) == FORMAT_TABLE

    def check_not_materialized(self, what: str) -> None:
        """Raises UnsupportedOperation: the rows of a materialized table are those of its query. `what`: the refused change."""
        if self.options.raw.get(opt.TYPE.key) == MATERIALIZED_TABLE:
            raise UnsupportedOperation(
                f"{self.name} is a materialized table: {what} is not possible, its rows are those of its query",
                hint=f"change the tables that it reads, then ALTER MATERIALIZED TABLE {self.name} REFRESH",
            )

    def check_has_snapshots(self, what: str = "snapshots") -> None:
        """Raise UnsupportedOperation: the table is a format table, and `what` needs snapshots."""
        if self.is_format_table:
            raise UnsupportedOperation(
                f"{self.name} is a format table, a directory of {self.options.get(opt.FILE_FORMAT)} files: it has no {what}",
                hint="SELECT, INSERT, INSERT OVERWRITE, TRUNCATE and DROP PARTITION work on it; "
                "CREATE TABLE ... AS SELECT makes a Paimon table of its rows",
                table=self.name,
            )

    @cached_property
    def has_key_indexes(self) -> bool:
        """Whether columns of a primary-key table have indexes (`pk-btree.index.columns` and others)."""
        return self.has_keys and any(k.startswith("pk-") and k.endswith(".index.columns") for k in self.options.raw)

    @property
    def evolves_data(self) -> bool:
        """Whether files of this table may hold only some columns of their rows (data evolution)."""
        return not self.has_keys and bool(self.options.get(opt.DATA_EVOLUTION_ENABLED))

    @property
    def has_iceberg_metadata(self) -> bool:
        """Whether the table asks for Iceberg metadata after each commit."""
        return self.schema.options.get(opt.METADATA_ICEBERG_STORAGE.key, "disabled") != "disabled"

    @property
    def bucket_option(self) -> int:
        """The `bucket` option: N > 0 fixed, -1 dynamic or bucket-unaware, -2 postponed."""
        return int(self.options.get(opt.BUCKET))

    # -- directories

    @cached_property
    def branch_root(self) -> str:
        """The directory of this branch's schemas, snapshots, tags, consumers and changelogs."""
        return _branch_root(self.fs, self.root, self.branch)

    @cached_property
    def schemas(self) -> SchemaDirectory:
        if self.is_format_table:
            return new_schema_directory(self.fs, self.root, self.schema)
        return SchemaDirectory(self.fs, self.branch_root)

    @cached_property
    def snapshots(self) -> SnapshotDirectory:
        self.check_has_snapshots()
        if self.versions is not None:
            from paimon_nb.table.read.managed_versions import ManagedSnapshots

            return ManagedSnapshots(self.fs, self.branch_root, self.versions)
        return SnapshotDirectory(self.fs, self.branch_root)

    @cached_property
    def changelogs(self) -> SnapshotDirectory:
        self.check_has_snapshots("changelogs")
        return SnapshotDirectory(self.fs, self.branch_root, kind="changelog")

    @cached_property
    def tags(self) -> TagDirectory:
        self.check_has_snapshots("tags")
        if self.versions is not None:
            from paimon_nb.table.read.managed_versions import ManagedTags

            return ManagedTags(self.fs, self.branch_root, self.versions)
        from paimon_nb.format.snapshot import TagDirectory

        return TagDirectory(self.fs, self.branch_root)

    @cached_property
    def consumers(self) -> ConsumerDirectory:
        self.check_has_snapshots("consumers")
        from paimon_nb.format.snapshot import ConsumerDirectory

        return ConsumerDirectory(self.fs, self.branch_root)

    @cached_property
    def branches(self) -> BranchDirectory:
        self.check_has_snapshots("branches")
        from paimon_nb.format.snapshot import BranchDirectory

        return BranchDirectory(self.fs, self.root)

    # -- paths (docs/spec/format.md sections 1 and 11)

    def manifest_path(self, name: str) -> str:
        return f"{self.root}/manifest/{name}"

    def statistics_path(self, name: str) -> str:
        return f"{self.root}/statistics/{name}"

    def index_path(self, entry: IndexEntry) -> str:
        """Path of a deletion-vector, hash or global index file."""
        if entry.external_path:
            return self._external_files.checked(entry.external_path)
        if self.options.get(opt.INDEX_FILE_IN_DATA_FILE_DIR) and entry.global_index is None:
            return f"{self.bucket_dir(entry.partition, entry.bucket)}/{entry.file_name}"
        return f"{self.root}/index/{entry.file_name}"

    @property
    def data_root(self) -> str:
        """The directory above the partition directories."""
        below = self.options.get(opt.DATA_FILE_PATH_DIRECTORY)
        return f"{self.root}/{below.strip('/')}" if below else self.root

    def partition_values(self, partition: bytes) -> tuple[Any, ...]:
        """The partition's values in the in-row Python form, in the order of the partition keys."""
        return deserialize([f.type for f in self.schema.partition_fields], partition)

    def partition_order(self, partition: bytes) -> tuple[tuple[bool, Any], ...]:
        """The key that sorts partitions by their values, NULL first."""
        return tuple((v is not None, v) for v in self.partition_values(partition))

    def partition_dir(self, partition: bytes) -> str:
        """The directory of a partition; the data root itself when the table is not partitioned."""
        if not self.schema.partition_keys:
            return self.data_root
        return f"{self.data_root}/{path_of_names(self.partition_texts(self.partition_values(partition)))}"

    def partition_texts(self, values: Sequence[Any]) -> dict[str, str]:
        """Column -> text of a partition, or of its first columns, as in directory names but not escaped."""
        return partition_texts(self.schema, self.options, values)

    def bucket_dir(self, partition: bytes, bucket: int) -> str:
        name = "bucket-postpone" if bucket == POSTPONE_BUCKET else f"bucket-{bucket}"
        return f"{self.partition_dir(partition)}/{name}"

    def data_path(self, partition: bytes, bucket: int, file: DataFile) -> str:
        """Path of a data or changelog file. Raises OutsideWarehouse: an external path of a file that is not the table's."""
        if file.external_path:
            return self._external_files.checked(file.external_path)
        return f"{self.bucket_dir(partition, bucket)}/{file.file_name}"

    def prefetch(self, partition: bytes, bucket: int, files: Iterable[DataFile]) -> None:
        """Announce data files of a bucket that are read next; see `FileIO.prefetch`."""
        if self.fs.is_object_store:
            self.fs.prefetch((self.data_path(partition, bucket, f), f.file_size) for f in files)

    def extra_paths(self, partition: bytes, bucket: int, file: DataFile) -> list[str]:
        """Paths of the file's sidecars (file indexes), in the same directory."""
        folder = self.data_path(partition, bucket, file).rsplit("/", 1)[0]
        return [f"{folder}/{extra}" for extra in file.extra_files]

    def paths_of(self, partition: bytes, bucket: int, file: DataFile) -> list[str]:
        """Path of a data or changelog file, then those of its sidecars."""
        return [self.data_path(partition, bucket, file), *self.extra_paths(partition, bucket, file)]

    def new_path(self, partition: bytes, bucket: int, name: str) -> tuple[str, str | None]:
        """(path of a new data or changelog file, external path for its entry).

        The second is None for a file inside the table: its path follows from its name.
        """
        folder = self.bucket_dir(partition, bucket)
        if self._path_allocator is None:
            return f"{folder}/{name}", None
        path = self._external_files.checked(self._path_allocator(folder.removeprefix(f"{self.root}/"), name))
        return path, path

    def new_index_path(self, partition: bytes, bucket: int, name: str) -> tuple[str, str | None]:
        """The same for an index file of a bucket."""
        if self.options.get(opt.INDEX_FILE_IN_DATA_FILE_DIR):
            return self.new_path(partition, bucket, name)
        return f"{self.root}/index/{name}", None

    @cached_property
    def _external_files(self) -> ExternalFiles:
        def declared() -> list[str]:
            stored = [] if self.is_format_table else self.schemas.all()
            options = [self.options, *(TableOptions(schema.options) for schema in stored)]
            indexes = (o.get(opt.GLOBAL_INDEX_EXTERNAL_PATH) for o in options)
            return [root for o in options for root in o.names(opt.DATA_FILE_EXTERNAL_PATHS)] + [i for i in indexes if i]

        return ExternalFiles(self.fs, self.root, self.name, declared)

    @cached_property
    def _path_allocator(self) -> PathAllocator | None:
        if not self.options.has(opt.DATA_FILE_EXTERNAL_PATHS):
            return None
        from paimon_nb.table.read.external_paths import path_allocator

        return path_allocator(self.options)

    def new_file_name(self, kind: str, extension: str | None = None) -> str:
        """A fresh unique name: kind 'data', 'changelog', 'index', 'manifest', 'manifest-list', 'index-manifest', 'stat'."""
        prefix = (
            self.options.get(opt.DATA_FILE_PREFIX) if kind == "data"
            else self.options.get(opt.CHANGELOG_FILE_PREFIX) if kind == "changelog"
            else f"{kind}-"
        )  # fmt: skip
        return f"{prefix}{uuid.uuid4()}-0" + (f".{extension}" if extension else "")

    def new_snapshot_uuid(self) -> str | None:
        """The uuid of a new snapshot: a catalog server identifies snapshots by it. None where the file name is enough."""
        return None if self.versions is None else str(uuid.uuid4())

    def __getstate__(self) -> dict[str, Any]:
        # Cached directories and options are computed again after unpickling: a task gets six small values.
        return {k: v for k, v in self.__dict__.items() if k in self.__dataclass_fields__}


def _branch_root(fs: FileIO, root: str, branch: str) -> str:
    if branch == MAIN_BRANCH:
        return root
    from paimon_nb.format.snapshot import BranchDirectory

    return BranchDirectory(fs, root).root(branch)


def _first_schema_path(root: str) -> str:
    return f"{root}/schema/schema-0"


def _read_if_present(fs: FileIO, path: str) -> bytes | None:
    try:
        return fs.read(path)
    except MissingFile:
        return None
