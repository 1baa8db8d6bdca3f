"""rewrite_file_index."""

from __future__ import annotations

import pyarrow as pa

from paimon_nb.procedures.procedure import (
    Argument,
    Context,
    Procedure,
    chosen_partitions,
    commit_note,
    success,
    table_argument,
)
from paimon_nb.table.compact import rewrite_file_indexes


def _rewrite_file_index(context: Context, table: str, partitions: str | None, where: str | None) -> pa.Table:
    target = context.table(table)
    messages = rewrite_file_indexes(target.store, chosen_partitions(target, partitions, where))
    ids = target.commit().commit(messages)
    commit_note(context, target, ids)
    if not ids:
        context.notes.append(f"every file of {target.name} has the indexes that its options ask for")
    return success()


REWRITE_FILE_INDEX = Procedure(
    "rewrite_file_index",
    "Give the files that are there the indexes that `file-index.*` options ask for now.",
    (table_argument(), Argument("partitions", doc="'a=1,b=2;a=3'"), Argument("where", doc="on partition columns")),
    _rewrite_file_index,
)
