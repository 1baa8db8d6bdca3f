"""Tables with Avro and a schema registry in streaming SQL: written and read by Spark's tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mock_broker import MockBroker
from registry_server import Registry
from test_avro_registry import ENVELOPE, ROW, SOURCE, message

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("confluent_kafka")
pytestmark = pytest.mark.spark


@pytest.fixture
def registry() -> Iterator[Registry]:
    made = Registry(user="paimon:registry-secret")
    yield made
    made.close()


def with_clause(broker: MockBroker, registry: Registry, topic: str, format: str) -> str:
    options = {
        "connector": "kafka", "topic": topic, "properties.bootstrap.servers": broker.address, "format": format, "scan.startup.mode": "earliest-offset",
        f"{format}.url": registry.url, f"{format}.basic-auth.user-info": "paimon:registry-secret", f"{format}.subject": f"{topic}-value",
    }  # fmt: skip
    return ", ".join(f"'{k}' = '{v}'" for k, v in options.items())


def test_rows_and_changes_go_through_topics(swb, registry):
    broker = MockBroker()
    swb.run(f"""
        CREATE TEMPORARY TABLE topic (id INT, v STRING, d DATE) WITH ({with_clause(broker, registry, "rows", "avro-confluent")});
        CREATE TEMPORARY TABLE changes (id INT, price DECIMAL(5, 2), PRIMARY KEY (id) NOT ENFORCED)
            WITH ({with_clause(broker, registry, "changes", "debezium-avro-confluent")});
        CREATE TABLE t (id INT, v STRING, d DATE); CREATE TABLE u (id INT PRIMARY KEY NOT ENFORCED, price DECIMAL(5, 2));
        INSERT INTO topic VALUES (1, 'a', DATE '2026-01-02'), (2, NULL, NULL)
    """)
    swb.run("SET 'execution.runtime-mode' = 'streaming'")
    jobs = [swb.sql("INSERT INTO t SELECT * FROM topic"), swb.sql("INSERT INTO u SELECT * FROM changes")]
    changed = [("c", None, ROW), ("c", None, {**ROW, "id": 2}), ("d", {**ROW, "id": 2}, None)]
    broker.send("changes", [(None, message(registry, ENVELOPE, {"before": b, "after": a, "source": SOURCE, "op": op, "ts_ms": 1})) for op, b, a in changed])  # fmt: skip
    assert all(job.process_available() for job in jobs)
    assert jobs[1].wait_for(lambda: swb.table("u").to_arrow().num_rows == 1, 120)
    rows = sorted(tuple(map(str, r.values())) for r in swb.table("t").to_arrow().to_pylist())
    assert rows == [("1", "a", "2026-01-02"), ("2", "None", "None")]
    assert [tuple(map(str, r.values())) for r in swb.table("u").to_arrow().to_pylist()] == [("1", "1.25")]
    assert "registry-secret" not in str(swb.run("SHOW CREATE TABLE topic").arrow.to_pylist())
