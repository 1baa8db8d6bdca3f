"""Memory: a lack of it is not a broken file, and no file decodes to more than its manifest says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyroaring import BitMap

import paimon_nb
from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.data.row_counts import check_row_counts
from paimon_nb.format.index.deletion_vector import DeletionVector, read_deletion_vector
from paimon_nb.fs import LocalFileIO

pytestmark = pytest.mark.unit

READ_WITH_LITTLE_MEMORY = """
import resource, sys
from pathlib import Path
import paimon_nb
from paimon_nb.base.errors import PaimonError
table = paimon_nb.connect(sys.argv[1]).table("t")
table.copy({"scan.ignore-corrupt-files": "true"}).to_arrow(where="id = 0")  # everything that is imported is there
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), -1))
for options in ({}, {"scan.ignore-corrupt-files": "true"}):
    try:
        print(table.copy(options).to_arrow().num_rows)
    except PaimonError as error:
        print(type(error).__name__, "damaged" in str(error), "backup" in str(error))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
def test_a_lack_of_memory_is_not_a_broken_file(tmp_path: Path) -> None:
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (id INT, v STRING) WITH ('bucket' = '-1')")
    wb.table("t").append(pa.table({"id": pa.array([0], pa.int32()), "v": ["small"]}))
    wb.table("t").append(pa.table({"id": pa.array(range(1, 201), pa.int32()), "v": ["x" * (2 << 20)] * 200}))

    done = subprocess.run(
        [sys.executable, "-c", READ_WITH_LITTLE_MEMORY, str(tmp_path)], capture_output=True, text=True, check=False
    )

    assert done.stdout.splitlines() == ["OutOfMemory True False"] * 2, done.stderr


@pytest.mark.parametrize("rows_in_file", [0, 2, 300_000])
@pytest.mark.parametrize("kind", ["parquet", "orc", "avro", "csv", "json"])
def test_a_file_with_other_rows_than_its_manifest_says_is_refused(kind: str, rows_in_file: int, tmp_path: Path) -> None:
    if rows_in_file == 0 and kind in ("csv", "json"):
        pytest.skip("a line that is no row is left out, so there may be fewer")
    if rows_in_file > 10_000 and kind in ("csv", "json", "avro"):
        rows_in_file = 3
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"CREATE TABLE t (id INT, v STRING) WITH ('bucket' = '-1', 'file.format' = '{kind}')")
    wb.run(f"CREATE TABLE other (id INT, v STRING) WITH ('bucket' = '-1', 'file.format' = '{kind}')")
    wb.table("t").append(rows(1))
    wb.table("other").append(rows(max(1, rows_in_file)))
    target, source = data_file(tmp_path, "t"), data_file(tmp_path, "other")
    if rows_in_file:
        target.write_bytes(source.read_bytes())
    else:
        wb.run(f"CREATE TABLE two (id INT, v STRING) WITH ('bucket' = '-1', 'file.format' = '{kind}')")
        wb.table("two").append(rows(2))
        data_file(tmp_path, "two").write_bytes(target.read_bytes())
        wb.run("DROP TABLE t")
        wb.run("ALTER TABLE two RENAME TO t")
    t = paimon_nb.connect(str(tmp_path)).table("t")

    for read in (t.to_arrow, lambda: t.to_arrow(where="id = 0"), lambda: t.to_arrow(["v"])):
        with pytest.raises(CorruptFile, match="where the manifest says"):
            read()
    t.append(rows(1))
    with pytest.raises(CorruptFile, match="where the manifest says"):
        t.compact()


def test_the_embedded_engine_refuses_such_a_file(tmp_path: Path) -> None:
    wb = paimon_nb.connect(str(tmp_path))
    for name, count in (("t", 1), ("other", 300_000)):
        wb.run(f"CREATE TABLE {name} (id INT, v STRING) WITH ('bucket' = '-1')")
        wb.table(name).append(rows(count))
    data_file(tmp_path, "t").write_bytes(data_file(tmp_path, "other").read_bytes())

    for query in ("SELECT count(DISTINCT v) FROM t", "SELECT v, sum(id) OVER (PARTITION BY v) AS s FROM t"):
        with pytest.raises(CorruptFile, match="300,000 rows, where the manifest says 1"):
            paimon_nb.connect(str(tmp_path)).run(query).to_arrow()


def test_the_files_of_another_engine_are_checked_once(tmp_path: Path) -> None:
    """What Spark's own readers decode: each footer is compared with the manifest before Spark gets the path."""
    wb = paimon_nb.connect(str(tmp_path))
    for kind in ("parquet", "orc"):
        wb.run(f"CREATE TABLE {kind} (id INT, v STRING) WITH ('bucket' = '-1', 'file.format' = '{kind}')")
        wb.table(kind).append(rows(3))
        path = str(data_file(tmp_path, kind))
        check_row_counts(LocalFileIO(), [(path, 3)])
        for count in (1, 2_000_000):
            with pytest.raises(CorruptFile, match=f"3 rows, where the manifest says {count:,}"):
                check_row_counts(LocalFileIO(), [(path, 3), (path, count)])


def test_a_lookup_refuses_such_a_file(tmp_path: Path) -> None:
    wb = paimon_nb.connect(str(tmp_path))
    for name, count in (("t", 1), ("other", 300_000)):
        wb.run(f"CREATE TABLE {name} (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
        wb.table(name).append(rows(count))
    data_file(tmp_path, "t").write_bytes(data_file(tmp_path, "other").read_bytes())

    with pytest.raises(CorruptFile, match="300,000 rows, where the manifest says 1"):
        paimon_nb.connect(str(tmp_path)).table("t").lookup(id=0)


def test_a_deletion_vector_of_more_rows_than_its_manifest_says_is_refused(tmp_path: Path) -> None:
    """A vector of a few bytes may delete all positions below 2^32."""
    vector = DeletionVector([BitMap(range(1 << 32))])
    path = str(tmp_path / "index-0")
    data = vector.to_bytes()
    Path(path).write_bytes(b"\1" + data)

    with pytest.raises(CorruptFile, match="deletes 4294967296 rows, where the index manifest says 3"):
        read_deletion_vector(LocalFileIO(), path, 1, len(data) - 8, 3)
    assert vector.mask(4, 1 << 31).tolist() == [True] * 4


def test_a_mask_has_the_positions_of_its_rows() -> None:
    vector = DeletionVector.of([0, 3, (1 << 32) - 1, 1 << 32, (1 << 32) + 2])

    assert vector.mask(5).tolist() == [True, False, False, True, False]
    assert vector.mask(5, (1 << 32) - 2).tolist() == [False, True, True, False, True]
    assert vector.mask(0).tolist() == []


def rows(count: int) -> pa.Table:
    return pa.table({"id": pa.array(range(count), pa.int32()), "v": pa.array(["v"]).take(pa.array([0] * count))})


def data_file(tmp_path: Path, name: str) -> Any:
    (found,) = (tmp_path / f"default.db/{name}").glob("bucket-0/data-*")
    return found
