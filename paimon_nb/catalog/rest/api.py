"""The functions of Paimon's REST protocol that this product calls, with typed results and errors.

Source: Paimon `rest-catalog-open-api.yaml`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import CorruptFile, SourceUnavailable, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.rest.transport import Refused, Transport, encode
from paimon_nb.format.metadata_json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.catalog.rest.error_replies import ErrorReply
    from paimon_nb.format.snapshot import PartitionStatistics

_PAGE_SIZE = 1000
_MAX_PAGES = 10_000
_MAX_EMPTY_PAGES = 10


@dataclass(frozen=True)
class TableResponse:
    """A table as the server describes it."""

    id: str | None
    """Names this table also after a rename; another one after DROP and CREATE."""
    path: str
    is_external: bool
    schema_id: int
    schema: Mapping[str, Any] = field(repr=False)
    """JSON with `fields`, `partitionKeys`, `primaryKeys`, `options` and `comment`."""


@dataclass(frozen=True)
class StorageToken:
    """Options of the file system that are valid for one table, until a time."""

    options: Mapping[str, str] = field(repr=False)
    expires_ms: int


class RestApi:
    """Calls to one server. Picklable; threads share it.

    Every method raises SourceUnavailable if the server does not answer or fails, AccessDenied for 401 and 403,
    UnsupportedOperation if the server does not have the function, and the NameError_ of a missing or taken name.

    Args:
        transport: the connection.
        prefix: the path segment after /v1; None for none.
    """

    def __init__(self, transport: Transport, prefix: str | None) -> None:
        self.transport = transport
        self._base = f"/v1/{encode(prefix)}" if prefix else "/v1"

    # -- paths

    def _database_path(self, database: str) -> str:
        return f"{self._base}/databases/{encode(database)}"

    def _table_path(self, name: Identifier) -> str:
        return f"{self._database_path(name.database)}/tables/{encode(name.of_table().object)}"

    def merged_options(self, options: Mapping[str, str]) -> dict[str, str]:
        """The server's defaults, then `options`, then the server's overrides."""
        about = "the configuration"
        warehouse = options.get("warehouse")
        reply = self._get("/v1/config", about, {"warehouse": warehouse} if warehouse else {})
        with self._translate_corrupt_reply(about):
            node = JsonObject.of(reply, about)
            return {**node.texts("defaults"), **options, **node.texts("overrides")}

    # -- databases

    def databases(self) -> list[str]:
        return list(self._paged_names(f"{self._base}/databases", "databases", "the databases"))

    def database(self, database: str) -> dict[str, str]:
        """Its options, with `location`, `owner` and others."""
        about = f"database {database}"
        reply = self._get(self._database_path(database), about, missing="DATABASE")
        with self._translate_corrupt_reply(about):
            node = JsonObject.of(reply, about)
            options = node.texts("options")
            more = {k: node.get(k, str, None) for k in ("location", "owner", "createdBy", "updatedBy")}
        return {**options, **{k: v for k, v in more.items() if v}}

    def create_database(self, database: str, options: Mapping[str, str]) -> None:
        body = {"name": database, "options": dict(options)}
        self._post(f"{self._base}/databases", body, f"database {database}")

    def alter_database(self, database: str, updates: Mapping[str, str], removals: Sequence[str]) -> None:
        body = {"removals": list(removals), "updates": dict(updates)}
        self._post(self._database_path(database), body, f"database {database}", "DATABASE")

    def drop_database(self, database: str) -> None:
        self._delete(self._database_path(database), f"database {database}", "DATABASE")

    # -- tables

    def tables(self, database: str) -> list[str]:
        return list(
            self._paged_names(f"{self._database_path(database)}/tables", "tables", f"database {database}", "DATABASE")
        )

    def table(self, name: Identifier) -> TableResponse:
        about = f"table {name.of_table()}"
        reply = self._get(self._table_path(name), about, missing="TABLE")
        with self._translate_corrupt_reply(about):
            node = JsonObject.of(reply, about)
            return TableResponse(
                node.get("id", str, None),
                node.get("path", str),
                node.get("isExternal", bool, False),
                node.natural("schemaId"),
                node.get("schema", dict),
            )

    def create_table(self, name: Identifier, schema: Mapping[str, Any]) -> None:
        body = {"identifier": _identifier_json(name), "schema": schema}
        self._post(f"{self._database_path(name.database)}/tables", body, f"table {name}", "DATABASE")

    def alter_table(self, name: Identifier, changes: Sequence[Mapping[str, Any]]) -> None:
        self._post(self._table_path(name), {"changes": list(changes)}, f"ALTER TABLE {name}", "TABLE")

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        body = {"source": _identifier_json(source), "destination": _identifier_json(target)}
        self._post(f"{self._base}/tables/rename", body, f"RENAME TABLE {source} TO {target}", "TABLE")

    def drop_table(self, name: Identifier) -> None:
        self._delete(self._table_path(name), f"table {name}", "TABLE")

    def storage_token(self, name: Identifier) -> StorageToken:
        about = f"storage token of table {main_table(name)}"
        reply = self._get(f"{self._table_path(main_table(name))}/token", about)
        with self._translate_corrupt_reply(about):
            node = JsonObject.of(reply, about)
            expires = node.get("expiresAtMillis", int, None)
            return StorageToken(node.texts("token"), expires if expires is not None else node.get("expiresAt", int))

    # -- versions

    def snapshot(self, name: Identifier, version: str | None = None) -> Mapping[str, Any]:
        """The JSON of the latest snapshot, or of one version: an id, EARLIEST, LATEST or a tag."""
        about = f"snapshots of table {name}"
        path = f"{self._table_path(name)}/snapshot" + (f"s/{encode(version)}" if version else "")
        reply = self._get(path, about)
        with self._translate_corrupt_reply(about):
            found = JsonObject.of(reply, about).get("snapshot", dict)
            # The latest one comes with its totals around it.
            return JsonObject.of(found, about).get("snapshot", dict) if version is None else found

    def commit(self, name: Identifier, body: Mapping[str, Any]) -> bool:
        """Whether the server published the snapshot. Raises SourceUnavailable for an unclear reply."""
        about = f"commit to table {name}"
        reply = self._post(f"{self._table_path(name)}/commit", body, about)
        with self._translate_corrupt_reply(about):
            return JsonObject.of(reply, about).get("success", bool)

    def rollback(self, name: Identifier, instant: Mapping[str, Any], from_snapshot: int | None) -> None:
        body = {"instant": dict(instant), **({} if from_snapshot is None else {"fromSnapshot": from_snapshot})}
        self._post(f"{self._table_path(name)}/rollback", body, f"rollback of table {name}")

    def tags(self, name: Identifier) -> list[str]:
        path, about = f"{self._table_path(name)}/tags", f"tags of table {name}"
        tags: list[str] = []
        for page in self._list_pages(path, "tags", about, is_new=True):
            tags += [tag for tag in page if isinstance(tag, str)]
        return tags

    def tag(self, name: Identifier, tag: str) -> JsonObject:
        about = f"tag {tag} of table {name}"
        reply = self._get(f"{self._table_path(name)}/tags/{encode(tag)}", about)
        with self._translate_corrupt_reply(about):
            return JsonObject.of(reply, about)

    def create_tag(self, name: Identifier, tag: str, snapshot_id: int, retained: str | None) -> None:
        body = {"tagName": tag, "snapshotId": snapshot_id, **({"timeRetained": retained} if retained else {})}
        self._post(f"{self._table_path(name)}/tags", body, f"tag {tag} of table {name}")

    def delete_tag(self, name: Identifier, tag: str) -> None:
        self._delete(f"{self._table_path(name)}/tags/{encode(tag)}", f"tag {tag} of table {name}")

    def branches(self, name: Identifier) -> list[str]:
        about = f"branches of table {main_table(name)}"
        reply = self._get(f"{self._table_path(main_table(name))}/branches", about)
        with self._translate_corrupt_reply(about):
            return list(JsonObject.of(reply, about).names("branches"))

    def create_branch(self, name: Identifier, branch: str, tag: str | None) -> None:
        body = {"branch": branch, **({"fromTag": tag} if tag is not None else {})}
        self._post(
            f"{self._table_path(main_table(name))}/branches", body, f"branch {branch} of table {main_table(name)}"
        )

    def branch_action(self, name: Identifier, branch: str, action: str, body: Mapping[str, Any]) -> None:
        """`action`: 'forward' or 'rename'."""
        path = f"{self._table_path(main_table(name))}/branches/{encode(branch)}/{action}"
        self._post(path, body, f"branch {branch} of table {main_table(name)}")

    def drop_branch(self, name: Identifier, branch: str) -> None:
        path = f"{self._table_path(main_table(name))}/branches/{encode(branch)}"
        self._delete(path, f"branch {branch} of table {main_table(name)}")

    def partitions(self, name: Identifier) -> list[Mapping[str, Any]]:
        """The JSON of each partition that the server lists."""
        about = f"partitions of table {name}"
        pages = self._list_pages(f"{self._table_path(name)}/partitions", "partitions", about)
        return [JsonObject.of(found, about).node for page in pages for found in page]

    def create_partitions(
        self,
        name: Identifier,
        specs: Sequence[Mapping[str, str]],
        statistics: Sequence[PartitionStatistics],
        *,
        if_not_exists: bool,
        replace: bool,
    ) -> None:
        """Register partitions of a format table; `statistics` are totals if `replace`, else what was added."""
        body: dict[str, Any] = {"partitionSpecs": [dict(s) for s in specs], "ignoreIfExists": if_not_exists}
        if statistics:
            body |= {"partitionStatistics": [s.to_node() for s in statistics], "replaceStatistics": replace}
        self._post(f"{self._table_path(name)}/partitions", body, f"partitions of table {name}")

    def drop_partitions(self, name: Identifier, specs: Sequence[Mapping[str, str]]) -> None:
        """Take partitions of a format table out of the server's register; those that are not there are left out."""
        body = {"partitionSpecs": [dict(s) for s in specs], "ignoreIfNotExists": True}
        self._post(f"{self._table_path(name)}/partitions/drop", body, f"partitions of table {name}")

    def mark_done(self, name: Identifier, specs: Sequence[Mapping[str, str]]) -> None:
        path = f"{self._table_path(name)}/partitions/mark"
        self._post(path, {"specs": [dict(s) for s in specs]}, f"partitions of table {name}")

    # -- views and functions

    def views(self, database: str) -> list[str]:
        return list(
            self._paged_names(f"{self._database_path(database)}/views", "views", f"views of database {database}")
        )

    def view(self, name: Identifier) -> JsonObject | None:
        """The schema of a view: `fields`, `query`, `dialects`, `comment`. None if there is none."""
        about = f"view {name}"
        found = self._definition_or_none(self._view_path(name), about, "VIEW")
        if found is None:
            return None
        with self._translate_corrupt_reply(about):
            return JsonObject.of(found.get("schema", dict), about)

    def create_view(self, name: Identifier, schema: Mapping[str, Any]) -> None:
        body = {"identifier": _identifier_json(name), "schema": schema}
        self._post(f"{self._database_path(name.database)}/views", body, f"view {name}")

    def alter_view(self, name: Identifier, changes: Sequence[Mapping[str, str]]) -> None:
        self._post(self._view_path(name), {"changes": [dict(c) for c in changes]}, f"view {name}", "VIEW")

    def drop_view(self, name: Identifier) -> None:
        self._delete(self._view_path(name), f"view {name}", "VIEW")

    def _view_path(self, name: Identifier) -> str:
        return f"{self._database_path(name.database)}/views/{encode(name.table)}"

    def functions(self, database: str) -> list[str]:
        path = f"{self._database_path(database)}/functions"
        return list(self._paged_names(path, "functions", f"functions of database {database}"))

    def function(self, name: Identifier) -> JsonObject | None:
        """A function: `inputParams`, `returnParams`, `definitions`, `comment`. None if there is none."""
        return self._definition_or_none(self._function_path(name), f"function {name}", "FUNCTION")

    def create_function(self, name: Identifier, function: Mapping[str, Any]) -> None:
        path = f"{self._database_path(name.database)}/functions"
        self._post(path, {"name": name.table, **function}, f"function {name}")

    def drop_function(self, name: Identifier) -> None:
        self._delete(self._function_path(name), f"function {name}", "FUNCTION")

    def _function_path(self, name: Identifier) -> str:
        return f"{self._database_path(name.database)}/functions/{encode(name.table)}"

    # -- requests

    def _definition_or_none(self, path: str, about: str, resource: str) -> JsonObject | None:
        """A view or function; None if the server has none of the name, or none at all."""
        try:
            reply = self.transport.request("GET", path, repeatable=True, about=about)
        except Refused as refused:
            if refused.refusal.status == 404 or refused.refusal.is_unknown_path:
                return None
            raise self._error_of(refused.refusal, about, resource) from None
        with self._translate_corrupt_reply(about):
            return JsonObject.of(reply, about)

    def _get(self, path: str, about: str, params: Mapping[str, str] | None = None, missing: str = "") -> Any:
        return self._request("GET", path, about, missing, params=params, repeatable=True)

    def _post(self, path: str, body: Any, about: str, missing: str = "") -> Any:
        return self._request("POST", path, about, missing, body=body, repeatable=False)

    def _delete(self, path: str, about: str, missing: str = "") -> None:
        try:
            self.transport.request("DELETE", path, repeatable=True, about=about)
        except Refused as refused:
            # An earlier request without a reply has deleted it.
            if not (refused.repeated and refused.refusal.status == 404):
                raise self._error_of(refused.refusal, about, missing) from None

    def _request(self, method: str, path: str, about: str, missing: str, **arguments: Any) -> Any:
        try:
            return self.transport.request(method, path, about=about, **arguments)
        except Refused as refused:
            raise self._error_of(refused.refusal, about, missing) from None

    def _error_of(self, refusal: ErrorReply, about: str, missing: str) -> Exception:
        return refusal.error(self.transport.uri, about, missing)

    def _paged_names(self, path: str, key: str, about: str, missing: str = "") -> Iterator[str]:
        """The names of all pages, each once."""
        seen: set[str] = set()
        for page in self._list_pages(path, key, about, missing):
            if not all(isinstance(name, str) for name in page):
                raise self._invalid_reply_error(about, f"{key!r} holds something that is not a name")
            fresh = [name for name in page if name not in seen]
            if page and not fresh:
                raise self._invalid_reply_error(about, "it lists the same names page after page")
            seen.update(fresh)
            yield from fresh

    def _list_pages(
        self, path: str, key: str, about: str, missing: str = "", *, is_new: bool = False
    ) -> Iterator[list[Any]]:
        """The lists of all pages. Bounded: a server that repeats a page token, or pages on without end, is an error.

        Args:
            is_new: whether servers of Paimon 1.3 do not know the path; some of them answer with another resource.
        """
        token: str | None = None
        tokens: set[str] = set()
        empty = 0
        for _ in range(_MAX_PAGES):
            params = {"maxResults": str(_PAGE_SIZE), **({"pageToken": token} if token else {})}
            reply = self._get(path, about, params, missing)
            with self._translate_corrupt_reply(about):
                node = JsonObject.of(reply, about)
                if is_new and key not in node.node:
                    raise UnsupportedOperation(
                        f"{about}: the catalog server at {self.transport.uri} does not support this",
                        hint="use a newer server",
                        server=self.transport.uri,
                    )
                page, token = node.get(key, list, []), node.get("nextPageToken", str, None)
            yield page
            empty = 0 if page else empty + 1
            if not token:
                return
            if token in tokens or empty > _MAX_EMPTY_PAGES:
                break
            tokens.add(token)
        raise self._invalid_reply_error(about, "its list of pages does not end")

    @contextmanager
    def _translate_corrupt_reply(self, about: str) -> Iterator[None]:
        """A reply with a missing or wrong field is the server's failure, not a broken file."""
        try:
            yield
        except CorruptFile as error:
            raise self._invalid_reply_error(about, error.why) from None

    def _invalid_reply_error(self, about: str, why: str) -> SourceUnavailable:
        return SourceUnavailable(
            f"{about}: the reply of the catalog server at {self.transport.uri} does not follow the REST protocol: {why}",
            hint="check that 'uri' is the address of a Paimon REST catalog, and its version",
            server=self.transport.uri,
            sent=True,
        )


def main_table(name: Identifier) -> Identifier:
    """The table that a name of a branch or of a system table belongs to."""
    return Identifier(name.database, name.table)


def _identifier_json(name: Identifier) -> dict[str, str]:
    return {"database": name.database, "object": name.of_table().object}
