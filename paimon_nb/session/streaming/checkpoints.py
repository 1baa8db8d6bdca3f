"""The checkpoints of streaming jobs: their folders, what Spark has written into them, and the job that uses one."""

from __future__ import annotations

import json
import re
import tempfile
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.fs import open_fs, without_scheme
from paimon_nb.table.read.stream import StreamOffset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.session.core.jobs import Running
    from paimon_nb.session.core.session import Session

_CHECKPOINTS = ("execution.checkpointing.dir", "state.checkpoints.dir")
_ACTIVE: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""The last query that this process started with each checkpoint."""


def check_checkpoint_is_free(session: Session, folder: str | None) -> None:
    """Raise BadOptionValue if a running job of this process uses the checkpoint: Spark would stop that one without a word."""
    location = configured_checkpoint(session, folder)
    active = None if location is None else _ACTIVE.get(location)
    if active is not None and active.isActive:
        raise BadOptionValue(
            f"a running job uses the checkpoint {location}",
            hint="SHOW JOBS lists the jobs and STOP JOB ends one; for a second job SET another 'pipeline.name'",
            option=_CHECKPOINTS[0],
        )


def record_active(session: Session, folder: str | None, running: Running) -> None:
    """Record the query that uses a checkpoint."""
    location = configured_checkpoint(session, folder)
    if location is not None:
        _ACTIVE[location] = running


def start_offset_of(checkpoint: str) -> StreamOffset | str:
    """The start offset of a query with one source, from Spark's offset log; 'fresh' for a new checkpoint."""
    found = last_offset(checkpoint)
    return StreamOffset.from_json(found) if found is not None and "next" in found else "fresh"


def last_offset(checkpoint: str) -> dict[str, Any] | None:
    """The latest offset of a query with one source in Spark's offset log; None for a new checkpoint."""
    offsets = last_offsets(checkpoint)
    return dict(offsets[0]) if offsets else None


def last_offsets(checkpoint: str) -> list[Mapping[str, Any]]:
    """The latest offsets in Spark's offset log, one for each source that has one; empty for a new checkpoint."""
    fs = open_fs(checkpoint, {})
    logs = [f for f in fs.list(f"{without_scheme(checkpoint)}/offsets") if f.name.isdecimal()]
    if not logs:
        return []
    newest = max(logs, key=lambda f: int(f.name))
    # Line 1 is the version, line 2 the batch settings, then there is one line per source; '-' for one without an offset.
    lines = fs.read(newest.path).decode().splitlines()[2:]
    return [json.loads(line) for line in lines if line != "-"]


def remove_unfinished_start(checkpoint: str) -> None:
    """Delete the temporary files of a first offset that a stopped query did not finish writing: Spark refuses a checkpoint with them."""
    fs = open_fs(checkpoint, {})
    files = fs.list(f"{without_scheme(checkpoint)}/offsets")
    if not any(f.name.isdecimal() for f in files):
        for file in files:
            fs.delete(file.path)


def checkpoint_bytes(checkpoint: str) -> int:
    """The size of all files of a checkpoint: offsets, the state of groups and joins, rows that wait, the last result."""
    fs = open_fs(checkpoint, {})
    total, folders = 0, [without_scheme(checkpoint)]
    while folders:
        for found in fs.list(folders.pop()):
            if found.is_dir:
                folders.append(found.path)
            else:
                total += found.size
    return total


def is_resumed(checkpoint: str) -> bool:
    """Whether a query of this checkpoint finished a micro-batch before."""
    fs = open_fs(checkpoint, {})
    return any(f.name.isdecimal() for f in fs.list(f"{without_scheme(checkpoint)}/commits"))


def checkpoint_directory(session: Session, folder: str | None) -> str:
    """The job's checkpoint folder.

    In the session's checkpoint directory a job of the same name and target resumes from it. Without such a directory it
    is a temporary folder, and the job starts from the beginning.
    """
    configured = configured_checkpoint(session, folder)
    if configured is not None:
        return configured
    fresh = tempfile.TemporaryDirectory(prefix="paimon_nb-stream-", ignore_cleanup_errors=True)
    session.jobs.folders.append(fresh)  # deleted with the session, at the latest when Python exits
    return fresh.name


def configured_checkpoint(session: Session, folder: str | None) -> str | None:
    """The job's folder in the session's checkpoint directory; None without such a directory, or for a query that does not resume."""
    if folder is None:
        return None
    for key in _CHECKPOINTS:
        if key in session.settings:
            return f"{session.settings[key].rstrip('/')}/{re.sub(r'[^A-Za-z0-9_.-]', '_', folder)}"
    return None
