"""Every import of `paimon_nb` names a module and an attribute that exist: in functions, in documentation, in notebooks.

Importing a module does not run the imports inside its functions, and code in documentation is text: neither shows that
a module was renamed.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import textwrap
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from source_kit import ROOT, nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CODE_BLOCK = re.compile(r"^( *)```(?:python|py)\b[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_IMPORT_LINE = re.compile(r"^[ \t]*(?:>>> )?((?:from|import)[ \t]+paimon_nb\b[^\n#]*?)[ \t]*(?:#.*)?$", re.MULTILINE)
_SCRIPT_IN_TEXT = re.compile(r"(?:^|[\n;\"'] *)((?:from paimon_nb[\w.]* import [\w, ]+)|(?:import paimon_nb[\w.]*))")


@cache
def _module_names(module: str) -> frozenset[str] | None:
    """What can be imported from a module, by its source; None if there is no such module."""
    path = ROOT.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not file.is_file():
        return frozenset(p.stem for p in path.glob("*.py")) if path.is_dir() and any(path.glob("*.py")) else None
    names: set[str] = {p.stem for p in path.iterdir()} if path.is_dir() else set()
    for node in nodes(file):
        match node:
            case ast.ImportFrom(module=str(other), names=[ast.alias(name="*")]):
                names |= _module_names(other) or set()
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.alias(name=name, asname=alias):
                names.add(alias or name.partition(".")[0])
            case ast.Call(func=ast.Name(id="lazy_imports" | "lazy_getattr"), args=[_, *_]) | ast.Dict():
                names |= {c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
            case _:
                pass
    return frozenset(names)


def _wrong(code: Iterable[ast.AST]) -> Iterator[str]:
    """The imports of `paimon_nb` that name nothing."""
    for node in code:
        if isinstance(node, ast.Import):
            yield from (
                a.name for a in node.names if a.name.partition(".")[0] == "paimon_nb" and _module_names(a.name) is None
            )
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "paimon_nb":
            names = _module_names(node.module)
            if names is None:
                yield node.module
            else:
                yield from (f"{node.module}.{a.name}" for a in node.names if a.name != "*" and a.name not in names)


def _wrong_in_text(text: str) -> Iterator[str]:
    """The same for code that is not a module: code blocks of pages, doctests, cells, scripts in strings."""
    for line in {*_IMPORT_LINE.findall(text), *_SCRIPT_IN_TEXT.findall(text)}:
        try:
            yield from _wrong(ast.walk(ast.parse(textwrap.dedent(line).rstrip("\\( "))))
        except SyntaxError:
            continue


def _texts(file: Path) -> Iterator[str]:
    """Code in a file that is not Python itself."""
    source = file.read_text()
    if file.suffix == ".ipynb":
        yield from ("".join(cell["source"]) for cell in json.loads(source)["cells"])
    elif file.suffix == ".md":
        yield from (block for _, block in _CODE_BLOCK.findall(source))
    else:
        yield from (n.value for n in nodes(file) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def _sources() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    files = [ROOT / name for name in listed.split("\0") if name.endswith((".py", ".md", ".ipynb"))]
    return [f for f in files if f.is_file() and f != Path(__file__)]


def test_imports_of_the_package_name_something() -> None:
    wrong: list[str] = []
    for file in _sources():
        found = set(_wrong(nodes(file))) if file.suffix == ".py" else set()
        found.update(name for text in _texts(file) if "paimon_nb" in text for name in _wrong_in_text(text))
        wrong += [f"{file.relative_to(ROOT)}: {name}" for name in sorted(found)]
    assert wrong == []


def test_a_removed_module_and_a_removed_name_are_found() -> None:
    code = "def f():\n    from paimon_nb.table.gone import x\n    from paimon_nb.table.read.store import TableStore, Gone\n"
    assert list(_wrong(ast.walk(ast.parse(code)))) == ["paimon_nb.table.gone", "paimon_nb.table.read.store.Gone"]
    script = "python -c 'import paimon_nb.gone; from paimon_nb.table.read.store import Gone'"
    assert sorted(_wrong_in_text(script)) == ["paimon_nb.gone", "paimon_nb.table.read.store.Gone"]
