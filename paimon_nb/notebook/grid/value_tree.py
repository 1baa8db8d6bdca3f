"""A single value of a grid, opened: the whole text, the parts of a nested value, or a picture."""

from __future__ import annotations

from typing import Any

from paimon_nb.notebook.grid.texts import is_map, value_text

MAX_TEXT, MAX_PARTS, MAX_IMAGE = 100_000, 2_000, 16 << 20
_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"BM": "image/bmp",
}
Tree = list[Any]
"""[label, text, [parts]]."""


def image_type(data: bytes) -> str | None:
    """The MIME type of a picture, by its first bytes."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _IMAGES.items() if data.startswith(magic)), None)


def tree_of_nested_value(value: Any, label: str = "") -> Tree:
    """The parts of a nested value; at most `MAX_PARTS`."""
    left = [MAX_PARTS]

    def build_tree(value: Any, label: str) -> Tree:
        left[0] -= 1
        parts = _named_parts(value)
        if parts is None:
            return [label, "NULL" if value is None else value_text(value, 2_000), []]
        part_trees: list[Tree] = []
        for name, part in parts:
            if left[0] <= 0:
                part_trees.append(["…", f"{len(parts) - len(part_trees):,} more", []])
                break
            part_trees.append(build_tree(part, name))
        return [label, f"{len(parts):,} {'entry' if len(parts) == 1 else 'entries'}", part_trees]

    return build_tree(value, label)


def _named_parts(value: Any) -> list[tuple[str, Any]] | None:
    """The named parts of a value; None: it has none."""
    match value:
        case dict():
            return [(str(k), v) for k, v in value.items()]
        case list() if is_map(value):
            return [(value_text(k, 200) or "NULL", v) for k, v in value]
        case list():
            return [(str(i), v) for i, v in enumerate(value)]
    return None
