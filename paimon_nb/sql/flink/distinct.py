"""SELECT DISTINCT of maps: Spark groups rows by maps, but refuses them in DISTINCT."""

from __future__ import annotations

from paimon_nb.sql.render import replace_spans
from paimon_nb.statements import Span
from paimon_nb.syntax.lexer import tokens
from paimon_nb.syntax.operands import Operands

_AFTER_SELECT = frozenset({")", "ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "EXCEPT", "INTERSECT", "MINUS"})


def distinct_as_groups(text: str) -> str:
    """The query with `SELECT * FROM (SELECT a, m FROM t) GROUP BY ALL` for each `SELECT DISTINCT a, m FROM t`."""
    words = tokens(text)
    operands = Operands(words)
    edits: list[tuple[Span, str]] = []
    for at in range(len(words) - 2):
        if words[at].upper != "SELECT" or words[at + 1].upper != "DISTINCT":
            continue
        end = at + 2
        while end < len(words) and words[end].upper not in _AFTER_SELECT:
            end = operands.closing(end) + 1
        stop = words[end - 1].stop
        edits.append((Span(words[at].start, words[at + 1].stop), "SELECT * FROM (SELECT"))
        edits.append((Span(stop, stop), ") GROUP BY ALL"))
    return replace_spans(text, Span(0, len(text)), edits)
