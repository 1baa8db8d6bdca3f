"""A planned read as a dataset of PyTorch. Imports torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import torch
from torch.utils.data import IterableDataset, get_worker_info

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.table.scan import ScanPlan, Split

    class PlannedQuery(Protocol):
        """What a dataset needs of a query."""

        def batches_of(self, plan: ScanPlan, splits: Sequence[Split], batch_rows: int) -> Iterator[pa.RecordBatch]: ...


class _PlannedRows(IterableDataset):  # type: ignore[misc]
    """The rows of a plan; a worker of a `DataLoader` reads every n-th split."""

    def __init__(self, query: PlannedQuery, plan: ScanPlan, batch_rows: int) -> None:
        self.query, self.plan, self.batch_rows = query, plan, batch_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = get_worker_info()
        first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        for batch in self.query.batches_of(self.plan, self.plan.splits[first::step], self.batch_rows):
            yield {name: _tensor_or_list(batch.column(name)) for name in batch.schema.names}


def torch_dataset(query: PlannedQuery, plan: ScanPlan, batch_rows: int) -> IterableDataset:
    """The dataset of `PlannedQuery.to_torch`."""
    return _PlannedRows(query, plan, batch_rows)


def _tensor_or_list(column: pa.Array) -> Any:
    t = column.type
    if column.null_count or not (pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_boolean(t)):
        return column.to_pylist()
    return torch.from_numpy(column.to_numpy(zero_copy_only=False).copy())
