"""Interval partition: cut files into sections that share no key, and each section into the fewest sorted runs.

Source: format reference, section 14.1 (Paimon `mergetree/compact/IntervalPartition.java`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from typing import Any

from paimon_nb.format.manifest import DataFile
from paimon_nb.table.lsm.levels import SortedRun

Section = tuple[SortedRun, ...]


def sections(files: Iterable[DataFile], key: Callable[[bytes], Any]) -> list[Section]:
    """Sections in key order. Rows of one key lie in one section; a section of one run needs no merge."""
    bounded = [(key(f.min_key), key(f.max_key), f) for f in files]
    bounded.sort(key=lambda b: (b[0], b[1]))
    out: list[Section] = []
    current: list[tuple[Any, Any, DataFile]] = []
    bound: Any = None
    for item in bounded:
        if current and item[0] > bound:
            out.append(_runs(current))
            current = []
        bound = item[1] if not current else max(bound, item[1])
        current.append(item)
    if current:
        out.append(_runs(current))
    return out


def _runs(section: list[tuple[Any, Any, DataFile]]) -> Section:
    """Greedy: each file goes to the run that ends first, if that run ends before the file begins."""
    ends: list[tuple[Any, int]] = []  # (max key of the run's last file, index of the run)
    runs: list[list[DataFile]] = []
    for low, high, file in section:
        if ends and ends[0][0] < low:
            index = ends[0][1]
            runs[index].append(file)
            heapq.heapreplace(ends, (high, index))
        else:
            runs.append([file])
            heapq.heappush(ends, (high, len(runs) - 1))
    return tuple(SortedRun(tuple(r)) for r in runs)
