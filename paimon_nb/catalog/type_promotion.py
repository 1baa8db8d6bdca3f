"""Type promotion: the types that a column can be changed to. Pure. Source: Paimon `DataTypeCasts.java`."""

from __future__ import annotations

from paimon_nb.format.types import Array, DataType, Geography, Geometry, Map, Multiset, Row, Vector

_CHARS = frozenset({"CHAR", "VARCHAR"})
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_EXACT = frozenset({*_INTEGERS, "DECIMAL"})
_NUMERIC = frozenset({*_EXACT, "FLOAT", "DOUBLE"})
_STAMPS = frozenset({"TIMESTAMP", "TIMESTAMP_LTZ"})
_DATETIME = frozenset({"DATE", "TIME", *_STAMPS})
_PREDEFINED = frozenset({"BOOLEAN", "BINARY", "VARBINARY", *_CHARS, *_NUMERIC, *_DATETIME})
_CONSTRUCTED = frozenset({"ARRAY", "MAP", "MULTISET", "ROW"})

_IMPLICIT: dict[str, frozenset[str]] = {
    "CHAR": frozenset({"CHAR"}),
    "VARCHAR": _CHARS,
    "BOOLEAN": frozenset({"BOOLEAN"}),
    "BINARY": frozenset({"BINARY"}),
    "VARBINARY": frozenset({"BINARY", "VARBINARY"}),
    "DECIMAL": _NUMERIC,
    **{name: frozenset(_INTEGERS[: i + 1]) for i, name in enumerate(_INTEGERS)},
    "FLOAT": frozenset({*_EXACT, "FLOAT"}),
    "DOUBLE": _NUMERIC,
    "DATE": frozenset({"DATE", "TIMESTAMP"}),
    "TIME": frozenset({"TIME", "TIMESTAMP"}),
    "TIMESTAMP": _STAMPS,
    "TIMESTAMP_LTZ": _STAMPS,
}
_FROM_ANY_NUMBER = frozenset({*_NUMERIC, *_CHARS, "BOOLEAN", *_STAMPS})
_EXPLICIT: dict[str, frozenset[str]] = {
    "CHAR": _PREDEFINED | _CONSTRUCTED,
    "VARCHAR": _PREDEFINED | _CONSTRUCTED,
    "BOOLEAN": frozenset({*_CHARS, *_INTEGERS}),
    "BINARY": frozenset({*_CHARS, "VARBINARY"}),
    "VARBINARY": _CHARS,
    "DECIMAL": frozenset({*_CHARS, "BOOLEAN", *_STAMPS}),
    **dict.fromkeys(_INTEGERS, _FROM_ANY_NUMBER),
    "FLOAT": _FROM_ANY_NUMBER,
    "DOUBLE": _FROM_ANY_NUMBER,
    "DATE": frozenset({*_STAMPS, *_CHARS}),
    "TIME": frozenset({"TIME", *_STAMPS, *_CHARS}),
    "TIMESTAMP": frozenset({*_DATETIME, *_CHARS, *_NUMERIC}),
    "TIMESTAMP_LTZ": frozenset({*_DATETIME, *_CHARS, *_NUMERIC}),
}


def may_change_type(old: DataType, new: DataType, *, allow_explicit: bool = True) -> bool:
    """Whether stored values of `old` can be read as `new`; ignores nullability."""
    if old.with_nullable(True) == new.with_nullable(True):
        return True
    match old, new:
        case (Geometry(), Geometry()) | (Geography(), Geography()):
            return old.bare().lower() == new.bare().lower()  # names of coordinate systems have no case
        case (Row(), Row()):
            # Nested fields are matched by name: they may be added, dropped or change type.
            old_fields = {f.name: f.type for f in old.fields}
            return all(
                f.name not in old_fields or may_change_type(old_fields[f.name], f.type, allow_explicit=allow_explicit)
                for f in new.fields
            )
        case (Vector(), _) | (_, Vector()):
            return False
        case (Array() | Multiset(), Array() | Multiset()) if old.root == new.root:
            return may_change_type(old.element, new.element, allow_explicit=allow_explicit)
        case (Map(), Map()):
            return old.key.with_nullable(True) == new.key.with_nullable(True) and may_change_type(
                old.value, new.value, allow_explicit=allow_explicit
            )
    if old.root in _IMPLICIT.get(new.root, ()):
        return True
    return allow_explicit and old.root in _EXPLICIT.get(new.root, ())
