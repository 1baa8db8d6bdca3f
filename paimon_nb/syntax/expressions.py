"""Parses expressions: tokens to a tree, in one forward pass. Flink's and Spark's operators, in Spark's order of precedence.

A call may have words between its arguments, as `EXTRACT(DAY FROM t)` has: the parser skips what it does not know there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.syntax.tree import (
    Alias,
    Between,
    Binary,
    Brackets,
    Call,
    Cast,
    Column,
    Composite,
    In,
    Is,
    Junction,
    Like,
    Literal,
    Node,
    Ordering,
    Span,
    Star,
    Subquery,
    Unary,
    Window,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import NoReturn

    from paimon_nb.syntax.lexer import Token
    from paimon_nb.syntax.tree import QueryTree

MAX_DEPTH = 200
CONDITION_WORDS = frozenset({"AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "BETWEEN", "TRUE", "FALSE"})
"""Words that are never a name in a condition."""
QUERY_WORDS = CONDITION_WORDS | frozenset(
    {
        *("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT"),
        *("ON", "USING", "JOIN", "WHEN", "THEN", "ELSE", "AS"),
    }
)  # fmt: skip
"""Words that are never a name in a query."""
CLAUSE_WORDS = QUERY_WORDS | frozenset(
    {"OFFSET", "FETCH", "MINUS", "WITH", "CLUSTER", "DISTRIBUTE", "SORT", "QUALIFY", "LATERAL", "WINDOW"}
)
"""Words that are no alias without AS."""
QUERY_STARTS = frozenset({"SELECT", "WITH", "VALUES", "FROM"})
_COMPARISONS = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"})
_PATTERN_OPERATORS = frozenset({"LIKE", "ILIKE", "RLIKE", "REGEXP", "SIMILAR"})
_NEGATABLE = frozenset({"BETWEEN", "IN"}) | _PATTERN_OPERATORS
_PREFIXES = frozenset({"NOT", "!", "-", "+", "~"})
_COMPARED = 3
"""The strength of comparisons and of all other conditions on values."""
_STRENGTH = {
    word: strength
    for strength, words in enumerate(
        (
            ("OR",),
            ("AND",),
            (*_COMPARISONS, *_NEGATABLE, "NOT", "IS", "OVERLAPS"),
            ("||",),
            ("|",),
            ("^",),
            ("&",),
            ("+", "-"),
            ("*", "/", "%", "DIV"),
        ),
        1,
    )
    for word in words
}
"""How strong each operator between two operands binds."""
_TYPED_STRINGS = frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "X"})
_UNITS = frozenset(
    """YEAR YEARS QUARTER QUARTERS MONTH MONTHS WEEK WEEKS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS MILLISECOND MILLISECONDS
    MICROSECOND MICROSECONDS EPOCH DOW DOY ISODOW ISOYEAR CENTURY DECADE MILLENNIUM DAYOFWEEK DAYOFYEAR YEAROFWEEK""".split()  # noqa: SIM905 - forty quotes would be harder to read
)
"""Words that are no columns first in the brackets of `_WITH_UNITS`, and after TO."""
_WITH_UNITS = frozenset({"EXTRACT", "TIMESTAMPADD", "TIMESTAMPDIFF"})
_AFTER_OPERAND = frozenset(
    {"IS", "IN", "NOT", "AND", "OR", "LIKE", "BETWEEN", "VALUE", "ON", "AS", "DIV", "RLIKE", "ILIKE"}
)
_WITHOUT_BRACKETS = frozenset(
    {"CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "CURRENT_USER", "LOCALTIME", "LOCALTIMESTAMP"}
)


class UnexpectedToken(Exception):
    """The tokens are not an expression or a query that the parser knows."""

    def __init__(self, message: str, span: Span) -> None:
        """`span`: the token; empty, at the end of the text, if the tokens end."""
        super().__init__(message)
        self.message, self.span = message, span


class ExpressionParser:
    """Reads one expression from tokens. Hints are skipped."""

    reads_queries = False
    """Whether a bracket may have a subquery."""

    def __init__(self, tokens: Sequence[Token], end: int, reserved: Collection[str] = QUERY_WORDS) -> None:
        """`end`: the offset of the end of the text. `reserved`: words that are never a name."""
        self.tokens = [t for t in tokens if t.kind != "hint"]
        self.end, self.reserved = end, reserved
        self.at, self.depth = 0, 0

    def whole(self) -> Node:
        """All tokens as one expression."""
        found = self.expression()
        if self.at < len(self.tokens):
            self.fail(f"unexpected {self.found()}")
        return found

    # -- tokens

    def upper(self, ahead: int = 0) -> str:
        """The next token as an upper-case word or operator; '' for other tokens and at the end."""
        at = self.at + ahead
        return self.tokens[at].upper if at < len(self.tokens) else ""

    def kind(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].kind if at < len(self.tokens) else "end"

    def take(self, *words: str) -> bool:
        """Consume these words or operators if they come next."""
        if all(self.upper(i) == word for i, word in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def take_one(self, words: Collection[str]) -> str:
        """Consume one of these words if it comes next, and return it; else ''."""
        word = self.upper()
        if word and word in words:
            self.at += 1
            return word
        return ""

    def need(self, word: str) -> None:
        if not self.take(word):
            self.fail(f"expected {word if word.isalpha() else repr(word)}, found {self.found()}")

    def found(self) -> str:
        """The next token, for a message."""
        return repr(self.tokens[self.at].text) if self.at < len(self.tokens) else "the end"

    def fail(self, message: str) -> NoReturn:
        """Raises UnexpectedToken at the next token."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        raise UnexpectedToken(message, Span(token.start, token.stop) if token is not None else Span(self.end, self.end))

    def start(self) -> int:
        """The offset of the next token."""
        return self.tokens[self.at].start if self.at < len(self.tokens) else self.end

    def since(self, start: int) -> Span:
        """From an offset to the end of the last token."""
        return Span(start, self.tokens[self.at - 1].stop if self.at else start)

    def skip_brackets(self) -> None:
        """Consume an opening bracket and all up to the one that closes it."""
        depth = 0
        while True:
            if self.at >= len(self.tokens):
                self.fail("expected ')', found the end")
            text = self.tokens[self.at].text
            self.at += 1
            depth += (text in ("(", "[")) - (text in (")", "]"))
            if depth == 0:
                return

    def is_name(self, ahead: int = 0) -> bool:
        """Whether a name comes next: quoted, or a word that is not reserved."""
        kind = self.kind(ahead)
        return kind == "quoted" or (kind == "word" and self.upper(ahead) not in self.reserved)

    def name(self) -> str:
        if self.kind() not in ("word", "quoted"):
            self.fail(f"expected a name, found {self.found()}")
        self.at += 1
        return self.tokens[self.at - 1].name

    # -- operators

    def expression(self, above: int = 0) -> Node:
        """A value or a condition, up to an operator that does not bind stronger than `above`."""
        start = self.start()
        found = self._prefixed(start)
        while (strength := self._strength()) > above:
            found = self._operator(start, found, strength)
        return found

    def value(self) -> Node:
        """An operand, or operands with arithmetic between them: no condition without brackets."""
        return self.expression(_COMPARED)

    def _strength(self) -> int:
        """How strong the next operator binds; 0 if no operator comes next."""
        upper = self.upper()
        if upper == "NOT" and self.upper(1) not in _NEGATABLE:
            self.at += 1
            self.fail(f"expected IN, BETWEEN or LIKE after NOT, found {self.found()}")
        return _STRENGTH.get(upper, 0) if self.kind() in ("op", "word") else 0

    def _prefixed(self, start: int) -> Node:
        """NOT, signs and an operand."""
        prefixes: list[tuple[int, str]] = []
        while (op := self.upper()) in _PREFIXES and not (prefixes and prefixes[-1][1] != "NOT" and op in ("NOT", "!")):
            prefixes.append((self.start(), "NOT" if op == "!" else op))
            self.at += 1
        if not prefixes:
            return self._postfix(start, self._operand())
        found = self._postfix(self.start(), self._operand())
        while prefixes:
            op_start, op = prefixes.pop()
            if op == "NOT":  # all but AND and OR belong to its operand
                operand_start = found.span.start
                while (strength := self._strength()) > _STRENGTH["AND"]:
                    found = self._operator(operand_start, found, strength)
            found = Unary(Span(op_start, found.span.stop), op, found)
        return found

    def _operator(self, start: int, left: Node, strength: int) -> Node:
        """`left`, the operator that comes next, and what belongs to it."""
        op = self.upper()
        if op in ("AND", "OR"):
            parts = [left]
            while self.take(op):
                parts.append(self.expression(strength))
            return Junction(self.since(start), op, tuple(parts))
        if op in _COMPARISONS or strength > _COMPARED:
            op_start = self.start()
            self.at += 1
            op_span = self.since(op_start)
            right = self.expression(strength)
            return Binary(self.since(start), op, left, right, op_span)
        if op == "IS":
            return self._is(start, left)
        if self.take("OVERLAPS"):
            other = self.value()
            return Composite(self.since(start), op, (left, other))
        negated = self.take("NOT")
        if self.take("BETWEEN"):
            return self._between(start, left, negated)
        if self.take("IN"):
            return self._in(start, left, negated)
        return self._like(start, self.take_one(_PATTERN_OPERATORS), left, negated)

    def _is(self, start: int, operand: Node) -> Is:
        self.need("IS")
        negated = self.take("NOT")
        if self.take("DISTINCT", "FROM"):
            other = self.value()
            return Is(self.since(start), operand, "DISTINCT FROM", negated, other)
        if self.take("JSON"):
            what = " ".join(filter(None, ("JSON", self.take_one(("VALUE", "OBJECT", "ARRAY", "SCALAR")))))
            return Is(self.since(start), operand, what, negated, None)
        what = self.take_one(("NULL", "TRUE", "FALSE", "UNKNOWN"))
        if not what:
            self.fail(f"expected NULL after IS, found {self.found()}")
        return Is(self.since(start), operand, what, negated, None)

    def _between(self, start: int, operand: Node, negated: bool) -> Between:
        symmetric = self.take_one(("SYMMETRIC", "ASYMMETRIC")) == "SYMMETRIC"
        low = self.value()
        self.need("AND")
        high = self.value()
        return Between(self.since(start), operand, low, high, negated, symmetric)

    def _in(self, start: int, operand: Node, negated: bool) -> In:
        opening = self.start()
        self.need("(")
        if self._opens_query():
            items: list[Node] = [self._subquery(opening, exists=False)]
        else:
            items = [self.expression()]
            while self.take(","):
                items.append(self.expression())
            self.need(")")
        return In(self.since(start), operand, tuple(items), negated)

    def _like(self, start: int, op: str, operand: Node, negated: bool) -> Like:
        if op == "SIMILAR":
            self.need("TO")
            op = "SIMILAR TO"
        pattern = self.value()
        escape = self.value() if self.take("ESCAPE") else None
        return Like(self.since(start), op, operand, pattern, negated, escape)

    # -- operands

    def _postfix(self, start: int, found: Node) -> Node:
        """An operand with the elements, fields and casts after it."""
        while True:
            if self.take("["):
                index = self.expression()
                self.need("]")
                found = Composite(self.since(start), "element", (found, index))
            elif self.upper() == "." and self.kind(1) in ("word", "quoted"):
                self.at += 2
                found = Composite(self.since(start), "field", (found,))
            elif self.take("::"):
                type_text = self._type()
                found = Cast(self.since(start), found, type_text)
            elif self.take("COLLATE"):
                self.name()
                while self.take("."):
                    self.name()
                found = Composite(self.since(start), "COLLATE", (found,))
            elif self.take("AT", "TIME", "ZONE"):
                zone = self._operand()
                found = Composite(self.since(start), "AT TIME ZONE", (found, zone))
            elif self.upper() == ":" and self.kind(1) in ("word", "quoted"):
                self.at += 2
                found = Composite(self.since(start), "path", (found,))
            elif self.kind() == "param":  # `v:a`, a path into a VARIANT
                self.at += 1
                found = Composite(self.since(start), "path", (found,))
            else:
                return found

    def _operand(self) -> Node:
        start, kind, upper = self.start(), self.kind(), self.upper()
        if kind == "number":
            self.at += 1
            if self.kind() == "word" and self.start() == self.tokens[self.at - 1].stop:  # a name may begin with digits
                self.at += 1
                return Column(self.since(start), (self.tokens[self.at - 2].text + self.tokens[self.at - 1].text,))
            return Literal(self.since(start), "number", self.tokens[self.at - 1].text)
        if kind == "string":
            return self._string(start)
        if kind == "param":
            self.at += 1
            return Literal(self.since(start), "parameter", self.tokens[self.at - 1].text)
        if kind in ("word", "quoted"):
            return self._word(start, upper)
        if upper == "(":
            return self._brackets(start)
        if not self.take("*"):
            self.fail(f"expected a column or a literal, found {self.found()}")
        return self._star(start, ())

    def _begins_operand(self, ahead: int) -> bool:
        """Whether an operand may begin there, so that the word before it is a keyword."""
        word = self.upper(ahead)
        if self.kind(ahead) == "op":
            return word in ("(", "-", "+")
        if word == "NOT":
            return self.upper(ahead + 1) not in _NEGATABLE
        return self.kind(ahead) != "end" and word not in ("AND", "OR", "IS", *_NEGATABLE)

    def _string(self, start: int) -> Node:
        self.at += 1
        first = Literal(self.since(start), "string", self.tokens[self.at - 1].text)
        if self.kind() != "string":
            return first
        parts: list[Node] = [first]
        while self.kind() == "string":  # Spark joins adjacent strings
            part_start = self.start()
            self.at += 1
            parts.append(Literal(self.since(part_start), "string", self.tokens[self.at - 1].text))
        return Composite(self.since(start), "strings", tuple(parts))

    def _word(self, start: int, upper: str) -> Node:
        following, following_kind = self.upper(1), self.kind(1)
        if upper in ("TRUE", "FALSE", "NULL") and following not in ("(", "."):
            self.at += 1
            return Literal(self.since(start), upper, self.tokens[self.at - 1].text)
        if (
            upper in _TYPED_STRINGS
            and following_kind == "string"
            and (upper != "X" or self.tokens[self.at + 1].start == self.tokens[self.at].stop)
        ):
            self.at += 2
            return Literal(self.since(start), upper, self.tokens[self.at - 1].text)
        if upper == "INTERVAL" and (following_kind in ("string", "number", "param") or following in ("-", "+", "(")):
            return self._interval(start)
        if upper == "CASE" and self._begins_operand(1):
            return self._case(start)
        if upper in ("CAST", "TRY_CAST") and following == "(":
            return self._cast(start)
        if upper == "EXISTS" and following == "(" and (self.upper(2) in QUERY_STARTS or self.upper(2) == "("):
            self.at += 1
            opening = self.start()
            self.at += 1
            return self._subquery(opening, exists=True, start=start)
        if upper in ("ARRAY", "MAP") and following == "[":
            self.at += 1
            return self._members(start, upper)
        if upper in self.reserved and not (following == "(" and upper in ("LEFT", "RIGHT")):
            self.fail(f"unexpected {self.found()}")
        return self._dotted_name(start)

    def _dotted_name(self, start: int) -> Node:
        is_plain_word = self.kind() == "word"
        parts = [self.name()]
        while self.upper() == "." and self.kind(1) in ("word", "quoted"):
            self.at += 1
            parts.append(self.name())
        if self.upper() == "." and self.upper(1) == "*":
            self.at += 2
            return self._star(start, tuple(parts))
        if self.upper() == "(":
            return self._call(start, tuple(parts))
        if self.upper() == "->":
            self.at += 1
            body = self.expression()
            return Composite(self.since(start), "lambda", (body,))
        if len(parts) == 1 and is_plain_word and parts[0].upper() in _WITHOUT_BRACKETS:
            return Call(self.since(start), tuple(parts), (), False, (), None, None)
        return Column(self.since(start), tuple(parts))

    def _star(self, start: int, qualifier: tuple[str, ...]) -> Star:
        changed = False
        while (
            self.upper() in ("EXCEPT", "EXCLUDE", "REPLACE")
            and self.upper(1) == "("
            and self.upper(2) not in QUERY_STARTS
        ):
            self.at += 1
            self.skip_brackets()
            changed = True
        return Star(self.since(start), qualifier, changed)

    def _interval(self, start: int) -> Node:
        """INTERVAL '1' DAY, INTERVAL '1 2' DAY(3) TO HOUR, INTERVAL 1 DAY 2 HOURS, INTERVAL (n) DAY."""
        self.at += 1
        parts: list[Node] = []
        while True:
            self.take_one(("-", "+"))
            if self.upper() == "(":
                parts.append(self._brackets(self.start()))
            else:
                self.at += 1
            if self.upper() in _UNITS:
                self.at += 1
                if self.upper() == "(":
                    self.skip_brackets()
            if self.take("TO"):
                self.name()
                if self.upper() == "(":
                    self.skip_brackets()
            if not (self.kind() in ("string", "number") and self.upper(1) in _UNITS):
                break
        return Composite(self.since(start), "INTERVAL", tuple(parts))

    def _case(self, start: int) -> Composite:
        self.need("CASE")
        parts: list[Node] = []
        if self.upper() != "WHEN":
            parts.append(self.expression())
        while self.take("WHEN"):
            parts.append(self.expression())
            self.need("THEN")
            parts.append(self.expression())
        if self.take("ELSE"):
            parts.append(self.expression())
        self.need("END")
        return Composite(self.since(start), "CASE", tuple(parts))

    def _cast(self, start: int) -> Cast:
        self.at += 2
        operand = self.expression()
        self.need("AS")
        type_text = self._type()
        self.need(")")
        return Cast(self.since(start), operand, type_text)

    def _type(self) -> str:
        """A type's words up to the end of a cast: `DECIMAL(10, 2)`, `ARRAY<INT>`, `TIMESTAMP(3) WITH LOCAL TIME ZONE`."""
        first, angles = self.at, 0
        while True:
            if self.kind() == "word" or angles:
                angles += (self.upper() == "<") - (self.upper() == ">")
                if self.kind() == "end":
                    self.fail("expected '>', found the end")
                self.at += 1
            elif self.upper() == "(":
                self.skip_brackets()
            elif self.upper() == "<":
                angles, self.at = 1, self.at + 1
            else:
                break
            if angles == 0 and self.upper() not in ("(", "<", "WITH", "WITHOUT", "LOCAL", "TIME", "ZONE", "PRECISION", "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "TO"):  # fmt: skip
                break
        if first == self.at:
            self.fail(f"expected a type, found {self.found()}")
        return " ".join(t.upper or t.text for t in self.tokens[first : self.at])

    def _brackets(self, start: int) -> Node:
        """An expression, a row, a query or a lambda's parameters in brackets."""
        if self._is_lambda():
            self.skip_brackets()
            self.need("->")
            body = self.expression()
            return Composite(self.since(start), "lambda", (body,))
        self.at += 1
        if self._opens_query():
            return self._subquery(start, exists=False)
        self._deeper()
        parts: list[Node] = []
        while not parts or self.take(","):
            part_start, part = self.start(), self.expression()
            if self.take("AS"):  # as in STRUCT(a AS b)
                name = self.name()
                part = Alias(self.since(part_start), part, name)
            parts.append(part)
        self.depth -= 1
        self.need(")")
        if len(parts) == 1:
            return Brackets(self.since(start), parts[0])
        return Composite(self.since(start), "row", tuple(parts))

    def _is_lambda(self) -> bool:
        """Whether `(a, b) ->` comes next."""
        ahead = 1
        while self.kind(ahead) in ("word", "quoted") and self.upper(ahead + 1) == ",":
            ahead += 2
        return self.kind(ahead) in ("word", "quoted") and self.upper(ahead + 1) == ")" and self.upper(ahead + 2) == "->"

    def _opens_query(self) -> bool:
        """Whether a query comes next, perhaps in more brackets: `((SELECT 1) UNION ...)`."""
        ahead = 0
        while self.upper(ahead) == "(":
            ahead += 1
        return self.reads_queries and self.upper(ahead) in QUERY_STARTS

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail("the condition is nested too deeply")

    def _members(self, start: int, kind: str) -> Composite:
        self.need("[")
        parts: list[Node] = []
        while not self.take("]"):
            if parts:
                self.need(",")
            parts.append(self.expression())
        return Composite(self.since(start), kind, tuple(parts))

    def _subquery(self, opening: int, *, exists: bool, start: int | None = None) -> Node:
        """A query after its opening bracket."""
        query = self.query()
        self.need(")")
        return Subquery(self.since(opening if start is None else start), query, exists)

    def query(self) -> QueryTree:
        """A query up to its closing bracket; a parser of expressions alone knows none."""
        self.fail("a subquery is not supported here")

    # -- calls

    def _call(self, start: int, name: tuple[str, ...]) -> Call:
        self.need("(")
        distinct = self.take("DISTINCT")
        if not distinct and self.upper() == "ALL" and self.upper(1) not in (",", ")"):
            self.at += 1
        if name[-1].upper() in _WITH_UNITS and self.upper() in _UNITS and self.upper(1) in ("FROM", ","):
            self.at += 1
        order: tuple[Ordering, ...] = ()
        if name[-1].upper() == "POSITION":
            arguments = self._position_arguments()
        else:
            arguments, order = self._arguments()
        condition: Node | None = None
        window: Window | None = None
        if self.take("WITHIN", "GROUP"):
            self.need("(")
            self.need("ORDER")
            self.need("BY")
            order = self.orderings()
            self.need(")")
        if self.upper() == "FILTER" and self.upper(1) == "(" and self.upper(2) == "WHERE":
            self.at += 3
            condition = self.expression()
            self.need(")")
        if self.upper() in ("IGNORE", "RESPECT") and self.upper(1) == "NULLS":
            self.at += 2
        if self.take("OVER"):
            window = self.window()
        return Call(self.since(start), name, tuple(arguments), distinct, order, condition, window)

    def _position_arguments(self) -> list[Node]:
        """POSITION(a IN b) or POSITION(a, b)."""
        out = [self.value()]
        while self.take_one(("IN", ",")):
            out.append(self.value())
        self.need(")")
        return out

    def _arguments(self) -> tuple[list[Node], tuple[Ordering, ...]]:
        """The arguments up to the closing bracket, and the items of ORDER BY among them.

        FROM, TO DAY and RETURNING INT between two arguments are skipped. Other words are kept as columns: too many
        columns do no harm.
        """
        out: list[Node] = []
        order: tuple[Ordering, ...] = ()
        is_between = False
        while not self.take(")"):
            start = self.start()
            if self.take("ORDER", "BY"):
                order = self.orderings()
            elif self.take(","):
                is_between = False
            elif self.kind() == "word" and self.upper(1) == "=>":
                self.at += 2
            elif (
                not is_between and self.upper() in ("SELECT", "WITH", "VALUES") and self.upper(1) not in (",", ")", ".")
            ):
                query = self.query()
                out.append(Subquery(self.since(start), query, exists=False))
            elif self._skip_clause():
                is_between = False
            elif self.kind() == "word" and (is_between or self._is_prefix()):
                self.at += 1
                out.append(Column(self.since(start), (self.tokens[self.at - 1].text,)))
                is_between = False
            elif is_between:
                self.fail(f"expected ',' or ')', found {self.found()}")
            else:
                out.append(self.expression())
                is_between = True
        return out, order

    def _skip_clause(self) -> bool:
        """Consume words of a call that are no arguments."""
        if self.take("RETURNING"):
            self._type()
        elif self.take("TO"):
            self.take_one(_UNITS)
        elif self.take("AS"):
            self.name()
        else:
            return bool(self.take_one(("FROM", "ON", "WITH", "USING")))
        return True

    def _is_prefix(self) -> bool:
        """Whether the next word stands before an operand: KEY of JSON_OBJECT, BOTH of TRIM."""
        return self.upper() in ("KEY", "BOTH", "LEADING", "TRAILING", "TABLE") and (
            self.kind(1) in ("string", "number", "quoted")
            or (self.kind(1) == "word" and self.upper(1) not in _AFTER_OPERAND)
        )

    def window(self) -> Window:
        """What follows OVER, or AS in a WINDOW clause."""
        start = self.start()
        if self.upper() != "(":
            self.name()
            return Window(self.since(start), ())
        self.at += 1
        parts: list[Node] = []
        if self.is_name() and self.upper() not in ("PARTITION", "ORDER", "ROWS", "RANGE", "DISTRIBUTE", "SORT"):
            self.at += 1
        if self.take("PARTITION", "BY") or self.take("DISTRIBUTE", "BY"):
            parts.append(self.expression())
            while self.take(","):
                parts.append(self.expression())
        if self.take("ORDER", "BY") or self.take("SORT", "BY"):
            parts += self.orderings()
        while self.upper() != ")":  # the frame: literals, no columns
            if self.at >= len(self.tokens):
                self.fail("expected ')', found the end")
            if self.upper() == "(":
                self.skip_brackets()
            else:
                self.at += 1
        self.at += 1
        return Window(self.since(start), tuple(parts))

    def orderings(self) -> tuple[Ordering, ...]:
        """The items of ORDER BY."""
        out = [self._ordering()]
        while self.take(","):
            out.append(self._ordering())
        return tuple(out)

    def _ordering(self) -> Ordering:
        start = self.start()
        expression = self.expression()
        descending = self.take_one(("ASC", "DESC")) == "DESC"
        nulls_first = not descending
        if self.take("NULLS"):
            nulls_first = self.take_one(("FIRST", "LAST")) == "FIRST"
        return Ordering(self.since(start), expression, descending, nulls_first)
