"""SQL functions in the form of a REST server.

Source: Paimon 2.1 `FunctionDefinition`, `SQLFunctionConverter`: the definition for the engine "spark" is the text of an expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import FormatError, StoreError, UnsupportedOperation
from paimon_nb.catalog.api import StoredFunction
from paimon_nb.format.types import DataField
from paimon_nb.format.types.parse import parse_field_json

if TYPE_CHECKING:
    from paimon_nb.base.identifier import Identifier
    from paimon_nb.format.metadata_json import JsonObject

_ENGINE = "spark"
_IS_QUERY = "spark.sql-function.is-query"


def parse_function(name: Identifier, node: JsonObject, uri: str) -> StoredFunction:
    """The function of a reply.

    Raises:
        UnsupportedOperation: it is Java code, or a query. StoreError: the reply is invalid.
    """
    try:
        definitions, options = node.get("definitions", dict), node.texts("options")
        definition = definitions.get(_ENGINE) or {}
        if definition.get("type") != "sql":
            kinds = sorted({str(d.get("type")) for d in definitions.values()}) or ["none"]
            raise UnsupportedOperation(
                f"function {name} is not run here: it is defined as {', '.join(kinds)}, which is Java code, not as SQL for Spark",
                hint="CREATE OR REPLACE FUNCTION ... RETURN <expression>",
                name=str(name),
            )
        if options.get(_IS_QUERY) == "true":
            raise UnsupportedOperation(
                f"function {name} is not run here: its body is a query",
                hint="CREATE VIEW of the query, and join it",
                name=str(name),
            )
        parameters = tuple(parse_field_json(f, "parameter") for f in node.get("inputParams", list, []))
        (returned,) = (parse_field_json(f, "result") for f in node.get("returnParams", list))
        return StoredFunction(
            parameters,
            returned.type,
            str(definition["definition"]),
            node.get("comment", str, None),
            node.get("deterministic", bool, True),
            options,
        )
    except (FormatError, KeyError, ValueError, AttributeError) as error:
        raise StoreError(
            f"function {name}: the catalog server at {uri} sends an invalid definition: {error}",
            hint="drop the function and create it again",
            name=str(name),
        ) from None


def function_json(name: Identifier, function: StoredFunction) -> dict[str, Any]:
    """The body of the request that creates a function, without its name."""
    return {
        "inputParams": [f.to_json() for f in function.parameters],
        "returnParams": [DataField(0, name.table, function.returns).to_json()],
        "deterministic": function.is_deterministic,
        "definitions": {_ENGINE: {"type": "sql", "definition": function.body}},
        "comment": function.comment,
        "options": {**function.options, _IS_QUERY: "false"},
    }
