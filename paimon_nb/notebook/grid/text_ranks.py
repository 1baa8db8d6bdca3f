"""The rank of each text in a column: sorting ranks takes a fifth of the time of sorting texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

_STEP = 8
"""Bytes that are compared at a time, as one number."""
_SAMPLE = 10_000
Numbers = np.ndarray[Any, np.dtype[Any]]


def text_ranks(column: pa.ChunkedArray) -> pa.Array:
    """A number for each text, in byte order: equal texts have equal numbers, NULL stays NULL.

    Args:
        column: of type string, less than 2 GB.

    Examples:
        >>> text_ranks(pa.chunked_array([["b", "a", "b"]])).to_pylist()
        [1, 0, 1]
    """
    import pyarrow as pa

    texts = pa.concat_arrays(column.chunks) if column.num_chunks != 1 else column.chunk(0)
    if len(texts) and len(texts[:_SAMPLE].unique()) * 5 < min(len(texts), _SAMPLE):
        return _ranks_of_repeated(texts)
    _, offsets_buffer, data_buffer = texts.buffers()
    if not len(texts) or offsets_buffer is None:
        return pa.array([], pa.int64())
    offsets = np.frombuffer(offsets_buffer, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    data = (
        np.frombuffer(data_buffer, np.uint8) if data_buffer is not None and data_buffer.size else np.zeros(1, np.uint8)
    )
    shared = _common_prefix_length(texts)
    starts, lengths = offsets[:-1] + shared, np.diff(offsets) - shared
    keys = _prefix_keys(data, starts, lengths)
    order = np.argsort(keys, kind="stable")
    ranks = np.empty(len(order), np.int64)
    ranks[order] = _group_starts(keys[order])
    done = 0
    tied = _rows_with_equal_rank(ranks, lengths, order)
    while len(tied):
        # Texts with equal beginnings: compare their next bytes, inside their group. A text that ends comes first.
        rest = np.maximum(lengths[tied] - done, 0)
        ended = np.minimum(rest, _STEP + 1)
        following = _prefix_keys(data, starts[tied] + done + np.minimum(rest, _STEP), np.maximum(rest - _STEP, 0))
        done += _STEP
        by = np.lexsort((following, ended, ranks[tied]))
        groups = ranks[tied][by]
        fresh = np.empty(len(by), bool)
        fresh[0] = True
        fresh[1:] = (np.diff(groups) != 0) | (np.diff(ended[by]) != 0) | (following[by][1:] != following[by][:-1])
        firsts = np.maximum.accumulate(np.where(np.r_[True, np.diff(groups) != 0], np.arange(len(by)), 0))
        position = np.maximum.accumulate(np.where(fresh, np.arange(len(by)), 0))
        ranks[tied[by]] = groups + position - firsts
        tied = tied[by]
        same = _equal_neighbours(ranks[tied])
        tied = tied[same & (lengths[tied] > done)]
        tied = tied[_equal_neighbours(ranks[tied])]
    return pa.array(
        ranks, mask=None if not texts.null_count else ~np.asarray(texts.is_valid().to_numpy(zero_copy_only=False))
    )


def _ranks_of_repeated(texts: pa.Array) -> pa.Array:
    """The ranks of texts of which most occur often."""
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = pc.dictionary_encode(texts)
    order = np.asarray(pc.array_sort_indices(coded.dictionary).to_numpy())
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return pc.take(pa.array(ranks), coded.indices)


def _common_prefix_length(texts: pa.Array) -> int:
    """The length of the beginning that all texts share."""
    import pyarrow.compute as pc

    if texts.null_count:
        return 0
    ends = pc.min_max(texts).as_py()
    pairs = zip(ends["min"].encode(), ends["max"].encode(), strict=False)
    same = 0
    for a, b in pairs:
        if a != b:
            break
        same += 1
    return same


def _prefix_keys(data: Numbers, starts: Numbers, lengths: Numbers) -> Numbers:
    """The first bytes of each text as a big-endian number, padded with zeros."""
    keys = np.zeros(len(starts), np.uint64)
    last = len(data) - 1
    for i in range(_STEP):
        byte = np.where(lengths > i, data[np.minimum(starts + i, last)], 0).astype(np.uint64)
        keys = (keys << np.uint64(8)) | byte
    return keys


def _group_starts(ordered: Numbers) -> Numbers:
    """For sorted keys, the position of the first equal one."""
    fresh = np.r_[True, ordered[1:] != ordered[:-1]]
    starts: Numbers = np.maximum.accumulate(np.where(fresh, np.arange(len(ordered)), 0))
    return starts


def _equal_neighbours(ordered: Numbers) -> Numbers:
    """Which of the sorted ranks occur more than once."""
    same = ordered[1:] == ordered[:-1]
    found: Numbers = np.r_[False, same] | np.r_[same, False] if len(ordered) else np.zeros(0, bool)
    return found


def _rows_with_equal_rank(ranks: Numbers, lengths: Numbers, order: Numbers) -> Numbers:
    """Rows whose rank is not unique, in rank order, if a longer text is among them."""
    tied: Numbers = order[_equal_neighbours(ranks[order])]
    if not len(tied):
        return tied
    ordered = ranks[tied]
    firsts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    shortest, longest = np.minimum.reduceat(lengths[tied], firsts), np.maximum.reduceat(lengths[tied], firsts)
    differ = (shortest != longest) | (longest > _STEP)
    longer: Numbers = tied[np.repeat(differ, np.diff(np.r_[firsts, len(tied)]))]
    return longer
