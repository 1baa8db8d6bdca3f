"""The statistics file that ANALYZE writes. Source: docs/spec/format.md section 15."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.metadata_json import JsonObject, java_json

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """One column. Minimum and maximum are texts in the internal serializer's form."""

    column_id: int
    distinct_count: int | None = None
    minimum: str | None = None
    maximum: str | None = None
    null_count: int | None = None
    avg_length: int | None = None
    max_length: int | None = None


_KEYS: tuple[tuple[str, str, type[Any]], ...] = (
    ("distinct_count", "distinctCount", int), ("minimum", "min", str), ("maximum", "max", str),
    ("null_count", "nullCount", int), ("avg_length", "avgLen", int), ("max_length", "maxLen", int),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known about a whole snapshot."""

    snapshot_id: int
    schema_id: int
    merged_record_count: int | None
    merged_record_size: int | None
    columns: Mapping[str, ColumnStatistics]

    @staticmethod
    def from_json(data: bytes | str, path: str) -> Statistics:
        """Raises `CorruptFile`."""
        node = JsonObject(data, path)
        columns = {}
        for name, one in node.get("colStats", dict, {}).items():
            column = JsonObject.of(one, path)
            values = {attribute: column.get(json_key, kind, None) for attribute, json_key, kind in _KEYS}
            columns[name] = ColumnStatistics(column.natural("colId"), **values)
        return Statistics(
            node.natural("snapshotId"),
            node.natural("schemaId"),
            node.get("mergedRecordCount", int, None),
            node.get("mergedRecordSize", int, None),
            columns,
        )

    def columns_node(self) -> dict[str, Any]:
        """The `colStats` object."""
        out: dict[str, Any] = {}
        for name, one in self.columns.items():
            node: dict[str, Any] = {"colId": one.column_id}
            node.update(
                {
                    json_key: getattr(one, attribute)
                    for attribute, json_key, _ in _KEYS
                    if getattr(one, attribute) is not None
                }
            )
            out[name] = node
        return out

    def to_json(self) -> bytes:
        node: dict[str, Any] = {"snapshotId": self.snapshot_id, "schemaId": self.schema_id}
        if self.merged_record_count is not None:
            node["mergedRecordCount"] = self.merged_record_count
        if self.merged_record_size is not None:
            node["mergedRecordSize"] = self.merged_record_size
        node["colStats"] = self.columns_node()
        return java_json(node)
