"""A REST catalog server over a folder, after Paimon's OpenAPI document: real files, commits decided under a lock.

It can also misbehave: `fault` makes requests slow, lost, refused or answered with nonsense.
"""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from paimon_nb.base.errors import (
    AlreadyExists,
    BranchNotFound,
    ColumnNotFound,
    DatabaseNotFound,
    PaimonError,
    SnapshotNotFound,
    TableNotFound,
    TagNotFound,
)
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.filesystem import FilesystemCatalog
from paimon_nb.format.schema import TableSchema, create_schema
from paimon_nb.format.types.parse import parse_field_json, parse_type_json
from paimon_nb.fs import open_fs
from paimon_nb.options.option import parse_duration_ms
from paimon_nb.statements.ddl import (
    AddColumn,
    AlterColumn,
    Change,
    DropColumn,
    RenameColumn,
    ResetOptions,
    SetComment,
    SetOptions,
)
from paimon_nb.table.write.maintenance import branches, rollback, tags
from paimon_nb.workbench import Workbench, connect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

PREFIX = "paimon"
_MEASURES = ("recordCount", "fileSizeInBytes", "fileCount", "lastFileCreationTime")
"""What is known of a partition; -1: unknown."""
_STATUS: list[tuple[type[PaimonError], int, str]] = [
    (DatabaseNotFound, 404, "DATABASE"), (TableNotFound, 404, "TABLE"), (SnapshotNotFound, 404, "SNAPSHOT"),
    (TagNotFound, 404, "TAG"), (BranchNotFound, 404, "BRANCH"), (ColumnNotFound, 404, "COLUMN"),
    (AlreadyExists, 409, "TABLE"),
]  # fmt: skip


class HttpError(Exception):
    def __init__(self, status: int, message: str, kind: str | None = None, name: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.kind, self.name = status, message, kind, name


@dataclass
class Fault:
    """What happens to the next `times` requests of a method whose path matches.

    `kind`: 'lose request', 'lose reply', 'status', 'slow', 'text' (a 200 reply with this body), 'drip' (a byte at a time).
    """

    method: str
    path: str
    kind: str
    times: int = 1
    status: int = 503
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    seconds: float = 0.0


class RestServer:
    """A server on the loopback, from `with` on.

    Attributes:
        token: the bearer token it wants; None wants none.
        check: called with (method, path, params, headers, body) to authorise a request; overrides `token`.
        denied: databases, and `database.table`s, that nobody may use.
        requests: (method, path) of every request.
    """

    def __init__(self, folder: Path | str, options: Mapping[str, str] | None = None) -> None:
        warehouse = str(folder)
        self.catalog = FilesystemCatalog("server", warehouse, options or {}, open_fs(warehouse, options or {}))
        self.catalog.create_database("default", if_not_exists=True)
        self.token: str | None = None
        self.check: Callable[[str, str, dict[str, str], Mapping[str, str], str], bool] | None = None
        self.config: dict[str, dict[str, str]] = {"defaults": {}, "overrides": {"prefix": PREFIX}}
        self.denied: dict[str, str] = {}
        self.unsupported: set[str] = set()
        self.page_size = 100
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, str]] = []
        self.storage_token: Callable[[], tuple[dict[str, str], int]] = lambda: ({}, int(time.time() * 1000) + 7_200_000)
        self.views: dict[tuple[str, str], dict[str, Any]] = {}
        self.functions: dict[tuple[str, str], dict[str, Any]] = {}
        self.properties: dict[str, dict[str, str]] = {}
        self.external: set[str] = set()
        self._ids: dict[str, str] = {}
        self._partitions: dict[str, dict[str, dict[str, Any]]] = {}
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.catalog_server = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def options(self, **more: str) -> dict[str, str]:
        """The options of CREATE CATALOG."""
        bearer = {"token.provider": "bear", "token": self.token} if self.token else {}
        local = {"data-file.external-paths": self.catalog.warehouse} if self.catalog.warehouse.startswith("/") else {}
        return {"type": "paimon", "metastore": "rest", "uri": self.uri, "warehouse": "w", **local, **bearer, **more}

    def connect_options(self) -> dict[str, str]:
        """The options of `paimon_nb.connect`, which takes the warehouse beside them."""
        return {k: v for k, v in self.options().items() if k not in ("type", "warehouse")}

    def workbench(self, warehouse: str = "w", **more: Any) -> Workbench:
        """A session of this catalog; `more`: further arguments of `paimon_nb.connect`."""
        return connect(warehouse, options=self.connect_options(), **more)

    def fault(self, method: str, path: str, kind: str, **how: Any) -> None:
        self.faults.append(Fault(method, path, kind, **how))

    def count(self, method: str, path: str) -> int:
        """How many requests came whose path ends like this."""
        return sum(m == method and re.search(path + "$", p) is not None for m, p in self.requests)

    def take_fault(self, method: str, path: str) -> Fault | None:
        with self._lock:
            for fault in self.faults:
                if fault.times > 0 and fault.method == method and re.search(fault.path + "$", path):
                    fault.times -= 1
                    return fault
        return None

    # -- requests

    def answer(self, method: str, path: str, params: dict[str, str], body: Any) -> Any:
        """The reply's JSON. Raises HttpError."""
        if path == "/v1/config":
            return self.config
        segments = [unquote_plus(s) for s in path.removeprefix("/v1/").split("/")]
        if segments.pop(0) != PREFIX:
            raise HttpError(404, "no such path")
        named = [1, 3, 5] if segments[4:5] != ["partitions"] else [1, 3]
        named = [i for i in named if i < len(segments)] if segments[0] == "databases" else []
        shape = "/".join("*" if i in named else s for i, s in enumerate(segments))
        names = [segments[i] for i in named]
        handler = _ROUTES.get((method, shape))
        if handler is None or f"{method} {shape}" in self.unsupported:
            raise HttpError(501 if handler else 404, "not implemented")
        self._check_denied(segments)
        with self._lock:
            try:
                return handler(self, *names, params=params, body=body)
            except PaimonError as error:
                for kind, status, resource in _STATUS:
                    if isinstance(error, kind):
                        raise HttpError(
                            status, error.message, resource, names[1] if len(names) > 1 else None
                        ) from error
                raise HttpError(400, error.message) from error

    def _check_denied(self, segments: list[str]) -> None:
        database = segments[1] if len(segments) > 1 and segments[0] == "databases" else None
        table = f"{database}.{segments[3].split('$')[0]}" if len(segments) > 3 and segments[2] == "tables" else None
        for name, kind in ((database, "DATABASE"), (table, "TABLE")):
            if name in self.denied:
                raise HttpError(403, self.denied[name], kind, name)

    # -- databases

    def list_databases(self, *, params: dict[str, str], body: Any) -> Any:
        return self._page("databases", self.catalog.databases(), params)

    def create_database(self, *, params: dict[str, str], body: Any) -> Any:
        try:
            self.catalog.create_database(body["name"])
        except AlreadyExists as error:
            raise HttpError(409, error.message, "DATABASE", body["name"]) from error
        self.properties[body["name"]] = dict(body.get("options") or {})

    def get_database(self, database: str, *, params: dict[str, str], body: Any) -> Any:
        self.catalog.tables(database)
        now = int(time.time() * 1000)
        return {
            "id": database, "name": database, "location": self.catalog.metastore.database_path(database),
            "options": self.properties.get(database, {}), "owner": "owner", "createdAt": now, "createdBy": "owner",
            "updatedAt": now, "updatedBy": "owner",
        }  # fmt: skip

    def alter_database(self, database: str, *, params: dict[str, str], body: Any) -> Any:
        self.catalog.tables(database)
        found = self.properties.setdefault(database, {})
        found.update(body.get("updates") or {})
        removed = [key for key in body.get("removals") or [] if found.pop(key, None) is not None]
        return {"removed": removed, "updated": list(body.get("updates") or {}), "missing": []}

    def drop_database(self, database: str, *, params: dict[str, str], body: Any) -> Any:
        self.catalog.drop_database(database, cascade=True)

    # -- tables

    def list_tables(self, database: str, *, params: dict[str, str], body: Any) -> Any:
        return self._page("tables", self.catalog.tables(database), params)

    def create_table(self, database: str, *, params: dict[str, str], body: Any) -> Any:
        node = body["schema"]
        schema = create_schema(
            [parse_field_json(f, "column") for f in node["fields"]], node.get("partitionKeys") or [],
            node.get("primaryKeys") or [], node.get("options") or {}, node.get("comment"),
        )  # fmt: skip
        name = Identifier(database, body["identifier"]["object"])
        self.catalog.create_table(name, schema)
        self._ids[str(name)] = str(uuid.uuid4())

    def get_table(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        name = _named(database, table)
        found = self.catalog.table(name)
        path = found.path if "://" in found.path else f"file://{found.path}"
        return {
            "id": self._id(name), "database": database, "name": table, "path": path,
            "isExternal": str(name) in self.external, "schemaId": found.schema.id, "schema": _schema_node(found.schema),
            "owner": "owner", "createdAt": 1, "createdBy": "owner", "updatedAt": 1, "updatedBy": "owner",
        }  # fmt: skip

    def alter_table(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        self.catalog.alter_table(_named(database, table), [_change(node) for node in body["changes"]])

    def drop_table(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        name = _named(database, table)
        self.catalog.drop_table(name, purge=True)
        self._ids.pop(str(name), None)
        self._partitions.pop(str(name), None)

    def rename_table(self, *, params: dict[str, str], body: Any) -> Any:
        source, target = (Identifier(body[k]["database"], body[k]["object"]) for k in ("source", "destination"))
        self.catalog.rename_table(source, target)
        self._ids[str(target)] = self._ids.pop(str(source), str(uuid.uuid4()))

    def get_token(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        self.catalog.table(_named(database, table))
        token, expires = self.storage_token()
        return {"token": token, "expiresAtMillis": expires}

    # -- versions

    def commit(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        name = _named(database, table)
        store = self.catalog.table(name).store
        if body["tableId"] != self._id(name):
            raise HttpError(404, f"table {name} is another one now", "TABLE", table)
        node = body["snapshot"]
        newest = store.latest()
        base = newest.uuid if newest else None
        expected = newest.id + 1 if newest else node["id"]
        if body.get("baseSnapshotUuid") != base or node["id"] != expected:
            return {"success": False}
        written = store.fs.put_if_absent(store.snapshots.path(node["id"]), json.dumps(node).encode())
        if written:
            store.snapshots.write_latest_hint(node["id"])
            self._count(str(name), body.get("statistics") or [])
        return {"success": written}

    def latest_snapshot(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        store = self.catalog.table(_named(database, table)).store
        newest = store.latest()
        if newest is None:
            raise HttpError(404, "no snapshot yet", "SNAPSHOT", "latest")
        totals = {"recordCount": newest.total_record_count or 0, "fileSizeInBytes": 0, "fileCount": 0}
        return {"snapshot": {"snapshot": newest.to_node(), **totals, "lastFileCreationTime": newest.time_ms}}

    def get_snapshot(self, database: str, table: str, version: str, *, params: dict[str, str], body: Any) -> Any:
        store = self.catalog.table(_named(database, table)).store
        return {"snapshot": store.snapshots.get(int(version)).to_node()}

    def rollback(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        store = self.catalog.table(_named(database, table)).store
        newest, wanted = store.latest(), body.get("fromSnapshot")
        if wanted is not None and newest is not None and newest.id != wanted:
            raise HttpError(500, f"the latest snapshot is {newest.id}, not {wanted}")
        if body["instant"]["type"] == "tag":
            rollback.rollback_to_tag(store, body["instant"]["tagName"])
        else:
            rollback.rollback_to_snapshot(store, body["instant"]["snapshotId"])

    def list_tags(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        return self._page("tags", self.catalog.table(_named(database, table)).store.tags.names(), params)

    def create_tag(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        store = self.catalog.table(_named(database, table)).store
        retained = body.get("timeRetained")
        try:
            tags.create_tag(
                store,
                body["tagName"],
                body.get("snapshotId"),
                retained_ms=parse_duration_ms(retained) if retained else None,
            )
        except AlreadyExists as error:
            raise HttpError(409, error.message, "TAG", body["tagName"]) from error

    def get_tag(self, database: str, table: str, tag: str, *, params: dict[str, str], body: Any) -> Any:
        found = self.catalog.table(_named(database, table)).store.tags.get(tag)
        return {
            "tagName": tag, "snapshot": found.snapshot.to_node(),
            "tagCreateTime": int(found.create_time.timestamp() * 1000) if found.create_time else None,
            "tagTimeRetained": f"PT{found.retained_ms / 1000}S" if found.retained_ms is not None else None,
        }  # fmt: skip

    def delete_tag(self, database: str, table: str, tag: str, *, params: dict[str, str], body: Any) -> Any:
        tags.delete_tag(self.catalog.table(_named(database, table)).store, tag)

    def list_branches(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        return {"branches": self.catalog.table(_named(database, table)).store.branches.names()}

    def create_branch(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        store = self.catalog.table(_named(database, table)).store
        try:
            branches.create_branch(store, body["branch"], body.get("fromTag"))
        except AlreadyExists as error:
            raise HttpError(409, error.message, "BRANCH", body["branch"]) from error

    def drop_branch(self, database: str, table: str, branch: str, *, params: dict[str, str], body: Any) -> Any:
        branches.delete_branch(self.catalog.table(_named(database, table)).store, branch)

    def forward_branch(self, database: str, table: str, branch: str, *, params: dict[str, str], body: Any) -> Any:
        branches.fast_forward(self.catalog.table(_named(database, table)).store, branch)

    def rename_branch(self, database: str, table: str, branch: str, *, params: dict[str, str], body: Any) -> Any:
        branches.rename_branch(self.catalog.table(_named(database, table)).store, branch, body["toBranch"])

    def list_partitions(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        name = _named(database, table)
        self.catalog.table(name)
        found = self._partitions.get(str(name), {})
        page = self._page("partitions", sorted(found), params)
        return {**page, "partitions": [found[key] for key in page["partitions"]]}

    def create_partitions(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        name = str(_named(database, table))
        self.catalog.table(_named(database, table))
        found = self._partitions.setdefault(name, {})
        keys = [json.dumps(spec, sort_keys=True) for spec in body["partitionSpecs"]]
        if present := [key for key in keys if key in found and not body.get("ignoreIfExists", True)]:
            raise HttpError(409, f"Partition {present[0]} already exists.", "PARTITION", present[0])
        reported = {json.dumps(s["spec"], sort_keys=True): s for s in body.get("partitionStatistics") or []}
        for key, spec in zip(keys, body["partitionSpecs"], strict=True):
            unknown = {**dict.fromkeys(_MEASURES, -1), "totalBuckets": -1, "done": False}
            old = found.setdefault(key, {"spec": spec, **unknown})
            for measure in _MEASURES if key in reported else ():
                new = reported[key][measure]
                if new < 0:
                    continue
                if body.get("replaceStatistics") or old[measure] < 0:
                    old[measure] = new
                else:
                    old[measure] = max(old[measure], new) if measure == _MEASURES[-1] else old[measure] + new
        return {"created": [], "existed": []}

    def drop_partitions(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        found = self._partitions.setdefault(str(_named(database, table)), {})
        for spec in body["partitionSpecs"]:
            found.pop(json.dumps(spec, sort_keys=True), None)
        return {"dropped": [], "missing": []}

    def mark_partitions(self, database: str, table: str, *, params: dict[str, str], body: Any) -> Any:
        for spec in body["specs"]:
            self._partitions[str(_named(database, table))][json.dumps(spec, sort_keys=True)]["done"] = True

    # -- views and functions

    def list_views(self, database: str, *, params: dict[str, str], body: Any) -> Any:
        return self._page("views", [v for d, v in self.views if d == database], params)

    def create_view(self, database: str, *, params: dict[str, str], body: Any) -> Any:
        name = body["identifier"]["object"]
        if (database, name) in self.views:
            raise HttpError(409, f"view {name} exists", "VIEW", name)
        self.views[database, name] = body["schema"]

    def get_view(self, database: str, view: str, *, params: dict[str, str], body: Any) -> Any:
        if (database, view) not in self.views:
            raise HttpError(404, f"no view {view}", "VIEW", view)
        return {"id": view, "name": view, "schema": self.views[database, view], "owner": "owner"}

    def alter_view(self, database: str, view: str, *, params: dict[str, str], body: Any) -> Any:
        dialects = self.get_view(database, view, params={}, body=None)["schema"].setdefault("dialects", {})
        for change in body["changes"]:
            action, dialect = change["action"], change["dialect"]
            if (action == "addDialect") == (dialect in dialects):
                status, what = (409, "exists") if dialect in dialects else (404, "does not exist")
                raise HttpError(status, f"dialect {dialect} {what}", "DIALECT", dialect)
            if action == "dropDialect":
                del dialects[dialect]
            else:
                dialects[dialect] = change["query"]

    def drop_view(self, database: str, view: str, *, params: dict[str, str], body: Any) -> Any:
        if self.views.pop((database, view), None) is None:
            raise HttpError(404, f"no view {view}", "VIEW", view)

    def list_functions(self, database: str, *, params: dict[str, str], body: Any) -> Any:
        return self._page("functions", [f for d, f in self.functions if d == database], params)

    def create_function(self, database: str, *, params: dict[str, str], body: Any) -> Any:
        if (database, body["name"]) in self.functions:
            raise HttpError(409, f"function {body['name']} exists", "FUNCTION", body["name"])
        self.functions[database, body["name"]] = body

    def drop_function(self, database: str, function: str, *, params: dict[str, str], body: Any) -> Any:
        if self.functions.pop((database, function), None) is None:
            raise HttpError(404, f"no function {function}", "FUNCTION", function)

    def get_function(self, database: str, function: str, *, params: dict[str, str], body: Any) -> Any:
        if (database, function) not in self.functions:
            raise HttpError(404, f"no function {function}", "FUNCTION", function)
        return self.functions[database, function]

    # -- parts

    def _id(self, name: Identifier) -> str:
        return self._ids.setdefault(str(Identifier(name.database, name.table)), str(uuid.uuid4()))

    def _page(self, key: str, names: list[str], params: dict[str, str]) -> dict[str, Any]:
        wanted = int(params.get("maxResults") or self.page_size)
        size = min(wanted if wanted > 0 else self.page_size, self.page_size)
        after = [n for n in sorted(names) if n > params.get("pageToken", "")]
        more = len(after) > size
        return {key: after[:size], "nextPageToken": after[size - 1] if more else None}

    def _count(self, table: str, statistics: list[dict[str, Any]]) -> None:
        """Add a commit's differences to the listed partitions."""
        found = self._partitions.setdefault(table, {})
        for change in statistics:
            key = json.dumps(change["spec"], sort_keys=True)
            counts = ("recordCount", "fileSizeInBytes", "fileCount")
            old = found.get(key, {**dict.fromkeys(counts, 0), "lastFileCreationTime": 0, "done": False})
            newest = max(old["lastFileCreationTime"], change["lastFileCreationTime"])
            found[key] = {**old, **change, **{k: old[k] + change[k] for k in counts}, "lastFileCreationTime": newest}
            if found[key]["fileCount"] <= 0:
                del found[key]


def _named(database: str, table: str) -> Identifier:
    return Identifier.parse_object(database, table)


def _schema_node(schema: TableSchema) -> dict[str, Any]:
    node = schema.to_node()
    return {key: node.get(key) for key in ("fields", "partitionKeys", "primaryKeys", "options", "comment")}


def _change(node: dict[str, Any]) -> Change:
    path = tuple(node.get("fieldNames") or ())
    move = node.get("move") or {}
    first = move.get("type") == "FIRST"
    after = move.get("referenceFieldName") if move.get("type") == "AFTER" else None
    match node["action"]:
        case "setOption":
            return SetOptions({node["key"]: node["value"]})
        case "removeOption":
            return ResetOptions((node["key"],))
        case "updateComment":
            return SetComment(node.get("comment"))
        case "addColumn":
            return AddColumn(
                path, str(parse_type_json(node["dataType"])), node.get("comment"), first=first, after=after
            )
        case "dropColumn":
            return DropColumn(path)
        case "renameColumn":
            return RenameColumn(path, node["newName"])
        case "updateColumnType":
            parsed = parse_type_json(node["newDataType"])
            if node.get("keepNullability"):
                return AlterColumn(path, parsed.bare())
            return AlterColumn(path, parsed.bare(), nullable=parsed.nullable)
        case "updateColumnNullability":
            return AlterColumn(path, nullable=node["newNullability"])
        case "updateColumnComment":
            return AlterColumn(path, comment=node.get("newComment") or "")
        case "updateColumnDefaultValue":
            default = node.get("newDefaultValue")
            return AlterColumn(path, default=default) if default is not None else AlterColumn(path, drop_default=True)
        case "updateColumnPosition":
            return AlterColumn((move["fieldName"],), first=first, after=after)
    raise HttpError(400, f"unknown change {node['action']}")


_TABLE = "databases/*/tables/*"
_ROUTES: dict[tuple[str, str], Callable[..., Any]] = {
    ("GET", "databases"): RestServer.list_databases,
    ("POST", "databases"): RestServer.create_database,
    ("GET", "databases/*"): RestServer.get_database,
    ("POST", "databases/*"): RestServer.alter_database,
    ("DELETE", "databases/*"): RestServer.drop_database,
    ("GET", "databases/*/tables"): RestServer.list_tables,
    ("POST", "databases/*/tables"): RestServer.create_table,
    ("GET", _TABLE): RestServer.get_table,
    ("POST", _TABLE): RestServer.alter_table,
    ("DELETE", _TABLE): RestServer.drop_table,
    ("POST", "tables/rename"): RestServer.rename_table,
    ("GET", f"{_TABLE}/token"): RestServer.get_token,
    ("POST", f"{_TABLE}/commit"): RestServer.commit,
    ("POST", f"{_TABLE}/rollback"): RestServer.rollback,
    ("GET", f"{_TABLE}/snapshot"): RestServer.latest_snapshot,
    ("GET", f"{_TABLE}/snapshots/*"): RestServer.get_snapshot,
    ("GET", f"{_TABLE}/tags"): RestServer.list_tags,
    ("POST", f"{_TABLE}/tags"): RestServer.create_tag,
    ("GET", f"{_TABLE}/tags/*"): RestServer.get_tag,
    ("DELETE", f"{_TABLE}/tags/*"): RestServer.delete_tag,
    ("GET", f"{_TABLE}/branches"): RestServer.list_branches,
    ("POST", f"{_TABLE}/branches"): RestServer.create_branch,
    ("DELETE", f"{_TABLE}/branches/*"): RestServer.drop_branch,
    ("POST", f"{_TABLE}/branches/*/forward"): RestServer.forward_branch,
    ("POST", f"{_TABLE}/branches/*/rename"): RestServer.rename_branch,
    ("GET", f"{_TABLE}/partitions"): RestServer.list_partitions,
    ("POST", f"{_TABLE}/partitions"): RestServer.create_partitions,
    ("POST", f"{_TABLE}/partitions/drop"): RestServer.drop_partitions,
    ("POST", f"{_TABLE}/partitions/mark"): RestServer.mark_partitions,
    ("GET", "databases/*/views"): RestServer.list_views,
    ("POST", "databases/*/views"): RestServer.create_view,
    ("GET", "databases/*/views/*"): RestServer.get_view,
    ("POST", "databases/*/views/*"): RestServer.alter_view,
    ("DELETE", "databases/*/views/*"): RestServer.drop_view,
    ("GET", "databases/*/functions"): RestServer.list_functions,
    ("POST", "databases/*/functions"): RestServer.create_function,
    ("GET", "databases/*/functions/*"): RestServer.get_function,
    ("DELETE", "databases/*/functions/*"): RestServer.drop_function,
}


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    catalog_server: RestServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._handle("GET")

    def do_POST(self) -> None:
        self._handle("POST")

    def do_DELETE(self) -> None:
        self._handle("DELETE")

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def _handle(self, method: str) -> None:
        server = self.server.catalog_server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        address = urlsplit(self.path)
        params = dict(parse_qsl(address.query))
        server.requests.append((method, address.path))
        fault = server.take_fault(method, address.path)
        if fault is not None and fault.kind == "lose request":
            self.close_connection = True
            return None
        if fault is not None and fault.kind == "slow":
            time.sleep(fault.seconds)
        if fault is not None and fault.kind == "status":
            return self._reply(fault.status, fault.body, fault.headers)
        if fault is not None and fault.kind == "text":
            return self._reply(200, fault.body, {})
        status, reply = self._answer(server, method, address.path, params, body)
        if fault is not None and fault.kind == "lose reply":
            self.close_connection = True
            return None
        return self._reply(status, reply, {"x-request-id": f"r{len(server.requests)}"}, drip=fault)

    def _answer(
        self, server: RestServer, method: str, path: str, params: dict[str, str], body: str
    ) -> tuple[int, bytes]:
        try:
            self._authorize(server, method, path, params, body)
            reply = server.answer(method, path, params, json.loads(body) if body else None)
            return 200, json.dumps(reply).encode() if reply is not None else b""
        except HttpError as error:
            node = {
                "message": error.message,
                "resourceType": error.kind,
                "resourceName": error.name,
                "code": error.status,
            }
            return error.status, json.dumps(node).encode()
        except Exception as error:
            return 500, json.dumps({"message": f"{type(error).__name__}: {error}", "code": 500}).encode()

    def _authorize(self, server: RestServer, method: str, path: str, params: dict[str, str], body: str) -> None:
        if server.check is not None:
            good = server.check(method, path, params, self.headers, body)
        else:
            good = server.token is None or self.headers.get("Authorization") == f"Bearer {server.token}"
        if not good:
            raise HttpError(401, "the token is not valid")

    def _reply(self, status: int, body: bytes, headers: Mapping[str, str], drip: Fault | None = None) -> None:
        self.send_response(status)
        for key, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        if drip is None or drip.kind != "drip":
            self.wfile.write(body)
            return
        for i in range(len(body)):
            self.wfile.write(body[i : i + 1])
            self.wfile.flush()
            time.sleep(drip.seconds)
