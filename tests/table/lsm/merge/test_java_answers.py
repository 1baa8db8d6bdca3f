"""Our engines against real Java: the same batches through the public `Table`, the same rows and the same changes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from merge_case import Case, arrow_rows, comparable, told
from merge_cases import CASES
from sampling import sampled

import paimon_nb
from paimon_nb.format.types import Array, DataType, VarChar

if TYPE_CHECKING:
    import pyarrow as pa

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden.json").read_text())
ALL_TIME = {"incremental-between-timestamp": "0,9999999999999"}
LOGS = [c for c in CASES if c.log]
OVERFLOWS = (
    "sum_tinyint_wraps", "sum_smallint_wraps", "sum_int_wraps", "sum_bigint_wraps", "sum_tinyint_retract_wraps",
    "sum_tinyint_retract_least", "product_tinyint_wraps", "product_int_wraps", "product_bigint_wraps",
    "product_tinyint_retract",
)  # fmt: skip
"""The recorded answers of 1.3.1 wrap around; Java 2.1 raises ArithmeticException."""
NEWER_ROWS: dict[str, list[dict[str, Any]]] = {
    "nested_update_key_once": [{"k": 1, "v": [{"id": 2, "v": "b"}]}],
    "nested_update_key_limit": [{"k": 1, "v": [{"id": 7, "v": "c"}, {"id": 2, "v": "AA"}]}],
    "nested_update_limit_one": [{"k": 1, "v": [{"id": 1, "v": "a"}]}],
    "max_boolean": [{"k": 1, "v": True}],
    "listagg": [{"k": 1, "v": "a,b,c"}],
    "listagg_first_empty": [{"k": 1, "v": "b"}],
}
"""Rows of Java 2.1 where 1.3.1 has others: `count-limit` stops new nested keys only, BOOLEAN has an order, blank texts are left out."""


def written(case: Case, place: Path) -> paimon_nb.Table:
    """The case's table with all its batches."""
    workbench = paimon_nb.connect(str(place))
    columns = ", ".join(f"`{n}` {t}" for n, t in case.columns.items())
    keys = ", ".join(f"`{k}`" for k in case.keys)
    options = ", ".join(f"'{k}' = '{v}'" for k, v in case.table_options.items())
    workbench.run("CREATE DATABASE IF NOT EXISTS d")
    workbench.run(f"CREATE TABLE d.{case.name} ({columns}, PRIMARY KEY ({keys}) NOT ENFORCED) WITH ({options})")
    table = workbench.table(f"d.{case.name}")
    for rows in case.batches:
        table.upsert(arrow_rows(case, rows))
    return table


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse for cases whose changes are asked for: three tests only read what one wrote."""
    return tmp_path_factory.mktemp("logs")


def kept(case: Case, place: Path) -> paimon_nb.Table:
    known = place / "d.db" / case.name
    return paimon_nb.open_table(str(known)) if known.exists() else written(case, place)


def ours(rows: pa.Table, types: dict[str, DataType]) -> list[dict[str, Any]]:
    return [{n: comparable(v, types[n]) for n, v in row.items()} for row in rows.to_pylist()]


def java(rows: list[dict[str, Any]], types: dict[str, DataType]) -> list[dict[str, Any]]:
    return [{n: told(v, types[n]) for n, v in row.items()} for row in rows]


@pytest.mark.parametrize("case", sampled(CASES, 3), ids=lambda c: c.name)
def test_rows(case: Case, tmp_path: Path, place: Path) -> None:
    if "sketch" in case.name:
        pytest.importorskip("_datasketches")
    if case.name in OVERFLOWS:
        with pytest.raises(paimon_nb.NumberOverflow, match="does not fit") as overflow:
            written(case, tmp_path).to_arrow()
        assert overflow.value.column == "v"
        return
    if case.fails and case.name not in NEWER_ROWS:
        assert "refused" in GOLDEN[case.name]
        with pytest.raises(paimon_nb.PaimonError) as refusal:
            written(case, tmp_path).to_arrow()
        assert refusal.value.hint
        return
    table, expected = (
        kept(case, place) if case.log else written(case, tmp_path),
        NEWER_ROWS.get(case.name) or java(GOLDEN[case.name]["rows"], case.types),
    )
    found = ours(table.to_arrow(), case.types)
    if case.merged_on_read:
        assert found == expected
    else:
        assert bag(found) == bag(expected)
        if case.options.get("changelog-producer") == "full-compaction":  # elsewhere file sizes decide about levels
            files = table.files().select(["level", "record_count"]).to_pylist()
            assert files == GOLDEN[case.name]["levels"]


@pytest.mark.parametrize("case", sampled(LOGS, 3), ids=lambda c: c.name)
def test_changes(case: Case, place: Path) -> None:
    table = kept(case, place)
    types = {"rowkind": VarChar(), **case.types}
    expected = java(GOLDEN[case.name]["audit"], types)
    assert bag(ours(table.system("audit_log", options=ALL_TIME), types)) == bag(expected)
    # Java plans the commits of one bucket in no fixed order; inside a commit the order is fixed.
    for snapshot in range(1, table.latest_snapshot().id + 1):
        between = {"incremental-between": f"{snapshot - 1},{snapshot}"}
        assert_stretch(ours(table.system("audit_log", options=between), types), expected)


@pytest.mark.parametrize("case", sampled(LOGS, 3), ids=lambda c: c.name)
def test_packed_changes(case: Case, place: Path) -> None:
    types = {"rowkind": VarChar(), **{n: Array(t) for n, t in case.types.items()}}
    table = kept(case, place)
    assert bag(ours(table.system("binlog", options=ALL_TIME), types)) == bag(java(GOLDEN[case.name]["binlog"], types))


def bag(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(map(repr, rows))


def assert_stretch(part: list[dict[str, Any]], whole: list[dict[str, Any]]) -> None:
    """`part` stands somewhere in `whole`, in its order and without gaps."""
    stretches = (whole[i : i + len(part)] for i in range(len(whole) - len(part) + 1))
    assert any(part == stretch for stretch in stretches), part
