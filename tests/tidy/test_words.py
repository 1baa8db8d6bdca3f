"""Names and prose use the terms of the field: no private words in identifiers, no private phrases in text."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

from source_kit import PACKAGE, nodes, package_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PRIVATE_WORDS = """
    told untold said say says tell tells given anew ails mend mends mended slip slips door doors room rooms
    nobody somebody quiet beside ask asks asked hear hears heard doomed standing standings chosen carry gone tidy
    upstairs ours theirs mine wanted kept shown moment moments place places least most odd remembered upkeep
"""
PRIVATE_WORDS = frozenset(_PRIVATE_WORDS.split())
STANDARD_NAMES = frozenset({"tell", "at_least", "at_most"})
"""`tell` is Python's own name for the position in a file."""

PRIVATE_PHRASES = re.compile(
    r"""
    \b (?:
    anew\b | ails?\b | mend(s|ed|ing)?\b | slips?\ of\ the\ pen\b | nobody\b | somebody\b | doomed\b
    | (is|are|was|be|been|being|not)\ told\b | told\ (by|from|apart|of|in|that|to)\b | untold\b
    | tells?\ (of|that|what|how|whether|its|it|which|where|when|the|all|them|so)\b
    | unless\ (said|told)\b | (who|nobody|nothing|options?|it)\ says?\ otherwise\b | said\ otherwise\b
    | (are|is|was|were)\ no\ (moment|pair|column|such|partition|paimon|number|time|key|name|table|file)\b
    | (notebook|table|this|the)\ rooms?\b | upstairs\b | hears?\ (of|about|the|that)\b | heard\ of\b
    | makes?\ anew\b | for\ ever\b | lies?\ (in|at|outside|nowhere|there|elsewhere|before|beside)\b
    | stands?\ (in|at|there|for\ it|beside|where|alone|on|under|as)\b | goes\ on\b | go\ on\b | looked\ after\b
    | than\ was\ thought\b | is\ asked\ (for|of)\b | are\ asked\ (for|of)\b | was\ asked\ (for|of)\b
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)


def _words(name: str) -> set[str]:
    return set(re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().strip("_").split("_"))


def _is_private(name: str) -> bool:
    return name.lower().strip("_") not in STANDARD_NAMES and bool(_words(name) & PRIVATE_WORDS)


def _bindings(file: Path) -> Iterator[str]:
    for node in nodes(file):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def _texts(file: Path) -> Iterator[str]:
    """Comments and string literals: docstrings, messages, hints. A `#` in a string begins no comment, but what follows is text, too."""
    yield from re.findall("#.*", file.read_text())
    for node in nodes(file):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())


@cache
def _found() -> tuple[list[str], list[str]]:
    """The private names and the private phrases of the package, each with its file."""
    names: list[str] = []
    phrases: list[str] = []
    for file in package_files():
        where = file.relative_to(PACKAGE)
        found = [name for name in [file.stem, *_bindings(file)] if _is_private(name)]
        names.extend(f"{where}: {name}" for name in found)
        hits = [hit.group() for text in _texts(file) for hit in PRIVATE_PHRASES.finditer(text)]
        phrases.extend(f"{where}: {hit}" for hit in hits)
    return names, phrases


def test_names_are_standard_terms():
    names, _ = _found()
    assert names == []


def test_prose_is_plain_english():
    _, phrases = _found()
    assert phrases == []
