"""Rows of procedures as Flink returns them. The procedures themselves return Spark's rows.

Source: Paimon 1.3 `flink/procedure/*Procedure.java`. Flink calls the only column of an array of text `result`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

Convert = Callable[[pa.Table, Mapping[str, Any]], list[str]]
"""(Spark's rows, the CALL's arguments) -> the texts of the column `result`."""


DRY_RUN = b"dry run"
"""In the metadata of a procedure's rows: what a dry run of it found."""
_FIRST_WATERMARK = str(-(1 << 63))
"""The watermark of a Flink job before its first one. Our commits store none instead."""


def as_flink_result(procedure: str, rows: pa.Table, arguments: Mapping[str, Any]) -> pa.Table:
    """A procedure's rows in Flink's columns."""
    if "watermark" in rows.schema.names:
        return _with_first_watermark(rows)
    convert = _CONVERT.get(procedure)
    if convert is None and rows.schema.names == ["result"] and pa.types.is_boolean(rows.schema[0].type):
        convert = _success
    return rows if convert is None else pa.table({"result": pa.array(convert(rows, arguments), pa.string())})


def _with_first_watermark(rows: pa.Table) -> pa.Table:
    """Rows whose text `watermark` is Flink's first one where a snapshot has none."""
    at = rows.schema.names.index("watermark")
    texts = [_FIRST_WATERMARK if t == "null" else t for t in rows["watermark"].to_pylist()]
    return rows.set_column(at, "watermark", pa.array(texts, pa.string()))


def _success(rows: pa.Table, arguments: Mapping[str, Any]) -> list[str]:
    return ["Success"]


def _cells(rows: pa.Table, arguments: Mapping[str, Any]) -> list[str]:
    """Each value of the first row as a row, and of a single column each value."""
    return [str(v) for row in rows.to_pylist() for v in row.values()]


def _expire_changelogs(rows: pa.Table, arguments: Mapping[str, Any]) -> list[str]:
    return ["Delete all separated changelogs success."] if arguments["delete_all"] else _cells(rows, arguments)


def _rename_tag(rows: pa.Table, arguments: Mapping[str, Any]) -> list[str]:
    return [f"Rename [{arguments['tag']}] to [{arguments['target_tag']}] successfully."]


def _rolled_back(rows: pa.Table, arguments: Mapping[str, Any]) -> list[str]:
    return [f"Success roll back to snapshot: {rows['current_snapshot_id'][0]} ."]


def _compact_manifest(rows: pa.Table, arguments: Mapping[str, Any]) -> list[str]:
    return [(rows.schema.metadata or {}).get(DRY_RUN, b"success").decode()]


def _create_global_index(rows: pa.Table, arguments: Mapping[str, Any]) -> list[str]:
    kind = arguments["index_type"].strip().lower()
    label = {"btree": "BTree", "bitmap": "Bitmap", "multivalue": "Multivalue"}.get(kind, kind)
    return [f"{label} global index created successfully for table: {_table_name(arguments)}"]


def _drop_global_index(rows: pa.Table, arguments: Mapping[str, Any]) -> list[str]:
    kind, count = arguments["index_type"].strip().lower(), rows["dropped_file_count"][0]
    columns = ",".join(c.strip() for c in arguments["index_column"].split(","))
    where = f"for columns '{columns}' on table '{_table_name(arguments)}'"
    if arguments.get("dry_run"):
        return [f"Dry run: {count} {kind} global index files would be dropped {where}"]
    if not count.as_py():
        return [f"No {kind} global index found for columns '{columns}'"]
    return [f"Dropped {count} {kind} global index files {where}"]


def _table_name(arguments: Mapping[str, Any]) -> str:
    return str(arguments["table"]).rpartition(".")[2].replace("`", "")


_CONVERT: Mapping[str, Convert] = {
    "compact_database": _success,
    "compact_manifest": _compact_manifest,
    "create_global_index": _create_global_index,
    "drop_global_index": _drop_global_index,
    "expire_changelogs": _expire_changelogs,
    "expire_snapshots": _cells,
    "remove_orphan_files": _cells,
    "remove_unexisting_files": _cells,
    "rename_tag": _rename_tag,
    "rewrite_file_index": _success,
    "rollback_to_watermark": _rolled_back,
}
"""Procedures whose rows differ by more than the word for success."""
