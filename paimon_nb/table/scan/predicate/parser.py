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
        self.tokens = self._split()
        self.at, self.depth = 0, 0

    def parse(self) -> Predicate:
        if not self.tokens[:-1]:
            raise self._error("the condition is empty", self.tokens[0])
        found = self._either()
        if self._now().kind != "end":
            raise self._error(f"unexpected {self._now().text!r}", self._now())
        return found

    # -- tokens

    def _split(self) -> list[_Token]:
        known = {name.lower() for name in self.schema.names}
        out, at = [], 0
        while self.text[at:].strip():
            match = _TOKEN.match(self.text, at)
            if match is None:
                start = at + len(self.text[at:]) - len(self.text[at:].lstrip())
                what = "unterminated string" if self.text[start] in "'`\"" else f"unexpected {self.text[start]!r}"
                raise self._error(what, _Token("", self.text[start], start, start + 1))
            kind = str(match.lastgroup)
            start, found = match.start(kind), match[kind]
            if found.startswith('"') and (inner := found[1:-1].replace('""', '"')).lower() not in known:
                kind, found = "text", "'" + inner.replace("'", "''") + "'"  # a text, as Spark reads it
            out.append(_Token(kind, found, start, match.end()))
            at = match.end()
        out.append(_Token("end", "the end", len(self.text), len(self.text)))
        return out

    def _now(self) -> _Token:
        return self.tokens[self.at]

    def _next(self) -> _Token:
        token = self.tokens[self.at]
        self.at += token.kind != "end"
        return token

    def _word(self, *words: str) -> bool:
        """Consume the words if they come next."""
        for i, word in enumerate(words):
            token = self.tokens[min(self.at + i, len(self.tokens) - 1)]
            if token.kind != "name" or token.text.upper() != word:
                return False
        self.at += len(words)
        return True

    def _sign(self, sign: str) -> bool:
        if self._now().kind == "sign" and self._now().text == sign:
            self.at += 1
            return True
        return False

    def _need(self, sign: str) -> None:
        if not self._sign(sign):
            raise self._error(f"expected {sign!r}, found {self._now().text!r}", self._now())

    def _error(
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

    def _either(self) -> Predicate:
        self.depth += 1
        if self.depth > _DEPTH:
            raise self._error("the condition is nested too deeply", self._now())
        parts = [self._both()]
        while self._word("OR"):
            parts.append(self._both())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _both(self) -> Predicate:
        parts = [self._negation()]
        while self._word("AND"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else all_of(parts)

    def _negation(self) -> Predicate:
        negative = False
        while self._word("NOT"):
            negative = not negative
        found = self._condition()
        return found.negate() if negative else found

    def _condition(self) -> Predicate:
        if self._sign("("):
            found = self._either()
            self._need(")")
            return found
        left = self._operand()
        if isinstance(left, _Literal):
            return self._from_literal(left)
        negative = self._word("NOT")
        if self._word("IN"):
            found = self._in(left)
        elif self._word("BETWEEN"):
            found = self._between(left)
        elif self._word("LIKE"):
            found = self._bound(left, Like(left.name, self._text()))
        elif negative:
            raise self._error(f"expected IN, BETWEEN or LIKE after NOT, found {self._now().text!r}", self._now())
        else:
            return self._comparison(left)
        return found.negate() if negative else found

    def _from_literal(self, left: _Literal) -> Predicate:
        """`7 < id`, or TRUE, FALSE, NULL by themselves."""
        token = self._now()
        if token.kind == "sign" and token.text in _OPERATORS:
            self._next()
            right = self._operand()
            if not isinstance(right, _Column):
                raise self._error("a comparison needs a column", left.at, SqlAnalysisError)
            return self._bound(right, Compare(right.name, FLIPPED[_OPERATORS[token.text]], left.value))
        if left.value is None or isinstance(left.value, bool):
            return Constant(left.value)
        raise self._error(f"{left.at.text} is not a condition", left.at)

    def _comparison(self, left: _Column) -> Predicate:
        token = self._now()
        if self._word("IS"):
            negative = self._word("NOT")
            for word, value in (("TRUE", True), ("FALSE", False)):
                if self._word(word):
                    same = And((IsNotNull(left.name), self._bound(left, Compare(left.name, "=", value))))
                    return same.negate() if negative else same
            if not self._word("NULL"):
                raise self._error(f"expected NULL after IS, found {self._now().text!r}", self._now())
            return IsNotNull(left.name) if negative else IsNull(left.name)
        if token.kind == "sign" and (token.text in _OPERATORS or token.text == "<=>"):
            self._next()
            right = self._literal()
            if token.text != "<=>":
                return self._bound(left, Compare(left.name, _OPERATORS[token.text], right.value))
            if right.value is None:
                return IsNull(left.name)
            return And((IsNotNull(left.name), self._bound(left, Compare(left.name, "=", right.value))))
        if self.schema.field(left.name).type.root == "BOOLEAN":
            return self._bound(left, Compare(left.name, "=", True))
        raise self._error(f"expected a comparison after {left.name!r}, found {token.text!r}", token)

    def _in(self, left: _Column) -> Predicate:
        self._need("(")
        values = [self._literal().value]
        while self._sign(","):
            values.append(self._literal().value)
        self._need(")")
        return self._bound(left, In(left.name, tuple(values)))

    def _between(self, left: _Column) -> Predicate:
        low = self._literal()
        if not self._word("AND"):
            raise self._error(f"expected AND, found {self._now().text!r}", self._now())
        high = self._literal()
        return And(
            (
                self._bound(left, Compare(left.name, ">=", low.value)),
                self._bound(left, Compare(left.name, "<=", high.value)),
            )
        )

    def _text(self) -> str:
        literal = self._literal()
        if not isinstance(literal.value, str):
            raise self._error("LIKE needs a string literal", literal.at)
        return literal.value

    def _bound(self, column: _Column, leaf: Predicate) -> Predicate:
        try:
            return bind(leaf, self.schema.fields)
        except SqlAnalysisError as error:
            start, stop = column.at.start, self.tokens[self.at - 1].stop
            error.facts.update(sql=self.text, start=start, stop=stop)
            raise

    # -- operands

    def _literal(self) -> _Literal:
        operand = self._operand()
        if isinstance(operand, _Column):
            raise self._error(
                f"{operand.at.text} is a column; only comparisons with literals are supported",
                operand.at,
                SqlAnalysisError,
            )
        return operand

    def _operand(self) -> _Column | _Literal:
        token = self._next()
        match token.kind:
            case "number":
                return _Literal(_number(token.text), token)
            case "text":
                return _Literal(_unquote(token.text), token)
            case "bytes":
                if len(token.text) % 2 == 0:
                    raise self._error("each byte needs two hex digits", token)
                return _Literal(bytes.fromhex(token.text[2:-1]), token)
            case "sign" if token.text in "+-":
                number = self._next()
                if number.kind != "number":
                    raise self._error(f"expected a number, found {number.text!r}", number)
                value = _number(number.text)
                return _Literal(-value if token.text == "-" else value, number)
            case "name":
                return self._name(token)
        raise self._error(f"expected a column or a literal, found {token.text!r}", token)

    def _name(self, token: _Token) -> _Column | _Literal:
        word = token.text.upper()
        if word in ("TRUE", "FALSE", "NULL"):
            return _Literal({"TRUE": True, "FALSE": False}.get(word), token)
        if word in ("DATE", "TIMESTAMP", "TIME", "TIMESTAMP_LTZ") and self._now().kind == "text":
            return _Literal(_unquote(self._next().text), token)
        if word in _WORDS:
            raise self._error(f"unexpected {token.text!r}", token)
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


def _number(text: str) -> int | float | decimal.Decimal:
    if "e" in text.lower():
        return float(text)
    return decimal.Decimal(text) if "." in text else int(text)


def _unquote(text: str) -> str:
    return text[1:-1].replace("''", "'")
