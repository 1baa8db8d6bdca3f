"""rewrite_file_index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.procedures.procedure import (
    Argument,
    Context,
    Procedure,
    commit_note,
    one_row,
    selected_partitions,
    table_argument,
)
from paimon_nb.table.compact import rewrite_file_indexes

if TYPE_CHECKING:
    import pyarrow as pa


def _rewrite_file_index(context: Context, table: str, partitions: str | None, where: str | None) -> pa.Table:
    target = context.table(table)
    messages = rewrite_file_indexes(target.store, selected_partitions(target, partitions, where))
    ids = target.commit().commit(messages)
    commit_note(context, target, ids)
    if not ids:
        context.notes.append(f"all files of {target.name} have the configured indexes already")
    return one_row(written_partitions=len({m.partition for m in messages}), written_indexes=len(messages))


REWRITE_FILE_INDEX = Procedure(
    "rewrite_file_index",
    "Build the indexes of the `file-index.*` options for existing files.",
    (
        table_argument(),
        Argument("partitions", doc="'a=1,b=2;a=3'"),
        Argument("where", doc="condition on partition columns"),
    ),
    _rewrite_file_index,
)
