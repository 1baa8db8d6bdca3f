"""Makes Arrow data of other writers sound, before any of its values is used.

Arrow's specification lets a writer leave out the offsets of an array without values, and Java's does (a batch from
Spark whose nested lists are all NULL or empty). Arrow's C++ functions read such offsets all the same, behind the
buffer: `nbytes`, `flatten` or a cast may then end the process. `validate(full=True)` does not notice it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator


_FLAT = (pa.string(), pa.binary(), pa.large_string(), pa.large_binary())


def sound_table(table: pa.Table) -> pa.Table:
    """The same rows, with offsets in every empty array; the table itself if it has them."""
    columns = table.columns
    sound = [_sound_column(c) for c in columns]
    if all(new is old for new, old in zip(sound, columns, strict=True)):
        return table
    return pa.Table.from_arrays(sound, schema=table.schema)


def sound_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """`sound_table` for a batch."""
    columns = batch.columns
    sound = [sound_array(c) for c in columns]
    if all(new is old for new, old in zip(sound, columns, strict=True)):
        return batch
    return pa.RecordBatch.from_arrays(sound, schema=batch.schema)


def sound_reader(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """`sound_batch` for each batch of a stream."""

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            yield sound_batch(batch)

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def checked_table(table: pa.Table) -> pa.Table:
    """The rows of an Arrow file, whose bytes anybody may have written: each offset and text is checked.

    Raises:
        pa.ArrowInvalid: the bytes are not valid Arrow data.
    """
    table.validate(full=True)
    return sound_table(table)


def sound_array(array: pa.Array) -> pa.Array:
    """The same values, with offsets in every empty array inside; the array itself if it has them."""
    t = array.type
    if isinstance(array, pa.ExtensionArray):
        storage = array.storage
        sound = sound_array(storage)
        return array if sound is storage else pa.ExtensionArray.from_storage(t, sound)
    if not _has_offsets(t):
        return array
    if len(array) == 0:
        return pa.nulls(0, t)
    if pa.types.is_map(t):
        return _with_children(array, [array.keys, array.items])
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return _with_children(array, [array.values])
    if pa.types.is_struct(t):
        return _with_children(array, [array.field(i) for i in range(t.num_fields)])
    return array


def _sound_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not _has_offsets(column.type):
        return column
    chunks = column.chunks
    sound = [sound_array(c) for c in chunks]
    if all(new is old for new, old in zip(sound, chunks, strict=True)):
        return column
    return pa.chunked_array(sound, type=column.type)


def _has_offsets(t: pa.DataType) -> bool:
    if isinstance(t, pa.BaseExtensionType):
        return _has_offsets(t.storage_type)
    if pa.types.is_nested(t):
        return not pa.types.is_union(t)
    return _is_flat_with_offsets(t)


def _is_flat_with_offsets(t: pa.DataType) -> bool:
    return t in _FLAT


def _with_children(array: pa.Array, children: list[pa.Array]) -> pa.Array:
    sound = [sound_array(c) for c in children]
    if all(new is old for new, old in zip(sound, children, strict=True)):
        return array
    t = array.type
    if pa.types.is_struct(t):  # `field` returned the children of these rows alone
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(sound, fields=list(t), mask=mask)
    if pa.types.is_map(t):
        entries = pa.struct([t.key_field, t.item_field])
        sound = [pa.StructArray.from_arrays(sound, fields=list(entries))]
    own = array.buffers()[: 1 if pa.types.is_fixed_size_list(t) else 2]
    return pa.Array.from_buffers(t, len(array), own, array.null_count, array.offset, sound)
