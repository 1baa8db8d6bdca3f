"""What follows a table or a table function in FROM: arguments, and the OPTIONS hint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlError
from paimon_nb.sql.constants import parse_constant
from paimon_nb.syntax.lexer import Cursor

if TYPE_CHECKING:
    from collections.abc import Callable


def hint_options(cursor: Cursor) -> dict[str, str]:
    """`/*+ OPTIONS('k'='v', ...) */`; other hints (BROADCAST, LOOKUP ...) are skipped."""
    from paimon_nb.syntax.lexer import tokens

    hint = cursor.next()
    inner_text = " " * (hint.start + 3) + hint.text[3:-2]  # padding keeps the error offsets
    inner = Cursor(cursor.text, tokens(inner_text))
    out: dict[str, str] = {}
    while not inner.done:
        if inner.take("OPTIONS"):
            out.update(inner.options())
        else:
            inner.at += 1
            if inner.sees("("):
                inner.at += 1
                inner.balanced()
                inner.take(")")
        inner.take(",")
    return out


def table_arguments(
    cursor: Cursor, expression: Callable[[], object] | None
) -> tuple[tuple[object, ...], dict[str, object]]:
    """Positional and named arguments: constants.

    Args:
        expression: reads an argument that is no constant; None: it is an error.
    """
    positional: list[object] = []
    named: dict[str, object] = {}

    def parse_value() -> object:
        first = cursor.at
        try:
            value = parse_constant(cursor)
            if cursor.sees(",") or cursor.sees(")") or expression is None:
                return value
        except SqlError:
            if expression is None:
                raise
        cursor.at = first
        assert expression is not None
        return expression()

    def parse_function_argument() -> None:
        if cursor.peek().is_name and cursor.peek(1).upper == "=>":
            key = cursor.name()
            cursor.at += 1
            named[key] = parse_value()
        else:
            positional.append(parse_value())

    cursor.listed(parse_function_argument)
    return tuple(positional), named
