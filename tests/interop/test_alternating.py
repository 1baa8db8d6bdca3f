"""Two hands on one table: real Flink and we commit in turn, and both read the same rows in the end."""

from __future__ import annotations

import pyarrow as pa
import pytest

import paimon_nb

pytestmark = pytest.mark.java

TABLES = {
    "append": "CREATE TABLE {t} (id INT, v STRING, who STRING)",
    "keyed": "CREATE TABLE {t} (id INT, v STRING, who STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')",
    "parted": (
        "CREATE TABLE {t} (id INT, v STRING, who STRING, PRIMARY KEY (id, who) NOT ENFORCED) PARTITIONED BY (who)"
        " WITH ('bucket' = '1', 'merge-engine' = 'partial-update')"
    ),
    "dynamical": "CREATE TABLE {t} (id INT, v STRING, who STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '-1')",
    "lookup": (
        "CREATE TABLE {t} (id INT, v STRING, who STRING, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('bucket' = '1', 'changelog-producer' = 'lookup')"
    ),
    "vectors": (
        "CREATE TABLE {t} (id INT, v STRING, who STRING, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true')"
    ),
}  # fmt: skip


def batch(turn: int, who: str) -> list[tuple[int, str | None, str]]:
    """Keys that overlap the other hand's: each commit changes some old rows and brings some new ones."""
    return [(i, None if i % 5 == turn else f"{who}{turn}", who) for i in range(3 * turn, 3 * turn + 8)]


def expected(name: str, batches: list[list[tuple[int, str | None, str]]]) -> list[tuple]:
    rows = [row for rows in batches for row in rows]
    if name == "append":
        return sorted(rows, key=str)
    found: dict[tuple, tuple] = {}
    for i, v, who in rows:
        key = (i, who) if name == "parted" else (i,)
        old = found.get(key)
        found[key] = (i, old[1] if name == "parted" and old and v is None else v, who)
    return sorted(found.values(), key=str)


def inserts(rows: list[tuple[int, str | None, str]]) -> list[str]:
    values = ", ".join(f"({i}, {'CAST(NULL AS STRING)' if v is None else repr(v)}, '{who}')" for i, v, who in rows)
    return [f"INSERT INTO {name} VALUES {values}" for name in TABLES]


def add(wb: paimon_nb.Workbench, rows: list[tuple[int, str | None, str]]) -> None:
    columns = list(zip(*rows, strict=True))
    ours = pa.table({"id": pa.array(columns[0], pa.int32()), "v": columns[1], "who": columns[2]})
    for name in TABLES:
        table = wb.table(f"d.{name}")
        (table.append if name == "append" else table.upsert)(ours)


@pytest.mark.nightly
@pytest.mark.parametrize("turns", [1, 5])
def test_both_commit_in_turn(flink, tmp_path, turns):
    """Flink makes the tables, has the first word and the last; each of ours comes after one of its commits."""
    warehouse = tmp_path / "w"
    wb, batches = paimon_nb.connect(str(warehouse)), [batch(i, ("flink", "us")[i % 2]) for i in range(2 * turns + 1)]
    for statement in (
        f"CREATE CATALOG turns WITH ('type' = 'paimon', 'warehouse' = '{warehouse}')", "USE CATALOG turns", "CREATE DATABASE d", "USE d",
        *(ddl.format(t=name) for name, ddl in TABLES.items()),
    ):  # fmt: skip
        flink.ask(statement)
    for turn in range(turns):
        for statement in inserts(batches[2 * turn]):
            flink.ask(statement)
        add(wb, batches[2 * turn + 1])
    for statement in inserts(batches[-1]):
        flink.ask(statement)
    for name in TABLES:
        java = sorted(map(tuple, flink.ask(f"SELECT id, v, who FROM {name}")), key=str)
        us = sorted(((r["id"], r["v"], r["who"]) for r in wb.table(f"d.{name}").to_arrow().to_pylist()), key=str)
        assert (name, java) == (name, expected(name, batches))
        assert (name, us) == (name, java)
        kinds = [s["commit_kind"] for s in wb.table(f"d.{name}").snapshots().to_pylist()]
        assert kinds.count("APPEND") == len(batches)
