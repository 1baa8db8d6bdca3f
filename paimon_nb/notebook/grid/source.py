"""Where the rows of a grid come from: a table in memory, or a query of Spark that is read to its end on request."""

from __future__ import annotations

import uuid
from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import Cancelled
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.session import Result

MAX_ROWS, MAX_CELLS = 10_000_000, 200_000_000
"""Rows and cells of a query's result that the kernel keeps for a grid."""


@dataclass(slots=True)
class GridSource:
    """The rows of a result.

    Args:
        rows: the rows that are in this process. complete: whether these are all rows.
    """

    result: Result
    rows: pa.Table
    complete: bool
    cut: bool = False
    """All rows that the kernel keeps were read; there are more."""
    _group: str = field(default_factory=lambda: f"paimon-nb-grid-{uuid.uuid4()}")
    _stopped: bool = False

    @property
    def max_rows(self) -> int:
        """How many rows `load` reads."""
        columns: int = max(1, self.rows.num_columns)
        return max(1000, min(MAX_ROWS, MAX_CELLS // columns))

    def load(self) -> None:
        """Read all rows, of the snapshot that the result was read from.

        Raises:
            Cancelled: `cancel` was called. PaimonError: Spark failed, or the table was dropped.
        """
        from paimon_nb.format.data.variant_json import with_variants_as_json
        from paimon_nb.spark.errors import spark_errors
        from paimon_nb.spark.runtime.arrow_interop import as_arrow

        if self.complete:
            return
        frame: Any = self.result.frame
        self._stopped = False
        with spark_errors():
            frame.sparkSession.sparkContext.setJobGroup(self._group, "rows of a result", interruptOnCancel=True)
            rows = with_variants_as_json(as_arrow(frame.limit(self.max_rows + 1)))
        if self._stopped:
            raise Cancelled("Query cancelled.")
        self.cut = rows.num_rows > self.max_rows
        self.rows, self.complete = rows.slice(0, self.max_rows), True

    def cancel(self) -> None:
        """Stop `load`, which another thread runs."""
        self._stopped = True
        if self.result.frame is not None:
            self.result.frame.sparkSession.sparkContext.cancelJobGroup(self._group)
