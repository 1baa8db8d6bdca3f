"""The content of an index file from the values of a column: its bytes, and what the index manifest says of it. Touches no file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.index.global_index import (
    KeyBounds,
    SortedKeys,
    encode_index_key,
    sorted_keys,
    write_bitmap_file,
    write_btree_file,
)
from paimon_nb.format.index.global_index.text_file import (
    text_index_meta,
    text_index_options,
    write_text_index,
)
from paimon_nb.format.index.global_index.vector_file import vector_index_build, write_vector_index
from paimon_nb.format.types import Array, Vector
from paimon_nb.format.types.arrow_builders import to_numpy
from paimon_nb.options import prefix_options
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from paimon_nb.format.types import DataField
    from paimon_nb.options import TableOptions


@dataclass(frozen=True, slots=True)
class IndexContent:
    """One index file that is to be written."""

    data: bytes
    row_count: int
    meta: bytes


def sorted_index(options: TableOptions, kind: str, keys: SortedKeys) -> IndexContent:
    """A btree or bitmap index."""
    ends = [encode_index_key(keys.type, keys.keys[i]) for i in (0, -1)] if keys.keys else [None, None]
    meta = KeyBounds(ends[0], ends[1], bool(len(keys.nulls))).to_bytes()
    if kind == "btree":
        codec, level = options.get(opt.BTREE_INDEX_COMPRESSION), options.get(opt.BTREE_INDEX_COMPRESSION_LEVEL)
        data = write_btree_file(keys, options.get(opt.BTREE_INDEX_BLOCK_SIZE), codec, level)
    else:
        codec, level = options.get(opt.BITMAP_INDEX_COMPRESSION), options.get(opt.BITMAP_INDEX_COMPRESSION_LEVEL)
        data = write_bitmap_file(keys, options.get(opt.BITMAP_INDEX_DICTIONARY_BLOCK_SIZE), codec, level)
    return IndexContent(data, keys.row_count, meta)


def element_index(
    options: TableOptions, field: DataField, column: pa.ChunkedArray, positions: npt.NDArray[np.int64]
) -> IndexContent:
    """A bitmap of the rows of each element of an ARRAY column; NULLs have none."""
    assert isinstance(field.type, Array)
    arrays = column.combine_chunks()
    owners = np.repeat(positions, to_numpy(arrays.value_lengths().fill_null(0)).astype(np.int64))
    elements = arrays.flatten()
    valid = elements.is_valid()
    keys = sorted_keys(field.type.element, elements.filter(valid), owners[to_numpy(valid)])
    keys = SortedKeys(keys.type, keys.keys, [np.unique(rows) for rows in keys.rows], keys.nulls)
    ends = [encode_index_key(keys.type, keys.keys[i]) for i in (0, -1)] if keys.keys else [None, None]
    codec, level = (
        options.get(prefix_options.MULTIVALUE_INDEX_COMPRESSION),
        options.get(prefix_options.MULTIVALUE_INDEX_COMPRESSION_LEVEL),
    )
    size = options.get(prefix_options.MULTIVALUE_INDEX_DICTIONARY_BLOCK_SIZE)
    data = write_bitmap_file(keys, size, codec, level, present=False)
    return IndexContent(data, len(column), KeyBounds(ends[0], ends[1], has_nulls=False).to_bytes())


def text_index(options: TableOptions, column: pa.ChunkedArray, positions: npt.NDArray[np.int64]) -> IndexContent:
    """A full-text index. Raises: EnvironmentError_: the package is missing. BadOptionValue: an option of the index is wrong."""
    stored, at = column.drop_null(), positions[to_numpy(column.is_valid())]
    of_index = text_index_options(options.raw)
    data = write_text_index(of_index, zip(at.tolist(), stored.to_pylist(), strict=True))
    return IndexContent(data, len(column), text_index_meta(of_index))


def vector_index(
    options: TableOptions,
    kind: str,
    table: str,
    field: DataField,
    column: pa.ChunkedArray,
    positions: npt.NDArray[np.int64],
) -> IndexContent | None:
    """An index of vectors; None if there is no vector.

    Args:
        table: its name, for errors.

    Raises: EnvironmentError_: the package is missing. BadOptionValue: an option of the index is wrong. SchemaMismatch: a vector
        has another length, or is not finite.
    """
    stored, at = column.drop_null(), positions[to_numpy(column.is_valid())]
    length = field.type.length if isinstance(field.type, Vector) else None
    build = vector_index_build(kind, options.raw, field.name, length)
    if not len(stored):
        return None
    data = write_vector_index(build, at, _matrix(table, field, stored, build.dimension))
    return IndexContent(data, len(column), b"{}")


def _matrix(table: str, field: DataField, vectors: pa.ChunkedArray, dimension: int) -> npt.NDArray[np.float32]:
    """The vectors as rows. Raises: SchemaMismatch: one has another length, or an element that is no finite number."""
    column = vectors.combine_chunks()
    lengths = set(column.value_lengths().unique().to_pylist()) - {dimension}
    flat = column.flatten()
    matrix = None if lengths or flat.null_count else np.asarray(to_numpy(flat), np.float32).reshape(-1, dimension)
    if matrix is None or not np.isfinite(matrix).all():
        what = f"a vector of {min(lengths)} elements" if lengths else "an element that is NULL, NaN or infinite"
        raise SchemaMismatch(
            f"{table}: column {field.name} has {what}, which a vector index of dimension {dimension} cannot hold",
            hint=f"'fields.{field.name}.dimension' is the length of the vectors" if lengths else "replace it by NULL or a number",
            column=field.name,
        )  # fmt: skip
    return np.ascontiguousarray(matrix)
