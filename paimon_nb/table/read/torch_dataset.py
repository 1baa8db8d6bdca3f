"""A planned read as a dataset of PyTorch. Imports torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import torch
from torch.utils.data import IterableDataset, get_worker_info

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paimon_nb.table.read.resumable_read import ResumableRead


class _PlannedRows(IterableDataset):  # type: ignore[misc]
    """The rows of a plan; a worker of a `DataLoader` reads every n-th split."""

    def __init__(self, read: ResumableRead) -> None:
        self.read = read

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = get_worker_info()
        number, count = (0, 1) if worker is None else (worker.id, worker.num_workers)
        for batch in self.read.batches(number, count):
            yield {name: _tensor_or_list(batch.column(name)) for name in batch.schema.names}

    def state_dict(self) -> dict[str, int | None]:
        """The snapshot and the position after the last batch."""
        return self.read.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next iteration begin at a position that `state_dict` returned."""
        self.read.load_state_dict(state)


def torch_dataset(read: ResumableRead) -> IterableDataset:
    """The dataset of `TableQuery.to_torch`."""
    return _PlannedRows(read)


def _tensor_or_list(column: pa.Array) -> Any:
    t = column.type
    if column.null_count or not (pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_boolean(t)):
        return column.to_pylist()
    return torch.from_numpy(column.to_numpy(zero_copy_only=False).copy())
