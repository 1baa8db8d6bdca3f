"""Queries kept under a name, put in front of later ones as common table expressions. The user's text is never rewritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paimon_nb.base.errors import UnknownName, UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.base.registry import did_you_mean


def query_text(text: str) -> str:
    """The one query of a cell, without its semicolon. Raises UnsupportedOperation where it is anything else."""
    from paimon_nb.plan import Query
    from paimon_nb.sql import parse, tokens

    statements = parse(text)
    if len(statements) != 1 or not isinstance(statements[0], Query):
        raise UnsupportedOperation("a snippet is one query", hint="SELECT ..., WITH ... or VALUES ..., nothing else")
    words = list(tokens(text))
    end = words[-1].start if words[-1].text == ";" else words[-1].start + len(words[-1].text)
    return text[:end].rstrip()


def with_snippets(text: str, names: Sequence[str], known: Mapping[str, str]) -> str:
    """The query with the snippets before it.

    Args:
        names: which snippets, in the order in which they may name each other.

    Raises:
        UnknownName: no such snippet. UnsupportedOperation: the cell is no query.
    """
    from paimon_nb.sql import tokens

    for name in names:
        if name not in known:
            raise UnknownName(
                f"no snippet {name!r}", hint=did_you_mean(name, known) or "%%paimon --save NAME keeps one"
            )
    query = query_text(text)
    first = next(iter(tokens(query)))
    ours = ",\n".join(f"{quote(name)} AS (\n{known[name]}\n)" for name in names)
    if first.text.upper() == "WITH":
        return f"{query[: first.start]}WITH {ours},{query[first.start + len('WITH') :]}"
    return f"WITH {ours}\n{query}"
