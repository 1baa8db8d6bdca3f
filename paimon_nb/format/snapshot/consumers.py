"""Consumers: the progress of each named reader. Source: docs/spec/format.md section 15."""

from __future__ import annotations

import posixpath
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from paimon_nb.base.errors import ConsumerNotFound, CorruptFile, MissingFile
from paimon_nb.base.identifier import check_name
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.metadata_json import JsonObject, java_json
from paimon_nb.fs import overwrite_surely

if TYPE_CHECKING:
    from paimon_nb.fs import FileIO

_PREFIX = "consumer-"
_PAUSE_S = 0.002


class ConsumerDirectory:
    """`<branch root>/consumer/consumer-<id>`: `{"nextSnapshot": n}`."""

    def __init__(self, fs: FileIO, branch_root: str) -> None:
        self.fs, self.root = fs, posixpath.join(branch_root, "consumer")

    def path(self, consumer_id: str) -> str:
        return posixpath.join(self.root, _PREFIX + check_name(consumer_id, "consumer"))

    def ids(self) -> list[str]:
        return [s.name[len(_PREFIX) :] for s in self.fs.list(self.root) if not s.is_dir and s.name.startswith(_PREFIX)]

    def modified_ms(self) -> dict[str, int]:
        """Time of the last progress of each consumer, for expiry."""
        return {s.name[len(_PREFIX) :]: s.modified_ms for s in self.fs.list(self.root) if s.name.startswith(_PREFIX)}

    def next_snapshot(self, consumer_id: str) -> int:
        """Raises `ConsumerNotFound`, `CorruptFile`."""
        path = self.path(consumer_id)
        for again in (True, True, False):
            try:
                return JsonObject(self.fs.read(path), path).natural("nextSnapshot")
            except MissingFile:
                raise ConsumerNotFound(
                    f"no consumer {consumer_id!r}", hint=did_you_mean(consumer_id, self.ids()), name=consumer_id
                ) from None
            except CorruptFile:
                # Other engines rewrite the file in place, so it may be incomplete for a short time.
                if not again:
                    raise
                time.sleep(_PAUSE_S)
        raise AssertionError("the last try returns or raises")

    def set(self, consumer_id: str, next_snapshot: int) -> None:
        overwrite_surely(self.fs, self.path(consumer_id), java_json({"nextSnapshot": next_snapshot}))

    def delete(self, consumer_id: str) -> bool:
        return self.fs.delete(self.path(consumer_id))

    def min_next_snapshot(self) -> int | None:
        """The oldest snapshot that a consumer still needs. A corrupt file raises `CorruptFile`, which stops expiry."""
        needed = []
        for consumer_id in self.ids():
            with suppress(ConsumerNotFound):  # deleted in the meantime
                needed.append(self.next_snapshot(consumer_id))
        return min(needed, default=None)
