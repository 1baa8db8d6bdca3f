"""`metadata_column` of the syncs of Kafka, with a broker in this process; those of databases are in the tests of their syncs."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING

import pytest
from mock_broker import MockBroker

import paimon_nb
from paimon_nb.base.errors import BadOptionValue

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("confluent_kafka")
LEAST = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


@pytest.fixture
def mock_broker() -> MockBroker:
    return MockBroker()


@pytest.fixture
def wb(tmp_path: Path, mock_broker: MockBroker):  # noqa: ARG001  a sync that stops waits for a broker that ended before it
    workbench = paimon_nb.connect(str(tmp_path / "w"))
    yield workbench
    workbench.session.jobs.stop_all()


def message(table: str, key: int, kind: str = "insert") -> tuple[str, str]:
    """All of one key, and so of one partition."""
    return "same", json.dumps({"database": "shop", "table": table, "type": kind, "data": {"k": key}, "old": {}, "primary_key_columns": ["k"]})  # fmt: skip


@pytest.mark.parametrize("of", ["table", "database"])
def test_where_a_record_was(wb, mock_broker, of):
    mock_broker.send("t", [message("t", 1), message("t", 2)])
    conf = f"properties.bootstrap.servers={mock_broker.address},topic=t,value.format=maxwell-json,scan.startup.mode=earliest-offset"
    target = "`table` => 't'" if of == "table" else "database => 'default'"
    call = f"CALL sys.kafka_sync_{of}({target}, kafka_conf => '{conf}', interval => '20 ms', %s)"
    every = "metadata_column => 'topic,partition,offset,timestamp,timestamp_type', metadata_column_prefix => 'm_'"
    (row,) = wb.run(call % every).arrow.to_pylist()
    job = wb.session.jobs.find(row["job"])
    assert job.wait_for(lambda: job.rows == 2, 120)
    mock_broker.send("t", [message("t", 1, "update"), message("t", 2, "delete")])
    assert job.wait_for(lambda: wb.table("t").to_arrow().num_rows == 1, 120)  # the delete came: all is there
    table = wb.table("t")
    assert {f.name: str(f.type) for f in table.schema.fields} == {
        "k": "STRING NOT NULL", "m_topic": "STRING", "m_partition": "INT", "m_offset": "BIGINT",
        "m_timestamp": "TIMESTAMP(3) WITH LOCAL TIME ZONE", "m_timestamp_type": "STRING",
    }  # fmt: skip
    (stored,) = table.to_arrow().to_pylist()
    assert stored.pop("m_timestamp") > LEAST
    partition = stored.pop("m_partition")
    assert partition in (0, 1)
    assert stored == {"k": "1", "m_topic": "t", "m_offset": 2, "m_timestamp_type": "CreateTime"}
    with pytest.raises(BadOptionValue, match="unknown metadata_column 'op_ts'"):
        wb.run(call % "metadata_column => 'op_ts'")
