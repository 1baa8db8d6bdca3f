"""Files with changed bytes: an error of ours or an answer, and never the end of the process."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import paimon_nb

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unit

EACH_BYTE = """
import sys
from pathlib import Path
import paimon_nb
from paimon_nb.base.errors import PaimonError
target, first, doors = Path(sys.argv[2]), int(sys.argv[3]), 0
good = target.read_bytes()
for place in range(first, len(good) - 8):
    for value in ((good[place] - 1) % 256, (good[place] + 1) % 256):
        # Another name, so that no cache of the process knows the file.
        target.unlink()
        target.write_bytes(good[:place] + bytes([value]) + good[place + 1 :])
        table = paimon_nb.connect(sys.argv[1]).table("t")
        for read in (lambda: table.to_arrow(where="id = 5"), lambda: table.to_arrow(where="id BETWEEN 5 AND 20")):
            try:
                read()
            except PaimonError:
                pass
            doors += 1
print(doors)
"""


def test_each_byte_of_a_parquet_footer(tmp_path: Path) -> None:
    """pyarrow ends the process where the metadata of a column chunk is wrong, so nobody asks it for them."""
    rows = {"id": pa.array(range(40), pa.int32()), "v": [f"x{i}" for i in range(40)]}
    target = table_of(tmp_path, rows)
    data = target.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")

    done = run(EACH_BYTE, tmp_path, target, footer)

    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == 4 * (len(data) - 8 - footer)


def table_of(tmp_path: Path, rows: dict[str, Any], **options: str) -> Path:
    """A table `t` of these rows; returns its only data file."""
    text = ", ".join(f"'{k.replace('_', '.')}' = '{v}'" for k, v in {"bucket": "-1", **options}.items())
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(f"CREATE TABLE t (id INT, v STRING) WITH ({text})")
    wb.table("t").append(pa.table(rows))
    (target,) = (tmp_path / "w").glob("default.db/t/bucket-0/data-*")
    return target


def run(code: str, tmp_path: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Python code in a process of its own."""
    command = [sys.executable, "-c", code, str(tmp_path / "w"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
