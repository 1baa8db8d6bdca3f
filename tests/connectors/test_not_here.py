"""Sources that only other engines have: refused by name, with the way to the same rows."""

from __future__ import annotations

import pytest

import paimon_nb
from paimon_nb.base.errors import UnsupportedOperation


@pytest.mark.parametrize(
    ("statement", "words"),
    [("CALL sys.mongodb_sync_table(`table` => 't', mongodb_conf => 'hosts=h')", "kafka_sync_table"),
     ("CALL sys.pulsar_sync_database(database => 'd', pulsar_conf => 'a=b')", "Kafka protocol handler"),
     ("CREATE TEMPORARY TABLE m (a INT) WITH ('connector' = 'mongodb-cdc'); SELECT * FROM m", "Debezium"),
     ("CREATE TEMPORARY TABLE m (a INT) WITH ('connector' = 'pulsar'); SELECT * FROM m", "Kafka protocol handler"),
     ("CALL sys.kafka_sync_table(`table` => 't', kafka_conf => 'properties.bootstrap.servers=h:1,topic=t,value.format=debezium-bson')", "debezium-json")],
    ids=["mongodb", "pulsar", "mongodb-cdc table", "pulsar table", "debezium-bson"],
)  # fmt: skip
def test_refused_by_name(tmp_path, statement, words):
    with pytest.raises(UnsupportedOperation, match=r"(mongodb|pulsar|debezium-bson).* is not supported") as refused:
        paimon_nb.connect(str(tmp_path)).run(statement)
    assert words in f"{refused.value.message} {refused.value.hint}"
