"""Parser of a small SQL WHERE grammar: text to predicate, with error positions. Knows no rows.

comparison (=, ==, <>, !=, <, <=, >, >=, <=>), BETWEEN, IN, LIKE, IS [NOT] NULL, AND, OR, NOT, parentheses; literals:
numbers, 'text', "text" if no column has that name, X'bytes', TRUE, FALSE, NULL, DATE '...', TIMESTAMP '...', TIME '...'.
"""

from __future__ import annotations

import decimal
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import ColumnNotFound, SqlAnalysisError, SqlSyntaxError
from paimon_nb.table.scan.predicate.evaluate import bind
from paimon_nb.table.scan.predicate.model import (
    FLIPPED,
    And,
    Compare,
    Constant,
    In,
    IsNotNull,
    IsNull,
    Like,
    Or,
    Predicate,
    all_of,
)

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<bytes>[xX]'[0-9A-Fa-f]*')
  | (?P<text>'(?:[^']|'')*')
  | (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>`(?:[^`]|``)+`|"(?:[^"]|"")+"|[^\W\d]\w*)
  | (?P<sign><=>|<>|!=|<=|>=|==|[=<>(),+-])
    )""",
    re.VERBOSE,
)
_OPERATORS = {"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_WORDS = frozenset(["AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "BETWEEN", "TRUE", "FALSE"])
_DEPTH = 200


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    at: _Token


@dataclass(frozen=True, slots=True)
class _Literal:
    value: Any
    at: _Token


def parse_predicate(text: str, schema: TableSchema) -> Predicate:
    """The condition in `text` on the table's columns, bound to them.

    Raises:
        SqlSyntaxError: the text is not a condition. SqlAnalysisError: an invalid comparison. ColumnNotFound.
        All carry `sql`, `start` and `stop`.
    """
    return _Parser(text, schema).parse()


class _Parser:
    def __init__(self, text: str, schema: TableSchema) -> None:
        self.text, self.schema = text, schema
        self.tokens = self._tokenize()
        self.at, self.depth = 0, 0

    def parse(self) -> Predicate:
        if not self.tokens[:-1]:
            raise self._error_at("the condition is empty", self.tokens[0])
        found = self._parse_or()
        if self._peek().kind != "end":
            raise self._error_at(f"unexpected {self._peek().text!r}", self._peek())
        return found

    # -- tokens

    def _tokenize(self) -> list[_Token]:
        known = {name.lower() for name in self.schema.names}
        out, at = [], 0
        while self.text[at:].strip():
            match = _TOKEN.match(self.text, at)
            if match is None:
                start = at + len(self.text[at:]) - len(self.text[at:].lstrip())
                what = "unterminated string" if self.text[start] in "'`\"" else f"unexpected {self.text[start]!r}"
                raise self._error_at(what, _Token("", self.text[start], start, start + 1))
            kind = str(match.lastgroup)
            start, found = match.start(kind), match[kind]
            if found.startswith('"') and (inner := found[1:-1].replace('""', '"')).lower() not in known:
                kind, found = "text", "'" + inner.replace("'", "''") + "'"  # a text, as Spark reads it
            out.append(_Token(kind, found, start, match.end()))
            at = match.end()
        out.append(_Token("end", "the end", len(self.text), len(self.text)))
        return out

    def _peek(self) -> _Token:
        return self.tokens[self.at]

    def _next_token(self) -> _Token:
        token = self.tokens[self.at]
        self.at += token.kind != "end"
        return token

    def _take_words(self, *words: str) -> bool:
        """Consume the words if they come next."""
        for i, word in enumerate(words):
            token = self.tokens[min(self.at + i, len(self.tokens) - 1)]
            if token.kind != "name" or token.text.upper() != word:
                return False
        self.at += len(words)
        return True

    def _take_sign(self, sign: str) -> bool:
        if self._peek().kind == "sign" and self._peek().text == sign:
            self.at += 1
            return True
        return False

    def _require_sign(self, sign: str) -> None:
        if not self._take_sign(sign):
            raise self._error_at(f"expected {sign!r}, found {self._peek().text!r}", self._peek())

    def _error_at(
        self, message: str, token: _Token, kind: type[SqlSyntaxError | SqlAnalysisError] = SqlSyntaxError
    ) -> SqlSyntaxError | SqlAnalysisError:
        return kind(
            f"{message} at position {token.start + 1} of the condition",
            hint="write conditions such as id = 7 AND dt >= '2024-01-01'",
            sql=self.text,
            start=token.start,
            stop=token.stop,
        )

    # -- grammar

    def _parse_or(self) -> Predicate:
        self.depth += 1
        if self.depth > _DEPTH:
            raise self._error_at("the condition is nested too deeply", self._peek())
        parts = [self._parse_and()]
        while self._take_words("OR"):
            parts.append(self._parse_and())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _parse_and(self) -> Predicate:
        parts = [self._parse_not()]
        while self._take_words("AND"):
            parts.append(self._parse_not())
        return parts[0] if len(parts) == 1 else all_of(parts)

    def _parse_not(self) -> Predicate:
        negative = False
        while self._take_words("NOT"):
            negative = not negative
        found = self._parse_condition()
        return found.negate() if negative else found

    def _parse_condition(self) -> Predicate:
        if self._take_sign("("):
            found = self._parse_or()
            self._require_sign(")")
            return found
        left = self._parse_operand()
        if isinstance(left, _Literal):
            return self._from_literal(left)
        negative = self._take_words("NOT")
        if self._take_words("IN"):
            found = self._parse_in(left)
        elif self._take_words("BETWEEN"):
            found = self._parse_between(left)
        elif self._take_words("LIKE"):
            found = self._bind_leaf(left, Like(left.name, self._parse_text()))
        elif negative:
            raise self._error_at(f"expected IN, BETWEEN or LIKE after NOT, found {self._peek().text!r}", self._peek())
        else:
            return self._parse_comparison(left)
        return found.negate() if negative else found

    def _from_literal(self, left: _Literal) -> Predicate:
        """`7 < id`, or TRUE, FALSE, NULL by themselves."""
        token = self._peek()
        if token.kind == "sign" and token.text in _OPERATORS:
            self._next_token()
            right = self._parse_operand()
            if not isinstance(right, _Column):
                raise self._error_at("a comparison needs a column", left.at, SqlAnalysisError)
            return self._bind_leaf(right, Compare(right.name, FLIPPED[_OPERATORS[token.text]], left.value))
        if left.value is None or isinstance(left.value, bool):
            return Constant(left.value)
        raise self._error_at(f"{left.at.text} is not a condition", left.at)

    def _parse_comparison(self, left: _Column) -> Predicate:
        token = self._peek()
        if self._take_words("IS"):
            negative = self._take_words("NOT")
            for word, value in (("TRUE", True), ("FALSE", False)):
                if self._take_words(word):
                    same = And((IsNotNull(left.name), self._bind_leaf(left, Compare(left.name, "=", value))))
                    return same.negate() if negative else same
            if not self._take_words("NULL"):
                raise self._error_at(f"expected NULL after IS, found {self._peek().text!r}", self._peek())
            return IsNotNull(left.name) if negative else IsNull(left.name)
        if token.kind == "sign" and (token.text in _OPERATORS or token.text == "<=>"):
            self._next_token()
            right = self._parse_literal()
            if token.text != "<=>":
                return self._bind_leaf(left, Compare(left.name, _OPERATORS[token.text], right.value))
            if right.value is None:
                return IsNull(left.name)
            return And((IsNotNull(left.name), self._bind_leaf(left, Compare(left.name, "=", right.value))))
        if self.schema.field(left.name).type.root == "BOOLEAN":
            return self._bind_leaf(left, Compare(left.name, "=", True))
        raise self._error_at(f"expected a comparison after {left.name!r}, found {token.text!r}", token)

    def _parse_in(self, left: _Column) -> Predicate:
        self._require_sign("(")
        values = [self._parse_literal().value]
        while self._take_sign(","):
            values.append(self._parse_literal().value)
        self._require_sign(")")
        return self._bind_leaf(left, In(left.name, tuple(values)))

    def _parse_between(self, left: _Column) -> Predicate:
        low = self._parse_literal()
        if not self._take_words("AND"):
            raise self._error_at(f"expected AND, found {self._peek().text!r}", self._peek())
        high = self._parse_literal()
        return And(
            (
                self._bind_leaf(left, Compare(left.name, ">=", low.value)),
                self._bind_leaf(left, Compare(left.name, "<=", high.value)),
            )
        )

    def _parse_text(self) -> str:
        literal = self._parse_literal()
        if not isinstance(literal.value, str):
            raise self._error_at("LIKE needs a string literal", literal.at)
        return literal.value

    def _bind_leaf(self, column: _Column, leaf: Predicate) -> Predicate:
        try:
            return bind(leaf, self.schema.fields)
        except SqlAnalysisError as error:
            start, stop = column.at.start, self.tokens[self.at - 1].stop
            error.facts.update(sql=self.text, start=start, stop=stop)
            raise

    # -- operands

    def _parse_literal(self) -> _Literal:
        operand = self._parse_operand()
        if isinstance(operand, _Column):
            raise self._error_at(
                f"{operand.at.text} is a column; only comparisons with literals are supported",
                operand.at,
                SqlAnalysisError,
            )
        return operand

    def _parse_operand(self) -> _Column | _Literal:
        token = self._next_token()
        match token.kind:
            case "number":
                return _Literal(_parse_number(token.text), token)
            case "text":
                return _Literal(_unquote(token.text), token)
            case "bytes":
                if len(token.text) % 2 == 0:
                    raise self._error_at("each byte needs two hex digits", token)
                return _Literal(bytes.fromhex(token.text[2:-1]), token)
            case "sign" if token.text in "+-":
                number = self._next_token()
                if number.kind != "number":
                    raise self._error_at(f"expected a number, found {number.text!r}", number)
                value = _parse_number(number.text)
                return _Literal(-value if token.text == "-" else value, number)
            case "name":
                return self._parse_name(token)
        raise self._error_at(f"expected a column or a literal, found {token.text!r}", token)

    def _parse_name(self, token: _Token) -> _Column | _Literal:
        word = token.text.upper()
        if word in ("TRUE", "FALSE", "NULL"):
            return _Literal({"TRUE": True, "FALSE": False}.get(word), token)
        if word in ("DATE", "TIMESTAMP", "TIME", "TIMESTAMP_LTZ") and self._peek().kind == "text":
            return _Literal(_unquote(self._next_token().text), token)
        if word in _WORDS:
            raise self._error_at(f"unexpected {token.text!r}", token)
        quoted = token.text[0] in '`"'
        name = token.text[1:-1].replace(token.text[0] * 2, token.text[0]) if quoted else token.text
        known = self.schema.names
        found = name if name in known else next((n for n in known if n.lower() == name.lower()), None)
        if found is None:
            try:
                self.schema.field(name)
            except ColumnNotFound as error:
                error.facts.update(sql=self.text, start=token.start, stop=token.stop)
                raise
        return _Column(found or name, token)


def _parse_number(text: str) -> int | float | decimal.Decimal:
    if "e" in text.lower():
        return float(text)
    return decimal.Decimal(text) if "." in text else int(text)


def _unquote(text: str) -> str:
    return text[1:-1].replace("''", "'")
