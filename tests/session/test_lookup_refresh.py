"""Which partitions a micro-batch of a lookup join uses. No JVM."""

from __future__ import annotations

from paimon_nb.session.streaming.lookup.refresh import RefreshSchedule

OLD, NEW = [{"dt": "1"}], [{"dt": "2"}]


def test_an_asynchronous_refresh_uses_new_partitions_one_micro_batch_later():
    waits, at_once = RefreshSchedule(partitions_async=True), RefreshSchedule()
    assert [waits.partitions_to_use(OLD, found) for found in (OLD, NEW)] == [(OLD, None), (OLD, NEW)]
    assert [at_once.partitions_to_use(OLD, found) for found in (OLD, NEW)] == [(OLD, None), (NEW, None)]
