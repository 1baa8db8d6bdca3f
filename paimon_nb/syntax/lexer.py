"""The lexer, which alone reads the characters of SQL text, and a cursor over tokens: the parsing primitives of the grammar.

Tokens have offsets. Comments are dropped, hints are kept, nothing is regenerated. In Spark's string literals a backslash escapes the
next character; in Flink's it is an ordinary character. A cell whose literals only end by Flink's rule (`SPLIT_INDEX(path, '\\', 1)`)
is lexed by it; all others by Spark's rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.syntax.tree import Span

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
    def unescaped(self) -> str:
        r"""The content of a string literal in which a backslash escapes `n`, `t`, `r`, itself and the quote; in `\.csv` it stays."""
        if self.flink or self.text[0] in "rR":
            return self.value
        quote_char = self.text[0]
        known = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", quote_char: quote_char}
        escaped = rf"\\(.)|{quote_char}{quote_char}"
        return re.sub(escaped, lambda m: known.get(m[1] or quote_char, m[0]), self.text[1:-1], flags=re.DOTALL)

    @property
    def is_name(self) -> bool:
        return self.kind in ("word", "quoted")


def tokens(text: str, *, flink: bool = False) -> list[Token]:
    """All tokens of `text`. Linear in its length.

    Args:
        flink: in every string literal a backslash is an ordinary character.

    Raises:
        SqlSyntaxError: an unterminated string, name or comment, or a character that is not valid in SQL.
    """
    if flink:
        return _tokenize(text, _LEX_FLINK)
    try:
        return _tokenize(text, _LEX)
    except SqlSyntaxError:
        if "\\'" not in text:
            raise
        try:
            return _tokenize(text, _LEX_FLINK)
        except SqlSyntaxError:
            pass
        raise


def _tokenize(text: str, lex: re.Pattern[str]) -> list[Token]:
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


T = TypeVar("T")
ParseStatement = Callable[[str, Sequence[Token]], Any]
"""(whole text, tokens of one statement) -> the statement."""
_END = Token("end", "", 0, 0, "")


class Cursor:
    """Reads `tokens[at:]`; all offsets point into `text`, the whole text."""

    def __init__(self, text: str, tokens: Sequence[Token], parse_statement: ParseStatement | None = None) -> None:
        """`parse_statement`: parses a nested statement, such as that of EXPLAIN."""
        self.text, self.tokens, self.at = text, tokens, 0
        self._parse_statement = parse_statement

    # -- looking

    def peek(self, ahead: int = 0) -> Token:
        index = self.at + ahead
        return self.tokens[index] if 0 <= index < len(self.tokens) else _END

    def sees(self, *words: str) -> bool:
        """Whether the next tokens are these keywords or operators."""
        return all(self.peek(i).upper == w for i, w in enumerate(words))

    @property
    def done(self) -> bool:
        return self.at >= len(self.tokens)

    @property
    def start(self) -> int:
        """Offset of the next token, or the end of the text."""
        if not self.done:
            return self.tokens[self.at].start
        return self.tokens[-1].stop if self.tokens else 0

    @property
    def stop(self) -> int:
        """End offset of the last token that was read."""
        return self.tokens[self.at - 1].stop if self.at else self.start

    # -- taking

    def take(self, *words: str) -> bool:
        """Consume these keywords if they come next."""
        if self.sees(*words):
            self.at += len(words)
            return True
        return False

    def take_one(self, *words: str) -> str | None:
        """Consume one of these words if it comes next, and return it."""
        if self.peek().upper in words and self.peek().upper:
            self.at += 1
            return self.tokens[self.at - 1].upper
        return None

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.take(word):
                self.fail(f"expected {word if word[:1].isalpha() else repr(word)}", expected=[word])

    def next(self) -> Token:
        if self.done:
            self.fail("unexpected end of statement")
        self.at += 1
        return self.tokens[self.at - 1]

    def name(self, what: str = "name") -> str:
        """One identifier; it may start with digits, but is not a string."""
        if not self.peek().is_name:
            self.fail(f"expected {_with_article(what)}")
        return self.next().name

    def parts(self, what: str = "name") -> tuple[str, ...]:
        """A dotted name."""
        out = [self.name(what)]
        while self.sees(".") and self.peek(1).is_name:
            self.at += 1
            out.append(self.name(what))
        return tuple(out)

    def string(self, what: str = "text") -> str:
        if self.peek().kind != "string":
            self.fail(f"expected {_with_article(what)} in quotes")
        return self.next().value

    def string_or_name(self) -> str:
        return self.string() if self.peek().kind == "string" else self.name()

    def tag(self) -> str:
        """A tag's name. One with a dash or a leading digit needs backticks; the error says so."""
        first, last = self.at, self.at
        while last + 1 < len(self.tokens) and self.tokens[last + 1].start == self.tokens[last].stop:
            last += 1
        start, stop = self.peek().start, self.tokens[last].stop if first < len(self.tokens) else self.peek().stop
        if first < last or self.peek().kind == "number":
            written = self.text[start:stop]
            raise SqlSyntaxError(
                f"{written!r} is not a plain name",
                hint=f"write it in backticks: `{written.strip('`')}`", sql=self.text, start=start, stop=stop,
            )  # fmt: skip
        return self.string_or_name()

    def statement(self) -> Any:
        """The remaining tokens as a nested statement."""
        parsed = self.statement_of(self.tokens[self.at :])
        self.at = len(self.tokens)
        return parsed

    def statement_of(self, tokens: Sequence[Token]) -> Any:
        """Some of the tokens as a nested statement."""
        assert self._parse_statement is not None
        return self._parse_statement(self.text, tokens)

    def integer(self) -> int:
        token = self.peek()
        if token.kind != "number" or not token.text.rstrip("Ll").isdecimal():
            self.fail("expected a whole number")
        self.at += 1
        return int(token.text.rstrip("Ll"))

    def listed(self, item: Callable[[], T], *, allow_trailing: bool = False) -> list[T]:
        """`( item, item, ... )`; `allow_trailing` accepts a trailing comma, which published examples have."""
        self.expect("(")
        out: list[T] = []
        while not self.take(")"):
            if out:
                if not self.take(","):
                    self.fail("expected ',' or ')'")
                if allow_trailing and self.take(")"):
                    break
            out.append(item())
        return out

    def names(self) -> tuple[str, ...]:
        """`(a, b)`."""
        return tuple(self.listed(self.name))

    def balanced(self, *stops: str) -> Span:
        """Consume tokens up to one of `stops` (or ',' ')' if listed) at this depth; returns their span.

        WHEN and THEN inside CASE ... END do not stop it.
        """
        start, depth, cases = self.start, 0, 0
        while not self.done:
            token = self.peek()
            if depth == 0 and cases == 0 and token.upper in stops:
                break
            if token.upper == "CASE":
                cases += 1
            elif token.upper == "END" and cases:
                cases -= 1
            if token.text in ("(", "["):
                depth += 1
            elif token.text in (")", "]"):
                if depth == 0:
                    break
                depth -= 1
            self.at += 1
        return Span(start, max(self.stop, start))

    def options(self) -> dict[str, str]:
        """`('k' = 'v', k = v, ...)`: keys quoted or dotted names, values any literal."""
        return dict(self.listed(self._take_option, allow_trailing=True))

    def _take_option(self) -> tuple[str, str]:
        key = self.option_key()
        # Spark allows ('k' 'v') without '='.
        if not self.take_one("=", "==") and self.peek().kind not in ("string", "number"):
            self.fail("expected '='")
        return key, self.option_value()

    def option_key(self) -> str:
        if self.peek().kind == "string":
            return self.next().value
        key = self.name("option")
        while self.sees(".") or self.sees("-"):
            key += self.next().text + self.next().text
        return key

    def option_value(self) -> str:
        token = self.peek()
        if token.kind == "string":
            return self.next().value
        sign = self.take_one("-", "+") or ""
        if self.peek().kind in ("number", "word"):
            return sign + self.next().text
        self.fail("expected a value in quotes")
        return None

    def text_of(self, span: Span) -> str:
        return self.text[span.start : span.stop]

    # -- errors

    def finish(self) -> None:
        if not self.done:
            self.fail(f"unexpected {self.peek().text!r}")

    def refuse(self, why: str, hint: str) -> NoReturn:
        """Raises SqlSyntaxError at the next or last token: parsed, but not supported."""
        token = self.peek() if not self.done else self.peek(-1)
        raise SqlSyntaxError(why, hint=hint, sql=self.text, start=token.start, stop=token.stop)

    def fail(self, why: str, *, expected: Iterable[str] = (), hint: str | None = None) -> NoReturn:
        """Raises SqlSyntaxError at the next token."""
        token = self.peek()
        found = "" if token is _END else token.text
        near = did_you_mean(found, expected) if found else None
        start = self.start
        where = (
            f"{why}, found {found!r}" if found and found not in why else why if found else f"{why}, but the text ends"
        )
        raise SqlSyntaxError(
            where,
            hint=near or hint,
            sql=self.text,
            start=start,
            stop=max(token.stop, start + 1) if found else start + 1,
        )


def _with_article(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
