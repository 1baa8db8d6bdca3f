"""CREATE, ALTER, DROP and REFRESH of materialized tables: Flink's statements, and Spark's for materialized views.

Source: Flink `parserImpls.ftl` (2.3), Spark `SqlBaseParser.g4` (4.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.sql.grammar.create import TableParts, definition_of, parse_clause, parse_element
from paimon_nb.sql.grammar.partition import partition_spec
from paimon_nb.sql.grammar.query import query_of
from paimon_nb.statements import (
    AlterMaterializedTable,
    Change,
    CreateMaterializedTable,
    DropMaterializedTable,
    Freshness,
    Refresh,
    RenameTable,
    ResetOptions,
    Resume,
    SetFreshness,
    SetOptions,
    SetQuery,
    SetRefreshMode,
    Span,
    Statement,
    Suspend,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.syntax.lexer import Cursor

_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY")
_MODES = ("CONTINUOUS", "FULL")
_START_MODES = (
    "FROM_BEGINNING", "FROM_NOW", "FROM_TIMESTAMP", "RESUME_OR_FROM_BEGINNING", "RESUME_OR_FROM_NOW", "RESUME_OR_FROM_TIMESTAMP",
)  # fmt: skip


def _create(cursor: Cursor, span: Span) -> Statement:
    cursor.expect("CREATE")
    or_alter = cursor.take("OR", "ALTER")
    refreshes = not or_alter and cursor.take("OR", "REFRESH")
    if cursor.take("OR", "REPLACE"):
        cursor.refuse(
            "REPLACE MATERIALIZED TABLE is not supported",
            "CREATE OR ALTER MATERIALIZED TABLE changes the query of one that exists",
        )
    if cursor.take_one("TEMPORARY", "TEMP"):
        cursor.refuse("CREATE TEMPORARY MATERIALIZED TABLE is not supported", "leave TEMPORARY out")
    is_view = _take_kind(cursor)
    exists = cursor.take("IF", "NOT", "EXISTS")
    name = cursor.parts("table")
    parts = TableParts()
    columns: tuple[str, ...] = ()
    if cursor.sees("(") and cursor.peek(1).upper not in ("SELECT", "WITH"):
        columns = _columns(cursor, parts, is_view=is_view)
    clauses = _Clauses()
    while not cursor.done:
        _clause(cursor, span, parts, clauses)
    if parts.query is None:
        cursor.fail("a materialized table needs the query that fills it", expected=["AS"])
    return CreateMaterializedTable(
        cursor.text_of(span), span, name, definition_of(parts), columns, parts.query, clauses.freshness, clauses.refresh_mode,
        clauses.start_mode, or_alter or refreshes, exists, is_view,
    )  # fmt: skip


def _take_kind(cursor: Cursor) -> bool:
    """MATERIALIZED TABLE or MATERIALIZED VIEW; whether it is a view."""
    cursor.expect("MATERIALIZED")
    return cursor.take_one("TABLE", "VIEW") == "VIEW"


def _columns(cursor: Cursor, parts: TableParts, *, is_view: bool) -> tuple[str, ...]:
    """The items in brackets: names of columns, or their definitions, with keys and a watermark."""
    names: list[str] = []

    def item() -> None:
        following = cursor.peek(1)
        if is_view or (cursor.peek().is_name and following.text in (",", ")")):
            names.append(cursor.name("column"))
            if is_view and cursor.take("COMMENT"):
                cursor.string("comment")
        elif names and cursor.peek().upper not in ("PRIMARY", "CONSTRAINT", "WATERMARK"):
            cursor.at += 1
            cursor.fail(f"unexpected {following.text!r}: the columns before have no types", hint="a list of names only, or a type for each column")  # fmt: skip
        else:
            if parts.columns and following.text in (",", ")"):
                cursor.fail("a column without a type", hint="a list of names only, or a type for each column")
            parse_element(cursor, parts)

    cursor.listed(item, allow_trailing=True)
    if names and parts.columns:
        cursor.fail("some columns have types, others do not", hint="a list of names only, or a type for each column")
    return tuple(names)


class _Clauses:
    """The clauses that only materialized tables have."""

    def __init__(self) -> None:
        self.freshness: Freshness | None = None
        self.refresh_mode: str | None = None
        self.start_mode: str | None = None


def _clause(cursor: Cursor, span: Span, parts: TableParts, clauses: _Clauses) -> None:
    if cursor.take("FRESHNESS"):
        clauses.freshness = _freshness(cursor)
    elif cursor.take("REFRESH_MODE"):
        clauses.refresh_mode = _one_of(cursor, "REFRESH_MODE", _MODES)
    elif cursor.take("START_MODE"):
        clauses.start_mode = _start_mode(cursor)
    elif cursor.sees("LIKE") or cursor.sees("LOCATION"):
        cursor.refuse(
            f"{cursor.peek().upper} is not possible for a materialized table", "its columns are those of its query"
        )
    else:
        parse_clause(cursor, span, parts)


def _freshness(cursor: Cursor) -> Freshness:
    """`= INTERVAL '30' SECOND`."""
    cursor.expect("=")
    form = "FRESHNESS = INTERVAL '<number>' { SECOND | MINUTE | HOUR | DAY }"
    if not (cursor.sees("INTERVAL") and cursor.peek(1).kind == "string"):
        cursor.fail("the freshness of a materialized table is an interval", hint=form)
    cursor.at += 1
    text = cursor.peek().value.strip()
    if not text.isdecimal() or not 0 < int(text) < 1 << 31:
        cursor.refuse(f"the freshness must be a positive whole number, not {text!r}", form)
    cursor.at += 1
    unit = cursor.take_one(*_UNITS, *(f"{u}S" for u in _UNITS))
    if unit is None:
        cursor.fail("the freshness needs a unit from SECOND to DAY", expected=_UNITS, hint=form)
    return Freshness(int(text), unit.removesuffix("S"))


def _one_of(cursor: Cursor, what: str, values: Sequence[str]) -> str:
    cursor.expect("=")
    found = cursor.take_one(*values)
    if found is None:
        cursor.fail(f"{what} is {' or '.join(values)}", expected=values)
    return found


def _start_mode(cursor: Cursor) -> str:
    """`= FROM_BEGINNING`, `= FROM_NOW[(INTERVAL ...)]`, `= FROM_TIMESTAMP(TIMESTAMP ...)`, and those with RESUME_OR_."""
    mode = _one_of(cursor, "START_MODE", _START_MODES)
    needs_time = mode.endswith("TIMESTAMP")
    if needs_time and not cursor.sees("("):
        cursor.fail(f"{mode} needs a time", hint=f"{mode}(TIMESTAMP '2026-01-31 00:00:00')")
    if mode.endswith("BEGINNING") or not cursor.take("("):
        return mode
    word = "TIMESTAMP" if needs_time else "INTERVAL"
    if not cursor.sees(word):
        cursor.fail(f"the value of {mode} must be {'a timestamp' if needs_time else 'an interval'}", expected=[word])
    cursor.balanced(")")
    cursor.expect(")")
    return mode


def _alter(cursor: Cursor, span: Span) -> Statement:
    cursor.expect("ALTER")
    _take_kind(cursor)
    name = cursor.parts("table")
    word = cursor.peek().upper
    action = _CHANGES.get(word)
    if action is None and word in _QUERY_DECIDES:
        cursor.refuse(
            f"ALTER MATERIALIZED TABLE {name[-1]} {word} is not possible: its columns and keys are those of its query",
            f"ALTER MATERIALIZED TABLE {name[-1]} AS SELECT ... changes the query; DROP and CREATE for other keys",
        )
    if action is None:
        cursor.fail(f"ALTER MATERIALIZED TABLE cannot {cursor.peek().text or 'do nothing'}", expected=list(_CHANGES))
    cursor.at += 1
    return AlterMaterializedTable(cursor.text_of(span), span, name, action(cursor, span))


_QUERY_DECIDES = ("ADD", "MODIFY", "DROP", "CHANGE", "ALTER")


def _resume(cursor: Cursor, _: Span) -> Change:
    return Resume(cursor.options() if cursor.take("WITH") else {})


def _refresh(cursor: Cursor, _: Span) -> Change:
    if not cursor.take("PARTITION"):
        return Refresh()
    partition = partition_spec(cursor)
    if not partition or None in partition.values():
        cursor.fail("PARTITION needs values", hint="REFRESH PARTITION (dt = '2026-01-31')")
    return Refresh(partition)


def _set(cursor: Cursor, _: Span) -> Change:
    if cursor.take("FRESHNESS"):
        return SetFreshness(_freshness(cursor))
    if cursor.take("REFRESH_MODE"):
        return SetRefreshMode(_one_of(cursor, "REFRESH_MODE", _MODES))
    cursor.take_one("TBLPROPERTIES", "OPTIONS")
    if not cursor.sees("("):
        cursor.fail("SET what?", expected=["FRESHNESS", "REFRESH_MODE", "("])
    options = cursor.options()
    if not options:
        cursor.refuse("SET needs at least one option", "SET ('key' = 'value')")
    return SetOptions(options)


def _reset(cursor: Cursor, _: Span) -> Change:
    cursor.take("TBLPROPERTIES")
    keys = tuple(dict.fromkeys(cursor.listed(cursor.option_key)))
    if not keys:
        cursor.refuse("RESET needs at least one option", "RESET ('key')")
    return ResetOptions(keys)


def _rename(cursor: Cursor, _: Span) -> Change:
    cursor.expect("TO")
    return RenameTable(cursor.parts("table"))


_CHANGES: Mapping[str, Callable[[Cursor, Span], Change]] = {
    "SUSPEND": lambda _cursor, _span: Suspend(),
    "RESUME": _resume,
    "REFRESH": _refresh,
    "SET": _set,
    "RESET": _reset,
    "UNSET": _reset,
    "RENAME": _rename,
    "AS": lambda cursor, span: SetQuery(query_of(cursor, Span(cursor.start, span.stop))),
}


def _drop(cursor: Cursor, span: Span) -> Statement:
    cursor.expect("DROP")
    if cursor.take_one("TEMPORARY", "TEMP"):
        cursor.refuse("DROP TEMPORARY MATERIALIZED TABLE is not supported", "leave TEMPORARY out")
    _take_kind(cursor)
    exists = cursor.take("IF", "EXISTS")
    return DropMaterializedTable(cursor.text_of(span), span, cursor.parts("table"), exists)


def _refresh_view(cursor: Cursor, span: Span) -> Statement:
    """Spark: REFRESH MATERIALIZED VIEW v [FULL]."""
    cursor.expect("REFRESH")
    _take_kind(cursor)
    name = cursor.parts("table")
    return AlterMaterializedTable(cursor.text_of(span), span, name, Refresh(full=cursor.take("FULL")))


STATEMENTS: Mapping[str, Callable[[Cursor, Span], Statement]] = {
    "CREATE": _create,
    "ALTER": _alter,
    "DROP": _drop,
    "REFRESH": _refresh_view,
}
"""By first word."""
