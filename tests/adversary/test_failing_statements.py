"""A statement that fails changes nothing: no table is made or emptied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import NullNotAllowed, PaimonError

if TYPE_CHECKING:
    from pathlib import Path

KEYED = "(PRIMARY KEY (id) NOT ENFORCED)"


def rows(wb: paimon_nb.Workbench, table: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in wb.table(table).to_arrow().to_pylist())


@pytest.fixture
def null_key(tmp_path: Path) -> str:
    """A file whose key column has a NULL."""
    path = tmp_path / "null_key.csv"
    path.write_text("id,v\n1,a\n,b\n")
    return f"SELECT * FROM '{path}'"


@pytest.mark.parametrize("exists", ["", "IF NOT EXISTS "])
def test_a_table_is_not_made_without_its_rows(tmp_path, null_key, exists):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    for _ in range(2):  # the second run must not find a table of the first one
        with pytest.raises(NullNotAllowed):
            wb.run(f"CREATE TABLE {exists}k {KEYED} AS {null_key}")
    assert wb.session.catalog.tables("default") == []


def test_a_table_with_rows_of_another_writer_goes_to_the_trash(tmp_path):
    """The writer fails after somebody else has stored rows in its new table."""
    wb = paimon_nb.connect(str(tmp_path / "w"))

    def batches():
        yield pa.record_batch({"id": [1]})
        paimon_nb.connect(str(tmp_path / "w")).run("INSERT INTO t VALUES (7)")
        raise OSError("the source is gone")

    with pytest.raises(OSError, match="the source is gone"):
        wb.create_table("t", pa.RecordBatchReader.from_batches(pa.schema({"id": pa.int64()}), batches()))
    assert wb.session.catalog.tables("default") == []
    wb.run("UNDROP TABLE t")
    assert rows(wb, "t") == [(7,)]


@pytest.fixture
def swb(tmp_path, spark):
    wb = paimon_nb.connect(str(tmp_path / "w"), spark=spark)
    wb.run("CREATE TABLE t (id INT, v STRING) WITH ('bucket' = '-1'); INSERT INTO t VALUES (1, 'old')")
    return wb


def test_a_query_that_fails_makes_no_table(swb):
    with pytest.raises(PaimonError):
        swb.run("CREATE TABLE z AS SELECT id, 10 DIV (id - 2) FROM range(3)")
    with pytest.raises(PaimonError):
        swb.spark.sql("SELECT id, 10 DIV (id - 2) AS x FROM range(3)").writeTo("z").create()
    assert swb.session.catalog.tables("default") == ["t"]


@pytest.mark.parametrize("shape", ["", "PARTITIONED BY (id) "], ids=["in place", "another directory"])
def test_a_replaced_table_keeps_its_rows_until_the_new_ones_are_stored(swb, null_key, shape):
    old = swb.table("t").latest_snapshot()
    for failing in (
        f"CREATE OR REPLACE TABLE t {KEYED} {shape}AS {null_key}",
        f"CREATE OR REPLACE TABLE t {shape}AS SELECT id, 10 DIV (id - 2) AS v FROM range(3)",
    ):
        with pytest.raises(PaimonError):
            swb.run(failing)
        table = swb.table("t")
        assert (rows(swb, "t"), table.latest_snapshot(), table.store.schemas.ids()) == ([(1, "old")], old, [0])
    with pytest.raises(PaimonError):
        swb.spark.sql("SELECT 10 DIV (id - 2) AS id FROM range(3)").writeTo("t").createOrReplace()
    assert rows(swb, "t") == [(1, "old")]
    swb.run(f"CREATE OR REPLACE TABLE t {shape}AS SELECT id + 1 AS id, 'new' AS v FROM t")
    assert rows(swb, "t") == [(2, "new")]


def test_a_replacement_is_one_snapshot(swb):
    swb.run("CREATE OR REPLACE TABLE t AS SELECT 5 AS id, 'new' AS v")
    kinds = [s.commit_kind for s in swb.table("t").store.snapshots.all()]
    assert (kinds, rows(swb, "t")) == (["APPEND", "OVERWRITE"], [(5, "new")])
    assert swb.run("SELECT * FROM t VERSION AS OF 1").to_arrow().to_pylist() == [{"id": 1, "v": "old"}]


def test_a_statement_set_says_which_inserts_are_committed(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (id INT); CREATE TABLE k (id INT NOT NULL)")
    with pytest.raises(NullNotAllowed, match=r"the INSERTs before it are committed: default.t in snapshot 1"):
        wb.run("EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (1); INSERT INTO k VALUES (NULL); END")
    assert (rows(wb, "t"), rows(wb, "k")) == ([(1,)], [])
