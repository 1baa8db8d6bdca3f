"""Records what real Flink streams from tables that it wrote: the warehouse and the answers beside this file.

    python tests/table/read/stream/record_flink.py ORACLE_FOLDER

Needs the Java oracle (real Flink and Paimon). Every table is read in all modes by one streaming job; row kinds are kept,
and the sources of key tables without changelog producer run with `scan.remove-normalize`, which shows what the table gives.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE = Path(__file__).parent
KEYED = "k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED"
CHANGES = [
    "INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')", "INSERT INTO {t} VALUES (2, 'B'), (4, 'd')", "DELETE FROM {t} WHERE k = 1",
    "UPDATE {t} SET v = 'cc' WHERE k = 3", "CALL sys.compact('d.{t}')", "INSERT INTO {t} VALUES (1, 'again'), (5, 'e')",
]  # fmt: skip
ADDS = ["INSERT INTO {t} VALUES (1, 'a'), (2, 'b')", "INSERT INTO {t} VALUES (2, 'B'), (3, 'c')", "INSERT INTO {t} VALUES (1, 'A'), (4, 'd')"]  # fmt: skip
PARTITIONED = [
    "INSERT INTO {t} VALUES (1, 'a', 'x'), (2, 'b', 'y')", "INSERT INTO {t} VALUES (1, 'aa', 'x'), (3, 'c', 'z')",
    "INSERT OVERWRITE {t} PARTITION (p = 'x') VALUES (7, 'new'), (1, 'kept')", "INSERT INTO {t} VALUES (2, 'bb', 'y'), (9, 'i', 'a')",
]  # fmt: skip
BY_PARTITION = "k INT, v STRING, p STRING, PRIMARY KEY (k, p) NOT ENFORCED"
NUMBERS = ["INSERT INTO {t} VALUES (1, 10, 1), (2, 20, 2)", "INSERT INTO {t} VALUES (1, 5, CAST(NULL AS INT)), (3, 1, 1)", "INSERT INTO {t} VALUES (2, 1, 9), (1, 1, 1)"]  # fmt: skip
TABLES: dict[str, tuple[str, str, dict[str, str], list[str]]] = {
    "none": (KEYED, "", {}, CHANGES),
    "input": (KEYED, "", {"changelog-producer": "input"}, CHANGES),
    "lookup": (KEYED, "", {"changelog-producer": "lookup"}, CHANGES),
    "full": (KEYED, "", {"changelog-producer": "full-compaction", "full-compaction.delta-commits": "2"}, CHANGES),
    "lookup_wide": (KEYED, "", {"changelog-producer": "lookup", "bucket": "3"}, CHANGES),
    "vectors": (KEYED, "", {"deletion-vectors.enabled": "true"}, CHANGES),
    "vectors_lookup": (KEYED, "", {"deletion-vectors.enabled": "true", "changelog-producer": "lookup"}, CHANGES),
    "first_row": (KEYED, "", {"merge-engine": "first-row", "changelog-producer": "lookup"}, ADDS),
    "dynamic": (KEYED, "", {"bucket": "-1"}, CHANGES),
    "sums": (
        "k INT, a INT, b INT, PRIMARY KEY (k) NOT ENFORCED", "",
        {"merge-engine": "aggregation", "changelog-producer": "lookup", "fields.a.aggregate-function": "sum", "fields.b.aggregate-function": "max"},
        NUMBERS,
    ),
    "partial": (
        "k INT, a INT, b INT, PRIMARY KEY (k) NOT ENFORCED", "",
        {"merge-engine": "partial-update", "changelog-producer": "full-compaction"}, NUMBERS,
    ),
    "append": ("k INT, v STRING", "", {"bucket": "-1"}, ADDS),
    "append_buckets": ("k INT, v STRING", "", {"bucket": "2", "bucket-key": "k"}, ADDS),
    "parts": (BY_PARTITION, "PARTITIONED BY (p)", {}, PARTITIONED),
    "parts_input": (BY_PARTITION, "PARTITIONED BY (p)", {"changelog-producer": "input"}, PARTITIONED),
    "append_parts": ("k INT, v STRING, p STRING", "PARTITIONED BY (p)", {"bucket": "-1"}, PARTITIONED),
    "postponed": (KEYED, "", {"bucket": "-2"}, ADDS),
}  # fmt: skip


def writing() -> str:
    lines = ["CREATE CATALOG c WITH ('type' = 'paimon', 'warehouse' = '{warehouse}');", "CREATE DATABASE c.d;", "USE CATALOG c;", "USE d;"]  # fmt: skip
    for name, (columns, tail, options, statements) in TABLES.items():
        given = {"bucket": "1"} | options
        texts = ", ".join(f"'{k}' = '{v}'" for k, v in given.items())
        lines.append(f"CREATE TABLE `{name}` ({columns}) {tail} WITH ({texts});")
        lines += [s.format(t=f"`{name}`" if "CALL" not in s else name) + ";" for s in statements]
    return "\n".join(lines)


def modes(table: str, times: dict[int, int]) -> dict[str, dict[str, str]]:
    """Every way to begin, by a name for it. times: snapshot id -> commit time."""
    columns, _, options, _ = TABLES[table]
    shows = (
        {"streaming-read-append-overwrite": "true"} if "KEY" not in columns
        else {} if options.get("changelog-producer") in ("lookup", "full-compaction")
        else {"streaming-read-overwrite": "true"}
    )  # fmt: skip
    last = max(times)
    middle = sorted(times)[len(times) // 2]
    return {
        "default": {},
        "latest-full": {"scan.mode": "latest-full"},
        "latest": {"scan.mode": "latest"},
        "compacted-full": {"scan.mode": "compacted-full"},
        "from-snapshot-1": {"scan.snapshot-id": "1"},
        "from-snapshot-middle": {"scan.mode": "from-snapshot", "scan.snapshot-id": str(middle)},
        "from-snapshot-after": {"scan.snapshot-id": str(last + 1)},
        "from-snapshot-full-2": {"scan.mode": "from-snapshot-full", "scan.snapshot-id": "2"},
        "from-timestamp-0": {"scan.timestamp-millis": "0"},
        "from-timestamp-middle": {"scan.timestamp-millis": str(times[middle])},
        "from-timestamp-late": {"scan.timestamp-millis": str(times[last] + 1)},
        "from-file-creation-time": {"scan.file-creation-time-millis": str(times[middle])},
        "from-creation-timestamp": {"scan.creation-time-millis": str(times[middle])},
        "from-creation-timestamp-0": {"scan.creation-time-millis": "0"},
        "overwrites-1": {"scan.snapshot-id": "1", **shows},
        "partitions-sorted": {"scan.plan-sort-partition": "true"},
    }  # fmt: skip


def times_of(warehouse: Path, table: str) -> dict[int, int]:
    found = {}
    for path in (warehouse / "d.db" / table / "snapshot").glob("snapshot-*"):
        snapshot = json.loads(path.read_text())
        found[snapshot["id"]] = snapshot["timeMillis"]
    return found


def asking(warehouse: Path, names: Iterable[str] = TABLES) -> str:
    lines = ["CREATE CATALOG c WITH ('type' = 'paimon', 'warehouse' = '{warehouse}');", "USE CATALOG c;", "USE d;",
             "SET 'execution.runtime-mode' = 'streaming';"]  # fmt: skip
    for name in names:
        parts = []
        for mode, options in modes(name, times_of(warehouse, name)).items():
            given = {"scan.remove-normalize": "true", "continuous.discovery-interval": "200 ms"} | options
            hint = ", ".join(f"'{k}' = '{v}'" for k, v in given.items())
            parts.append(f"SELECT '{mode}' AS m, * FROM `{name}` /*+ OPTIONS({hint}) */")
        lines += [f"-- @q {name}", " UNION ALL ".join(parts) + ";"]
    return "\n".join(lines)


def main(oracle: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        warehouse = work / "w"

        def run(text: str, *more: str) -> None:
            script = work / "run.sql"
            script.write_text(text.replace("{warehouse}", str(warehouse)))
            subprocess.run([str(oracle / "run_flink_sql.sh"), *more, str(script)], check=True)

        run(writing())
        run(asking(warehouse), "--out", str(work / "out"), "--timeout-s", "9")
        answers: dict[str, dict[str, list[list[object]]]] = {}
        for name in TABLES:
            by_mode: dict[str, list[list[object]]] = {m: [] for m in modes(name, times_of(warehouse, name))}
            for line in (work / "out" / f"{name}.jsonl").read_text().splitlines():
                row = json.loads(line)
                by_mode[row.pop("m")].append(list(row.values()))
            answers[name] = by_mode
        text = json.dumps(answers, indent=None, separators=(",", ":"), ensure_ascii=False).replace('},"', '},\n"')
        (HERE / "flink_answers.json").write_text(text + "\n")
        with tarfile.open(HERE / "flink_tables.tar.xz", "w:xz") as archive:
            archive.add(warehouse / "d.db", "d.db")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
