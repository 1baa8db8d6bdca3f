"""Which partitions a compaction is asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

Partitions = Collection[bytes] | Callable[[bytes], bool]
"""Serialized partitions, or a test for them."""


def chosen(known: Iterable[bytes], partitions: Partitions | None) -> set[bytes]:
    """Those of `known` that are meant; None means all."""
    if partitions is None:
        return set(known)
    return {p for p in known if (partitions(p) if callable(partitions) else p in partitions)}
