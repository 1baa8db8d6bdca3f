"""Every SQL and Python block of the three documents: which tables must be there before it, and how it ends.

A block is named by its document and the line where its fence begins, or, where a document has no fences, by its first line.
Outcomes: 'ran'; 'waits' = a statement that reads or writes a streaming connector, which batch mode refuses by name;
'refused' = a catalog that this machine cannot reach, refused with a next step; 'not SQL' = a list of options; else the
names of the errors that its statements must end with, because they contradict each other.
"""

from __future__ import annotations

USERS = """CREATE TABLE IF NOT EXISTS users (user_id BIGINT, name STRING, email STRING, age INT, updated_at TIMESTAMP(3),
    PRIMARY KEY (user_id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true', 'snapshot.num-retained.min' = '3')"""
EVENTS = """CREATE TABLE events (event_id STRING, data STRING, event_time TIMESTAMP(3));
    INSERT INTO events VALUES ('a', 'x', TIMESTAMP '2025-10-19 00:00:00'), ('b', 'y', NULL)"""
KAFKA = """CREATE TABLE {0} ({1}) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'kafka:9092', 'format' = 'json')"""
COMMITS = {"users": 20}
"""Tables of a scene that get this many one-row commits, user_id = commit number, one second apart from 2023-10-22 23:59:55 UTC."""

SCENES: dict[str, str] = {
    "": "",
    "users": USERS,
    "my_db": "CREATE DATABASE my_db; USE my_db; " + USERS,
    "my_db users by day": """CREATE DATABASE my_db; CREATE TABLE my_db.users (user_id BIGINT, dt STRING,
        PRIMARY KEY (user_id, dt) NOT ENFORCED) PARTITIONED BY (dt) WITH ('bucket' = '1', 'write-only' = 'true');
        INSERT INTO my_db.users VALUES (1, '2025-10-19'), (2, '2025-10-20'); INSERT INTO my_db.users VALUES (1, '2025-10-19')""",
    "my_db one table": """CREATE DATABASE my_db; CREATE TABLE my_db.changes (user_id BIGINT, PRIMARY KEY (user_id) NOT ENFORCED)
        WITH ('bucket' = '1', 'write-only' = 'true'); """ + "; ".join(f"INSERT INTO my_db.changes VALUES ({i})" for i in range(1, 11)),
    "analytics": "CREATE DATABASE analytics; USE analytics; " + USERS,
    "activity": """CREATE DATABASE analytics; CREATE TABLE analytics.user_activity (activity_type STRING, dt STRING);
        INSERT INTO analytics.user_activity VALUES ('a', '2025-10-19'), ('b', '2025-10-19'), ('a', '2025-10-19'), ('a', '2025-10-18')""",
    "db": """CREATE DATABASE db; USE db; CREATE CATALOG c WITH ('warehouse' = 'hdfs:///warehouse'); CREATE DATABASE c.db; DROP CATALOG c""",
    "events": EVENTS,
    "copy": KAFKA.format("kafka_source", "user_id BIGINT") + "; CREATE TABLE paimon_table (user_id BIGINT)",
    "sink": """CREATE TABLE paimon_table (a INT); CREATE TABLE downstream_sink (a INT); INSERT INTO paimon_table VALUES (1), (2)""",
    "files": """CREATE TABLE paimon_table (a INT, PRIMARY KEY (a) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true');
        INSERT INTO paimon_table VALUES (1); INSERT INTO paimon_table VALUES (2)""",
    "days": """CREATE TABLE paimon_users (user_id BIGINT, dt STRING) PARTITIONED BY (dt); INSERT INTO paimon_users VALUES (7, '2025-10-01');
        CREATE TABLE parquet_users (user_id BIGINT, dt STRING); INSERT INTO parquet_users VALUES (1, '2025-10-01'), (2, '2025-10-02'); """
    + KAFKA.format("kafka_users", "user_id BIGINT, dt STRING"),
    "updates": """CREATE TABLE user_updates (user_id BIGINT, name STRING, email STRING); INSERT INTO user_updates VALUES (1, 'n', 'e');
        CREATE TABLE product_updates (product_id BIGINT, product_name STRING, category STRING, price DECIMAL(10,2));
        INSERT INTO product_updates VALUES (1, 'p', 'c', 9.99)""",
    "counts": "CREATE TABLE word_count (word STRING, cnt BIGINT); INSERT INTO word_count VALUES ('a', 12345), ('b', 23456), ('c', 12000)",
    "word source": """CREATE TABLE word_count (word STRING, cnt BIGINT, PRIMARY KEY (word) NOT ENFORCED);
        CREATE TEMPORARY TABLE word_table (word STRING) WITH ('connector' = 'datagen', 'fields.word.length' = '1')""",
    "T": """CREATE TABLE T (id INT, p STRING, a INT, b INT) PARTITIONED BY (p);
        INSERT INTO T VALUES (1, '0', 3, 1), (2, '0', 1, 2); INSERT INTO T VALUES (3, '0', 2, 3)""",
    "T tagged": """CREATE TABLE T (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true'); """
    + "; ".join(f"INSERT INTO T VALUES ({i})" for i in range(1, 13)) + "; CALL sys.create_tag('T', 'my_tag', 5)",
    "T long": """CREATE TABLE T (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true'); """
    + "; ".join(f"INSERT INTO T VALUES ({i})" for i in range(1, 13)),
    "T and S": """CREATE TABLE T (id INT, price INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
        CREATE TABLE S (order_id INT, price INT); INSERT INTO T VALUES (1, 10); INSERT INTO S VALUES (1, 5), (2, 6)""",
}  # fmt: skip

BLOCKS: dict[tuple[str, int], tuple[str, str]] = {
    ("000", 130): ("", "ran"),
    ("000", 161): ("", "ran"),
    ("000", 180): ("", "ran"),
    ("000", 208): ("", "ran"),
    ("000", 235): ("", "ran"),
    ("000", 253): ("", "ran"),
    ("000", 270): ("", "ran"),
    ("000", 278): ("", "ran"),
    ("000", 286): ("", "refused"),
    ("000", 296): ("", "ran"),
    ("000", 310): ("paimon_catalog", "waits"),
    ("000", 356): ("users", "ran"),
    ("000", 372): ("users", "ran"),
    ("000", 379): ("my_db", "ran"),
    ("000", 387): ("users", "ran"),
    ("000", 397): ("users", "ran"),
    ("000", 407): ("users", "ran"),
    ("000", 415): ("my_db", "ran"),
    ("000", 425): ("my_db one table", "ran"),
    ("000", 437): ("paimon_catalog", "waits"),
    ("000", 468): ("paimon_catalog", "waits"),
    ("000", 489): ("copy", "waits"),
    ("000", 499): ("sink", "ran"),
    ("000", 513): ("", "waits"),
    ("000", 555): ("", "ran"),
    ("000", 569): ("events", "ran"),
    ("000", 582): ("", "ran"),
    ("000", 607): ("", "ran"),
    ("000", 631): ("", "ran"),
    ("000", 663): ("", "ran"),
    ("000", 677): ("", "waits"),
    ("000", 761): ("activity", "ran"),
    ("000", 782): ("analytics", "ran"),
    ("000", 792): ("analytics", "ran"),
    ("000", 831): ("my_db users by day", "ran"),
    ("000", 841): ("", "ran"),
    ("000", 869): ("", "ran"),
    ("000", 888): ("", "ran"),
    ("000", 898): ("my_db", "ran"),
    ("000", 904): ("", "ran"),
    ("000", 916): ("", "ran"),
    ("000", 926): ("my_db", "TagNotFound"),
    ("000", 948): ("", "waits"),
    ("000", 996): ("days", "waits"),
    ("000", 1014): ("updates", "ran"),
    ("000", 1041): ("updates", "ran"),
    ("000", 1061): ("", "ran"),
    ("000", 1083): ("", "ran"),
    ("000", 1127): ("", "ran"),
    ("000", 1144): ("", "ran"),
    ("000", 1173): ("", "ran"),
    ("000", 1184): ("files", "ran"),
    ("000", 1189): ("files", "ran"),
    ("000", 1194): ("files", "ran"),
    ("000", 1224): ("db", "TimeTravelError SnapshotNotFound"),
    ("000", 1258): ("", "not SQL"),
}

FIRST_COLUMNS: dict[int, list[list[object]]] = {
    372: [[19, 20]],
    387: [list(range(1, 21))],
    397: [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]],  # commit 5 is at 2023-10-23 00:00:00 UTC, the time that the block names
    407: [list(range(1, 11)), [1, 2, 3, 4, 5]],
    425: [[6, 7, 8, 9, 10]],
    792: [list(range(11, 21))],
    1184: [[2]],
    1189: [[2]],
    1194: [[0]],
    1224: [[1], [1]],
}
"""The first column, sorted, of each SELECT of a block of the first document that gives rows."""
AFTER: dict[int, tuple[str, list[tuple[object, ...]]]] = {
    208: ("SHOW TABLES IN my_db", [("my_db", "users", False)]),
    356: ("SELECT name, email FROM users WHERE user_id = 1", [("Alice Updated", "alice@newdomain.com")]),
    499: ("SELECT * FROM downstream_sink", [(1,), (2,)]),
    569: ("SELECT event_id FROM events", [("a",), ("b",)]),
    831: ("SELECT level, record_count FROM my_db.users$files", [(5, 1), (5, 1)]),
    898: ("SELECT min(snapshot_id) FROM my_db.users$snapshots", [(18,)]),
    996: ("SELECT * FROM paimon_users", [(1, "2025-10-01")]),
    1014: ("SELECT user_id, valid_to, is_current FROM dim_users", [(1, None, True)]),
    1041: ("SELECT product_id, product_name FROM dim_products", [(1, "p")]),
}
"""What a block of the first document left behind: a query and its rows."""
AFTER_UNFENCED: dict[str, tuple[str, list[tuple[object, ...]]]] = {
    "CREATE TABLE MyTable": ("SHOW TABLES", [("default", "MyTable", False)]),
    "CREATE TEMPORARY TABLE": ("SELECT count(*) FROM paimon_table", [(0,)]),
    "-- DROP TABLE": ("SHOW TABLES", []),
    "CALL sys.compact('default.T'": ("SELECT a, b FROM T$ro", [(1, 2), (2, 3), (3, 1)]),
    "CALL sys.create_tag": ("SELECT tag_name, snapshot_id FROM T$tags", [("my_tag", 10)]),
    "CALL sys.delete_tag": ("SELECT tag_name FROM T$tags", []),
    "CALL sys.merge_into": ("SELECT * FROM T", [(1, 30), (2, 6)]),
    "CALL sys.reset_consumer": ("SELECT * FROM T$consumers", [("myid", 10)]),
    "CALL sys.rollback_to": ("SELECT max(id) FROM T", [(10,)]),
    "CALL sys.expire_snapshots": ("SELECT snapshot_id FROM T$snapshots", [(11,), (12,)]),
}
"""By the beginning of a text without fence: a query and its rows."""
FRAMES = {379: ("df", 20), 415: ("df", 10), 761: ("result", 2), 782: ("df", 15)}
"""The DataFrame that a Python block makes, and how many rows it has."""

PLACEHOLDERS = {
    "users": "(user_id BIGINT, name STRING, tier STRING, PRIMARY KEY (user_id) NOT ENFORCED)",
    "events": "(event_id STRING, user_id BIGINT, country STRING)",
    "orders_stream": "(order_id BIGINT, user_id BIGINT, amount DECIMAL(10, 2), event_time TIMESTAMP(3))",
    "payments_stream": "(payment_id BIGINT, order_id BIGINT, amount DECIMAL(10, 2), event_time TIMESTAMP(3))",
}
"""`CREATE TABLE x (...)` of the documents."""

UNFENCED: list[tuple[str, str, str, str]] = [
    # document, text as it stands there, scene, outcome
    ("001", "CREATE TABLE MyTable (\nproduct_id BIGINT,\nprice DOUBLE,\nsales BIGINT,\nPRIMARY KEY (product_id) NOT ENFORCED\n) WITH (\n"
     "'merge-engine' = 'aggregation',\n'fields.price.aggregate-function' = 'max',\n'fields.sales.aggregate-function' = 'sum'\n);", "", "ran"),
    ("001", "CREATE TEMPORARY TABLE paimon_table (\nid BIGINT,\ndata STRING,\nPRIMARY KEY (id) NOT ENFORCED\n) WITH (\n'connector' = 'paimon',\n"
     "'path' = '<path-to-paimon-table-files>',\n'auto-create'='true' -- If no Apache Paimon table file exists in the specified path, a file is "
     "automatically created.\n);", "", "ran"),
    ("003", "SET 'execution.checkpointing.interval' = '10 s';", "", "ran"),
    ("003", "INSERT INTO word_count SELECT word, COUNT(*) FROM word_table GROUP BY word;", "word source", "waits"),
    ("003", "SET 'sql-client.execution.result-mode' = 'tableau';", "", "ran"),
    ("003", "RESET 'execution.checkpointing.interval';\nSET 'execution.runtime-mode' = 'batch';", "", "ran"),
    ("003", "SELECT * FROM word_count;", "counts", "ran"),
    ("003", "SET 'execution.runtime-mode' = 'streaming';", "", "ran"),
    ("003", "SELECT `interval`, COUNT(*) AS interval_cnt FROM\n    (SELECT cnt / 10000 AS `interval` FROM word_count) GROUP BY `interval`;", "counts", "ran"),
    ("003", "-- DROP TABLE word_count;", "counts", "ran"),
    ("003", "SET 'paimon.mycatalog.default.T.scan.timestamp-millis' = '1697018249000';", "", "ran"),
    ("003", "SET 'paimon.*.default.T.scan.timestamp-millis' = '1697018249000';", "", "ran"),
    ("003", "CALL sys.compact('default.t', '', '', '', 'sink.parallelism=4')", "T as t", "ran"),
    ("003", "CALL sys.compact('default.T', 'p=0', 'zorder', 'a,b', 'sink.parallelism=4')", "T", "ran"),
    ("003", "CALL sys.compact_database('db1|db2', 'combined', 'table_.*', 'ignore', 'sink.parallelism=4')", "T", "ran"),
    ("003", "CALL sys.create_tag('default.T', 'my_tag', 10)", "T long", "ran"),
    ("003", "CALL sys.delete_tag('default.T', 'my_tag')", "T tagged", "ran"),
    ("003", "CALL sys.merge_into('default.T', '', '', 'default.S', 'T.id=S.order_id', '', 'price=T.price+20', '', '*')", "T and S", "ran"),
    ("003", "CALL remove_orphan_files('default.T', '2023-10-31 12:00:00')", "T", "ran"),
    ("003", "CALL sys.reset_consumer('default.T', 'myid', 10)", "T long", "ran"),
    ("003", "CALL sys.rollback_to('default.T', 10)", "T long", "ran"),
    ("003", "CALL sys.expire_snapshots('default.T', 2)", "T long", "ran"),
]  # fmt: skip
SCENES["T as t"] = SCENES["T"].replace(" T ", " t ")
