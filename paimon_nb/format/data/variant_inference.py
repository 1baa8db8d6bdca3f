"""Infers from a file's first values which fields of its VARIANT columns become columns of the Parquet file.

Source: Paimon 2.1 `InferVariantShreddingSchema` (inference mode `per-file`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.variant_encoding import (
    ARRAY,
    OBJECT,
    Keys,
    array_elements,
    basic_type,
    decode_scalar,
    object_fields,
)
from paimon_nb.format.data.variant_shredding import METADATA, VALUE, shredded_type
from paimon_nb.format.types import (
    Array,
    Atomic,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Row,
    Timestamp,
    VarBinary,
    VarChar,
)
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    import decimal
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.options import TableOptions

_VARIANT, _BIGINT = Atomic("VARIANT"), Atomic("BIGINT")
_SCALARS: Mapping[str, DataType] = {
    "boolean": Atomic("BOOLEAN"), "string": VarChar(), "double": Atomic("DOUBLE"), "float": Atomic("FLOAT"), "date": Atomic("DATE"),
    "timestamp": LocalZonedTimestamp(6), "timestamp_ntz": Timestamp(6), "binary": VarBinary(),
}  # fmt: skip
_LONG_DIGITS, _MAX_DIGITS = 18, 38
_MAX_FIELDS = 1000


@dataclass(slots=True)
class _Object:
    fields: dict[str, tuple[_Observed, int]]
    """Type and number of occurrences by name."""


@dataclass(slots=True)
class _List:
    element: _Observed


_Observed = DataType | _Object | _List | None
"""The type of all values seen so far; None: only NULL."""


def infers_shredding(options: TableOptions) -> bool:
    """Whether new files infer their shredded columns. A given schema comes first."""
    return bool(options.get(opt.VARIANT_INFERSHREDDINGSCHEMA)) and not options.has(opt.VARIANT_SHREDDINGSCHEMA)


def inferred_columns(rows: pa.Table, names: Sequence[str], options: TableOptions) -> dict[str, Row]:
    """The types in the file of those VARIANT columns that are shredded, by a file's first rows."""
    sample = rows.slice(0, options.get(opt.VARIANT_SHREDDING_MAXINFERBUFFERROW))
    depth, ratio = (
        options.get(opt.VARIANT_SHREDDING_MAXSCHEMADEPTH),
        float(options.get(opt.VARIANT_SHREDDING_MINFIELDCARDINALITYRATIO)),
    )
    budget = _Budget(int(options.get(opt.VARIANT_SHREDDING_MAXSCHEMAWIDTH)))
    found = {}
    for name in names:
        column = sample.column(name).combine_chunks()
        observed, count = _observed_type(column, depth)
        t = _selected_type(observed, math.ceil(count * ratio), budget)
        if t != _VARIANT:  # Java then writes `metadata` before `value`, which pypaimon does not read
            found[name] = shredded_type(t)
    return found


def _observed_type(column: pa.StructArray, depth: int) -> tuple[_Observed, int]:
    """(the type of all values, the number of values that are not NULL)"""
    keys: dict[bytes, Keys] = {}
    observed: _Observed = None
    count = 0
    for row in column.to_pylist():
        if row is None:
            continue
        if row[METADATA] not in keys:
            keys[row[METADATA]] = Keys(row[METADATA])
        observed = _merged(observed, _type_of(row[VALUE], keys[row[METADATA]], depth))
        count += 1
    return observed, count


def _type_of(value: bytes, keys: Keys, depth: int) -> _Observed:
    kind = basic_type(value)
    if kind in (OBJECT, ARRAY):
        if depth <= 0:
            return _VARIANT
        if kind == OBJECT:
            return _Object({keys.names[n]: (_type_of(v, keys, depth - 1), 1) for n, v in object_fields(value)})
        element: _Observed = None
        for item in array_elements(value):
            element = _merged(element, _type_of(item, keys, depth - 1))
        return _List(_VARIANT if element is None else element)
    scalar = decode_scalar(value)
    match scalar.kind:
        case "null":
            return None
        case "long":
            digits = len(str(abs(scalar.value)))
            return Decimal(digits, 0) if digits <= _LONG_DIGITS else _BIGINT
        case "decimal":
            return _smallest_decimal(scalar.value)
    return _SCALARS.get(scalar.kind, _VARIANT)


def _smallest_decimal(value: decimal.Decimal) -> DataType:
    """The type of a number without the zeros at its end."""
    _, digits, exponent = value.as_tuple()
    scale = -int(exponent)
    text = "".join(map(str, digits)).lstrip("0") or "0"
    while scale > 0 and text[-1] == "0":
        text, scale = text[:-1] or "0", scale - 1
    return Decimal(max(len(text), scale, 1), scale)


def _merged(first: _Observed, second: _Observed) -> _Observed:
    """The type of values of both types; VARIANT if there is none."""
    match first, second:
        case None, _:
            return second
        case _, None:
            return first
        case Decimal(), Decimal():
            return _merged_decimals(first, second)
        case (Decimal() as number, Atomic(name="BIGINT")) | (Atomic(name="BIGINT"), Decimal() as number):
            is_long = number.scale == 0 and number.precision <= _LONG_DIGITS
            return _BIGINT if is_long else _merged_decimals(number, Decimal(19, 0))
        case _Object(), _Object():
            fields = dict(first.fields)
            for name, (t, count) in second.fields.items():
                before, others = fields.get(name, (None, 0))
                fields[name] = (_merged(before, t), others + count)
            return _Object({n: fields[n] for n in _in_order(fields)[:_MAX_FIELDS]})
        case _List(), _List():
            return _List(_merged(first.element, second.element))
    return first if first == second else _VARIANT


def _merged_decimals(first: Decimal, second: Decimal) -> DataType:
    scale = max(first.scale, second.scale)
    whole = max(first.precision - first.scale, second.precision - second.scale)
    return Decimal(whole + scale, scale) if whole + scale <= _MAX_DIGITS else _VARIANT


def _in_order(names: Mapping[str, object]) -> list[str]:
    """Names as Java compares them: by UTF-16."""
    return sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))


@dataclass(slots=True)
class _Budget:
    """The columns that a file may still get: one for the values of each field, one for those that have its type."""

    remaining: int


def _selected_type(observed: _Observed, min_count: int, budget: _Budget) -> DataType:
    """The type to shred to: without rare fields, and with numbers of the widest type of their kind."""
    budget.remaining -= 1
    if budget.remaining <= 0 or observed is None or observed == _VARIANT:
        return _VARIANT
    match observed:
        case _Object():
            fields: list[DataField] = []
            for name in _in_order(observed.fields):
                t, count = observed.fields[name]
                if count >= min_count and budget.remaining > 0:
                    fields.append(DataField(len(fields), name, _selected_type(t, min_count, budget)))
            return Row(tuple(fields)) if fields else _VARIANT
        case _List():
            return Array(_selected_type(observed.element, min_count, budget))
    budget.remaining -= 1
    if isinstance(observed, Decimal):
        if observed.precision > _LONG_DIGITS:
            return Decimal(_MAX_DIGITS, observed.scale)
        return Decimal(_LONG_DIGITS, observed.scale) if observed.scale else _BIGINT
    return observed
