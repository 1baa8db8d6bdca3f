"""Work under a job group: progress comes, Ctrl-C ends exactly its jobs and leaves Spark usable."""

import _thread
import threading
import time

import pytest

from paimon_nb.base.errors import Cancelled, SqlAnalysisError
from paimon_nb.spark.jobs.cancel import run_cancellable

pytestmark = pytest.mark.spark


def slowly(frame):
    def slow(batches):  # inside, so that it goes to the tasks by value: they cannot import a test module
        for batch in batches:
            time.sleep(0.4)
            yield batch

    return frame.mapInArrow(slow, "id bigint")


def test_the_result_comes_back(spark):
    assert run_cancellable(spark, lambda: spark.range(5).count()) == 5


def test_progress_counts_tasks(spark):
    seen = []
    frame = slowly(spark.range(8, numPartitions=8))
    run_cancellable(spark, frame.collect, on_progress=seen.append, progress_after_s=0.1)
    assert seen
    assert max(p.total for p in seen) == 8
    assert 0 < max(p.done for p in seen) <= 8
    assert str(seen[-1]).startswith("stage 1: ")


def test_an_interrupt_cancels_in_five_seconds(spark):
    frame = slowly(spark.range(400, numPartitions=400))
    threading.Timer(1.5, _thread.interrupt_main).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        run_cancellable(spark, frame.collect)
    assert time.monotonic() - started < 6.5
    for _ in range(30):
        if not spark.sparkContext.statusTracker().getActiveJobsIds():
            break
        time.sleep(0.1)
    assert spark.sparkContext.statusTracker().getActiveJobsIds() == []
    assert spark.range(7).count() == 7


def test_other_jobs_go_on(spark):
    done = []
    frame = slowly(spark.range(4, numPartitions=2))
    other = threading.Thread(target=lambda: done.append(frame.count()))
    other.start()
    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(Cancelled):
        run_cancellable(spark, lambda: time.sleep(1) or slowly(spark.range(100, numPartitions=100)).collect())
    other.join(120)
    assert done == [4]


def test_errors_are_translated(spark):
    with pytest.raises(SqlAnalysisError):
        run_cancellable(spark, lambda: spark.sql("SELECT nope"))
