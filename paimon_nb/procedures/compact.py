"""compact and compact_database."""

from __future__ import annotations

import re

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, PaimonError, UnsupportedOperation
from paimon_nb.base.name import Name
from paimon_nb.procedures.procedure import (
    Argument,
    Context,
    Procedure,
    commit_note,
    one_row,
    parse_options,
    parse_partitions,
    success,
    table_argument,
)


def _compact(
    context: Context, table: str, partitions: str | None, order_strategy: str | None, order_by: str | None, options: str | None,
    where: str | None, partition_idle_time: str | None, compact_strategy: str | None, buckets: str | None,
) -> pa.Table:  # fmt: skip
    if compact_strategy not in (None, "full", "minor"):
        raise BadOptionValue(f"compact_strategy cannot be {compact_strategy!r}", hint="use full or minor")
    if order_strategy not in (None, "none") or order_by:
        raise UnsupportedOperation("sort compaction is not there yet", hint="leave order_strategy and order_by away")
    if where or partition_idle_time or buckets:
        raise UnsupportedOperation(
            "compact by where, partition_idle_time or buckets is not there yet", hint="name partitions"
        )
    target = context.table(table, parse_options(options))
    before = target.latest_snapshot()
    ids = target.compact(parse_partitions(partitions), full=compact_strategy != "minor")
    commit_note(context, target, ids)
    if not ids:
        context.notes.append(f"nothing to compact in {target.name}" + ("" if before else ": it is empty"))
    return success()


COMPACT = Procedure(
    "compact",
    "Merge the files of a table: all sorted runs of each bucket (full), or what the picking rules say (minor).",
    (
        table_argument(),
        Argument("partitions", doc="'a=1,b=2;a=3'"),
        Argument("order_strategy", doc="none, order, zorder, hilbert"),
        Argument("order_by", doc="columns for the order strategy"),
        Argument("options", doc="'k=v,k2=v2', dynamic table options"),
        Argument("where", doc="condition on partition columns"),
        Argument("partition_idle_time", doc="only partitions without new files for so long"),
        Argument("compact_strategy", doc="full or minor"),
        Argument("buckets", doc="bucket numbers"),
    ),
    _compact,
    lambda given: (
        dict(zip(("table", "order_strategy", "order_by"), given, strict=True))
        if len(given) == 3
        else dict(zip([a.name for a in COMPACT.arguments], given, strict=False))
    ),
)


def _compact_database(
    context: Context, including_databases: str | None, mode: str | None, including_tables: str | None,
    excluding_tables: str | None, table_options: str | None, partition_idle_time: str | None, compact_strategy: str | None,
) -> pa.Table:  # fmt: skip
    databases = re.compile(including_databases or ".*")
    wanted, unwanted = re.compile(including_tables or ".*"), re.compile(excluding_tables) if excluding_tables else None
    done, failed = 0, []
    for database in context.catalog.databases():
        if not databases.fullmatch(database):
            continue
        for name in context.catalog.tables(database):
            full = f"{database}.{name}"
            if not (wanted.fullmatch(full) or wanted.fullmatch(name)):
                continue
            if unwanted and (unwanted.fullmatch(full) or unwanted.fullmatch(name)):
                continue
            table = context.catalog.table(Name(database, name), parse_options(table_options))
            try:
                commit_note(context, table, table.compact(full=compact_strategy != "minor"))
                done += 1
            except PaimonError as error:  # one broken table must not stop the others
                failed.append(f"{full}: {error.message}")
    context.notes += failed
    return one_row(result=f"{done} tables compacted" + (f", {len(failed)} failed" if failed else ""))


COMPACT_DATABASE = Procedure(
    "compact_database",
    "Compact every table whose name matches.",
    (
        Argument("including_databases", doc="regular expression"),
        Argument("mode", doc="divided or combined; both run table by table here"),
        Argument("including_tables", doc="regular expression on table or database.table"),
        Argument("excluding_tables", doc="regular expression"),
        Argument("table_options", doc="'k=v,...'", also=("options",)),
        Argument("partition_idle_time"),
        Argument("compact_strategy", doc="full or minor"),
    ),
    _compact_database,
)
