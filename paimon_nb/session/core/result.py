"""The result of a statement: a Spark DataFrame or a small Arrow table, with notes and commits."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.format.types import DataField
    from paimon_nb.session.core.jobs import StreamJob
    from paimon_nb.session.core.live_result import LiveResult
    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import Span


@dataclass(slots=True)
class Result:
    """The result of a statement, returned by `Workbench.run`.

    A query has `arrow`, `frame`, or both. A streaming SELECT has `live`, a streaming INSERT has `job`.

    Examples:
        >>> result = wb.run("SELECT id, state FROM orders WHERE id = 1")
        >>> result.arrow.to_pylist()
        [{'id': 1, 'state': 'paid'}]
        >>> wb.run("INSERT INTO orders VALUES (3, 'paid', 8)").snapshots
        [('default.orders', 3)]
    """

    kind: str
    """'rows' for queries and procedures, 'summary' for definitions and changes, 'stream' for streaming queries."""
    arrow: pa.Table | None = None
    """The rows, if they are in this process. Definitions and changes have one row with the column `result`."""
    make_frame: Callable[[], DataFrame] | None = None
    """Creates `frame` on first access."""
    is_query: bool = False
    """Whether a query gave the rows. SHOW, DESCRIBE and CALL have a short answer of their own."""
    notes: list[str] = field(default_factory=list)
    """Warnings and notes, one sentence each."""
    snapshots: list[tuple[str, int]] = field(default_factory=list)
    """(table, snapshot id) of every commit of this statement."""
    live: LiveResult | None = None
    """A streaming SELECT that has not started yet."""
    job: StreamJob | None = None
    """The job that a streaming INSERT or a procedure started."""
    fields: tuple[DataField, ...] = ()
    """The columns with their types, whose precision the types of Arrow do not tell; (): not known."""
    query: tuple[str | None, Span | None] = (None, None)
    """The text that gave the rows and the query's part of it: where an error is that shows only when the rows are read."""
    _frame: DataFrame | None = None
    views: ClassVar[Mapping[str, Callable[[Result], Any]]] = {}
    """How a result is shown: text, html, grid, widget. The package that shows is above this one; `paimon_nb.connect` sets it."""

    @property
    def frame(self) -> DataFrame | None:
        """The rows as a PySpark DataFrame, or None for statements without rows. Starts Spark if needed."""
        if self._frame is None and self.make_frame is not None:
            self._frame = self.make_frame()
        return self._frame

    def to_arrow(self) -> pa.Table:
        """All rows. Runs the query if only Spark has them.

        Returns:
            An Arrow table with the types that Spark gives.

        Raises:
            UnsupportedOperation: a stream has no end.
            SqlError, EngineError: an error of a value, such as a division by zero, which shows only when rows are read.

        Examples:
            >>> wb.run("SELECT id, state FROM orders WHERE id = 1").to_arrow().num_rows
            1
        """
        if self.arrow is not None:
            return self.arrow
        if self.frame is None:
            raise UnsupportedOperation(
                f"a result of kind {self.kind!r} has no table of rows", hint="use .live or .job for streams"
            )
        from paimon_nb.spark.errors import spark_errors
        from paimon_nb.spark.runtime.arrow_interop import as_arrow

        with spark_errors(*self.query):
            return as_arrow(self.frame)

    def to_pandas(self) -> pd.DataFrame:
        """All rows for pandas. Runs the query if only Spark has them.

        Returns:
            A pandas DataFrame.

        Raises:
            UnsupportedOperation: a stream has no end.

        Examples:
            >>> wb.run("SELECT id, state FROM orders WHERE id = 1").to_pandas()["state"].tolist()
            ['paid']
        """
        return self.to_arrow().to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def grid(self) -> Any:
        """The rows as a grid with sorting, filters, charts and copies, for Jupyter and marimo. It reads 1,000 rows at once, the others on request.

        Returns:
            A widget (anywidget).

        Raises:
            UnsupportedOperation: a stream has no grid.

        Examples:
            >>> wb.run("SELECT 7 AS n").grid().visible.num_rows
            1
        """
        return self.views["grid"](self)

    def __str__(self) -> str:
        """The first rows as a table of plain text, for `print`."""
        return self.views["text"](self) if self.views else repr(self)

    def _repr_html_(self) -> str | None:
        """The first rows as a table, for programs that show HTML."""
        return self.views["html"](self) if self.views else None

    def _display_(self) -> Any:
        """What marimo shows: a grid of a query's rows."""
        return self.views["widget"](self) if self.views else repr(self)

    def __repr__(self) -> str:
        if self.kind == "summary" and self.arrow is not None and self.arrow.column_names == ["result"]:
            what = str(self.arrow.column(0)[0].as_py())
        elif self.arrow is not None:
            rows, columns = self.arrow.num_rows, self.arrow.num_columns
            what = f"{rows:,} row{'s' * (rows != 1)}, {columns} column{'s' * (columns != 1)}"
        elif self.live is not None or self.job is not None:
            what = "stream"
        else:
            what = "rows in Spark, not read yet"
        return f"<Result: {what}{''.join(f'; {note}' for note in self.notes)}>"


def dataframe_of(session: Session, result: Result) -> DataFrame:
    """The result as `Workbench.sql` returns it: a DataFrame, or the running job of a streaming INSERT."""
    if result.frame is not None:
        return result.frame
    if result.live is not None:
        return result.live.frame
    if result.job is not None:
        return result.job  # type: ignore[return-value]  # it has the methods of a StreamingQuery
    from paimon_nb.spark.runtime.arrow_interop import from_arrow
    from paimon_nb.spark.runtime.jvm_bridge import deferred_frame, has_bridge

    spark = session.spark
    if result.kind == "summary" and has_bridge(spark):  # a sentence that few callers look at
        return deferred_frame(spark, lambda: from_arrow(spark, result.arrow))
    return from_arrow(spark, result.arrow)


def result_of_frame(
    frame: DataFrame, text: str | None = None, span: Span | None = None, fields: Sequence[DataField] = ()
) -> Result:
    """The result of a query that Spark ran. `text`: the whole text; `span`: the query's part of it; `fields`: see `Result`."""
    return Result("rows", is_query=True, query=(text, span), fields=tuple(fields), _frame=frame)


def result_of_rows(session: Session, rows: pa.Table, fields: Sequence[DataField]) -> Result:
    """The result of a query that was answered without Spark; `rows` have the types of `format/types`."""
    from paimon_nb.spark.runtime.arrow_interop import from_arrow
    from paimon_nb.spark.types import to_spark_arrow

    return Result(
        "rows",
        arrow=to_spark_arrow(rows, fields),
        make_frame=lambda: from_arrow(session.spark, rows, fields),
        is_query=True,
        fields=tuple(fields),
    )


def rows_result(
    columns: dict[str, list[Any]], types: dict[str, Any] | None = None, *, notes: list[str] | None = None
) -> Result:
    """A metadata result: columns of Python values (strings unless `types` says otherwise)."""
    import pyarrow as pa

    from paimon_nb.format.types.arrow_builders import arrow_column

    types = types or {}
    table = pa.table({k: arrow_column(v, types.get(k, pa.string())) for k, v in columns.items()})
    return Result("rows", arrow=table, notes=notes or [])


def message_result(
    text: str, *, notes: list[str] | None = None, snapshots: list[tuple[str, int]] | None = None
) -> Result:
    """A result of one row: a sentence about what was done."""
    import pyarrow as pa

    from paimon_nb.format.types.arrow_builders import arrow_column

    return Result(
        "summary",
        arrow=pa.table({"result": arrow_column([text], pa.string())}),
        notes=notes or [],
        snapshots=snapshots or [],
    )
