"""Progress of the jobs of a job group, from Spark's status tracker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

    def __str__(self) -> str:
        return f"stage {self.stage}: {self.done}/{self.total} tasks" if self.stage else "planning"


def poll(spark: SparkSession, group: str) -> Progress:
    """The progress of one job group."""
    tracker = spark.sparkContext.statusTracker()
    stages: set[int] = set()
    active = 0
    for job_id in tracker.getJobIdsForGroup(group):
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
    return best
