"""The text of a partition is read and printed by one function: in directories, options, CALL, SHOW, ALTER and Python."""

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, ColumnNotFound
from paimon_nb.table.read.partition_spec import in_row_spec, parse_partition_value, partition_texts

FLINK = json.loads((Path(__file__).parent / "flink_partitions.json").read_text())
"""By type: SQL literals of the partitions, and the rows that real Flink 1.20.1 with Paimon 1.3.1 reads for a text of `scan.partitions`."""
ALL_ROWS_IN_FLINK = {
    "TINYINT": ("7.9", "300", ""),
    "INT": ("1.5", "2147483648", "abc", "null"),
}
"""Texts that are no value of the type: Flink reads the whole table, here they are an error."""
READ_HERE = {
    ("INT", "__HIVE_DEFAULT_PARTITION__"): [3],
    ("STRING", "__HIVE_DEFAULT_PARTITION__"): [8],
    ("CHAR(4)", "ab"): [0],
    ("CHAR(4)", "ab  "): [0],
    ("TIMESTAMP(3)", "2099-01-01T10:00"): [0],
    ("TIMESTAMP(3)", "1969-12-31T23:59:59.500"): [1],
    ("TIMESTAMP(3)", "2024-01-05T00:00"): [2],
    ("TIMESTAMP(6)", "2024-01-05T10:11:12.345678"): [0],
    ("TIMESTAMP_LTZ(3)", "2024-01-05T10:11:12.345"): [0],
}
"""The name for NULL in Hive, and the names of directories: newer Java reads those of timestamps, too."""

VALUES = {
    "BOOLEAN": [True, False, None],
    "TINYINT": [7, -128, None],
    "INT": [1, -5, 2147483647, None],
    "BIGINT": [9223372036854775807, 0],
    "FLOAT": [1.5, 1.0],
    "DOUBLE": [1.0, 1.0e10, -0.5],
    "DECIMAL(10, 2)": [Decimal("1.00"), Decimal("-1.25")],
    "STRING": ["a", "a=b", "a/b", "a b", "ä", "", " ", "1", None],
    "CHAR(4)": ["ab"],
    "DATE": [date(2099, 1, 1), date(1969, 12, 31), date(1970, 1, 1), None],
    "TIME(3)": [time(10, 11, 12, 500_000), time(0)],
    "TIMESTAMP(3)": [datetime(2099, 1, 1, 10), datetime(1969, 12, 31, 23, 59, 59, 500_000), datetime(2024, 1, 5)],
    "TIMESTAMP(6)": [datetime(2024, 1, 5, 10, 11, 12, 345_678)],
    "TIMESTAMP_LTZ(3)": [datetime(2024, 1, 5, 10, 11, 12, 345_000, tzinfo=UTC)],
}
"""The values of Flink's literals."""


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def table_of(wb, kind: str):
    """A table with one row for each value; its id is the value's position."""
    wb.run(f"CREATE TABLE t (id INT, p {kind}) PARTITIONED BY (p)")
    found = wb.table("t")
    found.append(pa.table({"id": pa.array(range(len(VALUES[kind])), pa.int32()), "p": VALUES[kind]}))
    return found


@pytest.mark.parametrize("kind", FLINK)
def test_scan_partitions_reads_the_texts_that_flink_reads(wb, kind):
    table = table_of(wb, kind)

    def read(text: str) -> object:
        try:
            rows = table.to_arrow(["id"], options={"scan.partitions": f"p={text}"})
        except BadOptionValue:
            return "error"
        return sorted(rows["id"].to_pylist())

    expected = {
        text: "error" if text in ALL_ROWS_IN_FLINK.get(kind, ()) else READ_HERE.get((kind, text), ids)
        for text, ids in FLINK[kind]["answers"].items()
    }
    assert {text: read(text) for text in expected} == expected


@pytest.mark.parametrize("kind", FLINK)
@pytest.mark.parametrize("legacy", [True, False])
def test_a_printed_partition_is_read_again(wb, kind, legacy):
    table = table_of(wb, kind)
    for values in table._partition_values():
        text = partition_texts(table.schema, table.options, values, legacy=legacy)["p"]
        blank = isinstance(values[0], str) and not values[0].strip()
        assert parse_partition_value(table.schema.field("p").type, text) == (None if blank else values[0])


def test_a_value_has_the_same_text_in_every_statement(wb):
    wb.run("CREATE TABLE t (id INT, d DATE, s STRING) PARTITIONED BY (d, s)")
    wb.run("INSERT INTO t VALUES (1, DATE '2099-01-01', 'a/b=c'), (2, NULL, 'x'), (3, DATE '1969-12-31', NULL)")
    shown = wb.run("SHOW PARTITIONS t").to_arrow()["partition"].to_pylist()
    assert shown == ["d=1969-12-31/s=null", "d=2099-01-01/s=a/b=c", "d=null/s=x"]
    table = wb.table("t")
    for spec in ("d=2099-01-01,s=a/b=c", "d=47117,s=a/b=c"):
        assert table.to_arrow(options={"scan.partitions": spec})["id"].to_pylist() == [1]
    for null in ("__DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__"):
        assert table.to_arrow(options={"scan.partitions": f"d={null},s=x"})["id"].to_pylist() == [2]
        assert in_row_spec(table.schema, {"d": null, "S": null}) == {"d": None, "s": None}
    wb.run("CALL sys.drop_partition('t', 'd=__HIVE_DEFAULT_PARTITION__,s=x')")
    assert sorted(table.to_arrow()["id"].to_pylist()) == [1, 3]
    wb.run("ALTER TABLE t DROP PARTITION (d = '1969-12-31', s = '__DEFAULT_PARTITION__')")
    assert table.to_arrow()["id"].to_pylist() == [1]
    table.overwrite(pa.table({"id": pa.array([], pa.int32())}), {"d": date(2099, 1, 1), "s": "a/b=c"})
    assert table.count() == 0


def test_expired_partitions_are_printed_as_their_directories(wb):
    wb.run("CREATE TABLE t (id INT, p TIMESTAMP(3)) PARTITIONED BY (p)")
    wb.run("INSERT INTO t VALUES (1, TIMESTAMP '2020-01-05 00:00:00')")
    called = "CALL sys.expire_partitions(`table` => 't', expiration_time => '1 d')"
    expired = wb.run(called).to_arrow()["expired_partitions"].to_pylist()
    assert expired == ["p=2020-01-05T00:00"]


def test_a_partition_that_matches_nothing_is_said(wb):
    wb.run("CREATE TABLE t (id INT, p DATE) PARTITIONED BY (p)")
    wb.run("INSERT INTO t VALUES (1, DATE '2024-01-05')")
    note = "default.t has no partition p = 2024-01-06; SHOW PARTITIONS lists them"
    read = wb.run("SELECT id FROM t /*+ OPTIONS('scan.partitions' = 'p=2024-01-05;p=2024-01-06') */")
    assert (read.to_arrow()["id"].to_pylist(), read.notes) == ([1], [f"'scan.partitions': {note}"])
    for call in (
        "sys.drop_partition('t', 'p=2024-01-06')",
        "sys.compact(`table` => 't', partitions => 'p=2024-01-06')",
        "sys.mark_partition_done('t', 'p=2024-01-06')",
    ):
        assert note in wb.run(f"CALL {call}").notes, call
    with pytest.raises(ColumnNotFound, match="'q' is not a partition column"):
        wb.run("CALL sys.drop_partition('t', 'q=1')")
    with pytest.raises(BadOptionValue, match="'x' is not a value for partition column p of type DATE"):
        wb.run("SELECT id FROM t /*+ OPTIONS('scan.partitions' = 'p=x') */").to_arrow()


def test_copies_and_streams_read_the_chosen_partitions(wb):
    wb.run("CREATE TABLE t (id INT, p DATE) PARTITIONED BY (p)")
    wb.run("INSERT INTO t VALUES (1, DATE '2024-01-05'), (2, NULL)")
    chosen = wb.table("t").copy({"scan.partitions": "p=2024-01-05"})
    assert chosen.to_arrow()["id"].to_pylist() == [1]
    assert (chosen.count(), chosen.select("id").to_arrow().num_rows) == (1, 1)
    with chosen.stream({"scan.mode": "latest-full"}, idle_s=0) as stream:
        assert [batch.rows["id"].to_pylist() for batch in stream] == [[1]]
    wb.run("CREATE TABLE u (id INT)")
    with pytest.raises(BadOptionValue, match="'p' is not a partition column"):
        wb.table("u").to_arrow(options={"scan.partitions": "p=1"})


def test_maintenance_ignores_the_chosen_partitions(wb):
    wb.run("CREATE TABLE t (id INT, p INT, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p) WITH ('bucket' = '1')")
    wb.run("INSERT INTO t VALUES (1, 1), (2, 2)")
    wb.run("ALTER TABLE t SET ('scan.partitions' = 'p=1')")
    wb.run("CALL sys.rescale('t', 2)")
    wb.run("ALTER TABLE t RESET ('scan.partitions')")
    assert sorted(wb.table("t").to_arrow()["id"].to_pylist()) == [1, 2]


def test_a_replacement_whose_partition_column_has_another_type_begins_anew(wb):
    wb.run("CREATE TABLE t (id INT, p BIGINT) PARTITIONED BY (p)")
    wb.run("INSERT INTO t VALUES (1, -1)")
    wb.run("CREATE OR REPLACE TABLE t (id INT, p STRING) PARTITIONED BY (p)")
    wb.run("INSERT INTO t VALUES (2, 'a long text')")
    assert wb.table("t").to_arrow().to_pylist() == [{"id": 2, "p": "a long text"}]
    assert wb.table("t").latest_snapshot().id == 1
