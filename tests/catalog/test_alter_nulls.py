"""A column that may hold NULLs becomes NOT NULL only where the table's option allows it."""

from __future__ import annotations

import pytest

import paimon_nb
from paimon_nb.base.errors import NullNotAllowed, SchemaChangeError

ALTERS = [
    "MODIFY v INT NOT NULL",
    "MODIFY v BIGINT NOT NULL",
    "MODIFY p STRING NOT NULL",
    "MODIFY p STRING NOT NULL AFTER v",
    "ALTER COLUMN v SET NOT NULL",
]


@pytest.mark.parametrize("change", ALTERS)
def test_stored_nulls_forbid_not_null(tmp_path, change):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (k INT, v INT, p STRING) PARTITIONED BY (p); INSERT INTO t VALUES (1, NULL, NULL)")
    with pytest.raises(SchemaChangeError, match="cannot"):
        wb.run(f"ALTER TABLE t {change}")
    assert wb.table("t").schema.id == 0
    wb.table("t").compact(full=True)
    assert wb.table("t").to_arrow().to_pylist() == [{"k": 1, "v": None, "p": None}]


def test_an_option_says_that_there_are_none(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (k INT, v INT) WITH ('alter-column-null-to-not-null.disabled' = 'false')")
    wb.run("ALTER TABLE t MODIFY v BIGINT NOT NULL")
    assert str(wb.table("t").schema.field("v").type) == "BIGINT NOT NULL"


@pytest.mark.parametrize("form", ["parquet", "orc", "avro"])
def test_a_compaction_tells_that_there_were_some(tmp_path, form):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(
        "CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH"
        f" ('bucket' = '1', 'file.format' = '{form}', 'alter-column-null-to-not-null.disabled' = 'false')"
    )
    wb.run("INSERT INTO t VALUES (1, NULL), (2, 3); INSERT INTO t VALUES (2, 4)")
    wb.run("ALTER TABLE t MODIFY v INT NOT NULL")
    with pytest.raises(NullNotAllowed, match="column 'v' is NOT NULL"):
        wb.table("t").compact(full=True)
    wb.run("ALTER TABLE t MODIFY v INT")
    wb.table("t").compact(full=True)
    assert wb.table("t").to_arrow().to_pylist() == [{"k": 1, "v": None}, {"k": 2, "v": 4}]


@pytest.mark.parametrize("change", ["MODIFY k INT", "MODIFY (k INT COMMENT 'c' FIRST)", "MODIFY (p STRING AFTER v)"])
def test_a_key_stays_not_null(tmp_path, change):
    """Flink's answer. Java cannot read a table with a nullable key."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (v INT, p STRING, k INT, PRIMARY KEY (p, k) NOT ENFORCED) PARTITIONED BY (p)")
    wb.run(f"ALTER TABLE t {change}")
    schema = wb.table("t").schema
    assert (schema.id, str(schema.field("k").type), str(schema.field("p").type)) == (
        1,
        "INT NOT NULL",
        "STRING NOT NULL",
    )
