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
    Field,
    In,
    Is,
    Lambda,
    Like,
    Literal,
    Logical,
    Node,
    Ordering,
    Span,
    Star,
    Subquery,
    Unary,
    Window,
)
from paimon_nb.syntax.words import (
    AFTER_OPERAND,
    COMPARED,
    COMPARISONS,
    NEGATABLE,
    PATTERN_OPERATORS,
    PREFIXES,
    QUERY_STARTS,
    QUERY_WORDS,
    STRENGTH,
    TYPED_STRINGS,
    UNITS,
    WITH_UNITS,
    WITHOUT_BRACKETS,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import NoReturn

    from paimon_nb.syntax.lexer import Token
    from paimon_nb.syntax.tree import QueryTree

MAX_DEPTH = 200


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
            self.fail(f"unexpected {self.next_text()}")
        return found

    # -- tokens

    def peek(self, ahead: int = 0) -> str:
        """The next token as an upper-case word or operator; '' for other tokens and at the end."""
        at = self.at + ahead
        return self.tokens[at].upper if at < len(self.tokens) else ""

    def peek_kind(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].kind if at < len(self.tokens) else "end"

    def take(self, *words: str) -> bool:
        """Consume these words or operators if they come next."""
        if all(self.peek(i) == word for i, word in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def take_one(self, words: Collection[str]) -> str:
        """Consume one of these words if it comes next, and return it; else ''."""
        word = self.peek()
        if word and word in words:
            self.at += 1
            return word
        return ""

    def expect(self, word: str) -> None:
        if not self.take(word):
            self.fail(f"expected {word if word.isalpha() else repr(word)}, found {self.next_text()}")

    def next_text(self) -> str:
        """The next token, for a message."""
        return repr(self.tokens[self.at].text) if self.at < len(self.tokens) else "the end"

    def fail(self, message: str) -> NoReturn:
        """Raises UnexpectedToken at the next token."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        raise UnexpectedToken(message, Span(token.start, token.stop) if token is not None else Span(self.end, self.end))

    def start(self) -> int:
        """The offset of the next token."""
        return self.tokens[self.at].start if self.at < len(self.tokens) else self.end

    def span_from(self, start: int) -> Span:
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
        kind = self.peek_kind(ahead)
        return kind == "quoted" or (kind == "word" and self.peek(ahead) not in self.reserved)

    def name(self) -> str:
        if self.peek_kind() not in ("word", "quoted"):
            self.fail(f"expected a name, found {self.next_text()}")
        self.at += 1
        return self.tokens[self.at - 1].name

    # -- operators

    def expression(self, above: int = 0) -> Node:
        """A value or a condition, up to an operator that does not bind stronger than `above`."""
        start = self.start()
        found = self._prefix_expression(start)
        while (strength := self._precedence_of_next()) > above:
            found = self._binary_expression(start, found, strength)
        return found

    def value(self) -> Node:
        """An operand, or operands with arithmetic between them: no condition without brackets."""
        return self.expression(COMPARED)

    def _precedence_of_next(self) -> int:
        """How strong the next operator binds; 0 if no operator comes next."""
        upper = self.peek()
        if upper == "NOT" and self.peek(1) not in NEGATABLE:
            self.at += 1
            self.fail(f"expected IN, BETWEEN or LIKE after NOT, found {self.next_text()}")
        return STRENGTH.get(upper, 0) if self.peek_kind() in ("op", "word") else 0

    def _prefix_expression(self, start: int) -> Node:
        """NOT, signs and an operand."""
        prefixes: list[tuple[int, str]] = []
        while (op := self.peek()) in PREFIXES and not (prefixes and prefixes[-1][1] != "NOT" and op in ("NOT", "!")):
            prefixes.append((self.start(), "NOT" if op == "!" else op))
            self.at += 1
        if not prefixes:
            return self._postfix_expression(start, self._operand())
        found = self._postfix_expression(self.start(), self._operand())
        while prefixes:
            op_start, op = prefixes.pop()
            if op == "NOT":  # all but AND and OR belong to its operand
                operand_start = found.span.start
                while (strength := self._precedence_of_next()) > STRENGTH["AND"]:
                    found = self._binary_expression(operand_start, found, strength)
            found = Unary(Span(op_start, found.span.stop), op, found)
        return found

    def _binary_expression(self, start: int, left: Node, strength: int) -> Node:
        """`left`, the operator that comes next, and what belongs to it."""
        op = self.peek()
        if op in ("AND", "OR"):
            parts = [left]
            while self.take(op):
                parts.append(self.expression(strength))
            return Logical(self.span_from(start), op, tuple(parts))
        if op in COMPARISONS or strength > COMPARED:
            op_start = self.start()
            self.at += 1
            op_span = self.span_from(op_start)
            right = self.expression(strength)
            return Binary(self.span_from(start), op, left, right, op_span)
        if op == "IS":
            return self._is_predicate(start, left)
        if self.take("OVERLAPS"):
            other = self.value()
            return Composite(self.span_from(start), op, (left, other))
        negated = self.take("NOT")
        if self.take("BETWEEN"):
            return self._between_predicate(start, left, negated)
        if self.take("IN"):
            return self._in_predicate(start, left, negated)
        return self._like_predicate(start, self.take_one(PATTERN_OPERATORS), left, negated)

    def _is_predicate(self, start: int, operand: Node) -> Is:
        self.expect("IS")
        negated = self.take("NOT")
        if self.take("DISTINCT", "FROM"):
            other = self.value()
            return Is(self.span_from(start), operand, "DISTINCT FROM", negated, other)
        if self.take("JSON"):
            what = " ".join(filter(None, ("JSON", self.take_one(("VALUE", "OBJECT", "ARRAY", "SCALAR")))))
            return Is(self.span_from(start), operand, what, negated, None)
        what = self.take_one(("NULL", "TRUE", "FALSE", "UNKNOWN"))
        if not what:
            self.fail(f"expected NULL after IS, found {self.next_text()}")
        return Is(self.span_from(start), operand, what, negated, None)

    def _between_predicate(self, start: int, operand: Node, negated: bool) -> Between:
        symmetric = self.take_one(("SYMMETRIC", "ASYMMETRIC")) == "SYMMETRIC"
        low = self.value()
        self.expect("AND")
        high = self.value()
        return Between(self.span_from(start), operand, low, high, negated, symmetric)

    def _in_predicate(self, start: int, operand: Node, negated: bool) -> In:
        opening = self.start()
        self.expect("(")
        if self._opens_query():
            items: list[Node] = [self._subquery(opening, exists=False)]
        else:
            items = [self.expression()]
            while self.take(","):
                items.append(self.expression())
            self.expect(")")
        return In(self.span_from(start), operand, tuple(items), negated)

    def _like_predicate(self, start: int, op: str, operand: Node, negated: bool) -> Like:
        if op == "SIMILAR":
            self.expect("TO")
            op = "SIMILAR TO"
        pattern = self.value()
        escape = self.value() if self.take("ESCAPE") else None
        return Like(self.span_from(start), op, operand, pattern, negated, escape)

    # -- operands

    def _postfix_expression(self, start: int, found: Node) -> Node:
        """An operand with the elements, fields and casts after it."""
        while True:
            if self.take("["):
                index = self.expression()
                self.expect("]")
                found = Composite(self.span_from(start), "element", (found, index))
            elif self.peek() == "." and self.peek_kind(1) in ("word", "quoted"):
                self.at += 1
                name = self.name()
                found = Field(self.span_from(start), found, name)
            elif self.take("::"):
                type_text = self._type_text()
                found = Cast(self.span_from(start), found, type_text, "::")
            elif self.take("COLLATE"):
                self.name()
                while self.take("."):
                    self.name()
                found = Composite(self.span_from(start), "COLLATE", (found,))
            elif self.take("AT", "TIME", "ZONE"):
                zone = self._operand()
                found = Composite(self.span_from(start), "AT TIME ZONE", (found, zone))
            elif self.peek() == ":" and self.peek_kind(1) in ("word", "quoted"):
                self.at += 2
                found = Composite(self.span_from(start), "path", (found,))
            elif self.peek_kind() == "param":  # `v:a`, a path into a VARIANT
                self.at += 1
                found = Composite(self.span_from(start), "path", (found,))
            else:
                return found

    def _operand(self) -> Node:
        start, kind, upper = self.start(), self.peek_kind(), self.peek()
        if kind == "number":
            self.at += 1
            if (
                self.peek_kind() == "word" and self.start() == self.tokens[self.at - 1].stop
            ):  # a name may begin with digits
                self.at += 1
                return Column(self.span_from(start), (self.tokens[self.at - 2].text + self.tokens[self.at - 1].text,))
            return Literal(self.span_from(start), "number", self.tokens[self.at - 1].text)
        if kind == "string":
            return self._string_literal(start)
        if kind == "param":
            self.at += 1
            return Literal(self.span_from(start), "parameter", self.tokens[self.at - 1].text)
        if kind in ("word", "quoted"):
            return self._word_expression(start, upper)
        if upper == "(":
            return self._bracketed_expression(start)
        if not self.take("*"):
            self.fail(f"expected a column or a literal, found {self.next_text()}")
        return self._star(start, ())

    def _begins_operand(self, ahead: int) -> bool:
        """Whether an operand may begin there, so that the word before it is a keyword."""
        word = self.peek(ahead)
        if self.peek_kind(ahead) == "op":
            return word in ("(", "-", "+")
        if word == "NOT":
            return self.peek(ahead + 1) not in NEGATABLE
        return self.peek_kind(ahead) != "end" and word not in ("AND", "OR", "IS", *NEGATABLE)

    def _string_literal(self, start: int) -> Node:
        self.at += 1
        first = Literal(self.span_from(start), "string", self.tokens[self.at - 1].text)
        if self.peek_kind() != "string":
            return first
        parts: list[Node] = [first]
        while self.peek_kind() == "string":  # Spark joins adjacent strings
            part_start = self.start()
            self.at += 1
            parts.append(Literal(self.span_from(part_start), "string", self.tokens[self.at - 1].text))
        return Composite(self.span_from(start), "strings", tuple(parts))

    def _word_expression(self, start: int, upper: str) -> Node:
        following, following_kind = self.peek(1), self.peek_kind(1)
        if upper in ("TRUE", "FALSE", "NULL") and following not in ("(", "."):
            self.at += 1
            return Literal(self.span_from(start), upper, self.tokens[self.at - 1].text)
        if (
            upper in TYPED_STRINGS
            and following_kind == "string"
            and (upper != "X" or self.tokens[self.at + 1].start == self.tokens[self.at].stop)
        ):
            self.at += 2
            return Literal(self.span_from(start), upper, self.tokens[self.at - 1].text)
        if upper == "INTERVAL" and (following_kind in ("string", "number", "param") or following in ("-", "+", "(")):
            return self._interval(start)
        if upper == "CASE" and self._begins_operand(1):
            return self._case_expression(start)
        if upper in ("CAST", "TRY_CAST") and following == "(":
            return self._cast_expression(start)
        if upper == "EXISTS" and following == "(" and (self.peek(2) in QUERY_STARTS or self.peek(2) == "("):
            self.at += 1
            opening = self.start()
            self.at += 1
            return self._subquery(opening, exists=True, start=start)
        if upper in ("ARRAY", "MAP") and following == "[":
            self.at += 1
            return self._array_or_map_constructor(start, upper)
        if upper in self.reserved and not (following == "(" and upper in ("LEFT", "RIGHT")):
            self.fail(f"unexpected {self.next_text()}")
        return self._dotted_name(start)

    def _dotted_name(self, start: int) -> Node:
        is_plain_word = self.peek_kind() == "word"
        parts = [self.name()]
        while self.peek() == "." and self.peek_kind(1) in ("word", "quoted"):
            self.at += 1
            parts.append(self.name())
        if self.peek() == "." and self.peek(1) == "*":
            self.at += 2
            return self._star(start, tuple(parts))
        if self.peek() == "(":
            return self._function_call(start, tuple(parts))
        if self.peek() == "->":
            self.at += 1
            body = self.expression()
            return Lambda(self.span_from(start), tuple(parts), body)
        if len(parts) == 1 and is_plain_word and parts[0].upper() in WITHOUT_BRACKETS:
            return Call(self.span_from(start), tuple(parts), (), False, (), None, None)
        return Column(self.span_from(start), tuple(parts))

    def _star(self, start: int, qualifier: tuple[str, ...]) -> Star:
        clauses: list[tuple[str, tuple[str, ...]]] = []
        while (
            self.peek() in ("EXCEPT", "EXCLUDE", "REPLACE") and self.peek(1) == "(" and self.peek(2) not in QUERY_STARTS
        ):
            word = self.peek()
            self.at += 1
            clauses.append((word, self.names_in_brackets()))
        excluded = clauses[0][1] if len(clauses) == 1 and clauses[0][0] != "REPLACE" else ()
        return Star(self.span_from(start), qualifier, bool(clauses), excluded)

    def names_in_brackets(self) -> tuple[str, ...]:
        """The names in the brackets that come next; () if they hold something else."""
        first = self.at + 1
        self.skip_brackets()
        inside = self.tokens[first : self.at - 1]
        names = inside[::2]
        plain = len(inside) % 2 and all(t.kind in ("word", "quoted") for t in names)
        return tuple(t.name for t in names) if plain and all(t.text == "," for t in inside[1::2]) else ()

    def _interval(self, start: int) -> Node:
        """INTERVAL '1' DAY, INTERVAL '1 2' DAY(3) TO HOUR, INTERVAL 1 DAY 2 HOURS, INTERVAL (n) DAY."""
        self.at += 1
        parts: list[Node] = []
        while True:
            self.take_one(("-", "+"))
            if self.peek() == "(":
                parts.append(self._bracketed_expression(self.start()))
            else:
                self.at += 1
            if self.peek() in UNITS:
                self.at += 1
                if self.peek() == "(":
                    self.skip_brackets()
            if self.take("TO"):
                self.name()
                if self.peek() == "(":
                    self.skip_brackets()
            if not (self.peek_kind() in ("string", "number") and self.peek(1) in UNITS):
                break
        return Composite(self.span_from(start), "INTERVAL", tuple(parts))

    def _case_expression(self, start: int) -> Composite:
        self.expect("CASE")
        parts: list[Node] = []
        if self.peek() != "WHEN":
            parts.append(self.expression())
        while self.take("WHEN"):
            parts.append(self.expression())
            self.expect("THEN")
            parts.append(self.expression())
        if self.take("ELSE"):
            parts.append(self.expression())
        self.expect("END")
        return Composite(self.span_from(start), "CASE", tuple(parts))

    def _cast_expression(self, start: int) -> Cast:
        form = self.peek()
        self.at += 2
        operand = self.expression()
        self.expect("AS")
        type_text = self._type_text()
        self.expect(")")
        return Cast(self.span_from(start), operand, type_text, form)

    def _type_text(self) -> str:
        """A type's words up to the end of a cast: `DECIMAL(10, 2)`, `ARRAY<INT>`, `TIMESTAMP(3) WITH LOCAL TIME ZONE`."""
        first, angles = self.at, 0
        while True:
            if self.peek_kind() == "word" or angles:
                angles += (self.peek() == "<") - (self.peek() == ">")
                if self.peek_kind() == "end":
                    self.fail("expected '>', found the end")
                self.at += 1
            elif self.peek() == "(":
                self.skip_brackets()
            elif self.peek() == "<":
                angles, self.at = 1, self.at + 1
            else:
                break
            if angles == 0 and self.peek() not in ("(", "<", "WITH", "WITHOUT", "LOCAL", "TIME", "ZONE", "PRECISION", "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "TO"):  # fmt: skip
                break
        if first == self.at:
            self.fail(f"expected a type, found {self.next_text()}")
        return " ".join(t.upper or t.text for t in self.tokens[first : self.at])

    def _bracketed_expression(self, start: int) -> Node:
        """An expression, a row, a query or a lambda's parameters in brackets."""
        if self._is_lambda():
            parameters = self.names_in_brackets()
            self.expect("->")
            body = self.expression()
            return Lambda(self.span_from(start), parameters, body)
        self.at += 1
        if self._opens_query():
            return self._subquery(start, exists=False)
        self._check_nesting()
        parts: list[Node] = []
        while not parts or self.take(","):
            part_start, part = self.start(), self.expression()
            if self.take("AS"):  # as in STRUCT(a AS b)
                name = self.name()
                part = Alias(self.span_from(part_start), part, name)
            parts.append(part)
        self.depth -= 1
        self.expect(")")
        if len(parts) == 1:
            return Brackets(self.span_from(start), parts[0])
        return Composite(self.span_from(start), "row", tuple(parts))

    def _is_lambda(self) -> bool:
        """Whether `(a, b) ->` comes next."""
        ahead = 1
        while self.peek_kind(ahead) in ("word", "quoted") and self.peek(ahead + 1) == ",":
            ahead += 2
        return (
            self.peek_kind(ahead) in ("word", "quoted") and self.peek(ahead + 1) == ")" and self.peek(ahead + 2) == "->"
        )

    def _opens_query(self) -> bool:
        """Whether a query comes next, perhaps in more brackets: `((SELECT 1) UNION ...)`."""
        ahead = 0
        while self.peek(ahead) == "(":
            ahead += 1
        return self.reads_queries and self.peek(ahead) in QUERY_STARTS

    def _check_nesting(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail("the condition is nested too deeply")

    def _array_or_map_constructor(self, start: int, kind: str) -> Composite:
        self.expect("[")
        parts: list[Node] = []
        while not self.take("]"):
            if parts:
                self.expect(",")
            parts.append(self.expression())
        return Composite(self.span_from(start), kind, tuple(parts))

    def _subquery(self, opening: int, *, exists: bool, start: int | None = None) -> Node:
        """A query after its opening bracket."""
        query = self.query()
        self.expect(")")
        return Subquery(self.span_from(opening if start is None else start), query, exists)

    def query(self) -> QueryTree:
        """A query up to its closing bracket; a parser of expressions alone knows none."""
        self.fail("a subquery is not supported here")

    # -- calls

    def _function_call(self, start: int, name: tuple[str, ...]) -> Call:
        self.expect("(")
        distinct = self.take("DISTINCT")
        if not distinct and self.peek() == "ALL" and self.peek(1) not in (",", ")"):
            self.at += 1
        if name[-1].upper() in WITH_UNITS and self.peek() in UNITS and self.peek(1) in ("FROM", ","):
            self.at += 1
        order: tuple[Ordering, ...] = ()
        if name[-1].upper() == "POSITION":
            arguments = self._position_arguments()
        else:
            arguments, order = self._arguments()
        condition: Node | None = None
        window: Window | None = None
        if self.take("WITHIN", "GROUP"):
            self.expect("(")
            self.expect("ORDER")
            self.expect("BY")
            order = self.orderings()
            self.expect(")")
        if self.peek() == "FILTER" and self.peek(1) == "(" and self.peek(2) == "WHERE":
            self.at += 3
            condition = self.expression()
            self.expect(")")
        if self.peek() in ("IGNORE", "RESPECT") and self.peek(1) == "NULLS":
            self.at += 2
        if self.take("OVER"):
            window = self.window()
        return Call(self.span_from(start), name, tuple(arguments), distinct, order, condition, window)

    def _position_arguments(self) -> list[Node]:
        """POSITION(a IN b) or POSITION(a, b)."""
        out = [self.value()]
        while self.take_one(("IN", ",")):
            out.append(self.value())
        self.expect(")")
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
            elif self.peek_kind() == "word" and self.peek(1) == "=>":
                self.at += 2
            elif not is_between and self.peek() in ("SELECT", "WITH", "VALUES") and self.peek(1) not in (",", ")", "."):
                query = self.query()
                out.append(Subquery(self.span_from(start), query, exists=False))
            elif self._skip_clause():
                is_between = False
            elif self.peek_kind() == "word" and (is_between or self._is_prefix()):
                self.at += 1
                out.append(Column(self.span_from(start), (self.tokens[self.at - 1].text,)))
                is_between = False
            elif is_between:
                self.fail(f"expected ',' or ')', found {self.next_text()}")
            else:
                out.append(self.expression())
                is_between = True
        return out, order

    def _skip_clause(self) -> bool:
        """Consume the words of a call that are not arguments."""
        if self.take("RETURNING"):
            self._type_text()
        elif self.take("TO"):
            self.take_one(UNITS)
        elif self.take("AS"):
            self.name()
        else:
            return bool(self.take_one(("FROM", "ON", "WITH", "USING")))
        return True

    def _is_prefix(self) -> bool:
        """Whether the next word is a keyword before an argument: KEY of JSON_OBJECT, BOTH of TRIM."""
        return self.peek() in ("KEY", "BOTH", "LEADING", "TRAILING", "TABLE") and (
            self.peek_kind(1) in ("string", "number", "quoted")
            or (self.peek_kind(1) == "word" and self.peek(1) not in AFTER_OPERAND)
        )

    def window(self) -> Window:
        """What follows OVER, or AS in a WINDOW clause."""
        start = self.start()
        if self.peek() != "(":
            name = self.name()
            return Window(self.span_from(start), name)
        self.at += 1
        base: str | None = None
        partition: list[Node] = []
        order: tuple[Ordering, ...] = ()
        if self.is_name() and self.peek() not in ("PARTITION", "ORDER", "ROWS", "RANGE", "DISTRIBUTE", "SORT"):
            base = self.name()
        if self.take("PARTITION", "BY") or self.take("DISTRIBUTE", "BY"):
            partition.append(self.expression())
            while self.take(","):
                partition.append(self.expression())
        if self.take("ORDER", "BY") or self.take("SORT", "BY"):
            order = self.orderings()
        first = self.at
        while self.peek() != ")":  # the frame: literals, no columns
            if self.at >= len(self.tokens):
                self.fail("expected ')', found the end")
            if self.peek() == "(":
                self.skip_brackets()
            else:
                self.at += 1
        frame = tuple(t.upper or t.text for t in self.tokens[first : self.at])
        self.at += 1
        return Window(self.span_from(start), base, tuple(partition), order, frame)

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
        return Ordering(self.span_from(start), expression, descending, nulls_first)
