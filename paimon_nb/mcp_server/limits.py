"""The limits of a call, and the errors that name them."""

from __future__ import annotations

from paimon_nb.base.errors import EngineError
from paimon_nb.base.lazy_dataclass import dataclass


class LimitReached(EngineError):
    """A call needs more than it may use; the message names the limit."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may use."""

    seconds: float = 60.0
    """Time of one call, without the start of Spark."""
    rows: int = 1_000
    """Rows of an answer."""
    bytes: int = 1_000_000
    """Bytes of an answer as JSON."""
    memory: int = 4 << 30
    """Bytes of memory of all processes that run the call."""
    statement: int = 100_000
    """Characters of a statement."""


def too_slow(limits: Limits) -> LimitReached:
    return LimitReached(
        f"the call ran longer than {limits.seconds:g} seconds and was ended",
        hint="read fewer rows: add a condition or a LIMIT; --max-seconds of `paimon-nb mcp` is the limit",
    )


def too_much_memory(limits: Limits) -> LimitReached:
    return LimitReached(
        f"the call needed more than {limits.memory >> 20:,} MB of memory and was ended",
        hint="read fewer rows or shorter values; --max-memory of `paimon-nb mcp` is the limit",
    )


def too_long_statement(limits: Limits, found: int) -> LimitReached:
    return LimitReached(
        f"the statement has {found:,} characters; at most {limits.statement:,} are read", hint="write a shorter one"
    )


def too_many_bytes(limits: Limits) -> LimitReached:
    return LimitReached(
        f"one row of the answer has more than {limits.bytes:,} bytes",
        hint="select fewer columns, or parts of values such as substring(x, 1, 100)",
    )
