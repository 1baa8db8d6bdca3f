"""Maps PostgreSQL column types to Paimon types, and text values to Arrow columns.

Source: Paimon's PostgresTypeUtils. UUID and JSONB, which it does not support, are STRING.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.connectors.cdc import mysql_types
from paimon_nb.connectors.cdc.values import Misfit, decimal_or_string, fitting_column, span_of_time_text
from paimon_nb.format.types import Array, DataType, arrow_type, parse_type

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

_PLAIN = {
    "bool": "BOOLEAN", "int2": "SMALLINT", "int4": "INT", "int8": "BIGINT", "float4": "FLOAT", "float8": "DOUBLE", "bytea": "BYTES",
    "date": "DATE", "text": "STRING", "name": "STRING", "json": "STRING", "jsonb": "STRING",
    "uuid": "STRING", "oid": "BIGINT",
}  # fmt: skip
_TEXTS = {"varchar": "VARCHAR", "bpchar": "CHAR"}
_TEXT_HEADER = 4
"""The modifier of a text type is its length plus this."""
_TIMESTAMPS = {"time": "TIME({})", "timestamp": "TIMESTAMP({})", "timestamptz": "TIMESTAMP({}) WITH LOCAL TIME ZONE"}


@dataclass(frozen=True, slots=True)
class PostgresType:
    """A column type from pg_attribute and pg_type."""

    name: str
    """For example `int4`, or `_int4` for an array. All enum types are `enum`."""
    modifier: int = -1


def paimon_type(t: PostgresType, modes: Collection[str] = (), *, nullable: bool = True) -> DataType:
    """The Paimon type. Raises UnsupportedOperation: there is none."""
    text = "STRING" if "to-string" in modes else _paimon_type_text(t, modes)
    return parse_type(text).with_nullable(nullable or "to-nullable" in modes)


def _paimon_type_text(t: PostgresType, modes: Collection[str]) -> str:
    if t.name.startswith("_"):
        return f"ARRAY<{_paimon_type_text(PostgresType(t.name[1:], t.modifier), modes)}>"
    if t.name in _PLAIN:
        return _PLAIN[t.name]
    if t.name in _TEXTS:
        length = t.modifier - _TEXT_HEADER
        return f"{_TEXTS[t.name]}({length})" if length > 0 and "char-to-string" not in modes else "STRING"
    if t.name in _TIMESTAMPS:
        return _TIMESTAMPS[t.name].format(6 if t.modifier < 0 else t.modifier)
    if t.name == "enum":
        return "STRING"
    if t.name == "numeric":
        if t.modifier < 4:
            return "DECIMAL(38, 18)"
        return decimal_or_string((t.modifier - 4) >> 16 & 0xFFFF, (t.modifier - 4) & 0x7FF)
    if t.name in ("bit", "varbit"):
        return "BOOLEAN" if t.modifier == 1 else f"BINARY({(t.modifier + 7) // 8})" if t.modifier > 0 else "BYTES"
    raise UnsupportedOperation(
        f"PostgreSQL type {t.name} has no Paimon type", hint="exclude the table, change the column, or use type_mapping 'to-string'"
    )  # fmt: skip


def arrow_column_of_texts(values: Sequence[str | None], t: DataType, source: PostgresType | None) -> pa.Array:
    """Text values of a PostgreSQL column as a Paimon column, whose type may be wider than `source`."""
    name = "text" if source is None else source.name
    if isinstance(t, Array):
        inner = PostgresType(name.removeprefix("_"))
        return pa.array([None if v is None else _array_of_text(v, t, inner) for v in values], arrow_type(t))
    if t.root in ("STRING", "VARCHAR", "CHAR"):
        return pa.array(values, arrow_type(t))
    if t.root == "BOOLEAN":
        return pa.array([None if v is None else v in ("t", "1") for v in values], pa.bool_())
    read = _READ.get(name, str)
    return mysql_types.to_column([None if v is None else read(v) for v in values], t, None)


def _array_of_text(text: str, t: Array, inner: PostgresType) -> list[Any]:
    """Raises Misfit: an element does not fit; the others are in what is stored instead."""
    column, misfits = fitting_column(array_elements(text), lambda part: arrow_column_of_texts(part, t.element, inner))
    elements: list[Any] = column.to_pylist()
    for misfit in misfits.values():
        raise Misfit(f"an element does not fit: {misfit.reason}", elements)
    return elements


def array_elements(text: str) -> list[str | None]:
    """The elements of the text of an array, for example `{1,NULL,"a,b"}`. Raises Misfit: a nested array."""
    out: list[str | None] = []
    inside = text[text.index("{") + 1 : -1]
    at, end = 0, len(inside)
    while at < end:
        if inside[at] == "{":
            raise Misfit("an array of several dimensions; type_mapping 'to-string' keeps its text")
        if inside[at] == '"':
            word, at = _parse_quoted_element(inside, at + 1)
            out.append(word)
        else:
            stop = inside.find(",", at)
            stop = end if stop < 0 else stop
            word = inside[at:stop]
            out.append(None if word.upper() == "NULL" else word)
            at = stop
        at += 1  # the comma
    return out


def _parse_quoted_element(text: str, at: int) -> tuple[str, int]:
    """A quoted element that starts at `at`, after its opening quote, and the position after its closing quote."""
    out = []
    while text[at] != '"':
        at += text[at] == "\\"
        out.append(text[at])
        at += 1
    return "".join(out), at + 1


def _parse_bits(text: str) -> bytes:
    return int(text, 2).to_bytes((len(text) + 7) // 8, "big") if text else b""


def _parse_timestamp(text: str) -> dt.datetime | str:
    """In UTC. Values that Python does not support ('infinity', years BC) are returned as text, which no column of times holds."""
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    return found if found.tzinfo is None else found.astimezone(dt.UTC)


def _parse_date(text: str) -> dt.date | str:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return text


_READ: dict[str, Callable[[str], Any]] = {
    "bytea": lambda v: bytes.fromhex(v[2:]),
    "bit": _parse_bits,
    "varbit": _parse_bits,
    "date": _parse_date,
    "time": span_of_time_text,
    "timestamp": _parse_timestamp,
    "timestamptz": _parse_timestamp,
}
