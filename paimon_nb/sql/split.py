"""Splits tokens into statements at ';', except inside a STATEMENT SET block."""

from __future__ import annotations

from collections.abc import Sequence

from paimon_nb.sql.lexer import Token


def split(tokens: Sequence[Token]) -> list[list[Token]]:
    """The token lists of the statements, without semicolons and empty statements."""
    out: list[list[Token]] = []
    current: list[Token] = []
    in_set = False
    for i, token in enumerate(tokens):
        if token.upper == "SET" and _upper(tokens, i - 1) == "STATEMENT" and _opens_block(tokens, i):
            in_set = True
        if token.upper == ";" and token.kind == "op":
            if in_set and (not current or current[-1].upper != "END"):
                current.append(token)  # a separator inside the block
                continue
            in_set = False
            if current:
                out.append(current)
            current = []
            continue
        current.append(token)
    if current:
        out.append(current)
    return out


def _opens_block(tokens: Sequence[Token], i: int) -> bool:
    return _upper(tokens, i - 2) == "BEGIN" or _upper(tokens, i + 1) == "BEGIN"


def _upper(tokens: Sequence[Token], i: int) -> str:
    return tokens[i].upper if 0 <= i < len(tokens) else ""
