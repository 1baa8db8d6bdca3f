"""Iceberg's manifests and manifest lists: Avro files of data files, and of manifests. Reads those of Java Paimon, too.

Source: Iceberg's table specification, Manifests and Manifest Lists; Paimon 2.1 `IcebergManifestFile`, `IcebergManifestList`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import CorruptFile
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.avro.container import parse_container
from paimon_nb.format.manifest.manifests import avro_bytes, avro_records
from paimon_nb.table.write.iceberg.schema import SPEC_ID
from paimon_nb.table.write.iceberg.values import avro_name, bound_bytes, partition_record, resized_node

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.fs import FileIO

EXISTING, ADDED, DELETED = 0, 1, 2
DATA, DELETES = 0, 1
"""Contents of a manifest."""
_OLDER_NAMES = {
    "added_files_count": "added_data_files_count", "existing_files_count": "existing_data_files_count",
    "deleted_files_count": "deleted_data_files_count",
}  # fmt: skip
"""Names of Iceberg 1.4 in manifest lists."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file in a manifest."""

    status: int
    """EXISTING, ADDED or DELETED."""
    snapshot_id: int
    """The snapshot that added the file; of a DELETED entry, the one that deleted it."""
    sequence_number: int
    file_sequence_number: int
    file: dict[str, Any]
    """The fields of Iceberg's `data_file`, in Avro's plain values."""

    @property
    def is_live(self) -> bool:
        return self.status != DELETED


@dataclass(frozen=True, slots=True)
class Manifest:
    """One manifest in a manifest list."""

    path: str
    length: int
    content: int
    """DATA or DELETES."""
    sequence_number: int
    min_sequence_number: int
    added_snapshot_id: int
    files: tuple[int, int, int]
    """Numbers of added, existing and deleted files."""
    rows: tuple[int, int, int]
    """Their rows."""
    partitions: tuple[dict[str, Any], ...]
    """A summary of each partition field."""
    first_row_id: int | None = None
    """Version 3: the row id of the first row without one of its own."""

    @property
    def live_files(self) -> int:
        return self.files[0] + self.files[1]

    @property
    def live_rows(self) -> int:
        return self.rows[0] + self.rows[1]


@dataclass(frozen=True, slots=True)
class ManifestWriter:
    """Writes the manifests and manifest lists of one table, and reads those that exist."""

    fs: FileIO
    directory: str
    fields: tuple[DataField, ...]
    """The partition columns."""
    format_version: int
    compression: str
    older_names: bool
    """Whether manifest lists have the names of Iceberg 1.4."""
    schema_json: str
    """The table's schema, for the header of a manifest."""
    spec_json: str
    """The fields of the partition spec, likewise."""
    written: list[str] = dataclasses.field(default_factory=list)
    """Paths of the files that this writer made."""

    def write(self, entries: Sequence[Entry], snapshot_id: int, content: int = DATA) -> list[Manifest]:
        """One manifest of these entries; none for no entries."""
        if not entries:
            return []
        path = f"{self.directory}/{uuid.uuid4()}-m0.avro"
        header = {
            "schema": self.schema_json, "schema-id": str(json.loads(self.schema_json)["schema-id"]),
            "partition-spec": self.spec_json, "partition-spec-id": str(SPEC_ID),
            "format-version": str(self.format_version), "content": "data" if content == DATA else "deletes",
        }  # fmt: skip
        rows = [
            {
                "status": e.status, "snapshot_id": e.snapshot_id, "sequence_number": e.sequence_number,
                "file_sequence_number": e.file_sequence_number, "data_file": e.file,
            }
            for e in entries
        ]  # fmt: skip
        data = avro_bytes(
            path, _manifest_entry_schema(self.fields, self.format_version), rows, self.compression, header
        )
        self._write(path, data)
        by_status = [[e for e in entries if e.status == status] for status in (ADDED, EXISTING, DELETED)]
        counts = [len(some) for some in by_status]
        row_counts = [sum(e.file["record_count"] for e in some) for some in by_status]
        return [
            Manifest(
                path, len(data), content, snapshot_id, min(e.sequence_number for e in entries), snapshot_id,
                (counts[0], counts[1], counts[2]), (row_counts[0], row_counts[1], row_counts[2]), self._partition_summaries(entries),
            )
        ]  # fmt: skip

    def _partition_summaries(self, entries: Sequence[Entry]) -> tuple[dict[str, Any], ...]:
        out = []
        for field in self.fields:
            values = [e.file["partition"][avro_name(field.name)] for e in entries]
            known = [v for v in values if v is not None]
            numbers = [v for v in known if v == v]
            decimals = field.type.root == "DECIMAL"
            order = functools.partial(int.from_bytes, byteorder="big", signed=True) if decimals else None
            low, high = (min(numbers, key=order), max(numbers, key=order)) if numbers else (None, None)
            out.append({
                "contains_null": len(known) < len(values), "contains_nan": len(numbers) < len(known),
                "lower_bound": _partition_summary_bound(field, low), "upper_bound": _partition_summary_bound(field, high),
            })  # fmt: skip
        return tuple(out)

    def read(self, manifest: Manifest) -> list[Entry]:
        """The entries of a manifest, with what they inherit from it. Raises CorruptFile, MissingFile."""
        path = self._here(manifest.path)
        entries = []
        for row in _read_avro_records(self.fs, path):
            try:
                file = dict(row["data_file"])
                file["partition"] = resized_node(self.fields, file["partition"])
                entries.append(
                    Entry(
                        row["status"],
                        _first_known(row["snapshot_id"], manifest.added_snapshot_id),
                        _first_known(row["sequence_number"], manifest.sequence_number),
                        _first_known(row["file_sequence_number"], manifest.sequence_number),
                        file,
                    )
                )
            except KeyError as missing:
                raise CorruptFile(path, f"an entry has no field {missing}") from None
        return _with_own_row_ids(manifest, entries)

    def write_list(self, manifests: Iterable[Manifest], snapshot_id: int) -> str:
        """Write a manifest list. Returns its path."""
        path = f"{self.directory}/snap-{snapshot_id}-{uuid.uuid4()}.avro"
        rows = []
        for m in manifests:
            row = {
                "manifest_path": m.path, "manifest_length": m.length, "partition_spec_id": SPEC_ID, "content": m.content,
                "sequence_number": m.sequence_number, "min_sequence_number": m.min_sequence_number,
                "added_snapshot_id": m.added_snapshot_id, "partitions": list(m.partitions), "first_row_id": m.first_row_id,
            }  # fmt: skip
            for name, files, count in zip(("added", "existing", "deleted"), m.files, m.rows, strict=True):
                row |= {self._name(f"{name}_files_count"): files, f"{name}_rows_count": count}
            rows.append(row)
        schema = _manifest_list_schema(self.older_names, self.format_version)
        self._write(
            path, avro_bytes(path, schema, rows, self.compression, {"format-version": str(self.format_version)})
        )
        return path

    def _write(self, path: str, data: bytes) -> None:
        self.fs.write(path, data)
        self.written.append(path)

    def _name(self, name: str) -> str:
        return _OLDER_NAMES[name] if self.older_names else name

    def read_list(self, path: str) -> list[Manifest]:
        """The manifests of a list. Raises CorruptFile, MissingFile."""
        path = self._here(path)
        try:
            return [_manifest_of_row(row) for row in _read_avro_records(self.fs, path)]
        except KeyError as missing:
            raise CorruptFile(path, f"an entry has no field {missing}") from None

    def delete(self, path: str) -> None:
        """Delete a manifest or a manifest list."""
        self.fs.delete(self._here(path))

    def _here(self, path: str) -> str:
        """The file by its name: another engine may have stored the path in another form, such as `file:/`."""
        return f"{self.directory}/{path.rpartition('/')[2]}"


def assign_row_ids(manifests: Sequence[Manifest], first: int) -> tuple[list[Manifest], int]:
    """Version 3: the manifests with row ids from `first` on for the data manifests without any, and the next free id."""
    out = []
    for manifest in manifests:
        if manifest.content == DATA and manifest.first_row_id is None:
            out.append(replace(manifest, first_row_id=first))
            first += manifest.live_rows
        else:
            out.append(manifest)
    return out, first


def _with_own_row_ids(manifest: Manifest, entries: list[Entry]) -> list[Entry]:
    """Entries with the row ids that they inherit from their manifest, so that they keep them in another one."""
    if manifest.content != DATA or manifest.first_row_id is None:
        return entries
    out, first = [], manifest.first_row_id
    for entry in entries:
        if entry.is_live and entry.file.get("first_row_id") is None:
            out.append(replace(entry, file=entry.file | {"first_row_id": first}))
            first += entry.file["record_count"]
        else:
            out.append(entry)
    return out


def _read_avro_records(fs: FileIO, path: str) -> list[dict[str, Any]]:
    found = avro_records(parse_container(fs.read(path), path), path)
    if not all(isinstance(row, dict) for row in found):
        raise CorruptFile(path, "its rows are not records")
    return found


def _first_known(value: int | None, inherited: int) -> int:
    return inherited if value is None else value


def _manifest_of_row(row: dict[str, Any]) -> Manifest:
    def count(name: str) -> int:
        key = f"{name}_files_count"
        return int(row[key] if key in row else row[_OLDER_NAMES[key]])

    return Manifest(
        row["manifest_path"], row["manifest_length"], row["content"], row["sequence_number"], row["min_sequence_number"],
        row["added_snapshot_id"], (count("added"), count("existing"), count("deleted")),
        (row["added_rows_count"], row["existing_rows_count"], row["deleted_rows_count"]), tuple(row["partitions"] or ()),
        row.get("first_row_id"),
    )  # fmt: skip


def _partition_summary_bound(field: DataField, value: Any) -> bytes | None:
    """The bytes of a partition value, which is in Avro's plain form."""
    match field.type.root:
        case _ if value is None:
            return None
        case "DECIMAL":
            number = int.from_bytes(value, "big", signed=True)
            return number.to_bytes((number if number >= 0 else ~number).bit_length() // 8 + 1, "big", signed=True)
        case "TIME" | "TIMESTAMP" | "TIMESTAMP_LTZ":
            return int(value).to_bytes(8, "little", signed=True)
    return bound_bytes(field.type, value)


# -- Avro schemas


def _field(name: str, t: Any, field_id: int) -> dict[str, Any]:
    optional = isinstance(t, list)
    return {"name": name, "type": t, "field-id": field_id} | ({"default": None} if optional else {})


def _avro_map_by_column_id(number: int, value: str) -> list[Any]:
    """A map by column id: Avro maps have text keys, so it is an array of pairs."""
    fields = [_field("key", "int", number), _field("value", value, number + 1)]
    items = {"type": "record", "name": f"k{number}_v{number + 1}", "fields": fields}
    return ["null", {"type": "array", "logicalType": "map", "items": items}]


@functools.lru_cache(64)
def _manifest_entry_schema(fields: tuple[DataField, ...], format_version: int) -> dict[str, Any]:
    file = [
        _field("content", "int", 134), _field("file_path", "string", 100), _field("file_format", "string", 101),
        _field("partition", partition_record(fields), 102), _field("record_count", "long", 103),
        _field("file_size_in_bytes", "long", 104), _field("null_value_counts", _avro_map_by_column_id(121, "long"), 110),
        _field("lower_bounds", _avro_map_by_column_id(126, "bytes"), 125), _field("upper_bounds", _avro_map_by_column_id(129, "bytes"), 128),
        _field("referenced_data_file", ["null", "string"], 143), _field("content_offset", ["null", "long"], 144),
        _field("content_size_in_bytes", ["null", "long"], 145),
    ]  # fmt: skip
    if format_version == 3:
        file.append(_field("first_row_id", ["null", "long"], 142))
    return {
        "type": "record",
        "name": "manifest_entry",
        "fields": [
            _field("status", "int", 0), _field("snapshot_id", ["null", "long"], 1), _field("sequence_number", ["null", "long"], 3),
            _field("file_sequence_number", ["null", "long"], 4),
            _field("data_file", {"type": "record", "name": "r2", "fields": file}, 2),
        ],
    }  # fmt: skip


@functools.lru_cache(4)
def _manifest_list_schema(older_names: bool, format_version: int) -> dict[str, Any]:
    summary = [
        _field("contains_null", "boolean", 509), _field("contains_nan", ["null", "boolean"], 518),
        _field("lower_bound", ["null", "bytes"], 510), _field("upper_bound", ["null", "bytes"], 511),
    ]  # fmt: skip
    items = {"type": "record", "name": "r508", "fields": summary}
    counts = [
        _field(_OLDER_NAMES[name] if older_names else name, "int", 504 + i) for i, name in enumerate(_OLDER_NAMES)
    ]
    fields = [
        _field("manifest_path", "string", 500), _field("manifest_length", "long", 501), _field("partition_spec_id", "int", 502),
        _field("content", "int", 517), _field("sequence_number", "long", 515), _field("min_sequence_number", "long", 516),
        _field("added_snapshot_id", "long", 503), *counts, _field("added_rows_count", "long", 512),
        _field("existing_rows_count", "long", 513), _field("deleted_rows_count", "long", 514),
        _field("partitions", ["null", {"type": "array", "items": items, "element-id": 508}], 507),
    ]  # fmt: skip
    if format_version == 3:
        fields.append(_field("first_row_id", ["null", "long"], 520))
    return {"type": "record", "name": "manifest_file", "fields": fields}
