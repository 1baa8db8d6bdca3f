"""Columns of a file that another engine wrote, as columns of a table: found by name in any case, at every depth. Reads no files.

Spark, Hive, DuckDB and pandas write what their frames have: other cases, fewer or more fields of a struct, wider integers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.errors import ReadError
from paimon_nb.format.types import Array, DataField, DataType, Map, Multiset, Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_POSITIONAL = re.compile(r"_col(\d+)")
"""How old versions of Hive name the columns of ORC files."""


def stored_fields(
    file: pa.Schema, fields: Sequence[DataField], columns: Sequence[DataField]
) -> list[tuple[DataField, DataField]]:
    """Those of the table's columns that a file has: as in the file (name, fields of structs; the same ids), and as in the table.

    Args:
        file: the columns of the file. fields: the columns to read. columns: all columns that its files have, by position.

    Raises: ReadError: a name in the file that only differs in case from another one fits the column.
    """
    names = file.names
    if names and all(_POSITIONAL.fullmatch(n) for n in names):
        position = {f.name: f"_col{i}" for i, f in enumerate(columns)}
        return [
            (replace(f, name=position[f.name], type=_stored_type(f.type, file.field(position[f.name]).type)), f)
            for f in fields
            if position[f.name] in names
        ]
    out = []
    for field in fields:
        name = name_ignoring_case(names, field.name)
        if name is not None:
            out.append((replace(field, name=name, type=_stored_type(field.type, file.field(name).type)), field))
    return out


def name_ignoring_case(names: Iterable[str], name: str) -> str | None:
    """The name that is meant: the same one, else the only one that differs in case; None: none.

    Raises: ReadError: several differ in case only.
    """
    alike = [n for n in names if n.lower() == name.lower()]
    if name in alike:
        return name
    if len(alike) > 1:
        raise ReadError(
            f"column {name!r} could be any of {', '.join(alike)} in the file", hint="name the column as in the file"
        )
    return alike[0] if alike else None


def _stored_type(t: DataType, found: pa.DataType) -> DataType:
    """The type with the fields that the file's type has, in the file's spelling. Their ids are those of the table."""
    types = pa.types
    match t:
        case Row() if types.is_struct(found):
            inside = stored_fields(pa.schema(list(found)), t.fields, ())
            return replace(t, fields=tuple(there for there, _ in inside))
        case Array() if types.is_list(found) or types.is_large_list(found) or types.is_fixed_size_list(found):
            return replace(t, element=_stored_type(t.element, found.value_type))
        case Map() if types.is_map(found):
            return replace(t, key=_stored_type(t.key, found.key_type), value=_stored_type(t.value, found.item_type))
        case Multiset() if types.is_map(found):
            return replace(t, element=_stored_type(t.element, found.key_type))
    return t
