"""SHOW, DESCRIBE and SHOW CREATE TABLE as Flink answers them: its column names, types and clauses.

They apply once the session has Flink's semantics (`Session.flink_semantics`). Source: Flink 1.20 `ShowCreateUtil`,
`DescribeTableOperation`, `Show*Operation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.identifier import quote
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.format.types import (
    MAX_LENGTH,
    Array,
    DataField,
    DataType,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    VarBinary,
    VarChar,
    Vector,
    parse_type,
)
from paimon_nb.session.core.result import Result, rows_result
from paimon_nb.session.query import watermark
from paimon_nb.session.query.computed_columns import computed_columns, is_computed_column_key, quoted_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from paimon_nb.session.query.computed_columns import ComputedColumn
    from paimon_nb.statements import ColumnDef

_LISTS = {
    "catalogs": ("catalog name", "catalog"),
    "databases": ("database name", "namespace"),
    "tables": ("table name", "tableName"),
    "views": ("view name", "viewName"),
    "partitions": ("partition name", "partition"),
    "functions": ("function name", "function"),
    "procedures": ("procedure name", "procedure"),
    "current catalog": ("current catalog name", "catalog"),
    "current database": ("current database name", "namespace"),
}
"""What is shown -> Flink's name of the only column, and our name of it."""


def with_flink_column(what: str, result: Result) -> Result:
    """A SHOW result with Flink's only column; unchanged if Flink has no such statement."""
    if what not in _LISTS or result.arrow is None:
        return result
    name, column = _LISTS[what]
    found = result.arrow.column(column).to_pylist()
    return rows_result({name: sorted(found) if what == "tables" else found}, notes=result.notes)


def describe_columns(
    fields: Sequence[DataField], keys: Sequence[str], options: Mapping[str, str], column: str | None = None
) -> Result:
    """The columns of a table, one row each, also those that are computed.

    Args:
        fields: the stored columns.
        keys: names of the primary key's columns.
        options: the table's options, which have its computed columns and its watermark.
        column: the only column to describe, or None for all.
    """
    import pyarrow as pa

    declared = watermark.watermark_of_options(options)
    names = _names(fields, options)
    key = f"PRI({', '.join(keys)})"
    table: list[tuple[Any, ...]] = [
        (f.name, flink_type_text(f.type), f.type.nullable, key if f.name in keys else None, None, f.description)
        for f in fields
    ]
    for c in computed_columns(options):
        kind = parse_type(c.type) if c.type else None
        table.insert(
            c.position,
            (
                c.name,
                c.type if kind is None else flink_type_text(kind),
                kind is None or kind.nullable,
                None,
                _clause(c, names),
                c.comment,
            ),
        )
    table = [row for row in table if column in (None, row[0])]
    out: dict[str, list[Any]] = {
        name: [row[i] for row in table] for i, name in enumerate(("name", "type", "null", "key", "extras"))
    }
    out["watermark"] = [
        quoted_columns(declared.expression, names) if declared is not None and row[0] == declared.column else None
        for row in table
    ]
    if any(row[5] for row in table):
        out["comment"] = [row[5] or None for row in table]
    return rows_result(out, {"null": pa.bool_()})


def describe_temporary_table(columns: Sequence[ColumnDef], keys: Sequence[str]) -> Result:
    """The stored columns of a temporary table's definition."""
    fields = [DataField(i, c.name, parse_type(c.type), c.comment) for i, c in enumerate(columns) if c.type is not None]
    return describe_columns(fields, keys, {})


def flink_create_table_text(
    name: str,
    fields: Sequence[DataField],
    options: Mapping[str, str],
    with_options: Mapping[str, str],
    *,
    primary_keys: Sequence[str] = (),
    partition_keys: Sequence[str] = (),
    comment: str | None = None,
    computed_last: bool = False,
) -> str:
    """CREATE TABLE text. Without the option `path`, which a warehouse decides, so that the statement can be run again.

    Args:
        name: the quoted name with catalog and database.
        fields: the stored columns.
        options: the table's options, which have its computed columns and its watermark.
        with_options: the options of the WITH clause, secrets masked.
        computed_last: computed columns come last, as in `t$audit_log`, and not in their place.
    """
    names = _names(fields, options)
    lines = []
    for f in fields:
        default = f" DEFAULT {text_literal(f.default_value)}" if f.default_value is not None else ""
        not_null = "" if f.type.nullable else " NOT NULL"
        lines.append(
            f"  {quote(f.name)} {flink_type_text(f.type, full=True)}{not_null}{default}{_comment_clause(f.description)}"
        )
    for c in computed_columns(options):
        kind = "" if c.metadata is None else f"{flink_type_text(parse_type(c.type), full=True)} "
        line = f"  {quote(c.name)} {kind}{_clause(c, names)}{_comment_clause(c.comment)}"
        lines.insert(len(lines) if computed_last else c.position, line)
    if (declared := watermark.watermark_of_options(options)) is not None:
        lines.append(f"  WATERMARK FOR {quote(declared.column)} AS {quoted_columns(declared.expression, names)}")
    if primary_keys:
        key = ", ".join(map(quote, primary_keys))
        lines.append(f"  CONSTRAINT {quote('PK_' + '_'.join(primary_keys))} PRIMARY KEY ({key}) NOT ENFORCED")
    text = f"CREATE TABLE {name} (\n" + ",\n".join(lines) + "\n) "
    if comment:
        text += f"COMMENT {text_literal(comment)}\n"
    if partition_keys:
        text += f"PARTITIONED BY ({', '.join(map(quote, partition_keys))})\n"
    written = {
        k: v for k, v in with_options.items() if not k.startswith(watermark.PREFIX) and not is_computed_column_key(k)
    }
    if written:
        text += (
            "WITH (\n" + ",\n".join(f"  {text_literal(k)} = {text_literal(v)}" for k, v in written.items()) + "\n)\n"
        )
    return text


def flink_type_text(t: DataType, *, full: bool = False) -> str:
    """A type without its nullability, in Flink's words.

    Args:
        full: as in statements (`VARCHAR(2147483647)`), not as in DESCRIBE (`STRING`).
    """
    match t:
        case VarChar() | VarBinary() if full and t.length == MAX_LENGTH:
            return f"{t.root}({MAX_LENGTH})"
        case LocalZonedTimestamp() if not full:
            return f"TIMESTAMP_LTZ({t.precision})"
        case Vector():
            return t.bare()
        case Array() | Multiset():
            return f"{t.root}<{_inner(t.element, full)}>"
        case Map():
            return f"MAP<{_inner(t.key, full)}, {_inner(t.value, full)}>"
        case Row():
            return "ROW<" + ", ".join(_field(f, full) for f in t.fields) + ">"
    return t.bare()


def _names(fields: Sequence[DataField], options: Mapping[str, str]) -> set[str]:
    return {f.name for f in fields} | {c.name for c in computed_columns(options)}


def _clause(column: ComputedColumn, names: Collection[str]) -> str:
    return column.clause if column.metadata is not None else f"AS {quoted_columns(column.expression, names)}"


def _comment_clause(comment: str | None) -> str:
    return f" COMMENT {text_literal(comment)}" if comment else ""


def _inner(t: DataType, full: bool) -> str:
    return flink_type_text(t, full=full) + ("" if t.nullable else " NOT NULL")


def _field(f: DataField, full: bool) -> str:
    return f"{quote(f.name)} {_inner(f.type, full)}" + (f" {text_literal(f.description)}" if f.description else "")
