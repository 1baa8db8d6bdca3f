"""Selects the partitions of a compaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

Partitions = Collection[bytes] | Callable[[bytes], bool]
"""Serialized partitions, or a filter on them."""


def select_partitions(known: Iterable[bytes], partitions: Partitions | None) -> set[bytes]:
    """The selected partitions among `known`; None means all."""
    if partitions is None:
        return set(known)
    return {p for p in known if (partitions(p) if callable(partitions) else p in partitions)}
