"""The text of a nested type of the embedded engine: `STRUCT("date" DATE, id UUID)[]`. Names of fields may be names of types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def leaves(type: str) -> set[str]:
    """The types without parts in a type: {'DATE', 'UUID'}."""
    found: set[str] = set()

    def add(leaf: str) -> str:
        found.add(leaf)
        return leaf

    with_leaves(type, add)
    return found


def with_leaves(type: str, change: Callable[[str], str]) -> str:
    """The type with each leaf changed."""
    changed, stop = _type(type, 0, change)
    assert stop == len(type), f"{type!r} is not a type at {stop}"
    return changed


def _type(text: str, at: int, change: Callable[[str], str]) -> tuple[str, int]:
    """The changed type that begins there, and where it ends."""
    if text.startswith("STRUCT(", at):
        out, at = _parts(text, at + len("STRUCT("), change, named=True)
        out = f"STRUCT({out})"
    elif text.startswith("MAP(", at):
        out, at = _parts(text, at + len("MAP("), change, named=False)
        out = f"MAP({out})"
    else:
        stop = _leaf_stop(text, at)
        out, at = change(text[at:stop]), stop
    while text.startswith("[", at):
        stop = text.index("]", at) + 1
        out, at = out + text[at:stop], stop
    return out, at


def _parts(text: str, at: int, change: Callable[[str], str], *, named: bool) -> tuple[str, int]:
    """The parts up to the closing bracket, and the position after it."""
    parts = []
    while True:
        name = ""
        if named:
            stop = _name_stop(text, at)
            name, at = f"{text[at:stop]} ", stop + 1
        part, at = _type(text, at, change)
        parts.append(name + part)
        if text.startswith(", ", at):
            at += 2
            continue
        return ", ".join(parts), at + 1


def _name_stop(text: str, at: int) -> int:
    """Where a name ends; in quotes a doubled quotation mark is one."""
    if text[at] != '"':
        return text.index(" ", at)
    at += 1
    while not (text[at] == '"' and text[at : at + 2] != '""'):
        at += 2 if text[at] == '"' else 1
    return at + 1


def _leaf_stop(text: str, at: int) -> int:
    depth = 0
    while at < len(text) and (depth or text[at] not in ",)["):
        depth += (text[at] == "(") - (text[at] == ")")
        at += 1
    return at
