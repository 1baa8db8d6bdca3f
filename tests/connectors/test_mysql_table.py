"""`mysql-cdc` as a table of a streaming query: rows, then changes, their kinds kept."""

from __future__ import annotations

import time
import uuid

import pytest

from paimon_nb.base.errors import BadOptionValue, UnknownOption, UnsupportedOperation


@pytest.mark.nightly
@pytest.mark.spark
def test_a_table_of_a_database_streams_into_ours_and_waits_for_its_server(swb, mariadb):
    shop = f"shop_{uuid.uuid4().hex[:6]}"
    mariadb.run(
        f"CREATE DATABASE {shop}", f"CREATE TABLE {shop}.users (user_id BIGINT PRIMARY KEY, name VARCHAR(9), email TEXT)",
        f"INSERT INTO {shop}.users VALUES (1, 'ann', 'a@x'), (2, 'bob', NULL)",
    )  # fmt: skip
    swb.run(f"""CREATE TABLE mysql_users (user_id BIGINT, name STRING, email STRING, tab STRING METADATA FROM 'table_name' VIRTUAL, PRIMARY KEY (user_id) NOT ENFORCED)
        WITH ('connector' = 'mysql-cdc', 'hostname' = '127.0.0.1', 'port' = '{mariadb.port}', 'username' = 'cdc', 'password' = 'cdc-secret',
              'database-name' = '{shop}', 'table-name' = 'users')""")  # fmt: skip
    swb.run("CREATE TABLE users (user_id BIGINT PRIMARY KEY NOT ENFORCED, name STRING, email STRING, tab STRING)")
    swb.run("SET 'execution.runtime-mode' = 'streaming'")

    def rows() -> list[tuple]:
        return sorted(tuple(r.values()) for r in swb.table("users").to_arrow().to_pylist())

    job = swb.sql("INSERT INTO users SELECT user_id, UPPER(name), email, tab FROM mysql_users WHERE user_id < 10")
    assert job.wait_for(lambda: rows() == [(1, "ANN", "a@x", "users"), (2, "BOB", None, "users")])
    mariadb.run(
        f"UPDATE {shop}.users SET name = 'anna' WHERE user_id = 1", f"DELETE FROM {shop}.users WHERE user_id = 2",
        f"INSERT INTO {shop}.users VALUES (3, 'c', 'c@x'), (11, 'no', 'no')", f"UPDATE {shop}.users SET name = 'cy' WHERE user_id = 3",
    )  # fmt: skip
    assert job.wait_for(lambda: rows() == [(1, "ANNA", "a@x", "users"), (3, "CY", "c@x", "users")])
    mariadb.stop()
    time.sleep(1)
    assert job.isActive, job.error
    mariadb.start()
    mariadb.run(f"INSERT INTO {shop}.users VALUES (4, 'd', NULL)", f"DELETE FROM {shop}.users WHERE user_id = 1")
    assert job.wait_for(lambda: rows() == [(3, "CY", "c@x", "users"), (4, "D", None, "users")])
    job.stop()


def test_what_is_wrong_is_said_before_anything_is_asked():
    from paimon_nb.connectors import open_source
    from paimon_nb.connectors.api import ConnectorTable
    from paimon_nb.format.types import DataField, parse_type

    inputs = {"connector": "mysql-cdc", "hostname": "h", "username": "u", "database-name": "d", "table-name": "t"}
    fields = (DataField(0, "a", parse_type("INT")),)
    assert open_source(ConnectorTable("t", fields, inputs)).conf.port == 3306
    for change, kind in (({"colour": "red"}, UnknownOption), ({"port": "x"}, BadOptionValue), ({"table-name": "["}, BadOptionValue)):  # fmt: skip
        with pytest.raises(kind):
            open_source(ConnectorTable("t", fields, inputs | change))
    with pytest.raises(UnsupportedOperation, match="no metadata"):
        open_source(ConnectorTable("t", fields, inputs, metadata={"a": "colour"}))
