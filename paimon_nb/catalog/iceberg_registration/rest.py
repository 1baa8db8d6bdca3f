"""Registers Iceberg metadata in a catalog that speaks Iceberg's REST protocol.

A new table is registered from a metadata file. Later snapshots are committed to it; a table whose history is not that of the
metadata (after a rollback, or of a dropped table) is registered again. Source: Iceberg's REST catalog specification; Paimon
2.1 `IcebergRestMetadataCommitter`.
"""

from __future__ import annotations

import json
import posixpath
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from paimon_nb.base.errors import StoreError, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.named_servers import check_is_named
from paimon_nb.catalog.rest.auth import BearerToken
from paimon_nb.catalog.rest.authorizer import Anonymous
from paimon_nb.catalog.rest.error_replies import NOT_IMPLEMENTED
from paimon_nb.catalog.rest.transport import Refused, Transport
from paimon_nb.options import table as opt
from paimon_nb.options import without_prefix
from paimon_nb.table.write.iceberg import REST_PREFIX, check_rest_uri
from paimon_nb.table.write.iceberg.metadata import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.table.read.store import TableStore

_PROPERTIES = "metadata.iceberg.table-properties."
_CONFLICT, _NOT_FOUND = 409, 404
_FILE_NOT_FOUND = "NotFoundException"
"""Iceberg's type of the error for a metadata file that does not exist."""
_ATTEMPTS = 5
Metadata = dict[str, Any]
"""JSON of Iceberg table metadata."""


@dataclass(frozen=True)
class IcebergInRest:
    """A table of a REST catalog; the table's options have the address. Pickles."""

    database: str
    table: str

    def register(self, store: TableStore, path: str) -> None:
        """Bring the catalog's table to the metadata of the file `path`; a missing table or namespace is created.

        Raises:
            UnsupportedOperation: the catalog cannot register tables, or an option for it is not supported.
            SourceUnavailable, StoreError: the catalog does not answer, or does not accept the change.
        """
        newest: Metadata = json.loads(store.fs.read(path))
        newest["properties"] = {**newest.get("properties", {}), **_table_properties(store)}
        main = {"snapshot-id": newest["current-snapshot-id"], "type": "branch"}
        newest["refs"] = {"main": main, **newest.get("refs", {})}  # Paimon's metadata files have only the tags
        service = _connect(store)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._register_once(service, store, path, newest)
                return
            except Refused as error:
                if error.refusal.status == _CONFLICT and attempt < _ATTEMPTS:
                    continue  # another writer was faster
                raise StoreError(
                    f"the Iceberg catalog at {service.transport.uri} refused {self.database}.{self.table}: {error.refusal.message}",
                    hint="check the options 'metadata.iceberg.rest.*'; the next commit tries again",
                    status=error.refusal.status,
                ) from None

    def _register_once(self, service: _Service, store: TableStore, path: str, newest: Metadata) -> None:
        """One attempt. Raises Refused."""
        table_path = service.table_path(self.database, self.table)
        try:
            there = service.get(table_path)
        except Refused as error:
            if error.refusal.resource_type != _FILE_NOT_FOUND:
                raise
            there = {"metadata": None}  # its files were deleted with an earlier table of this name
        metadata = there and there["metadata"]
        updates = updates_to(metadata, newest) if metadata else None
        if updates is not None:
            if updates:
                service.commit(table_path, self.database, self.table, metadata, updates)
            return
        latest = store.latest()
        if latest is None or latest.id != newest["current-snapshot-id"]:
            return  # a later commit registers its own metadata
        file = _write_registered_file(store, path, newest)
        service.create_namespace(self.database)
        if there is not None:
            service.drop(table_path)
        service.register(self.database, self.table, file)


@dataclass(frozen=True)
class _Service:
    """The requests of the protocol."""

    transport: Transport
    root: str
    """Path of the namespaces' parent, with the prefix that the server asks for."""

    def table_path(self, database: str, table: str) -> str:
        return f"{self.root}/namespaces/{quote(database, safe='')}/tables/{quote(table, safe='')}"

    def get(self, path: str) -> Any:
        """The reply; None for what does not exist."""
        try:
            return self.transport.request("GET", path, repeatable=True, about="Iceberg table")
        except Refused as error:
            if error.refusal.status == _NOT_FOUND:
                return None
            raise

    def create_namespace(self, database: str) -> None:
        """Create it if it does not exist."""
        if self.get(f"{self.root}/namespaces/{quote(database, safe='')}") is not None:
            return
        try:
            self._post(f"{self.root}/namespaces", {"namespace": [database], "properties": {}}, "Iceberg namespace")
        except Refused as error:
            if error.refusal.status != _CONFLICT:
                raise

    def register(self, database: str, table: str, file: str) -> None:
        """Create a table from a metadata file. Raises UnsupportedOperation: the server has no such request."""
        path = f"{self.root}/namespaces/{quote(database, safe='')}/register"
        try:
            self._post(path, {"name": table, "metadata-location": file}, "Iceberg table")
        except Refused as error:
            if error.refusal.status in (*NOT_IMPLEMENTED, _NOT_FOUND):
                raise UnsupportedOperation(
                    f"the Iceberg catalog at {self.transport.uri} cannot register tables",
                    hint="use a catalog that has 'registerTable', or 'metadata.iceberg.storage' = 'hadoop-catalog'",
                ) from None
            raise

    def drop(self, path: str) -> None:
        """Remove a table's name; its files remain."""
        try:
            self.transport.request(
                "DELETE", path, params={"purgeRequested": "false"}, repeatable=True, about="Iceberg table"
            )
        except Refused as error:
            if error.refusal.status != _NOT_FOUND:
                raise

    def commit(self, path: str, database: str, table: str, there: Metadata, updates: list[Metadata]) -> None:
        """Change the table unless it is no longer as it was."""
        requirements = [
            {"type": "assert-table-uuid", "uuid": there["table-uuid"]},
            {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": there["current-snapshot-id"]},
        ]
        body = {
            "identifier": {"namespace": [database], "name": table}, "requirements": requirements, "updates": updates,
        }  # fmt: skip
        self._post(path, body, "Iceberg table")

    def _post(self, path: str, body: Metadata, about: str) -> None:
        self.transport.request("POST", path, body=body, repeatable=False, about=about)


def updates_to(there: Metadata, newest: Metadata) -> list[Metadata] | None:
    """The protocol's updates from one metadata to another of the same history; None if they have no common history. Pure."""
    current = there.get("current-snapshot-id", -1)
    known = {s["snapshot-id"]: s for s in there.get("snapshots", ())}
    snapshots = {s["snapshot-id"]: s for s in newest["snapshots"]}
    if current not in snapshots or there["format-version"] != newest["format-version"]:
        return None
    if any(
        i in known and known[i]["summary"].get(IDENTITY) != s["summary"].get(IDENTITY) for i, s in snapshots.items()
    ):
        return None
    new = sorted(i for i in snapshots if i not in known)
    if new and new[0] < max(known):  # it would not be younger than the others
        return None
    updates, schema_ids = _schema_updates(there, newest)
    if (properties := _changed_properties(there, newest)) is not None:
        updates.append(properties)
    for number in new:
        snapshot = dict(snapshots[number])
        snapshot["schema-id"] = schema_ids[snapshot["schema-id"]]
        updates.append({"action": "add-snapshot", "snapshot": snapshot})
    if current != newest["current-snapshot-id"]:
        main = {"snapshot-id": newest["current-snapshot-id"], "type": "branch", "ref-name": "main"}
        updates.append({"action": "set-snapshot-ref", **main})
    updates += _tag_updates(there, newest)
    if expired := sorted(set(known) - set(snapshots)):
        updates.append({"action": "remove-snapshots", "snapshot-ids": expired})
    return updates


def _schema_updates(there: Metadata, newest: Metadata) -> tuple[list[Metadata], dict[int, int]]:
    """Updates for schemas that the catalog does not have, and the catalog's id of each: it gives ids itself."""
    known = [(s["fields"], s["schema-id"]) for s in there["schemas"]]
    updates: list[Metadata] = []
    ids: dict[int, int] = {}
    for schema in newest["schemas"]:
        number = next((i for fields, i in known if fields == schema["fields"]), None)
        if number is None:
            number = max(i for _, i in known) + 1
            known.append((schema["fields"], number))
            added = {**schema, "schema-id": number}
            updates.append({"action": "add-schema", "schema": added, "last-column-id": newest["last-column-id"]})
        ids[schema["schema-id"]] = number
    current = ids[newest["current-schema-id"]]
    if current != there["current-schema-id"]:
        updates.append({"action": "set-current-schema", "schema-id": current})
    return updates, ids


def _changed_properties(there: Metadata, newest: Metadata) -> Metadata | None:
    known = there.get("properties") or {}
    changed = {k: v for k, v in newest["properties"].items() if known.get(k) != v}
    return {"action": "set-properties", "updates": changed} if changed else None


def _tag_updates(there: Metadata, newest: Metadata) -> list[Metadata]:
    """Updates for tags. A snapshot that is expired loses its tag before it is removed."""
    known, tags = (
        {n: r["snapshot-id"] for n, r in (m.get("refs") or {}).items() if r["type"] == "tag"} for m in (there, newest)
    )
    removed = [{"action": "remove-snapshot-ref", "ref-name": name} for name in known if name not in tags]
    return removed + [
        {"action": "set-snapshot-ref", "ref-name": name, "type": "tag", "snapshot-id": number}
        for name, number in tags.items()
        if known.get(name) != number
    ]


def _write_registered_file(store: TableStore, path: str, newest: Metadata) -> str:
    """A metadata file of its own for the catalog, which may name it after this table has deleted older files."""
    name = f"rest-register-v{newest['current-snapshot-id']}-{uuid.uuid4()}.metadata.json"
    file = f"{posixpath.dirname(path)}/{name}"
    store.fs.overwrite(file, json.dumps(newest).encode())
    return file


def _table_properties(store: TableStore) -> dict[str, str]:
    """The table's properties in the catalog, which follow the options of Paimon's metadata files."""
    o = store.options
    own = {
        "write.metadata.previous-versions-max": str(o.get(opt.METADATA_ICEBERG_PREVIOUS_VERSIONS_MAX)),
        "write.metadata.delete-after-commit.enabled": str(
            o.get(opt.METADATA_ICEBERG_DELETE_AFTER_COMMIT_ENABLED)
        ).lower(),
    }
    return own | without_prefix(store.schema.options, _PROPERTIES)


def _connect(store: TableStore) -> _Service:
    """A service at the address of the table's options, as the server configures its clients."""
    check_rest_uri(store.schema.options)
    configured = without_prefix(store.schema.options, REST_PREFIX)
    for key in ("credential", "rest.sigv4-enabled"):
        if configured.get(key, "false") != "false":
            raise UnsupportedOperation(
                f"'{REST_PREFIX}{key}' is not supported",
                hint=f"'{REST_PREFIX}token' = '<bearer token>', or a proxy that authenticates",
                option=f"{REST_PREFIX}{key}",
            )
    parameters = {"warehouse": configured["warehouse"]} if "warehouse" in configured else {}
    check_is_named(configured["uri"], store.name, f"{REST_PREFIX}uri")
    reply = _transport(configured).request(
        "GET", "/v1/config", params=parameters, repeatable=True, about="Iceberg catalog"
    )
    config = {**reply.get("defaults", {}), **configured, **reply.get("overrides", {})}
    check_is_named(config["uri"], store.name, f"{REST_PREFIX}uri")  # the server may answer with another address
    prefix = config.get("prefix", "").strip("/")
    return _Service(_transport(config), f"/v1/{prefix}" if prefix else "/v1")


def _transport(config: Mapping[str, str]) -> Transport:
    token = config.get("token")
    authorizer = BearerToken(token) if token else Anonymous()
    return Transport(config["uri"].rstrip("/"), authorizer, without_prefix(config, "header."))
