"""`Table`'s reads as a person calls them: odd arguments give the right rows or an error that says what to write."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, TableReplaced, UnknownOption

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.workbench import Workbench


@pytest.fixture
def wb(tmp_path: Path) -> Workbench:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '2')")
    wb.table("t").upsert(pa.table({"k": [1, 2, 3], "v": ["a", "b", "c"]}))
    return wb


def test_no_columns_are_as_many_rows(wb):
    counted = [wb.table("t").to_arrow([], where=where) for where in (None, "k > 1", "v = 'z'")]
    assert [(t.num_rows, t.num_columns) for t in counted] == [(3, 0), (2, 0), (0, 0)]


def test_a_dropped_table_is_not_read_as_an_empty_one(wb):
    table = wb.table("t")
    wb.run("DROP TABLE t")
    with pytest.raises(TableReplaced, match="the table was dropped"):
        table.to_arrow()


@pytest.mark.parametrize("moment", [dt.date(2099, 1, 1), np.datetime64("2099-01-01"), np.int64(4_070_908_800_000)])
def test_moments_of_several_kinds(wb, moment):
    assert wb.table("t").to_arrow(timestamp=moment).num_rows == 3


@pytest.mark.parametrize("moment", [1.5, True, "yesterday", b"x"])
def test_what_is_no_moment_is_refused(wb, moment):
    with pytest.raises(BadOptionValue, match=r"point in time|not a time"):
        wb.table("t").to_arrow(timestamp=moment)


def test_how_long_a_tag_is_kept(wb):
    table = wb.table("t")
    table.tags.create("a", retained=dt.timedelta(hours=36))
    with pytest.raises(BadOptionValue, match="'soon' is not a duration"):
        table.tags.create("b", retained="soon")
    assert table.tags().select(["tag_name", "time_retained"]).to_pylist() == [
        {"tag_name": "a", "time_retained": "PT36H"}
    ]


def test_an_option_that_is_nearly_one_of_ours_is_refused(wb):
    table, slip = wb.table("t"), {"scan.snapshot_id": "1"}
    for use in (lambda: table.to_arrow(options=slip), lambda: table.copy(slip), lambda: table.stream(slip)):
        with pytest.raises(UnknownOption, match=r"no option .scan\.snapshot_id"):
            use()


def test_one_partition_where_several_are_asked_for_is_refused(wb):
    wb.run("CREATE TABLE p (d STRING, v INT) PARTITIONED BY (d)")
    table = wb.table("p")
    table.append(pa.table({"d": ["x"], "v": [1]}))
    for use in (table.drop_partitions, table.compact):
        with pytest.raises(BadOptionValue, match="'d' is not a partition"):
            use({"d": "x"})
    assert table.to_arrow().num_rows == 1


def test_values_of_numpy_are_bound(wb):
    wb.run("INSERT INTO t VALUES (:k, :v)", k=np.int64(4), v=np.str_("d"))
    assert wb.table("t").lookup(k=4).to_pylist() == [{"k": 4, "v": "d"}]
