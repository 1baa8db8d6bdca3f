"""Which statement writes a snapshot: `operation` of a snapshot file and of `$snapshots`, as Paimon 2.1 records it."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TRUNCATE = "TRUNCATE"
_OPERATION: ContextVar[str | None] = ContextVar("operation", default=None)


def current_operation() -> str | None:
    """The operation of the snapshots that this thread publishes; None outside of statements, as in streams."""
    return _OPERATION.get()


@contextmanager
def recorded_as(operation: str | None) -> Iterator[None]:
    """Snapshots that this thread publishes in the `with` block have this operation. None keeps the one of the block around it."""
    token = _OPERATION.set(operation or _OPERATION.get())
    try:
        yield
    finally:
        _OPERATION.reset(token)
