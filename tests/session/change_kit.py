"""Tables of every kind that takes UPDATE and DELETE, and a script whose rows sqlite can tell."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

COLUMNS = "id INT, v STRING, n INT, p STRING"
KINDS: dict[str, str] = {
    # key tables: retractions and upserts
    "key_b2": "PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2'",
    "key_dynamic": "PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '-1'",
    "key_parts": "PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p) WITH ('bucket' = '1'",
    "key_cross": "PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (p) WITH ('bucket' = '-1'",
    "key_dv": "PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true'",
    "key_lookup": "PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'lookup'",
    "key_input": "PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'input'",
    "key_orc": "PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'file.format' = 'orc', 'write-only' = 'true'",
    # tables without keys: files written anew
    "plain": ") WITH ('bucket' = '-1'",
    "plain_parts": ") PARTITIONED BY (p) WITH ('bucket' = '-1'",
    "plain_b2": ") WITH ('bucket' = '2', 'bucket-key' = 'id'",
    "plain_orc": ") WITH ('file.format' = 'orc'",
    "plain_avro": ") WITH ('file.format' = 'avro'",
    # ... or rows marked
    "marked": ") WITH ('deletion-vectors.enabled' = 'true'",
    "marked_parts": ") PARTITIONED BY (p) WITH ('deletion-vectors.enabled' = 'true', 'deletion-vectors.bitmap64' = 'true'",
    "marked_b2": ") WITH ('bucket' = '2', 'bucket-key' = 'id', 'deletion-vectors.enabled' = 'true'",
}

UPDATED = ("key_cross",)
"""Kinds that every run holds to `SCRIPT`. All are in the long run."""
MERGED = ("key_lookup",)
"""Kinds that every run holds to MERGE INTO (`test_merge.py`): others, whatever they have in common is asked once."""


def create(name: str, kind: str) -> str:
    rest = KINDS[kind]
    return f"CREATE TABLE {name} ({COLUMNS}{', ' if rest.startswith('P') else ''}{rest})"


def values(ids: Iterable[int]) -> str:
    rows = [
        f"({i}, {'CAST(NULL AS STRING)' if i % 5 == 0 else repr('v' + str(i))}, "
        f"{'CAST(NULL AS INT)' if i % 7 == 0 else i * 10}, '{'abc'[i % 3]}')"
        for i in ids
    ]
    return ", ".join(rows)


SOURCE = ["CREATE TABLE s (id INT, n INT)", "INSERT INTO s VALUES (3, 1000), (16, 2000), (99, 3000)"]
SCRIPT = [
    f"INSERT INTO t VALUES {values(range(1, 25))}",
    f"INSERT INTO t VALUES {values(range(25, 41))}",
    "UPDATE t SET n = n + 1 WHERE id < 10",
    "UPDATE t SET v = 'u2', n = NULL WHERE n % 3 = 0",
    "DELETE FROM t WHERE id IN (SELECT id FROM s)",
    "UPDATE t SET v = NULL WHERE v = 'u2' AND id > 20",
    f"INSERT INTO t VALUES {values(range(41, 50))}",
    "UPDATE t SET n = (SELECT MAX(n) FROM s), v = 'sub' WHERE id = 31 OR id = 45",
    "DELETE FROM t WHERE n IS NULL AND id < 15",
    "DELETE FROM t WHERE v <> 'u2' AND n > 300 AND n < 400",
    "UPDATE t SET n = -id WHERE p = 'c'",
    "DELETE FROM t WHERE p = 'b'",
    "UPDATE t SET v = 'last' WHERE id < 0",
    "DELETE FROM t WHERE id < 0",
    "UPDATE t SET n = CASE WHEN n IS NULL THEN 0 ELSE n + 1 END",
]
MERGE = """MERGE INTO t USING (SELECT id, n FROM s UNION ALL SELECT 45, 5) AS y ON t.id = y.id
    WHEN MATCHED AND y.n > 1000 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 'merged', n = y.n
    WHEN NOT MATCHED THEN INSERT (id, v, n, p) VALUES (y.id, 'new', y.n, 'a') WHEN NOT MATCHED BY SOURCE AND t.id = 41 THEN DELETE"""
AS_SQLITE = [
    "DELETE FROM t WHERE id = 41",
    "INSERT INTO t SELECT id, 'new', n, 'a' FROM s WHERE id NOT IN (SELECT id FROM t)",
    "UPDATE t SET v = 'merged', n = 5 WHERE id = 45",
]
"""The same as MERGE above, for the rows that SCRIPT leaves: none of them is in s."""


class Mirror:
    """The same statements in sqlite."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE TABLE t (id INT, v TEXT, n INT, p TEXT)")
        for text in SOURCE:
            self.run(text)

    def run(self, text: str) -> None:
        self.db.execute(text.replace("AS STRING", "AS TEXT"))

    def rows(self) -> list[tuple]:
        return sorted(self.db.execute("SELECT id, v, n, p FROM t").fetchall(), key=repr)
