"""A table's watermark, stored in the table's options as Flink stores it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from paimon_nb.base.errors import ColumnNotFound, SchemaChangeError, SqlSyntaxError
from paimon_nb.base.identifier import quote
from paimon_nb.base.registry import did_you_mean
from paimon_nb.session.query.computed_columns import computed_columns, quoted_columns
from paimon_nb.statements import Change, DropColumn, RenameColumn, ResetOptions, SetOptions, SetWatermark, Watermark
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.syntax.lexer import Token

PREFIX = "schema.watermark.0."
COLUMN, EXPRESSION, TYPE = (PREFIX + k for k in ("rowtime", "strategy.expr", "strategy.data-type"))
"""Source: Flink `FlinkCatalogPropertiesUtil`; there is one watermark at most."""


def watermark_of_options(options: Mapping[str, str]) -> Watermark | None:
    """The watermark in a table's options."""
    return Watermark(options[COLUMN], options.get(EXPRESSION, options[COLUMN])) if COLUMN in options else None


def stream_watermark(options: Mapping[str, str]) -> Watermark | None:
    """The watermark of a table's stream; None if its column is computed, since a stream reads stored columns."""
    declared = watermark_of_options(options)
    return None if declared is None or any(c.name == declared.column for c in computed_columns(options)) else declared


def delay_of(watermark: Watermark) -> str:
    """The watermark delay as a Spark interval: `ts - INTERVAL '5' SECOND` -> '5 SECOND'. Raises SqlSyntaxError."""
    words = tokens(watermark.expression)
    is_column = bool(words) and words[0].is_name and words[0].name.lower() == watermark.column.lower()
    if not is_column or not (len(words) == 1 or _is_minus_interval(words[1:])):
        raise SqlSyntaxError(
            f"unsupported watermark expression {watermark.expression!r}",
            hint="write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
        )
    return "0 SECOND" if len(words) == 1 else f"{words[3].value} {words[4].text}"


def _is_minus_interval(words: Sequence[Token]) -> bool:
    """Whether these are `- INTERVAL '5' SECOND`."""
    if [w.upper for w in words[:2]] != ["-", "INTERVAL"] or len(words) != 4:
        return False
    amount = words[2].value if words[2].kind == "string" else ""
    return bool(amount) and not amount.strip("0123456789.") and words[3].kind == "word"


def with_spark_watermark(frame: DataFrame, watermark: Watermark) -> DataFrame:
    """The stream with the watermark; unchanged if it has no such column.

    Raises: SqlSyntaxError: see `delay_of`.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import TimestampNTZType

    column = watermark.column
    if column not in frame.columns:
        return frame
    delay = delay_of(watermark)
    if isinstance(frame.schema[column].dataType, TimestampNTZType):
        # Spark's event times are instants: a TIMESTAMP is converted in the session's time zone, and converted back in
        # the same zone when it is stored.
        frame = frame.withColumn(column, F.col(quote(column)).cast("timestamp"))
    return frame.withWatermark(column, delay)


def watermark_after(batch: DataFrame, watermark: Watermark) -> int | None:
    """The watermark after a micro-batch, epoch ms. Like Flink, takes a TIMESTAMP as UTC.

    None if the micro-batch has no rows or the expression is unsupported.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import TimestampNTZType

    if watermark.column not in batch.columns:
        return None
    try:
        delay = delay_of(watermark)
    except SqlSyntaxError:
        return None
    plain = isinstance(batch.schema[watermark.column].dataType, TimestampNTZType)
    epoch = "TIMESTAMP_NTZ '1970-01-01'" if plain else "TIMESTAMP '1970-01-01 00:00:00Z'"
    newest = f"max({quote(watermark.column)}) - INTERVAL {delay}"
    row = batch.agg(F.expr(f"timestampdiff(MILLISECOND, {epoch}, {newest})")).first()
    return None if row is None or row[0] is None else int(row[0])


def local_time_as_utc_ms(instant_ms: int, zone: str) -> int:
    """The local time of an instant in a zone, read as UTC: Flink's epoch ms of a TIMESTAMP."""
    there = datetime.fromtimestamp(instant_ms / 1000, ZoneInfo(zone))
    return instant_ms + int((there.utcoffset() or timedelta()).total_seconds() * 1000)


def watermark_options(watermark: Watermark, types: Mapping[str, str]) -> dict[str, str]:
    """The table options of a watermark. `types`: column -> type text. Raises ColumnNotFound."""
    if watermark.column not in types:
        raise ColumnNotFound(
            f"watermark column {watermark.column!r} does not exist",
            hint=did_you_mean(watermark.column, types) or "name a column of type TIMESTAMP(3)",
            column=watermark.column,
        )
    kind = types[watermark.column].removesuffix(" NOT NULL")
    return {COLUMN: watermark.column, EXPRESSION: quoted_columns(watermark.expression, types), TYPE: kind}


def watermark_changes_as_options(
    changes: Sequence[Change], schema: TableSchema, computed: Mapping[str, str] | None = None
) -> list[Change]:
    """`changes` with watermark changes as option changes.

    Args:
        computed: types of computed columns, by name.

    Raises:
        SchemaChangeError: a watermark is added to one, or changed where none exists.
    """
    out: list[Change] = []
    exists = COLUMN in schema.options
    for change in changes:
        if not isinstance(change, SetWatermark):
            out.append(change)
            continue
        if exists == (change.how == "add"):
            raise SchemaChangeError(
                "the table has a watermark already" if exists else "the table has no watermark",
                hint="ALTER TABLE ... MODIFY WATERMARK FOR ..." if exists else "ALTER TABLE ... ADD WATERMARK FOR ...",
            )
        if change.watermark is None:
            out.append(ResetOptions((COLUMN, EXPRESSION, TYPE)))
        else:
            types = {**{f.name: str(f.type) for f in schema.fields}, **(computed or {})}
            out.append(SetOptions(watermark_options(change.watermark, types)))
    return out


def check_watermark_column(changes: Sequence[Change], schema: TableSchema) -> None:
    """Raises SchemaChangeError if the watermark's column is dropped or renamed."""
    rowtime = schema.options.get(COLUMN)
    if rowtime is None or any(isinstance(c, SetWatermark) for c in changes):
        return
    if any(isinstance(c, DropColumn | RenameColumn) and c.path == (rowtime,) for c in changes):
        raise SchemaChangeError(
            f"column {rowtime!r} defines the watermark", hint="ALTER TABLE ... DROP WATERMARK first"
        )
