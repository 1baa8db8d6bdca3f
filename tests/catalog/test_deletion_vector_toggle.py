"""Deletion vectors switched on or off over old files: refused until it cannot be seen, and then nothing is."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import FixedOption

ON = "ALTER TABLE t SET ('deletion-vectors.enabled' = 'true')"
OFF = "ALTER TABLE t SET ('deletion-vectors.enabled' = 'false')"
COMPACT = "CALL sys.compact(`table` => 't', compact_strategy => 'full')"
MANY = 20_000
"""Enough rows that small runs are not merged with the large one."""


def upsert(wb: paimon_nb.Workbench, keys: list[int], value: str) -> None:
    wb.table("t").upsert(pa.table({"k": pa.array(keys, pa.int32()), "v": [value] * len(keys)}))


def state(wb: paimon_nb.Workbench) -> dict[int, str]:
    rows = wb.table("t").to_arrow().to_pylist()
    assert max(Counter(r["k"] for r in rows).values()) == 1, "a key came twice"
    return {r["k"]: r["v"] for r in rows}


@pytest.fixture
def wb() -> paimon_nb.Workbench:
    return paimon_nb.connect("memory:/switched")


def made(wb: paimon_nb.Workbench, keys: bool = True, **options: str) -> None:
    inputs = {"bucket": "1" if keys else "-1", "num-sorted-run.compaction-trigger": "3", **options}
    text = ", ".join(f"'{k}' = '{v}'" for k, v in inputs.items())
    wb.run(
        f"DROP TABLE IF EXISTS t; CREATE TABLE t (k INT, v STRING{', PRIMARY KEY (k) NOT ENFORCED' * keys}) WITH ({text})"
    )


def test_switched_on_over_several_levels(wb: paimon_nb.Workbench) -> None:
    made(wb)
    upsert(wb, list(range(MANY)), "old")
    wb.run(COMPACT)
    for i in range(7):
        upsert(wb, [1, 2, 3 + i], f"new{i}")
    before = state(wb)
    levels = {f["level"] for f in wb.table("t").files().to_pylist()}
    assert len(levels) > 1
    with pytest.raises(FixedOption, match="bucket 0 has unmerged files on level") as refused:
        wb.run(ON)
    assert "sys.compact" in (refused.value.hint or "")
    assert state(wb) == before
    wb.run(f"{COMPACT}; {ON}")
    assert state(wb) == before
    upsert(wb, [1, MANY], "newest")
    wb.run(COMPACT)
    assert state(wb) == before | {1: "newest", MANY: "newest"}


def test_switched_on_over_level_0(wb: paimon_nb.Workbench) -> None:
    """Rows there would be out of sight until the next compaction."""
    made(wb, **{"write-only": "true"})
    upsert(wb, [1, 2], "a")
    with pytest.raises(FixedOption, match="files on level 0"):
        wb.run(ON)
    assert state(wb) == {1: "a", 2: "a"}


def test_switched_off_over_marks(wb: paimon_nb.Workbench) -> None:
    made(wb, **{"deletion-vectors.enabled": "true"})
    upsert(wb, list(range(MANY)), "old")
    wb.run(COMPACT)
    upsert(wb, [1], "new")
    wb.table("t").delete("k = 5")
    before = state(wb)
    with pytest.raises(FixedOption, match="only marked as deleted"):
        wb.run(OFF)
    with pytest.raises(FixedOption, match="only marked as deleted"):
        wb.run("ALTER TABLE t RESET ('deletion-vectors.enabled')")
    assert state(wb) == before
    assert 5 not in before
    wb.run(f"{COMPACT}; {OFF}")
    assert state(wb) == before


@pytest.mark.parametrize("keys", [True, False])
def test_an_empty_table_and_one_without_keys(wb: paimon_nb.Workbench, keys: bool) -> None:
    made(wb, keys)
    if not keys:
        wb.table("t").append(pa.table({"k": pa.array([1, 2], pa.int32()), "v": ["a", "b"]}))
    wb.run(ON)
    assert wb.table("t").options.raw["deletion-vectors.enabled"] == "true"
    assert wb.table("t").to_arrow().num_rows == (0 if keys else 2)
