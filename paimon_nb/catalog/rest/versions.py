"""A table's snapshots, tags and branches on a catalog server. Source: Paimon `RESTCatalog.java`, `CatalogBranchManager.java`."""

from __future__ import annotations

import datetime as dt
import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import (
    CorruptFile,
    DatabaseNotFound,
    PaimonError,
    SnapshotNotFound,
    SourceUnavailable,
    TableNotFound,
    TableReplaced,
    TagNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.rest.api import RestApi, main_table
from paimon_nb.format.metadata_json import java_json
from paimon_nb.format.snapshot import PartitionStatistics, Snapshot, Tag
from paimon_nb.options import parse_duration_ms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.base.identifier import Identifier

_ISO_SPAN = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


@dataclass(frozen=True)
class RestVersions:
    """Implements `VersionService` for one branch of a table."""

    api: RestApi
    name: Identifier
    table_id: str | None

    def on_branch(self, branch: str) -> RestVersions:
        return replace(self, name=replace(self.name, branch=branch))

    def latest(self) -> Snapshot | None:
        try:
            return self._parse_snapshot(self.api.snapshot(self.name))
        except SnapshotNotFound:
            return None
        except (TableNotFound, DatabaseNotFound) as error:
            raise self._replaced_error(error) from None

    def snapshot(self, snapshot_id: int) -> Snapshot | None:
        try:
            found = self._parse_snapshot(self.api.snapshot(self.name, str(snapshot_id)))
        except (SnapshotNotFound, TagNotFound, UnsupportedOperation):
            return None
        return found if found.id == snapshot_id else None

    def commit(self, base: Snapshot | None, snapshot: Snapshot, statistics: Sequence[PartitionStatistics]) -> bool:
        body = {
            "tableId": self.table_id,
            "baseSnapshotUuid": base.uuid if base is not None else None,
            "snapshot": snapshot.to_node(),
            "statistics": [s.to_node() for s in statistics],
        }
        try:
            return self.api.commit(self.name, body)
        except (TableNotFound, DatabaseNotFound) as error:
            raise self._replaced_error(error) from None

    def rollback(self, target: int | str, latest: int | None) -> None:
        by_id = isinstance(target, int)
        instant = {"type": "snapshot", "snapshotId": target} if by_id else {"type": "tag", "tagName": target}
        self.api.rollback(self.name, instant, latest)

    # -- tags

    def tag_names(self) -> list[str]:
        return self.api.tags(self.name)

    def tag(self, name: str) -> Tag:
        node = self.api.tag(self.name, name)
        found = node.get("snapshot", dict, None)
        if found is None:
            raise TagNotFound(
                f"the catalog server has tag {name!r} without a snapshot", hint="delete the tag", name=name
            )
        created, retained = node.get("tagCreateTime", int, None), node.get("tagTimeRetained", str, None)
        return Tag(
            name,
            self._parse_snapshot(found),
            dt.datetime.fromtimestamp(created / 1000) if created is not None else None,
            _parse_server_duration_ms(retained) if retained else None,
        )

    def create_tag(self, name: str, snapshot_id: int, retained_ms: int | None) -> None:
        self.api.create_tag(self.name, name, snapshot_id, f"{retained_ms} ms" if retained_ms is not None else None)

    def delete_tag(self, name: str) -> None:
        self.api.delete_tag(self.name, name)

    # -- branches

    def create_branch(self, name: str, tag: str | None) -> None:
        self.api.create_branch(self.name, name, tag)

    def drop_branch(self, name: str) -> None:
        self.api.drop_branch(self.name, name)

    def rename_branch(self, name: str, to: str) -> None:
        self.api.branch_action(self.name, name, "rename", {"toBranch": to})

    def fast_forward(self, name: str) -> None:
        self.api.branch_action(self.name, name, "forward", {"branch": name})

    def mark_done(self, partitions: Sequence[Mapping[str, str]]) -> None:
        with suppress(UnsupportedOperation):
            self.api.mark_done(self.name, partitions)

    def _replaced_error(self, error: PaimonError) -> TableReplaced:
        return TableReplaced(
            f"table {self.name} was dropped or created again since it was opened: {error.message}",
            hint="open the table again; write uncommitted rows again",
            name=str(self.name),
        )

    def _parse_snapshot(self, node: Mapping[str, Any]) -> Snapshot:
        where = f"snapshot of table {main_table(self.name)}"
        try:
            return Snapshot.from_json(java_json(node), where)
        except CorruptFile as error:
            uri = self.api.transport.uri
            raise SourceUnavailable(
                f"the reply of the catalog server at {uri} is not a {where}: {error.why}",
                hint="check that 'uri' is the address of a Paimon REST catalog, and its version",
                server=uri,
                sent=True,
            ) from None


def _parse_server_duration_ms(text: str) -> int | None:
    """A duration as servers write it: ISO 8601 ('PT1H'), or a number and a unit ('1 d')."""
    match = _ISO_SPAN.fullmatch(text)
    if match and any(match.groups()):
        days, hours, minutes, seconds = (float(g or 0) for g in match.groups())
        return int((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)
    try:
        return parse_duration_ms(text)
    except ValueError:
        return None
