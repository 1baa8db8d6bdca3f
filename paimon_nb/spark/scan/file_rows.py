"""The rows of CSV, JSON and Parquet files in the types of a table's columns, each with what is wrong with it.

Text files are read as texts, which are then cast: a text that is not NULL and becomes NULL cannot be cast.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import DataField, VarChar, arrow_type
from paimon_nb.spark.runtime.hadoop_files import as_glob
from paimon_nb.spark.types import spark_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType as SparkType

_FILE, _ERROR, _RECORD = "__file", "__error", "__record"
"""Columns beside `_column(i)`: the file's URI, what is wrong with the row, the text of a record that is malformed."""


@dataclass(frozen=True, slots=True)
class FileCounts:
    """What was read from one file."""

    rows: int = 0
    bad: int = 0
    """Rows that are malformed or cannot be cast."""
    first_error: str | None = None


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How text files are read. `kind`: 'csv' or 'json'."""

    kind: str
    options: Mapping[str, str]
    """Options of Spark's reader."""
    null_if: Sequence[str] = ()
    """Texts that mean NULL."""
    empty_is_null: bool = False


class FileRows:
    """Rows of files in the types of `fields`. Spark keeps them between `counts` and `good`, until `close`."""

    def __init__(self, typed: DataFrame, fields: Sequence[DataField]) -> None:
        self._fields = fields
        self._typed = typed.persist()

    def counts(self) -> dict[str, FileCounts]:
        """The counts of each file that has rows, by its name."""
        from pyspark.sql import functions as F

        error, record = F.col(_ERROR), F.col(_RECORD)
        malformed = F.first(F.when(record.isNotNull(), error), ignorenulls=True)
        of_each = self._typed.groupBy(_FILE).agg(
            F.count(F.lit(1)), F.count(error), F.coalesce(malformed, F.first(error, ignorenulls=True))
        )
        return {_name(uri): FileCounts(rows, bad, first) for uri, rows, bad, first in of_each.collect()}

    def good(self, without: Sequence[str] = ()) -> DataFrame:
        """The rows without errors, with the columns of `fields`. `without`: names of files to leave out."""
        from pyspark.sql import functions as F

        rows = self._typed.where(F.col(_ERROR).isNull())
        if without:
            uris = [row[0] for row in self._typed.select(_FILE).distinct().collect() if _name(row[0]) in set(without)]
            rows = rows.where(~F.col(_FILE).isin(uris))
        return rows.select(*(F.col(_column(i)).alias(f.name) for i, f in enumerate(self._fields)))

    def close(self) -> None:
        """Let Spark forget the rows."""
        self._typed.unpersist()


def rows_of_arrow(
    spark: SparkSession,
    files: Sequence[tuple[str, list[pa.ChunkedArray], list[str | None]]],
    fields: Sequence[DataField],
) -> FileRows:
    """Rows that this process has read: of each file its URI, the values of each field, and what is wrong with each row."""
    import pyarrow as pa

    from paimon_nb.spark.runtime.arrow_interop import from_arrow

    parts = []
    for uri, values, errors in files:
        columns = {_column(i): v.cast(arrow_type(f.type)) for i, (v, f) in enumerate(zip(values, fields, strict=True))}
        columns[_ERROR] = pa.array(errors, pa.string())
        columns[_RECORD] = pa.nulls(len(errors), pa.string())
        columns[_FILE] = pa.array([uri] * len(errors), pa.string())
        parts.append(pa.table(columns))
    own = [DataField(i, _column(i), f.type) for i, f in enumerate(fields)]
    others = [DataField(len(fields) + i, n, VarChar()) for i, n in enumerate((_ERROR, _RECORD, _FILE))]
    return FileRows(from_arrow(spark, pa.concat_tables(parts), [*own, *others]), fields)


def read_text_files(
    spark: SparkSession, paths: Sequence[str], format: TextFormat, fields: Sequence[DataField]
) -> FileRows:
    """The rows of CSV files by position, or of JSON files by name.

    Raises:
        SchemaMismatch: there is no cast from text to a column's type.
    """
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    names = [f.name if format.kind == "json" else _column(i) for i, f in enumerate(fields)]
    record = _unused(_RECORD, names)
    schema = T.StructType([T.StructField(n, T.StringType()) for n in (*names, record)])
    options = {**format.options, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": record}
    raw = spark.read.format(format.kind).schema(schema).options(**options).load([as_glob(p) for p in paths])
    texts = [_or_null(F.col(quote(n)), format).alias(_column(i)) for i, n in enumerate(names)]
    return _checked(raw.select(*texts, F.col(record).alias(_RECORD), F.input_file_name().alias(_FILE)), fields)


def read_parquet_files(spark: SparkSession, paths: Sequence[str], fields: Sequence[DataField]) -> FileRows:
    """The rows of Parquet files by name. A column that they lack is NULL, other columns are left out.

    Raises:
        SchemaMismatch: there is no cast to a column's type.
    """
    from pyspark.sql import functions as F

    raw = spark.read.parquet(*map(as_glob, paths))
    in_lower_case = {name.lower(): name for name in reversed(raw.columns)}
    values = []
    for i, field in enumerate(fields):
        name = field.name if field.name in raw.columns else in_lower_case.get(field.name.lower())
        value = F.lit(None).cast(spark_type(field.type)) if name is None else F.col(quote(name))
        values.append(value.alias(_column(i)))
    none = F.lit(None).cast("string").alias(_RECORD)
    return _checked(raw.select(*values, none, F.input_file_name().alias(_FILE)), fields)


def _checked(rows: DataFrame, fields: Sequence[DataField]) -> FileRows:
    """Cast each column to its field's type; rows that cannot be cast get an error."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    record = F.col(_RECORD)
    error = F.when(record.isNotNull(), F.concat(F.lit("Malformed record: "), record))
    typed: list[Column] = []
    ansi = rows.sparkSession.conf.get("spark.sql.ansi.enabled") == "true"
    for i, field in enumerate(fields):
        value, target = F.col(_column(i)), spark_type(field.type)
        cast = value if rows.schema[_column(i)].dataType == target else _or_null_cast(value, target, ansi=ansi)
        try:
            rows.select(cast)
        except AnalysisException:
            raise SchemaMismatch(
                f"column {field.name!r} is {field.type.bare()}: there is no cast from the files' "
                f"{rows.schema[_column(i)].dataType.simpleString()}",
                hint="leave the column out of the list of columns, or read the files with spark.read",
                column=field.name,
            ) from None
        failed = (
            f"Cast failure in column '{field.name}'. Source data contains values that cannot be converted to the "
            "target type."
        )
        error = error.when(value.isNotNull() & cast.isNull(), F.lit(failed))
        typed.append(cast.alias(_column(i)))
    return FileRows(rows.select(*typed, error.alias(_ERROR), record, F.col(_FILE)), fields)


def _or_null_cast(value: Column, target: SparkType, *, ansi: bool) -> Column:
    """A cast that gives NULL for a value that the session's rules of casts reject."""
    return value.try_cast(target) if ansi else value.cast(target)


def _or_null(value: Column, format: TextFormat) -> Column:
    """NULL in place of the texts that mean it."""
    from pyspark.sql import functions as F

    nulls = [*format.null_if, *([""] if format.empty_is_null else [])]
    return F.when(~value.isin(nulls), value) if nulls else value


def _column(position: int) -> str:
    return f"__c{position}"


def _unused(name: str, taken: Sequence[str]) -> str:
    """The name, with underscores before it while a column has it."""
    lowered = {t.lower() for t in taken}
    while name.lower() in lowered:
        name = f"_{name}"
    return name


def _name(uri: str) -> str:
    """The file's name in a URI."""
    return unquote(posixpath.basename(uri))
