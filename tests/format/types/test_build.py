"""Arrow columns by their buffers: equal to what Arrow itself makes, NULLs and all."""

import subprocess
import sys

import pyarrow as pa
import pytest

from paimon_nb.format.types.build import column


@pytest.mark.parametrize(
    ("values", "t"),
    [
        ([1, None, -3], pa.int64()),
        ([], pa.int64()),
        ([None, None], pa.int32()),
        ([1, 2, 127], pa.int8()),
        ([0, None, 1_700_000_000_123], pa.timestamp("ms")),
        (["", None, "é€😀", "a\x00b"], pa.string()),
        ([], pa.string()),
        ([None] * 9, pa.string()),
        ([True, None, False], pa.bool_()),
        ([1.5, None], pa.float64()),
        ([["a"], None, []], pa.list_(pa.string())),
        ([3, None], pa.uint16()),
    ],
)
def test_as_arrow_makes_them(values, t):
    made = column(values, t)
    made.validate(full=True)
    assert made.equals(pa.array(values, t))
    assert made.null_count == values.count(None)


def test_files_of_a_table_need_no_pandas(tmp_path):
    code = f"""
import sys, pyarrow as pa, paimon_nb
wb = paimon_nb.connect({str(tmp_path)!r})
wb.run("CREATE TABLE t (k INT, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')")
wb.table("t").append(pa.table({{"k": [1], "s": ["x"]}}))
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    look = f"""
import sys, paimon_nb
print(paimon_nb.open_table({str(tmp_path / "default.db" / "t")!r}).files().num_rows, "pandas" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]
