"""JSON metadata files: read with types checked, written as Java writes them. Any broken byte is a `CorruptFile`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar, cast

from paimon_nb.base.errors import CorruptFile, NewerFormat

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")
_MISSING: Any = object()


_MAX_DEPTH = 150
"""Objects and lists inside each other. What is read from them, such as types, is read by functions that call themselves."""


def _depth_exceeds(node: Any, limit: int) -> bool:
    level, depth = [node] if isinstance(node, dict | list) else [], 0
    while level:
        depth += 1
        if depth > limit:
            return True
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return False


class JsonObject:
    """A JSON object from a file, with typed access to its fields; all errors contain the file's path."""

    def __init__(self, data: bytes | str, path: str) -> None:
        self.path = path
        try:
            node = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise CorruptFile(path, f"not JSON: {error}") from None
        if _depth_exceeds(node, _MAX_DEPTH):
            raise CorruptFile(path, f"more than {_MAX_DEPTH} objects and lists inside each other")
        self.node = self._require_object(node)

    @classmethod
    def of(cls, node: Any, path: str) -> JsonObject:
        """Wrap a nested object of a file."""
        out = cls.__new__(cls)
        out.path = path
        out.node = out._require_object(node)
        return out

    def _require_object(self, node: Any) -> Mapping[str, Any]:
        if not isinstance(node, dict):
            raise CorruptFile(self.path, f"{node!r:.60} is not a JSON object")
        return node

    def get(self, key: str, kind: type[T], default: Any = _MISSING) -> T:
        """The value of `key`, of type `kind`. If null or absent: `default`, or an error without one."""
        value = self.node.get(key)
        if value is None:
            if default is _MISSING:
                raise CorruptFile(self.path, f"field {key!r} is missing")
            return cast("T", default)
        good = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
        if not good:
            raise CorruptFile(self.path, f"field {key!r} is {value!r:.60}, not {kind.__name__}")
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise CorruptFile(self.path, f"field {key!r} is out of range")
        return cast("T", value)

    def natural(self, key: str, default: Any = _MISSING) -> int:
        """An integer >= 0."""
        value = self.get(key, int, default)
        if isinstance(value, int) and value < 0:
            raise CorruptFile(self.path, f"field {key!r} is negative")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        value = self.get(key, list, [])
        if not all(isinstance(v, str) for v in value):
            raise CorruptFile(self.path, f"field {key!r} is not a list of strings")
        return tuple(value)

    def texts(self, key: str) -> dict[str, str]:
        """An object of strings; other scalars are converted to strings, as in Java's reader."""
        value = self.get(key, dict, {})
        out: dict[str, str] = {}
        for k, v in value.items():
            if isinstance(v, dict | list):
                raise CorruptFile(self.path, f"field {key!r} has no string for {k!r}")
            if v is not None:
                out[k] = v if isinstance(v, str) else json.dumps(v)
        return out

    def version(self, newest: int, what: str, default: int = 1) -> int:
        """The `version` field, read first. Raises `NewerFormat`."""
        number = self.natural("version", default)
        if number > newest:
            raise NewerFormat(self.path, number, newest, what)
        return number


def java_json(node: Any) -> bytes:
    """Pretty-print JSON in Jackson's default style: `"key" : value`, arrays on one line."""
    return _to_java_json(node, 0).encode("utf-8")


def _to_java_json(node: Any, depth: int) -> str:
    pad = "  " * (depth + 1)
    if isinstance(node, dict):
        if not node:
            return "{ }"
        inside = ",\n".join(
            f"{pad}{json.dumps(k, ensure_ascii=False)} : {_to_java_json(v, depth + 1)}" for k, v in node.items()
        )
        return "{\n" + inside + "\n" + "  " * depth + "}"
    if isinstance(node, list | tuple):
        return "[ " + ", ".join(_to_java_json(v, depth) for v in node) + " ]" if node else "[ ]"
    return json.dumps(node, ensure_ascii=False)
