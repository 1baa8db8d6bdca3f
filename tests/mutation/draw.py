"""Small changes of the package's code, drawn by a seed: a limit by one, a comparison at its boundary, a condition turned round.

A change is a place in a file and the text that stands there instead. Annotations, docstrings and imports are left alone.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.FloorDiv: ("//", "*"),
}
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True)
class Mutant:
    """One change: the text of `file` from offset `start` to `end` becomes `text`."""

    file: str
    """From the repository's root."""
    line: int
    lines: tuple[int, int]
    """The first and last line whose tests may notice it: of its statement; of the function for a default; (0, 0), the whole file, for a constant."""
    start: int
    end: int
    text: str
    kind: str

    @property
    def package(self) -> str:
        """The folder below `paimon_nb`, or the name of a module that lies in none: tests/<package> are its own tests."""
        first = self.file.split("/")[1]
        return first.removesuffix(".py")

    def applied(self, source: str) -> str:
        data = source.encode()
        return (data[: self.start] + self.text.encode() + data[self.end :]).decode()


class _Places(ast.NodeVisitor):
    """Collects the changes of one file."""

    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.data = source.encode()
        self.starts = [0]
        for line in self.data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Mutant] = []
        self._functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        self._definition = 0
        """How many signatures we are in."""
        self._statement = (0, 0)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = node.end_lineno or node.lineno
            self._statement = (node.lineno, max(node.lineno, body[0].lineno - 1) if body else last)
        super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._functions.append(node)
        self._definition += 1
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        self._definition -= 1
        for statement in node.body:
            self.visit(statement)
        self._functions.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Positions inside are not kept before Python 3.12."""

    def visit_Compare(self, node: ast.Compare) -> None:
        left: ast.expr = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            old, new = COMPARISONS[type(operator)]
            self._between(left, right, old, new, "comparison")
            left = right
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        self._between(node.values[0], node.values[1], old, new, "condition")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in ARITHMETIC:
            self._between(node.left, node.right, *ARITHMETIC[type(node.op)], "arithmetic")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._note(
                node,
                self._at(node.lineno, node.col_offset),
                self._at(node.operand.lineno, node.operand.col_offset),
                "",
                "condition",
            )
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func
        if isinstance(name, ast.Name) and name.id in ("min", "max", "any", "all"):
            other = {"min": "max", "max": "min", "any": "all", "all": "any"}[name.id]
            self._note(name, self._at(name.lineno, name.col_offset), self._end(name), other, "function")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self._at(node.lineno, node.col_offset), self._end(node)
        if isinstance(node.value, bool):
            self._note(node, start, end, str(not node.value), "default" if self._definition else "constant")
        elif isinstance(node.value, int):
            self._note(node, start, end, str(node.value + 1), "default" if self._definition else "number")
        elif isinstance(node.value, str) and COLOUR.fullmatch(node.value):
            self._note(node, start, end, repr("#123456"), "colour")

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str, kind: str) -> None:
        start, end = self._end(left), self._at(right.lineno, right.col_offset)
        name = r"\s+".join(old.split())
        word = rf"\b{name}\b" if old[0].isalpha() else rf"(?<![<>=!]){re.escape(old)}(?!=)"
        place = re.search(word, self.data[start:end].decode())
        if place:
            self._note(left, start + place.start(), start + place.end(), new, kind)

    def _note(self, node: ast.expr, start: int, end: int, text: str, kind: str) -> None:
        lines = self._statement
        if not self._functions:
            lines = (0, 0)
        elif self._definition:
            function = self._functions[-1]
            lines = (function.body[0].lineno, function.end_lineno or function.lineno)
        self.found.append(Mutant(self.file, node.lineno, lines, start, end, text, kind))

    def _at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def _end(self, node: ast.expr) -> int:
        return self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)


def places(file: str, source: str) -> list[Mutant]:
    """Every change of one file that may be drawn."""
    visitor = _Places(file, source)
    visitor.visit(ast.parse(source))
    return [mutant for mutant in visitor.found if _compiles(mutant.applied(source))]


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def drawn(root: Path, seed: int, count: int) -> list[Mutant]:
    """`count` changes of the package below `root`, the same for a seed; each package has at least four, where it has so many."""
    random = Random(seed)
    by_package: dict[str, list[tuple[str, str]]] = {}
    for path in sorted((root / "paimon_nb").rglob("*.py")):
        source = path.read_text()
        file = str(path.relative_to(root))
        by_package.setdefault(file.split("/")[1], []).append((file, source))
    lines = {package: sum(source.count("\n") for _, source in files) for package, files in by_package.items()}
    shares = {package: max(4, round(count * lines[package] / sum(lines.values()))) for package in lines}
    found = [m for package, files in by_package.items() for m in _of_package(files, shares[package], random)]
    random.shuffle(found)
    return found[:count]


def _of_package(files: list[tuple[str, str]], share: int, random: Random) -> Iterator[Mutant]:
    """Files by their size, then a place in each: parsing all would take a minute."""
    weights = [source.count("\n") for _, source in files]
    seen: set[Mutant] = set()
    for file, source in random.choices(files, weights, k=4 * share):
        visitor = _Places(file, source)
        visitor.visit(ast.parse(source))
        if visitor.found and len(seen) < share:
            mutant = random.choice(visitor.found)
            if mutant not in seen and _compiles(mutant.applied(source)):
                seen.add(mutant)
                yield mutant
