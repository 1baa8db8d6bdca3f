"""Global indexes that pypaimon 2.1.0 and we build on one table: each of us finds by them what the other indexed."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from peer_cases import EVOLVES
from peer_kit import Peers, as_sql
from sampling import sampled

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow  # other processes, in a venv that the first test makes

TYPES = {
    "id": ("INT", pa.int32(), lambda i: i),
    "big": ("BIGINT", pa.int64(), lambda i: (i * 7919 % 301 - 150) * 10**10),
    "small": ("SMALLINT", pa.int16(), lambda i: i % 7 - 3),
    "yes": ("BOOLEAN", pa.bool_(), lambda i: i % 3 == 0),
    "f": ("DOUBLE", pa.float64(), lambda i: (i * 31 % 211 - 100) / 4),
    "text": ("STRING", pa.string(), lambda i: f"{'äbc'[i % 3]}{i * 13 % 97}"),
    "day": ("DATE", pa.date32(), lambda i: dt.date(1960, 1, 1) + dt.timedelta(days=i * 37)),
    "ms": ("TIMESTAMP(3)", pa.timestamp("ms"), lambda i: dt.datetime(1969, 12, 31) + dt.timedelta(hours=i, milliseconds=5)),
    "us": ("TIMESTAMP(6)", pa.timestamp("us"), lambda i: dt.datetime(1969, 12, 31) + dt.timedelta(hours=i, microseconds=5)),
    "dec": ("DECIMAL(10, 2)", pa.decimal128(10, 2), lambda i: Decimal(i * 17 % 101 - 50) / 4),
    "wide": ("DECIMAL(30, 5)", pa.decimal128(30, 5), lambda i: Decimal((i * 17 % 101 - 50) * 10**15) / 4),
}  # fmt: skip
"""A column of each type: its SQL type, its Arrow type and its values."""
ROWS, LATER, NULLS = 300, 3, 11


def rows(first: int, count: int) -> pa.Table:
    ids = range(first, first + count)
    return pa.table(
        {
            name: pa.array([None if i % NULLS == 5 and name != "id" else value(i) for i in ids], t)
            for name, (_, t, value) in TYPES.items()
        }
    )


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> Iterator[tuple[Peers, paimon_nb.Workbench]]:
    """A table that we index, and one that pypaimon indexes, by kind; rows with newer and with deleted values, and later ones."""
    root = tmp_path_factory.mktemp("indexes")
    peers, wb = Peers(root), paimon_nb.connect(str(root))
    options = {**EVOLVES, "deletion-vectors.enabled": "true", "global-index.column-update-action": "IGNORE"}
    columns = ", ".join(f"{name} {sql}" for name, (sql, _, _) in TYPES.items())
    texts = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    for owner in ("ours", "theirs"):
        for kind in ("btree", "bitmap"):
            table = f"{owner}_{kind}"
            wb.run(f"CREATE TABLE {table} ({columns}) WITH ({texts})")
            for first in (0, 100):
                wb.table(table).append(rows(first, 100 if first == 0 else ROWS - 100))
            wb.table(table).delete("id = 7")
            for column in TYPES:
                if owner == "theirs":
                    peers.create_global_index(table, column, kind)
                else:
                    wb.run(f"CALL sys.create_global_index('{table}', '{column}', '{kind}')")
            wb.table(table).append(rows(ROWS, LATER))
    yield peers, wb
    peers.close()


def conditions(column: str) -> Iterator[tuple[str, str, list[Any]]]:
    value = TYPES[column][2]
    yield column, "equal", [value(9)]
    yield column, "is_in", [[value(9), value(20), value(ROWS + 1)]]
    if column != "yes":
        yield column, "greater_than", [value(20)]
        yield column, "less_or_equal", [value(20)]
    if column != "id":
        yield column, "is_null", []
    yield column, "is_not_null", []


def literal(value: Any) -> Any:
    """A value as SQL takes it: text for what has no literal of its own in `as_sql`."""
    if isinstance(value, list):
        return [literal(v) for v in value]
    return value if isinstance(value, int | float) else str(value)


@pytest.mark.parametrize("kind", ["btree", "bitmap"])
@pytest.mark.parametrize("column", sampled(TYPES, 4))
def test_what_they_indexed_is_found(both, column, kind):
    _, wb = both
    table = wb.table(f"theirs_{kind}")
    plain = table.copy({"global-index.enabled": "false"})
    for condition in conditions(column):
        where = as_sql((condition[0], condition[1], literal(condition[2])))
        plan = table.scan(where).plan
        assert not plan.splits or plan.skipped.stages[-1].name == f"rows by index of {column}"
        assert sorted(table.to_arrow(["id"], where).column(0).to_pylist()) == sorted(
            plain.to_arrow(["id"], where).column(0).to_pylist()
        ), where


@pytest.mark.parametrize("kind", ["btree", "bitmap"])
@pytest.mark.parametrize("column", sampled([c for c in TYPES if c not in ("day", "ms", "us", "dec", "wide")], 3))
def test_what_we_indexed_is_found(both, column, kind):
    """pypaimon leaves out the later rows, which no index covers: so it did read the index."""
    peers, wb = both
    name = f"ours_{kind}"
    for condition in conditions(column):
        expected = wb.table(name).copy({"global-index.enabled": "false"}).to_arrow(["id"], as_sql(condition))
        ids = sorted(expected.column(0).to_pylist())
        found = peers.read("pypaimon", name, ["id"], condition).column("id").to_pylist()
        assert sorted(found) == [i for i in ids if i < ROWS], condition
        complete = peers.read("pypaimon", name, ["id"], condition, **{"scalar-index.search-mode": "full"})
        assert sorted(complete.column("id").to_pylist()) == ids, condition


@pytest.mark.parametrize("kind", ["btree", "bitmap"])
def test_rust_finds_by_our_index(both, kind):
    peers, wb = both
    for column in ("id", "big", "text"):
        for condition in conditions(column):
            expected = wb.table(f"ours_{kind}").to_arrow(["id"], as_sql(condition)).column(0).to_pylist()
            found = peers.read("rust", f"ours_{kind}", ["id"], condition)
            ids = found.column("id").to_pylist() if found.num_rows else []
            assert sorted(ids) in (sorted(expected), sorted(i for i in expected if i < ROWS)), condition
