"""Merges `.blob` files of one column: one file with the newest values of consecutive rows.

Source: Paimon 2.1 `DataEvolutionCompactCoordinator`, `DataEvolutionBlobCompactTask`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.format.types import arrow_schema
from paimon_nb.options import table as opt
from paimon_nb.table.read.data_evolution import newest_rows, stores_column
from paimon_nb.table.read.split.blob_versions import newest_blobs
from paimon_nb.table.write.data_file_writer import COMPACT_SOURCE, FileTarget
from paimon_nb.table.write.dedicated_files import BlobFileWriter, dedicated_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.bucket_compact.append import BucketLocation

_MIN_FILES = 2


def mergeable_blob_files(store: TableStore, files: Sequence[DataFile]) -> list[tuple[DataField, list[DataFile]]]:
    """Two files or more of a column and of consecutive rows each, up to `blob.target-file-size` together."""
    target = store.options.get(opt.BLOB_TARGET_FILE_SIZE) or store.options.target_file_size(has_primary_key=False)
    blobs = [f for f in files if f.file_name.endswith(".blob")]
    by_column = defaultdict(list)
    for file in blobs:
        for field in dedicated_fields(store):
            if stores_column(store, [file], field):
                by_column[field].append(file)
    return [(field, part) for field, own in by_column.items() for part in _parts(own, target)]


def _parts(files: Iterable[DataFile], target: int) -> list[list[DataFile]]:
    parts: list[list[DataFile]] = [[]]
    for versions in _versions(files):
        before = parts[-1]
        if before and (_begin(versions) != max(map(_end, before)) or sum(f.file_size for f in before) >= target):
            parts.append([])
        if len(versions) == 1 and versions[0].file_size >= target:
            parts.append([])
        else:
            parts[-1] += versions
    return [part for part in parts if len(part) >= _MIN_FILES]


def _versions(files: Iterable[DataFile]) -> list[list[DataFile]]:
    """Files whose rows overlap, together."""
    groups: list[list[DataFile]] = []
    for file in sorted(files, key=lambda f: (f.first_row_id or 0, f.max_sequence)):
        if groups and (file.first_row_id or 0) < max(map(_end, groups[-1])):
            groups[-1].append(file)
        else:
            groups.append([file])
    return groups


def _begin(files: Sequence[DataFile]) -> int:
    return min(f.first_row_id or 0 for f in files)


def _end(file: DataFile) -> int:
    return (file.first_row_id or 0) + file.row_count


def merge_blob_files(
    store: TableStore, where: BucketLocation, column: DataField, files: Sequence[DataFile]
) -> DataFile:
    """Copy the newest value of each row into one file."""
    begin, end = _begin(files), max(map(_end, files))
    as_descriptors = store.copy({opt.BLOB_AS_DESCRIPTOR.key: "true"}).options
    whole = store.at_schema(
        store.schema.with_options({**store.schema.options, opt.BLOB_TARGET_FILE_SIZE.key: f"{1 << 60} b"})
    )
    schema = arrow_schema([column], nullable=True)
    with BlobFileWriter(whole, FileTarget(where.partition, where.bucket, 0, COMPACT_SOURCE), column) as out:
        for rows in newest_rows(files, begin, end - begin, column.name):
            paths = [(store.data_path(where.partition, where.bucket, r.file), r.begin) for r in (rows, *rows.older)]
            numbers = np.arange(rows.end - rows.begin)
            for values in newest_blobs(store.fs, paths, numbers, column, as_descriptors, len(numbers)):
                out.write(pa.table([values], schema=schema))
        (file,) = out.finish()
    return replace(
        file,
        first_row_id=begin,
        min_sequence=min(f.min_sequence for f in files),
        max_sequence=max(f.max_sequence for f in files),
    )
