"""ALTER TABLE, DATABASE in both dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote
from paimon_nb.sql.grammar.columns import Column, parse_column_definition, parse_default_text, parse_sql_type
from paimon_nb.sql.grammar.partition import partition_spec
from paimon_nb.sql.grammar.query import query_of
from paimon_nb.statements import (
    AddColumn,
    AddPartition,
    AlterColumn,
    AlterDatabase,
    AlterTable,
    AlterView,
    Change,
    ColumnDef,
    CreateTag,
    CreateView,
    DeleteTag,
    DropColumn,
    DropPartition,
    DropPrimaryKey,
    RenameColumn,
    RenameTable,
    RenameTag,
    ResetOptions,
    SetComment,
    SetComputed,
    SetOptions,
    SetWatermark,
    Span,
    SparkCommand,
    Statement,
    Watermark,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.syntax.lexer import Cursor


def alter(cursor: Cursor, span: Span) -> Statement:
    text = cursor.text_of(span)
    cursor.expect("ALTER")
    what = cursor.take_one("TABLE", "DATABASE", "SCHEMA", "NAMESPACE", "VIEW", "CATALOG", "FUNCTION")
    if what is None:
        cursor.fail("ALTER what?", expected=["TABLE", "DATABASE"])
    if what == "VIEW" and (view := _parse_view(cursor, span)) is not None:
        return view
    if what in ("VIEW", "CATALOG", "FUNCTION"):
        cursor.at = len(cursor.tokens)
        return SparkCommand(text, span)
    if what != "TABLE":
        name = cursor.parts("database")
        cursor.expect("SET")
        if cursor.take("LOCATION"):
            return AlterDatabase(text, span, name, {"location": cursor.string("a path")})
        cursor.take_one("DBPROPERTIES", "PROPERTIES")
        return AlterDatabase(text, span, name, cursor.options())
    if_exists = cursor.take("IF", "EXISTS")
    name = cursor.parts("table")
    first = cursor.peek().upper
    action = _ACTIONS.get(first)
    if action is None and first in _UNSUPPORTED:
        cursor.refuse(*_UNSUPPORTED[first])
    if action is None:
        cursor.fail(f"ALTER TABLE cannot {cursor.peek().text or 'do nothing'}", expected=list(_ACTIONS))
    cursor.at += 1
    return AlterTable(text, span, name, tuple(action(cursor)), if_exists)


def _parse_position(cursor: Cursor) -> tuple[bool, str | None]:
    if cursor.take("FIRST"):
        return True, None
    return False, cursor.name("column") if cursor.take("AFTER") else None


def _one_or_list(cursor: Cursor, item: object) -> list[Change]:
    from typing import cast

    read = cast("Callable[[], Change]", item)
    if cursor.sees("("):
        return cursor.listed(read)
    out = [read()]
    while cursor.take(","):
        out.append(read())
    return out


def _parse_add(cursor: Cursor) -> list[Change]:
    if cursor.sees("PARTITION") or cursor.sees("IF", "NOT", "EXISTS", "PARTITION"):
        exists = cursor.take("IF", "NOT", "EXISTS")
        return [AddPartition(_parse_partitions(cursor), exists)]
    cursor.take_one("COLUMNS", "COLUMN")

    def add_one_column() -> Change:
        _refuse_keys(cursor)
        if cursor.sees("WATERMARK", "FOR"):
            return SetWatermark("add", _parse_watermark(cursor))
        exists = cursor.take("IF", "NOT", "EXISTS")
        read: Column = parse_column_definition(cursor, path=True)
        if read.computed is not None or read.metadata is not None:
            return _set_computed_column(cursor, "add", read)
        return AddColumn(read.path, read.type, read.comment, read.default, read.first, read.after, exists)

    return _one_or_list(cursor, add_one_column)


def _parse_modify(cursor: Cursor) -> list[Change]:
    """Flink: MODIFY c TYPE [NOT NULL] [COMMENT] [FIRST | AFTER x], also in brackets."""
    cursor.take("COLUMN")

    def modify_one_column() -> Change:
        _refuse_keys(cursor)
        if cursor.sees("WATERMARK", "FOR"):
            return SetWatermark("modify", _parse_watermark(cursor))
        read = parse_column_definition(cursor, path=True)
        if read.computed is not None or read.metadata is not None:
            return _set_computed_column(cursor, "modify", read)
        nullable = "NOT NULL" not in read.type.upper()
        return AlterColumn(read.path, read.type, read.comment, read.default, False, nullable, read.first, read.after)

    return _one_or_list(cursor, modify_one_column)


def _set_computed_column(cursor: Cursor, how: str, read: Column) -> SetComputed:
    """ADD or MODIFY c AS expression, or c TYPE METADATA."""
    if len(read.path) > 1:
        cursor.refuse("only whole columns are computed or metadata", "name the column without a dot")
    made = ColumnDef(
        read.path[0],
        read.type or None,
        read.comment,
        computed=read.computed,
        metadata=read.metadata,
        virtual=read.virtual,
    )
    return SetComputed(how, made, read.first, read.after)


def _alter_column(cursor: Cursor) -> list[Change]:
    """Spark: ALTER|CHANGE [COLUMN] c [TYPE t] [COMMENT x] [FIRST|AFTER] | SET/DROP NOT NULL | SET/DROP DEFAULT."""
    cursor.take("COLUMN")
    path = cursor.parts("column")
    if cursor.take("SET", "NOT", "NULL"):
        return [AlterColumn(path, nullable=False)]
    if cursor.take("DROP", "NOT", "NULL"):
        return [AlterColumn(path, nullable=True)]
    if cursor.take("DROP", "DEFAULT"):
        return [AlterColumn(path, drop_default=True)]
    if cursor.take("SET", "DEFAULT"):
        default = parse_default_text(cursor)
        return [AlterColumn(path, default=default, drop_default=default is None)]
    kind = None
    if cursor.take_one("TYPE") or (cursor.take("SET", "DATA", "TYPE")):
        kind = parse_sql_type(cursor)
    elif cursor.peek().kind == "word" and cursor.peek().upper not in ("COMMENT", "FIRST", "AFTER"):
        # Hive's CHANGE COLUMN old new TYPE
        new = cursor.name("column")
        kind = parse_sql_type(cursor)
        renamed: list[Change] = [] if new == path[-1] else [RenameColumn(path, new)]
        comment = cursor.string() if cursor.take("COMMENT") else None
        first, after = _parse_position(cursor)
        return [AlterColumn(path, kind, comment, first=first, after=after), *renamed]
    comment = cursor.string() if cursor.take("COMMENT") else None
    first, after = _parse_position(cursor)
    return [AlterColumn(path, kind, comment, first=first, after=after)]


def _parse_drop(cursor: Cursor) -> list[Change]:
    if cursor.sees("PARTITION") or cursor.sees("IF", "EXISTS", "PARTITION"):
        exists = cursor.take("IF", "EXISTS")
        return [DropPartition(_parse_partitions(cursor), exists)]
    if cursor.take("PRIMARY", "KEY"):
        return [DropPrimaryKey()]
    _refuse_keys(cursor)
    if cursor.take("WATERMARK"):
        return [SetWatermark("drop")]
    cursor.take_one("COLUMNS", "COLUMN")
    exists = cursor.take("IF", "EXISTS")
    return _one_or_list(cursor, lambda: DropColumn(cursor.parts("column"), exists))


def _parse_watermark(cursor: Cursor) -> Watermark:
    """WATERMARK FOR ts AS expression."""
    cursor.expect("WATERMARK", "FOR")
    name = ".".join(cursor.parts("column"))
    cursor.expect("AS")
    return Watermark(name, cursor.text_of(cursor.balanced(",")))


def _refuse_keys(cursor: Cursor) -> None:
    if cursor.sees("PRIMARY", "KEY") or cursor.sees("CONSTRAINT"):
        cursor.refuse("the keys of a table cannot change", "create another table, and INSERT INTO it from this one")


def _parse_partitions(cursor: Cursor) -> tuple[Mapping[str, str | None], ...]:
    out = []
    while cursor.take("PARTITION"):
        if cursor.peek(2).text in ("<", ">", "<=", ">=", "<>", "!="):
            cursor.refuse(
                "PARTITION needs values, not a condition",
                "use DELETE FROM t WHERE ... to drop partitions by a condition",
            )
        out.append(partition_spec(cursor))
        cursor.take(",")
    return tuple(out)


def _parse_rename(cursor: Cursor) -> list[Change]:
    if cursor.take("TO"):
        return [RenameTable(cursor.parts("table"))]
    if cursor.take("TAG"):
        old = cursor.tag()
        cursor.expect("TO")
        return [RenameTag(old, cursor.tag())]
    cursor.take("COLUMN")
    path = cursor.parts("column")
    cursor.expect("TO")
    return [RenameColumn(path, cursor.name("column"))]


def _parse_set(cursor: Cursor) -> list[Change]:
    cursor.take_one("TBLPROPERTIES", "OPTIONS")
    if cursor.sees("LOCATION"):
        cursor.refuse(
            "the location of a table cannot change", "use ALTER TABLE ... RENAME TO to move it inside the warehouse"
        )
    if cursor.take("COMMENT"):
        return [SetComment(cursor.string())]
    return [SetOptions(cursor.options())]


def _parse_reset(cursor: Cursor) -> list[Change]:
    cursor.take("TBLPROPERTIES")
    exists = cursor.take("IF", "EXISTS")
    return [ResetOptions(tuple(cursor.listed(cursor.option_key)), exists)]


def _create_tag(cursor: Cursor) -> list[Change]:
    or_replace = cursor.take("OR", "REPLACE")
    return [_parse_tag(cursor, or_replace=or_replace)]


def _replace_tag(cursor: Cursor) -> list[Change]:
    if cursor.sees("COLUMNS"):
        cursor.fail(
            "REPLACE COLUMNS would lose the identity of every column", hint="use ADD, DROP, RENAME and ALTER COLUMN"
        )
    return [_parse_tag(cursor, only_replace=True)]


def _parse_tag(cursor: Cursor, *, or_replace: bool = False, only_replace: bool = False) -> CreateTag:
    cursor.expect("TAG")
    exists = cursor.take("IF", "NOT", "EXISTS")
    name = cursor.tag()
    snapshot = cursor.integer() if cursor.take("AS", "OF", "VERSION") else None
    retain = None
    if cursor.take("RETAIN"):
        amount = cursor.integer()
        unit = cursor.take_one("DAYS", "HOURS", "MINUTES", "DAY", "HOUR", "MINUTE")
        if unit is None:
            cursor.fail("RETAIN how long?", expected=["DAYS", "HOURS", "MINUTES"])
        retain = f"{amount} {unit.lower().rstrip('s')}"
    return CreateTag(name, snapshot, retain, exists, or_replace, only_replace)


def _parse_view(cursor: Cursor, span: Span) -> AlterView | None:
    """`AS query` or `RENAME TO name`; None for Spark's other forms."""
    text, name = cursor.text_of(span), cursor.parts("view")
    if cursor.take("RENAME", "TO"):
        return AlterView(text, span, name, new_name=cursor.parts("view"))
    if not cursor.take("AS"):
        return None
    query = query_of(cursor, Span(cursor.start, span.stop))
    made = f"CREATE OR REPLACE TEMPORARY VIEW {quote(name[-1])} AS {query.text}"
    return AlterView(text, span, name, CreateView(made, span, name, query, temporary=True, or_replace=True))


def _delete_tag(cursor: Cursor) -> list[Change]:
    cursor.expect("TAG")
    exists = cursor.take("IF", "EXISTS")
    names = tuple(n.strip() for n in cursor.tag().split(","))
    return [DeleteTag(names, exists)]


_UNSUPPORTED = {
    "CLUSTER": (
        "CLUSTER BY is not supported: compaction sorts rows",
        "SET ('clustering.columns' = 'a,b'), or CALL sys.compact",
    ),
    "COMPACT": ("ALTER TABLE ... COMPACT is not supported", "CALL sys.compact('db.t')"),
    "OWNER": ("tables of a warehouse have no owner", "remove the line"),
    "RECOVER": ("RECOVER PARTITIONS is not needed: partitions are in the snapshot", "remove the line"),
    "PARTITION": ("a partition cannot be renamed or moved", "INSERT its rows into the other one, then DROP PARTITION"),
}
_ACTIONS = {
    "ADD": _parse_add,
    "MODIFY": _parse_modify,
    "ALTER": _alter_column,
    "CHANGE": _alter_column,
    "DROP": _parse_drop,
    "RENAME": _parse_rename,
    "SET": _parse_set,
    "UNSET": _parse_reset,
    "RESET": _parse_reset,
    "CREATE": _create_tag,
    "REPLACE": _replace_tag,
    "DELETE": _delete_tag,
}
