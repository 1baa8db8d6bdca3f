"""Comments and options of new columns that choose a type which SQL of Spark and Flink cannot name.

| comment | type of the column | becomes |
|---|---|---|
| `__VECTOR_FIELD;<length>[; comment]` | ARRAY<element> | VECTOR<element, length>, named in `vector-field` |
| `__BLOB_FIELD[; comment]` | BYTES, ARRAY<BYTES>, MAP<K, BYTES> | BLOB, ARRAY<BLOB>, MAP<K, BLOB>, named in `blob-field` |
| `__BLOB_DESCRIPTOR_FIELD`, `__BLOB_VIEW_FIELD` `[; comment]` | BYTES | BLOB, named in `blob-descriptor-field` ... |

In CREATE TABLE the options do the same: `vector-field` with `field.<column>.vector-dim` makes a VECTOR of an ARRAY,
`blob-field`, `blob-descriptor-field` and `blob-view-field` make BLOBs of bytes.
Source: Paimon 2 `ColumnDirectiveUtils`, `LogicalTypeConversion.toVectorType`, `LogicalTypeConversion.toBlobType`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, SchemaMismatch
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import VECTOR_ELEMENTS, Array, Atomic, DataType, Map, Vector
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt
from paimon_nb.options.option import parse_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.format.schema import TableSchema

_VECTOR, _BLOB = "__VECTOR_FIELD", "__BLOB_FIELD"
_OPTIONS = {
    _VECTOR: opt.VECTOR_FIELD.key,
    _BLOB: opt.BLOB_FIELD.key,
    "__BLOB_DESCRIPTOR_FIELD": opt.BLOB_DESCRIPTOR_FIELD.key,
    "__BLOB_VIEW_FIELD": opt.BLOB_VIEW_FIELD.key,
}
"""Directive -> the option that lists such columns."""


@dataclass(frozen=True, slots=True)
class ConvertedColumn:
    """A column after its directive was applied."""

    type: DataType
    comment: str | None
    option: str
    """The option that names the column from now on."""

    def options(self, column: str, options: Mapping[str, str]) -> dict[str, str]:
        """The table's options with the column added to `option`."""
        names = [n.strip() for n in options.get(self.option, "").split(",") if n.strip()]
        return {**options, self.option: ",".join(dict.fromkeys([*names, column]))}


def with_column_directives(schema: TableSchema) -> TableSchema:
    """The schema of a new table with the directives of its comments, and its options for vectors and blobs, applied.

    Raises:
        SchemaMismatch: see `column_of_directive`.
        BadOptionValue: an option for blobs names a column of another type.
    """
    fields, options = [], dict(schema.options)
    for field in schema.fields:
        converted = column_of_directive(field.name, field.type, field.description)
        if converted is not None:
            field = replace(field, type=converted.type, description=converted.comment)
            options = converted.options(field.name, options)
        else:
            by_option = _blob_by_options(field.name, field.type, options)
            by_option = by_option or _vector_by_options(field.name, field.type, options)
            field = replace(field, type=by_option or field.type)
        fields.append(field)
    return replace(schema, fields=tuple(fields), options=options) if tuple(fields) != schema.fields else schema


def _blob_by_options(name: str, type_: DataType, options: Mapping[str, str]) -> DataType | None:
    """The type of a column that an option for blobs names; None for other columns. Raises BadOptionValue."""
    values, managed = TableOptions(options), opt.BLOB_FIELD.key
    inline = next((o.key for o in opt.INLINE_BLOBS if name in values.names(o)), None)
    if inline is None and name not in values.names(opt.BLOB_FIELD):
        return None
    key = inline or managed
    if inline and type_.root in ("ARRAY", "MAP"):
        kind = "ARRAY<BLOB>" if type_.root == "ARRAY" else "MAP<X, BLOB>"
        why = f"{kind} is only supported by {managed!r}"
        raise BadOptionValue(
            f"option {key!r}: column {name!r} is {type_.bare()}: {why}.", hint=f"name it in {managed!r}", option=key
        )
    blob = _with_blobs(type_)
    if blob is None:
        several = "" if inline else ", ARRAY<BYTES> or MAP<K, BYTES>"
        raise BadOptionValue(
            f"option {key!r}: column {name!r} is {type_.bare()}", hint=f"declare it as BYTES{several}", option=key
        )
    return blob


def _vector_by_options(name: str, type_: DataType, options: Mapping[str, str]) -> Vector | None:
    """The type of an ARRAY that `vector-field` names and that has a length of its own; None for other columns."""
    length = options.get(f"field.{name}.vector-dim", "").strip()
    if (
        name not in parse_names(options.get(opt.VECTOR_FIELD.key))
        or not isinstance(type_, Array)
        or isinstance(type_, Vector)
    ):
        return None
    if not length.isdecimal() or int(length) < 1 or type_.element.root not in VECTOR_ELEMENTS:
        return None  # the check of the option refuses the column
    return Vector(type_.element, type_.nullable, int(length))


def column_of_directive(name: str, type_: DataType, comment: str | None) -> ConvertedColumn | None:
    """What the comment of a new column makes of it; None for an ordinary comment.

    Raises:
        SchemaMismatch: an unknown directive, a vector without a length, or a column of another type.
    """
    text = (comment or "").strip()
    if not text.startswith(("__VECTOR", "__BLOB")):
        return None
    directive, _, rest = (part.strip() for part in text.partition(";"))
    if directive not in _OPTIONS:
        raise _refused(name, f"unknown directive {directive!r}", f"use one of {', '.join(_OPTIONS)}")
    if directive != _VECTOR:
        blob = _with_blobs(type_) if directive == _BLOB or type_.root not in ("ARRAY", "MAP") else None
        if blob is None:
            several = ", ARRAY<BYTES> or MAP<K, BYTES>" if directive == _BLOB else ""
            raise _refused(
                name, f"{directive} needs BYTES{several}, it is {type_.bare()}", "declare the column as BYTES"
            )
        return ConvertedColumn(blob, rest or None, _OPTIONS[directive])
    length, _, rest = (part.strip() for part in rest.partition(";"))
    if not length.isdecimal() or int(length) < 1:
        raise _refused(name, f"{_VECTOR} needs a length", f"for example '{_VECTOR};128; a comment'")
    if not isinstance(type_, Array) or type_.element.root not in VECTOR_ELEMENTS:
        raise _refused(name, f"{_VECTOR} needs an array of numbers, it is {type_.bare()}", "use ARRAY<FLOAT>")
    vector = Vector(type_.element, type_.nullable, int(length))
    return ConvertedColumn(vector, rest or None, _OPTIONS[directive])


def _with_blobs(t: DataType) -> DataType | None:
    """The type with BLOB for bytes: of the column, of an array's elements or of a map's values; None for other types."""
    match t:
        case Vector():
            return None
        case Array() if (element := _with_blobs(t.element)) and isinstance(element, Atomic):
            return replace(t, element=element)
        case Map() if (value := _with_blobs(t.value)) and isinstance(value, Atomic):
            return replace(t, value=value)
    return Atomic("BLOB", t.nullable) if t.root in ("BINARY", "VARBINARY", "BLOB") else None


def without_directive_options(options: Mapping[str, str], column: str) -> dict[str, str]:
    """The options without a dropped column in those that list columns of such types."""
    left = {k: v for k, v in options.items() if k != f"field.{column}.vector-dim"}
    for option in (opt.VECTOR_FIELD, opt.BLOB_FIELD, *opt.INLINE_BLOBS):
        for key in (option.key, *option.fallback_keys):
            names = parse_names(left.get(key))
            if column in names:
                left[key] = ",".join(n for n in names if n != column)
                if not left[key]:
                    del left[key]
    return left


def _refused(name: str, why: str, hint: str) -> SchemaMismatch:
    return SchemaMismatch(f"comment of column {name!r}: {why}", hint=hint, column=name)
