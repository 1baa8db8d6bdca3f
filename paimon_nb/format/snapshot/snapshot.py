"""The snapshot file. Source: docs/spec/format.md section 2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.metadata_json import JsonObject, java_json

NEWEST_VERSION = 3
BATCH_IDENTIFIER = 9223372036854775807
"""`commitIdentifier` of batch writes."""
NO_WATERMARK = -9223372036854775808
COMMIT_KINDS = frozenset({"APPEND", "COMPACT", "OVERWRITE", "ANALYZE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One version of a table's content."""

    id: int
    """Equals the number in the file name."""
    schema_id: int
    """The newest schema at commit time, not the schema of every file."""
    base_manifest_list: str
    """All entries before this commit."""
    delta_manifest_list: str
    """The entries of this commit."""
    changelog_manifest_list: str | None = None
    index_manifest: str | None = None
    """The complete list of live index files, not a delta."""
    commit_user: str
    commit_identifier: int
    commit_kind: str
    """APPEND, COMPACT, OVERWRITE or ANALYZE."""
    time_ms: int
    total_record_count: int | None = None
    """Rows of all live files, unmerged."""
    delta_record_count: int | None = None
    changelog_record_count: int | None = None
    watermark: int | None = None
    statistics: str | None = None
    """File name in `statistics/`."""
    properties: Mapping[str, str] | None = None
    next_row_id: int | None = None
    base_manifest_list_size: int | None = None
    delta_manifest_list_size: int | None = None
    changelog_manifest_list_size: int | None = None
    log_offsets: Mapping[str, int] | None = None
    """Of a log system beside the table, up to 1.3; only carried along."""
    version: int = NEWEST_VERSION
    uuid: str | None = None
    operation: str | None = None
    writer_version: str | None = None

    @staticmethod
    def from_json(data: bytes | str, path: str) -> Snapshot:
        """Parse a snapshot, tag or long-lived changelog file. Raises `CorruptFile`, `NewerFormat`."""
        node = JsonObject(data, path)
        version = node.version(NEWEST_VERSION, "snapshot")
        snapshot_id = node.natural("id")
        prefix, _, number = path.rsplit("/", 1)[-1].rpartition("-")
        if prefix in ("snapshot", "changelog") and number != str(snapshot_id):
            raise CorruptFile(path, f"it says that it is snapshot {snapshot_id}")
        kind = node.get("commitKind", str)
        if kind not in COMMIT_KINDS:
            raise CorruptFile(path, f"unknown commit kind {kind!r}")
        return Snapshot(
            id=snapshot_id,
            schema_id=node.natural("schemaId"),
            base_manifest_list=_file_name(node, "baseManifestList"),
            delta_manifest_list=_file_name(node, "deltaManifestList"),
            changelog_manifest_list=_file_name_or_none(node, "changelogManifestList"),
            index_manifest=_file_name_or_none(node, "indexManifest"),
            commit_user=node.get("commitUser", str),
            commit_identifier=node.get("commitIdentifier", int),
            commit_kind=kind,
            time_ms=node.natural("timeMillis"),
            total_record_count=node.get("totalRecordCount", int, None),
            delta_record_count=node.get("deltaRecordCount", int, None),
            changelog_record_count=node.get("changelogRecordCount", int, None),
            watermark=node.get("watermark", int, None),
            statistics=_file_name_or_none(node, "statistics"),
            properties=node.texts("properties") or None,
            next_row_id=node.get("nextRowId", int, None),
            base_manifest_list_size=node.natural("baseManifestListSize", None),
            delta_manifest_list_size=node.natural("deltaManifestListSize", None),
            changelog_manifest_list_size=node.natural("changelogManifestListSize", None),
            log_offsets={k: v for k, v in node.get("logOffsets", dict, {}).items() if type(v) is int} or None,
            version=version,
            uuid=node.get("uuid", str, None),
            operation=node.get("operation", str, None),
            writer_version=node.get("writerVersion", str, None),
        )

    def to_node(self) -> dict[str, Any]:
        """The JSON object, in Java's order and with 1.3's habits about absent fields."""
        node: dict[str, Any] = {"version": self.version}

        def put(key: str, value: Any) -> None:
            if value is not None:
                node[key] = value

        put("uuid", self.uuid)
        put("id", self.id)
        put("schemaId", self.schema_id)
        put("baseManifestList", self.base_manifest_list)
        put("baseManifestListSize", self.base_manifest_list_size)
        put("deltaManifestList", self.delta_manifest_list)
        put("deltaManifestListSize", self.delta_manifest_list_size)
        node["changelogManifestList"] = self.changelog_manifest_list
        put("changelogManifestListSize", self.changelog_manifest_list_size)
        put("indexManifest", self.index_manifest)
        put("commitUser", self.commit_user)
        put("commitIdentifier", self.commit_identifier)
        put("commitKind", self.commit_kind)
        put("timeMillis", self.time_ms)
        node["logOffsets"] = dict(self.log_offsets or {})
        put("totalRecordCount", self.total_record_count)
        put("deltaRecordCount", self.delta_record_count)
        put("changelogRecordCount", self.changelog_record_count)
        put("watermark", self.watermark)
        put("statistics", self.statistics)
        put("properties", dict(self.properties) if self.properties else None)
        put("nextRowId", self.next_row_id)
        put("operation", self.operation)
        put("writerVersion", self.writer_version)
        return node

    def to_json(self) -> bytes:
        """The file's bytes."""
        return java_json(self.to_node())


def _file_name(node: JsonObject, key: str) -> str:
    name = node.get(key, str)
    # A metadata file must not lead anywhere else in the file system.
    if not name or "/" in name or "\\" in name or "\0" in name or name in (".", ".."):
        raise CorruptFile(node.path, f"field {key!r} is not a file name: {name!r:.80}")
    return name


def _file_name_or_none(node: JsonObject, key: str) -> str | None:
    return None if node.get(key, str, None) is None else _file_name(node, key)
