"""The package's source files, parsed once for all tests of a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "paimon_nb"


@cache
def package_files() -> tuple[Path, ...]:
    """The package's modules, sorted by path."""
    return tuple(sorted(PACKAGE.rglob("*.py")))


@cache
def tree(file: Path) -> ast.Module:
    """The syntax tree of a file. Shared: do not change it."""
    return ast.parse(file.read_text())


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file's syntax tree, in the order of `ast.walk`."""
    return tuple(ast.walk(tree(file)))
