"""Qualifies bare column names in an expression, where two tables in scope have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote
from paimon_nb.statements import Span
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Collection


def qualify_bare_columns(text: str, span: Span, names: Collection[str], table: str) -> list[tuple[Span, str]]:
    """Edits that insert `table.` before each bare name in `names`; subqueries have their own scope and are not changed.

    Args:
        names: column names, lower case.
        table: the table's alias, unquoted.
    """
    edits: list[tuple[Span, str]] = []
    inner = tokens(text[span.start : span.stop])
    depth, subquery_depth = 0, 0  # open brackets; the depth at which a subquery starts, 0: none
    for i, token in enumerate(inner):
        before, after = inner[i - 1].upper if i else "", inner[i + 1].upper if i + 1 < len(inner) else ""
        if token.text == "(":
            depth += 1
            subquery_depth = subquery_depth or (depth if after in ("SELECT", "WITH") else 0)
        elif token.text == ")":
            subquery_depth = 0 if subquery_depth == depth else subquery_depth
            depth -= 1
        elif not subquery_depth and token.is_name and token.name.lower() in names and before not in (".", "AS") and after not in ("(", ".", "->"):  # fmt: skip
            name_span = Span(span.start + token.start, span.start + token.stop)
            edits.append((name_span, f"{quote(table)}.{token.text}"))
    return edits
