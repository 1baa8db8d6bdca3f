"""Doors of rooms whose modules are loaded when they are asked for."""

import subprocess
import sys
from importlib import import_module

import pytest

ROOMS = ["paimon_nb.format.data", "paimon_nb.format.row", "paimon_nb.table.read"]


@pytest.mark.parametrize("room", ROOMS)
def test_a_door_gives_what_it_promises_and_no_more(room):
    module = import_module(room)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    with pytest.raises(AttributeError, match="has no attribute 'no_such_rule'"):
        module.no_such_rule  # noqa: B018


def test_files_of_a_table_load_no_rules_of_reading_rows(tmp_path):
    make = f"""
import pyarrow as pa, paimon_nb
wb = paimon_nb.connect({str(tmp_path)!r})
wb.run("CREATE TABLE t (k INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')")
wb.table("t").append(pa.table({{"k": [1]}}))
"""
    look = f"""
import sys, paimon_nb
paimon_nb.open_table({str(tmp_path / "default.db" / "t")!r}).files()
rows = ["table.read.split.split_reader", "table.read.predicate", "table.lsm.merge", "format.data.read", "format.index"]
heavy = ["pyarrow.compute", "pyarrow.parquet", "pyarrow.orc", "pyarrow.fs", "pyroaring", "numpy.ma", "pandas"]
others = [f"table.tables.system.{{s}}" for s in paimon_nb.table.tables.system.SYSTEM_TABLES if s != "files"]
print([m for m in [*(f"paimon_nb.{{r}}" for r in (*rows, *others)), *heavy] if m in sys.modules])
"""
    subprocess.run([sys.executable, "-c", make], check=True)
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_question_loads_no_rules_of_writing(tmp_path):
    ask = f"""
import sys, paimon_nb
wb = paimon_nb.connect({str(tmp_path)!r})
writing = ["catalog.schema_validation", "table.write.iceberg", "table.write.maintenance", "table.read.stream", "table.read.vector_search"]
late = [m for m in [*(f"paimon_nb.{{w}}" for w in writing), "pyarrow.compute", "pyarrow.parquet"] if m in sys.modules]
wb.run("SHOW TABLES")
print(late, [w for w in writing if f"paimon_nb.{{w}}" in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"


def test_pyarrow_is_imported_before_this_packages_modules():
    """Below their nested imports CPython 3.11 maps and unmaps memory for hundreds of calls of NumPy's import."""
    look = """
import sys, paimon_nb
paimon_nb.open_table
loaded = list(sys.modules)
print([m for m in loaded[: loaded.index("pyarrow")] if m.startswith("paimon_nb.table")], "paimon_nb.table.tables.open" in loaded)
"""
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] True"
