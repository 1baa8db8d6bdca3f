"""CREATE, DROP and DESCRIBE FUNCTION: SQL functions where the catalog stores them, else Spark's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import AlreadyExists, NameError_, UnknownName, UnsupportedOperation
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.api import StoredFunction
from paimon_nb.format.types import DataField
from paimon_nb.format.types.parse import parse_type
from paimon_nb.session.core.result import message_result, rows_result
from paimon_nb.session.execute.admin import spark_command
from paimon_nb.session.query.stored_functions import create_temporary_function, drop_temporary_function
from paimon_nb.statements import SparkCommand
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from paimon_nb.session.core.result import Result
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.statements import CreateFunction, Describe, DropFunction

_CHECKED = "paimon_function_to_check"


def create_function(context: StatementContext, statement: CreateFunction) -> Result:
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.plan_check import check_expression

    session = context.session
    found = session.find(statement.name)
    catalog, name = found.catalog, found.name
    if not catalog.stores_functions:
        return spark_command(context, SparkCommand(statement.text, statement.span))
    if statement.is_java:
        raise UnsupportedOperation(
            f"function {name}: catalog {catalog.name!r} stores SQL functions only; classes are not run here",
            hint="RETURN an expression; CREATE TEMPORARY FUNCTION ... AS 'class' loads a class until the session ends",
            name=str(name),
        )
    exists = name.table in catalog.functions(name.database)
    if exists and statement.if_not_exists:
        return message_result(f"function {name} exists already")
    if exists and not statement.or_replace:
        raise AlreadyExists(f"function {name} exists already", hint="CREATE OR REPLACE FUNCTION", name=str(name))
    if any(t.upper == "SELECT" for t in tokens(statement.body)):
        raise UnsupportedOperation(
            f"function {name}: its body is a query, which is not run here",
            hint="RETURN an expression of the parameters; CREATE VIEW stores a query",
            name=str(name),
        )
    parameters = tuple(
        DataField(i, p.name, parse_type(p.type or ""), p.comment, p.default) for i, p in enumerate(statement.inputs)
    )
    function = StoredFunction(
        parameters, parse_type(statement.returns), statement.body, statement.comment, statement.deterministic
    )
    with spark_errors(context.text, statement.span):  # a wrong expression is rejected now
        check_expression(session.spark, function.body, f"function {name}")
        create_temporary_function(session, _CHECKED, function)
        drop_temporary_function(session, _CHECKED)
    if exists:
        catalog.drop_function(name)
    catalog.create_function(name, function)
    return message_result(f"function {name} created")


def describe_function(context: StatementContext, statement: Describe) -> Result:
    """DESCRIBE FUNCTION [EXTENDED]: the function of the catalog, in the words of Paimon's Spark connector, else Spark's own."""
    try:
        found = context.session.find(statement.name)
    except NameError_:  # a catalog of Spark
        return spark_command(context, SparkCommand(statement.text, statement.span))
    function = found.catalog.function(found.name) if found.catalog.stores_functions else None
    if function is None:
        return spark_command(context, SparkCommand(statement.text, statement.span))
    names = [f.name for f in function.parameters]
    width = max(map(len, names), default=0)
    inputs = [f"{f.name:{width}} {f.type}" for f in function.parameters] or ["()"]
    facts = [("Function:", str(found.name)), ("Type:", "SCALAR")]
    facts += [("" if i else "Input:", text) for i, text in enumerate(inputs)]
    facts.append(("Returns:", str(function.returns)))
    if statement.extended:
        facts += [("Comment:", function.comment)] if function.comment else []
        facts += [("Deterministic:", str(function.is_deterministic).lower()), ("Body:", function.body)]
    width = max(len(key) for key, _ in facts)
    return rows_result({"function_desc": [f"{key:{width}} {value}" for key, value in facts]})


def drop_function(context: StatementContext, statement: DropFunction) -> Result:
    found = context.session.find(statement.name)
    catalog, name = found.catalog, found.name
    if not catalog.stores_functions:
        return spark_command(context, SparkCommand(statement.text, statement.span))
    known = catalog.functions(name.database)
    if name.table in known and catalog.drop_function(name):
        return message_result(f"function {name} dropped")
    if not statement.if_exists:
        hint = did_you_mean(name.table, known) or "SHOW FUNCTIONS lists them"
        raise UnknownName(f"no function {name} in catalog {catalog.name!r}", hint=hint, name=str(name))
    return message_result(f"no function {name}")
