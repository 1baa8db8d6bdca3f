"""`scan.ignore-lost-files` and `scan.ignore-corrupt-files`: a query reads what is left, and nothing else does."""

import logging
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb import SnapshotExpired
from paimon_nb.base.errors import CorruptFile, MissingFile
from paimon_nb.table.read.strategy.planned_scan import plan_table_scan
from paimon_nb.table.read.strategy.routes import ScanStrategy, StrategyLimits

EVOLVING = "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'"
TABLES = {
    "append": ("", "'bucket' = '-1'"),
    "orc": ("", "'bucket' = '-1', 'file.format' = 'orc'"),
    "keys": (", PRIMARY KEY (id) NOT ENFORCED", "'bucket' = '1', 'write-only' = 'true'"),
    "columns in files of their own": ("", f"'bucket' = '-1', {EVOLVING}"),
}
HARM = {"lost": ("scan.ignore-lost-files", MissingFile), "corrupt": ("scan.ignore-corrupt-files", CorruptFile)}


def rows(*ids):
    return pa.table({"id": pa.array(ids, pa.int32()), "v": [str(i) for i in ids]})


@pytest.fixture
def made(tmp_path):
    """A function that makes a table of two files, and harms the first."""

    def make(kind: str, harm: str) -> paimon_nb.Table:
        wb = paimon_nb.connect(str(tmp_path / "w"))
        key, options = TABLES[kind]
        wb.run(f"CREATE TABLE t (id INT, v STRING{key}) WITH ({options})")
        wb.table("t").append(rows(1, 2))
        (file,) = Path(wb.table("t").path).glob("bucket-*/data-*")
        wb.table("t").append(rows(3))
        wb.run("ALTER TABLE t ADD COLUMN n INT")
        file.unlink() if harm == "lost" else file.write_bytes(file.read_bytes()[:-100])
        return wb.table("t")

    return make


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("harm", HARM)
def test_the_rows_of_the_other_files_are_read(made, caplog, kind, harm):
    t = made(kind, harm)
    option, error = HARM[harm]
    (other,) = {o for o, _ in HARM.values()} - {option}
    for strict in (t, t.copy({other: "true"})):
        with pytest.raises(error):
            strict.to_arrow()
    some = t.copy({option: "true"})
    with caplog.at_level(logging.WARNING, "paimon_nb"):
        assert some.to_arrow().to_pylist() == [{"id": 3, "v": "3", "n": None}]
    assert option in caplog.text
    assert some.to_arrow(columns=["n"]).num_rows == some.count() == some.system("audit_log").num_rows == 1
    assert some.to_arrow(where="id < 3").num_rows == 0
    if kind == "keys":
        assert (some.lookup(id=1).num_rows, some.lookup(id=3).num_rows) == (0, 1)
    if kind == "columns in files of their own":
        assert some.to_arrow(columns=["_ROW_ID", "id"]).to_pylist() == [{"_ROW_ID": 2, "id": 3}]


@pytest.mark.parametrize("harm", HARM)
def test_what_writes_rows_again_needs_every_file(made, harm):
    option, error = HARM[harm]
    t = made("keys", harm).copy({option: "true"})
    with pytest.raises(error):
        t.compact()
    assert t.latest_snapshot().id == 2
    t.append(rows(4))
    assert t.to_arrow().num_rows == 2


def test_an_update_needs_every_file(made):
    t = made("append", "lost").copy({"scan.ignore-lost-files": "true"})
    with pytest.raises(MissingFile):
        t.delete(where="v <> '9'")
    assert t.to_arrow().num_rows == 1


def test_a_file_that_expired_is_not_taken_for_a_lost_one(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    t = wb.table("t").copy({"scan.ignore-lost-files": "true"})
    t.append(rows(1))
    scan = t.scan()
    t.append(rows(2))
    t.compact()
    wb.run("CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)")
    from paimon_nb.table.read import read_plan

    with pytest.raises(SnapshotExpired):
        read_plan(scan.plan)


def test_a_lost_deletion_vector_is_an_error(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (id INT, v STRING) WITH ('bucket' = '-1', 'deletion-vectors.enabled' = 'true')")
    wb.table("t").append(rows(1, 2, 3))
    wb.table("t").delete(where="id = 2")
    for index in Path(wb.table("t").path).glob("index/index-*"):
        index.unlink()
    with pytest.raises(MissingFile):
        wb.table("t").to_arrow(options={"scan.ignore-lost-files": "true"})


def test_spark_reads_such_tables_with_our_reader(made):
    t = made("append", "lost").copy({"scan.ignore-lost-files": "true"})
    scan = plan_table_scan(t, limits=StrategyLimits(inline_bytes=0, late_materialization_bytes=0))
    assert {r.strategy for r in scan.routes} == {ScanStrategy.TASKS}
    wb = paimon_nb.connect(str(Path(t.path).parents[1]))
    assert wb.run(
        "SELECT count(*) AS c FROM t /*+ OPTIONS('scan.ignore-lost-files' = 'true') */"
    ).arrow.to_pylist() == [{"c": 1}]
