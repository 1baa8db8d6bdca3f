"""Format tables whose partitions a REST catalog registers: the register decides which exist, commits and repairs keep it right."""

from __future__ import annotations

from pathlib import Path

import pytest
from rest_server import RestServer

from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    ColumnNotFound,
    PaimonError,
    StoreError,
    UnknownName,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier

T = Identifier("default", "t")
_MEASURES = ("recordCount", "fileCount")


@pytest.fixture
def server(tmp_path):
    with RestServer(tmp_path / "w") as running:
        yield running


@pytest.fixture
def wb(server):
    with server.workbench() as opened:
        yield opened


def create(wb, kind: str = "csv", columns: str = "id INT, v STRING, dt STRING, h STRING", by: str = "dt, h") -> None:
    wb.run(
        f"CREATE TABLE t ({columns}) USING {kind} PARTITIONED BY ({by}) TBLPROPERTIES ('metastore.partitioned-table' = 'true')"
    )


def known(wb) -> dict[str, tuple[int, int]]:
    """The registered partitions with their numbers of rows and files."""
    nodes = wb.session.catalog.partitions(T)
    return {"/".join(node["spec"].values()): tuple(node[m] for m in _MEASURES) for node in nodes}


def ids(wb) -> list[int]:
    return [row["id"] for row in wb.run("SELECT id FROM t ORDER BY id").arrow.to_pylist()]


def put(wb, directory: str, *numbers: int) -> Path:
    """A file that another program writes; the catalog does not hear of it."""
    path = Path(wb.table("t").path) / directory
    path.mkdir(parents=True)
    (path / "part-0.csv").write_text("".join(f"{n},x\n" for n in numbers))
    return path


def test_inserts_register_their_partitions_and_add_to_their_counts(wb):
    create(wb)
    wb.run("INSERT INTO t VALUES (1, 'a', 'x', '0'), (2, 'b', 'x', '0'), (3, 'c', 'y', '1')")
    wb.run("INSERT INTO t VALUES (4, 'd', 'x', '0')")
    assert known(wb) == {"x/0": (3, 2), "y/1": (1, 1)}
    assert ids(wb) == [1, 2, 3, 4]


def test_only_registered_partitions_are_read(wb):
    create(wb)
    wb.run("INSERT INTO t VALUES (1, 'a', 'x', '0')")
    put(wb, "dt=z/h=9", 7)
    assert ids(wb) == [1]
    wb.run("MSCK REPAIR TABLE t")
    assert known(wb) == {"x/0": (1, 1), "z/9": (-1, -1)}
    assert ids(wb) == [1, 7]


def test_a_partition_without_a_directory_is_empty_until_a_repair_drops_it(wb):
    create(wb)
    wb.run("INSERT INTO t VALUES (1, 'a', 'x', '0'), (2, 'b', 'y', '0')")
    directory = Path(wb.table("t").path) / "dt=x/h=0"
    for file in directory.iterdir():
        file.unlink()
    directory.rmdir()
    assert ids(wb) == [2]
    assert set(known(wb)) == {"x/0", "y/0"}
    put(wb, "dt=z/h=9", 7)
    wb.run("MSCK REPAIR TABLE t DROP PARTITIONS")
    assert set(known(wb)) == {"y/0"}
    wb.run("REPAIR TABLE t SYNC PARTITIONS")
    assert set(known(wb)) == {"y/0", "z/9"}


def test_a_repair_measures_where_it_is_asked_to(wb):
    create(wb)
    put(wb, "dt=z/h=9", 7)
    wb.run("ALTER TABLE t SET TBLPROPERTIES ('format-table.repair.collect-statistics' = 'true'); MSCK REPAIR TABLE t")
    assert known(wb) == {"z/9": (-1, 1)}
    wb.run("TRUNCATE TABLE t PARTITION (dt = 'z', h = '9'); MSCK REPAIR TABLE t")
    assert known(wb) == {"z/9": (0, 0)}


def test_add_and_drop_partitions(wb):
    create(wb)
    wb.run(
        "ALTER TABLE t ADD PARTITION (dt = 'x', h = '0') PARTITION (DT = 'x', H = '1') PARTITION (dt = 'y', h = '0')"
    )
    wb.run("ALTER TABLE t ADD IF NOT EXISTS PARTITION (dt = 'x', h = '0')")
    with pytest.raises(AlreadyExists):
        wb.run("ALTER TABLE t ADD PARTITION (dt = 'x', h = '0')")
    shown = [row["partition"] for row in wb.run("SHOW PARTITIONS t").arrow.to_pylist()]
    assert shown == ["dt=x/h=0", "dt=x/h=1", "dt=y/h=0"]
    wb.run("ALTER TABLE t DROP PARTITION (dt = 'x'); ALTER TABLE t DROP IF EXISTS PARTITION (dt = 'q', h = '0')")
    assert set(known(wb)) == {"y/0"}
    assert not (Path(wb.table("t").path) / "dt=x").exists()
    with pytest.raises(UnknownName):
        wb.run("ALTER TABLE t DROP PARTITION (dt = 'q', h = '0')")


def test_a_drop_leaves_what_waits_for_a_repair(wb):
    create(wb)
    directory = put(wb, "dt=z/h=9", 7)
    with pytest.raises(UnknownName):
        wb.run("ALTER TABLE t DROP PARTITION (dt = 'z', h = '9')")
    with pytest.raises(UnknownName):
        wb.run("TRUNCATE TABLE t PARTITION (dt = 'z', h = '9')")
    wb.run("TRUNCATE TABLE t")
    assert [p.name for p in directory.iterdir()] == ["part-0.csv"]


def test_an_overwrite_replaces_files_that_nobody_registered(wb):
    create(wb)
    put(wb, "dt=z/h=9", 7)
    wb.run("INSERT OVERWRITE t VALUES (8, 'n', 'z', '9')")
    assert (ids(wb), known(wb)) == ([8], {"z/9": (1, 1)})


def test_an_overwrite_replaces_the_partitions_it_writes_or_all(wb):
    create(wb)
    wb.run("INSERT INTO t VALUES (1, 'a', 'x', '0'), (2, 'b', 'y', '0')")
    wb.run("INSERT OVERWRITE t VALUES (3, 'c', 'y', '0')")
    assert (ids(wb), known(wb)) == ([1, 3], {"x/0": (1, 1), "y/0": (1, 1)})
    wb.run("ALTER TABLE t SET TBLPROPERTIES ('dynamic-partition-overwrite' = 'false')")
    wb.run("INSERT OVERWRITE t VALUES (4, 'd', 'y', '0')")
    assert (ids(wb), known(wb)) == ([4], {"x/0": (0, 0), "y/0": (1, 1)})


def test_null_and_empty_values_have_the_default_name(wb):
    create(wb)
    wb.run("INSERT INTO t VALUES (1, 'a', NULL, '0'), (2, 'b', '', '0'), (3, 'c', 'x', '0')")
    assert known(wb) == {"__DEFAULT_PARTITION__/0": (2, 2), "x/0": (1, 1)}
    assert wb.run("SELECT id, dt FROM t ORDER BY id").arrow.column("dt").to_pylist() == [None, None, "x"]
    wb.run("ALTER TABLE t DROP PARTITION (dt = '__DEFAULT_PARTITION__', h = '0')")
    assert ids(wb) == [3]


def test_analyze_measures_the_partitions_of_a_prefix(wb):
    create(wb, "parquet")
    wb.run("INSERT INTO t VALUES (1, 'a', 'x', '0'), (2, 'b', 'x', '0'), (3, 'c', 'x', '1'), (4, 'd', 'y', '0')")
    file = next((Path(wb.table("t").path) / "dt=x/h=0").iterdir())
    (Path(wb.table("t").path) / "dt=z/h=0").mkdir(parents=True)
    (Path(wb.table("t").path) / "dt=z/h=0" / "copy.parquet").write_bytes(file.read_bytes())
    wb.run("MSCK REPAIR TABLE t")
    wb.run("ANALYZE TABLE t PARTITION (dt = 'z', h) COMPUTE STATISTICS NOSCAN")
    assert known(wb)["z/0"] == (-1, 1)
    wb.run("ANALYZE TABLE t PARTITION (DT = 'z') COMPUTE STATISTICS")
    assert known(wb)["z/0"] == (2, 1)
    wb.run("ANALYZE TABLE t PARTITION (dt, h) COMPUTE STATISTICS NOSCAN")
    assert known(wb) == {"x/0": (2, 1), "x/1": (1, 1), "y/0": (1, 1), "z/0": (2, 1)}


def test_analyze_reads_values_as_the_column_has_them(wb):
    create(wb, columns="id INT, v STRING, p INT", by="p")
    put(wb, "p=1", 7)
    wb.run("MSCK REPAIR TABLE t; ANALYZE TABLE t PARTITION (p = '01') COMPUTE STATISTICS NOSCAN")
    assert known(wb) == {"1": (-1, 1)}


@pytest.mark.parametrize(
    ("partition", "error"),
    [("h = '0'", BadOptionValue), ("v = 'a'", ColumnNotFound), ("dt = 'q'", UnknownName)],
)
def test_analyze_refuses(wb, partition, error):
    create(wb)
    wb.run("INSERT INTO t VALUES (1, 'a', 'x', '0')")
    with pytest.raises(error):
        wb.run(f"ANALYZE TABLE t PARTITION ({partition}) COMPUTE STATISTICS NOSCAN")
    with pytest.raises(UnsupportedOperation):
        wb.run("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS")


def test_a_commit_that_cannot_be_registered_leaves_the_table_as_it_was(server, wb):
    create(wb)
    wb.run("INSERT INTO t VALUES (1, 'a', 'x', '0')")
    server.fault("POST", "/partitions", "status", times=1, status=403)
    with pytest.raises(PaimonError):
        wb.run("INSERT OVERWRITE t VALUES (2, 'b', 'x', '0')")
    assert (ids(wb), known(wb)) == ([1], {"x/0": (1, 1)})


def test_a_drop_that_the_server_refuses_deletes_nothing(server, wb):
    create(wb)
    wb.run("INSERT INTO t VALUES (1, 'a', 'x', '0')")
    server.fault("POST", "/partitions/drop", "status", times=1, status=403)
    with pytest.raises(PaimonError):
        wb.run("ALTER TABLE t DROP PARTITION (dt = 'x', h = '0')")
    assert ids(wb) == [1]


def test_a_partition_that_the_table_cannot_have_is_refused(server, wb):
    create(wb)
    server.create_partitions("default", "t", params={}, body={"partitionSpecs": [{"dt": "x"}], "ignoreIfExists": True})
    with pytest.raises(StoreError):
        wb.table("t").to_arrow()


def test_a_table_that_another_engine_reads_by_its_directories_is_refused(wb):
    with pytest.raises(BadOptionValue):
        wb.run(
            "CREATE TABLE t (id INT, dt STRING) USING csv PARTITIONED BY (dt) TBLPROPERTIES"
            " ('metastore.partitioned-table' = 'true', 'format-table.implementation' = 'engine')"
        )
