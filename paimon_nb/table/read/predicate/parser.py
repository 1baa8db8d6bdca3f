"""Conditions as text (`where=`): from the tree of the text to a predicate on a table's columns, with error positions. Reads no rows.

A comparison of a column, or of a field of a ROW, with literals is a predicate that leaves out files. Everything else that is a condition in
the session's SQL is computed by the session; without one it is an error.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
import struct
from typing import TYPE_CHECKING, Any

from paimon_nb.base.clock import zone_of
from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, SqlAnalysisError, SqlSyntaxError
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import DataField, LocalZonedTimestamp, Row
from paimon_nb.syntax.expressions import ExpressionParser, UnexpectedToken
from paimon_nb.syntax.lexer import tokens
from paimon_nb.syntax.tree import (
    Between,
    Binary,
    Brackets,
    Call,
    Cast,
    Column,
    Composite,
    Literal,
    Logical,
    Span,
    Unary,
    children,
    without_brackets,
)
from paimon_nb.syntax.tree import In as InNode
from paimon_nb.syntax.tree import Is as IsNode
from paimon_nb.syntax.tree import Like as LikeNode
from paimon_nb.syntax.words import CONDITION_WORDS
from paimon_nb.table.read.predicate.evaluate import bind_literals, row_field, with_instants
from paimon_nb.table.read.predicate.model import (
    FLIPPED,
    And,
    Compare,
    Computed,
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
    from collections.abc import Callable, Iterator

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.syntax.tree import Node
    from paimon_nb.table.read.sql_session import SqlSession

OPERATORS = {"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_TYPED_STRINGS = ("DATE", "TIMESTAMP", "TIME", "TIMESTAMP_LTZ")


def parse_predicate(
    text: str, schema: TableSchema, *, numbers_as_text: bool = False, session: SqlSession | None = None
) -> Predicate:
    """The condition in `text` on the table's columns, bound to them.

    Args:
        numbers_as_text: a number that is compared with a text column is that text: `dt = 20221208`.
        session: whose SQL it is; None: comparisons of columns with literals, in whose strings a backslash is plain.

    Raises:
        SqlSyntaxError: the text is not a condition. SqlAnalysisError: an invalid comparison. ColumnNotFound.
        All carry `sql`, `start` and `stop`.
    """
    return TextCondition(text, schema, numbers_as_text, session).predicate()


def as_predicate(where: str | Predicate | None, schema: TableSchema, session: SqlSession | None) -> Predicate | None:
    """A condition as text or as a predicate. Raises BadOptionValue: it is neither; and the errors of `parse_predicate`."""
    if where is None or isinstance(where, Predicate):
        return where
    if isinstance(where, str):
        return parse_predicate(where, schema, session=session)
    raise BadOptionValue(
        f"a condition cannot be {where!r}, a {type(where).__name__}",
        hint="write SQL text: where=\"id = 7 AND dt >= '2024-01-01'\"", option="where",
    )  # fmt: skip


class TextCondition:
    """The text of one condition on a table."""

    def __init__(
        self, text: str, schema: TableSchema, numbers_as_text: bool = False, session: SqlSession | None = None
    ) -> None:
        self.text, self.schema, self.session = text, schema, session
        self.flink = session is None or session.flink
        roots = ("CHAR", "VARCHAR") if numbers_as_text else ()
        self.text_columns = {f.name for f in schema.fields if f.type.root in roots}
        self.names = {name.lower() for name in schema.names}
        self.fields_of_rows: dict[str, tuple[tuple[str, ...], DataField]] = {}
        """Operands that are fields of ROW columns, by the name that stands for them: the path, and the field."""
        self.reader = PredicateReader(
            column=self.column_name,
            literal=self.literal,
            leaf=self._bind,
            other=self._other_condition,
            escapes_like=True if session is None or not session.flink else None,
        )
        try:
            self.tokens = tokens(text, flink=self.flink)
        except SqlSyntaxError as error:
            start = error.facts["start"]
            raise self.error(error.message, Span(start, start + 1)) from None

    def predicate(self) -> Predicate:
        end = len(self.text)
        if not self.tokens:
            raise self.error("the condition is empty", Span(end, end))
        try:
            tree = ExpressionParser(self.tokens, end, CONDITION_WORDS).whole()
            found = self.reader.predicate(tree)
            assert found is not None  # `_other_condition` raises instead
            return found
        except UnexpectedToken as error:
            raise self.error(error.message, error.span) from None
        except RecursionError:
            raise self.error("the condition is nested too deeply", Span(0, end)) from None

    def error(
        self, message: str, span: Span, kind: type[SqlSyntaxError | SqlAnalysisError] = SqlSyntaxError
    ) -> SqlSyntaxError | SqlAnalysisError:
        return kind(
            f"{message} at position {span.start + 1} of the condition",
            hint="write conditions such as id = 7 AND dt >= '2024-01-01'",
            sql=self.text,
            start=span.start,
            stop=span.stop,
        )

    def error_after(self, node: Node, message: str) -> SqlSyntaxError | SqlAnalysisError:
        """An error at the token after a node."""
        following = next((t for t in self.tokens if t.start >= node.span.stop), None)
        span = Span(len(self.text), len(self.text)) if following is None else Span(following.start, following.stop)
        return self.error(f"{message}, found {following.text if following else 'the end'!r}", span)

    def text_of(self, node: Node) -> str:
        return self.text[node.span.start : node.span.stop]

    # -- comparisons

    def _bind(self, node: Node, leaf: Predicate) -> Predicate:
        """A comparison bound to its column, or to its field of a ROW."""
        if leaf.columns() <= self.text_columns:
            leaf = _with_numbers_as_text(leaf)
        name = next(iter(leaf.columns()))
        path, field = self.fields_of_rows.get(name, ((), None))
        type = self.schema.field(name).type if field is None else field.type
        if self.session is not None and isinstance(type, LocalZonedTimestamp):
            zone = zone_of(self.session.time_zone)
            if zone is None:
                return self._computed(node)
            leaf = with_instants(leaf, zone)
        start = node.right.span.start if isinstance(node, Binary) and self._is_flipped(node) else node.span.start
        try:
            if field is None:
                return bind_literals(leaf, self.schema.fields)
            return Computed(self.text_of(node), ((name, path),), bind_literals(leaf, [field]))
        except SqlAnalysisError as error:
            if self.session is not None:
                return self._computed(node)
            error.facts.update(sql=self.text, start=start, stop=node.span.stop)
            raise

    def _is_flipped(self, node: Binary) -> bool:
        return not self.is_column(without_brackets(node.left))

    # -- operands

    def is_column(self, node: Node) -> bool:
        """Whether it is a name, or a double-quoted one of a column."""
        if isinstance(node, Literal) and node.kind == "string" and node.text.startswith('"'):
            return _unquoted(node.text).lower() in self.names
        return isinstance(node, Column)

    def column_name(self, node: Node) -> str | None:
        """The name of the column, as in the schema, or the name that stands for a field of a ROW; None: no column. Raises ColumnNotFound."""
        if isinstance(node, Brackets) and self.session is not None:
            return self.column_name(node.inner)
        if not self.is_column(node):
            return None
        if isinstance(node, Literal):
            return self._found_column(_unquoted(node.text), node.span)
        assert isinstance(node, Column)
        first = next(t for t in self.tokens if t.start == node.span.start)
        if first.kind == "number":
            raise self.error(f"unexpected {self.text_of(node)!r}", node.span)
        name = self._found_column(node.parts[0], Span(first.start, first.stop))
        if len(node.parts) == 1:
            return name
        path = self._path_in_row(name, node.parts[1:])
        if path is None:
            if self.session is not None:
                return None
            raise self.error("unexpected '.'", Span(first.stop, first.stop + 1))
        alias = _unused_name(path[0], self.schema.names)
        self.fields_of_rows[alias] = (path[0], DataField(-1, alias, path[1].type))
        return alias

    def _path_in_row(self, name: str, parts: tuple[str, ...]) -> tuple[tuple[str, ...], DataField] | None:
        """The path of a field of a ROW column, and the field; None: the column is no ROW, or has no such field."""
        found = self.schema.field(name)
        path = [name]
        for part in parts:
            inside = found.type.fields if isinstance(found.type, Row) else ()
            same = [f.name for f in inside if f.name == part] or [
                f.name for f in inside if f.name.lower() == part.lower()
            ]
            if len(same) != 1:
                return None
            path.append(same[0])
            found = row_field(found.type, same[0])
        return tuple(path), found

    def _found_column(self, written: str, span: Span) -> str:
        """The column's name, as in the schema. Raises ColumnNotFound."""
        if written in self.schema.names:
            return written
        found = next((n for n in self.schema.names if n.lower() == written.lower()), None)
        if found is not None:
            return found
        try:
            return self.schema.field(written).name
        except ColumnNotFound as error:
            error.facts.update(sql=self.text, start=span.start, stop=span.stop)
            raise

    def literal(self, node: Node) -> Any:
        """The value of a literal. Raises NotLiteral."""
        if isinstance(node, Literal):
            if node.kind in _TYPED_STRINGS and node.text.startswith("'"):
                return _unquoted(node.text)
            if node.kind == "X":
                try:
                    return bytes.fromhex(_unquoted(node.text))
                except ValueError:
                    raise self.error("each byte needs two hex digits", node.span) from None
        if self.is_column(node):
            raise NotLiteral
        return literal_value(node, flink=self.flink)

    def is_literal(self, node: Node) -> bool:
        try:
            self.literal(node)
        except NotLiteral:
            return False
        return True

    # -- other conditions

    def _other_condition(self, node: Node) -> Predicate:
        """A condition that is no comparison of a column with literals: a BOOLEAN column, or one that the session computes."""
        name = self.column_name(node)
        if name is not None:
            field = self.fields_of_rows[name][1] if name in self.fields_of_rows else self.schema.field(name)
            if field.type.root == "BOOLEAN":
                return self._bind(node, Compare(name, "=", True))
            raise self.error_after(node, f"expected a comparison after {self.text_of(node)!r}")
        literal = node.operand if isinstance(node, Unary) else node
        if isinstance(literal, Literal) or self.session is None:
            from paimon_nb.table.read.predicate.refusals import Refusals

            raise Refusals(self).of(node)
        return self._computed(node)

    def _computed(self, node: Node) -> Computed:
        """A condition that the session computes. Raises ColumnNotFound."""
        replaced: list[tuple[Span, str]] = []
        inputs: dict[str, tuple[str, ...]] = {}
        for column, is_argument in _columns_of(node):
            if not self.is_column(column):
                continue
            parts = (_unquoted(column.text),) if isinstance(column, Literal) else column.parts  # type: ignore[attr-defined]
            if parts[0].lower() not in self.names and is_argument:
                continue  # a word of a function's syntax, or a parameter of a lambda; the session knows
            name = self._found_column(parts[0], column.span)
            path = self._path_in_row(name, parts[1:])
            if path is None:  # the session knows what a part of it is
                inputs[name] = (name,)
                continue
            alias = name if len(parts) == 1 else _unused_name(path[0], self.schema.names)
            inputs[alias] = path[0]
            replaced.append((column.span, quote(alias)))
        text, at = "", node.span.start
        for span, name in sorted(replaced, key=lambda part: part[0].start):
            text, at = text + self.text[at : span.start] + name, span.stop
        text += self.text[at : node.span.stop]
        return Computed(self.text_of(node), tuple(inputs.items()), text, self.session)


def _columns_of(node: Node) -> Iterator[tuple[Node, bool]]:
    """The names in an expression, and whether each is inside of a call or a composite expression, where words may be syntax."""
    waiting = [(node, False)]
    while waiting:
        found, inside = waiting.pop()
        if isinstance(found, Column | Literal):
            yield found, inside
            continue
        below = inside or isinstance(found, Call | Composite)
        waiting += [(part, below) for part in children(found)]


def _unused_name(path: tuple[str, ...], names: tuple[str, ...] | list[str]) -> str:
    """A name for a field of a ROW that no column has."""
    name = ".".join(path)
    while name in names:
        name += "_"
    return name


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


# -- from the tree to a predicate, also for the pushdown of SQL


@dataclass(frozen=True, slots=True)
class PredicateReader:
    """Reads conditions of one table, in one dialect."""

    column: Callable[[Node], str | None]
    """The name of the column that an operand is; None: it is none."""
    literal: Callable[[Node], Any]
    """The value of a literal; None is NULL. Raises NotLiteral."""
    leaf: Callable[[Node, Predicate], Predicate]
    """What becomes of a comparison: as it is, or bound to the table's columns."""
    other: Callable[[Node], Predicate | None]
    """A condition that is no comparison of a column with literals; None leaves it out."""
    escapes_like: bool | None
    """Whether a backslash in a LIKE pattern without ESCAPE escapes the next character; None: such patterns are left to `other`."""

    def predicate(self, node: Node) -> Predicate | None:
        """The condition; None: a part of it was left out."""
        match node:
            case Brackets():
                return self.predicate(node.inner)
            case Logical():
                parts = [self.predicate(part) for part in node.parts]
                known = [p for p in parts if p is not None]
                if len(known) < len(parts):
                    return None
                return conjunction_of(known) if node.op == "AND" else Or(tuple(known))
            case Unary(op="NOT" | "!"):
                part = self.predicate(node.operand)
                return None if part is None else part.negate()
            case Literal(kind="TRUE" | "FALSE" | "NULL"):
                return Constant({"TRUE": True, "FALSE": False}.get(node.kind))
        try:
            found = self._comparison(node)
        except NotLiteral:
            found = None
        return self.other(node) if found is None else found

    def _comparison(self, node: Node) -> Predicate | None:
        """A comparison of a column with literals; None: it is none. Raises NotLiteral."""
        match node:
            case Binary() if node.op in OPERATORS or node.op == "<=>":
                return self._binary(node)
            case InNode():
                name = self.column(node.operand)
                if name is None:
                    return None
                return self._negated(node, In(name, tuple(map(self.literal, node.items))), node.negated)
            case Between() if not node.symmetric:
                name = self.column(node.operand)
                if name is None:
                    return None
                low, high = self.literal(node.low), self.literal(node.high)
                bounds = (Compare(name, ">=", low), Compare(name, "<=", high))
                found = And(tuple(self.leaf(node, bound) for bound in bounds))
                return found.negate() if node.negated else found
            case LikeNode(op="LIKE"):
                return self._like(node)
            case IsNode():
                return self._is(node)
        return None

    def _negated(self, node: Node, found: Predicate, negated: bool) -> Predicate:
        bound = self.leaf(node, found)
        return bound.negate() if negated else bound

    def _binary(self, node: Binary) -> Predicate | None:
        name, literal, op = self.column(node.left), node.right, node.op
        if name is None:
            name, literal = self.column(node.right), node.left
            op = op if op == "<=>" else FLIPPED[OPERATORS[op]]
        if name is None:
            return None
        value = self.literal(literal)
        if op == "<=>":
            if value is None:
                return self.leaf(node, IsNull(name))
            return And((self.leaf(node, IsNotNull(name)), self.leaf(node, Compare(name, "=", value))))
        return self.leaf(node, Compare(name, OPERATORS[op], value))

    def _like(self, node: LikeNode) -> Predicate | None:
        name, pattern = self.column(node.operand), self.literal(node.pattern)
        if name is None or not isinstance(pattern, str):
            return None
        escape = "\\" if self.escapes_like else None
        if node.escape is None and self.escapes_like is None and "\\" in pattern:
            return None
        if node.escape is not None:
            escape = self.literal(node.escape)
            if not isinstance(escape, str) or len(escape) != 1:
                return None
        found = _with_backslash(pattern, escape)
        return None if found is None else self._negated(node, Like(name, found), node.negated)

    def _is(self, node: IsNode) -> Predicate | None:
        name = self.column(node.operand)
        if name is None:
            return None
        if node.what in ("NULL", "UNKNOWN"):
            return self.leaf(node, IsNotNull(name) if node.negated else IsNull(name))
        if node.what in ("TRUE", "FALSE"):
            same = And((self.leaf(node, IsNotNull(name)), self.leaf(node, Compare(name, "=", node.what == "TRUE"))))
            return same.negate() if node.negated else same
        return None


def _with_backslash(pattern: str, escape: str | None) -> str | None:
    """A pattern whose escape character is a backslash; None: it escapes what is no wildcard, which engines take differently."""
    out, at = "", 0
    while at < len(pattern):
        char = pattern[at]
        if char == escape:
            at += 1
            if at == len(pattern) or pattern[at] not in ("%", "_", escape):
                return None
            char = "\\" + pattern[at]
        elif char == "\\":
            char = "\\\\"
        out += char
        at += 1
    return out


# -- literals, in Spark's and in Flink's dialect

_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
"""The character after a backslash in Spark's strings -> what both mean; any other one means itself. Source: `SparkParserUtils.unescapeSQLString`."""
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)
_SUFFIXED = re.compile(r"([0-9.]+(?:[eE][+-]?[0-9]+)?)(BD|[LSYDF])", re.IGNORECASE)


class NotLiteral(Exception):
    """The expression is no literal, or its value differs between the dialects."""


def literal_value(node: Node, *, flink: bool | None) -> Any:
    """The value: int, float, Decimal, str, bytes, bool, None for NULL, date, or datetime without a zone.

    Args:
        flink: whether strings are Flink's, without escapes; None: only strings that are the same in both dialects.

    Raises: NotLiteral.
    """
    match node:
        case Brackets():
            return literal_value(node.inner, flink=flink)
        case Unary(op="-" | "+"):
            value = literal_value(node.operand, flink=flink)
            if not is_number(value):
                raise NotLiteral
            return -value if node.op == "-" else value
        case Binary(op="+" | "-" | "*"):
            return _exact_result(node.op, *(literal_value(side, flink=flink) for side in (node.left, node.right)))
        case Literal(kind="TRUE" | "FALSE" | "NULL"):
            return {"TRUE": True, "FALSE": False}.get(node.kind)
        case Literal(kind="number"):
            return number_value(node.text, flink=flink)
        case Literal(kind="string"):
            return string_value(node.text, flink=flink)
        case Literal(kind="X"):
            try:
                return bytes.fromhex(node.text[1:-1])
            except ValueError:
                raise NotLiteral from None
        case Literal(kind="DATE" | "TIMESTAMP_NTZ"):
            return _time_value(node.kind, node.text)
        case Cast(operand=Literal(kind="string", text=text), type="DATE" | "TIMESTAMP_NTZ"):
            return _time_value(node.type, text)
        case Cast(type="FLOAT" | "REAL" | "DOUBLE"):
            return _floating(literal_value(node.operand, flink=flink), single=node.type != "DOUBLE")
    raise NotLiteral


def is_number(value: Any) -> bool:
    """Whether a value is an int, a float or a Decimal."""
    return isinstance(value, int | float | decimal.Decimal) and not isinstance(value, bool)


def number_value(text: str, *, flink: bool | None) -> int | float | decimal.Decimal:
    """A number. A letter at its end is its type in Spark. Raises NotLiteral."""
    suffixed = _SUFFIXED.fullmatch(text)
    if suffixed is not None:
        digits, suffix = suffixed[1], suffixed[2].upper()
        if flink is not False:
            raise NotLiteral
        if suffix == "F":
            return _floating(float(digits), single=True)
        if suffix == "BD":
            return decimal.Decimal(digits)
        return float(digits) if suffix == "D" else int(digits)
    try:
        if "e" in text.lower():
            return float(text)
        return int(text) if text.isdecimal() else decimal.Decimal(text)
    except (ValueError, decimal.InvalidOperation):
        raise NotLiteral from None


def string_value(text: str, *, flink: bool | None) -> str:
    """The content of a string with its quotes. Raises NotLiteral: `flink` is None, and the dialects differ."""
    if text[0] in "rR":
        if flink is None:
            raise NotLiteral
        return text[2:-1]
    quote, inner = text[0], text[1:-1]
    plain = inner.replace(quote * 2, quote)
    if "\\" not in inner:
        if flink is None and plain != inner:
            raise NotLiteral
        return plain
    if flink:
        return plain
    if flink is None and not re.fullmatch(rf"(?:[^\\{quote}]|\\[{quote}\\ntr])*", inner):
        raise NotLiteral
    return _ESCAPED.sub(_unescaped, re.sub(rf"{quote}{quote}", lambda _: "\\" + quote, inner))


def _unescaped(found: re.Match[str]) -> str:
    if found[1] or found[2]:
        return chr(int(found[1] or found[2], 16))
    return chr(int(found[3], 8)) if found[3] else _ESCAPES.get(found[4], found[4])


def _floating(value: Any, *, single: bool) -> float:
    """A number as DOUBLE, or as FLOAT in a DOUBLE. Raises NotLiteral: NULL, or out of range."""
    if not is_number(value):
        raise NotLiteral
    try:
        return float(struct.unpack("f", struct.pack("f", float(value)))[0]) if single else float(value)
    except OverflowError:
        raise NotLiteral from None


def _time_value(kind: str, text: str) -> dt.date | dt.datetime:
    try:
        return dt.date.fromisoformat(text[1:-1]) if kind == "DATE" else dt.datetime.fromisoformat(text[1:-1])
    except ValueError:
        raise NotLiteral from None


def _exact_result(op: str, left: Any, right: Any) -> int | decimal.Decimal:
    """The exact sum, difference or product of two numbers. Raises NotLiteral: an engine may round or overflow."""
    if not all(is_number(v) and not isinstance(v, float) for v in (left, right)):
        raise NotLiteral
    with decimal.localcontext(prec=100):
        value = left + right if op == "+" else left - right if op == "-" else left * right
    if isinstance(value, int):
        if abs(value) < 1 << 31:
            return value
    elif len(value.as_tuple().digits) <= 18:
        return value  # type: ignore[no-any-return]
    raise NotLiteral
