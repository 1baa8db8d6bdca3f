"""`visibility-callback.enabled`: INSERT returns when a compaction of another session has made the rows visible."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import paimon_nb
from paimon_nb.base.errors import CommitError

WAITS = ", 'visibility-callback.enabled' = 'true', 'visibility-callback.check-interval' = '20 ms', 'visibility-callback.timeout' = '30 s'"
KINDS = {
    "postponed": "'bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'false'",
    "marked": "'bucket' = '1', 'write-only' = 'true', 'deletion-vectors.enabled' = 'true'",
}


def rows(wb):
    return sorted(tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist())


def made(wb, options):
    wb.run(f"CREATE TABLE t (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ({options})")


@pytest.mark.parametrize("kind", KINDS)
def test_an_insert_waits_for_the_compaction_of_another(tmp_path, kind):
    with paimon_nb.connect(str(tmp_path)) as wb, paimon_nb.connect(str(tmp_path)) as other:
        made(wb, KINDS[kind] + WAITS)
        with ThreadPoolExecutor(1) as pool:
            seen = pool.submit(lambda: [wb.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')"), rows(wb)][1])
            while other.table("t").latest_snapshot() is None:
                assert not seen.done()
            assert (seen.done(), rows(other)) == (False, [])
            other.run("CALL sys.compact(`table` => 't')")
            assert seen.result(timeout=60) == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_wait_that_is_too_long_says_that_the_rows_are_committed(tmp_path, kind):
    with paimon_nb.connect(str(tmp_path)) as wb:
        made(wb, (KINDS[kind] + WAITS).replace("30 s", "50 ms"))
        with pytest.raises(CommitError, match="the rows are committed"):
            wb.run("INSERT INTO t VALUES (1, 'a')")
        wb.run("CALL sys.compact(`table` => 't')")
        assert rows(wb) == [(1, "a")]


@pytest.mark.parametrize("options", ["'bucket' = '1'", "'bucket' = '1', 'deletion-vectors.enabled' = 'true'"])
def test_rows_that_are_visible_are_not_waited_for(tmp_path, options):
    with paimon_nb.connect(str(tmp_path)) as wb:
        made(wb, (options + WAITS).replace("30 s", "1 ms"))
        wb.run("INSERT INTO t VALUES (1, 'a')")
        assert rows(wb) == [(1, "a")]
