"""MERGE INTO as a procedure, as in Flink: builds the statement from its arguments and runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SchemaMismatch, SqlAnalysisError, UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.procedures.procedure import Argument, Context, Procedure, success
from paimon_nb.syntax.lexer import Cursor, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.format.types import DataField, DataType


_FAMILIES = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"), "number"),
    **dict.fromkeys(("CHAR", "VARCHAR"), "text"),
    **dict.fromkeys(("BINARY", "VARBINARY", "BLOB"), "bytes"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), "timestamp"),
}


def _merge_into(context: Context, source_sqls: str | None, **arguments: str | bool | None) -> pa.Table:
    """The views that `source_sqls` creates are dropped afterwards, as in Flink, where they belong to the call."""
    with context.own_views():
        if source_sqls:
            context.sql(source_sqls)
        return _run_merge_statement(context, **arguments)  # type: ignore[arg-type]


def _run_merge_statement(
    context: Context,
    target_table: str,
    target_alias: str | None,
    source_table: str,
    merge_condition: str,
    matched_upsert_condition: str | None = None,
    matched_upsert_setting: str | None = None,
    not_matched_insert_condition: str | None = None,
    not_matched_insert_values: str | None = None,
    matched_delete_condition: str | None = None,
    not_matched_by_source_upsert_condition: str | None = None,
    not_matched_by_source_upsert_setting: str | None = None,
    not_matched_by_source_delete_condition: str | None = None,
    takes_any_match: bool = False,
) -> pa.Table:
    table = context.table(target_table)
    table_columns = list(table.schema.names)
    source = ".".join(quote(p.strip("`")) for p in source_table.split("."))
    source_columns = [
        f"{quote(source_table.split('.')[-1].strip('`'))}.{quote(c)}"
        for c in context.sql(f"SELECT * FROM {source}").columns
    ]
    if matched_upsert_setting and matched_delete_condition and not matched_upsert_condition:
        raise SqlAnalysisError(
            "merge_into with update and delete of matched rows needs matched_upsert_condition",
            hint="set matched_upsert_condition", argument="matched_upsert_condition",
        )  # fmt: skip
    clauses = [
        _when_clause("MATCHED", matched_delete_condition, "DELETE") if matched_delete_condition else "",
        _when_clause(
            "MATCHED", matched_upsert_condition, _update_clause(matched_upsert_setting, table_columns, source_columns)
        ),
        _when_clause(
            "NOT MATCHED",
            not_matched_insert_condition,
            _insert_clause(not_matched_insert_values, table_columns, source_columns),
        ),
        _when_clause("NOT MATCHED BY SOURCE", not_matched_by_source_delete_condition, "DELETE")
        if not_matched_by_source_delete_condition
        else "",
        _when_clause(
            "NOT MATCHED BY SOURCE",
            not_matched_by_source_upsert_condition,
            _update_clause(not_matched_by_source_upsert_setting, table_columns, source_columns),
        ),
    ]
    if not any(clauses):
        raise SqlAnalysisError("merge_into has nothing to do", hint="set a setting, values or a delete condition")
    name = ".".join(quote(p) for p in (context.catalog.name, table.name.database, table.name.table))
    alias = quote(target_alias or table.name.table)
    if not_matched_insert_values and not_matched_insert_values.strip() != "*":
        _check_value_types(context, table.schema.fields, not_matched_insert_values, source)
    text = f"MERGE INTO {name} AS {alias} USING {source} ON {merge_condition}\n{''.join(clauses)}"
    context.sql(text, takes_any_match=takes_any_match)
    return success()


def _data_evolution_merge_into(
    context: Context, target_table: str, target_alias: str | None, source_sqls: str | None, source_table: str,
    merge_condition: str, matched_update_set: str, sink_parallelism: int | None,
) -> pa.Table:  # fmt: skip
    target = context.table(target_table)
    if not target.store.evolves_data:
        raise UnsupportedOperation(
            f"'data-evolution.enabled' is not set for {target.name}",
            hint="use CALL sys.merge_into or MERGE INTO",
        )
    return _merge_into(
        context, source_sqls, target_table=target_table, target_alias=target_alias, source_table=source_table,
        merge_condition=merge_condition, matched_upsert_setting=matched_update_set, takes_any_match=True,
    )  # fmt: skip


def _when_clause(match_kind: str, condition: str | None, action: str | None) -> str:
    if not action:
        return ""
    and_condition = f" AND ({condition}\n)" if condition and condition.strip().upper() != "TRUE" else ""
    return f"WHEN {match_kind}{and_condition} THEN {action}\n"


def _update_clause(assignments: str | None, columns: Sequence[str], source_columns: Sequence[str]) -> str | None:
    """'a = x, b = y', or '*': each column from the source's column at the same position."""
    if not assignments:
        return None
    if assignments.strip() == "*":
        return "UPDATE SET " + ", ".join(f"{quote(n)} = {s}" for n, s in _columns_with_sources(columns, source_columns))
    return f"UPDATE SET {assignments}"


def _insert_clause(values_text: str | None, columns: Sequence[str], source_columns: Sequence[str]) -> str | None:
    """'x, y', one value per column, or '*'."""
    if not values_text:
        return None
    values = (
        [s for _, s in _columns_with_sources(columns, source_columns)]
        if values_text.strip() == "*"
        else _split_at_commas(values_text)
    )
    if len(values) != len(columns):
        raise SqlAnalysisError(
            f"not_matched_insert_values has {len(values)} values for {len(columns)} columns",
            hint=f"one value per column: {', '.join(columns)}",
            argument="not_matched_insert_values",
        )
    return f"INSERT ({', '.join(map(quote, columns))}) VALUES ({', '.join(values)})"


def _check_value_types(context: Context, fields: Sequence[DataField], values_text: str, source: str) -> None:
    """Refuse values of another kind than their columns, such as a number for a column of text. Java's action compares types, too."""
    from pyspark.sql.types import NullType

    from paimon_nb.spark.types import from_spark_type

    frame: Any = context.sql(f"SELECT {values_text} FROM {source} LIMIT 0")
    for column, value in zip(fields, frame.schema.fields, strict=True):
        if isinstance(value.dataType, NullType):
            continue
        found = from_spark_type(value.dataType)
        if _kind_of_value(column.type) != _kind_of_value(found):
            raise SchemaMismatch(
                f"not_matched_insert_values has a value of type {found} for column {column.name!r} {column.type}",
                hint=f"CAST(... AS {column.type.with_nullable(True)})",
                column=column.name,
            )


def _kind_of_value(data_type: DataType) -> str:
    """The family of a type: within it, values are converted as in an INSERT."""
    return _FAMILIES.get(data_type.root, data_type.root)


def _columns_with_sources(columns: Sequence[str], source_columns: Sequence[str]) -> list[tuple[str, str]]:
    if len(columns) != len(source_columns):
        raise SqlAnalysisError(
            f"'*' needs as many source columns ({len(source_columns)}) as table columns ({len(columns)})",
            hint="name the columns one by one",
        )
    return list(zip(columns, source_columns, strict=True))


def _split_at_commas(text: str) -> list[str]:
    """The parts between top-level commas."""
    cursor = Cursor(text, tokens(text))
    parts = []
    while not cursor.done:
        parts.append(cursor.text_of(cursor.balanced(",")))
        if not cursor.take(",") and not cursor.done:
            cursor.finish()
    return parts


def _arguments_by_position(values: Sequence[Any]) -> dict[str, Any]:
    """Flink 1.18's overloads: 6 arguments: delete, 7: update, 9: also insert, 10: all."""
    names = [a.name for a in MERGE_INTO.arguments]
    if len(values) == 6:
        return {**dict(zip(names[:5], values[:5], strict=True)), "matched_delete_condition": values[5]}
    if len(values) > len(names):
        raise SqlAnalysisError(f"merge_into takes at most {len(names)} arguments", hint=MERGE_INTO.usage)
    return dict(zip(names, values, strict=False))


MERGE_INTO = Procedure(
    "merge_into",
    "Update, insert and delete rows of a table from a source table.",
    (
        Argument("target_table", required=True, doc="[database.]table", also=("table",)),
        Argument("target_alias", doc="alias of the table in the conditions"),
        Argument("source_sqls", doc="statements to run first, for example CREATE TEMPORARY VIEW; separated by ';'"),
        Argument("source_table", required=True, doc="table or view with the new rows"),
        Argument("merge_condition", required=True, doc="when two rows match"),
        Argument("matched_upsert_condition", doc="which matched rows to update; all if absent"),
        Argument("matched_upsert_setting", doc="'a = x, b = y' or '*'"),
        Argument("not_matched_insert_condition", doc="which rows of the source to insert; all if absent"),
        Argument("not_matched_insert_values", doc="'x, y', one value per column, or '*'"),
        Argument("matched_delete_condition", doc="which matched rows to delete"),
        Argument("not_matched_by_source_upsert_condition", doc="which rows without a match in the source to update"),
        Argument("not_matched_by_source_upsert_setting", doc="'a = x, b = y'"),
        Argument("not_matched_by_source_delete_condition", doc="which rows without a match in the source to delete"),
    ),
    _merge_into,
    _arguments_by_position,
)

DATA_EVOLUTION_MERGE_INTO = Procedure(
    "data_evolution_merge_into",
    "Update columns of matched rows by writing column files. For tables with data evolution.",
    (
        Argument("target_table", required=True, doc="[database.]table", also=("table",)),
        Argument("target_alias", doc="alias of the table in the conditions"),
        Argument("source_sqls", doc="statements to run first, for example CREATE TEMPORARY VIEW; separated by ';'"),
        Argument("source_table", required=True, doc="table or view with the new values"),
        Argument("merge_condition", required=True, doc="when two rows match, such as 't._ROW_ID = s.id'"),
        Argument("matched_update_set", required=True, doc="'a = x, b = y' or '*'"),
        Argument("sink_parallelism", "int", doc="accepted, without effect here"),
    ),
    _data_evolution_merge_into,
)
