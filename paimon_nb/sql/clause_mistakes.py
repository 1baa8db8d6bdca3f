"""Mistakes in the clauses of a query that a parser reports at another place: FORM for FROM, a comma before FROM, no `;` between statements.

Spark reads `SELECT status, FROM orders` as the column `FROM` with the alias `orders`, and `SELECT * FORM t` ends with "extra input 't'".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.sql.keywords import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.syntax.lexer import Token

_BEFORE_OPERAND = ("FROM", "WHERE", "HAVING", "LIMIT", "JOIN", "UNION", "ON", "OFFSET", "INTERSECT", "EXCEPT")
"""Words between two operands: `t WHERE a`."""
_BEFORE_BY = ("GROUP", "ORDER", "PARTITION", "CLUSTER", "DISTRIBUTE", "SORT")
_BY_FOLLOWS = frozenset(
    {*_BEFORE_BY, "PARTITIONED", "CLUSTERED", "DISTRIBUTED", "SORTED", "BUCKETED", "IDENTIFIED", "ROUTED", "LIKE"}
)
_STATEMENTS = frozenset(
    {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "CALL", "SHOW", "DESCRIBE", "USE"}
)
_CLAUSES = frozenset({"WHERE", "HAVING"})
_BEFORE_SELECT = frozenset(
    {
        "ALL",
        "DISTINCT",
        "UNION",
        "INTERSECT",
        "EXCEPT",
        "MINUS",
        "AS",
        "EXISTS",
        "IN",
        "ANY",
        "SOME",
        "EXPLAIN",
        "EXTENDED",
    }
)


@dataclass(frozen=True, slots=True)
class ClauseMistake:
    """A mistake at a token: what it is, and what to write."""

    at: Token
    message: str
    hint: str


def clause_mistake(part: Sequence[Token], *, is_understood: bool) -> ClauseMistake | None:
    """The first mistake of a query; None: none is known.

    Args:
        part: the tokens of the query.
        is_understood: whether our parser reads the query. Then only a comma can be wrong.
    """
    found = list(_commas_without_an_item(part))
    if not is_understood:
        found += [*_misspelled_words(part), *_missing_semicolons(part)]
    return min(found, key=lambda mistake: mistake.at.start, default=None)


def _commas_without_an_item(part: Sequence[Token]) -> Iterator[ClauseMistake]:
    """A comma before FROM, before a bracket that closes, before a clause, or at the end."""
    for i, token in enumerate(part):
        if token.text != ",":
            continue
        following = part[i + 1] if i + 1 < len(part) else None
        after = part[i + 2] if i + 2 < len(part) else None
        if following is None:
            yield ClauseMistake(token, "the query ends with a comma", "remove the comma, or write what follows it")
        elif following.text in (")", ","):
            yield ClauseMistake(token, f"nothing is between ',' and {following.text!r}", "remove the comma")
        elif following.kind != "word" or after is None:
            continue
        elif _starts_clause(following, after):
            words = f"{following.upper} BY" if after.upper == "BY" else following.upper
            yield ClauseMistake(token, f"a comma before {words}", "remove the comma: it follows the last item")


def _starts_clause(word: Token, after: Token) -> bool:
    """Whether a word after a comma begins a clause. Most words of clauses can be names of columns, too."""
    if word.upper == "FROM":
        return after.upper != "FROM" and (after.kind in ("word", "quoted", "string") or after.text == "(")
    if word.upper in _CLAUSES:
        return after.kind in ("word", "quoted", "number", "string") and after.upper not in KEYWORDS
    return word.upper in ("GROUP", "ORDER") and after.upper == "BY"


def _misspelled_words(part: Sequence[Token]) -> Iterator[ClauseMistake]:
    for before, token, after in zip(part, part[1:], part[2:], strict=False):
        if token.kind != "word" or token.upper in KEYWORDS:
            continue
        if after.upper == "BY" and token.upper not in _BY_FOLLOWS:
            near = _near(token.upper, _BEFORE_BY)
        elif _ends_operand(before) and _begins_operand(after):
            near = _near(token.upper, _BEFORE_OPERAND)
        else:
            continue
        if near is not None:
            yield ClauseMistake(token, f"{token.text!r} is not a keyword", f"did you mean {near}?")


def _ends_operand(token: Token) -> bool:
    if token.kind == "word":
        return token.upper not in KEYWORDS or token.upper in ("NULL", "TRUE", "FALSE", "END")
    return token.kind in ("quoted", "string", "number") or token.text in (")", "*", "]")


def _begins_operand(token: Token) -> bool:
    if token.kind == "word":
        return token.upper not in KEYWORDS or token.upper in ("NOT", "NULL", "SELECT", "CASE", "CAST", "EXISTS", "ALL")
    return token.kind in ("quoted", "string", "number", "param") or token.text == "("


def _near(word: str, words: Sequence[str]) -> str | None:
    """The word that this one misses by one letter, or by two letters that are exchanged."""
    return next((w for w in words if word != w and _is_one_edit_away(word, w)), None)


def _is_one_edit_away(word: str, other: str) -> bool:
    if abs(len(word) - len(other)) > 1 or max(len(word), len(other)) < 4:
        return False
    if len(word) == len(other):
        different = [i for i, (a, b) in enumerate(zip(word, other, strict=True)) if a != b]
        if len(different) == 2:
            i, j = different
            return j == i + 1 and word[i] == other[j] and word[j] == other[i]
        return len(different) == 1
    shorter, longer = sorted((word, other), key=len)
    return any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))


def _missing_semicolons(part: Sequence[Token]) -> Iterator[ClauseMistake]:
    """A statement that begins inside of a query, outside of brackets."""
    depth = 0
    is_with = part[0].upper in ("WITH", "EXPLAIN", "INSERT")
    for before, token, after in zip(part, part[1:], [*part[2:], None], strict=False):
        depth += (token.text == "(") - (token.text == ")")
        if depth or token.kind != "word" or token.upper not in _STATEMENTS or after is None:
            continue
        if token.upper != "SELECT" and after.kind != "word":
            continue
        if not _ends_operand(before) or before.upper in _BEFORE_SELECT or (is_with and before.text == ")"):
            continue
        yield ClauseMistake(token, f"{token.upper} begins another statement", "write ; between two statements")
