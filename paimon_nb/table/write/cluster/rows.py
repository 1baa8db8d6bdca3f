"""Sorts rows by columns or by a curve through them, with bounded memory. Knows no table files.

Source: docs/spec/merge-semantics.md section 4.1 (`clustering.columns`, sort compaction).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import table as opt
from paimon_nb.table.write.cluster.curve import STRATEGIES, check_type, hilbert_keys
from paimon_nb.table.write.cluster.external_sort import ExternalSort

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore

_AUTO_ZORDER, _AUTO_HILBERT = 2, 5
"""Minimum number of columns for which `clustering.strategy` = auto uses a curve."""
_KEY = "_SORT_KEY_"


@dataclass(frozen=True, slots=True)
class Order:
    """A sort order: a strategy of `STRATEGIES`, over columns."""

    strategy: str
    columns: tuple[str, ...]

    @classmethod
    def of(cls, store: TableStore, strategy: str, columns: Sequence[str]) -> Order:
        """A validated order.

        Raises: UnknownName, ColumnNotFound, UnsupportedOperation: no such strategy or column, or one without an order.
        """
        STRATEGIES.find(strategy)
        if not columns:
            raise BadOptionValue(f"{strategy} needs columns to order by", hint="order_by => 'a,b'")
        fields = [store.schema.field(c) for c in columns]
        for field in fields:
            check_type(field)
        if STRATEGIES[strategy] is hilbert_keys and len(fields) < 2:
            raise UnsupportedOperation("a Hilbert order needs at least two columns", hint="use order or zorder")
        return cls(strategy, tuple(f.name for f in fields))

    @classmethod
    def of_options(cls, store: TableStore) -> Order | None:
        """The order from `clustering.columns` and `clustering.strategy`; None without columns."""
        text = store.options.get(opt.CLUSTERING_COLUMNS)
        if not text:
            return None
        columns = [c.strip() for c in text.split(",") if c.strip()]
        strategy = str(store.options.get(opt.CLUSTERING_STRATEGY)).lower()
        if strategy == "auto":
            count = len(columns)
            strategy = "order" if count < _AUTO_ZORDER else "zorder" if count < _AUTO_HILBERT else "hilbert"
        return cls.of(store, strategy, columns)


class OrderedRows:
    """Takes rows of a table, returns them sorted. Memory: about `write-buffer-size`; more is spilled to local disk."""

    def __init__(self, store: TableStore, order: Order) -> None:
        self._fields: list[DataField] = [store.schema.field(c) for c in order.columns]
        self._sort_key_columns = STRATEGIES[order.strategy]
        self._text_bytes = store.options.get(opt.ZORDER_VAR_LENGTH_CONTRIBUTION)
        self._sort: ExternalSort | None = None
        self._limit = store.options.get(opt.WRITE_BUFFER_SIZE)
        self._keys: list[str] = []

    def add(self, rows: pa.Table) -> None:
        for start in range(0, rows.num_rows, BATCH_ROWS):
            part = rows.slice(start, BATCH_ROWS)
            columns = self._sort_key_columns(part, self._fields, self._text_bytes)
            if self._sort is None:
                self._keys = [f"{_KEY}{i}" for i in range(len(columns))]
                self._sort = ExternalSort(self._keys, self._limit)
            for name, column in zip(self._keys, columns, strict=True):
                part = part.append_column(name, column)
            self._sort.add(part)

    def sorted(self) -> Iterator[pa.Table]:
        """The rows, without their sort keys."""
        if self._sort is not None:
            for table in self._sort.sorted():
                yield table.drop_columns(self._keys)

    def close(self) -> None:
        """Delete the spill files. Safe to call twice."""
        if self._sort is not None:
            self._sort.__exit__()


def sorted_rows(store: TableStore, order: Order, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """All rows of `tables` in the order. Spill files are deleted after the last row, or when the iterator is closed."""
    rows = OrderedRows(store, order)
    try:
        for table in tables:
            rows.add(table)
        yield from rows.sorted()
    finally:
        rows.close()
