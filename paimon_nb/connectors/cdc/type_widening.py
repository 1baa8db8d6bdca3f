"""Type widening: the new type of a column when the type of its source column changes.

Source: Paimon's UpdatedDataFieldsProcessFunction: a type is never narrowed.
"""

from __future__ import annotations

from paimon_nb.base.errors import SchemaChangeError
from paimon_nb.format.types import (
    Binary,
    Char,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Time,
    Timestamp,
    VarBinary,
    VarChar,
    parse_type,
)

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_REALS = ("FLOAT", "DOUBLE")


def common_wider_type(old: DataType, new: DataType, column: str) -> DataType:
    """The narrowest type that contains both, with the nullability of `old`. Raises SchemaChangeError: there is none."""
    nullable = old.nullable
    if old.with_nullable(True) == new.with_nullable(True):
        return old
    a, b = old.root, new.root
    for ladder in (_INTEGERS, _REALS):
        if a in ladder and b in ladder:
            return parse_type(ladder[max(ladder.index(a), ladder.index(b))]).with_nullable(nullable)
    match old, new:
        case (Char() | VarChar(), Char() | VarChar()):
            if isinstance(old, Char) and isinstance(new, Char):
                return Char(max(old.length, new.length), nullable)
            return VarChar(max(old.length, new.length), nullable)
        case (Binary() | VarBinary(), Binary() | VarBinary()):
            if isinstance(old, Binary) and isinstance(new, Binary):
                return Binary(max(old.length, new.length), nullable)
            return VarBinary(max(old.length, new.length), nullable)
        case (Decimal(), Decimal()):
            scale = max(old.scale, new.scale)
            whole = max(old.precision - old.scale, new.precision - new.scale)
            if scale + whole <= 38:
                return Decimal(scale + whole, scale, nullable)
        case (Time(), Time()):
            return Time(max(old.precision, new.precision), nullable)
        case (Timestamp(), Timestamp()):
            return Timestamp(max(old.precision, new.precision), nullable)
        case (LocalZonedTimestamp(), LocalZonedTimestamp()):
            return LocalZonedTimestamp(max(old.precision, new.precision), nullable)
    raise SchemaChangeError(
        f"column {column!r} is {old} and cannot also hold {new}",
        hint="change the type in the source back, or drop the table and start the sync again (type_mapping 'to-string' accepts all types)",
        column=column,
    )
