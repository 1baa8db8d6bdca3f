"""Which statements an assistant may run: one that only reads tables, and files below folders that the user named.

This is the part that needs no Spark: the kind of the statement, files, and options in hints. Functions and operators of a query that Spark runs are
compared with allow-lists before Spark analyses them (`spark/plan_check.py`); DuckDB only gets what `session/query/local` translates.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SourceUnavailable, UnsupportedOperation
from paimon_nb.files.locations import find_files
from paimon_nb.session.query.hints import check_reading_options
from paimon_nb.sql.parse import parse
from paimon_nb.sql.session_functions import function_calls
from paimon_nb.statements import Describe, Explain, Query, Show, ShowCreate, SparkCommand
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.statements import Statement

_READING = (Query, Show, ShowCreate, Describe)
_JAVA_CALLS = frozenset({"reflect", "java_method", "try_reflect"})
"""Refused without starting Spark. Each function that is not known to be safe is refused, see `spark/safe_functions.py`."""
_WHAT = "the statement"


def check_reads_only(sql: str, folders: Sequence[Path] = ()) -> None:
    """Raise UnsupportedOperation for a text that is not one reading statement. SqlSyntaxError.

    Args:
        sql: the text.
        folders: resolved folders whose data files may be read.
    """
    statements = parse(sql)
    if len(statements) != 1 or not _only_reads(statements[0]):
        what = " and ".join(type(s).__name__ for s in statements) or "nothing"
        raise UnsupportedOperation(
            f"only one SELECT, SHOW, DESCRIBE or EXPLAIN of a SELECT can be run here, not {what}",
            hint="use SQL in a notebook for changes",
        )
    statement = statements[0]
    query = statement.statement if isinstance(statement, Explain) else statement
    if isinstance(query, Describe) and query.file is not None:
        check_files(query.file.parts, folders)
    if not isinstance(query, Query):
        return
    called = {parts[-1].lower() for _, parts in function_calls(sql, query.span)} & _JAVA_CALLS
    if called:
        raise UnsupportedOperation(f"function {min(called)} calls Java and is refused here", hint="leave it out")
    check_reading_options(query.tables, _WHAT)
    for ref in query.tables:
        if ref.file:
            check_files(ref.parts, folders)


def check_condition(condition: str, folders: Sequence[Path] = ()) -> None:
    """Raise UnsupportedOperation for a condition that does more than read. SqlSyntaxError."""
    check_reads_only(f"SELECT ({condition}) AS found FROM a_table", folders)


def _only_reads(statement: Statement) -> bool:
    if isinstance(statement, Explain):
        return isinstance(statement.statement, Query)
    if isinstance(statement, SparkCommand) or (isinstance(statement, Describe) and statement.what == "function"):
        return _describes_function(statement.text)
    return isinstance(statement, _READING)


def _describes_function(text: str) -> bool:
    """Whether it is DESCRIBE FUNCTION [EXTENDED] name."""
    words = tokens(text)
    is_plain = all(w.kind == "word" and w.text.replace("_", "").isalnum() for w in words)
    return (
        is_plain
        and [w.upper for w in words[:2]] in (["DESCRIBE", "FUNCTION"], ["DESC", "FUNCTION"])
        and len(words) <= 4
    )


def check_files(paths: Sequence[str], folders: Sequence[Path]) -> None:
    """Raise UnsupportedOperation for a file that is not below one of the folders, also by a link, a pattern, a folder or a URL.

    Says the same whether such a file exists or not.
    """
    for path in paths:
        check_file(path, folders)


def check_file(path: str, folders: Sequence[Path]) -> None:
    """`check_files` for one path."""
    if not _is_below(path, folders):
        raise UnsupportedOperation(
            f"the file {path!r} is not below a folder that was named with --files",
            hint="query a table; SHOW TABLES lists them", path=path,
        )  # fmt: skip


def _is_below(path: str, folders: Sequence[Path]) -> bool:
    whole = Path(path).expanduser()
    if ":" in path or ".." in whole.parts:
        return False
    parent = whole.parent.resolve()
    if not any(parent == folder or folder in parent.parents for folder in folders):
        return False
    try:
        found = [f.path.resolve() for f in find_files([path])]
    except SourceUnavailable:
        return True
    return all(any(folder in file.parents for folder in folders) for file in found)
