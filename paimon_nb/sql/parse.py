"""Parses a cell's text into statements."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.base.registry import nearest_known_name
from paimon_nb.sql.grammar import (
    alter,
    call,
    copy_into,
    create,
    dml,
    drop,
    insert,
    noop_statements,
    query,
    session,
    show,
)
from paimon_nb.statements import Insert, Query, Span, SparkCommand, Statement
from paimon_nb.syntax.lexer import Cursor, Token, tokens

Grammar = Callable[[Cursor, Span], Statement]

STATEMENTS: Mapping[str, Grammar] = {
    "SELECT": query.query,
    "WITH": insert.query_or_insert,
    "VALUES": query.query,
    "FROM": insert.query_or_insert,
    "TABLE": query.query,
    "(": query.query,
    "CREATE": create.create,
    "REPLACE": create.create,
    "DROP": drop.drop,
    "UNDROP": drop.undrop,
    "TRUNCATE": drop.truncate,
    "ALTER": alter.alter,
    "INSERT": insert.insert,
    "UPDATE": dml.update,
    "DELETE": dml.delete,
    "MERGE": dml.merge,
    "COPY": copy_into.copy_into,
    "EXECUTE": insert.execute,
    "BEGIN": insert.statement_set,
    "CALL": call.call,
    "USE": session.use,
    "SET": session.set_option,
    "RESET": session.reset_option,
    "EXPLAIN": session.explain,
    "ANALYZE": session.analyze,
    "SHOW": show.show,
    "STOP": session.stop_job,
    "DESCRIBE": show.describe,
    "DESC": show.describe,
    "SUMMARIZE": show.summarize,
    "REFRESH": noop_statements.about_table,
    "CACHE": noop_statements.about_table,
    "UNCACHE": noop_statements.about_table,
    "MSCK": noop_statements.about_table,
    "REPAIR": noop_statements.about_table,
    "COMMENT": noop_statements.comment_on,
}
SPARK_ONLY = frozenset(
    {"CLEAR", "ADD", "LIST", "LOAD", "UNLOAD", "REPAIR", "DECLARE", "KILL"}
)  # fmt: skip


_MODULE_STATEMENTS = frozenset(
    {
        ("LOAD", "MODULE"),
        ("UNLOAD", "MODULE"),
        ("USE", "MODULES"),
        ("SHOW", "MODULES"),
        ("SHOW", "JARS"),
        ("REMOVE", "JAR"),
    }
)
_CLIENT_COMMANDS = {
    "COMPILE": "run the INSERT itself: Spark plans each statement when it runs",
    "HELP": "docs/sql.md lists every statement; SHOW PROCEDURES lists the procedures",
    "QUIT": "shut down the notebook's kernel, or call wb.close()",
    "EXIT": "shut down the notebook's kernel, or call wb.close()",
}
_UNSUPPORTED = {
    "OPTIMIZE": "CALL sys.compact('t'), with order_strategy and order_by to sort",
    "VACUUM": "CALL sys.expire_snapshots('t', 10), CALL sys.remove_orphan_files('t')",
    "RESTORE": "CALL sys.rollback_to('t', 1), with a snapshot's id or a tag",
    "UPSERT": "use INSERT INTO t: in a table with a primary key it replaces the row with the same key",
    "GRANT": "set permissions in the storage system of the warehouse",
    "REVOKE": "set permissions in the storage system of the warehouse",
    "COMMIT": "each statement is one commit; to undo, create a tag and CALL sys.rollback_to",
    "ROLLBACK": "each statement is one commit; to undo, CALL sys.rollback_to('t', 1)",
    "START": "each statement is one commit; to undo, create a tag and CALL sys.rollback_to",
    "LOCK": "no locks are needed: each statement reads one snapshot and commits one",
    "FLUSH": "no flush is needed: each statement commits",
}
"""First words of other systems' statements, and what to write instead."""
_UNSUPPORTED_PAIRS = {
    ("REPLACE", "INTO"): _UNSUPPORTED["UPSERT"],
    ("INSERT", "IGNORE"): "INSERT INTO a table with 'merge-engine' = 'first-row', or MERGE INTO ... WHEN NOT MATCHED",
}


def parse(text: str) -> list[Statement]:
    """All statements of `text`, in order; both dialects may be mixed.

    Raises:
        SqlSyntaxError: the facts `sql`, `start` and `stop` locate the error in `text`.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SqlSyntaxError(
            "the text has half of a surrogate pair, which is not a character", hint="remove it, or write the whole character",
            sql=text, start=error.start, stop=error.end,
        ) from None  # fmt: skip
    try:
        return [parse_statement(text, part) for part in split_statements(tokens(text))]
    except RecursionError:
        raise SqlSyntaxError("the statement is nested too deeply", hint="split it into views", sql=text) from None


def source_query(text: str, statement: Insert) -> Query:
    """The source of an INSERT as a query, also if it is VALUES of plain literals. `text`: the whole text."""
    if statement.query is not None:
        return statement.query
    source = statement.source
    part = [t for t in tokens(text) if source.start <= t.start and t.stop <= source.stop]
    return query.query_of(Cursor(text, part), source)


def parse_statement(text: str, part: Sequence[Token]) -> Statement:
    """One statement from its tokens."""
    span = Span(part[0].start, part[-1].stop)
    cursor = Cursor(text, part, parse_statement)
    first = part[0].upper
    words = tuple(t.upper for t in part[:3])
    if words[:2] in _MODULE_STATEMENTS or words == ("SHOW", "FULL", "MODULES"):
        cursor.refuse(
            "modules and jars are not supported", "remove the line: all functions are available without loading"
        )
    if words[:2] in _UNSUPPORTED_PAIRS:
        cursor.refuse(f"{' '.join(words[:2])} is not supported", _UNSUPPORTED_PAIRS[words[0], words[1]])
    grammar = _grammar_of_materialized(part) or STATEMENTS.get(first)
    if grammar is not None:
        parsed = grammar(cursor, span)
        cursor.finish()
        return parsed
    if first in SPARK_ONLY:
        return SparkCommand(text[span.start : span.stop], span)
    if first in _CLIENT_COMMANDS:
        raise SqlSyntaxError(
            f"{first} is a command of Flink's client, not a statement", hint=_CLIENT_COMMANDS[first],
            sql=text, start=part[0].start, stop=part[0].stop,
        )  # fmt: skip
    if first in _UNSUPPORTED:
        raise SqlSyntaxError(
            f"{first} is not supported", hint=_UNSUPPORTED[first], sql=text, start=part[0].start, stop=part[0].stop
        )
    near = nearest_known_name(first, [*STATEMENTS, *SPARK_ONLY]) if first else None
    raise SqlSyntaxError(
        f"unknown statement {part[0].text!r}",
        hint=f"did you mean {near!r}?" if near else "start with SELECT, INSERT, CREATE, CALL, SHOW ...",
        sql=text, start=part[0].start, stop=part[0].stop,
    )  # fmt: skip


_BEFORE_MATERIALIZED = frozenset({"CREATE", "ALTER", "DROP", "REFRESH", "OR", "REPLACE", "TEMPORARY", "TEMP"})


def _grammar_of_materialized(part: Sequence[Token]) -> Grammar | None:
    """The grammar of CREATE, ALTER, DROP or REFRESH of a materialized table or view; None: another statement."""
    for token, following in itertools.pairwise(part):
        if token.upper == "MATERIALIZED" and following.upper in ("TABLE", "VIEW"):
            from paimon_nb.sql.grammar import materialized

            return materialized.STATEMENTS.get(part[0].upper)
        if token.upper not in _BEFORE_MATERIALIZED:
            return None
    return None


def split_statements(tokens: Sequence[Token]) -> list[list[Token]]:
    """The token lists of the statements, without semicolons and empty statements."""
    out: list[list[Token]] = []
    current: list[Token] = []
    in_set = False
    for i, token in enumerate(tokens):
        if token.upper == "SET" and _upper_at(tokens, i - 1) == "STATEMENT" and _opens_block(tokens, i):
            in_set = True
        if token.upper == ";" and token.kind == "op":
            if in_set and (not current or current[-1].upper != "END"):
                current.append(token)  # a separator inside the block
                continue
            in_set = False
            if current:
                out.append(current)
            current = []
            continue
        current.append(token)
    if current:
        out.append(current)
    return out


def _opens_block(tokens: Sequence[Token], i: int) -> bool:
    return _upper_at(tokens, i - 2) == "BEGIN" or _upper_at(tokens, i + 1) == "BEGIN"


def _upper_at(tokens: Sequence[Token], i: int) -> str:
    return tokens[i].upper if 0 <= i < len(tokens) else ""
