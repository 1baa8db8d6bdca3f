"""The base class of statements, with their span in the user's text."""

from __future__ import annotations

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.syntax.tree import Span

Parts = tuple[str, ...]
"""A name as written, 1 to 3 parts ([catalog.]database.object), without quotes. The last may be `t$files`."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement. `text` is the user's, unchanged; `span` is its position in the whole cell."""

    text: str
    span: Span


__all__ = ["Parts", "Span", "Statement"]
