"""SQL functions that a catalog stores: temporary functions of Spark while a query is analysed, which puts their expressions in place of the calls."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from paimon_nb.base.errors import NameError_
from paimon_nb.base.identifier import quote
from paimon_nb.base.sql_quoting import spark_literal
from paimon_nb.spark.plan_check import check_expression
from paimon_nb.sql.session_functions import function_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.catalog.api import StoredFunction
    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import Span


@contextmanager
def stored_functions(session: Session, text: str, span: Span) -> Iterator[dict[Span, str]]:
    """Names for the calls of a text that mean functions of a catalog; they are valid inside the block.

    Raises: UnsupportedOperation: one of them is Java code, or a query.
    """
    listed: dict[tuple[str, str], set[str]] = {}
    names: dict[Span, str] = {}
    created: set[str] = set()
    try:
        for call, parts in function_calls(text, span):
            try:
                found = session.find(parts)
            except NameError_:
                continue
            if not found.catalog.stores_functions or (
                len(parts) == 1 and parts[0] not in created and session.spark.catalog.functionExists(parts[0])
            ):
                continue
            database = found.catalog.name, found.name.database
            if database not in listed:
                listed[database] = set(found.catalog.functions(found.name.database))
            if found.name.table not in listed[database]:
                continue
            function = found.catalog.function(found.name)
            if function is None:
                continue
            name = parts[0] if len(parts) == 1 else "_".join((*database, found.name.table))
            if name not in created:
                check_expression(session.spark, function.body, f"function {found.name}")
                create_temporary_function(session, name, function)
                created.add(name)
            names[call] = quote(name)
        yield names
    finally:
        for name in created:
            drop_temporary_function(session, name)


def create_temporary_function(session: Session, name: str, function: StoredFunction) -> None:
    """A temporary function of Spark with the expression. Raises Spark's error for a wrong one."""
    from paimon_nb.spark.types import spark_type

    parameters = []
    for p in function.parameters:
        kind = spark_type(p.type).simpleString()
        default = "" if p.default_value is None else f" DEFAULT CAST({spark_literal(p.default_value)} AS {kind})"
        parameters.append(f"{quote(p.name)} {kind}{default}")
    returns = spark_type(function.returns).simpleString()
    session.spark.sql(
        f"CREATE OR REPLACE TEMPORARY FUNCTION {quote(name)}({', '.join(parameters)}) RETURNS {returns} RETURN {function.body}"
    ).collect()


def drop_temporary_function(session: Session, name: str) -> None:
    session.spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {quote(name)}").collect()
