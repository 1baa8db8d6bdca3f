"""Three documents that people paste from: what their placeholders mean, what must be there before a block, how each ends.

A block is named by its document and its first line. The texts themselves are read where they lie.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

CUT: dict[str, list[tuple[int, int]]] = {
    "001": [(35, 41), (48, 56), (122, 131)],
    "003": [(102, 102), (105, 105), (110, 110), (113, 114), (117, 117), (124, 124), (127, 128), (135, 135), (191, 191),
            (194, 194), (199, 199), (217, 217), (235, 235), (240, 240), (244, 244), (263, 263), (270, 270), (280, 280),
            (290, 290), (297, 297)],
}  # fmt: skip
"""First and last line of each statement that a document without fences gives as an example, where it is whole there."""

WORDS = {
    "hdfs:///paimon/warehouse": "{place}/one",
    "hdfs:///warehouse": "{place}/two",
    "s3://bucket/warehouse": "{place}/three",
    "<path-to-paimon-table-files>": "{place}/files",
    "`<your-paimon-catalog>`": "paimon",
    "`<your-db>`": "`default`",
    "  ...\n": "  'topic' = 'orders', 'properties.bootstrap.servers' = 'kafka:9092', 'format' = 'json'\n",
    "WITH (\n...\n)": "WITH (\n'bucket' = '1'\n)",
    "'hostname' = 'mysql'": "'hostname' = '127.0.0.1'",
    "'port' = '3306'": "'port' = '{mysql}'",
    "kafka:9092": "{broker}",  # last: what stands in for ... names the broker, too
}
TOPICS: dict[str, list[str]] = {
    # what the topics of the documents hold when they are read
    "users": ['{"user_id": 1, "name": "too early for latest-offset", "event_time": "2025-10-19 00:00:00"}'],
    "dbserver1.mydb.users": [
        '{"op": "c", "after": {"user_id": 70, "name": "Gil", "email": "old"}}',
        '{"op": "u", "before": {"user_id": 70, "name": "Gil", "email": "old"}, "after": {"user_id": 70, "name": "Gil", "email": "new"}}',
        '{"op": "c", "after": {"user_id": 71, "name": "Hal", "email": "h"}}',
        '{"op": "d", "before": {"user_id": 71, "name": "Hal", "email": "h"}}',
    ],
    "user_activity": [
        '{"user_id": 5, "activity_type": "login", "activity_time": "2025-10-19 01:02:03", "metadata": "m"}'
    ],
    "events": [],
    "orders": ['{"order_id": 1, "user_id": 10, "amount": 5, "order_time": "2025-10-19 00:00:00"}'],
    "t": [],
}
DATABASE = (
    "CREATE DATABASE mydb",
    "CREATE TABLE mydb.users (user_id BIGINT PRIMARY KEY, name VARCHAR(20), email TEXT)",
    "INSERT INTO mydb.users VALUES (60, 'Eve', 'e'), (61, 'Fay', NULL)",
)
"""What the database server of the documents holds."""
PLACEHOLDERS = {
    "users": "(user_id BIGINT, name STRING, tier STRING, PRIMARY KEY (user_id) NOT ENFORCED)",
    "events": "(event_id STRING, user_id BIGINT, country STRING, PRIMARY KEY (event_id, user_id, country) NOT ENFORCED)",
    "orders_stream": "(order_id BIGINT, user_id BIGINT, amount DECIMAL(10, 2), event_time TIMESTAMP(3))",
    "payments_stream": "(payment_id BIGINT, order_id BIGINT, amount DECIMAL(10, 2), event_time TIMESTAMP(3))",
}
"""`CREATE TABLE x (...)`."""

_KEEP = "WITH ('bucket' = '1', 'write-only' = 'true', 'snapshot.num-retained.min' = '3', 'snapshot.num-retained.max' = '50', 'snapshot.time-retained' = '10000 d')"
_USERS = (
    "CREATE TABLE {0} (user_id BIGINT, name STRING, email STRING, age INT, updated_at TIMESTAMP(3), PRIMARY KEY (user_id) NOT ENFORCED) "
    + _KEEP
)
_KAFKA = "CREATE TABLE {0} ({1}) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'kafka:9092', 'format' = 'json')"
_SYNCED = "CREATE TABLE paimon_catalog.my_db.users (user_id BIGINT, name STRING, email STRING, PRIMARY KEY (user_id) NOT ENFORCED)"
_T = "CREATE TABLE {0} (id INT, p STRING, a INT, b INT) PARTITIONED BY (p); INSERT INTO {0} VALUES (1, '0', 3, 1), (2, '0', 1, 2); INSERT INTO {0} VALUES (3, '0', 2, 3)"
_IDS = f"CREATE TABLE T (id INT, PRIMARY KEY (id) NOT ENFORCED) {_KEEP}; " + "; ".join(
    f"INSERT INTO T VALUES ({i})" for i in range(1, 13)
)

BEFORE: dict[tuple[str, int, int], str] = {
    # (document, first line, statement of the block): SQL; COMMITS t n = n commits of one row each
    ("000", 356, 0): "CREATE CATALOG paimon WITH ('warehouse' = 'hdfs:///warehouse'); USE CATALOG paimon; CREATE DATABASE my_db; USE my_db; " + _USERS.format("users"),
    ("000", 372, 0): _USERS.format("users") + "; COMMITS users 20",
    ("000", 437, 0): _SYNCED,
    ("000", 489, 0): "CREATE TABLE paimon_table (user_id BIGINT, name STRING, event_time TIMESTAMP(3)); " + _KAFKA.format("kafka_source", "user_id BIGINT, name STRING, event_time TIMESTAMP(3)"),
    ("000", 489, 2): "SET 'execution.checkpointing.interval' = '200 ms'",
    ("000", 499, 0): "CREATE TABLE downstream_sink (user_id BIGINT, name STRING, event_time TIMESTAMP(3)); INSERT INTO paimon_table VALUES (1, 'a', CAST(NULL AS TIMESTAMP(3))), (2, 'b', CAST(NULL AS TIMESTAMP(3)))",
    ("000", 569, 0): "INSERT INTO events VALUES ('a', 'x', TIMESTAMP '2025-10-19 00:00:00'), ('b', 'y', CAST(NULL AS TIMESTAMP(3)))",
    ("000", 761, 0): "USE CATALOG paimon; INSERT INTO analytics.user_activity VALUES (1, 'a', CAST(NULL AS TIMESTAMP(3)), '', '2025-10-19'), (2, 'b', CAST(NULL AS TIMESTAMP(3)), '', '2025-10-19'), (3, 'a', CAST(NULL AS TIMESTAMP(3)), '', '2025-10-19'), (3, 'a', CAST(NULL AS TIMESTAMP(3)), '', '2025-10-18')",
    ("000", 782, 0): _USERS.format("paimon.analytics.users") + "; COMMITS paimon.analytics.users 20",
    ("000", 831, 0): "USE CATALOG paimon; CREATE DATABASE IF NOT EXISTS my_db; CREATE TABLE my_db.users (user_id BIGINT, dt STRING, PRIMARY KEY (user_id, dt) NOT ENFORCED) PARTITIONED BY (dt) " + _KEEP
                     + "; INSERT INTO my_db.users VALUES (1, '2025-10-19'), (2, '2025-10-20'); INSERT INTO my_db.users VALUES (1, '2025-10-19')",
    ("000", 831, 1): "INSERT INTO my_db.users VALUES (3, '2025-10-19'), (3, '2025-10-20')",
    ("000", 898, 0): _USERS.format("my_db.users") + "; COMMITS my_db.users 20",
    ("000", 926, 0): _USERS.format("my_db.users") + "; COMMITS my_db.users 20",
    ("000", 926, 2): "CALL sys.create_tag('my_db.users', 'prod_v1', 19)",
    ("000", 996, 1): "CREATE TABLE paimon_users (user_id BIGINT, dt STRING) PARTITIONED BY (dt); INSERT INTO paimon_users VALUES (7, '2025-10-01'); CREATE TABLE parquet_users (user_id BIGINT, dt STRING); "
                     "INSERT INTO parquet_users VALUES (1, '2025-10-01'), (2, '2025-10-02'); " + _KAFKA.format("kafka_users", "user_id BIGINT, dt STRING"),
    ("000", 1014, 1): "CREATE TABLE user_updates (user_id BIGINT, name STRING, email STRING); INSERT INTO user_updates VALUES (1, 'n', 'e')",
    ("000", 1041, 1): "CREATE TABLE product_updates (product_id BIGINT, product_name STRING, category STRING, price DECIMAL(10,2)); INSERT INTO product_updates VALUES (1, 'p', 'c', 9.99)",
    ("000", 1061, 2): """INSERT INTO orders_stream VALUES (1, 10, 5.00, TIMESTAMP '2025-10-19 00:00:00'), (2, 20, 6.00, TIMESTAMP '2025-10-19 00:00:00');
        INSERT INTO payments_stream VALUES (100, 1, 5.00, TIMESTAMP '2025-10-19 00:04:00'), (200, 2, 6.00, TIMESTAMP '2025-10-19 00:06:00')""",
    ("000", 1083, 2): "INSERT INTO orders_stream VALUES (1, 10, 5.00, CAST(NULL AS TIMESTAMP(3))), (2, 20, 6.00, CAST(NULL AS TIMESTAMP(3))); INSERT INTO users VALUES (10, 'Ann', 'gold')",
    ("000", 1184, 0): f"CREATE TABLE paimon_table (a INT, PRIMARY KEY (a) NOT ENFORCED) {_KEEP}; INSERT INTO paimon_table VALUES (1); INSERT INTO paimon_table VALUES (2)",
    ("000", 1224, 1): "USE CATALOG paimon; CREATE DATABASE db; USE db",
    ("000", 1224, 7): _USERS.format("users") + "; COMMITS users 20",
    ("000", 1224, 10): _USERS.format("users") + "; COMMITS users 20",
    ("003", 105, 0): "CREATE TABLE word_count (word STRING, cnt BIGINT, PRIMARY KEY (word) NOT ENFORCED); CREATE TEMPORARY TABLE word_table (word STRING) WITH ('connector' = 'datagen', 'fields.word.length' = '1')",
    ("003", 117, 0): "TRUNCATE TABLE word_count; INSERT INTO word_count VALUES ('a', 12345), ('b', 23456), ('c', 12000)",
    ("003", 199, 0): "RESET 'paimon.*.default.T.scan.timestamp-millis'; " + _T.format("t"),
    ("003", 217, 0): _T.format("T"),
    ("003", 235, 0): "CREATE DATABASE db1; CREATE TABLE db1.table_1 (a INT); CREATE TABLE db1.`ignore` (a INT)",
    ("003", 240, 0): _IDS,
    ("003", 263, 0): "CREATE TABLE T (id INT, price INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1'); CREATE TABLE S (order_id INT, price INT); INSERT INTO T VALUES (1, 10); INSERT INTO S VALUES (1, 5), (2, 6)",
    ("003", 280, 0): _IDS,
}  # fmt: skip
LEFT: dict[tuple[str, int], str] = {
    # (document, first line): a query over what the block left behind
    ("000", 208): "SHOW TABLES IN my_db",
    ("000", 356): "SELECT name, email FROM users WHERE user_id = 1",
    ("000", 437): "SELECT * FROM paimon_catalog.my_db.users",
    ("000", 468): "SELECT * FROM paimon_catalog.my_db.users",
    ("000", 499): "SELECT user_id FROM downstream_sink",
    ("000", 569): "SELECT event_id FROM events",
    ("000", 677): "SELECT user_id, activity_type, dt FROM paimon.analytics.user_activity",
    ("000", 831): "SELECT level, record_count FROM my_db.users$files",
    ("000", 898): "SELECT min(snapshot_id) FROM my_db.users$snapshots",
    ("000", 926): "SELECT max(user_id) FROM my_db.users",
    ("000", 996): "SELECT * FROM paimon_users",
    ("000", 1014): "SELECT user_id, name, valid_to, is_current FROM dim_users",
    ("000", 1041): "SELECT * FROM dim_products",
    ("000", 1224): "SELECT tag_name, snapshot_id FROM users$tags",
    ("001", 48): "SELECT count(*) FROM paimon_table",
    ("001", 122): "SHOW TABLES",
    ("003", 135): "SHOW TABLES",
    ("003", 217): "SELECT a, b FROM T$ro",
    ("003", 235): "SHOW TABLES IN db1",
    ("003", 240): "SELECT tag_name, snapshot_id FROM T$tags",
    ("003", 244): "SELECT tag_name FROM T$tags",
    ("003", 263): "SELECT * FROM T",
    ("003", 280): "SELECT * FROM T$consumers",
    ("003", 290): "SELECT max(id) FROM T",
    ("003", 297): "SELECT snapshot_id FROM T$snapshots",
}


def _users(*ids: int) -> list[tuple[Any, ...]]:
    return sorted(((i, f"n{i}", None, i, None) for i in ids), key=repr)


IN_BATCH: dict[str, list[list[Any]]] = {
    "000_397_1": [list(u) for u in _users(*range(1, 6))],
    "000_407_0": [list(u) for u in _users(*range(1, 11))],
    "000_1224_7": [list(u) for u in _users(*range(1, 11))],
}
"""What the documents ask in streaming mode of a moment, asked in batch mode: Flink was asked so, since a stream never ends."""
OUTCOMES: dict[str, dict[int, list[Any]]] = {
    "000": {
        130: ["ran"],
        161: ["ran"],
        180: ["ran"],
        208: ["ran", "ran", "ran", "ran", "->", [("my_db", "users", False)]],
        235: ["ran"],
        253: ["ran"],
        270: ["ran"],
        278: ["ran"],
        286: ["refused"],
        296: ["ran"],
        310: ["ran", "ran"],
        356: ["ran", "ran", "->", [("Alice Updated", "alice@newdomain.com")]],
        372: ["ran", _users(19, 20)],
        379: ["ran", ("df", 20)],
        387: ["ran", _users(*range(1, 21))],
        397: [_users(*range(5, 21)), _users(*range(5, 21))],
        407: [_users(*range(10, 21)), _users(*range(5, 21))],
        415: ["ran", ("df", 10)],
        425: [_users(*range(6, 11))],
        437: ["ran", "ran", "->", [(60, "Eve", "e"), (61, "Fay", None)]],
        468: ["ran", "ran", "->", [(60, "Eve", "e"), (61, "Fay", None), (70, "Gil", "new")]],
        489: ["ran", "ran", "ran"],
        499: ["ran", "ran", "->", [(1,), (2,)]],
        513: ["ran", "ran", [(1, 10, None, None, Decimal("5.00"), dt.datetime(2025, 10, 19))]],
        555: ["ran"],
        569: ["ran", "->", [("a",), ("b",)]],
        582: ["ran"],
        607: ["ran"],
        631: ["ran"],
        663: ["ran", "ran"],
        677: ["ran", "ran", "ran", "ran", "ran", "ran", "ran", "ran", "->", [(5, "login", "2025-10-19")]],
        761: ["ran", ("df", 5), ("result", 3)],
        782: ["ran", ("df", 15)],
        792: [_users(*range(11, 21))],
        831: [[("Success",)], [("Success",)], "->", [(0, 1), (5, 1), (5, 2)]],
        841: ["ran"],
        869: ["ran"],
        888: ["ran"],
        898: [[("17",)], "->", [(18,)]],
        904: ["ran"],
        916: ["ran"],
        926: [[("Success",)], [("Success",)], [(20, 19)], "->", [(19,)]],
        948: ["ran", "ran", "ran"],
        996: ["ran", "ran", "ran", "ran", "->", [(1, "2025-10-01")]],
        1014: ["ran", "ran", "->", [(1, "n", None, True)]],
        1041: ["ran", "ran", "->", [(1, "p", "c", Decimal("9.99"))]],
        1061: ["ran", "ran", [(1, 10, 100, Decimal("5.00"))]],
        1083: ["ran", "ran", [(1, 10, "Ann", "gold", Decimal("5.00")), (2, 20, None, None, Decimal("6.00"))]],
        1127: ["ran"],
        1144: ["ran"],
        1173: ["ran", "ran"],
        1184: [[(2,)]],
        1189: [[(2,)]],
        1194: [[(0, 2, 0)]],
        1224: ["ran", "ran", "ran", "ran", [(1, "Alice")], "ran", [(1, "Alice")], _users(*range(10, 21)), [("Success",)], [("18",)], [("Success",)], "->", [("v1", 15)]],
        1258: ["not SQL"],
    },
    "001": {
        35: ["ran"],
        48: ["ran", "->", [(0,)]],
        122: ["ran", "->", [("", "paimon_table", True), ("default", "MyTable", False)]],
    },
    "003": {
        102: ["ran"],
        105: ["ran"],
        110: ["ran"],
        113: ["ran", "ran"],
        117: [[("a", 12345), ("b", 23456), ("c", 12000)]],
        124: ["ran"],
        127: [[(1, 2), (2, 1)]],
        135: ["ran", "->", [("word_table",)]],
        191: ["ran"],
        194: ["ran"],
        199: [[("Success",)]],
        217: [[("Success",)], "->", [(1, 2), (2, 3), (3, 1)]],
        235: [[("Success",)], "->", [("ignore",), ("table_1",)]],
        240: [[("Success",)], "->", [("my_tag", 10)]],
        244: [[("Success",)], "->", []],
        263: [[("Success",)], "->", [(1, 30), (2, 6)]],
        270: [[("0",), ("0",)]],
        280: [[("Success",)], "->", [("myid", 10)]],
        290: [[(12, 10)], "->", [(10,)]],
        297: [[("8",)], "->", [(10,), (9,)]],
    },
}  # fmt: skip
"""For each statement of a block: 'ran'; the sorted rows of a SELECT or CALL; rows of a stream are those that it told to be there;
'refused': it needs a service that is not here, and says what to do instead. A block of Python: 'ran', then name and number of rows of each DataFrame it made. 'not SQL': a list of options. Last, behind '->', what `LEFT` asks.
"""
