"""Stream offset: small, comparable, and serialisable as text. Reads nothing."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.format.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class CommitMark:
    """Which commit made a snapshot. After a rollback another commit makes a snapshot with the same id."""

    user: str
    identifier: int
    time_ms: int
    rows: int | None = field(default=None, compare=False)
    """Rows in the files of the snapshot; None: not known. The next snapshot states it, too, when this one has expired."""

    @staticmethod
    def of(snapshot: Snapshot) -> CommitMark:
        return CommitMark(
            snapshot.commit_user, snapshot.commit_identifier, snapshot.time_ms, snapshot.total_record_count
        )


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """The next item that a stream delivers."""

    next: int
    """Snapshot whose changes (or whole state) come next; everything before it was delivered. Snapshot ids begin with 1."""
    full: bool = False
    """Deliver the whole state of `next`, then continue with the changes of the following snapshots."""
    since_ms: int | None = None
    """For a whole state: only files created at or after this time (epoch milliseconds)."""
    behind: CommitMark | None = None
    """The commit of snapshot `next - 1`, whose rows were delivered. None: not known, for example in old checkpoints."""
    base: int | None = None
    """For the whole state of a chain table: the snapshot of its snapshot branch, 0 if that was empty. None: the latest one."""

    @staticmethod
    def after(snapshot: Snapshot) -> StreamOffset:
        """The position when everything up to a snapshot was delivered."""
        return StreamOffset(snapshot.id + 1, behind=CommitMark.of(snapshot))

    def to_json(self) -> dict[str, Any]:
        """Plain values for checkpoints; the inverse of `from_json`."""
        out: dict[str, Any] = {"next": self.next}
        if self.full:
            out["full"] = True
        if self.since_ms is not None:
            out["since"] = self.since_ms
        if self.behind is not None:
            mark = self.behind
            out["commit"] = [mark.user, mark.identifier, mark.time_ms, *([] if mark.rows is None else [mark.rows])]
        if self.base is not None:
            out["base"] = self.base
        return out

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> StreamOffset:
        since, commit, base = data.get("since"), data.get("commit"), data.get("base")
        return StreamOffset(
            int(data["next"]),
            bool(data.get("full", False)),
            None if since is None else int(since),
            None if commit is None else CommitMark(str(commit[0]), *map(int, commit[1:4])),
            None if base is None else int(base),
        )
