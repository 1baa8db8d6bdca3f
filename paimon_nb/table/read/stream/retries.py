"""The files of a checkpoint with rows that wait for another lookup: `lookup-waiting/<micro-batch>.<time of the next lookup>`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paimon_nb.fs import FileIO

_FOLDER = "lookup-waiting"


class RetryFiles:
    """One file for each micro-batch after which rows wait, or after which they no longer do."""

    def __init__(self, fs: FileIO, checkpoint: str) -> None:
        """`checkpoint`: the folder of the checkpoint, without scheme."""
        self.fs, self.folder = fs, f"{checkpoint}/{_FOLDER}"

    def read_before(self, number: int) -> bytes | None:
        """The content of the last file before a micro-batch: a micro-batch that runs again reads the same file."""
        names = [n for n in self._names() if n[0] < number]
        return self.fs.read(self._path(*names[-1])) if names else None

    def write(self, number: int, content: bytes, due_ms: int | None) -> None:
        """Store the state after a micro-batch. Deletes all files but this and the one before.

        `due_ms`: epoch ms of the next lookup; None: no row waits.
        """
        before = self._names()
        if due_ms is None and not before:
            return
        self.fs.overwrite(self._path(number, due_ms or 0), content)
        previous = [n for n in before if n[0] < number][-1:]
        for name in before:
            if name not in (*previous, (number, due_ms or 0)):
                self.fs.delete(self._path(*name))

    def due_number(self, now_ms: int) -> int | None:
        """The micro-batch that stored rows whose next lookup is due; None: nothing is due."""
        names = self._names()
        return names[-1][0] if names and 0 < names[-1][1] <= now_ms else None

    def _names(self) -> list[tuple[int, int]]:
        """Micro-batch and time of each file, in the order of micro-batches."""
        names = (f.name.split(".") for f in self.fs.list(self.folder))
        return sorted((int(n[0]), int(n[1])) for n in names if len(n) == 2 and n[0].isdecimal() and n[1].isdecimal())

    def _path(self, number: int, due_ms: int) -> str:
        return f"{self.folder}/{number}.{due_ms}"
