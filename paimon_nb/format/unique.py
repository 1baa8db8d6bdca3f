"""Distinct numbers of an array. `np.unique` says the same, but imports `numpy.ma` at its first call, 20 ms for nothing."""

from __future__ import annotations

import numpy as np


def distinct(values: np.ndarray) -> np.ndarray:
    """Each number once, rising."""
    ordered = np.sort(values)
    once: np.ndarray = ordered[_begins(ordered)]
    return once


def groups(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(where each distinct number is seen first, for each value the place of its number); numbers rising."""
    order = np.argsort(values, kind="stable")
    begins = _begins(values[order])
    inverse = np.empty(len(values), np.int64)
    inverse[order] = np.cumsum(begins) - 1
    return order[begins], inverse


def _begins(ordered: np.ndarray) -> np.ndarray:
    begins = np.ones(len(ordered), bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    return begins
