"""Tables of connectors (`'connector' = 'datagen'` ...) as the session reads and writes them: computed columns, watermark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlSyntaxError, UnsupportedOperation
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.plan import CreateTable, TableDef

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.connectors.api import Declared, Sink, Source

_DELAY = re.compile(r"(?is)^\s*`?(?P<column>\w+)`?\s*(?:-\s*INTERVAL\s*'(?P<amount>[\d.]+)'\s*(?P<unit>\w+)\s*)?$")


def declared(statement: CreateTable) -> Declared:
    """The table as its connector needs to know it. Raises SqlSyntaxError: a type; UnsupportedOperation: metadata columns."""
    from paimon_nb.connectors.api import Declared

    fields = []
    for column in statement.definition.columns:
        if column.metadata is not None:
            raise UnsupportedOperation(
                f"connector {statement.definition.options['connector']!r} has no metadata for column {column.name!r}",
                hint="leave the METADATA column out",
            )
        if column.computed is None:
            assert column.type is not None
            fields.append(DataField(len(fields), column.name, parse_type(column.type)))
    return Declared(statement.name[-1], tuple(fields), dict(statement.definition.options))


def source_of(statement: CreateTable) -> Source:
    """Raises UnknownName: no such source connector. UnknownOption, BadOptionValue."""
    from paimon_nb.connectors import open_source

    return open_source(declared(statement))


def sink_of(statement: CreateTable) -> Sink:
    """Raises UnknownName: no such sink connector. UnknownOption, BadOptionValue."""
    from paimon_nb.connectors import open_sink

    return open_sink(declared(statement))


def source_frame(spark: SparkSession, source: Source, statement: CreateTable, *, stream: bool) -> DataFrame:
    """A source's rows with the columns that CREATE TABLE promises, in its order."""
    definition = statement.definition
    frame = source.stream(spark) if stream else source.batch(spark)
    frame = _computed(frame, definition)
    if stream and definition.watermark is not None:
        column, delay = watermark_of(definition)
        frame = frame.withWatermark(column, delay)
    return frame


def watermark_of(definition: TableDef) -> tuple[str, str]:
    """Event time column and delay of `WATERMARK FOR ts AS ts - INTERVAL '5' SECOND`. Raises SqlSyntaxError."""
    assert definition.watermark is not None
    found = _DELAY.match(definition.watermark.expression)
    if found is None or found["column"].lower() != definition.watermark.column.lower():
        raise SqlSyntaxError(
            f"the watermark {definition.watermark.expression!r} is not understood",
            hint="write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
        )
    return definition.watermark.column, f"{found['amount'] or 0} {found['unit'] or 'SECOND'}"


def _computed(frame: DataFrame, definition: TableDef) -> DataFrame:
    if all(c.computed is None for c in definition.columns):
        return frame
    from pyspark.sql import functions as F

    from paimon_nb.base.name import quote

    return frame.select(
        *[
            F.col(quote(c.name)) if c.computed is None else F.expr(_in_spark(c.computed)).alias(c.name)
            for c in definition.columns
        ]
    )


def _in_spark(expression: str) -> str:
    """An expression of Flink's as Spark says it."""
    from paimon_nb.sql import parse, render

    text = f"SELECT {expression}"
    (query,) = parse(text)
    return render(query, text, {})[len("SELECT ") :]
