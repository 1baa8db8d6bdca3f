"""The entries of manifests as they were decoded: the values of each field in a list. Objects are created on access.

For manifests with few entries; those with many are decoded with NumPy (`manifest_batch`), whose import takes longer.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.override import override
from paimon_nb.format.avro.container import gc_paused
from paimon_nb.format.avro.records import read_values
from paimon_nb.format.manifest.entries import (
    BYTES,
    STATS_COLS,
    DataFile,
    Entries,
    ManifestEntry,
    Name,
    SimpleStats,
    object_array,
)
from paimon_nb.format.types.arrow_builders import arrow_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.format.avro.container import Container
    from paimon_nb.format.avro.records import Field

_FILE = "_FILE."
NUMBER_PATHS = {
    "kind": "_KIND", "bucket": "_BUCKET", "total_buckets": "_TOTAL_BUCKETS", "level": "_FILE._LEVEL",
    "schema_id": "_FILE._SCHEMA_ID", "file_size": "_FILE._FILE_SIZE", "row_count": "_FILE._ROW_COUNT",
    "created": "_FILE._CREATION_TIME", "deletes": "_FILE._DELETE_ROW_COUNT",
}  # fmt: skip
BYTES_PATHS = {
    "partition": "_PARTITION", "file_name": "_FILE._FILE_NAME", "min_key": "_FILE._MIN_KEY", "max_key": "_FILE._MAX_KEY",
    "key_low": "_FILE._KEY_STATS._MIN_VALUES", "key_high": "_FILE._KEY_STATS._MAX_VALUES",
    "value_low": "_FILE._VALUE_STATS._MIN_VALUES", "value_high": "_FILE._VALUE_STATS._MAX_VALUES",
}  # fmt: skip
NULL_PATHS = {"key_nulls": "_FILE._KEY_STATS._NULL_COUNTS", "value_nulls": "_FILE._VALUE_STATS._NULL_COUNTS"}
_AFTER_STATS = (
    "_MIN_SEQUENCE_NUMBER", "_MAX_SEQUENCE_NUMBER", "_SCHEMA_ID", "_LEVEL", "_EXTRA_FILES", "_CREATION_TIME",
    "_DELETE_ROW_COUNT", "_EMBEDDED_FILE_INDEX", "_FILE_SOURCE", "_VALUE_STATS_COLS", "_EXTERNAL_PATH", "_FIRST_ROW_ID",
    "_WRITE_COLS", "_WRITE_COLS_SEQUENCES",
)  # fmt: skip
"""In the order of the arguments of `DataFile`."""
TEXT_PATHS = {_FILE + n for n in ("_FILE_NAME", "_EXTRA_FILES", "_VALUE_STATS_COLS", "_EXTERNAL_PATH", "_WRITE_COLS")}
_PATHS = {
    **{name: f"_FILE._{name.upper()}" for name in (
        "file_name", "file_size", "row_count", "min_key", "max_key", "schema_id", "level", "delete_row_count", "file_source",
        "value_stats_cols", "external_path", "first_row_id", "write_cols",
    )},
    "min_sequence": "_FILE._MIN_SEQUENCE_NUMBER", "max_sequence": "_FILE._MAX_SEQUENCE_NUMBER",
    "creation_time_ms": "_FILE._CREATION_TIME", "value_stats.null_counts": "_FILE._VALUE_STATS._NULL_COUNTS",
    "value_stats.min_values": "_FILE._VALUE_STATS._MIN_VALUES", "value_stats.max_values": "_FILE._VALUE_STATS._MAX_VALUES",
}  # fmt: skip
"""Fields of `DataFile` that are read without creating it."""
_SOME = 8
"""After this fraction of the entries was requested as objects in small portions, all are created, which costs a third
per entry.
"""


class DecodedEntries(Entries):
    """Entries whose fields are found by their paths in the manifest."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._made: list[ManifestEntry] | None = None
        self._objects_made = 0

    @abstractmethod
    def field_values(self, path: str, rows: np.ndarray | None) -> list[Any]:
        """The values of a field of all entries, or of those at some positions; None where a manifest does not have it."""

    @override
    def objects(self, rows: np.ndarray | None = None, *, cached: bool = True) -> list[ManifestEntry]:
        if self._made is None and not cached:
            with gc_paused():
                return list(self._make_entries(rows))
        if self._made is None:
            self._objects_made += len(self) if rows is None else len(rows)
            with gc_paused():
                if self._objects_made < len(self) // _SOME and rows is not None:
                    return list(self._make_entries(rows))
                self._made = self._make_all()
        return list(self._made) if rows is None else [self._made[i] for i in rows.tolist()]

    def file_values(self, name: str, rows: np.ndarray) -> list[Any]:
        return self.field_values(_PATHS[name], rows)

    def _make_all(self) -> list[ManifestEntry]:
        return list(self._make_entries(None))

    def _make_entries(self, rows: np.ndarray | None) -> Iterator[ManifestEntry]:
        partitions: dict[bytes, bytes] = {}  # thousands of entries share a few partitions
        shared_partitions = [partitions.setdefault(p, p) for p in self.field_values("_PARTITION", rows)]
        whole = [self.field_values(n, rows) for n in ("_KIND", "_BUCKET", "_TOTAL_BUCKETS")]
        first = [self.field_values(_FILE + n, rows) for n in ("_FILE_NAME", "_FILE_SIZE", "_ROW_COUNT", "_MIN_KEY", "_MAX_KEY")]  # fmt: skip
        stats = [map(SimpleStats, *(self.field_values(f"_FILE.{kind}.{n}", rows) for n in ("_MIN_VALUES", "_MAX_VALUES", "_NULL_COUNTS"))) for kind in ("_KEY_STATS", "_VALUE_STATS")]  # fmt: skip
        last = [self.field_values(_FILE + n, rows) for n in _AFTER_STATS]
        files = map(DataFile, *first, *stats, *last)
        return map(ManifestEntry, whole[0], shared_partitions, whole[1], whole[2], files)

    def _stats_cols(self) -> np.ndarray:
        """The column `STATS_COLS`."""
        listed, written = (self.field_values(f"_FILE.{n}", None) for n in ("_VALUE_STATS_COLS", "_WRITE_COLS"))
        return object_array([b if a is None else a for a, b in zip(listed, written, strict=True)])


class EntryValues(DecodedEntries):
    """The entries of one manifest, or of several small ones."""

    vectorized = False

    def __init__(self, values: Mapping[str, list[Any]], parts: Sequence[EntryValues] = ()) -> None:
        super().__init__(len(values["_KIND"]))
        self._values = values
        self._parts = parts
        """The manifests, which are cached: the objects of their entries are kept there."""

    @classmethod
    def join(cls, parts: Sequence[Entries]) -> Entries | None:
        manifests = [part for part in parts if isinstance(part, EntryValues)]
        if len(manifests) < len(parts) or all(part._made is not None for part in manifests):
            return super().join(parts)
        paths = dict.fromkeys(path for part in manifests for path in part._values)
        values: dict[str, list[Any]] = {path: [] for path in paths}
        for part in manifests:
            for path, column in values.items():
                column += part.field_values(path, None)
        return cls(values, manifests)

    @override
    def field_values(self, path: str, rows: np.ndarray | None) -> list[Any]:
        found = self._values.get(path)
        if found is None:
            return [None] * (len(self) if rows is None else len(rows))
        return found if rows is None else list(map(found.__getitem__, rows.tolist()))

    @override
    def _make_all(self) -> list[ManifestEntry]:
        if self._parts:
            return [entry for part in self._parts for entry in part.objects()]
        return super()._make_all()

    @property
    def partitions(self) -> tuple[np.ndarray, list[bytes]]:
        seen: dict[bytes, int] = {}
        positions = [seen.setdefault(p, len(seen)) for p in self._values["_PARTITION"]]
        return np.array(positions, np.int64), list(seen)

    def _make_column(self, name: Name) -> Any:
        if isinstance(name, tuple):
            index = name[1]
            counts = self.field_values(NULL_PATHS[name[0]], None)
            return arrow_column([c[index] if c is not None and index < len(c) else None for c in counts], pa.int64())
        if name == STATS_COLS:
            return self._stats_cols()
        if name == "beside":
            both = [self.field_values(f"_FILE.{n}", None) for n in ("_EMBEDDED_FILE_INDEX", "_EXTRA_FILES")]
            return np.array([index is not None or bool(extra) for index, extra in zip(*both, strict=True)], np.int64)
        if name in BYTES:
            values = self.field_values(BYTES_PATHS[name], None)
            return arrow_column([v.encode() for v in values] if name == "file_name" else values, pa.large_binary())
        missing = -1 if name == "deletes" else 0
        return np.array([missing if v is None else v for v in self.field_values(NUMBER_PATHS[name], None)], np.int64)


def entries_by_values(container: Container, fields: Sequence[Field], version: int) -> EntryValues | None:
    """The entries; None if something about them is invalid or unusual, which the caller has to find out.

    Args:
        container: its schema must have the fields of a manifest.
        fields: `compile_columns` of the schema.
        version: of all entries.
    """
    values: dict[str, list[Any]] = {field[0]: [] for field in fields}
    try:
        with gc_paused():
            for count, block in container.blocks:
                read_values(fields, count, block, values)
    except (IndexError, ValueError):
        return None
    return EntryValues(values) if _are_sound(values, version) else None


def _are_sound(values: Mapping[str, list[Any]], version: int) -> bool:
    if not values["_KIND"]:
        return True
    return (
        set(values["_VERSION"]) == {version}
        and {0, 1}.issuperset(values["_KIND"])
        and min(map(min, (values[f"_FILE.{n}"] for n in ("_FILE_SIZE", "_ROW_COUNT", "_LEVEL")))) >= 0
        and _names_are_sound(values["_FILE._FILE_NAME"])
        and _names_are_sound([name for names in values["_FILE._EXTRA_FILES"] for name in names])
    )


def _names_are_sound(names: Sequence[str]) -> bool:
    joined = "".join(names)
    return "/" not in joined and "\0" not in joined and not {"", ".", ".."}.intersection(names)
