"""The rows of a query over a frame or a file, for statements that store them without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.types import arrow_type
from paimon_nb.session.query.local_select import means_frame, try_local_select
from paimon_nb.session.streaming.planner import is_streaming

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.format.types import DataField, DataType
    from paimon_nb.session.core.session import Session
    from paimon_nb.session.query.local_select import Rows
    from paimon_nb.statements import Query

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")


def rows_of_query_over_data(session: Session, query: Query | None) -> Rows | None:
    """The rows of a simple SELECT over one file or frame; None: another query, or only Spark can run it."""
    if query is None or len(query.tables) != 1 or query.parameters or is_streaming(session):
        return None
    ref = query.tables[0]
    return try_local_select(session, query) if ref.file or means_frame(session, ref) else None


def cast_without_loss(
    rows: pa.Table, fields: Sequence[DataField], columns: Sequence[str], types: Sequence[DataType]
) -> pa.Table | None:
    """The rows under the names and types of a table's columns, by position; None if a value may not fit."""
    import pyarrow as pa

    if not all(_every_value_fits(f.type, t) for f, t in zip(fields, types, strict=True)):
        return None
    return pa.table([c.cast(arrow_type(t)) for c, t in zip(rows.columns, types, strict=True)], names=list(columns))


def _every_value_fits(source: DataType, target: DataType) -> bool:
    """Whether every value of a type can be stored in another without a change."""
    if source.bare() == target.bare():
        return True
    if source.root in _INTEGERS and target.root in _INTEGERS:
        return _INTEGERS.index(source.root) <= _INTEGERS.index(target.root)
    return (source.root, target.root) == ("FLOAT", "DOUBLE")
