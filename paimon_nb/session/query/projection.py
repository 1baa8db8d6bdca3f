"""Aligns a query's columns with a table's columns: names, order, types and defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import ColumnNotFound, SchemaMismatch
from paimon_nb.base.registry import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from paimon_nb.format.types import DataField
    from paimon_nb.table.tables.table import Table


def align_with_table(
    frame: DataFrame,
    table: Table,
    columns: tuple[str, ...] | None,
    partition: Mapping[str, str | None],
    *,
    by_name: bool = False,
    match_fields_by: str | None = None,
    fill_missing: bool = False,
    extra: str | None = None,
    flink: bool = False,
) -> DataFrame:
    """The source with exactly the table's columns, cast to their types.

    Columns that the statement omits get their default, else NULL.

    Args:
        match_fields_by: how fields inside a column are matched: by 'position', by 'name', or by 'name or position' if they
            share no name. Default: as the columns.
        fill_missing: nested fields that the source lacks are NULL.
        extra: the source's last column, appended to the table's columns.
        flink: cast as Flink's INSERT does, see `flink_casts`.

    Raises:
        SchemaMismatch: too many or too few columns, or a type that cannot be cast.
        ColumnNotFound: the table has no such column.
        SqlAnalysisError: `flink`, and PARTITION (column = NULL), which is no literal of Flink's.
    """
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    from paimon_nb.session.query.flink_casts import implicit_cast, is_checked
    from paimon_nb.session.query.partition_predicates import check_partition_without_null
    from paimon_nb.spark.types import spark_type
    from paimon_nb.spark.write.nested_fields import match_fields

    match_fields_by = match_fields_by or ("name" if by_name else "position")
    names = list(table.schema.names)
    for name in (*(columns or ()), *partition):
        column_named(name, names, table)
    static = {column_named(k, names, table): v for k, v in partition.items() if v is not None}
    if flink:
        check_partition_without_null(static)
    values: dict[str, Column] = {k: F.expr(v) for k, v in static.items()}
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
    checked = flink and any(is_checked(f.type) for f in table.schema.fields)
    if targeted == names and not checked and [f.dataType for f in frame.schema.fields[: len(source)]] == targets:
        return frame.toDF(*names, *([extra] if extra else []))  # saves a dozen JVM calls per cast
    # Positions, not names: a source may have duplicate names.
    plain = frame.toDF(*[f"__c{i}" for i in range(len(source))], *([extra] if extra else []))
    types = dict(zip(names, targets, strict=True))
    for i, name in enumerate(targeted):
        value = F.col(f"__c{i}")
        if match_fields_by != "position":
            value = match_fields(
                value, plain.schema.fields[i].dataType, types[name], name,
                fill=fill_missing, or_position=match_fields_by == "name or position",
            )  # fmt: skip
        if checked:
            value = implicit_cast(value, plain.schema.fields[i].dataType, table.schema.field(name).type)
        values.setdefault(name, value)
    out = []
    for field, target in zip(table.schema.fields, targets, strict=True):
        if field.name in values:
            value = values[field.name]
        else:
            value = F.lit(default_value_text(field))
        out.append(value.cast(target).alias(field.name))
    try:
        return plain.select(*out, *([extra] if extra else []))
    except AnalysisException:
        _check_casts(plain, out, table)
        raise


def default_value_text(field: DataField) -> str | None:
    """The text that Spark casts to a column's default. None: there is none, or the write itself puts it in place of NULL."""
    from paimon_nb.format.data import unquoted
    from paimon_nb.format.types import Array, Map, Row

    text = field.default_value
    return None if text is None or isinstance(field.type, Array | Map | Row) else unquoted(text)


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
