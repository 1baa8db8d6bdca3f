"""The catalog tree of JupyterLab's side bar: catalogs, databases, tables, columns, tags, jobs. Reads metadata only.

A node is addressed by its kind and its path, a list of names. `tree_children` reads names; `table_facts` reads size and health of
some tables within a time limit. Neither starts Spark.
"""

from __future__ import annotations

import re
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError, UnknownName
from paimon_nb.base.identifier import MAIN_BRANCH, Identifier, quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.state_tables import visible_tables
from paimon_nb.notebook.errors import error_sentence
from paimon_nb.notebook.overview import ago_text, table_kind_labels
from paimon_nb.table.tables.inspect.formatting import bytes_text, count_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from paimon_nb.catalog.api import Catalog
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.session import Session
    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench

    _Level = tuple[Sequence[Any], Callable[[Any], "Node"], str]
    """The children of a node: a cheap list, the function that makes a node of an item, the text for an empty list."""

PAGE = 200
"""Nodes of one answer."""
FACTS_SECONDS = 1.5
"""One request for facts ends after this time; the tables that are left are requested again."""
SEARCH_SECONDS = 3.0
"""A search reads columns for so long."""
MAX_FILES = 5_000
MAX_MANIFEST_BYTES = 8 << 20
"""Size and health need every manifest of the snapshot: for larger tables only the number of rows is shown."""
_PLAIN = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Node:
    """One line of the tree."""

    kind: str
    """catalog, database, table, view, column, tags, tag, branches, branch, system, system_table, temporary, jobs, job."""
    path: tuple[str, ...]
    label: str
    note: str = ""
    """Dimmed text after the label: a type, a time, a number."""
    tip: str = ""
    expands: bool = False
    insert: str = ""
    """The SQL text that dragging the node inserts."""
    command: str = ""
    """Table: its name in a %paimon command; '' if the name is not one word."""
    mark: str = ""
    """Column: key or partition. Job: running, failed or ended. Database, catalog: current."""
    snapshot: int | None = None
    """Tag: the id of its snapshot."""


@dataclass(frozen=True, slots=True)
class Children:
    """Some children of a node."""

    nodes: tuple[Node, ...]
    more: int = 0
    """Children after these."""
    empty: str = ""
    """What to show if there are none."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What a line of a table shows beside the name."""

    path: tuple[str, ...]
    note: str
    tip: str
    health: str
    """ok, slow, broken, empty or unknown."""
    key: str = ""
    """The primary key as arguments of %paimon why, without values; '' for a table without one."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def tree_children(wb: Workbench, kind: str, path: Sequence[str], match: str = "", start: int = 0) -> Children:
    """The children of a node, at most `PAGE` of them.

    Args:
        kind, path: the node; 'root' and () for the top.
        match: only children whose name contains this text, in any case.
        start: how many of them to skip.

    Raises:
        UnknownName: no node of this kind has children.
        PaimonError: the catalog or the table cannot be read.
    """
    read = _CHILDREN.get(kind)
    if read is None or len(path) != _DEPTH[kind]:
        raise UnknownName(
            f"no tree node {kind!r} with {count_text(len(path), 'name')}", hint="refresh the tree", name=kind
        )
    names, node, empty = read(wb.session, tuple(path))
    found = [name for name in names if match.lower() in _text_of(name).lower()]
    return Children(
        tuple(node(name) for name in found[start : start + PAGE]), max(0, len(found) - start - PAGE),
        f"no name contains {match!r}" if match and names else empty,
    )  # fmt: skip


def _text_of(name: Any) -> str:
    """The text that the filter searches."""
    return str(getattr(name, "name", name[-1] if isinstance(name, tuple) else name))


def _root_level(session: Session, _: tuple[str, ...]) -> _Level:
    top = [Node("catalog", (name,), name, expands=True, insert=_quoted(name), mark="current" if name == session.current_catalog else "",
                tip=_catalog_tip(session.catalogs[name])) for name in sorted(session.catalogs)]  # fmt: skip
    temporary = len(session.views) + len(session.temporary)
    if temporary:
        tip = "temporary views and tables of this session"
        top.append(Node("temporary", (), "Temporary", f"{temporary}", tip, expands=True))
    running = sum(job.isActive for job in list(session.jobs.all.values()))
    note = f"{running} running" if running else f"{len(session.jobs.all) or ''}"
    top.append(Node("jobs", (), "Jobs", note, "streaming jobs of this session", expands=True))
    return top, lambda node: node, ""


def _catalog_tip(catalog: Catalog) -> str:
    return f"catalog {catalog.name}\nwarehouse {catalog.warehouse}"


def _databases_of_catalog(session: Session, path: tuple[str, ...]) -> _Level:
    catalog = _catalog(session, path[0])
    return sorted(catalog.databases()), lambda name: _database_node(session, (*path, name)), "no databases"


def _database_node(session: Session, path: tuple[str, ...]) -> Node:
    catalog, name = path
    current = path == (session.current_catalog, session.current_database)
    parts = (name,) if catalog == session.current_catalog else path
    return Node(
        "database", path, name, expands=True, insert=_dotted(parts), mark="current" if current else "",
        tip=f"database {name}" + (" (current)" if current else ""), command=_command(parts),
    )  # fmt: skip


def _tables_and_views_of_database(session: Session, path: tuple[str, ...]) -> _Level:
    catalog, database = _catalog(session, path[0]), path[1]

    def table_node(of: tuple[str, str]) -> Node:
        return _table_node(session, of[0], (*path, of[1]))

    names = [("table", name) for name in visible_tables(catalog, database)]
    names += [("view", name) for name in catalog.views(database)]
    return sorted(names, key=lambda n: n[1]), table_node, "no tables yet"


def _table_node(session: Session, kind: str, path: tuple[str, ...]) -> Node:
    """A table or a view."""
    parts = _shortest_name(session, path)
    return Node(
        kind, path, path[2], note="view" if kind == "view" else "", tip=f"{kind} {path[2]}", expands=kind == "table",
        insert=_dotted(parts), command=_command(parts),
    )  # fmt: skip


def _table_children(session: Session, path: tuple[str, ...]) -> _Level:
    table = _table(session, path)
    schema = table.schema
    groups = [("tags", "Tags"), ("branches", "Branches"), ("system", "System tables")]
    groups = [] if table.store.is_format_table else groups

    def child_node(child: Any) -> Node:
        if isinstance(child, tuple):
            return Node(child[0], path, child[1], expands=True)
        mark = (
            "key" if child.name in schema.primary_keys else "partition" if child.name in schema.partition_keys else ""
        )
        kind = "" if not mark else "primary key" if mark == "key" else "partition key"
        default = f"default {child.default_value}" if child.default_value is not None else ""
        tip = "\n".join(filter(None, (f"{child.name}: {child.type}", kind, default, child.description)))
        return Node(
            "column", (*path, child.name), child.name, str(child.type), tip, insert=_quoted(child.name), mark=mark
        )

    # After many columns, the groups would be on a later page.
    return [*groups, *schema.fields] if len(schema.fields) > PAGE else [*schema.fields, *groups], child_node, ""


def _tags_of_table(session: Session, path: tuple[str, ...]) -> _Level:
    store = _table(session, path).store

    def tag_node(name: str) -> Node:
        text = "'" + name.replace("'", "''") + "'"
        try:
            number = store.tags.get(name).snapshot.id
        except PaimonError as error:
            return Node("tag", (*path, name), name, "unreadable", error_sentence(error), insert=text)
        note = f"snapshot {number}"
        return Node("tag", (*path, name), name, note, f"tag {name} of {note}", insert=text, snapshot=number)

    return store.tags.names(), tag_node, "no tags"


def _branches_of_table(session: Session, path: tuple[str, ...]) -> _Level:
    def branch_node(name: str) -> Node:
        parts = _shortest_name(session, (*path[:-1], f"{path[-1]}$branch_{name}"))
        return Node("branch", (*path, name), name, tip=f"branch {name}", insert=_dotted(parts), command=_command(parts))

    names = [n for n in _table(session, path).store.branches.names() if n != MAIN_BRANCH]
    return sorted(names), branch_node, "no branches"


def _system_tables(session: Session, path: tuple[str, ...]) -> _Level:
    from paimon_nb.table.tables.system import SYSTEM_TABLES

    def system_table_node(name: str) -> Node:
        parts = _shortest_name(session, (*path[:-1], f"{path[-1]}${name}"))
        return Node("system_table", (*path, name), name, tip=f"{path[-1]}${name}", insert=_dotted(parts))

    return sorted(SYSTEM_TABLES), system_table_node, ""


def _temporary_views_and_tables(session: Session, _: tuple[str, ...]) -> _Level:
    kinds = [*((name, "view") for name in session.views), *((name, "table") for name in session.temporary)]

    def temporary_node(of: tuple[str, str]) -> Node:
        name, kind = of
        return Node("view", ("", "", name), name, f"temporary {kind}", f"temporary {kind} {name}", insert=_quoted(name))

    return sorted(kinds), temporary_node, ""


def _streaming_jobs(session: Session, _: tuple[str, ...]) -> _Level:
    def job_node(job: Any) -> Node:
        status = job.status.lower()
        mark = "running" if status == "running" else "failed" if status == "failed" else "ended"
        since = ago_text(int(time.time() * 1000) - job.started_ms)
        tip = f"{job.name}\n{status}, started {since}, {count_text(job.rows, 'row')}"
        return Node("job", (job.id,), job.name, status, tip, insert=f"'{job.id}'", mark=mark)

    newest_first = sorted(session.jobs.all.values(), key=lambda job: (not job.isActive, -job.started_ms))
    return newest_first, job_node, "no streaming jobs in this session"


_CHILDREN: Mapping[str, Callable[[Any, tuple[str, ...]], _Level]] = {
    "root": _root_level, "catalog": _databases_of_catalog, "database": _tables_and_views_of_database, "table": _table_children, "tags": _tags_of_table, "branches": _branches_of_table,
    "system": _system_tables, "temporary": _temporary_views_and_tables, "jobs": _streaming_jobs,
}  # fmt: skip
_DEPTH = {
    "root": 0,
    "catalog": 1,
    "database": 2,
    "table": 3,
    "tags": 3,
    "branches": 3,
    "system": 3,
    "temporary": 0,
    "jobs": 0,
}


# -- search


@dataclass(frozen=True, slots=True)
class Match:
    """A node whose name contains the searched text."""

    node: Node
    table: Node | None = None
    """Of a column: its table."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a text occurs in the names of a session's catalogs.

    Args:
        matches: databases, then views and tables, then columns. more: how many were found after these.
        tables: tables whose columns were compared. unread: tables for which the time was too short.
    """

    matches: tuple[Match, ...]
    more: int = 0
    tables: int = 0
    unread: int = 0


def search_names(wb: Workbench, text: str, seconds: float = SEARCH_SECONDS) -> Found:
    """Search the names of all databases, tables, views and columns, in any case. What cannot be read is left out.

    Args:
        seconds: all names of tables are compared, and the columns of as many tables as this time allows, those of the current
            database first.
    """
    session, text_lower = wb.session, text.lower()
    matches: list[Match] = []
    views: list[tuple[str, ...]] = []
    tables: list[tuple[str, ...]] = []
    for catalog, database in _all_databases(session):
        if text_lower in database.lower():
            matches.append(Match(_database_node(session, (catalog.name, database))))
        try:
            tables += [(catalog.name, database, name) for name in visible_tables(catalog, database)]
            views += [(catalog.name, database, name) for name in catalog.views(database)]
        except (PaimonError, OSError):
            continue
    for kind, paths in (("view", views), ("table", tables)):
        matches += [
            Match(_placed(_table_node(session, kind, path), session, path[:2]))
            for path in paths
            if text_lower in path[2].lower()
        ]
    end, read = time.monotonic() + seconds, 0
    for path in tables:
        if read and time.monotonic() > end:
            break
        read += 1
        matches += _matching_columns(session, path, text_lower)
    return Found(tuple(matches[:PAGE]), max(0, len(matches) - PAGE), read, len(tables) - read)


def _matching_columns(session: Session, path: tuple[str, ...], text_lower: str) -> list[Match]:
    try:
        columns = _table(session, path).schema.fields
    except (PaimonError, OSError):
        return []
    table = _table_node(session, "table", path)
    return [
        Match(
            _placed(Node("column", (*path, c.name), c.name, insert=_quoted(c.name)), session, path, str(c.type)), table
        )
        for c in columns
        if text_lower in c.name.lower()
    ]


def _placed(node: Node, session: Session, path: tuple[str, ...], kind: str = "") -> Node:
    """The node with its place in the note: it does not stand below its parent."""
    parent = ".".join(path[1:] if path[0] == session.current_catalog else path)
    return replace(node, note=parent, tip="\n".join(filter(None, (f"{node.kind} {node.label}", kind, f"of {parent}"))))


def _all_databases(session: Session) -> list[tuple[Catalog, str]]:
    """The databases of all catalogs that answer, those of the session first."""
    out: list[tuple[Catalog, str]] = []
    for name in sorted(session.catalogs, key=lambda n: (n != session.current_catalog, n)):
        try:
            out += [(session.catalogs[name], database) for database in sorted(session.catalogs[name].databases())]
        except (PaimonError, OSError):
            continue
    return sorted(out, key=lambda d: (d[0].name, d[1]) != (session.current_catalog, session.current_database))


# -- tables


def table_facts(
    wb: Workbench, paths: Iterable[Sequence[str]], seconds: float = FACTS_SECONDS
) -> tuple[tuple[TableFacts, ...], int]:
    """Rows, size and health of tables, from their metadata.

    Args:
        paths: the tables: catalog, database, name.
        seconds: read at least one table, and no further one after this time.

    Returns:
        The facts of the first tables, and the number of tables that are left.
    """
    requested, found = [tuple(path) for path in paths], list[TableFacts]()
    end = time.monotonic() + seconds
    for path in requested:
        if found and time.monotonic() > end:
            break
        try:
            found.append(_facts_of_table(_table(wb.session, path), path))
        except (PaimonError, OSError) as error:  # a damaged table is shown with its error
            found.append(TableFacts(path, "unreadable", error_sentence(error), "broken"))
    return tuple(found), len(requested) - len(found)


def _facts_of_table(table: Table, path: tuple[str, ...]) -> TableFacts:
    from paimon_nb.table.read.live_files import snapshot_manifests
    from paimon_nb.table.tables.inspect.health import health_of_manifests

    store = table.store
    kind = " · ".join(table_kind_labels(store))
    if store.is_format_table:
        return TableFacts(path, "format table", f"{kind}\nwithout snapshots and statistics", "unknown", "")
    latest = table.latest_snapshot()
    key = " ".join(f"{k if _PLAIN.fullmatch(k) else quote(k)}=" for k in table.primary_keys)
    if latest is None:
        return TableFacts(path, "empty", f"{kind}\nno snapshot yet", "empty", key)
    rows, commit = f"{latest.total_record_count or 0:,} rows", _commit(latest)
    manifests = snapshot_manifests(store, latest)
    files = sum(m.num_added - m.num_deleted for m in manifests)
    if files > MAX_FILES or sum(m.file_size for m in manifests) > MAX_MANIFEST_BYTES:
        note = f"{kind}\n{rows}, {files:,} files; %paimon doctor checks them\n{commit}"
        return TableFacts(path, rows, note, "unknown", key)
    findings, size = health_of_manifests(store, latest, table.name)
    problems = [f"{f.what}: {f.detail}" for f in findings] or ["no problem in the metadata"]
    tip = "\n".join((kind, f"{rows}, {count_text(files, 'file')}, {bytes_text(size)}", commit, *problems))
    return TableFacts(path, bytes_text(size), tip, "slow" if findings else "ok", key)


def _commit(latest: Snapshot) -> str:
    return f"snapshot {latest.id}, {latest.commit_kind.lower()} {ago_text(int(time.time() * 1000) - latest.time_ms)}"


def tree_table(wb: Workbench, kind: str, path: Sequence[str]) -> Table:
    """The table of a node of kind table, branch or system_table.

    Raises:
        UnknownName: the node has no table. PaimonError: the table cannot be read.
    """
    if kind not in ("table", "branch", "system_table") or len(path) != (3 if kind == "table" else 4):
        raise UnknownName(f"no table for a tree node {kind!r}", hint="refresh the tree", name=kind)
    name = f"{path[2]}$branch_{path[3]}" if kind == "branch" else path[2]
    return _table(wb.session, (path[0], path[1], name))


def _catalog(session: Session, name: str) -> Catalog:
    found = session.catalogs.get(name)
    if found is None:
        raise UnknownName(f"no catalog {name!r}", hint="refresh the tree", name=name)
    return found


def _table(session: Session, path: tuple[str, ...]) -> Table:
    """The stored table; the session's dynamic options are left out, because reading them may call Spark."""
    return _catalog(session, path[0]).table(Identifier.parse_object(path[1], path[2]))


# -- names


def _quoted(name: str) -> str:
    from paimon_nb.sql import quote_if_needed

    return quote_if_needed(name)


def _dotted(parts: Iterable[str]) -> str:
    return ".".join(map(_quoted, parts))


def _shortest_name(session: Session, path: tuple[str, ...]) -> tuple[str, ...]:
    """The shortest name that resolves to this table in the session."""
    if path[0] != session.current_catalog:
        return path
    return path[1:] if path[1] != session.current_database else path[2:]


def _command(parts: tuple[str, ...]) -> str:
    return ".".join(parts) if all(map(_PLAIN.fullmatch, parts)) else ""
