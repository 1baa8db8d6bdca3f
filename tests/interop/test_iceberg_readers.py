"""Tables with Iceberg metadata, read by DuckDB and pyiceberg: the rows that we read, after every kind of change."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from peer_kit import installed_python

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

pytestmark = [pytest.mark.nightly, pytest.mark.slow]  # another process, in a venv that the first test makes

_PLAIN = "CREATE TABLE t (id INT, v STRING) WITH ('bucket' = '-1'{});"
_TWO = "INSERT INTO t VALUES (1, 'a'), (2, NULL); INSERT INTO t VALUES (3, 'c');"
_KEYED = "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2'{});"
_V3 = ", 'metadata.iceberg.format-version' = '3'"
_VECTORS = f", 'deletion-vectors.enabled' = 'true', 'deletion-vectors.bitmap64' = 'true'{_V3}"
_TYPES = (
    "ok BOOLEAN, i1 TINYINT, i2 SMALLINT, i8 BIGINT, f4 FLOAT, f8 DOUBLE, d9 DECIMAL(9, 2), d30 DECIMAL(30, 4), c CHAR(3), "
    "b BYTES, day DATE, at3 TIMESTAMP(3), at6 TIMESTAMP(6)"
)
_ON = "'metadata.iceberg.storage' = 'hadoop-catalog', 'metadata.iceberg.manifest-compression' = 'gzip'"
"""gzip: pyiceberg reads snappy with a further package only."""
CASES = {
    "append": _PLAIN + _TWO,
    "version_3": _PLAIN.format(_V3) + _TWO,
    "bucketed": "CREATE TABLE t (id INT, v STRING) WITH ('bucket' = '3', 'bucket-key' = 'id'{});" + _TWO,
    "partitioned": "CREATE TABLE t (id INT, v STRING, p STRING) PARTITIONED BY (p) WITH ('bucket' = '-1'{});"
    "INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', NULL); INSERT INTO t VALUES (3, 'c', 'é')",
    "partitioned_by_day": "CREATE TABLE t (id INT, p DATE, n INT) PARTITIONED BY (p, n) WITH ('bucket' = '-1'{});"
    "INSERT INTO t VALUES (1, DATE '2024-02-29', 1), (2, DATE '1969-12-31', NULL)",
    "deleted": f"{_PLAIN}{_TWO}DELETE FROM t WHERE id = 2",
    "updated": f"{_PLAIN}{_TWO}UPDATE t SET v = 'new' WHERE id >= 2",
    "compacted": f"{_PLAIN}{_TWO}CALL sys.compact('t')",
    "overwritten": f"{_PLAIN}{_TWO}INSERT OVERWRITE t VALUES (9, 'z')",
    "column_added": f"{_PLAIN}{_TWO}ALTER TABLE t ADD COLUMN w INT; INSERT INTO t VALUES (4, 'd', 40)",
    "column_renamed": f"{_PLAIN}{_TWO}ALTER TABLE t RENAME COLUMN v TO w; INSERT INTO t VALUES (4, 'd')",
    "column_dropped": f"{_PLAIN}{_TWO}ALTER TABLE t DROP COLUMN v; INSERT INTO t VALUES (4)",
    "column_widened": f"{_PLAIN}{_TWO}ALTER TABLE t ALTER COLUMN id TYPE BIGINT; INSERT INTO t VALUES (40000000000, 'd')",
    "expired": f"{_PLAIN}{_TWO}CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)",
    "rolled_back": f"{_PLAIN}{_TWO}CALL sys.rollback('t', '1'); INSERT INTO t VALUES (5, 'e')",
    "keyed": f"{_KEYED}{_TWO}INSERT INTO t VALUES (1, 'A'); CALL sys.compact('t')",
    "keyed_with_vectors": f"{_KEYED.format(_VECTORS)}{_TWO}INSERT INTO t VALUES (1, 'A'); CALL sys.compact('t')",
    "append_with_vectors": f"{_PLAIN.format(_VECTORS)}{_TWO}DELETE FROM t WHERE id = 1",
    "types": f"CREATE TABLE t (id INT, {_TYPES}) WITH ('bucket' = '-1'{{}});"
    "INSERT INTO t VALUES (1, TRUE, -5, 300, 1099511627776, 1.5, -2.25, -1.25, 12345678901234567890.1234, 'abc', X'00FF', "
    "DATE '1969-12-31', TIMESTAMP '2024-01-01 00:00:00.123', TIMESTAMP '1969-01-01 00:00:00.000001');"
    "INSERT INTO t (id) VALUES (2)",
    "nested": "CREATE TABLE t (id INT, a ARRAY<INT>, m MAP<STRING, BIGINT>, r ROW<x INT, y STRING>) WITH ('bucket' = '-1'{});"
    "INSERT INTO t (id) VALUES (2)",
}
"""Table of one shape -> the statements that make it. `{}`: further options."""

FAULTS = {("append_with_vectors", "pyiceberg"): "Incorrect magic bytes"}
"""(table, reader) -> words of the reader's error."""

DUCKDB = ("duckdb==1.4.4", "duckdb-ext-iceberg==1.4.4.20260205", "duckdb-ext-avro==1.4.4.20260205")
SCRIPT = """
import json, sys
from pathlib import Path
import duckdb
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
for name in ("avro", "iceberg"):
    connection.execute(f"LOAD '{next(Path(sys.prefix).rglob(name + '.duckdb_extension'))}'")
for line in sys.stdin:
    metadata, out = json.loads(line)
    try:
        connection.execute(f"COPY (SELECT * FROM iceberg_scan('{metadata}')) TO '{out}' (FORMAT parquet)")
        print("", flush=True)
    except Exception as error:
        print(" ".join(str(error).split()), flush=True)
"""


class ReaderError(Exception):
    """What a reader raised."""


@pytest.fixture(scope="module")
def duckdb_process() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [installed_python("duckdb-1.4.4", DUCKDB), "-c", SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


def read_by_duckdb(process: subprocess.Popen[str], metadata: Path, out: Path) -> pa.Table:
    assert process.stdin is not None
    assert process.stdout is not None
    print(json.dumps([str(metadata), str(out)]), file=process.stdin, flush=True)
    if error := process.stdout.readline().strip():
        raise ReaderError(error)
    return pq.read_table(out)


def as_rows(table: pa.Table) -> list[str]:
    return sorted(repr(row) for row in table.to_pylist())


def read_by_pyiceberg(metadata: Path) -> pa.Table:
    from pyiceberg.table import StaticTable

    return StaticTable.from_metadata(str(metadata)).scan().to_arrow()


def made(folder: Path, case: str) -> tuple[Any, Path]:
    """The table, and its newest metadata file."""
    wb = paimon_nb.connect(str(folder / "w"))
    wb.run(CASES[case].replace("{}", "").replace("WITH (", f"WITH ({_ON}, ", 1))
    home = folder / "w/iceberg/default/t/metadata"
    return wb.table("t"), home / f"v{(home / 'version-hint.text').read_text()}.metadata.json"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("reader", ["duckdb", "pyiceberg"])
def test_the_same_rows(duckdb_process, tmp_path, case, reader):
    t, metadata = made(tmp_path, case)

    def read() -> pa.Table:
        if reader == "pyiceberg":
            return read_by_pyiceberg(metadata)
        return read_by_duckdb(duckdb_process, metadata, tmp_path / "rows.parquet")

    if (case, reader) in FAULTS:
        with pytest.raises((ReaderError, NotImplementedError, ValueError), match=FAULTS[case, reader]):
            read()
    else:
        assert as_rows(read()) == as_rows(t.to_arrow())
