"""CREATE CATALOG, DATABASE, TABLE, VIEW in both dialects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.sql.grammar.columns import Column, parse_column_definition, with_spark_map_keys, with_spark_semantics
from paimon_nb.sql.grammar.functions import create_function
from paimon_nb.sql.grammar.query import query_of
from paimon_nb.statements import (
    ColumnDef,
    CreateCatalog,
    CreateDatabase,
    CreateTable,
    CreateView,
    Query,
    Span,
    SparkCommand,
    Statement,
    TableDef,
    Watermark,
)

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Cursor

_WHAT = ("CATALOG", "DATABASE", "SCHEMA", "NAMESPACE", "TABLE", "VIEW", "FUNCTION")


def create(cursor: Cursor, span: Span) -> Statement:
    text = cursor.text_of(span)
    only_replace = or_replace = cursor.take("REPLACE")
    if not or_replace:
        cursor.expect("CREATE")
        or_replace = cursor.take("OR", "REPLACE")
    cursor.take("GLOBAL")
    temporary = cursor.take_one("TEMPORARY", "TEMP") is not None
    what = cursor.take_one(*_WHAT)
    external = what is None and cursor.take("EXTERNAL", "TABLE")
    if external:
        what = "TABLE"
    if what == "FUNCTION" and not temporary:
        return create_function(cursor, span, or_replace)
    if what is None or what == "FUNCTION":
        if what == "FUNCTION" or cursor.take("SYSTEM"):
            cursor.at = len(cursor.tokens)
            return SparkCommand(text, span)
        cursor.fail("CREATE what?", expected=list(_WHAT))
    exists = cursor.take("IF", "NOT", "EXISTS")
    if what == "CATALOG":
        name = cursor.name("catalog")
        cursor.expect("WITH")
        return CreateCatalog(text, span, name, cursor.options(), exists)
    if what == "TABLE":
        made = _parse_table(cursor, span, exists, or_replace, temporary)
        return replace(made, only_replace=only_replace, definition=replace(made.definition, external=external))
    if what == "VIEW":
        return _parse_view(cursor, span, exists, or_replace, temporary)
    database = cursor.parts("database")
    comment, options = None, {}
    while not cursor.done:
        if cursor.take("COMMENT"):
            comment = cursor.string()
        elif cursor.take("WITH"):
            cursor.take_one("DBPROPERTIES", "PROPERTIES")
            options = cursor.options()
        elif cursor.take("LOCATION"):
            options["location"] = cursor.string()
        else:
            cursor.finish()
    return CreateDatabase(text, span, database, exists, comment, options)


def _parse_view(
    cursor: Cursor, span: Span, exists: bool, or_replace: bool, temporary: bool
) -> CreateView | SparkCommand:
    name = cursor.parts("view")
    columns: list[tuple[str, str | None]] = []
    if cursor.sees("("):

        def parse_view_column() -> tuple[str, str | None]:
            out = cursor.name("column")
            return out, cursor.string() if cursor.take("COMMENT") else None

        columns = cursor.listed(parse_view_column)
    comment, options = None, {}
    while cursor.sees("COMMENT") or cursor.sees("TBLPROPERTIES"):
        if cursor.take("COMMENT"):
            comment = cursor.string()
        else:
            cursor.take("TBLPROPERTIES")
            options = cursor.options()
    if temporary and cursor.sees("USING"):  # Spark reads these files itself
        cursor.at = len(cursor.tokens)
        return SparkCommand(cursor.text_of(span), span)
    cursor.expect("AS")
    query = query_of(cursor, Span(cursor.start, span.stop))
    return CreateView(
        cursor.text_of(span), span, name, query, tuple(c for c, _ in columns), temporary, or_replace, exists, comment, options,
        tuple(c for _, c in columns),
    )  # fmt: skip


class TableParts:
    """A CREATE TABLE statement during parsing."""

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.primary: tuple[str, ...] = ()
        self.partition: tuple[str, ...] = ()
        self.options: dict[str, str] = {}
        self.comment: str | None = None
        self.watermark: Watermark | None = None
        self.location: str | None = None
        self.provider: str | None = None
        self.like: tuple[str, ...] | None = None
        self.excluding_options = False
        self.query: Query | None = None
        self.is_flink = self.is_spark = False


def _parse_table(cursor: Cursor, span: Span, if_not_exists: bool, or_replace: bool, temporary: bool) -> CreateTable:
    name = cursor.parts("table")
    table = TableParts()
    if cursor.sees("(") and cursor.peek(1).upper not in ("SELECT", "WITH"):
        cursor.listed(lambda: parse_element(cursor, table), allow_trailing=True)
    while not cursor.done:
        parse_clause(cursor, span, table)
    definition = definition_of(table)
    return CreateTable(
        cursor.text_of(span), span, name, definition, if_not_exists, or_replace, temporary, table.like, table.excluding_options,
        table.query,
    )  # fmt: skip


def definition_of(table: TableParts) -> TableDef:
    """The parsed columns, keys and options."""
    for parsed in table.columns:
        if parsed.primary_key:
            table.primary = (*table.primary, parsed.path[0])
    # TIMESTAMP without precision is an instant in Spark and a local time in Flink; the default is Spark's.
    with_semantics = (lambda t: t) if table.is_flink and not table.is_spark else with_spark_semantics

    def type_of(column: Column) -> str | None:
        if not column.type:
            return None
        text = with_semantics(column.type)
        return with_spark_map_keys(text) if table.is_spark else text

    columns = tuple(
        ColumnDef(
            c.path[0],
            type_of(c),
            c.comment,
            c.default,
            c.computed,
            c.metadata,
            c.virtual,
        )
        for c in table.columns
    )
    return TableDef(
        columns, table.primary, table.partition, table.options, table.comment, table.watermark, table.location, table.provider
    )  # fmt: skip


def parse_element(cursor: Cursor, table: TableParts) -> None:
    """One item between the brackets: a column, a key, a watermark."""
    if cursor.sees("WATERMARK", "FOR"):
        cursor.at += 2
        parts = cursor.parts("column")
        cursor.expect("AS")
        table.watermark = Watermark(".".join(parts), cursor.text_of(cursor.balanced(",")))
        table.is_flink = True
        return
    if cursor.sees("CONSTRAINT"):
        cursor.at += 1
        cursor.name("constraint")
    if cursor.peek().upper in ("CHECK", "UNIQUE", "FOREIGN") and cursor.peek(1).upper in ("(", "KEY"):
        cursor.refuse(
            f"{cursor.peek().upper} constraints are not supported",
            "remove it, and check the condition in the INSERT's query",
        )
    if cursor.sees("PRIMARY", "KEY"):
        cursor.at += 2
        table.primary = cursor.names()
        if cursor.take("NOT", "ENFORCED"):
            table.is_flink = True
        return
    if cursor.sees("LIKE"):
        cursor.at += 1
        table.like = cursor.parts("table")
        return
    read = parse_column_definition(cursor)
    table.is_flink |= read.not_enforced or read.metadata is not None or read.computed is not None
    table.columns.append(read)


def parse_clause(cursor: Cursor, span: Span, table: TableParts) -> None:
    """One clause after the brackets, in any order, of either dialect."""
    if cursor.take("COMMENT"):
        table.comment = cursor.string("comment")
    elif cursor.take("PARTITIONED", "BY") or cursor.take("PARTITIONED"):
        table.partition = tuple(cursor.listed(lambda: _partition_key(cursor, table)))
    elif cursor.take("WITH"):
        table.options.update(cursor.options())
        table.is_flink = True
    elif cursor.take_one("TBLPROPERTIES", "OPTIONS"):
        table.options.update(cursor.options())
        table.is_spark = True
    elif cursor.take("USING"):
        table.provider = cursor.name("provider").lower()
        table.is_spark = True
    elif cursor.take("LOCATION"):
        table.location = cursor.string("path")
    elif cursor.take("DISTRIBUTED"):
        _parse_distribution(cursor, table)
    elif cursor.take("CLUSTERED", "BY"):
        table.options.setdefault("bucket-key", ",".join(cursor.names()))
        cursor.expect("INTO")
        table.options.setdefault("bucket", str(cursor.integer()))
        cursor.expect("BUCKETS")
    elif cursor.take("LIKE"):
        table.like = cursor.parts("table")
        if cursor.sees("("):
            table.excluding_options = _like_options(cursor)
    elif cursor.take("AS") or cursor.peek().upper in ("SELECT",):
        table.query = query_of(cursor, Span(cursor.start, span.stop))
    elif cursor.peek().upper in _UNSUPPORTED_CLAUSES:
        cursor.refuse(
            f"{cursor.peek().upper} is not supported for Paimon tables", _UNSUPPORTED_CLAUSES[cursor.peek().upper]
        )
    else:
        cursor.fail(
            f"unexpected {cursor.peek().text!r} in CREATE TABLE",
            expected=["COMMENT", "PARTITIONED", "WITH", "TBLPROPERTIES", "USING", "LOCATION", "LIKE", "AS"],
        )


_UNSUPPORTED_CLAUSES = {
    "CLUSTER": "CALL sys.compact('t', order_strategy => 'zorder', order_by => 'a,b') sorts; so does 'clustering.columns'",
    "STORED": "WITH ('file.format' = 'parquet'), 'orc' or 'avro'",
    "ROW": "WITH ('file.format' = 'parquet'), 'orc' or 'avro'",
    "SORTED": "primary-key tables are sorted by key; use CALL sys.compact to sort other tables",
}
"""Clauses of Hive and Delta Lake, and what to write instead."""


def _partition_key(cursor: Cursor, table: TableParts) -> str:
    """A partition column; Spark may define it here, with a type."""
    if cursor.peek(1).text in (",", ")"):
        return cursor.name("column")
    read = parse_column_definition(cursor)
    table.columns.append(read)
    table.is_spark = True
    return read.path[0]


def _parse_distribution(cursor: Cursor, table: TableParts) -> None:
    """Flink: DISTRIBUTED BY [HASH] (a, b) INTO n BUCKETS."""
    if cursor.take("BY"):
        cursor.take_one("HASH", "RANGE")
        table.options.setdefault("bucket-key", ",".join(cursor.names()))
    if cursor.take("INTO"):
        table.options.setdefault("bucket", str(cursor.integer()))
        cursor.expect("BUCKETS")
    table.is_flink = True


def _like_options(cursor: Cursor) -> bool:
    """(INCLUDING ALL EXCLUDING OPTIONS ...): whether options are excluded."""
    cursor.expect("(")
    excluding = False
    while not cursor.take(")"):
        how = cursor.take_one("INCLUDING", "EXCLUDING", "OVERWRITING")
        if how is None:
            cursor.fail("expected INCLUDING or EXCLUDING", expected=["INCLUDING", "EXCLUDING", "OVERWRITING"])
        what = cursor.take_one(
            "ALL", "OPTIONS", "CONSTRAINTS", "PARTITIONS", "WATERMARKS", "GENERATED", "METADATA", "DISTRIBUTION"
        )
        if what in ("ALL", "OPTIONS"):
            excluding = how == "EXCLUDING"
    return excluding
