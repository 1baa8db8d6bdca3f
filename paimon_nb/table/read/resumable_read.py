"""A planned read whose position is a small dictionary: the snapshot, and the split and row that come next."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.table.read import ScanPlan, Split

    class PlannedQuery(Protocol):
        """What a read needs of a query."""

        @property
        def max_rows(self) -> int | None: ...

        def limit(self, rows: int) -> PlannedQuery: ...

        def plan_at(self, snapshot: int) -> ScanPlan: ...

        def batches_of(self, plan: ScanPlan, splits: Sequence[Split], batch_rows: int) -> Iterator[pa.RecordBatch]: ...


@dataclass(frozen=True, slots=True)
class _Position:
    """How far a read is."""

    readers: int = 1
    """Processes that share the splits; the position is that of one of them."""
    split: int = 0
    """Number of the next split among those of this reader."""
    rows: int = 0
    """Rows of it that are read."""
    rows_before: int = 0
    """Rows of the splits before it."""


class ResumableRead:
    """The record batches of a plan. A read that stopped continues where it was, in the same snapshot, in any process.

    Args:
        query: what is read.
        plan: its plan.
        batch_rows: maximum number of rows in a batch.
    """

    def __init__(self, query: PlannedQuery, plan: ScanPlan, batch_rows: int) -> None:
        self._query, self._plan, self._batch_rows = query, plan, batch_rows
        self._position, self._loaded = _Position(), False

    def state_dict(self) -> dict[str, int | None]:
        """The snapshot and the position after the last batch, which `load_state_dict` takes. It can be written as JSON."""
        return {"snapshot": self._snapshot_id(), **asdict(self._position)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next read begin at a position.

        Args:
            state: what `state_dict` returned.

        Raises:
            BadOptionValue: it is something else.
            SnapshotExpired: the snapshot expired. A tag protects it.
        """
        expected = {"snapshot", *asdict(_Position())}
        if set(state) != expected:
            raise BadOptionValue(
                f"{dict(state)!r} is not the state of a read", hint="pass what state_dict() returned", option="state"
            )
        if state["snapshot"] is not None and state["snapshot"] != self._snapshot_id():
            self._plan = self._query.plan_at(state["snapshot"])
        self._position = _Position(**{k: v for k, v in state.items() if k != "snapshot"})
        self._loaded = True

    def batches(self, reader: int = 0, readers: int = 1) -> Iterator[pa.RecordBatch]:
        """Read on from the loaded position, or from the beginning.

        Args:
            reader: number of this reader, from 0.
            readers: number of readers that share the splits.

        Returns:
            An iterator of record batches.

        Raises:
            BadOptionValue: the loaded position is that of another number of readers.
        """
        if not self._loaded:
            self._position = _Position(readers)
        elif self._position.readers != readers:
            raise BadOptionValue(
                f"the state is that of {self._position.readers} readers, and {readers} read now",
                hint="continue with the same number of workers",
                option="num_workers",
            )
        self._loaded = False
        splits = () if self._snapshot_id() is None else self._plan.splits[reader::readers]
        while (at := self._position).split < len(splits):
            yield from self._rest_of_split(splits[at.split])
            at = self._position
            self._position = _Position(readers, at.split + 1, 0, at.rows_before + at.rows)

    def _rest_of_split(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of a split behind the position, which advances with each batch."""
        query, at = self._query, self._position
        if query.max_rows is not None:
            query = query.limit(max(0, query.max_rows - at.rows_before))
        skipped = at.rows
        for batch in query.batches_of(self._plan, [split], self._batch_rows):
            if skipped >= batch.num_rows:
                skipped -= batch.num_rows
                continue
            rest, skipped = batch.slice(skipped), 0
            self._position = replace(self._position, rows=self._position.rows + rest.num_rows)
            yield rest

    def _snapshot_id(self) -> int | None:
        return None if self._plan.snapshot is None else self._plan.snapshot.id
