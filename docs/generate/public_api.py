"""Finds public functions and parameters without documentation. Reads source files, imports nothing.

Docstrings are in Google's style: one parameter a line below `Args:`, `Returns:` where something is returned.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "paimon_nb"
MODULES = (
    "__init__.py", "workbench.py", "table/tables/handle.py", "table/tables/reading.py", "table/tables/inspection.py", "table/tables/altering.py", "table/tables/table.py", "table/tables/open.py",
    "catalog/api.py",
)  # fmt: skip
CLASSES = {
    "table/read/query.py": ("TableQuery",),
    "table/write/merge_builder.py": ("TableMerge",),
    "table/tables/schema_change.py": ("SchemaChange", "TableTags", "TableBranches"),
    "table/read/stream/stream.py": ("StreamBatch", "TableStream"),
    "table/write/table_write.py": ("TableWrite",),
    "table/write/commit/commit.py": ("TableCommit",),
    "table/write/publish/publisher.py": ("SnapshotPublisher",),
    "session/core/result.py": ("Result",),
    "session/core/live_result.py": ("LiveResult",),
}
"""Public classes of modules that also have internal functions: what methods of the API return."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
_SECTION = re.compile(r"^(Args|Returns|Yields|Raises|Example|Examples|Note|Attributes):$")


def problems() -> list[str]:
    """One sentence for each public member that is not described in full."""
    return [problem for module in (*MODULES, *CLASSES) for problem in _in_module(PACKAGE / module, module)]


def members() -> int:
    """How many public functions, methods, properties and classes there are."""
    return sum(1 for module in (*MODULES, *CLASSES) for _ in _members(PACKAGE / module, module))


def _in_module(path: Path, module: str) -> Iterator[str]:
    for name, node in _members(path, module):
        where = f"{module}: {name}"
        text = ast.get_docstring(node)
        if not text:
            yield f"{where} has no docstring"
        elif not isinstance(node, ast.ClassDef):
            yield from (f"{where} {what}" for what in _of_function(node, text))


def _members(path: Path, module: str) -> Iterator[tuple[str, ast.ClassDef | Function]]:
    for name, node in _public(ast.parse(path.read_text()), ""):
        if module not in CLASSES or name.partition(".")[0] in CLASSES[module]:
            yield name, node


def _public(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef | Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | Function) and not child.name.startswith("_"):
            yield prefix + child.name, child
            if isinstance(child, ast.ClassDef):
                yield from _public(child, f"{child.name}.")


_REFERS = re.compile(r"(?:As|Short for|.*: see) `(?:Table|t)\.([\w.]+)(?:\(\))?`\.", re.DOTALL)


def _of_function(node: Function, text: str) -> Iterator[str]:
    if referred := _REFERS.fullmatch(text):
        if referred[1].rpartition(".")[2] not in _method_names():
            yield f"refers to {referred[1]!r}, which does not exist"
        return
    sections = _sections(text)
    described = [match[1] for line in sections.get("Args", []) if (match := re.match(r"    \*{0,2}(\w+):", line))]
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    expected = [a.arg for a in named if a.arg not in ("self", "cls")]
    expected += [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
    for name in expected:
        if name not in described:
            yield f"does not describe {name!r}"
    for name in described:
        if name not in expected:
            yield f"describes {name!r}, which it does not take"
    rest = arguments.kwarg
    if rest is not None and rest.annotation is not None and ast.unparse(rest.annotation) == "Any":
        yield f"takes **{rest.arg}: Any"
    if _returns_something(node) and "Returns" not in sections and "Yields" not in sections:
        yield "does not say what it returns"


@cache
def _method_names() -> frozenset[str]:
    """Methods of the table and its members that are described in full."""
    return frozenset(
        name.rpartition(".")[2]
        for module in (*MODULES, *CLASSES)
        for name, node in _members(PACKAGE / module, module)
        if not _REFERS.fullmatch(ast.get_docstring(node) or "")
    )


def _returns_something(node: Function) -> bool:
    if any(ast.unparse(d) in ("property", "cached_property") for d in node.decorator_list):
        return False
    return node.returns is not None and ast.unparse(node.returns) not in ("None", "NoReturn", "Never")


def _sections(text: str) -> dict[str, list[str]]:
    """Section -> its lines."""
    out: dict[str, list[str]] = {}
    current = ""
    for line in text.splitlines():
        if match := _SECTION.match(line):
            current = match[1]
            out[current] = []
        elif current:
            out[current].append(line)
    return out
