"""Lance and Vortex tables that pypaimon and we write in turn: both read all rows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from peer_kit import WANTED, Peers, installed_python

import paimon_nb

pytestmark = pytest.mark.slow  # another process, in a venv that the first test makes
LIBRARIES = {"lance": ("lance.file", "pylance>=0.39,<1"), "vortex": ("vortex", "vortex-data==0.70.0")}
COLUMNS = "id INT, s STRING, d DECIMAL(10, 2), t TIMESTAMP(3), y BYTES, a ARRAY<BIGINT>"


def rows(first: int) -> pa.Table:
    return pa.table({
        "id": pa.array([first, first + 1], pa.int32()), "s": ["a", None], "d": pa.array([None, Decimal("1.50")], pa.decimal128(10, 2)),
        "t": pa.array([dt.datetime(2020, 1, 1), None], pa.timestamp("ms")), "y": [b"\x00", None], "a": [[1, None], None],
    })  # fmt: skip


@pytest.mark.parametrize("keys", ["", ", PRIMARY KEY (id) NOT ENFORCED"], ids=["append", "keys"])
@pytest.mark.parametrize("kind", LIBRARIES)
def test_each_reads_what_the_other_wrote(tmp_path, kind, keys):
    module, package = LIBRARIES[kind]
    pytest.importorskip(module, reason=f"the library of {kind} files is not installed: make libraries")
    python = installed_python(f"peers-2.1-{kind}", (*WANTED, package))
    peers = Peers(tmp_path, python=python)
    try:
        wb = paimon_nb.connect(str(tmp_path))
        bucket = 1 if keys else -1
        wb.run(f"CREATE TABLE t ({COLUMNS}{keys}) WITH ('bucket' = '{bucket}', 'file.format' = '{kind}')")
        wb.table("t").append(rows(0))
        peers.write("pypaimon", "t", rows(1))
        wb.table("t").append(rows(10))
        theirs = peers.read("pypaimon", "t", wb.table("t").schema.names).sort_by(
            [("id", "ascending"), ("s", "ascending")]
        )
    finally:
        peers.close()
    ours = wb.table("t").to_arrow().sort_by([("id", "ascending"), ("s", "ascending")])
    assert ours.num_rows == (5 if keys else 6)
    assert {f["file_format"] for f in wb.run("SELECT file_format FROM `t$files`").arrow.to_pylist()} == {kind}
    assert theirs.to_pylist() == ours.to_pylist()
