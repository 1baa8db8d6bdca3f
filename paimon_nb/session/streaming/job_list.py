"""SHOW JOBS: where each job is, how far it is behind, what it could not store, and how to resume it."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.base.errors import PaimonError, SnapshotNotFound
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.connectors.cdc.job import SyncJob, ValueCounts
from paimon_nb.session.core.result import Result, rows_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.session.core.jobs import Jobs, Progress, StreamJob
    from paimon_nb.session.streaming.other_jobs import OtherJob

_MAX_READ = 200
"""Snapshots that are read for the lag in records; a job that is further behind has no number."""


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a job is behind its tables."""

    snapshots: int | None
    """None: not known."""
    records: int | None
    """Written records of the unread snapshots; None: not known, or more snapshots than are read for it."""
    seconds: float | None
    """Age of the oldest unread snapshot."""


def show_jobs(jobs: Jobs, others: Sequence[OtherJob] = ()) -> Result:
    """SHOW JOBS: Flink's columns first. `others`: jobs of other processes, listed last."""
    import pyarrow as pa

    listed = [*(job_row(job) for job in list(jobs.all.values())), *map(other_job_row, others)]
    numbers = (
        "rows", "late rows", "snapshots behind", "records behind", "restarts", "changed values", "dead letters", "skipped", "state bytes",
    )  # fmt: skip
    types = {
        **dict.fromkeys(numbers, pa.int64()),
        **dict.fromkeys(("start time", "last commit"), pa.timestamp("ms")),
        "seconds behind": pa.float64(),
    }
    columns = {name: [row[name] for row in listed] for name in _COLUMNS}
    return rows_result(columns, {**dict.fromkeys(_COLUMNS, pa.string()), **types})


_COLUMNS = (
    "job id", "job name", "status", "start time", "rows", "late rows", "position", "snapshots behind", "records behind", "seconds behind",
    "last commit", "restarts", "changed values", "dead letters", "skipped", "state bytes", "message",
)  # fmt: skip


def job_row(job: StreamJob, progress: Sequence[Progress] | None = None) -> dict[str, Any]:
    """One line of SHOW JOBS, by column. `progress`: what `job.progress()` returned just now; None: it is called."""
    try:
        progress = job.progress() if progress is None else progress
        lag = lag_of(progress)
    except PaimonError:  # a source table is gone; the job's own error says more
        progress, lag = (), Lag(None, None, None)
    counts = values_of(job)
    return {
        "job id": job.id,
        "job name": job.name,
        "status": job.status,
        "start time": _time(job.started_ms),
        "rows": job.rows,
        "late rows": job.late,
        "position": position_of(job, progress),
        "snapshots behind": lag.snapshots,
        "records behind": lag.records,
        "seconds behind": lag.seconds,
        "last commit": _time(job.last_commit_ms()),
        "restarts": job.restarts,
        "changed values": counts.changed,
        "dead letters": counts.dead_lettered,
        "skipped": counts.skipped,
        "state bytes": job.state_bytes(),
        "message": message_of(job),
    }


def other_job_row(other: OtherJob) -> dict[str, Any]:
    """The line of a job of another process, by column: what its consumer or its commits say."""
    verb = "reads" if other.reads else "writes"
    return {
        **dict.fromkeys(_COLUMNS),
        "job id": other.id,
        "job name": f"{verb} {other.table}",
        "status": EXTERNAL,
        "position": other.position,
        "snapshots behind": other.behind,
        "last commit": _time(other.last_ms),
        "message": f"a job of another process, known by its {'consumer-id' if other.reads else 'commits'}; it may have ended",
    }


EXTERNAL = "EXTERNAL"
"""Status of a job of another process."""


def lag_of(progress: Sequence[Progress]) -> Lag:
    """The lag over all tables that a job reads: sums, and the greatest age."""
    if not progress:
        return Lag(None, None, None)
    records: int | None = 0
    seconds = 0.0
    for table in progress:
        if not table.behind or table.source is None:
            continue
        found, age = _unread(table)
        records = None if records is None or found is None else records + found
        seconds = max(seconds, age)
    return Lag(sum(p.behind for p in progress), records, seconds)


def _unread(progress: Progress) -> tuple[int | None, float]:
    """Records of the snapshots that a job has not read, and the age of the oldest of them in seconds."""
    assert progress.source is not None
    snapshots = progress.source.store.snapshots
    records, oldest_ms = 0, None
    for number in range(progress.at + 1, min(progress.newest, progress.at + _MAX_READ) + 1):
        try:
            snapshot = snapshots.get(number)
        except SnapshotNotFound:
            continue
        oldest_ms = snapshot.time_ms if oldest_ms is None else oldest_ms
        if snapshot.commit_kind != "COMPACT":
            records += snapshot.delta_record_count or 0
    age = 0.0 if oldest_ms is None else max(0.0, (clock.now_ms() - oldest_ms) / 1000)
    return (None if progress.behind > _MAX_READ else records), age


def values_of(job: StreamJob) -> ValueCounts:
    """Values that a sync did not store as they are; zeros for other jobs."""
    return job.running.value_counts if isinstance(job.running, SyncJob) else ValueCounts(0, 0, 0)


def position_of(job: StreamJob, progress: Sequence[Progress]) -> str | None:
    """Where a job is in its sources; None if it is not known."""
    if isinstance(job.running, SyncJob):
        return job.running.position_text or None
    return ", ".join(f"{p.table}: snapshot {p.at}" for p in progress) or None


def message_of(job: StreamJob) -> str | None:
    """Values that did not fit; for a job that ended, why, and the statement that resumes it."""
    lines = list(job.running.value_notes) if isinstance(job.running, SyncJob) else []
    error = job.error
    if error is not None:
        lines.append(error.one_line)
    if job.status in ("FAILED", "CANCELED") and job.statement:
        lines.append(f"resume with: {job.statement}")
    return "; ".join(lines) or None


def _time(ms: int | None) -> dt.datetime | None:
    return None if ms is None else dt.datetime.fromtimestamp(ms / 1000, dt.UTC).replace(tzinfo=None)
