"""Instances of the embedded engine are used again, and nothing of one query is seen by the next."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from paimon_nb.session.query.local.instances import connection

pytestmark = pytest.mark.unit


def folder_of(used) -> Path:
    """Each instance has its own."""
    ((folder,),) = used.duckdb.execute("SELECT current_setting('temp_directory')").fetchall()
    return Path(folder)


def test_the_next_connection_sees_nothing_of_the_last():
    with connection(("top_n",)) as used:
        first = folder_of(used)
        used.duckdb.register("given", pa.table({"x": [1]}))
        used.duckdb.execute("CREATE TEMP TABLE made AS FROM given; SET VARIABLE said = 7; SET TimeZone = 'Asia/Tokyo'")
    with connection(("statistics_propagation",)) as used:
        assert folder_of(used) == first
        for text in ("FROM given", "FROM made"):
            with pytest.raises(duckdb.CatalogException):
                used.duckdb.execute(text)
        ((said, optimizers, zone),) = used.duckdb.execute(
            "SELECT getvariable('said'), current_setting('disabled_optimizers'), current_setting('TimeZone')"
        ).fetchall()
        assert (said, optimizers) == (None, "statistics_propagation")
        assert zone != "Asia/Tokyo"


def test_an_instance_that_an_error_left_ends_with_its_folder():
    seen = []

    def fail() -> None:
        with connection(()) as used:
            seen.append(folder_of(used))
            used.duckdb.execute("SELECT CAST('x' AS INT)").fetchall()

    with pytest.raises(duckdb.ConversionException):
        fail()
    (first,) = seen
    assert not first.exists()
    with connection(()) as used:
        assert folder_of(used) != first


def test_two_at_once_have_one_each():
    with connection(()) as one, connection(()) as other:
        assert folder_of(one) != folder_of(other)


FORKED = """
import os
from paimon_nb.session.query.local.instances import connection

def folder():
    with connection(()) as used:
        return used.duckdb.execute("SELECT current_setting('temp_directory')").fetchall()[0][0]

before = folder()
child = os.fork()
if child == 0:
    raise SystemExit(0 if folder() != before and os.path.exists(before) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), folder() == before, before)
"""


def test_a_forked_process_has_its_own_and_a_process_leaves_no_folder():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120, check=True)
    code, same, folder = done.stdout.split()
    assert (code, same) == ("0", "True")
    assert not Path(folder).exists()
