"""Iceberg's name mapping: column ids by name, by which readers find the columns of files without ids (ORC, Avro). Pure.

Source: Iceberg's table specification, Name Mapping Serialization.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NAME_MAPPING = "schema.name-mapping.default"
"""The table property of Iceberg."""
Names = dict[tuple[int, str], int]
"""Column ids by the id of the column around (-1 for none) and the name."""
_TOP = -1


def column_names(schemas: Iterable[Mapping[str, Any]]) -> Names:
    """Every name that a column has had. Of two columns that had one name, the older one has it: files may contain it.

    Args:
        schemas: schemas as in Iceberg's metadata, oldest first.
    """
    names: Names = {}
    for node in schemas:
        for key, column in _named(node, _TOP):
            names.setdefault(key, column)
    return names


def name_mapping(names: Names) -> str:
    """The value of `NAME_MAPPING`."""
    return json.dumps(_mapped_fields(names, _TOP))


def misread_name(schema: Mapping[str, Any], names: Names) -> str | None:
    """A name by which readers find another column in files of this schema than the one it contains; None if there is none."""
    return next((name for (parent, name), column in _named(schema, _TOP) if names.get((parent, name)) != column), None)


def _named(node: Any, parent: int) -> Iterator[tuple[tuple[int, str], int]]:
    """The columns of a type at any depth: the key of `Names`, and the id."""
    if isinstance(node, str):
        return
    if node["type"] == "struct":
        inner = [(f["name"], f["id"], f["type"]) for f in node["fields"]]
    else:
        inner = [(part, node[f"{part}-id"], node[part]) for part in ("element", "key", "value") if part in node]
    for name, column, t in inner:
        yield (parent, name), column
        yield from _named(t, column)


def _mapped_fields(names: Names, parent: int) -> list[dict[str, Any]]:
    by_column: dict[int, list[str]] = {}
    for (around, name), column in names.items():
        if around == parent:
            by_column.setdefault(column, []).append(name)
    out = []
    for column, known in by_column.items():
        inner = _mapped_fields(names, column)
        out.append({"field-id": column, "names": known} | ({"fields": inner} if inner else {}))
    return out
