"""`postgres-cdc` as a table of a streaming query: rows, then changes, their kinds kept."""

from __future__ import annotations

import time
import uuid

import pytest

from paimon_nb.base.errors import BadOptionValue, UnknownOption, UnsupportedOperation


@pytest.mark.spark
@pytest.mark.nightly
def test_a_table_of_a_database_streams_into_ours_and_waits_for_its_server(swb, postgres, tmp_path):
    name = f"users_{uuid.uuid4().hex[:6]}"
    postgres.run(
        f"CREATE TABLE {name} (user_id BIGINT PRIMARY KEY, name TEXT, tags TEXT[])", f"ALTER TABLE {name} REPLICA IDENTITY FULL",
        f"INSERT INTO {name} VALUES (1, 'ann', '{{a,b}}'), (2, 'bob', NULL)",
    )  # fmt: skip
    inputs = {
        "connector": "postgres-cdc",
        **postgres.conf,
        "schema-name": "public",
        "table-name": name,
        "slot.name": name,
    }
    swb.run(f"""CREATE TABLE source (user_id BIGINT, name STRING, tags ARRAY<STRING>, tab STRING METADATA FROM 'table_name' VIRTUAL, PRIMARY KEY (user_id) NOT ENFORCED)
        WITH ({", ".join(f"'{k}' = '{v}'" for k, v in inputs.items())})""")
    swb.run("CREATE TABLE users (user_id BIGINT PRIMARY KEY NOT ENFORCED, name STRING, tags ARRAY<STRING>, tab STRING)")
    swb.run(f"SET 'execution.runtime-mode' = 'streaming'; SET 'execution.checkpointing.dir' = '{tmp_path}/c'")
    text = "INSERT INTO users SELECT user_id, UPPER(name), tags, tab FROM source WHERE user_id < 10"

    def rows() -> list[tuple]:
        return sorted(tuple(r.values()) for r in swb.table("users").to_arrow().to_pylist())

    job = swb.sql(text)
    assert job.wait_for(lambda: rows() == [(1, "ANN", ["a", "b"], name), (2, "BOB", None, name)])
    postgres.run(
        f"UPDATE {name} SET name = 'anna' WHERE user_id = 1", f"DELETE FROM {name} WHERE user_id = 2",
        f"INSERT INTO {name} VALUES (3, 'c', NULL), (11, 'no', NULL)", f"UPDATE {name} SET name = 'cy' WHERE user_id = 3",
    )  # fmt: skip
    assert job.wait_for(lambda: rows() == [(1, "ANNA", ["a", "b"], name), (3, "CY", None, name)])
    postgres.stop()
    time.sleep(1)
    assert job.isActive, job.error
    postgres.start()
    postgres.run(f"UPDATE {name} SET tags = '{{x}}' WHERE user_id = 1")
    assert job.wait_for(lambda: rows()[0] == (1, "ANNA", ["x"], name))
    job.stop()
    postgres.run(f"DELETE FROM {name} WHERE user_id = 3")
    job = swb.sql(text)
    assert job.wait_for(lambda: rows() == [(1, "ANNA", ["x"], name)])
    job.stop()


def test_what_is_wrong_is_said_before_anything_is_asked():
    from paimon_nb.connectors import open_source
    from paimon_nb.connectors.api import ConnectorTable
    from paimon_nb.format.types import DataField, parse_type

    inputs = {"connector": "postgres-cdc", "hostname": "h", "username": "u", "database-name": "d", "table-name": "t", "slot.name": "s"}  # fmt: skip
    fields = (DataField(0, "a", parse_type("INT")),)
    assert open_source(ConnectorTable("t", fields, inputs)).conf.port == 5432
    for change, kind in (({"colour": "red"}, UnknownOption), ({"port": "x"}, BadOptionValue), ({"table-name": "["}, BadOptionValue), ({"slot.name": "S"}, BadOptionValue)):  # fmt: skip
        with pytest.raises(kind):
            open_source(ConnectorTable("t", fields, inputs | change))
    with pytest.raises(UnsupportedOperation, match="no metadata"):
        open_source(ConnectorTable("t", fields, inputs, metadata={"a": "colour"}))
