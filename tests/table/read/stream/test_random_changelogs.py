"""Two producers write random changes while a reader follows: each change that it gets fits the row before, and the end is exact."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from sampling import sampled

import paimon_nb

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.table.tables.table import Table

ROUNDS, KEYS, PARTITIONS = 8, 5, ("x", "y")
DELETION_VECTORS = {"deletion-vectors.enabled": "true"}
TABLES: dict[str, dict[str, str]] = {
    "none": {},
    "none, deletion vectors": DELETION_VECTORS,
    "full-compaction": {"changelog-producer": "full-compaction", "full-compaction.delta-commits": "3"},
    "full-compaction, own job": {"changelog-producer": "full-compaction", "write-only": "true"},
    "lookup": {"changelog-producer": "lookup"},
    "lookup, deletion vectors": {"changelog-producer": "lookup", **DELETION_VECTORS},
    "lookup, own job": {"changelog-producer": "lookup", "write-only": "true"},
}
Key = tuple[str, int]


class FollowedState:
    """What a reader of the stream knows."""

    def __init__(self, table: Table, *, upserts: bool) -> None:
        self._stream, self._upserts = table.stream(), upserts
        self.rows: dict[Key, int] = {}
        self._before: dict[Key, int] = {}
        """Rows between their -U and their +U."""

    def follow(self) -> None:
        """Apply what has come; `upserts`: the changes do not contain what they replace."""
        while (batch := self._stream.poll()) is not None:
            for row in batch.rows.to_pylist():
                kind, p, k, v = row.values()
                self._apply(kind, (p, k), v)

    def _apply(self, kind: str, key: Key, value: Any) -> None:
        if self._upserts:
            if kind == "-D":
                self.rows.pop(key, None)
            else:
                self.rows[key] = value
            return
        if kind == "+I":
            assert key not in self.rows, (kind, key)
            assert key not in self._before, (kind, key)
            self.rows[key] = value
        elif kind == "+U":
            assert self._before.pop(key, None) is not None, (kind, key)
            self.rows[key] = value
        else:
            assert self.rows.pop(key) == value, (kind, key)
            if kind == "-U":
                self._before[key] = value


def as_table(rows: dict[Key, int]) -> pa.Table:
    columns = {"p": [p for p, _ in rows], "k": pa.array([k for _, k in rows], pa.int32()), "v": list(rows.values())}
    return pa.table({**columns, "v": pa.array(columns["v"], pa.int64())})


def change(writer: Table, model: dict[Key, int], own_keys: range, draw: random.Random, number: int) -> None:
    """One commit of a producer: some upserts or some deletes of its own keys."""
    keys = sorted({(draw.choice(PARTITIONS), draw.choice(own_keys)) for _ in range(draw.randint(1, 6))})
    if draw.random() < 0.2:
        writer.delete(as_table(dict.fromkeys(keys, 0)).select(["p", "k"]))
        for key in keys:
            model.pop(key, None)
        return
    new = {key: number * 100 + draw.randrange(3) for key in keys}
    writer.upsert(as_table(new))
    model.update(new)


@pytest.mark.parametrize("name", sampled(TABLES, 4))
def test_a_reader_follows_two_producers(tmp_path: Path, name: str) -> None:
    options, draw = TABLES[name], random.Random(name)
    said = ", ".join(f"'{k}' = '{v}'" for k, v in {"bucket": "2", **options}.items())
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(
        f"CREATE TABLE t (p STRING, k INT, v BIGINT, PRIMARY KEY (p, k) NOT ENFORCED) PARTITIONED BY (p) WITH ({said})"
    )
    model: dict[Key, int] = {}
    readers: list[FollowedState] = []
    compactor = wb.table("t").copy({"write-only": "false"})
    producers = [(wb.table("t"), range(i * KEYS, (i + 1) * KEYS)) for i in range(2)]
    for number in range(ROUNDS):
        if number in (0, 5):  # one reads all changes, one begins with a state
            readers.append(FollowedState(wb.table("t"), upserts=name.startswith("none")))
        for writer, own_keys in producers:
            change(writer, model, own_keys, draw, number)
        if "own job" in name and draw.random() < 0.3:
            compactor.compact()
        for reader in readers:
            if draw.random() < 0.5:
                reader.follow()
    compactor.compact()
    found = {(r["p"], r["k"]): r["v"] for r in wb.table("t").to_arrow().to_pylist()}
    assert found == model
    for reader in readers:
        reader.follow()
        assert reader.rows == model
