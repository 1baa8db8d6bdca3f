"""A query's tree as a `SelectTree`: the structure that a local engine can answer. Everything else is `NotLocal`.

The tree leaves out words that no other reader needs (UNION ALL, RECURSIVE, named arguments). Here the tokens between the parts
of a node are compared with what is expected, so that no word is ignored.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, NoReturn

from paimon_nb.base.identifier import quote
from paimon_nb.statements.select import (
    Call,
    Case,
    Cast,
    Column,
    Expression,
    Item,
    Join,
    Literal,
    OrderItem,
    Select,
    SelectTree,
    Star,
    Subquery,
    TableSource,
)
from paimon_nb.syntax import tree as syntax
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.statements import Query

_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV"})
_COMPARISONS = {"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "<=>"}
_PREDICATES = frozenset({*_COMPARISONS.values(), "NOT", "IS NULL", "IS NOT NULL", "IN", "LIKE", "BETWEEN", "AND", "OR"})
_FUNCTIONS = {
    **dict.fromkeys(("SUM", "MIN", "MAX", "AVG", "COUNT", "UPPER", "LOWER", "LENGTH", "ABS", "FLOOR", "CEIL", "YEAR", "MONTH", "DAY"), (1, 1)),
    **dict.fromkeys(("HOUR", "MINUTE", "SECOND"), (1, 1)),
    "COALESCE": (1, 99), "NULLIF": (2, 2), "ROUND": (1, 2), "SUBSTRING": (2, 3), "CONCAT": (1, 99), "IF": (3, 3),
}  # fmt: skip
"""Function -> the least and the largest number of its arguments."""
_SPELLINGS = {"SUBSTR": "SUBSTRING", "IFNULL": "COALESCE", "NVL": "COALESCE", "DAYOFMONTH": "DAY"}
_WITH_DISTINCT = frozenset({"SUM", "MIN", "MAX", "AVG", "COUNT"})
_JOINS = {
    ("", ""): "INNER", ("", "INNER"): "INNER", ("LEFT", ""): "LEFT", ("RIGHT", ""): "RIGHT", ("FULL", ""): "FULL", ("", "CROSS"): "CROSS",
    ("", ","): "CROSS", ("LEFT", "SEMI"): "LEFT SEMI", ("LEFT", "ANTI"): "LEFT ANTI",
}  # fmt: skip
_MAX_DECIMAL = 19
"""Characters of a decimal number that is translated."""
_TYPES = {
    **{name: name for name in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "DOUBLE", "STRING")},
    "INTEGER": "INT",
    "VARCHAR": "STRING",
}


class NotLocal(Exception):
    """The query is left to Spark; the message says why."""


def select_tree(query: Query, text: str) -> SelectTree:
    """The structure of a query.

    Args:
        query: an element of `parse(text)`.
        text: the whole text.

    Raises:
        NotLocal: a part of the query is not known here.
    """
    if query.flink_edits or query.unnested:
        _leave_to_spark("Flink's syntax is translated for Spark")
    written = [(text[span.start : span.stop], by) for span, by in query.edits]
    if any(by not in (name, name.lower(), quote(name)) for name, by in written):
        _leave_to_spark("syntax that is translated is left to Spark")
    if query.parameters:
        _leave_to_spark("it has parameters")
    if not query.tables:
        _leave_to_spark("it reads no table")
    if query.tree is None:
        _leave_to_spark("its structure is not known")
    return _Reader(query, text).tree(query.tree, {})


def _leave_to_spark(why: str) -> NoReturn:
    raise NotLocal(why)


class _Reader:
    """Builds the structure of one query."""

    def __init__(self, query: Query, text: str) -> None:
        self.query, self.text = query, text

    def _words(self, start: int, stop: int) -> list[str]:
        """The tokens of a part of the text, keywords in upper case."""
        return [t.upper or t.text for t in tokens(self.text[start:stop]) if t.kind != "hint"]

    def tree(self, node: syntax.QueryTree, known: Mapping[str, SelectTree]) -> SelectTree:
        """`known`: what WITH names, by lower-case name."""
        if node.common:
            known = self._with_queries(node, known)
        if node.tail.has_other:
            _leave_to_spark("a clause after the query is left to Spark")
        order = tuple(OrderItem(self.expression(o.expression), o.descending, o.nulls_first) for o in node.tail.order)
        limit, offset = _limit_number(node.tail.limit), _limit_number(node.tail.offset) or 0
        match node:
            case syntax.Select():
                return SelectTree((self._select(node, known),), order, limit, offset)
            case syntax.SetOperation():
                return SelectTree(self._union_branches(node, known), order, limit, offset)
            case syntax.Bracketed():
                if order or limit is not None or offset:
                    _leave_to_spark("a query in brackets has clauses of its own")
                return self.tree(node.query, known)
        _leave_to_spark("VALUES is left to Spark")

    def _with_queries(self, node: syntax.QueryTree, known: Mapping[str, SelectTree]) -> dict[str, SelectTree]:
        found = dict(known)
        before = self._words(node.span.start, node.common[0].span.start)
        if before != ["WITH"]:
            _leave_to_spark("WITH RECURSIVE is left to Spark")
        for common in node.common:
            if self._words(common.span.start, common.query.span.start)[1:] != ["AS", "("]:
                _leave_to_spark("WITH renames columns")
            found[common.name.lower()] = self.tree(common.query, found)
        return found

    def _union_branches(
        self, node: syntax.SetOperation, known: Mapping[str, SelectTree]
    ) -> tuple[Select | SelectTree, ...]:
        if self._words(node.left.span.stop, node.right.span.start) != ["UNION", "ALL"]:
            _leave_to_spark("only UNION ALL is answered here")
        branches: list[Select | SelectTree] = []
        for side in (node.left, node.right):
            part = self.tree(side, known)
            plain = not part.order and part.limit is None and not part.offset
            branches += part.branches if plain else (part,)
        return tuple(branches)

    def _select(self, node: syntax.Select, known: Mapping[str, SelectTree]) -> Select:
        if node.source is None:
            _leave_to_spark("a SELECT reads no table")
        if node.lateral_views:
            _leave_to_spark("LATERAL VIEW is left to Spark")
        if node.group is not None and not node.group.is_plain:
            _leave_to_spark("this GROUP BY is left to Spark")
        if len(node.joins) > 1 and any(j.kind == "," for j in node.joins):
            _leave_to_spark("commas beside JOIN are left to Spark")
        return Select(
            tuple(self._item(e) for e in node.items),
            self._source(node.source, known),
            tuple(self._join(j, known) for j in node.joins),
            None if node.where is None else self.expression(node.where),
            () if node.group is None else tuple(self.expression(e) for e in node.group.keys),
            None if node.having is None else self.expression(node.having),
            node.distinct,
        )

    def _item(self, node: syntax.Node) -> Item:
        if isinstance(node, syntax.Star):
            if node.changed or len(node.qualifier) > 1:
                _leave_to_spark("* with exceptions is left to Spark")
            return Item(Star(node.qualifier[0] if node.qualifier else None))
        if isinstance(node, syntax.Alias):
            if not node.name:
                _leave_to_spark("several aliases are left to Spark")
            return Item(self.expression(node.expression), node.name)
        return Item(self.expression(node))

    def _source(self, node: syntax.Node, known: Mapping[str, SelectTree]) -> TableSource | Subquery:
        match node:
            case syntax.Table():
                if node.sampled or node.has_column_names:
                    _leave_to_spark("TABLESAMPLE and aliases of columns are left to Spark")
                if node.number is not None:
                    return TableSource(self.query.tables[node.number], node.qualifier)
                if node.name.lower() in known:
                    return Subquery(known[node.name.lower()], node.qualifier)
            case syntax.DerivedTable(lateral=False):
                after = self._words(node.query.span.stop, node.span.stop)
                if after[:1] != [")"] or len(after) > 3 or (len(after) == 3 and after[1] != "AS"):
                    _leave_to_spark("this subquery in FROM is left to Spark")
                return Subquery(self.tree(node.query, known), node.alias or "")
        _leave_to_spark("a source in FROM is not a table")

    def _join(self, node: syntax.Join, known: Mapping[str, SelectTree]) -> Join:
        kind = _JOINS.get((node.side, node.kind))
        if kind is None or node.natural or node.using:
            _leave_to_spark("this JOIN is left to Spark")
        if node.condition is None and kind not in ("CROSS", "INNER"):
            _leave_to_spark("a JOIN has no condition")
        return Join(
            kind, self._source(node.source, known), None if node.condition is None else self.expression(node.condition)
        )

    # -- expressions

    def expression(self, node: syntax.Node) -> Expression:
        """An expression, without its brackets."""
        match node:
            case syntax.Brackets():
                return self.expression(node.inner)
            case syntax.Column():
                if len(node.parts) > 2:
                    _leave_to_spark("a name with several dots is left to Spark")
                return Column(node.parts[-1], node.parts[0] if len(node.parts) == 2 else None)
            case syntax.Literal():
                return _literal_node(node)
            case syntax.Unary(op="-"):
                return Call("NEGATIVE", (self.expression(node.operand),))
            case syntax.Unary(op="NOT"):
                return Call("NOT", (self.expression(node.operand),))
            case syntax.Logical():
                first, *others = (self.expression(p) for p in node.parts)
                for other in others:
                    first = Call(node.op, (first, other))
                return first
            case syntax.Binary():
                return self._binary(node)
            case syntax.Between(symmetric=False):
                operands = tuple(self._comparison_operand(n) for n in (node.operand, node.low, node.high))
                return _negated(Call("BETWEEN", operands), node.negated)
            case syntax.In():
                if any(isinstance(item, syntax.Subquery) for item in node.items):
                    _leave_to_spark("IN (SELECT ...) is left to Spark")
                values = (self._comparison_operand(node.operand), *(self.expression(item) for item in node.items))
                return _negated(Call("IN", values), node.negated)
            case syntax.Like(op="LIKE", escape=None):
                pattern = node.pattern
                if not isinstance(pattern, syntax.Literal) or pattern.kind != "string":
                    _leave_to_spark("LIKE with a computed pattern is left to Spark")
                return _negated(
                    Call("LIKE", (self._comparison_operand(node.operand), _literal_node(pattern))), node.negated
                )
            case syntax.Is():
                return self._is_predicate(node)
            case syntax.Cast():
                return self._cast(node)
            case syntax.Composite(kind="CASE"):
                return self._case(node)
            case syntax.Call():
                return self._call(node)
        _leave_to_spark(f"{_syntax_word(node)} is left to Spark")

    def _comparison_operand(self, node: syntax.Node) -> Expression:
        """An operand of a comparison. Comparisons of comparisons need brackets: dialects group them differently."""
        found = self.expression(node)
        if isinstance(found, Call) and found.name in _PREDICATES and not isinstance(node, syntax.Brackets):
            _leave_to_spark("comparisons of comparisons need brackets")
        return found

    def _binary(self, node: syntax.Binary) -> Expression:
        if node.op in _COMPARISONS:
            return Call(
                _COMPARISONS[node.op], (self._comparison_operand(node.left), self._comparison_operand(node.right))
            )
        if node.op != "||" and node.op not in _ARITHMETIC:
            _leave_to_spark(f"{node.op} is left to Spark")
        operands = (self.expression(node.left), self.expression(node.right))
        for side, inner in zip((node.left, node.right), operands, strict=True):
            mixed = _ARITHMETIC if node.op == "||" else {"||"}
            if isinstance(inner, Call) and inner.name in mixed and not isinstance(side, syntax.Brackets):
                _leave_to_spark("|| with arithmetic needs brackets")
        return Call(node.op, operands)

    def _is_predicate(self, node: syntax.Is) -> Expression:
        operand = self._comparison_operand(node.operand)
        if node.what == "NULL":
            return Call("IS NOT NULL" if node.negated else "IS NULL", (operand,))
        if node.what == "DISTINCT FROM" and node.other is not None:
            return _negated(Call("<=>", (operand, self._comparison_operand(node.other))), not node.negated)
        _leave_to_spark(f"IS {node.what} is left to Spark")

    def _case(self, node: syntax.Composite) -> Expression:
        parts = [self.expression(p) for p in node.parts]
        has_operand = self._words(node.span.start, node.parts[0].span.start) == ["CASE"]
        operand = parts.pop(0) if has_operand else None
        otherwise = parts.pop() if len(parts) % 2 else None
        branches = []
        for condition, value in zip(parts[::2], parts[1::2], strict=True):
            branches.append((condition if operand is None else Call("=", (operand, condition)), value))
        return Case(tuple(branches), otherwise)

    def _cast(self, node: syntax.Cast) -> Expression:
        if self._words(node.span.start, node.operand.span.start) != ["CAST", "("]:
            _leave_to_spark("TRY_CAST and :: are left to Spark")
        if isinstance(node.operand, syntax.Literal) and node.operand.kind == "string":
            if node.type == "DATE":
                return _date_literal(node.operand.text)
            _leave_to_spark("a cast of a text is left to Spark")
        name, *sizes = (word for word in node.type.split() if word not in ("(", ",", ")"))
        if name == "DECIMAL" and len(sizes) <= 2 and all(size.isdecimal() for size in sizes):
            precision, scale = [*sizes, *("10", "0")[len(sizes) :]]
            return Cast(self.expression(node.operand), f"DECIMAL({precision}, {scale})")
        if node.type not in _TYPES:
            _leave_to_spark(f"a cast to {node.type} is left to Spark")
        return Cast(self.expression(node.operand), _TYPES[node.type])

    def _call(self, node: syntax.Call) -> Expression:
        name = _SPELLINGS.get(node.function, node.function)
        if len(node.name) > 1 or name not in _FUNCTIONS or node.order or node.window is not None:
            _leave_to_spark(f"{node.function} is left to Spark")
        minimum, maximum = _FUNCTIONS[name]
        maximum = 2 if node.function in ("IFNULL", "NVL") else maximum
        if not minimum <= len(node.arguments) <= maximum or (node.distinct and name not in _WITH_DISTINCT):
            _leave_to_spark(f"{node.function} with these arguments is left to Spark")
        self._check_words(node)
        star = node.arguments[0]
        if isinstance(star, syntax.Star):
            if name != "COUNT" or node.distinct or star.changed or star.qualifier:
                _leave_to_spark(f"{node.function}(*) is left to Spark")
            found: Expression = Call("COUNT", ())
        else:
            operands = tuple(self.expression(a) for a in node.arguments)
            found = Call(name, operands, node.distinct)
            if name == "IF":
                found = Case(((operands[0], operands[1]),), operands[2])
        if node.condition is None:
            return found
        if name not in _WITH_DISTINCT:
            _leave_to_spark(f"FILTER of {node.function} is left to Spark")
        return Call("FILTER", (found, self.expression(node.condition)))

    def _check_words(self, node: syntax.Call) -> None:
        """Raises NotLocal: the brackets hold words that are not arguments, or words follow them."""
        first, last = node.arguments[0], node.arguments[-1]
        opening = self._words(node.span.start, first.span.start)[1:]
        between = [
            self._words(a.span.stop, b.span.start) for a, b in zip(node.arguments, node.arguments[1:], strict=False)
        ]
        expected = [")"] if node.condition is None else [")", "FILTER", "(", "WHERE"]
        stop = node.span.stop if node.condition is None else node.condition.span.start
        closing = self._words(last.span.stop, stop)
        after = [")"] if node.condition is None else self._words(node.condition.span.stop, node.span.stop)
        if opening != (["(", "DISTINCT"] if node.distinct else ["("]) or any(b != [","] for b in between):
            _leave_to_spark(f"words inside {node.function} are left to Spark")
        if closing != expected or after != [")"]:
            _leave_to_spark(f"words after {node.function} are left to Spark")


def _negated(found: Expression, negated: bool) -> Expression:
    return Call("NOT", (found,)) if negated else found


def _literal_node(node: syntax.Literal) -> Literal:
    text = node.text
    match node.kind:
        case "NULL":
            return Literal("NULL", "")
        case "TRUE" | "FALSE":
            return Literal("BOOLEAN", node.kind)
        case "string":
            if not _is_plain(text):
                _leave_to_spark("a text has quotes or backslashes inside")
            return Literal("STRING", text[1:-1])
        case "DATE":
            return _date_literal(text)
        case "number":
            return _number_literal(text)
    _leave_to_spark(f"a {node.kind} literal is left to Spark")


def _is_plain(literal: str) -> bool:
    """Whether a string literal has the same value in both dialects."""
    return literal[0] == "'" and not {"'", "\\"} & set(literal[1:-1])


def _date_literal(literal: str) -> Literal:
    written = literal[1:-1]
    try:
        is_date = dt.date.fromisoformat(written).isoformat() == written
    except ValueError:
        is_date = False
    if not is_date:
        _leave_to_spark("a date is not written as 'yyyy-mm-dd'")
    return Literal("DATE", literal[1:-1])


def _number_literal(text: str) -> Literal:
    if text.isdecimal():
        value = int(text)
        if value >= 1 << 63:
            _leave_to_spark("a number is too large")
        return Literal("INT" if value < 1 << 31 else "BIGINT", str(value))
    digits, _, exponent = text.upper().partition("E")
    whole, point, fraction = digits.partition(".")
    if not (whole + fraction).isdecimal():
        _leave_to_spark(f"the number {text} is left to Spark")  # it has the suffix of a type
    if exponent and exponent.removeprefix("-").removeprefix("+").isdecimal():
        return Literal("DOUBLE", text)
    if point and not exponent and len(text) <= _MAX_DECIMAL:
        return Literal("DECIMAL", text)
    _leave_to_spark(f"the number {text} is left to Spark")


def _limit_number(node: syntax.Node | None) -> int | None:
    """The number of LIMIT or OFFSET."""
    if node is None:
        return None
    if not (isinstance(node, syntax.Literal) and node.kind == "number" and node.text.isdecimal()):
        _leave_to_spark("LIMIT is not a number")
    return int(node.text)


def _syntax_word(node: syntax.Node) -> str:
    """A word for what was written."""
    if isinstance(node, syntax.Composite):
        return node.kind
    return type(node).__name__.upper()
