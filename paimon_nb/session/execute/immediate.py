"""EXECUTE IMMEDIATE: the statement of a text, with values for its `?` or `:name`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SqlAnalysisError, SqlSyntaxError
from paimon_nb.sql import parse
from paimon_nb.statements import ExecuteImmediate
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.session.core.result import Result
    from paimon_nb.session.core.statement_context import StatementContext

_POSITIONAL = "immediate__"
"""The names of parameters that stand for `?`."""


def execute_immediate(
    context: StatementContext, statement: ExecuteImmediate, run_statement: Callable[..., Result]
) -> Result:
    """The result of the text's statement.

    Raises:
        SqlSyntaxError: the text has no statement, or several. SqlAnalysisError: another number of values, or a name without one.
        PaimonError: the statement failed; the positions are those in its text.
    """
    values = _values(context, statement, run_statement)
    text, count = _with_names(statement.sql)
    named = {n: v for n, v in values if n}
    positional = [v for n, v in values if not n]
    if count and named:
        raise SqlAnalysisError("the text has ?, and the values have names", hint="leave out AS name, or write :name")
    if count != len(positional):
        raise SqlAnalysisError(
            f"the text has {count} ?, and USING has {len(positional)} values without a name",
            hint="each ? needs a value",
        )
    parameters = named | {f"{_POSITIONAL}{i}": v for i, v in enumerate(positional)}
    parsed = parse(text)
    if len(parsed) != 1:
        raise SqlSyntaxError(f"EXECUTE IMMEDIATE runs one statement, and the text has {len(parsed)}", sql=text)
    if isinstance(parsed[0], ExecuteImmediate):
        raise SqlSyntaxError(
            "EXECUTE IMMEDIATE cannot run EXECUTE IMMEDIATE", hint="write the inner statement", sql=text
        )
    missing = sorted(set(getattr(parsed[0], "parameters", ())) - parameters.keys())
    if missing:
        raise SqlAnalysisError(f":{missing[0]} has no value", hint=f"USING 1 AS {missing[0]}", sql=text)
    return run_statement(context.session, parsed[0], text, parameters, displayed=context.displayed)


def _values(
    context: StatementContext, statement: ExecuteImmediate, run_statement: Callable[..., Result]
) -> list[tuple[str, Any]]:
    """The values after USING with their names."""
    if not statement.values:
        return []
    items = [context.text[span.start : span.stop] for _, span in statement.values]
    text = f"SELECT {', '.join(f'{item} AS v{i}' for i, item in enumerate(items))}"
    rows = run_statement(context.session, parse(text)[0], text, context.params, displayed=True).to_arrow().to_pylist()
    row: Mapping[str, Any] = rows[0]
    return [(name, row[f"v{i}"]) for i, (name, _) in enumerate(statement.values)]


def _with_names(text: str) -> tuple[str, int]:
    """The text with a named parameter in place of each `?`, and their number."""
    out, at, count = "", 0, 0
    for token in tokens(text):
        if token.text == "?":
            out += f"{text[at : token.start]}:{_POSITIONAL}{count}"
            at, count = token.stop, count + 1
    return out + text[at:], count
