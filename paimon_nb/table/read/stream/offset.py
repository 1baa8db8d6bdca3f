"""Stream offset: small, comparable, and serialisable as text. Reads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """The next item that a stream delivers."""

    next: int
    """Snapshot whose changes (or whole state) come next; everything before it was delivered. Snapshot ids begin with 1."""
    full: bool = False
    """Deliver the whole state of `next`, then continue with the changes of the following snapshots."""
    since_ms: int | None = None
    """For a whole state: only files created at or after this time (epoch milliseconds)."""

    def to_json(self) -> dict[str, Any]:
        """Plain values for checkpoints; the inverse of `from_json`."""
        out: dict[str, Any] = {"next": self.next}
        if self.full:
            out["full"] = True
        if self.since_ms is not None:
            out["since"] = self.since_ms
        return out

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> StreamOffset:
        since = data.get("since")
        return StreamOffset(int(data["next"]), bool(data.get("full", False)), None if since is None else int(since))
