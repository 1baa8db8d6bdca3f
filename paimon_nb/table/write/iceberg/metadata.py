"""Iceberg's table metadata file: schemas, snapshots and tags as JSON. Pure.

Source: Iceberg's table specification, Table Metadata; Paimon 2.1 `IcebergMetadata`.
"""

from __future__ import annotations

import json
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.base.errors import CorruptFile
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.metadata_json import java_json
from paimon_nb.table.write.iceberg.schema import FIRST_PARTITION_FIELD, SPEC_ID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.format.snapshot import Snapshot

IDENTITY = "paimon-commit-identity"
"""Key of the snapshot summary that names the Paimon commit: ids are used again after a rollback."""


@dataclass(frozen=True, slots=True)
class IcebergMetadata:
    """One version of an Iceberg table; its number is the id of the Paimon snapshot."""

    format_version: int
    table_uuid: str
    location: str
    last_column_id: int
    """Greatest column id of any schema; never decreases."""
    schemas: tuple[dict[str, Any], ...]
    current_schema_id: int
    spec: dict[str, Any]
    snapshots: tuple[dict[str, Any], ...]
    """Oldest first, as in the file."""
    next_row_id: int | None
    """Version 3: the first row id that was never assigned."""
    tags: Mapping[str, int] = field(default_factory=dict)
    """Snapshot ids by tag."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Table properties of Iceberg; see `NAME_MAPPING`."""

    @staticmethod
    def from_json(data: bytes, path: str) -> IcebergMetadata:
        """Parse a metadata file. Raises CorruptFile."""
        try:
            node = json.loads(data)
            return IcebergMetadata(
                node["format-version"], node["table-uuid"], node["location"], node["last-column-id"], tuple(node["schemas"]),
                node["current-schema-id"], node["partition-specs"][-1],
                tuple(sorted(node["snapshots"], key=lambda s: s["snapshot-id"])), node.get("next-row-id"),
                {name: ref["snapshot-id"] for name, ref in (node.get("refs") or {}).items() if ref["type"] == "tag"},
                node.get("properties") or {},
            )  # fmt: skip
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise CorruptFile(path, f"it is not Iceberg metadata ({error!s:.80})") from None

    def to_json(self) -> bytes:
        """The file's bytes."""
        newest = self.snapshots[-1]["snapshot-id"]
        last_partition = max((f["field-id"] for f in self.spec["fields"]), default=FIRST_PARTITION_FIELD - 1)
        node: dict[str, Any] = {
            "format-version": self.format_version, "table-uuid": self.table_uuid, "location": self.location,
            "last-sequence-number": newest, "last-updated-ms": clock.now_ms(), "last-column-id": self.last_column_id,
            "schemas": list(self.schemas), "current-schema-id": self.current_schema_id, "partition-specs": [self.spec],
            "default-spec-id": SPEC_ID, "last-partition-id": last_partition, "sort-orders": [{"order-id": 0, "fields": []}],
            "default-sort-order-id": 0, "snapshots": list(self.snapshots), "current-snapshot-id": newest,
        }  # fmt: skip
        if self.next_row_id is not None:
            node["next-row-id"] = self.next_row_id
        refs = {name: {"snapshot-id": i, "type": "tag"} for name, i in self.tags.items()}
        return java_json(node | {"properties": dict(self.properties), "refs": refs})

    @property
    def newest(self) -> dict[str, Any]:
        """The current snapshot."""
        return self.snapshots[-1]

    def only(self, ids: frozenset[int]) -> IcebergMetadata:
        """The same table with only these snapshots."""
        return replace(self, snapshots=tuple(s for s in self.snapshots if s["snapshot-id"] in ids))


def identity_of(snapshot: Snapshot) -> str:
    """What distinguishes a Paimon commit from another one with the same snapshot id."""
    return snapshot.uuid or f"{snapshot.commit_user}:{snapshot.commit_identifier}:{snapshot.time_ms}"


def describes(node: Mapping[str, Any], snapshot: Snapshot) -> bool:
    """Whether an Iceberg snapshot was made from this Paimon snapshot. One without an identity, of an older Paimon, is trusted."""
    known = node["summary"].get(IDENTITY)
    return node["snapshot-id"] == snapshot.id and (known is None or known == identity_of(snapshot))
