"""Which files COPY INTO has loaded: one small JSON file for each, in `copy-into/history` of the table, as Java writes them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from paimon_nb.base.errors import FormatError
from paimon_nb.format.metadata_json import JsonObject, java_json
from paimon_nb.fs import overwrite_surely

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.fs import FileIO, FileStatus


class LoadHistory:
    """The loaded files of one table."""

    def __init__(self, fs: FileIO, root: str) -> None:
        """`root`: the table's directory."""
        self._fs = fs
        self._directory = f"{root}/copy-into/history"

    def loaded(self, files: Sequence[FileStatus]) -> list[FileStatus]:
        """Those of the files that were loaded with the same path, size and modification time. A broken record counts as none."""
        records: dict[str, list[str]] = {}
        for name in self._fs.names(self._directory):
            records.setdefault(name.rpartition("-")[0], []).append(f"{self._directory}/{name}")
        of_each = {f.path: records.get(_name_prefix(f.path), []) for f in files}
        paths = [path for found in of_each.values() for path in found]
        contents = dict(zip(paths, self._fs.read_each(paths), strict=True))
        return [f for f in files if any(_is_record_of(f, contents[p], p) for p in of_each[f.path])]

    def record(self, file: FileStatus, loaded_at_ms: int, snapshot_id: int, rows: int) -> None:
        """Remember a loaded file.

        Args:
            loaded_at_ms: time of the load, epoch milliseconds.
            snapshot_id: the table's latest snapshot after the load; 0 without one.
            rows: number of rows that were loaded.
        """
        content = {
            "filePath": file.path, "fileSize": file.size, "lastModified": file.modified_ms,
            "loadedAt": loaded_at_ms, "snapshotId": snapshot_id, "rowsLoaded": rows,
        }  # fmt: skip
        overwrite_surely(self._fs, f"{self._directory}/{_name_prefix(file.path)}-{loaded_at_ms}", java_json(content))


def _name_prefix(path: str) -> str:
    """The name of a record up to its time."""
    return f"load-{hashlib.sha256(path.encode()).hexdigest()[:16]}"


def _is_record_of(file: FileStatus, content: bytes | None, path: str) -> bool:
    if content is None:
        return False
    try:
        record = JsonObject(content, path)
        return (record.get("fileSize", int), record.get("lastModified", int)) == (file.size, file.modified_ms)
    except FormatError:
        return False
