"""The last result of a job that runs its whole query again, in its checkpoint: rows that vanish while the job is stopped are deleted
when it resumes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import MissingFile
from paimon_nb.fs import open_fs, without_scheme

if TYPE_CHECKING:
    import pyarrow as pa

_BEGUN, _STORED = "result-begun.arrow", "result-stored.arrow"


class LastResult:
    """Two files of a checkpoint: the result that is being stored, and the one that was stored before it."""

    def __init__(self, checkpoint: str) -> None:
        self._fs, folder = open_fs(checkpoint, {}), without_scheme(checkpoint)
        self._begun, self._stored = f"{folder}/{_BEGUN}", f"{folder}/{_STORED}"
        self._current: bytes | None = None

    def read(self) -> pa.Table | None:
        """The rows of both results, the newer ones last: some of them may not be in the table. None: a new checkpoint.

        The results may have different columns; then only those of the newer one are returned.
        """
        import pyarrow as pa

        parts = [t for t in map(self._read, (self._stored, self._begun)) if t is not None]
        same = [t for t in parts if t.schema == parts[-1].schema]
        return pa.concat_tables(same) if same else None

    def begin(self, rows: pa.Table) -> None:
        """Before the rows are stored in the table."""
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        self._current = sink.getvalue().to_pybytes()
        self._fs.overwrite(self._begun, self._current)

    def end(self) -> None:
        """After the rows are stored in the table."""
        assert self._current is not None
        self._fs.overwrite(self._stored, self._current)

    def _read(self, path: str) -> pa.Table | None:
        import pyarrow as pa

        try:
            return pa.ipc.open_stream(self._fs.read(path)).read_all()
        except MissingFile:
            return None
