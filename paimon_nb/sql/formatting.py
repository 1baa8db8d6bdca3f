"""Formats SQL text on request: the case of keywords, line breaks and spaces. Nothing else of the text changes.

The tokens stay as they are; only what is between them is written again. The result is compared with the text that was given: the
same tokens, comments and statements, or the text stays as it is.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.sql.keywords import KEYWORDS
from paimon_nb.sql.parse import parse, split_statements
from paimon_nb.syntax.lexer import Token, tokens
from paimon_nb.syntax.tree import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 88
"""Columns of a line. A long literal or expression may be wider."""
_SHORT = 60
"""A query of at most this many characters stays on one line."""
_INDENT = 2
_MAX_LENGTH = 200_000
_WORD = re.compile(r"[\w$]*")
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.S)
_QUERY_STARTS = frozenset({"SELECT", "WITH", "VALUES", "FROM"})
_CLAUSES = frozenset(
    """SELECT FROM WHERE GROUP HAVING ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT MINUS WINDOW QUALIFY SET VALUES USING WHEN
    CLUSTER DISTRIBUTE SORT PARTITIONED TBLPROPERTIES COMMENT OPTIONS""".split()  # noqa: SIM905
)
_JOIN_WORDS = frozenset({"JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "OUTER", "SEMI", "ANTI"})
_LISTS = frozenset({"SELECT", "GROUP", "ORDER", "SET", "VALUES"})
"""Clauses whose items are on lines of their own if they do not fit on one."""
_CONDITIONS = frozenset({"WHERE", "HAVING", "ON"})
_SPACED = frozenset({"=", "==", "<=>", "<>", "!=", "<=", ">=", "||", "=>", "->"})
_NESTED_TYPES = frozenset({"ARRAY", "MAP", "ROW", "STRUCT", "MULTISET"})
_VERBATIM_STATEMENTS = frozenset({"SET", "RESET", "ADD", "LIST", "LOAD", "UNLOAD"})
"""Statements whose words may be text: only the case of their first word changes."""
_NOT_CALLED = KEYWORDS - frozenset(
    "CAST CURRENT_DATE CURRENT_TIMESTAMP DESCRIPTOR FIRST GROUPING IF LAST LEFT LOCALTIMESTAMP REPLACE RIGHT ROW TIMESTAMP TRUNCATE".split()  # noqa: SIM905
)
"""Keywords that are keywords also in front of a bracket."""


@dataclass(frozen=True, slots=True)
class Formatted:
    """The result of `format_sql`."""

    text: str
    """The formatted text, or the given one."""
    refused: str = ""
    """Why the text stays as it is; '' if it was formatted."""


def format_sql(text: str) -> Formatted:
    """Format the statements of a text.

    Args:
        text: statements of both dialects.

    Returns:
        The formatted text; the given text and a reason if a result with the same statements and comments was not found.

    Raises:
        SqlSyntaxError: the text cannot be parsed; the facts `start` and `stop` locate the error.

    Examples:
        >>> print(format_sql("select a from t where b=1").text)
        SELECT a FROM t WHERE b = 1
    """
    if len(text) > _MAX_LENGTH:
        return Formatted(text, f"the text is longer than {_MAX_LENGTH:,} characters")
    parsed = parse(text)
    names = _names_in(_facts(parsed, text))
    for fixed in (frozenset[str](), names, None):
        try:
            made = _Printer(text, fixed).text_of_all()
        except RecursionError:
            return Formatted(text, "its brackets are nested too deeply")
        if _is_same(text, made, parsed):
            return Formatted(made)
    return Formatted(text, "the formatted text would not have the same meaning")


# -- layout


class _Printer:
    """Decides the break before each token, then writes tokens and comments."""

    def __init__(self, text: str, fixed_words: frozenset[str] | None) -> None:
        """`fixed_words`: words whose case stays; None: that of all words."""
        self.text, self.fixed_words = text, fixed_words
        self.tokens = tokens(text)
        self.words = [self._word(i) for i in range(len(self.tokens))]
        self.closing, self.angles = _brackets(self.tokens)
        self.breaks: dict[int, int] = {}
        """Token -> indent, for the tokens that start a line."""
        self.comments = _comments_before(text, self.tokens)

    def text_of_all(self) -> str:
        index = {token.start: i for i, token in enumerate(self.tokens)}
        self.verbatim: set[int] = set()
        """Tokens in front of which the given text stays."""
        for part in split_statements(self.tokens):
            first, last = index[part[0].start], index[part[-1].start] + 1
            self.breaks[first] = 0
            if part[0].upper in _VERBATIM_STATEMENTS:
                self.verbatim.update(range(first + 1, last))
            elif part[0].upper in ("EXECUTE", "BEGIN"):
                self._statement_set(first, last)
            else:
                self._layout(first, last, 0)
        return self._write()

    def _word(self, i: int) -> str:
        """A token as it is written: keywords in upper case."""
        token = self.tokens[i]
        before = self.tokens[i - 1].text if i else ""
        after = self.tokens[i + 1] if i + 1 < len(self.tokens) else None
        if token.kind != "word" or token.upper not in KEYWORDS or before == "." or self._is_fixed(token.text):
            return token.text
        if after is not None and (after.text in (".", "=>") or (after.text == "(" and token.upper not in _NOT_CALLED)):
            return token.text
        return token.upper

    def _is_fixed(self, word: str) -> bool:
        return self.fixed_words is None or word in self.fixed_words

    def _statement_set(self, first: int, last: int) -> None:
        """EXECUTE STATEMENT SET BEGIN statements END: one statement a line."""
        at = next((i for i in range(first, last) if self.tokens[i].upper == "BEGIN"), first)
        start = at + (2 if self.tokens[min(at + 1, last - 1)].upper == "STATEMENT" else 0) + 1
        for i in range(start, last):
            if self.tokens[i].upper == "END" and i == last - 1:
                self.breaks[i] = 0
            elif i == start or self.tokens[i - 1].text == ";":
                self.breaks[i] = _INDENT
                stop = next((k for k in range(i, last) if self.tokens[k].text == ";"), last)
                self._layout(i, stop, _INDENT)

    def _layout(self, first: int, last: int, indent: int) -> None:
        """Breaks of one statement or one query in brackets."""
        if self._is_flat(first, last) and self._width(first, last) <= min(_SHORT, WIDTH - indent):
            return
        starts = [i for i in self._at_depth(first, last) if i == first or self._starts_clause(i, first)]
        for start, stop in zip(starts, [*starts[1:], last], strict=True):
            if start != first:
                self.breaks[start] = indent
            self._clause(start, stop, indent)

    def _clause(self, start: int, stop: int, indent: int) -> None:
        """Breaks inside a clause that starts a line."""
        fits = self._is_flat(start, stop) and indent + self._width(start, stop) <= WIDTH
        word = self.tokens[start].upper
        inside = self._at_depth(start, stop)
        if word in ("CREATE", "REPLACE") and "TABLE" in (self.tokens[i].upper for i in inside):
            self._columns_of_table(inside, indent)
        elif not fits and word in _LISTS and any(self.tokens[i].text == "," for i in inside):
            head = start + (2 if word in ("GROUP", "ORDER") else 1)
            head += head < stop and self.tokens[head].upper in ("DISTINCT", "ALL")
            for i in inside:
                if i == head or (i > head and self.tokens[i - 1].text == ","):
                    self.breaks[i] = indent + _INDENT
        conditions = word in _CONDITIONS or any(self.tokens[i].upper == "ON" for i in inside)
        if conditions and not fits:
            for i in inside:
                if self.tokens[i].upper in ("AND", "OR") and not self._closes_between(i, start):
                    self.breaks[i] = indent + _INDENT
        for i in inside:
            if i in self.closing and not (fits and not self._is_query(i) and not self._is_list_of_options(i)):
                self._bracket(i, self._indent_at(i, start, indent))

    def _closes_between(self, i: int, start: int) -> bool:
        """Whether an AND belongs to BETWEEN low AND high."""
        for k in reversed(self._at_depth(start, i)):
            if self.tokens[k].upper in ("AND", "OR", "WHEN"):
                return False
            if self.tokens[k].upper == "BETWEEN":
                return True
        return False

    def _columns_of_table(self, inside: Sequence[int], indent: int) -> None:
        """The columns of CREATE TABLE, one a line."""
        opening = next((i for i in inside if i in self.closing and self.tokens[i].text == "("), None)
        before = {self.tokens[i].upper for i in inside if opening is not None and i < opening}
        if opening is not None and not before & {"AS", "LIKE", "WITH"}:
            self._items(opening, indent)

    def _bracket(self, opening: int, indent: int) -> None:
        """Breaks inside a bracket."""
        closing = self.closing[opening]
        if closing == opening + 1 or opening + 1 in self.breaks:
            return
        fits = self._is_flat(opening, closing + 1) and indent + self._width(opening, closing + 1) <= WIDTH
        if self._is_query(opening):
            if fits and self._width(opening, closing + 1) <= _SHORT:
                return
            self.breaks[opening + 1] = indent + _INDENT
            self.breaks[closing] = indent
            self._layout(opening + 1, closing, indent + _INDENT)
        elif (not fits and self._has_items(opening)) or self._is_list_of_options(opening):
            self._items(opening, indent)

    def _items(self, opening: int, indent: int) -> None:
        """The items of a bracket, one a line; short values share lines."""
        closing = self.closing[opening]
        self.breaks[opening + 1] = indent + _INDENT
        self.breaks[closing] = indent
        inside = self._at_depth(opening + 1, closing)
        if len(inside) == closing - opening - 1 and all(self._is_value(i) for i in inside):
            self._fill(inside, indent + _INDENT)
            return
        for i in inside:
            if i > opening + 1 and self.tokens[i - 1].text == ",":
                self.breaks[i] = indent + _INDENT
            if i in self.closing:
                self._bracket(i, indent + _INDENT)

    def _is_value(self, i: int) -> bool:
        """Whether a token is a value, or stands between values of a list."""
        token = self.tokens[i]
        return (
            token.kind in ("number", "string", "param")
            or token.text in (",", "-")
            or token.upper in ("NULL", "TRUE", "FALSE")
        )

    def _fill(self, inside: Sequence[int], indent: int) -> None:
        """Break a list of values where a line is full."""
        column = indent
        for i in inside:
            width = len(self.words[i]) + self._spaced(i)
            if column + width > WIDTH and self.tokens[i - 1].text == ",":
                self.breaks[i] = indent
                column = indent
            column += width

    def _is_query(self, opening: int) -> bool:
        return self.tokens[min(opening + 1, len(self.tokens) - 1)].upper in _QUERY_STARTS

    def _is_list_of_options(self, opening: int) -> bool:
        """Whether a bracket has several options: WITH ('k' = 'v', ...)."""
        before = self.tokens[opening - 1].upper if opening else ""
        return before in ("WITH", "TBLPROPERTIES", "OPTIONS", "SET") and self._has_items(opening)

    def _has_items(self, opening: int) -> bool:
        """Whether a bracket has several items."""
        return any(self.tokens[i].text == "," for i in self._at_depth(opening + 1, self.closing[opening]))

    def _starts_clause(self, i: int, first: int) -> bool:
        token, before = self.tokens[i], self.tokens[i - 1]
        after = self.tokens[i + 1] if i + 1 < len(self.tokens) else None
        if token.kind != "word" or before.text == "." or (after is not None and after.text == "."):
            return False
        if token.upper in _JOIN_WORDS:
            called = after is not None and after.text == "("
            return not called and before.upper not in _JOIN_WORDS and self._is_join(i)
        statement = self.tokens[first].upper
        match token.upper:
            case "WITH":
                return statement in ("CREATE", "REPLACE")
            case "AS":
                return statement in ("CREATE", "REPLACE") and after is not None and after.upper in _QUERY_STARTS
            case "SELECT":
                return before.upper != "AS"
            case "VALUES":
                return statement != "MERGE"
            case "LATERAL":
                return after is not None and after.upper == "VIEW"
            case "FROM":
                return before.upper not in ("DELETE", "DISTINCT")
            case "FRESHNESS" | "REFRESH_MODE" | "START_MODE":
                return statement == "CREATE" and after is not None and after.text == "="
            case "COMMENT" | "PARTITIONED" | "TBLPROPERTIES" | "OPTIONS":
                return statement in ("CREATE", "REPLACE")
            case "USING" | "WHEN":
                return statement == "MERGE"
            case "SET":
                return statement == "UPDATE"
            case "GROUP" | "ORDER" | "SORT" | "CLUSTER" | "DISTRIBUTE":
                return after is not None and after.upper == "BY" and before.upper != "WITHIN"
            case "LIMIT" | "OFFSET" | "FETCH" | "WINDOW" | "QUALIFY":
                return before.text not in (",", "=") and before.upper not in ("SELECT", "AS", "BY", "WHERE")
            case "MINUS" | "EXCEPT":
                return before.text != "*" and (after is None or after.text != "(" or self._is_query(i + 1))
        return token.upper in _CLAUSES

    def _is_join(self, i: int) -> bool:
        """Whether a word of a join leads to JOIN."""
        while i < len(self.tokens) and self.tokens[i].upper in _JOIN_WORDS:
            if self.tokens[i].upper == "JOIN":
                return True
            i += 1
        return False

    # -- measuring

    def _at_depth(self, first: int, last: int) -> list[int]:
        """The tokens of a range outside its brackets, and each opening bracket."""
        found, i = [], first
        while i < last:
            found.append(i)
            i = self.closing.get(i, i) + 1
        return found

    def _indent_at(self, i: int, start: int, indent: int) -> int:
        """The indent of the line that has token i."""
        line = next((k for k in range(i, start, -1) if k in self.breaks), None)
        return self.breaks[line] if line is not None else indent

    def _width(self, first: int, last: int) -> int:
        """Characters of a range on one line."""
        return sum(len(self.words[i]) + (i > first and self._spaced(i)) for i in range(first, last))

    def _is_flat(self, first: int, last: int) -> bool:
        """Whether a range can be one line: it has no comment of its own line, and no literal with a line break."""
        if any("\n" in self.tokens[i].text for i in range(first, last)):
            return False
        return not any(
            c.startswith("--") or "\n" in c for i in range(first + 1, last) for c in self.comments.get(i, ())
        )

    def _spaced(self, i: int) -> bool:
        """Whether a space is written between a token and the one before, on the same line."""
        before, token = self.tokens[i - 1], self.tokens[i]
        adjacent = before.stop == token.start
        if token.text in (",", ";", ")", "]", ".") or before.text in ("(", "[", "."):
            return False
        if before.text in (",", ";") or token.text in _SPACED or before.text in _SPACED:
            return True
        if token.text == "(":
            return not adjacent if before.upper not in _NOT_CALLED else before.kind == "word"
        if self._is_comparison(i) or self._is_comparison(i - 1):
            return True
        if token.kind == "op" or before.kind == "op" or token.kind == "string":
            return not adjacent
        return True

    def _is_comparison(self, i: int) -> bool:
        """Whether a token is `<` or `>`, and not a bracket of a type."""
        return self.tokens[i].text in ("<", ">") and i not in self.angles

    # -- writing

    def _write(self) -> str:
        out = _Lines()
        for i, word in enumerate(self.words):
            if i in self.verbatim:
                out.add(self.text[self.tokens[i - 1].stop : self.tokens[i].start], word)
                continue
            self._write_comments(out, i)
            if i in self.breaks:
                out.new_line(self.breaks[i], blank=self.breaks[i] == 0 and self._had_blank_line(i))
            out.add(" " if i and self._spaced(i) else "", word)
        self._write_comments(out, len(self.tokens))
        return out.text()

    def _write_comments(self, out: _Lines, i: int) -> None:
        """The comments in front of a token; one that followed code on its line stays there."""
        start = self.tokens[i - 1].stop if i else 0
        for comment in self.comments.get(i, ()):
            at = self.text.index(comment, start)
            own_line = "\n" in self.text[start:at] or not i
            if own_line:
                out.new_line(
                    self.breaks.get(i, out.indent), blank=self.breaks.get(i) == 0 and "\n\n" in self.text[start:at]
                )
            out.add(" ", comment)
            if comment.startswith("--"):
                out.end_line()
            start = at + len(comment)

    def _had_blank_line(self, i: int) -> bool:
        start = self.tokens[i - 1].stop if i else 0
        return (
            i > 0
            and i not in self.comments
            and re.search(r"\n[ \t]*\n", self.text[start : self.tokens[i].start]) is not None
        )


class _Lines:
    """Lines under construction."""

    def __init__(self) -> None:
        self.lines: list[str] = [""]
        self.indent = 0
        self._ended = False

    def new_line(self, indent: int, *, blank: bool = False) -> None:
        """Start a line, unless the last one is empty."""
        self._ended = False
        self.indent = indent
        if self.lines[-1].strip():
            self.lines += [""] * blank
            self.lines.append(" " * indent)
        else:
            self.lines[-1] = " " * indent

    def end_line(self) -> None:
        """What follows starts another line."""
        self._ended = True

    def add(self, space: str, text: str) -> None:
        if self._ended:
            self.new_line(self.indent)
        self.lines[-1] += (space if self.lines[-1].strip() else "") + text

    def text(self) -> str:
        return "\n".join(line.rstrip() if "\n" not in line else line for line in self.lines).strip("\n")


def _comments_before(text: str, found: Sequence[Token]) -> dict[int, list[str]]:
    """Comments by the position of the token that follows; those at the end by the number of tokens."""
    starts, stops = [*(t.start for t in found), len(text)], [0, *(t.stop for t in found)]
    between = ([c.rstrip() for c in _COMMENT.findall(text[a:b])] for a, b in zip(stops, starts, strict=True))
    return {i: comments for i, comments in enumerate(between) if comments}


def _brackets(found: Sequence[Token]) -> tuple[dict[int, int], frozenset[int]]:
    """Opening bracket -> closing one, by position; and which of them are the angle brackets of a type."""
    pairs: dict[int, int] = {}
    angles: set[int] = set()
    open_: list[int] = []
    for i, token in enumerate(found):
        of_type = token.text == "<" and i > 0 and found[i - 1].upper in _NESTED_TYPES
        if token.text in ("(", "[") or of_type:
            open_.append(i)
        elif open_ and (token.text in (")", "]") or (token.text == ">" and found[open_[-1]].text == "<")):
            opening = open_.pop()
            pairs[opening] = i
            if found[opening].text == "<":
                angles |= {opening, i}
    return pairs, frozenset(angles)


# -- comparison


def _is_same(before: str, after: str, parsed: Sequence[Any]) -> bool:
    """Whether two texts have the same tokens, comments and statements."""
    try:
        old, new = tokens(before), tokens(after)
        if len(old) != len(new) or not all(map(_same_token, old, new)):
            return False
        if _comments_of(before, old) != _comments_of(after, new):
            return False
        return bool(_facts(parsed, before) == _facts(parse(after), after))
    except (SqlSyntaxError, RecursionError):
        return False


def _same_token(a: Token, b: Token) -> bool:
    same = a.text == b.text or (a.kind == "word" and a.upper == b.upper and a.upper in KEYWORDS)
    return same and (a.kind, a.flink) == (b.kind, b.flink)


def _comments_of(text: str, found: Sequence[Token]) -> list[str]:
    return [comment for comments in _comments_before(text, found).values() for comment in comments]


def _facts(value: Any, text: str) -> Any:
    """A parsed value for comparison: a span is its tokens, and a text that was cut out is its tokens, too."""
    if isinstance(value, Span):
        return _normal(text[value.start : value.stop])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value) if f.name not in ("edits", "flink_edits", "text")]
        return (type(value).__name__, *(_facts(getattr(value, name), text) for name in names))
    if isinstance(value, list | tuple):
        return tuple(_facts(v, text) for v in value)
    if isinstance(value, dict):
        return tuple((k, _facts(v, text)) for k, v in value.items())
    return _normal(value) if isinstance(value, str) and not _WORD.fullmatch(value) else value


def _names_in(facts: Any) -> frozenset[str]:
    """The words in a parsed value: names as they are written."""
    if isinstance(facts, tuple):
        return frozenset[str]().union(*map(_names_in, facts))
    return frozenset({facts}) if isinstance(facts, str) else frozenset()


def _normal(text: str) -> Any:
    """The tokens of a text, keywords in upper case; the text itself if it is not SQL."""
    try:
        return tuple(t.upper if t.kind == "word" and t.upper in KEYWORDS else t.text for t in tokens(text))
    except SqlSyntaxError:
        return text
