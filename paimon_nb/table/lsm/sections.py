"""Interval partitioning: splits files into sections with disjoint keys, and each section into the fewest sorted runs.

Source: docs/spec/format.md section 14.1 (Paimon `mergetree/compact/IntervalPartition.java`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from paimon_nb.format.manifest import DataFile
from paimon_nb.table.lsm.levels import SortedRun

Section = tuple[SortedRun, ...]
T = TypeVar("T")


def sections(files: Iterable[DataFile], key: Callable[[bytes], Any]) -> list[Section]:
    """Sections in key order. All rows of a key are in one section; a section with one run needs no merge."""
    bounded = [(key(f.min_key), key(f.max_key), f) for f in files]
    return [tuple(SortedRun(tuple(run)) for run in section) for section in cut(bounded)]


def cut(bounded: list[tuple[Any, Any, T]]) -> list[list[list[T]]]:
    """`sections` of anything, as lists of runs. `bounded`: (smallest key, largest key, thing); sorted here."""
    bounded.sort(key=lambda b: (b[0], b[1]))
    out: list[list[list[T]]] = []
    current: list[tuple[Any, Any, T]] = []
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


def _runs(section: list[tuple[Any, Any, T]]) -> list[list[T]]:
    """Greedy: each file is added to the run that ends first, if that run ends before the file begins.

    A merge does not depend on the order of the runs, but changes are read file by file: so the order is that of Java's
    queue.
    """
    queue: list[tuple[Any, list[T]]] = []  # (max key of the run's last file, run), a heap by the keys
    for low, high, file in section:
        if not queue:
            _add(queue, (high, [file]))
            continue
        end, run = _poll(queue)
        if end < low:
            run.append(file)
            _add(queue, (high, run))
        else:
            _add(queue, (high, [file]))
            _add(queue, (end, run))
    return [run for _, run in queue]


def _add(heap: list[tuple[Any, list[T]]], item: tuple[Any, list[T]]) -> None:
    """`java.util.PriorityQueue.add`."""
    at = len(heap)
    heap.append(item)
    while at and item[0] < heap[(at - 1) // 2][0]:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = item


def _poll(heap: list[tuple[Any, list[T]]]) -> tuple[Any, list[T]]:
    """`java.util.PriorityQueue.poll`."""
    first, item = heap[0], heap.pop()
    if not heap:
        return first
    at = 0
    while (child := 2 * at + 1) < len(heap):
        if child + 1 < len(heap) and heap[child + 1][0] < heap[child][0]:
            child += 1
        if not heap[child][0] < item[0]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = item
    return first
