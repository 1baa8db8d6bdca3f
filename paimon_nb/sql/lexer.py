"""The lexer: text to tokens with offsets. Comments are dropped, hints are kept, nothing is regenerated.

In Spark's string literals a backslash escapes the next character; in Flink's it is an ordinary character. A cell whose
literals only end by Flink's rule (`SPLIT_INDEX(path, '\', 1)`) is lexed by it; all others by Spark's rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlSyntaxError

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPARK_TEXT = r"""[rR]?'(?:[^'\\]|\\.|'')*'|[rR]?"(?:[^"\\]|\\.|"")*\""""
_FLINK_TEXT = r"""'(?:[^']|'')*'|"(?:[^"]|"")*\""""
_PATTERN = r"""
    (?P<space>\s+|--[^\n]*)
  | (?P<hint>/\*\+(?:[^*]|\*(?!/))*\*/)
  | (?P<comment>/\*(?:[^*]|\*(?!/))*\*/)
  | (?P<string>TEXT)
  | (?P<quoted>`(?:[^`]|``)*`)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:BD|bd|[LlSsYyDdFf])?(?![\w$])|\d+)
  | (?P<word>[^\W\d][\w$]*|\d[\w$]*)
  | (?P<op><=>|=>|->|::|<>|!=|<=|>=|==|\|\||[-+*/%=<>(),.;:!\[\]{}?&|^~@\#$])
  | (?P<junk>.)
    """
_LEX, _LEX_FLINK = (re.compile(_PATTERN.replace("TEXT", t), re.X | re.S) for t in (_SPARK_TEXT, _FLINK_TEXT))
_OPEN = {"'": "string", '"': "string", "`": "quoted name", "/": "comment"}
_CLOSING = {"'": "'", '"': '"', "`": "`", "/": "*/"}


@dataclass(frozen=True, slots=True)
class Token:
    """One lexical unit. `kind`: word, quoted, string, number, param, hint, op."""

    kind: str
    text: str
    start: int
    stop: int
    upper: str
    """Upper-case text of words and operators, '' for other tokens; for comparison with keywords."""
    flink: bool = False
    """A string literal in which backslashes are ordinary characters."""

    @property
    def name(self) -> str:
        """The identifier of a word or quoted name."""
        return self.text[1:-1].replace("``", "`") if self.kind == "quoted" else self.text

    @property
    def value(self) -> str:
        """The content of a string literal."""
        raw = self.text[1:] if self.text[0] in "rR" else self.text
        quote_char = raw[0]
        inner = raw[1:-1].replace(quote_char * 2, quote_char)
        return inner if self.flink else inner.replace("\\" + quote_char, quote_char)

    @property
    def is_name(self) -> bool:
        return self.kind in ("word", "quoted")


def tokens(text: str) -> list[Token]:
    """All tokens of `text`. Linear in its length.

    Raises:
        SqlSyntaxError: an unterminated string, name or comment, or a character that is not valid in SQL.
    """
    try:
        return _tokens(text, _LEX)
    except SqlSyntaxError:
        if "\\'" not in text:
            raise
        try:
            return _tokens(text, _LEX_FLINK)
        except SqlSyntaxError:
            pass
        raise


def _tokens(text: str, lex: re.Pattern[str]) -> list[Token]:
    out: list[Token] = []
    position, end = 0, len(text)
    while position < end:
        match = lex.match(text, position)
        assert match is not None
        kind = match.lastgroup or "junk"
        start, position = position, match.end()
        if kind in ("space", "comment"):
            continue
        piece = match[0]
        if kind == "junk" or (kind == "op" and piece == "/" and text.startswith("/*", start)):
            what = _OPEN.get(piece)
            raise SqlSyntaxError(
                f"unterminated {what}" if what else f"unexpected character {piece!r}",
                hint=f"add the closing {_CLOSING[piece]}" if what else "quote names with backticks", sql=text, start=start, stop=start + 1,
            )  # fmt: skip
        if piece == ":" and _is_parameter(text, start, out):
            name = re.compile(r"\w+").match(text, position)
            assert name is not None
            position = name.end()
            out.append(Token("param", text[start:position], start, position, ""))
            continue
        upper = piece.upper() if kind in ("word", "op") else ""
        out.append(Token(kind, piece, start, position, upper, lex is _LEX_FLINK and kind == "string"))
    return out


def _is_parameter(text: str, colon: int, before: list[Token]) -> bool:
    """Whether `:` starts a parameter (`:name`); `a:b` is a struct type or a path into a VARIANT, `a::b` a cast."""
    following = text[colon + 1 : colon + 2]
    if not (following.isalpha() or following == "_"):
        return False
    adjacent = bool(before) and before[-1].stop == colon
    return not (adjacent and (before[-1].kind in ("word", "quoted", "string", "number") or before[-1].text in ")]>"))


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
