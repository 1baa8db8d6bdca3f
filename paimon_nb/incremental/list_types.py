"""The types of columns that are kept incrementally, and their names in the embedded engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.types import Array, LocalZonedTimestamp, Multiset, is_nano
from paimon_nb.session.query.local import values

if TYPE_CHECKING:
    from paimon_nb.format.types import DataType


def engine_type(t: DataType) -> str:
    """The engine's name of a type."""
    if isinstance(t, Multiset):
        return f"MAP({values.engine_type(t.element)}, INTEGER)"
    return values.engine_type(t)


def stored_type(t: DataType) -> DataType | None:
    """The type that a column has in the engine; None: its values cannot be kept incrementally."""
    match t:
        case Array():
            element = values.embedded_engine_type(t.element)
            return None if element is None else Array(element)
        case Multiset():
            element = values.embedded_engine_type(t.element)
            return None if element is None else Multiset(element)
        case LocalZonedTimestamp():
            return None if is_nano(t) else values.INSTANT
    return values.embedded_engine_type(t)
