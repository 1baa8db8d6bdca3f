"""Aligns a query's columns with a table's columns: names, order, types and defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from paimon_nb.base.errors import ColumnNotFound, SchemaMismatch
from paimon_nb.base.registry import did_you_mean
from paimon_nb.table.table import Table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def align(
    frame: DataFrame,
    table: Table,
    columns: tuple[str, ...] | None,
    partition: Mapping[str, str | None],
    *,
    by_name: bool = False,
    extra: str | None = None,
) -> DataFrame:
    """The source with exactly the table's columns, cast to their types.

    Columns that the statement omits get their default, else NULL.

    Args:
        extra: the source's last column, appended to the table's columns.

    Raises:
        SchemaMismatch: too many or too few columns, or a type that cannot be cast.
        ColumnNotFound: the table has no such column.
    """
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    from paimon_nb.spark.types import spark_type

    names = list(table.schema.names)
    for name in (*(columns or ()), *partition):
        column_named(name, names, table)
    static = {column_named(k, names, table): v for k, v in partition.items() if v is not None}
    values: dict[str, Column] = {k: F.expr(v) for k, v in static.items() if v is not None}
    source = list(frame.columns[:-1] if extra else frame.columns)
    if by_name:
        targeted = columns_named(source, names, table)
    elif columns is not None:
        targeted = columns_named(columns, names, table)
        columns_named((*targeted, *static), names, table)  # PARTITION gives these columns their values
    else:
        targeted = [n for n in names if n not in static]
        if len(source) == len(names) and static:
            # SELECT * with the static partition column is accepted; the static value wins.
            targeted = names
    check_width(table, targeted, len(source))
    targets = [spark_type(f.type) for f in table.schema.fields]
    if targeted == names and [f.dataType for f in frame.schema.fields[: len(source)]] == targets:
        return frame.toDF(*names, *([extra] if extra else []))  # saves a dozen JVM calls per cast
    # Positions, not names: a source may have duplicate names.
    plain = frame.toDF(*[f"__c{i}" for i in range(len(source))], *([extra] if extra else []))
    for i, name in enumerate(targeted):
        values.setdefault(name, F.col(f"__c{i}"))
    out = []
    for field, target in zip(table.schema.fields, targets, strict=True):
        if field.name in values:
            value = values[field.name]
        elif field.default_value is not None:
            value = F.lit(field.default_value)
        else:
            value = F.lit(None)
        out.append(value.cast(target).alias(field.name))
    try:
        return plain.select(*out, *([extra] if extra else []))
    except AnalysisException:
        _check_casts(plain, out, table)
        raise


def _check_casts(plain: DataFrame, values: Sequence[Column], table: Table) -> None:
    """Raises SchemaMismatch for the first column that Spark cannot cast to the table's type."""
    from pyspark.errors import AnalysisException

    for field, value in zip(table.schema.fields, values, strict=True):
        try:
            plain.select(value)
        except AnalysisException as error:
            why = str(error).partition("data type mismatch: ")[2].partition("\n")[0] or "there is no cast for it"
            raise SchemaMismatch(
                f"column {field.name!r} of {table.name} is {field.type.bare()}: {why.rstrip('. ')}",
                hint="source columns are matched by position; name them (INSERT INTO t (a, b) ...) or add a CAST",
                column=field.name,
            ) from None


def check_width(table: Table, columns: Sequence[str], count: int) -> None:
    """Raises SchemaMismatch if an INSERT has too many or too few values."""
    if len(columns) != count:
        raise SchemaMismatch(
            f"INSERT has {count} values but {table.name} needs {len(columns)} columns ({', '.join(columns)})",
            hint="name the columns: INSERT INTO t (a, b) ...",
            expected=len(columns),
            found=count,
        )


def columns_named(written: Sequence[str], names: list[str], table: Table) -> list[str]:
    """The names in the table's spelling. Raises ColumnNotFound; SchemaMismatch: a duplicate name."""
    found = [column_named(name, names, table) for name in written]
    twice = next((name for i, name in enumerate(found) if name in found[:i]), None)
    if twice is not None:
        raise SchemaMismatch(f"duplicate column {twice!r} of {table.name}", hint="name each column once", column=twice)
    return found


def column_named(name: str, names: list[str], table: Table) -> str:
    """A column name in the table's spelling. Raises ColumnNotFound with the nearest name."""
    if name in names:
        return name
    folded = {n.lower(): n for n in names}
    if name.lower() in folded:
        return folded[name.lower()]
    raise ColumnNotFound(
        f"{table.name} has no column {name!r}",
        hint=did_you_mean(name, names) or f"columns: {', '.join(names)}",
        column=name,
    )
