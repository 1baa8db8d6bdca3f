"""Errors that are known before Spark starts: a JVM takes seconds to say what the text and the catalogs say at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError, SqlAnalysisError
from paimon_nb.base.registry import nearest_known_name
from paimon_nb.session.execute.static_checks import check_statement
from paimon_nb.sql.spark_functions import ARGUMENTS, FUNCTIONS, RELEASE
from paimon_nb.statements import Insert, Query
from paimon_nb.syntax.tree import Alias, Call, Column, Select, Star, walk, walk_expression, without_brackets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import Statement
    from paimon_nb.syntax.tree import Node, Span


_WITH_WORDS = frozenset({"substring", "substr"})
"""Functions whose arguments may have words between them."""


def raise_known_error(session: Session, text: str, statement: Statement) -> None:
    """Raises the error that the statement ends with, if it is known and Spark has not started.

    Raises:
        TableNotFound, SqlAnalysisError: a table, a column or a function does not exist, or has other arguments.
    """
    if session.spark_started:
        return  # it says the same at once
    problems = check_statement(session, text, statement).problems
    query = statement.query if isinstance(statement, Insert) else statement
    if isinstance(query, Query) and _only_functions_of_spark(session):
        problems += [*_wrong_calls(query, text), *_missing_groups(query, text)]
    if problems:
        raise problems[0]


def _only_functions_of_spark(session: Session) -> bool:
    """Whether no catalog and no Spark session of the caller can have other functions than those of the release that is listed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        release = version("pyspark")
    except PackageNotFoundError:
        return False
    is_listed = tuple(map(int, release.split(".")[:2])) <= RELEASE
    return (
        is_listed
        and not session.spark_may_have_catalog_entries
        and not any(catalog.stores_functions for catalog in session.catalogs.values())
    )


def _wrong_calls(query: Query, text: str) -> Iterator[PaimonError]:
    """The errors of calls of functions that do not exist, or of known ones with another number of arguments."""
    if query.tree is None:
        return
    edited = [span for span, _ in (*query.edits, *query.flink_edits)]
    for node in walk(query.tree):
        if not isinstance(node, Call) or len(node.name) > 1 or any(_overlap(span, node.span) for span in edited):
            continue
        name = node.name[0].lower()
        if name not in FUNCTIONS:
            near = nearest_known_name(name, FUNCTIONS)
            yield SqlAnalysisError(
                f"Cannot resolve routine `{node.name[0]}` on search path [`system`.`builtin`, `system`.`session`, `spark_catalog`.`default`]",
                hint=f"did you mean {near}?" if near else "SHOW FUNCTIONS lists the functions",
                sql=text, start=node.span.start, stop=node.span.start + len(node.name[0]),
            )  # fmt: skip
        elif name in ARGUMENTS and name not in _WITH_WORDS and node.window is None and not node.order:
            at_least, at_most = ARGUMENTS[name]
            if not at_least <= len(node.arguments) <= at_most:
                expected = str(at_least) if at_least == at_most else f"[{at_least}, {at_most}]"
                yield SqlAnalysisError(
                    f"The `{name}` requires {expected} parameters but the actual number is {len(node.arguments)}",
                    hint="the number of arguments is another one", sql=text, start=node.span.start, stop=node.span.stop,
                )  # fmt: skip


def _missing_groups(query: Query, text: str) -> Iterator[PaimonError]:
    """The errors of columns that are neither grouped nor aggregated, where the SELECT has one source and plain columns as keys."""
    for node in walk(query.tree) if query.tree is not None else ():
        if not isinstance(node, Select) or node.joins or any(isinstance(i, Star) for i in node.items):
            continue
        aliases = {i.name.lower() for i in node.items if isinstance(i, Alias)}
        columns = [c for c in map(_item, node.items) if isinstance(c, Column) and len(c.parts) == 1]
        if node.group is None:
            if columns and any(
                isinstance(n, Call) and _is_known_aggregate(n) for i in node.items for n in walk_expression(i)
            ):
                yield SqlAnalysisError(
                    "The query does not include a GROUP BY clause", hint="add GROUP BY with the columns outside aggregate functions",
                    sql=text, start=columns[0].span.start, stop=columns[0].span.stop,
                )  # fmt: skip
            continue
        keys = [without_brackets(k) for k in node.group.keys]
        names = {k.parts[-1].lower() for k in keys if isinstance(k, Column) and len(k.parts) == 1}
        if not node.group.is_plain or len(names) < len(keys) or names & aliases:
            continue
        for column in columns:
            if column.parts[0].lower() not in names:
                yield SqlAnalysisError(
                    f'The non-aggregating expression "{column.parts[0]}" is based on columns which are not participating in the GROUP BY clause',
                    hint=f"add {column.parts[0]} to GROUP BY, or use any_value({column.parts[0]})",
                    sql=text, start=column.span.start, stop=column.span.stop,
                )  # fmt: skip


def _item(node: Node) -> Node:
    return without_brackets(node.expression if isinstance(node, Alias) else node)


def _is_known_aggregate(node: Call) -> bool:
    return node.window is None and node.function in ("COUNT", "SUM", "AVG", "MIN", "MAX")


def _overlap(a: Span, b: Span) -> bool:
    return a.start < b.stop and b.start < a.stop
