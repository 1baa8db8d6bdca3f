"""What the last refresh has read: stored in the properties of the target's snapshot, so that result and positions become visible together."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.incremental.operators import Source
    from paimon_nb.table.tables.table import Table

PROPERTY = "paimon-nb.incremental"
"""The snapshot property."""
_VERSION = 1


@dataclass(frozen=True, slots=True)
class InputPosition:
    """The state of an input that the result contains."""

    table: str
    identity: str
    """Of the table: another one may have its name later."""
    snapshot: int | None
    manifest: str | None
    """The name of the snapshot's delta manifest list: another snapshot may have its number after a rollback."""

    @classmethod
    def of(cls, source: Source, snapshot: Snapshot | None) -> InputPosition:
        first = hashlib.sha256(source.table.store.first_schema or b"").hexdigest()[:16]
        if snapshot is None:
            return cls(str(source.table.name), first, None, None)
        return cls(str(source.table.name), first, snapshot.id, snapshot.delta_manifest_list)

    def as_json(self) -> dict[str, Any]:
        return {"table": self.table, "identity": self.identity, "snapshot": self.snapshot, "manifest": self.manifest}


@dataclass(frozen=True, slots=True)
class Positions:
    """What one refresh stored."""

    query: str
    """A hash of the operators, or of the text if it is computed again each time."""
    text: str
    """A hash of the text."""
    inputs: tuple[InputPosition, ...]
    states: tuple[dict[str, Any], ...] | None
    """Each state table with its snapshot; None: the result was computed without state."""
    watermarks: tuple[int | None, ...] = ()
    """Of each input, in microseconds since 1970; empty: no input has one that is used."""
    late: int = 0
    """Rows that were dropped since the table was built, because they came after the watermark."""

    def as_text(self) -> str:
        content: dict[str, Any] = {
            "version": _VERSION,
            "query": self.query,
            "text": self.text,
            "inputs": [i.as_json() for i in self.inputs],
            "states": None if self.states is None else list(self.states),
        }
        if any(w is not None for w in self.watermarks):
            content |= {"watermarks": list(self.watermarks), "late": self.late}
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> Positions | None:
        """The positions; None: another version of this program wrote them in a form that is not known here."""
        try:
            content = json.loads(text)
            if content["version"] != _VERSION:
                return None
            inputs = tuple(
                InputPosition(i["table"], i["identity"], i["snapshot"], i["manifest"]) for i in content["inputs"]
            )
            states = content["states"]
            known = None if states is None else tuple(states)
            watermarks = tuple(content.get("watermarks", ()))
            return cls(content["query"], content["text"], inputs, known, watermarks, content.get("late", 0))
        except (ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True, slots=True)
class LastRefresh:
    """The last snapshot of the target that a refresh wrote."""

    snapshot: Snapshot
    positions: Positions | None
    is_changed_since: bool
    """Whether others have written rows since."""


def last_refresh(table: Table, latest: Snapshot | None) -> LastRefresh | None:
    """The last refresh of a target; None: there is none, or its snapshot has expired.

    Args:
        table: the target.
        latest: its newest snapshot.
    """
    found, changed = latest, False
    while found is not None:
        text = (found.properties or {}).get(PROPERTY)
        if text is not None:
            return LastRefresh(found, Positions.parse(text), changed)
        changed = changed or found.commit_kind not in ("COMPACT", "ANALYZE")
        if found.id <= 1:
            return None
        try:
            found = table.store.snapshots.get(found.id - 1)
        except PaimonError:
            return None
    return None


def query_hash(parts: Sequence[str]) -> str:
    """A hash of what a plan computes."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
