"""Where operands begin and end: one forward pass over a statement's tokens, for every operator that has to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.syntax.lexer import Token

_CLOSING = {")": "(", "]": "["}
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "||", "DIV"})
_NOT_OPERANDS = frozenset(
    {
        *("AND", "OR", "NOT", "WHERE", "ON", "WHEN", "THEN", "ELSE", "SELECT", "HAVING", "IN", "BETWEEN", "LIKE", "BY", "FROM"),
        *("DISTINCT", "ALL", "AS", "IS", "VALUES", "RETURN", "SET"),
    }
)  # fmt: skip
"""Words before a bracket that are not function names, and not operands themselves."""


class Operands:
    """The operands of one statement, by the index of their tokens.

    An operand is a name, a literal, a call, an element (`a[1]`), CASE ... END, or an expression in brackets.
    """

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self._partner: dict[int, int] = {}
        """Opening bracket, or CASE, -> the token that closes it, and the other way round."""
        self._first: list[int] = []
        """By token: the first token of the operand that ends with it."""
        open_: list[int] = []
        for i, token in enumerate(tokens):
            is_part = i > 0 and tokens[i - 1].text == "."
            first = i
            if token.text in _CLOSING.values() or (token.upper == "CASE" and not is_part):
                open_.append(i)
            elif token.text in _CLOSING or (token.upper == "END" and open_ and tokens[open_[-1]].upper == "CASE"):
                first = self._close(open_.pop(), i) if open_ else 0
            elif is_part and i > 1:
                first = self._first[i - 2]
            self._first.append(first)

    def _close(self, opening: int, closing: int) -> int:
        """The first token of the operand that ends with this bracket."""
        self._partner[opening], self._partner[closing] = closing, opening
        before = opening - 1
        if before < 0 or self.tokens[opening].upper == "CASE":
            return opening
        is_element = self.tokens[opening].text == "["
        is_call = self.tokens[before].is_name and self.tokens[before].upper not in _NOT_OPERANDS
        return self._first[before] if is_element or is_call else opening

    def first(self, stop: int) -> int:
        """The index of the first token of the operand that ends before `stop`."""
        return self._first[stop - 1] if stop else 0

    def is_operand(self, stop: int) -> bool:
        """Whether an operand ends before `stop` that can have elements: not an operator, a keyword or a literal."""
        first = self.tokens[self.first(stop)] if stop else None
        return first is not None and (first.is_name or first.text == "(") and first.upper not in _NOT_OPERANDS

    def closing(self, at: int) -> int:
        """The index of the bracket that closes the one at `at`; the last token if there is none."""
        if self.tokens[at].text not in _CLOSING.values():
            return at
        return self._partner.get(at, len(self.tokens) - 1)

    def opening(self, at: int) -> int:
        """The index of the bracket that the one at `at` closes; the first token if there is none."""
        return self._partner.get(at, 0)

    def stop(self, at: int) -> int:
        """The index after the arithmetic expression that starts at `at`."""
        tokens = self.tokens
        while True:
            while self._upper(at) in ("+", "-"):
                at += 1
            if at >= len(tokens):
                return at
            at = self._factor_stop(at)
            while at < len(tokens) and tokens[at].text == "[":
                at = self.closing(at) + 1
            if self._upper(at) not in _ARITHMETIC:
                return at
            at += 1

    def _factor_stop(self, at: int) -> int:
        token, tokens = self.tokens[at], self.tokens
        if token.text == "(":
            return self.closing(at) + 1
        if token.upper == "CASE":
            return self._partner.get(at, len(tokens) - 1) + 1
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if token.upper == "INTERVAL" and following is not None and following.kind in ("string", "number"):
            at += 3
            return at + 2 if self._upper(at) == "TO" else at
        if token.upper in ("DATE", "TIME", "TIMESTAMP") and following is not None and following.kind == "string":
            return at + 2
        at += 1
        while token.is_name and self._upper(at) == ".":
            at += 2
        return self.closing(at) + 1 if token.is_name and self._upper(at) == "(" else at

    def _upper(self, at: int) -> str:
        return self.tokens[at].upper if 0 <= at < len(self.tokens) else ""
