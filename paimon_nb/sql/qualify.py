"""Bare column names in an expression given the table that they must be of, where two tables in scope have them."""

from __future__ import annotations

from collections.abc import Collection

from paimon_nb.base.identifier import quote
from paimon_nb.plan import Span
from paimon_nb.sql.lexer import tokens


def qualified(text: str, span: Span, names: Collection[str], table: str) -> list[tuple[Span, str]]:
    """Edits that put `table.` before each bare one of `names`; subqueries have their own scope and are left alone.

    Args:
        names: lower case. table: its alias, unquoted.
    """
    edits: list[tuple[Span, str]] = []
    inner = tokens(text[span.start : span.stop])
    depth, inside = 0, 0  # brackets open; the depth at which a subquery began, 0 for none
    for i, token in enumerate(inner):
        before, after = inner[i - 1].upper if i else "", inner[i + 1].upper if i + 1 < len(inner) else ""
        if token.text == "(":
            depth += 1
            inside = inside or (depth if after in ("SELECT", "WITH") else 0)
        elif token.text == ")":
            inside = 0 if inside == depth else inside
            depth -= 1
        elif not inside and token.is_name and token.name.lower() in names and before not in (".", "AS") and after not in ("(", ".", "->"):  # fmt: skip
            place = Span(span.start + token.start, span.start + token.stop)
            edits.append((place, f"{quote(table)}.{token.text}"))
    return edits
