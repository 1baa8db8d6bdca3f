"""Streams of tables that real Flink wrote: the rows and kinds that Flink itself streams from them, mode by mode."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from golden_tables import unpack
from sampling import sampled

from paimon_nb import open_table

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from record_flink import TABLES, modes, times_of  # noqa: E402

ANSWERS = json.loads((HERE / "flink_answers.json").read_text())


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("flink")
    unpack(HERE / "flink_tables.tar.xz", where)
    return where


@pytest.mark.parametrize("name", sampled(TABLES, 3))
def test_each_mode_gives_what_flink_gives(warehouse: Path, name: str) -> None:
    partitioned = "PARTITIONED" in TABLES[name][1]
    wrong = {}
    for mode, options in modes(name, times_of(warehouse, name)).items():
        stream = open_table(str(warehouse / "d.db" / name)).stream(options, idle_s=0)
        ours = [list(row.values()) for batch in stream for row in batch.rows.to_pylist()]
        flinks = ANSWERS[name][mode]
        # Flink reads buckets side by side: the order counts within a key.
        by_key = lambda rows: sorted(rows, key=lambda r: (r[1], r[3] if partitioned else ""))  # noqa: E731
        if by_key(ours) != by_key(flinks):
            wrong[mode] = {"ours": by_key(ours), "flink": by_key(flinks)}
    assert wrong == {}


def test_every_way_to_begin_was_recorded(warehouse: Path) -> None:
    assert ANSWERS.keys() == TABLES.keys()
    for name in TABLES:
        assert ANSWERS[name].keys() == modes(name, times_of(warehouse, name)).keys()


def test_partitions_come_in_order_when_asked(warehouse: Path) -> None:
    table = open_table(str(warehouse / "d.db" / "append_parts"))
    (batch,) = table.stream({"scan.plan-sort-partition": "true"}, idle_s=0)
    partitions = batch.rows.column("p").to_pylist()
    assert partitions == sorted(partitions)
