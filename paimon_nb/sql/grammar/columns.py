"""Column definitions and types of CREATE and ALTER."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types.parse import TypeSyntaxError, parse_type
from paimon_nb.statements import Span

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Cursor

_MAP_OF_TEXT_KEYS = re.compile(r"^(\s*MAP\s*<\s*STRING)\s*,", re.IGNORECASE)
_BARE_TIMESTAMP = re.compile(r"(?i)\bTIMESTAMP\b(?!\s*(\(|WITH|_))")


@dataclass(slots=True)
class Column:
    """A parsed column. `type` ends with NOT NULL if the column is NOT NULL."""

    path: tuple[str, ...]
    type: str
    comment: str | None = None
    default: str | None = None
    computed: str | None = None
    metadata: str | None = None
    virtual: bool = False
    primary_key: bool = False
    not_enforced: bool = False
    first: bool = False
    after: str | None = None


def parse_column_definition(cursor: Cursor, *, path: bool = False) -> Column:
    """`name TYPE [constraints]`, `name AS expr`, `name TYPE METADATA [FROM 'k'] [VIRTUAL]`."""
    name = cursor.parts("column") if path else (cursor.name("column"),)
    cursor.take(":")
    if cursor.take("AS"):
        expression = cursor.balanced(",", "COMMENT", *(("FIRST", "AFTER") if path else ()))
        out = Column(name, "", computed=cursor.text_of(expression))
        out.comment = cursor.string() if cursor.take("COMMENT") else None
        if path:
            out.first = cursor.take("FIRST")
            out.after = cursor.name("column") if not out.first and cursor.take("AFTER") else None
        return out
    out = Column(name, parse_sql_type(cursor))
    not_null = False
    while True:
        if cursor.take("NOT", "NULL"):
            not_null = True
        elif cursor.take("NULL") or cursor.take("UNIQUE"):
            pass
        elif cursor.take("PRIMARY", "KEY"):
            out.primary_key = True
        elif cursor.take("NOT", "ENFORCED"):
            out.not_enforced = True
        elif cursor.take("COMMENT"):
            out.comment = cursor.string("comment")
        elif cursor.take("DEFAULT"):
            out.default = parse_default_text(cursor)
        elif cursor.take("METADATA"):
            out.metadata = cursor.string("metadata key") if cursor.take("FROM") else name[-1]
        elif cursor.take("VIRTUAL"):
            out.virtual = True
        elif cursor.sees("GENERATED"):
            cursor.refuse(
                f"GENERATED columns are not supported ({name[-1]!r})",
                f"use {name[-1]} AS expression, which is computed on read",
            )
        elif cursor.take("FIRST"):
            out.first = True
        elif cursor.take("AFTER"):
            out.after = cursor.name("column")
        else:
            break
    if not_null:
        out.type += " NOT NULL"
    return out


def parse_default_text(cursor: Cursor) -> str | None:
    """The constant of DEFAULT, as text that is cast to the column's type. None: the word NULL, which is no default."""
    token = cursor.peek()
    if token.kind == "string":
        return cursor.next().value
    first = cursor.at
    span = cursor.balanced(",", "COMMENT", "NOT", "PRIMARY", "FIRST", "AFTER")
    if span.start == span.stop:
        cursor.fail("expected a default value")
    words = cursor.tokens[first : cursor.at]
    kinds = [t.upper for t in words]
    if kinds[:2] == ["CAST", "("] and "AS" in kinds[3:]:
        words = words[2 : kinds.index("AS")]
    elif len(words) == 2 and kinds[0] in ("TIMESTAMP", "DATE", "TIME") and words[1].kind == "string":
        words = words[1:]
    if len(words) == 1 and words[0].kind == "string":
        return words[0].text[1:-1]
    constant = cursor.text[words[0].start : words[-1].stop]
    return None if constant.upper() == "NULL" else constant


def parse_sql_type(cursor: Cursor) -> str:
    """The validated text of a type; the caller handles NOT NULL at top level."""
    start = cursor.start
    if not cursor.peek().is_name:
        cursor.fail("expected a type")
    cursor.at += 1
    if cursor.sees("PRECISION") or cursor.sees("VARYING"):
        cursor.at += 1
    if cursor.sees("("):
        _skip_brackets(cursor, "(", ")")
    elif cursor.sees("<"):
        _skip_brackets(cursor, "<", ">")
    elif cursor.sees("<>"):
        cursor.at += 1
    if cursor.take("WITH", "LOCAL", "TIME", "ZONE") or cursor.take("WITHOUT", "TIME", "ZONE"):
        pass
    if cursor.sees("ARRAY") or cursor.sees("MULTISET"):
        cursor.fail("unsupported collection type", hint="write ARRAY<T> or MULTISET<T>")
    text = cursor.text_of(Span(start, cursor.stop))
    try:
        parse_type(text)
    except TypeSyntaxError as error:
        at = start + int(error.start)
        raise SqlSyntaxError(
            error.message, hint=error.hint or "for example STRING, BIGINT, DECIMAL(10, 2), TIMESTAMP(3), ROW<a INT>",
            sql=cursor.text, start=at, stop=max(cursor.stop, at + 1),
        ) from None  # fmt: skip
    return text


def _skip_brackets(cursor: Cursor, opening: str, closing: str) -> None:
    depth = 0
    while not cursor.done:
        text = cursor.next().text
        depth += (text == opening) - (text == closing)
        if depth == 0:
            return
    cursor.fail(f"unclosed {opening!r}")


def with_spark_map_keys(type_text: str) -> str:
    """A MAP whose keys are NOT NULL, as they are in Spark."""
    return _MAP_OF_TEXT_KEYS.sub(r"\1 NOT NULL,", type_text)


def with_spark_semantics(type_text: str) -> str:
    """A type with Spark's semantics: a TIMESTAMP without precision is an instant."""
    return _BARE_TIMESTAMP.sub("TIMESTAMP_LTZ(6)", type_text)
