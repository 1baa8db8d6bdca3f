"""Conditions as text: from the tree of the text to a predicate on a table's columns, with error positions. Reads no rows.

comparison (=, ==, <>, !=, <, <=, >, >=, <=>), BETWEEN, IN, LIKE, IS [NOT] NULL, AND, OR, NOT, parentheses; literals:
numbers, 'text', "text" if no column has that name, X'bytes', TRUE, FALSE, NULL, DATE '...', TIMESTAMP '...', TIME '...'.
"""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import ColumnNotFound, SqlAnalysisError, SqlSyntaxError
from paimon_nb.syntax.expressions import ExpressionParser, UnexpectedToken
from paimon_nb.syntax.lexer import tokens
from paimon_nb.syntax.tree import (
    Between,
    Binary,
    Brackets,
    Call,
    Column,
    Composite,
    Literal,
    Logical,
    Span,
    Unary,
)
from paimon_nb.syntax.tree import In as InNode
from paimon_nb.syntax.tree import Is as IsNode
from paimon_nb.syntax.tree import Like as LikeNode
from paimon_nb.syntax.words import CONDITION_WORDS
from paimon_nb.table.read.predicate.evaluate import bind_literals
from paimon_nb.table.read.predicate.model import (
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
    conjunction_of,
)

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.syntax.tree import Node

_OPERATORS = {"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_TYPED_STRINGS = ("DATE", "TIMESTAMP", "TIME", "TIMESTAMP_LTZ")


def parse_predicate(text: str, schema: TableSchema, *, numbers_as_text: bool = False) -> Predicate:
    """The condition in `text` on the table's columns, bound to them.

    Args:
        numbers_as_text: a number that is compared with a text column is that text: `dt = 20221208`.

    Raises:
        SqlSyntaxError: the text is not a condition. SqlAnalysisError: an invalid comparison. ColumnNotFound.
        All carry `sql`, `start` and `stop`.
    """
    return _Condition(text, schema, numbers_as_text).predicate()


class _Condition:
    """The text of one condition on a table."""

    def __init__(self, text: str, schema: TableSchema, numbers_as_text: bool = False) -> None:
        self.text, self.schema = text, schema
        roots = ("CHAR", "VARCHAR") if numbers_as_text else ()
        self.text_columns = {f.name for f in schema.fields if f.type.root in roots}
        self.names = {name.lower() for name in schema.names}
        try:
            self.tokens = tokens(text, flink=True)
        except SqlSyntaxError as error:
            start = error.facts["start"]
            raise self._error(error.message, Span(start, start + 1)) from None

    def predicate(self) -> Predicate:
        end = len(self.text)
        if not self.tokens:
            raise self._error("the condition is empty", Span(end, end))
        try:
            tree = ExpressionParser(self.tokens, end, CONDITION_WORDS).whole()
            return self._predicate_of_node(tree)
        except UnexpectedToken as error:
            raise self._error(error.message, error.span) from None
        except RecursionError:
            raise self._error("the condition is nested too deeply", Span(0, end)) from None

    def _error(
        self, message: str, span: Span, kind: type[SqlSyntaxError | SqlAnalysisError] = SqlSyntaxError
    ) -> SqlSyntaxError | SqlAnalysisError:
        return kind(
            f"{message} at position {span.start + 1} of the condition",
            hint="write conditions such as id = 7 AND dt >= '2024-01-01'",
            sql=self.text,
            start=span.start,
            stop=span.stop,
        )

    def _error_after(self, node: Node, message: str) -> SqlSyntaxError | SqlAnalysisError:
        """An error at the token after a node."""
        following = next((t for t in self.tokens if t.start >= node.span.stop), None)
        span = Span(len(self.text), len(self.text)) if following is None else Span(following.start, following.stop)
        return self._error(f"{message}, found {following.text if following else 'the end'!r}", span)

    # -- conditions

    def _predicate_of_node(self, node: Node) -> Predicate:
        match node:
            case Brackets():
                return self._predicate_of_node(node.inner)
            case Logical():
                parts = [self._predicate_of_node(part) for part in node.parts]
                return conjunction_of(parts) if node.op == "AND" else Or(tuple(parts))
            case Unary(op="NOT"):
                return self._predicate_of_node(node.operand).negate()
            case Binary() if node.op in _OPERATORS or node.op == "<=>":
                return self._comparison_condition(node)
            case InNode():
                name = self._column_name(node.operand)
                values = tuple(self._literal_value(item) for item in node.items)
                return self._negated(self._bind(node, In(name, values)), node.negated)
            case Between() if not node.symmetric:
                name = self._column_name(node.operand)
                low, high = self._literal_value(node.low), self._literal_value(node.high)
                bounds = (Compare(name, ">=", low), Compare(name, "<=", high))
                return self._negated(And(tuple(self._bind(node, bound) for bound in bounds)), node.negated)
            case LikeNode(op="LIKE", escape=None):
                name, pattern = self._column_name(node.operand), self._literal_value(node.pattern)
                if not isinstance(pattern, str):
                    raise self._error("LIKE needs a string literal", node.pattern.span)
                return self._negated(self._bind(node, Like(name, pattern)), node.negated)
            case IsNode():
                return self._is_null_or_truth_condition(node)
            case Literal(kind="TRUE" | "FALSE" | "NULL"):
                return Constant({"TRUE": True, "FALSE": False}.get(node.kind))
        return self._boolean_column_condition(node)

    def _negated(self, found: Predicate, negated: bool) -> Predicate:
        return found.negate() if negated else found

    def _boolean_column_condition(self, node: Node) -> Predicate:
        """A BOOLEAN column as a condition."""
        if not self._is_column(node):
            literal = node.operand if isinstance(node, Unary) else node
            if isinstance(literal, Literal):
                self._literal_value(node)
                raise self._error(f"{self._text_of(literal)} is not a condition", literal.span)
            raise self._unsupported_expression_error(node)
        name = self._column_name(node)
        if self.schema.field(name).type.root == "BOOLEAN":
            return self._bind(node, Compare(name, "=", True))
        raise self._error_after(node, f"expected a comparison after {name!r}")

    def _comparison_condition(self, node: Binary) -> Predicate:
        if not self._is_column(node.left):
            value = self._literal_value(node.left)
            if node.op == "<=>":
                raise self._error(f"{self._text_of(node.left)} is not a condition", node.left.span)
            if not self._is_column(node.right):
                self._literal_value(node.right)
                raise self._error("a comparison needs a column", node.left.span, SqlAnalysisError)
            leaf = Compare(self._column_name(node.right), FLIPPED[_OPERATORS[node.op]], value)
            return self._bind_at(node.right.span.start, node, leaf)
        name = self._column_name(node.left)
        value = self._literal_value(node.right)
        if node.op != "<=>":
            return self._bind(node, Compare(name, _OPERATORS[node.op], value))
        if value is None:
            return IsNull(name)
        return And((IsNotNull(name), self._bind(node, Compare(name, "=", value))))

    def _is_null_or_truth_condition(self, node: IsNode) -> Predicate:
        name = self._column_name(node.operand)
        if node.what == "NULL":
            return IsNotNull(name) if node.negated else IsNull(name)
        if node.what in ("TRUE", "FALSE"):
            same = And((IsNotNull(name), self._bind(node, Compare(name, "=", node.what == "TRUE"))))
            return self._negated(same, node.negated)
        raise self._error(f"expected NULL after IS, found {node.what!r}", Span(node.operand.span.stop, node.span.stop))

    def _bind(self, node: Node, leaf: Predicate) -> Predicate:
        return self._bind_at(node.span.start, node, leaf)

    def _bind_at(self, start: int, node: Node, leaf: Predicate) -> Predicate:
        if leaf.columns() <= self.text_columns:
            leaf = _with_numbers_as_text(leaf)
        try:
            return bind_literals(leaf, self.schema.fields)
        except SqlAnalysisError as error:
            error.facts.update(sql=self.text, start=start, stop=node.span.stop)
            raise

    # -- operands

    def _text_of(self, node: Node) -> str:
        return self.text[node.span.start : node.span.stop]

    def _is_column(self, node: Node) -> bool:
        """Whether it is a name, or a double-quoted one of a column."""
        if isinstance(node, Literal) and node.kind == "string" and node.text.startswith('"'):
            return _unquoted(node.text).lower() in self.names
        return isinstance(node, Column | Call)

    def _column_name(self, node: Node) -> str:
        """The name of the column, as in the schema. Raises ColumnNotFound."""
        if not self._is_column(node):
            raise self._unsupported_expression_error(node)
        if isinstance(node, Literal):
            written, span = _unquoted(node.text), node.span
        else:
            first = next(t for t in self.tokens if t.start == node.span.start)
            written, span = first.name, Span(first.start, first.stop)
            if isinstance(node, Column) and len(node.parts) > 1:
                raise self._error("unexpected '.'", Span(first.stop, first.stop + 1))
            if first.kind == "number":
                raise self._error(f"unexpected {self._text_of(node)!r}", node.span)
        found = (
            written
            if written in self.schema.names
            else next((n for n in self.schema.names if n.lower() == written.lower()), None)
        )
        if found is None:
            try:
                self.schema.field(written)
            except ColumnNotFound as error:
                error.facts.update(sql=self.text, start=span.start, stop=span.stop)
                raise
        if span != node.span:  # a call, or a field of a column
            raise self._error_after(Column(span, (written,)), f"expected a comparison after {written!r}")
        return found or written

    def _literal_value(self, node: Node) -> Any:
        """The value of a literal: int, float, Decimal, str, bytes, bool or None."""
        if self._is_column(node):
            self._column_name(node)
            raise self._error(
                f"{self._text_of(node)} is a column; only comparisons with literals are supported",
                node.span,
                SqlAnalysisError,
            )
        match node:
            case Unary(op="-" | "+", operand=Literal(kind="number") as number):
                value = self._number_literal(number)
                return -value if node.op == "-" else value
            case Literal(kind="number"):
                return self._number_literal(node)
            case Literal(kind="string"):
                return _unquoted(node.text)
            case Literal(kind="TRUE" | "FALSE" | "NULL"):
                return {"TRUE": True, "FALSE": False}.get(node.kind)
            case Literal(kind="X"):
                return self._hex_literal(node)
            case Literal() if node.kind in _TYPED_STRINGS and node.text.startswith("'"):
                return _unquoted(node.text)
        raise self._unsupported_expression_error(node)

    def _number_literal(self, node: Literal) -> int | float | decimal.Decimal:
        text = node.text
        digits = text.rstrip("LlSsYyDdFfBb")
        if digits != text:
            start = node.span.start + len(digits)
            raise self._error(f"unexpected {text[len(digits) :]!r}", Span(start, node.span.stop))
        if "e" in text.lower():
            return float(text)
        return decimal.Decimal(text) if "." in text else int(text)

    def _hex_literal(self, node: Literal) -> bytes:
        try:
            return bytes.fromhex(_unquoted(node.text))
        except ValueError:
            raise self._error("each byte needs two hex digits", node.span) from None

    def _unsupported_expression_error(self, node: Node) -> SqlSyntaxError | SqlAnalysisError:
        """The error of an expression that is neither a column nor a literal: at the operator that makes it one."""
        match node:
            case Binary():
                self._raise_for_operand(node.left)
                return self._error(f"unexpected {node.op!r}", node.op_span)
            case Composite() if node.parts and node.kind != "row" and node.parts[0].span.start == node.span.start:
                return self._error_after(node.parts[0], "expected a comparison")
            case Brackets():
                return self._error(
                    "expected a column or a literal, found '('", Span(node.span.start, node.span.start + 1)
                )
            case Literal(kind="parameter"):
                return self._error(f"unexpected {node.text!r}", node.span)
        return self._error("expected a column or a literal", node.span)

    def _raise_for_operand(self, node: Node) -> None:
        """Raises the error of an operand that is neither a column nor a literal."""
        if self._is_column(node):
            self._column_name(node)
        else:
            self._literal_value(node)


def _with_numbers_as_text(leaf: Predicate) -> Predicate:
    """The comparison with its numbers as texts."""
    match leaf:
        case Compare(name, op, int() | decimal.Decimal() as number) if not isinstance(number, bool):
            return Compare(name, op, str(number))
        case In(name, values):
            numbers = (int, decimal.Decimal)
            return In(name, tuple(str(v) if isinstance(v, numbers) and not isinstance(v, bool) else v for v in values))
    return leaf


def _unquoted(text: str) -> str:
    """The content of a string or a name in quotes; doubled quotes are one."""
    return text[1:-1].replace(text[0] * 2, text[0])
