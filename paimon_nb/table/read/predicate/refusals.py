"""The errors of conditions that are no comparisons of a column with literals, where no session computes them. Reads no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.syntax.tree import Between, Binary, Brackets, Call, Composite, Is, Literal, Span, Unary
from paimon_nb.syntax.tree import In as InNode
from paimon_nb.syntax.tree import Like as LikeNode
from paimon_nb.table.read.predicate.evaluate import NO_SESSION

if TYPE_CHECKING:
    from paimon_nb.base.errors import SqlSyntaxError
    from paimon_nb.syntax.tree import Node

_COMPARISONS = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"})


class Condition(Protocol):
    """The text of a condition, as its parser has it."""

    def text_of(self, node: Node) -> str: ...
    def is_column(self, node: Node) -> bool: ...
    def is_literal(self, node: Node) -> bool: ...
    def column_name(self, node: Node) -> str | None: ...
    def error(
        self, message: str, span: Span, kind: type[SqlSyntaxError | SqlAnalysisError] = ...
    ) -> SqlSyntaxError | SqlAnalysisError: ...
    def error_after(self, node: Node, message: str) -> SqlSyntaxError | SqlAnalysisError: ...


class Refusals:
    """Finds the operand that is the reason."""

    def __init__(self, condition: Condition) -> None:
        self.condition = condition

    def of(self, node: Node) -> Exception:
        """The error of a condition that cannot be computed here, at the operand that is the reason."""
        match node:
            case Binary() if node.op in _COMPARISONS:
                sides = [node.left, node.right]
                if not any(map(self.condition.is_column, sides)):
                    refused = self._operand_refusal(node.left)
                    if refused is not None:
                        return refused
                    if node.op == "<=>":
                        return self.condition.error(
                            f"{self.condition.text_of(node.left)} is not a condition", node.left.span
                        )
                    refused = self._operand_refusal(node.right)
                    return refused or self.condition.error(
                        "a comparison needs a column", node.left.span, SqlAnalysisError
                    )
                if not self.condition.is_column(node.left):
                    return self._operand_refusal(node.left) or self._no_literal(node.right)
                return self._no_literal(node.right)
            case InNode() | Between() | LikeNode() | Is():
                if not self.condition.is_column(node.operand):
                    return self._operand_refusal(node.operand) or self._no_column(node.operand)
                if isinstance(node, Is):
                    span = Span(node.operand.span.stop, node.span.stop)
                    return self.condition.error(f"expected NULL after IS, found {node.what!r}", span)
                if isinstance(node, LikeNode) and node.op == "LIKE" and node.escape is None:
                    return self.condition.error("LIKE needs a string literal", node.pattern.span)
                items = node.items if isinstance(node, InNode) else ()
                if isinstance(node, Between):
                    items = (node.low, node.high)
                for item in items:
                    if self.condition.is_column(item) or not self.condition.is_literal(item):
                        return self._no_literal(item)
            case Literal() | Unary(operand=Literal()):
                literal = node.operand if isinstance(node, Unary) else node
                return self.condition.error(f"{self.condition.text_of(literal)} is not a condition", literal.span)
        return self._no_column(node)

    def _operand_refusal(self, node: Node) -> Exception | None:
        """The error of an operand that is neither a column nor a literal; None: it is one."""
        return None if self.condition.is_column(node) or self.condition.is_literal(node) else self._no_column(node)

    def _no_literal(self, node: Node) -> Exception:
        if self.condition.is_column(node):
            self.condition.column_name(node)
            return self.condition.error(
                f"{self.condition.text_of(node)} is a column; only comparisons with literals are supported",
                node.span,
                SqlAnalysisError,
            )
        return self._no_column(node)

    def _no_column(self, node: Node) -> SqlSyntaxError | SqlAnalysisError:
        """The error of an expression that is neither a column nor a literal: at the operator that makes it one."""
        match node:
            case Binary():
                for side in (node.left,):
                    if (refused := self._operand_refusal(side)) is not None and not isinstance(side, Binary):
                        return refused  # type: ignore[return-value]
                return self._computed_only(f"unexpected {node.op!r}", node.op_span)
            case Call():
                return self._computed_only(f"{node.function}(...) is computed by a session", node.span)
            case Composite() if node.parts and node.kind != "row" and node.parts[0].span.start == node.span.start:
                return self.condition.error_after(node.parts[0], "expected a comparison")
            case Brackets():
                return self.condition.error(
                    "expected a column or a literal, found '('", Span(node.span.start, node.span.start + 1)
                )
            case Literal(kind="parameter"):
                return self.condition.error(f"unexpected {node.text!r}", node.span)
        return self._computed_only("expected a column or a literal", node.span)

    def _computed_only(self, message: str, span: Span) -> SqlSyntaxError | SqlAnalysisError:
        error = self.condition.error(message, span)
        error.hint = NO_SESSION
        return error
