"""Live tables, job cards and the list of jobs, on real tables without Spark; `tests/browser/test_lab_streams.py` sees them in use."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hostile import PAYLOADS, live_nodes

from paimon_nb.notebook.magics.active import current
from paimon_nb.notebook.stream_model import MAX_BYTES, LiveRows, Rate, counts_text, rate_text
from paimon_nb.notebook.table_feed import TableFeed
from paimon_nb.notebook.widgets.jobs import JobsView
from paimon_nb.notebook.widgets.live import LiveTable
from paimon_nb.session.core.jobs import StreamJob
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import TableCommit

if TYPE_CHECKING:
    from collections.abc import Callable


def changes(*rows: tuple[str, int, str | None]) -> pa.Table:
    kinds, ids, texts = zip(*rows, strict=True)
    return pa.table({"op": list(kinds), "id": pa.array(ids, pa.int32()), "v": pa.array(texts, pa.string())})


def test_the_newest_rows_are_kept_and_all_are_counted() -> None:
    live = LiveRows(keep=3)
    live.add(changes(("+I", 1, "a"), ("+I", 2, None)))
    live.add(changes(("-U", 1, "a"), ("+U", 1, "b"), ("-D", 2, None)))
    assert live.newest() == [[5, "-D", "2", None], [4, "+U", "1", "b"], [3, "-U", "1", "a"]]
    assert counts_text(live.counts) == "2 +I, 1 -U, 1 +U, 1 -D"
    live.clear()
    assert (live.newest(), live.total, counts_text(live.counts)) == ([], 0, "no rows yet")
    live.add(changes(("+I", 7, "new")))
    assert live.newest() == [[6, "+I", "7", "new"]]  # no row has the number of one that a page may still show


def test_what_is_sent_is_bounded() -> None:
    live = LiveRows(keep=1000)
    live.add(pa.table({"op": ["+I"] * 2000, **{f"c{i}": ["x" * 500] * 2000 for i in range(300)}}))
    shown = live.newest()
    assert 0 < len(shown) < 10
    assert sum(len(str(row)) for row in shown) < 2 * MAX_BYTES
    assert (live.total, live.left_out) == (2000, 100)


def test_the_rate_is_of_the_last_seconds() -> None:
    rate = Rate()
    assert [rate.update(t, n) for t, n in ((0, 0), (1, 10), (2, 20))] == [0, 10, 10]
    assert rate.update(20, 20) < 1.2
    assert [rate.update(t, 20) for t in (21, 22, 23, 30)][-1] == 0
    assert rate.update(31, 5) == 0  # it began anew
    assert [rate_text(r) for r in (0, 0.04, 3.21, 1234.5)] == ["0 rows/s", "0.0 rows/s", "3.2 rows/s", "1,234 rows/s"]


@pytest.fixture
def table(wb: Any) -> Any:
    wb.run(
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'lookup')"
    )
    made = wb.table("t")
    made.upsert(rows([1, 2], "a"))
    return made


def rows(ids: list[int], text: str) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32()), "v": [text] * len(ids)})


def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def ops(live: LiveTable) -> list[list[Any]]:
    return [row[1:] for row in live.view["rows"]]


def test_a_live_table_follows_pauses_seeks_and_stops(wb: Any, table: Any) -> None:
    live = LiveTable(TableFeed(table, wb.session.jobs), "SELECT * FROM t")
    live.follow()
    assert ops(live) == [["+I", "2", "a"], ["+I", "1", "a"]]
    table.upsert(rows([2], "b"))
    until(lambda: len(ops(live)) == 4)
    assert ops(live)[:2] == [["+U", "2", "b"], ["-U", "2", "a"]]
    newest = table.latest_snapshot().id
    assert live.view["lag"][0]["text"] == f"caught up (snapshot {newest})"
    live.on_message({"pause": True})
    assert live.status == live.view["status"] == "PAUSED"
    table.upsert(rows([3], "c"))
    until(lambda: live.view["lag"][0]["behind"] > 0)
    assert len(ops(live)) == 4
    live.on_message({"pause": False})
    until(lambda: ops(live)[0] == ["+I", "3", "c"])
    live.on_message({"seek": str(newest)})
    until(lambda: ["+I", "3", "c"] in ops(live))
    assert ["+I", "1", "a"] not in ops(live)
    live.on_message({"stop": True})
    assert live.view["status"] == "CANCELED"
    assert "+I  3   c" in str(live)
    live.on_message({"seek": None})  # a stopped one starts again
    until(lambda: sorted(ops(live)) == [["+I", "1", "a"], ["+I", "2", "b"], ["+I", "3", "c"]])
    assert live.view["status"] == "RUNNING"
    live.stop()


def test_a_look_at_the_old_place_never_comes_after_a_seek(wb: Any, table: Any) -> None:
    """The follower has looked, is held up, and another thread seeks: what it saw must not go to the page any more."""
    looked, sought = threading.Event(), threading.Event()

    class HeldUp(LiveTable):
        def current(self) -> dict[str, Any]:
            seen = super().current()
            if threading.current_thread().name == "paimon-live" and seen["total"] == 3 and not looked.is_set():
                looked.set()
                sought.wait(0.5)
            return seen

    live = HeldUp(TableFeed(table, wb.session.jobs), "SELECT * FROM t")
    seen: list[list[int]] = []
    live.observe(lambda change: seen.append([row[0] for row in change["new"]["rows"]]), "view")
    live.follow()
    table.upsert(rows([3], "c"))
    assert looked.wait(30)
    live.on_message({"seek": None})
    sought.set()
    until(lambda: len(ops(live)) == 3 and min(seen[-1]) > 3)
    live.stop()
    newest = [numbers[0] for numbers in seen if numbers]
    assert newest == sorted(newest), seen


def test_a_stream_that_starts_again_while_its_end_is_told_goes_on(wb: Any, table: Any) -> None:
    ending = threading.Event()

    class Slow(LiveTable):
        def ended(self) -> None:
            ending.set()
            time.sleep(0.3)
            super().ended()

    live = Slow(TableFeed(table, wb.session.jobs), "SELECT * FROM t")
    live.follow()
    live.on_message({"stop": True})
    assert ending.wait(30)
    live.on_message({"seek": None})
    table.upsert(rows([3], "later"))
    until(lambda: ["+I", "3", "later"] in ops(live))
    live.stop()


@pytest.mark.parametrize("message", [{"seek": "soon"}, {"seek": "0"}, {"seek": "-1"}, {"seek": "'; DROP TABLE t"}])
def test_a_place_that_is_none_is_told(wb: Any, table: Any, message: dict[str, Any]) -> None:
    live = LiveTable(TableFeed(table, wb.session.jobs), "SELECT * FROM t")
    live.on_message(message)
    assert "not a snapshot id" in live.view["error"]
    assert live.view["status"] == "RUNNING"
    for junk in ({"pause": "yes"}, {"stop": 1}, None, [], {"nothing": True}, {"seek": 7}):
        live.on_message(junk)
    assert (live.view["status"], len(ops(live))) == ("RUNNING", 2)
    live.stop()


def test_a_dropped_table_fails_its_stream_with_a_reason(wb: Any, table: Any) -> None:
    live = LiveTable(TableFeed(table, wb.session.jobs), "SELECT * FROM t")
    live.follow()
    wb.run("DROP TABLE t")
    until(lambda: live.view["status"] == "FAILED")
    assert "dropped" in live.view["error"]
    assert ops(live) == [["+I", "2", "a"], ["+I", "1", "a"]]


def test_a_large_state_is_left_out(wb: Any, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paimon_nb.notebook.table_feed.LARGE_BYTES", 1)
    feed = TableFeed(table, wb.session.jobs)
    assert feed.take(0) == []
    table.upsert(rows([9], "z"))
    assert [t.num_rows for t in feed.take(5)] == [1]
    assert "only new changes" in feed.note


def test_the_list_stops_one_or_all(wb: Any, table: Any) -> None:
    feeds = [TableFeed(table, wb.session.jobs) for _ in range(3)]
    listed = JobsView(wb)
    assert [j["status"] for j in listed.view["jobs"]] == ["RUNNING"] * 3
    listed.on_message({"stop": feeds[0].job.id})
    assert [(j["id"], j["status"]) for j in listed.view["jobs"]][-1] == (feeds[0].job.id, "CANCELED")
    listed.on_message({"stop": "no such job"})
    assert [f.isActive for f in feeds] == [False, True, True]
    listed.on_message({"stop": True})
    assert not any(f.isActive for f in feeds)
    assert [r["status"] for r in wb.run("SHOW JOBS").arrow.to_pylist()] == ["CANCELED"] * 3
    assert str(listed).splitlines()[0].split("  ")[0] == "job id"
    assert (
        str(JobsView(type(wb)(wb.session.__class__(wb.session.catalog, None, {}))))
        == "No streaming jobs in this session"
    )


def test_the_list_has_what_show_jobs_has_and_the_jobs_of_other_processes(wb: Any, table: Any) -> None:
    TableFeed(table, wb.session.jobs)
    (job,) = wb.session.jobs.all.values()
    job.restarts, job.statement = 2, "SELECT * FROM t WHERE v <> '; '"
    table.store.consumers.set("nightly copy", 1)
    with TableWrite(table.store) as writing:
        writing.write(rows([7], "z"))
        TableCommit(table.store, "their-job").commit(writing.prepare_commit(), 41)
    lines = JobsView(wb).view["jobs"]
    assert "2 restarts" in lines[0]["facts"]
    reader, writer = lines[1:]
    assert (reader["id"], reader["name"], reader["status"], reader["facts"][0]) == (
        "nightly copy",
        "reads default.t",
        "EXTERNAL",
        "default.t: snapshot 0",
    )
    assert (writer["id"], writer["name"], writer["facts"][0]) == ("their-job", "writes default.t", "commit 41")
    shown = wb.run("SHOW JOBS").arrow.to_pylist()
    assert [(r["job id"], r["status"], r["snapshots behind"]) for r in shown[1:]] == [
        ("nightly copy", "EXTERNAL", table.refresh().store.snapshots.latest_id()),
        ("their-job", "EXTERNAL", None),
    ]
    job.stop()
    assert any(f == "resume with: SELECT * FROM t WHERE v <> '; '" for f in JobsView(wb).view["jobs"][0]["facts"])


def test_the_list_reads_the_progress_of_an_ended_job_once(wb: Any, table: Any) -> None:
    feed, reads = TableFeed(table, wb.session.jobs), []

    def progress(_: Any) -> Any:
        reads.append(feed.isActive)
        return feed.progress()

    wb.session.jobs.add(StreamJob("counted", feed, lambda: 3, progress))
    listed = JobsView(wb)
    listed.redraw()
    feed.stop()
    for _ in range(3):
        listed.redraw()
    assert reads == [True, True, False]
    feed.seek(None)  # it runs again
    listed.redraw()
    assert reads == [True, True, False, True]
    feed.stop()


def test_hostile_values_stay_text(wb: Any) -> None:
    wb.run("CREATE TABLE h (v STRING)")
    wb.table("h").append(pa.table({"v": [str(p) for p in PAYLOADS]}))
    live = LiveTable(TableFeed(wb.table("h"), wb.session.jobs), "SELECT * FROM h")
    still = live._repr_mimebundle_()[0]
    assert live_nodes(still["text/html"]) == live_nodes(still["image/svg+xml"]) == []
    live.stop()


def test_magics_end_what_their_cell_began(shell: Any) -> None:
    shell.value("%paimon CREATE TABLE t (id INT, v STRING)")
    first = shell.value("%paimon live t scan.mode=latest")
    assert isinstance(first, LiveTable)
    assert isinstance(shell.value("%paimon jobs"), JobsView)
    assert shell.error("%paimon jobs all")[0] == "UsageError"
    assert "latest" in shell.error("%paimon live t scan.mode=lattest")[1]
    shell.value("%paimon connect other")
    assert first.job in current.workbench.session.jobs.all.values()  # it can still be ended
    shell.value(f"%paimon STOP JOB '{first.job.id}'")
    assert first.status == "CANCELED"
