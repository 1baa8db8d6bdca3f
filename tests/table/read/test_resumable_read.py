"""A read that stopped continues in its snapshot: each row once, although the table was written to meanwhile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue
from paimon_nb.table.read.query import TableQuery
from paimon_nb.table.read.resumable_read import ResumableRead

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS = pa.table({"id": range(40), "p": [i % 4 for i in range(40)]})


@pytest.fixture
def t(tmp_path: Path) -> Iterator[paimon_nb.Table]:
    """Four splits of ten rows."""
    with paimon_nb.connect(str(tmp_path)) as wb:
        yield wb.create_table("t", ROWS, primary_key=["id", "p"], partition_by="p")


def opened(query: TableQuery) -> ResumableRead:
    return ResumableRead(query, query._plan_scan(), 4)


def ids(batches: list[pa.RecordBatch]) -> list[int]:
    return [i for batch in batches for i in batch.column("id").to_pylist()]


@pytest.mark.parametrize("limit", [None, 25])
@pytest.mark.parametrize("stop", [0, 1, 3, 5, 7, 12])
def test_a_read_that_stopped_continues_with_each_row_once(t: paimon_nb.Table, stop: int, limit: int | None) -> None:
    query = TableQuery(t) if limit is None else t.limit(limit)
    whole = ids(list(opened(query).batches()))
    first = opened(query)
    taken = ids([batch for _, batch in zip(range(stop), first.batches(), strict=False)])
    state = json.loads(json.dumps(first.state_dict()))
    t.overwrite(pa.table({"id": range(100, 150), "p": [1] * 50}))
    second = opened(query)
    second.load_state_dict(state)
    assert second.state_dict() == state
    assert taken + ids(list(second.batches())) == whole
    assert ids(list(second.batches())) == whole  # the next epoch


def test_readers_share_the_splits_and_keep_their_number(t: paimon_nb.Table) -> None:
    query = TableQuery(t)
    first = opened(query)
    batches = first.batches(1, 2)
    taken = ids([next(batches)])
    second = opened(query)
    second.load_state_dict(first.state_dict())
    with pytest.raises(BadOptionValue, match="the state is that of 2 readers, and 3 read now"):
        list(second.batches(0, 3))
    second.load_state_dict(first.state_dict())
    rest = [*second.batches(1, 2), *opened(query).batches(0, 2)]
    assert sorted(taken + ids(rest)) == list(range(40))
    with pytest.raises(BadOptionValue, match="is not the state of a read"):
        second.load_state_dict({"snapshot": 1})


@pytest.mark.nightly
def test_a_dataset_of_torch_continues(t: paimon_nb.Table) -> None:
    pytest.importorskip("torch")
    first = t.to_torch(batch_rows=4)
    batches = iter(first)
    taken = [int(i) for _ in range(3) for i in next(batches)["id"]]
    t.overwrite(pa.table({"id": [100], "p": [1]}))
    second = t.to_torch(batch_rows=4)
    second.load_state_dict(first.state_dict())
    assert sorted(taken + [int(i) for batch in second for i in batch["id"]]) == list(range(40))
