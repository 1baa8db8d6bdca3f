"""Arrow columns by their buffers: equal to what Arrow itself makes, NULLs and all."""

import datetime as dt
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.format.types import Array, Atomic, DataField, VarChar
from paimon_nb.format.types.arrow_builders import arrow_column, empty_table, fill_null, from_numpy, scalar, to_numpy


@pytest.fixture
def without_pandas(monkeypatch):
    """As in a process that has not loaded it."""
    monkeypatch.delitem(sys.modules, "pandas", raising=False)


@pytest.mark.usefixtures("without_pandas")
@pytest.mark.parametrize(
    ("values", "t"),
    [
        ([1, None, -3], pa.int64()),
        ([], pa.int64()),
        ([None, None], pa.int32()),
        ([1, 2, 127], pa.int8()),
        ([0, None, 1_700_000_000_123], pa.timestamp("ms")),
        ([-1, 19_000], pa.date32()),
        ([dt.date(1969, 12, 31), None], pa.date32()),
        ([dt.datetime(2024, 2, 29, 1, 2, 3, 4), None, dt.datetime(1, 1, 1)], pa.timestamp("us")),
        ([dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=dt.UTC)], pa.timestamp("us", "UTC")),
        ([dt.datetime(2024, 2, 29, 1, 2, 3)], pa.timestamp("ms")),
        ([0, 86_399_999], pa.time32("ms")),
        (["", None, "é€😀", "a\x00b"], pa.string()),
        ([], pa.string()),
        ([None] * 9, pa.string()),
        ([b"", None, b"\xff"], pa.binary()),
        ([b"", None, b"\xff"], pa.large_binary()),
        ([True, None, False], pa.bool_()),
        ([1.5, None, -0.0, float("inf")], pa.float64()),
        ([1.1, None, 1e300], pa.float32()),
        ([1, 2.5], pa.float64()),
        ([1.5], pa.int32()),
        ([Decimal("-1.50"), None, Decimal("0.00"), Decimal("99999999.99")], pa.decimal128(10, 2)),
        ([Decimal("1.5"), Decimal("1E+2")], pa.decimal128(10, 2)),
        ([Decimal("-" + "9" * 38)], pa.decimal128(38, 0)),
        ([["a"], None, []], pa.list_(pa.string())),
        ([{"a": 1}, None], pa.struct([pa.field("a", pa.int32(), False)])),
        ([3, None], pa.uint16()),
    ],
)
def test_as_arrow_makes_them(values, t):
    made = arrow_column(values, t)
    made.validate(full=True)
    assert made.equals(pa.array(values, t))
    assert made.null_count == values.count(None)
    assert [scalar(v, t) for v in values] == [pa.scalar(v, t) for v in values]


@pytest.mark.usefixtures("without_pandas")
@pytest.mark.parametrize(
    ("values", "t"),
    [
        ([128], pa.int8()),
        ([1 << 63], pa.int64()),
        (["x"], pa.int32()),
        ([True, 1], pa.int32()),
        ([1], pa.bool_()),
        ([Decimal("123456789.00")], pa.decimal128(10, 2)),
        ([Decimal("NaN")], pa.decimal128(10, 2)),
        (["\ud800"], pa.string()),
    ],
)
def test_what_does_not_fit_is_refused_in_arrows_words(values, t):
    with pytest.raises(Exception) as other_files:
        pa.array(values, t)
    with pytest.raises(type(other_files.value)) as ours:
        arrow_column(values, t)
    assert str(ours.value) == str(other_files.value)


@pytest.mark.parametrize("t", [pa.int8(), pa.int64(), pa.uint32(), pa.float32(), pa.float64(), pa.bool_()])
@pytest.mark.parametrize("values", [[], [1], [0, 1, 1, 0, 1, 0, 0, 1, 1, 1]])
def test_numbers_go_to_numpy_and_back(values, t):
    array = pa.array(values, pa.int8()).cast(t)
    for some in (array, array.slice(1), pa.chunked_array([array, array]), pa.chunked_array([], t)):
        found = to_numpy(some)
        assert found.tolist() == some.to_pylist()
        assert from_numpy(found).equals(pa.array(some.to_pylist(), t))


def test_what_numpy_has_no_place_for_is_as_arrow_gives_it():
    with_null, timestamps = pa.array([1, None]), pa.array([5], pa.timestamp("ms"))
    assert np.isnan(to_numpy(with_null)[1])
    assert to_numpy(timestamps).tolist() == [dt.datetime(1970, 1, 1, 0, 0, 0, 5000)]
    assert to_numpy(fill_null(with_null, -1)).tolist() == [1, -1]
    assert from_numpy(np.array([1, 2]), np.array([False, True])).to_pylist() == [1, None]


def test_no_rows_have_all_columns():
    fields = [DataField(0, "a", Atomic("INT", False)), DataField(1, "b", Array(VarChar()))]
    empty = empty_table(fields)
    assert (empty.num_rows, empty.column_names, [c.num_chunks for c in empty.columns]) == (0, ["a", "b"], [1, 1])
    assert all(f.nullable for f in empty.schema)


FIRST = {
    "files": "t.files()",
    "read": "t.to_arrow()",
    "filter": "t.to_arrow(where=\"k > 0 AND s LIKE 'x%' AND d <> 2.5 AND m IN (1.50, 2) AND day >= DATE '2024-01-01'\")",
    "lookup": "t.lookup(k=1)",
    "write": "t.upsert(t.to_arrow()); t.delete('k = 7'); t.compact()",
    "insert": "wb.run(\"INSERT INTO t VALUES (2, 'y', 1.5, 2.50, DATE '2024-01-01')\")",
    "sql": "wb.run('SELECT k, s FROM t WHERE k < 3'); wb.run('SHOW TABLES')",
}


@pytest.fixture
def warehouse(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    columns = "k INT, s STRING, d DOUBLE, m DECIMAL(10, 2), day DATE, PRIMARY KEY (k) NOT ENFORCED"
    wb.run(f"CREATE TABLE t ({columns}) WITH ('bucket' = '1')")
    wb.run("INSERT INTO t VALUES (1, 'x', 0.5, 1.50, DATE '2024-02-29')")
    return tmp_path


def test_what_a_process_does_first_needs_no_pandas(warehouse):
    """Each in a process of its own, which begins with an opened table."""
    code = f"""
import os, sys, paimon_nb
wb = paimon_nb.connect({str(warehouse)!r})
t = wb.table("t")
for name, first in {FIRST!r}.items():
    if not os.fork():
        exec(first)
        print(name, "pandas" in sys.modules, flush=True)
        os._exit(0)
    os.wait()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{name} False" for name in FIRST], done.stderr
