"""Saved queries that are added to later queries as common table expressions. The user's text is never rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnknownName, UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.base.registry import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def query_text(text: str) -> str:
    """The single query of a cell, without its semicolon. Raises UnsupportedOperation: not exactly one query."""
    from paimon_nb.sql import parse, tokens
    from paimon_nb.statements import Query

    statements = parse(text)
    if len(statements) != 1 or not isinstance(statements[0], Query):
        raise UnsupportedOperation(
            "a snippet must be exactly one query", hint="use a single SELECT, WITH or VALUES statement"
        )
    words = list(tokens(text))
    end = words[-1].start if words[-1].text == ";" else words[-1].start + len(words[-1].text)
    return text[:end].rstrip()


def with_snippets(text: str, names: Sequence[str], known: Mapping[str, str]) -> str:
    """The query with the snippets before it.

    Args:
        names: the snippets; later ones may refer to earlier ones.

    Raises:
        UnknownName: no such snippet. UnsupportedOperation: the cell is not a query.
    """
    from paimon_nb.sql import tokens

    for name in names:
        if name not in known:
            raise UnknownName(
                f"unknown snippet {name!r}", hint=did_you_mean(name, known) or "save one with %%paimon --save NAME"
            )
    query = query_text(text)
    first = next(iter(tokens(query)))
    prefix = ",\n".join(f"{quote(name)} AS (\n{known[name]}\n)" for name in names)
    if first.text.upper() == "WITH":
        return f"{query[: first.start]}WITH {prefix},{query[first.start + len('WITH') :]}"
    return f"WITH {prefix}\n{query}"
