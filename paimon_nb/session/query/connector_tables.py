"""Reads and writes connector tables (`'connector' = 'datagen'` ...) with their computed columns and watermark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.format.types import DataField, parse_type
from paimon_nb.session.query.computed_columns import to_spark_expression
from paimon_nb.session.query.watermark import with_spark_watermark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.connectors.api import ConnectorTable, Sink, Source
    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import CreateTable, TableDef


def connector_table_of(statement: CreateTable) -> ConnectorTable:
    """The connector's description of the table. Raises SqlSyntaxError: an invalid type."""
    from paimon_nb.connectors.api import ConnectorTable

    fields: list[DataField] = []
    metadata: dict[str, str] = {}
    virtual: set[str] = set()
    for column in statement.definition.columns:
        if column.computed is not None:
            continue
        assert column.type is not None
        fields.append(DataField(len(fields), column.name, parse_type(column.type)))
        if column.metadata is not None:
            metadata[column.name] = column.metadata
            virtual |= {column.name} if column.virtual else set()
    return ConnectorTable(
        statement.name[-1],
        tuple(fields),
        dict(statement.definition.options),
        tuple(statement.definition.primary_keys),
        metadata,
        frozenset(virtual),
    )


def source_of(session: Session, statement: CreateTable) -> Source:
    """The source of a connector table. As in Flink, several readers of one statement get the same random rows.

    Raises UnknownName: no such source connector. UnknownOption, BadOptionValue.
    """
    from paimon_nb.connectors import open_source

    name = statement.name[-1]
    if name in session.random_sources:
        return session.random_sources[name]
    source = open_source(connector_table_of(statement))
    if source.random_rows:
        session.random_sources[name] = source
    return source


def sink_of(statement: CreateTable) -> Sink:
    """Raises UnknownName: no such sink connector. UnknownOption, BadOptionValue."""
    from paimon_nb.connectors import open_sink

    return open_sink(connector_table_of(statement))


def source_frame(
    spark: SparkSession,
    source: Source,
    statement: CreateTable,
    *,
    stream: bool,
    kinds: bool = False,
    begin: Any = None,
    watermark: bool = True,
) -> DataFrame:
    """A source's rows with the columns of CREATE TABLE, in its order.

    Args:
        kinds: append the columns `KIND` and `ORDER`; without it, retractions are dropped.
        begin: the offset in the query's checkpoint.
        watermark: whether the query keeps state, which a watermark bounds.
    """
    from paimon_nb.connectors.api import KIND, ORDER

    definition = statement.definition
    frame = source.stream(spark, begin) if stream else source.batch(spark)
    if stream and source.changes and not kinds:
        from pyspark.sql import functions as F

        frame = frame.filter(F.col(KIND).isin("+I", "+U")).drop(KIND, ORDER)
    frame = _with_computed_columns(frame, definition, (KIND, ORDER) if stream and kinds and source.changes else ())
    if stream and watermark and definition.watermark is not None:
        frame = with_spark_watermark(frame, definition.watermark)
    return frame


def empty_frame(spark: SparkSession, statement: CreateTable) -> DataFrame:
    """An empty DataFrame with the columns of CREATE TABLE."""
    from paimon_nb.spark.types import spark_schema

    return _with_computed_columns(
        spark.createDataFrame([], spark_schema(connector_table_of(statement).fields)), statement.definition, ()
    )


def _with_computed_columns(frame: DataFrame, definition: TableDef, appended: tuple[str, ...]) -> DataFrame:
    if all(c.computed is None for c in definition.columns):
        return frame
    from pyspark.sql import functions as F

    from paimon_nb.base.identifier import quote

    return frame.select(
        *[
            F.col(quote(c.name)) if c.computed is None else F.expr(to_spark_expression(c.computed)).alias(c.name)
            for c in definition.columns
        ],
        *appended,
    )
