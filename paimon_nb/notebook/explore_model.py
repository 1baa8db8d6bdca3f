"""A table as a tree: schemas, options, snapshots, manifest lists, manifests, files, row groups. Nodes are read when opened."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.base.errors import CorruptFile, PaimonError, SnapshotNotFound
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_options
from paimon_nb.format.data.parquet_footer import as_parquet, chunks_of_group, read_footer
from paimon_nb.notebook.grid.texts import value_text
from paimon_nb.notebook.overview import (
    LAST_COMMITS,
    Stored,
    Tile,
    column_bounds_of_files,
    commit_strip_svg,
    overview_lead,
    overview_tiles,
    read_stored_files,
    snapshot_panels,
    table_kind_labels,
    table_panels,
)
from paimon_nb.notebook.timeline_model import timeline_of_snapshots
from paimon_nb.table.tables.inspect.formatting import bytes_text, partition_text

if TYPE_CHECKING:
    from paimon_nb.format.manifest import ManifestEntry, ManifestFile
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.tables.table import Table

MAX_CHILDREN = 500
"""Further children of a node are counted, not listed."""
MAX_ROWS = 200
LISTS = ("base", "delta", "changelog")
KINDS = ("+", "−")


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the tree. `id` is its path: `snapshot/5/delta/manifest-…/0`."""

    id: str
    label: str
    note: str = ""
    branch: bool = False
    """Whether the node has children."""
    badge: str = ""
    """The node's icon: a commit kind (`APPEND` ...) or a file level (`L0` ...)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Details of a node: pairs, a table, related nodes, and an equivalent SQL query."""

    title: str
    pairs: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """(text, node id)."""
    sql: str = ""
    error: str = ""
    kind: tuple[str, ...] = ()
    """Short labels."""
    tiles: tuple[Tile, ...] = ()
    """Key figures."""
    svg: str = ""
    """A picture whose `.dot[data-snapshot]` lead to snapshots."""
    panels: tuple[tuple[str, str], ...] = ()
    """(text, command that opens another panel)."""
    lead: str = ""
    """What this is, in a sentence."""
    has_rows: bool = False
    """Whether the page asks for the first rows, which are read apart from the metadata."""


_NodeHandler = tuple[Callable[..., list[Node]], Callable[..., Facts]]
"""Two functions for a kind of node: its children and its details."""


@dataclass(slots=True)
class Inspector:
    """Reads the nodes of one table. Unreadable or missing files give details with an error instead of an exception."""

    table: Table
    _handlers: dict[str, _NodeHandler] = field(init=False)

    def __post_init__(self) -> None:
        self._handlers = {
            "": (self._root_nodes, self._table_facts),
            "schemas": (self._schema_nodes, self._schemas_facts),
            "schema": (_no_children, self._schema_facts),
            "options": (_no_children, self._options_facts),
            "snapshots": (self._snapshot_nodes, self._snapshots_facts),
            "snapshot": (self._nodes_inside_snapshot, self._inside_snapshot_facts),
            "tags": (self._tag_nodes, self._tags_facts),
            "tag": (partial(self._nodes_inside_snapshot, kind="tag"), partial(self._inside_snapshot_facts, kind="tag")),
            "branches": (_no_children, self._branches_facts),
            "consumers": (_no_children, self._consumers_facts),
        }

    def children(self, node: str) -> list[Node]:
        """The children, at most `MAX_CHILDREN`; [] when the node cannot be read (`facts` has the error)."""
        try:
            found = self._handler_of(node)[0](*_node_arguments(node))
        except _READ_ERRORS:
            return []
        if len(found) > MAX_CHILDREN:
            hidden = len(found) - MAX_CHILDREN
            return [*found[:MAX_CHILDREN], Node(f"{node}/…", f"{hidden:,} more", "use SQL to list all")]
        return found

    def facts(self, node: str) -> Facts:
        """The details of a node; `error` is set when something could not be read."""
        try:
            return self._handler_of(node)[1](*_node_arguments(node))
        except PaimonError as error:
            return Facts(
                node, error=f"{type(error).__name__}: {error.message}" + (f" → {error.hint}" if error.hint else "")
            )
        except _READ_ERRORS as error:
            return Facts(node, error=f"cannot be read: {error}")

    def _handler_of(self, node: str) -> _NodeHandler:
        handler = self._handlers.get(node.split("/", 1)[0])
        if handler is None:
            raise SnapshotNotFound(f"unknown node {node!r}", hint="start at the root, ''")
        return handler

    # -- the table

    def _root_nodes(self) -> list[Node]:
        store = self.table.store
        counts = {
            "schemas": ("schemas", len(store.schemas.ids()), True),
            "options": ("options", len(store.schema.options), False),
        }
        counts |= (
            {}
            if store.is_format_table
            else {
                "snapshots": ("snapshots", len(store.snapshots.ids()), True),
                "tags": ("tags", len(store.tags.names()), True),
                "branches": ("branches", len(store.branches.names()), False),
                "consumers": ("consumers", len(store.consumers.ids()), False),
            }
        )
        return [Node(i, label, f"{n:,}", branch and n > 0) for i, (label, n, branch) in counts.items()]

    def _table_facts(self) -> Facts:
        store = self.table.store
        latest = None if store.is_format_table else store.latest()
        pairs = [
            ("comment", store.schema.comment or ""),
            ("primary key", ", ".join(self.table.primary_keys) or _no_key(store)),
            ("partitioned by", ", ".join(self.table.partition_keys)),
            ("path", self.table.path),
        ]
        stored = self._value_if_readable(lambda: read_stored_files(store, latest) if latest else None, None)
        columns, rows = self._columns_with_stats(stored)
        links = [("schema", f"schema/{store.schema.id}"), ("options", "options")]
        if latest:
            links.append((f"snapshot {latest.id}", f"snapshot/{latest.id}"))
        return Facts(
            str(self.table.name), _non_empty(pairs), columns, rows, tuple(links), f"DESCRIBE {self.table.name.quoted()}",
            kind=table_kind_labels(store), tiles=() if store.is_format_table else self._value_if_readable(lambda: overview_tiles(store, latest, stored, clock.now_ms()), ()),
            svg=self._value_if_readable(lambda: commit_strip_svg(timeline_of_snapshots(store, LAST_COMMITS + 1).commits), ""), panels=table_panels(self.table),
            lead="" if store.is_format_table else self._value_if_readable(lambda: overview_lead(self.table, latest, stored, clock.now_ms()), ""), has_rows=True,
        )  # fmt: skip

    def _columns_with_stats(self, stored: Stored | None) -> tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]:
        """Columns of the latest schema with their statistics over all files; empty columns are omitted."""
        store = self.table.store
        schema, format_value = self._schema_facts(str(store.schema.id)), _value_formatter(store.schema)
        bounds = self._value_if_readable(lambda: column_bounds_of_files(store, stored.known) if stored else {}, {})
        names = (*schema.columns, "min", "max", "nulls")
        rows = []
        for row in schema.rows:
            column_bounds = bounds.get(row[0] or "")
            low, high = (
                (format_value(row[0] or "", v) for v in (column_bounds.low, column_bounds.high))
                if column_bounds
                else ("", "")
            )
            rows.append((*row, low or "", high or "", f"{column_bounds.nulls:,}" if column_bounds else ""))
        visible_columns = [i for i, name in enumerate(names) if name != "id" and any(row[i] for row in rows)]
        return tuple(names[i] for i in visible_columns), tuple(tuple(row[i] for i in visible_columns) for row in rows)

    def _value_if_readable(self, read: Callable[[], Any], fallback: Any) -> Any:
        """Optional details are omitted when their files cannot be read; the nodes below show which files."""
        try:
            return read()
        except _READ_ERRORS:
            return fallback

    def _schema_nodes(self) -> list[Node]:
        return [
            Node(f"schema/{s.id}", f"schema {s.id}", f"{len(s.fields)} columns")
            for s in map(self.table.store.schemas.get, sorted(self.table.store.schemas.ids(), reverse=True))
        ]

    def _schemas_facts(self) -> Facts:
        schemas = [self.table.store.schemas.get(i) for i in sorted(self.table.store.schemas.ids())]
        rows = [
            (str(s.id), instant(s.time_ms), str(len(s.fields)), schema_change_text(b, s))
            for b, s in zip([None, *schemas], schemas, strict=False)
        ]
        return Facts(
            "schemas",
            columns=("id", "time", "columns", "changes"),
            rows=tuple(rows[:MAX_ROWS]),
            sql=self._system_table_sql("schemas"),
        )

    def _schema_facts(self, number: str) -> Facts:
        schema = self.table.store.schemas.get(int(number))
        rows = tuple(
            (
                f.name, str(f.type), "PRIMARY" if f.name in schema.primary_keys else "PARTITION" if f.name in schema.partition_keys else "",
                f.default_value, f.description, str(f.id),
            )
            for f in schema.fields[:MAX_ROWS]
        )  # fmt: skip
        pairs = [
            ("time", instant(schema.time_ms)),
            ("comment", schema.comment or ""),
            ("options", f"{len(schema.options)} set"),
        ]
        more = len(schema.fields) - len(rows)
        return Facts(
            f"schema {number}", _non_empty([*pairs, ("columns not shown", f"{more:,}" if more > 0 else "")]),
            ("column", "type", "key", "default", "comment", "id"), rows, (("options", "options"),), self._system_table_sql("schemas"),
        )  # fmt: skip

    def _options_facts(self) -> Facts:
        from paimon_nb.options import TABLE_OPTIONS

        rows = []
        for key, value in sorted(redact_options(self.table.store.schema.options).items()):
            known = TABLE_OPTIONS.get(key)
            rows.append(
                (
                    key,
                    value,
                    "" if known is None else value_text(known.default),
                    "unknown option" if known is None else known.doc,
                )
            )
        return Facts(
            "options",
            columns=("option", "value", "default", "meaning"),
            rows=tuple(rows[:MAX_ROWS]),
            sql=self._system_table_sql("options"),
        )

    # -- snapshots, tags, branches, consumers

    def _snapshot_nodes(self) -> list[Node]:
        found = []
        for number in sorted(self.table.store.snapshots.ids(), reverse=True)[: MAX_CHILDREN + 1]:
            try:
                snapshot = self.table.store.snapshots.get(number)
            except PaimonError as error:
                found.append(Node(f"snapshot/{number}", f"snapshot {number}", type(error).__name__))
                continue
            note = f"{snapshot.commit_kind.lower()} {snapshot.delta_record_count or 0:+,}"
            found.append(Node(f"snapshot/{number}", f"snapshot {number}", note, True, snapshot.commit_kind))
        return found

    def _snapshots_facts(self) -> Facts:
        ids = self.table.store.snapshots.ids()
        return Facts(
            "snapshots",
            (("retained", f"{len(ids):,}"), ("earliest", str(min(ids, default="")) or "none")),
            sql=self._system_table_sql("snapshots"),
        )

    def _tag_nodes(self) -> list[Node]:
        return [Node(f"tag/{t.name}", t.name, f"snapshot {t.snapshot.id}", True) for t in self.table.store.tags.all()]

    def _tags_facts(self) -> Facts:
        rows = [(t.name, str(t.snapshot.id), instant(t.snapshot.time_ms)) for t in self.table.store.tags.all()]
        return Facts(
            "tags",
            columns=("tag", "snapshot", "committed"),
            rows=tuple(rows[:MAX_ROWS]),
            sql=self._system_table_sql("tags"),
        )

    def _branches_facts(self) -> Facts:
        rows = [(name,) for name in self.table.store.branches.names()]
        return Facts(
            "branches", columns=("branch",), rows=tuple(rows[:MAX_ROWS]), sql=self._system_table_sql("branches")
        )

    def _consumers_facts(self) -> Facts:
        store = self.table.store
        rows = [(c, str(store.consumers.next_snapshot(c))) for c in store.consumers.ids()]
        links = tuple((f"next of {c}: snapshot {n}", f"snapshot/{n}") for c, n in rows[:20])
        return Facts(
            "consumers",
            columns=("consumer", "next snapshot"),
            rows=tuple(rows[:MAX_ROWS]),
            links=links,
            sql=self._system_table_sql("consumers"),
        )

    # -- inside a snapshot: list / manifest / entry / row group

    def _snapshot_of_node(self, kind: str, name: str) -> Snapshot:
        store = self.table.store
        return store.tags.get(name).snapshot if kind == "tag" else store.snapshots.get(int(name))

    def _nodes_inside_snapshot(self, name: str, *inner: str, kind: str = "snapshot") -> list[Node]:
        snapshot = self._snapshot_of_node(kind, name)
        here = "/".join((kind, name, *inner))
        match inner:
            case ():
                return [
                    Node(f"{here}/{w}", f"{w} manifest list", "", True) for w in LISTS if _list_name(snapshot, w)
                ] + ([Node(f"{here}/index", "index manifest")] if snapshot.index_manifest else [])
            case (which,) if which in LISTS:
                return [
                    Node(
                        f"{here}/{m.file_name}",
                        _short_file_name(m.file_name),
                        f"+{m.num_added:,} −{m.num_deleted:,}",
                        True,
                    )
                    for m in self._manifests_of_list(snapshot, which)
                ]
            case (_, manifest):
                return [
                    Node(
                        f"{here}/{i}",
                        _short_file_name(e.file.file_name),
                        self._entry_note(e),
                        e.file.file_name.endswith(".parquet"),
                        f"L{e.file.level}" if self.table.primary_keys else "",
                    )
                    for i, e in enumerate(self._manifest_entries(manifest)[: MAX_CHILDREN + 1])
                ]
            case (_, manifest, entry):
                _, footer = self._parquet_footer(self._manifest_entries(manifest)[int(entry)])
                return [
                    Node(f"{here}/{i}", f"row group {i}", f"{footer.row_group(i).num_rows:,} rows")
                    for i in range(footer.num_row_groups)
                ]
        return []

    def _inside_snapshot_facts(self, name: str, *inner: str, kind: str = "snapshot") -> Facts:
        snapshot = self._snapshot_of_node(kind, name)
        match inner:
            case ():
                return self._snapshot_facts(snapshot, f"{kind} {name}")
            case ("index",):
                return self._index_facts(snapshot)
            case (which,):
                return self._manifest_list_facts(snapshot, which)
            case (which, manifest):
                return self._manifest_facts(snapshot, which, manifest)
            case (_, manifest, entry):
                return self._entry_facts(self._manifest_entries(manifest)[int(entry)])
            case (_, manifest, entry, group):
                return self._row_group_facts(self._manifest_entries(manifest)[int(entry)], int(group))
        raise SnapshotNotFound(f"unknown node {'/'.join((kind, name, *inner))!r}", hint="start at the root, ''")

    def _snapshot_facts(self, s: Snapshot, title: str) -> Facts:
        pairs = [
            ("kind", s.commit_kind), ("committed", instant(s.time_ms)), ("by", s.commit_user), ("identifier", str(s.commit_identifier)),
            ("physical rows", f"{s.total_record_count or 0:,}"), ("added by this commit", f"{s.delta_record_count or 0:+,}"),
            ("changelog rows", f"{s.changelog_record_count:,}" if s.changelog_record_count else ""),
            ("watermark", "" if s.watermark in (None, -(2**63)) else str(s.watermark)), ("statistics", s.statistics or ""),
            *((f"property {k}", v) for k, v in redact_options(s.properties or {}).items()),
        ]  # fmt: skip
        ids = self.table.store.snapshots.ids()
        near = [("◂ previous", s.id - 1), ("next ▸", s.id + 1)]
        links = [(f"{text}: snapshot {n}", f"snapshot/{n}") for text, n in near if n in ids]
        links.append((f"schema {s.schema_id}", f"schema/{s.schema_id}"))
        return Facts(
            title,
            _non_empty(pairs),
            links=tuple(links),
            sql=f"SELECT * FROM {self.table.name.quoted()} VERSION AS OF {s.id}",
            panels=snapshot_panels(self.table, s.id, s.id - 1 in ids) if s.id in ids else (),
        )

    def _manifests_of_list(self, snapshot: Snapshot, list_kind: str) -> list[ManifestFile]:
        from paimon_nb.format.manifest import read_manifest_list

        store = self.table.store
        return read_manifest_list(store.fs, store.manifest_path(_list_name(snapshot, list_kind) or ""))

    def _manifest_entries(self, manifest: str) -> list[ManifestEntry]:
        from paimon_nb.format.manifest import read_manifest

        return read_manifest(self.table.store.fs, self.table.store.manifest_path(manifest))

    def _manifest_list_facts(self, snapshot: Snapshot, which: str) -> Facts:
        manifests = self._manifests_of_list(snapshot, which)
        rows = [
            (
                _short_file_name(m.file_name),
                bytes_text(m.file_size),
                f"{m.num_added:,}",
                f"{m.num_deleted:,}",
                str(m.schema_id),
            )
            for m in manifests
        ]
        pairs = (("file", _list_name(snapshot, which) or ""), ("manifests", f"{len(manifests):,}"))
        return Facts(
            f"{which} manifest list", pairs, ("manifest", "size", "adds", "deletes", "schema"), tuple(rows[:MAX_ROWS]),
            ((f"snapshot {snapshot.id}", f"snapshot/{snapshot.id}"),), self._system_table_sql("manifests", snapshot.id),
        )  # fmt: skip

    def _manifest_facts(self, snapshot: Snapshot, which: str, manifest: str) -> Facts:
        entries = self._manifest_entries(manifest)
        rows = [
            (KINDS[e.kind], _short_file_name(e.file.file_name), partition_text(self.table.store, e.partition), str(e.bucket), f"L{e.file.level}", f"{e.file.row_count:,}", bytes_text(e.file.file_size))
            for e in entries[:MAX_ROWS]
        ]  # fmt: skip
        pairs = (("file", manifest), ("entries", f"{len(entries):,}"))
        links = ((f"{which} manifest list", f"snapshot/{snapshot.id}/{which}"),)
        return Facts(
            "manifest",
            pairs,
            ("", "file", "partition", "bucket", "level", "rows", "size"),
            tuple(rows),
            links,
            self._system_table_sql("files", snapshot.id),
        )

    def _index_facts(self, snapshot: Snapshot) -> Facts:
        from paimon_nb.format.manifest import read_index_manifest

        store = self.table.store
        entries = read_index_manifest(store.fs, store.manifest_path(snapshot.index_manifest or ""))
        rows = [
            (
                e.index_type,
                e.file_name,
                partition_text(store, e.partition),
                str(e.bucket),
                f"{e.row_count:,}",
                bytes_text(e.file_size),
            )
            for e in entries[:MAX_ROWS]
        ]
        pairs = (("file", snapshot.index_manifest or ""), ("entries", f"{len(entries):,}"))
        return Facts(
            "index manifest",
            pairs,
            ("kind", "file", "partition", "bucket", "rows", "size"),
            tuple(rows),
            sql=self._system_table_sql("table_indexes", snapshot.id),
        )

    def _entry_note(self, e: ManifestEntry) -> str:
        where = partition_text(self.table.store, e.partition)
        level = f"L{e.file.level} " if self.table.primary_keys else ""
        return f"{KINDS[e.kind]} {where + ' · ' if where else ''}b{e.bucket} · {level}{e.file.row_count:,} rows"

    def _entry_facts(self, e: ManifestEntry) -> Facts:
        from paimon_nb.format.manifest import ADD
        from paimon_nb.format.stats import decode_stats

        store, f = self.table.store, e.file
        schema = store.schemas.get(f.schema_id)
        texts = _value_formatter(schema)
        pairs = [
            ("path", store.data_path(e.partition, e.bucket, f).removeprefix(store.root + "/")), ("entry", ("adds the file", "removes the file")[e.kind]),
            ("partition", partition_text(store, e.partition)), ("bucket", f"{e.bucket} of {e.total_buckets}"), ("level", str(f.level)),
            ("rows", f"{f.row_count:,}"), ("delete rows", f"{f.delete_row_count:,}" if f.delete_row_count else ""),
            ("size", bytes_text(f.file_size)), ("sequence", f"{f.min_sequence:,} … {f.max_sequence:,}"),
            ("written by", {0: "a commit", 1: "a compaction"}.get(f.file_source if f.file_source is not None else -1, "")),
            ("created", instant(f.creation_time_ms) if f.creation_time_ms else ""), ("extra files", ", ".join(f.extra_files)),
            ("embedded file index", bytes_text(len(f.embedded_index)) if f.embedded_index else ""),
        ]  # fmt: skip
        error = ""
        if f.file_name.endswith(".parquet") and e.kind == ADD:
            try:
                pairs.append(("row groups", str(self._parquet_footer(e)[1].num_row_groups)))
            except PaimonError as broken:
                error = f"{type(broken).__name__}: {broken.message}"
        stats = decode_stats(schema.fields, f.value_stats, f.value_stats_cols)
        rows = [
            (n, texts(n, s.min), texts(n, s.max), "" if s.null_count is None else f"{s.null_count:,}")
            for n, s in list(stats.items())[:MAX_ROWS]
        ]
        return Facts(
            f.file_name, _non_empty(pairs), ("column", "min", "max", "nulls") if rows else (), tuple(rows),
            ((f"schema {f.schema_id}", f"schema/{f.schema_id}"),), self._system_table_sql("files"), error,
        )  # fmt: skip

    def _parquet_footer(self, e: ManifestEntry) -> tuple[bytes, Any]:
        """The encoded footer, and Arrow's view of it."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.table.store.data_path(e.partition, e.bucket, e.file)
        with self.table.store.fs.open(path) as source:
            try:
                footer = read_footer(source)
                return footer, pq.read_metadata(pa.BufferReader(as_parquet(footer)))
            except (OSError, ValueError) as error:
                raise CorruptFile(path, str(error)) from error

    def _row_group_facts(self, e: ManifestEntry, number: int) -> Facts:
        footer, metadata = self._parquet_footer(e)
        group = metadata.row_group(number)
        rows = []
        for c in chunks_of_group(footer, metadata, number, MAX_ROWS):
            bounds = ("", "") if c.bounds is None else tuple(value_text(v) for v in c.bounds)
            rows.append(
                (c.path, c.physical_type, c.codec, bytes_text(c.compressed), bytes_text(c.uncompressed), *bounds)
            )
        pairs = (("rows", f"{group.num_rows:,}"), ("uncompressed size", bytes_text(group.total_byte_size)))
        return Facts(
            f"row group {number}",
            pairs,
            ("column", "type", "codec", "compressed", "uncompressed", "min", "max"),
            tuple(rows),
        )

    def _system_table_sql(self, system: str, snapshot: int | None = None) -> str:
        name = self.table.name
        travel = f" VERSION AS OF {snapshot}" if snapshot is not None else ""
        return f"SELECT * FROM `{name.database}`.`{name.table}${system}`{travel}"


_READ_ERRORS = (PaimonError, OSError, ValueError, IndexError, RecursionError)


def _no_key(store: TableStore) -> str:
    return "none" if store.is_format_table else "none (append table)"


def _no_children(*_: str) -> list[Node]:
    return []


def _node_arguments(node: str) -> list[str]:
    return node.split("/")[1:]


def _non_empty(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs with a value."""
    return tuple((k, v) for k, v in pairs if v)


def _list_name(snapshot: Snapshot, list_kind: str) -> str | None:
    return {"base": snapshot.base_manifest_list, "delta": snapshot.delta_manifest_list}.get(
        list_kind, snapshot.changelog_manifest_list
    )


def _short_file_name(name: str) -> str:
    """Keep the start of the UUID (it identifies the writer) and the number at the end (the file)."""
    uuid_end = name.find("-") + 9
    return name if len(name) <= 30 else f"{name[:uuid_end]}…{name[name.rfind('-') :]}"


def _value_formatter(schema: TableSchema) -> Callable[[str, Any], str | None]:
    from paimon_nb.base.errors import UnsupportedFormat
    from paimon_nb.format.row import cast_to_string

    types = {f.name: f.type for f in schema.fields}

    def format_value(name: str, value: Any) -> str | None:
        if value is None:
            return None
        try:
            return value_text(cast_to_string(types[name], value))
        except UnsupportedFormat:
            return "…"

    return format_value


def instant(ms: int) -> str:
    """Epoch milliseconds as UTC text."""
    return dt.datetime.fromtimestamp(ms / 1000, dt.UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"


def schema_change_text(before: TableSchema | None, after: TableSchema) -> str:
    """One line: columns added, dropped or changed, and options that differ."""
    if before is None:
        return "created"
    old_fields, new_fields = {f.id: f for f in before.fields}, {f.id: f for f in after.fields}
    changes = [f"+{new_fields[i].name}" for i in new_fields.keys() - old_fields.keys()] + [
        f"−{old_fields[i].name}" for i in old_fields.keys() - new_fields.keys()
    ]
    for i in sorted(old_fields.keys() & new_fields.keys()):
        if old_fields[i].name != new_fields[i].name:
            changes.append(f"{old_fields[i].name} → {new_fields[i].name}")
        if str(old_fields[i].type) != str(new_fields[i].type):
            changes.append(f"{new_fields[i].name}: {old_fields[i].type} → {new_fields[i].type}")
    keys = {k for k in {**before.options, **after.options} if before.options.get(k) != after.options.get(k)}
    return ", ".join([*changes, *(f"option {k}" for k in sorted(keys))]) or "no visible change"


def explore_text(inspector: Inspector) -> str:
    """The first two levels in characters; no times, no file names."""
    facts, store = inspector.facts(""), inspector.table.store
    pairs = [pair for pair in facts.pairs if pair[0] != "path"]
    if store.is_format_table:
        pairs.append(("kind", ", ".join(facts.kind)))
    elif not facts.error:
        latest = store.latest()
        pairs += [
            ("buckets", str(store.bucket_option)),
            ("latest snapshot", f"{latest.id}" if latest else "none yet"),
            ("physical rows", f"{latest.total_record_count or 0:,}" if latest else "0"),
        ]
    lines = [facts.title, *(f"  {k}: {v}" for k, v in pairs)]
    schema = inspector.facts(f"schema/{inspector.table.store.schema.id}")
    lines += ["  columns", *(f"    {row[0]}  {row[1]}" for row in schema.rows[:20])]
    if len(schema.rows) > 20:
        lines.append("    …")
    for node in inspector.children(""):
        lines.append(f"  {node.label} ({node.note})")
        if node.id in ("snapshots", "tags"):
            inside = inspector.children(node.id)
            lines += [f"    {p.label}  {p.note}" for p in inside[:5]] + (["    …"] if len(inside) > 5 else [])
    return "\n".join(lines)
