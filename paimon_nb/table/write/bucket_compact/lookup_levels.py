"""Looks up keys in levels above a compaction's output: the rows before the change and their positions.

Source: docs/spec/merge-semantics.md sections 3 and 6 (Paimon `mergetree/LookupLevels.java`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.data import iter_data_file, kv_columns
from paimon_nb.format.data.schema_evolution import rows_as_read_fields
from paimon_nb.format.row import from_scalar
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.table.lsm.levels import key_decoder, key_order
from paimon_nb.table.lsm.superseded import key_ids
from paimon_nb.table.write.bucket_compact.sorted_run_reader import in_kv_column_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors


class LookupLevels:
    """The upper-level files of a bucket that a compaction does not rewrite."""

    def __init__(
        self, store: TableStore, partition: bytes, bucket: int, files: Sequence[DataFile], vectors: BucketVectors | None
    ) -> None:
        self.store = store
        self.partition = partition
        self.bucket = bucket
        self.files = sorted(files, key=lambda f: f.level)
        self.vectors = vectors
        self._decode = key_decoder([f.type for f in store.schema.key_fields])

    def find(self, lookup_keys: pa.Table) -> pa.Table | None:
        """The records of the keys in `lookup_keys` (kv table), each from the lowest level that has it. None if there are
        none.

        This includes a -D in an upper level: its sequence number may exceed that of the rows below.
        With deletion vectors the found rows are marked deleted, because the compaction's output replaces them.
        """
        if not self.files or not lookup_keys.num_rows:
            return None
        remaining = key_ids(lookup_keys, self.store.schema.key_fields)
        low, high = self._key_span(lookup_keys)
        found: list[pa.Table] = []
        for file in self.files:
            if not len(remaining) or self._decode(file.max_key) < low or self._decode(file.min_key) > high:
                continue
            for table, positions in self._find_in_file(file, remaining):
                found.append(table)
                ids = key_ids(table, self.store.schema.key_fields)
                remaining = remaining.filter(pc.invert(pc.is_in(remaining, value_set=ids)))
                if self.vectors is not None:
                    self.vectors.delete_rows(file.file_name, positions)
        if not found:
            return None
        return pa.concat_tables(found)

    def _key_span(self, rows: pa.Table) -> tuple[tuple[object, ...], tuple[object, ...]]:
        fields = self.store.schema.key_fields
        keys = [
            tuple(key_order(from_scalar(f.type, rows.column(f.name)[i])) for f in fields)
            for i in _extreme_key_rows(rows, [f.name for f in fields])
        ]
        return min(keys), max(keys)

    def _find_in_file(self, file: DataFile, ids: pa.Array) -> list[tuple[pa.Table, np.ndarray]]:
        """(rows, physical positions) of the requested keys in one file, without deleted rows."""
        store = self.store
        schema = store.schemas.get(file.schema_id) if file.schema_id != store.schema.id else store.schema
        in_file, present = kv_columns(schema.fields), kv_columns(store.schema.fields)
        path = store.data_path(self.partition, self.bucket, file)
        vector = self.vectors.of(file.file_name) if self.vectors is not None else None
        out, start = [], 0
        for batch in iter_data_file(
            store.fs, path, in_file, [f.name for f in in_file], options=store.options, row_count=file.row_count
        ):
            table = in_kv_column_order(rows_as_read_fields(pa.Table.from_batches([batch]), in_file, present), store)
            hit = to_numpy(pc.is_in(key_ids(table, store.schema.key_fields), value_set=ids))
            if vector is not None:
                hit &= ~vector.mask(table.num_rows, start)
            if hit.any():
                out.append((table.filter(from_numpy(hit)), np.flatnonzero(hit) + start))
            start += batch.num_rows
        return out


def _extreme_key_rows(rows: pa.Table, names: Sequence[str]) -> list[int]:
    """Indexes of rows that include a smallest and a largest key."""
    order = pc.sort_indices(rows.select(list(names)), sort_keys=[(n, "ascending", "at_start") for n in names])
    return [order[0].as_py(), order[-1].as_py()]
