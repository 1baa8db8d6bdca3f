"""VALUES whose rows are expressions of the query. Spark computes the rows of an inline table before anything knows their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.sql.flink.function_edits import argument_spans
from paimon_nb.sql.render import replace_spans
from paimon_nb.statements import Span
from paimon_nb.syntax.lexer import tokens
from paimon_nb.syntax.operands import Operands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.syntax.lexer import Token

_SET_OPERATORS = frozenset({"UNION", "EXCEPT", "INTERSECT"})
_BEFORE_A_QUERY = frozenset({"", "(", "ALL", "DISTINCT", *_SET_OPERATORS})
_AFTER_ROWS = frozenset({"", ")", "ORDER", "LIMIT", "OFFSET", *_SET_OPERATORS})


def values_as_select(text: str) -> str:
    """The query with `SELECT inline(array(struct(1, 2), struct(3, 4)))` for each `VALUES (1, 2), (3, 4)`."""
    words = tokens(text)
    operands = Operands(words)
    edits: list[tuple[Span, str]] = []
    for at, word in enumerate(words):
        if word.upper != "VALUES" or (words[at - 1].upper if at else "") not in _BEFORE_A_QUERY:
            continue
        rows = _rows(words, operands, at + 1)
        if rows:
            edits.append((Span(word.start, word.stop), "SELECT inline(array("))
            bare = [words[row.start].start for row in rows if not _is_struct(words, operands, row)]
            edits += [(Span(start, start), "struct") for start in bare]
            end = words[rows[-1].stop - 1].stop
            edits.append((Span(end, end), "))"))
    return replace_spans(text, Span(0, len(text)), edits)


def _rows(words: Sequence[Token], operands: Operands, at: int) -> list[range]:
    """The tokens of each row of VALUES; [] if a row is not one bracket, or the rows have different numbers of values."""
    rows: list[range] = []
    while at < len(words):
        opening = at + (words[at].upper == "STRUCT")
        if opening == len(words) or words[opening].text != "(":
            return []
        row = range(at, operands.closing(opening) + 1)
        rows.append(row)
        following = words[row.stop].upper if row.stop < len(words) else ""
        if following in _AFTER_ROWS:
            bare = [row for row in rows if not _is_struct(words, operands, row)]
            counts = {len(argument_spans(words[row.start : row.stop])) for row in bare}
            return rows if len(counts) <= 1 else []
        if following != ",":
            return []
        at = row.stop + 1
    return []


def _is_struct(words: Sequence[Token], operands: Operands, row: range) -> bool:
    """Whether the row is written as struct(...), also in brackets."""
    first, last = row.start, row.stop - 1
    while words[first].text == "(" and operands.closing(first) == last:
        first, last = first + 1, last - 1
    return words[first].upper == "STRUCT" and words[first + 1].text == "(" and operands.closing(first + 1) == last
