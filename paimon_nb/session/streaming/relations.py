"""Reads tables as streams by name, and aligns a stream's rows with a target table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import (
    CatalogNotFound,
    DatabaseNotFound,
    PaimonError,
    SchemaMismatch,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.session.query.run_query import with_position
from paimon_nb.table.tables.system.audit_log import sequence_fields
from paimon_nb.table.tables.system.row_tracking import check_tracks_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session
    from paimon_nb.spark.streaming.sink import TableSink
    from paimon_nb.statements import TableRef
    from paimon_nb.table.tables.table import Table

KINDS = "rowkind"
"""Name of the row kind column, in streams from and into a table."""


def stream_of(session: Session, ref: TableRef, text: str) -> DataFrame | None:
    """The stream of a Paimon table; of `t$audit_log` with kinds, of `t$binlog` with arrays, of `t$row_tracking` with row ids. None if no such table is ours.

    Raises: UnsupportedOperation: another system table. BadOptionValue: options of batch reads.
    """
    from paimon_nb.spark.streaming.reader import stream_frame

    try:
        found = session.find(ref.parts)
        system = found.name.system
        table = found.catalog.table(found.name.of_table() if system else found.name, session.options_of(found))
    except (TableNotFound, DatabaseNotFound, CatalogNotFound):
        return None
    try:
        system = system_table_of_stream(system, table)
        if system not in (None, "audit_log", "binlog", "row_tracking"):
            raise UnsupportedOperation(
                f"{found.name} cannot be read as a stream",
                hint="stream the table itself, or its $audit_log, which has row kinds",
            )
        tracked = system == "row_tracking"
        if tracked:
            check_tracks_rows(table.store)
        return stream_frame(
            session.spark,
            table,
            options=ref.options,
            filter=None if system else ref.filter,
            columns=None if system == "binlog" or tracked else ref.columns,
            kinds=True if system and not tracked else None,
            binlog=system == "binlog",
            numbers=sequence_fields(table.store) if system in ("audit_log", "binlog") else (),
            tracked=tracked,
            includes_latest=True,
        )
    except PaimonError as error:
        raise with_position(error, text, ref.span) from None


def system_table_of_stream(system: str | None, table: Table) -> str | None:
    """The system table that a stream of `table$system` reads; None for the table itself, as for `$ro` of a table without keys."""
    return None if system == "ro" and not table.primary_keys else system


def table_sink(
    frame: DataFrame,
    table: Table,
    *,
    complete: bool = False,
    options: Mapping[str, str] | None = None,
    checkpoint: str | None = None,
    ends: bool = False,
) -> tuple[DataFrame, TableSink]:
    """Rows with the table's columns (by name if all names match, else by position), and their sink.

    A column `rowkind` that is not a column of the table is the row kind.

    Args:
        ends: the query is bounded: it processes the available rows and ends.

    Raises:
        SchemaMismatch: too many or too few columns.
        BadOptionValue: the checkpoint belongs to another table.
    """
    from paimon_nb.session.query.projection import align_with_table
    from paimon_nb.spark.streaming.sink import TableSink, claim_checkpoint

    kinds = KINDS if KINDS in frame.columns and KINDS not in table.schema.names else None
    if kinds is None:
        by_name = set(frame.columns) <= set(table.schema.names)
        aligned = align_with_table(frame, table, None, {}, by_name=by_name)
    else:
        aligned = _with_kinds(frame, table)
    if checkpoint is not None:
        claim_checkpoint(checkpoint, table)
    return aligned, TableSink(table, complete=complete, kinds=kinds, options=options, folder=checkpoint, ends=ends)


def _with_kinds(frame: DataFrame, table: Table) -> DataFrame:
    from pyspark.sql import functions as F

    from paimon_nb.base.identifier import quote
    from paimon_nb.spark.types import spark_type

    if {c for c in frame.columns if c != KINDS} != set(table.schema.names):
        raise SchemaMismatch(
            f"a stream with row kinds must have the columns of {table.name} by name",
            hint=f"columns: {', '.join(table.schema.names)} and {KINDS}",
        )
    columns = [F.col(quote(f.name)).cast(spark_type(f.type)).alias(f.name) for f in table.schema.fields]
    return frame.select(*columns, F.col(KINDS))
