"""Unique values of an array. `np.unique` is not used, because its first call imports `numpy.ma`, which takes 20 ms."""

from __future__ import annotations

import numpy as np


def unique(values: np.ndarray) -> np.ndarray:
    """The unique values in ascending order, as `np.unique(values)`."""
    ordered = np.sort(values)
    distinct_values: np.ndarray = ordered[_run_starts(ordered)]
    return distinct_values


def unique_inverse(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Index of the first occurrence of each unique value, and for each value the index of its unique value.

    The unique values are in ascending order, as in `np.unique(values, return_index=True, return_inverse=True)`.
    """
    order = np.argsort(values, kind="stable")
    starts = _run_starts(values[order])
    inverse = np.empty(len(values), np.int64)
    inverse[order] = np.cumsum(starts) - 1
    return order[starts], inverse


def _run_starts(ordered: np.ndarray) -> np.ndarray:
    starts = np.ones(len(ordered), bool)
    starts[1:] = ordered[1:] != ordered[:-1]
    return starts
