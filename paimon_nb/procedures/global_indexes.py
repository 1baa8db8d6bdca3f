"""Global indexes: create_global_index and drop_global_index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.options import parse_names
from paimon_nb.procedures.procedure import (
    Argument,
    Context,
    Procedure,
    commit_note,
    one_row,
    parse_options,
    selected_partitions,
    success,
    table_argument,
)
from paimon_nb.table.write.build_global_index import INDEX_KINDS, build_global_index, drop_global_index

if TYPE_CHECKING:
    import pyarrow as pa


def _create_global_index(
    context: Context, table: str, index_column: str, index_type: str, partitions: str | None, options: str | None
) -> pa.Table:
    target = context.table(table, parse_options(options))
    kind, columns = index_type.strip().lower(), _column_names(index_column)
    if kind not in INDEX_KINDS:
        raise UnsupportedOperation(
            f"create_global_index: indexes of type {index_type!r} are not built here",
            hint=f"use {', '.join(INDEX_KINDS)}",
            index_type=index_type,
        )
    if len(columns) > 1:
        raise UnsupportedOperation(
            f"create_global_index: an index of type {kind} has one column, not {index_column!r}",
            hint="create one index per column",
        )
    messages = build_global_index(target.store, kind, columns[0], selected_partitions(context, target, partitions))
    commit_note(context, target, target.commit().commit(messages))
    if not messages:
        context.notes.append(f"all rows of {target.name} have an index of {columns[0]} already")
    return success()


def _drop_global_index(
    context: Context, table: str, index_column: str, index_type: str, partitions: str | None, dry_run: bool | None
) -> pa.Table:
    target = context.table(table)
    kind = index_type.strip().lower()
    messages = drop_global_index(
        target.store, kind, _column_names(index_column), selected_partitions(context, target, partitions)
    )
    count = sum(len(m.deleted_index) for m in messages)
    if dry_run:
        context.notes.append("dry run: nothing was changed")
    elif messages:
        commit_note(context, target, target.commit().commit(messages))
    return one_row(result=True, dropped_file_count=count)


def _column_names(text: str) -> list[str]:
    """'a, b' as names. Raises: BadOptionValue: there is none."""
    names = list(parse_names(text))
    if not names:
        raise BadOptionValue("index_column names no column", hint="write the name of a column")
    return names


_COLUMN = Argument("index_column", required=True, doc="name of the column")
CREATE_GLOBAL_INDEX = Procedure(
    "create_global_index",
    "Index a column of a data-evolution table: rows without an index, and those updated since theirs was built.",
    (
        table_argument(),
        _COLUMN,
        Argument("index_type", required=True, doc=", ".join(INDEX_KINDS)),
        Argument("partitions", doc="'a=1,b=2;a=3'"),
        Argument(
            "options",
            doc="'k=v,k2=v2', dynamic table options, and those of the index such as 'ivf-flat.distance.metric=cosine'",
        ),
    ),
    _create_global_index,
)
DROP_GLOBAL_INDEX = Procedure(
    "drop_global_index",
    "Drop the index of a column.",
    (
        table_argument(),
        _COLUMN,
        Argument("index_type", required=True, doc="the type of the index"),
        Argument("partitions", doc="'a=1,b=2;a=3'"),
        Argument("dry_run", "bool", doc="only count the files"),
    ),
    _drop_global_index,
)
