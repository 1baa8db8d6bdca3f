"""Progress of Spark jobs, from the status tracker: of one job group, or of all jobs that run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.spark.runtime.jvm_bridge import input_rows_of_stages

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress at one time. Stages are added while the work runs, so there is no overall percentage."""

    stage: int
    """Number of the running stage among the known ones, from 1; 0 before the first."""
    stages: int
    done: int
    """Finished tasks of that stage."""
    total: int
    jobs_active: int
    rows: int = 0
    """Rows that the tasks have read from tables so far, as far as Spark counts them."""

    def __str__(self) -> str:
        return f"stage {self.stage}: {self.done}/{self.total} tasks" if self.stage else "planning"


def poll(spark: SparkSession, group: str) -> Progress:
    """The progress of one job group."""
    return _progress(spark.sparkContext, list(spark.sparkContext.statusTracker().getJobIdsForGroup(group)))


def poll_active(context: SparkContext) -> Progress:
    """The progress of all jobs that run now."""
    return _progress(context, list(context.statusTracker().getActiveJobsIds()))


def _progress(context: SparkContext, job_ids: list[int]) -> Progress:
    tracker = context.statusTracker()
    stages: set[int] = set()
    active = 0
    for job_id in job_ids:
        job = tracker.getJobInfo(job_id)
        if job is not None:
            stages.update(job.stageIds)
            active += job.status == "RUNNING"
    ordered = sorted(stages)
    best = Progress(0, len(ordered), 0, 0, active)
    for number, stage_id in enumerate(ordered, 1):
        info = tracker.getStageInfo(stage_id)
        if info is not None and info.numTasks and (info.numCompletedTasks or info.numActiveTasks):
            best = Progress(number, len(ordered), info.numCompletedTasks, info.numTasks, active)
    return replace(best, rows=input_rows_of_stages(context, ordered))
