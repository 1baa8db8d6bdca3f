"""What a case is: a table, its options and what is inserted into it, batch after batch; and its values as Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Context
from decimal import Decimal as PyDecimal
from typing import Any

import pyarrow as pa

from paimon_nb.format.types import Array, DataType, Decimal, Map, Row, arrow_type, parse_type

_WIDE = Context(prec=60)
Rows = Sequence[Sequence[Any]]
"""One INSERT. Values: int, float, bool, str; DECIMAL, DATE, TIME, TIMESTAMP as str; BYTES as hex; MAP as pairs; ROW as list."""


@dataclass(frozen=True)
class Case:
    """One table: columns by name with their SQL type, options, and what is inserted, in order."""

    name: str
    columns: Mapping[str, str]
    options: Mapping[str, str]
    batches: Sequence[Rows]
    keys: tuple[str, ...] = ("k",)
    fails: bool = False
    """Java refuses a batch or the read."""

    @property
    def log(self) -> bool:
        """Whether the answer also holds what a stream would see."""
        return self.name.startswith("log_")

    @property
    def merged_on_read(self) -> bool:
        """Nothing is compacted, so rows come in key order; else in the order of files, which nobody promises."""
        return self.table_options["write-only"] == "true"

    @property
    def descending(self) -> bool:
        return "descending" in self.options.values()

    @property
    def table_options(self) -> dict[str, str]:
        """The case's own options over those that every case has: one bucket, and nothing merged before it is read."""
        return {"bucket": "1", "write-only": str(not self.log).lower()} | dict(self.options)

    @property
    def types(self) -> dict[str, DataType]:
        return {n: parse_type(t) for n, t in self.columns.items()}


def aggregated(function: str, **more: str) -> dict[str, str]:
    """Options of a table whose column v has this function; `more` are `fields.v.*` options."""
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": function}
    return options | {f"fields.v.{k.replace('_', '-')}": v for k, v in more.items()}


def one(name: str, type_text: str, options: dict[str, str], *batches: Sequence[Any], fails: bool = False) -> Case:
    """One value column; each batch is a list of values of key 1."""
    return Case(name, {"k": "INT", "v": type_text}, options, [[(1, v) for v in values] for values in batches], fails=fails)  # fmt: skip


def kinds(name: str, type_text: str, options: dict[str, str], *batches: Rows, fails: bool = False) -> Case:
    """One value column and row kinds; each batch is a list of (key, value, kind)."""
    columns = {"k": "INT", "v": type_text, "op": "STRING"}
    return Case(name, columns, {"rowkind.field": "op"} | options, batches, fails=fails)


def arrow_rows(case: Case, rows: Rows) -> pa.Table:
    """One batch as the table's columns."""
    return pa.table(
        {
            name: pa.array([inserted(r[i], t) for r in rows], arrow_type(t))
            for i, (name, t) in enumerate(case.types.items())
        }
    )


def inserted(value: Any, t: DataType) -> Any:
    """A case's value as Arrow takes it."""
    if isinstance(value, str) and t.root.startswith("TIMESTAMP"):
        return pa.scalar(value).cast(pa.timestamp("ns")).cast(arrow_type(t)).value
    if isinstance(value, list) and isinstance(t, Array):
        return [inserted(v, t.element) for v in value]
    return _python(value, t, lambda row, fields: dict(zip([f.name for f in fields], row, strict=True)))


def told(value: Any, t: DataType) -> Any:
    """A value of the recorded JSON as Arrow's `to_pylist` shows it; the entries of a map in no order."""
    return comparable(_python(value, t, lambda row, _fields: row), t)


def _python(value: Any, t: DataType, row_of: Any) -> Any:
    if value is None:
        return None
    if isinstance(t, Array):
        return [_python(v, t.element, row_of) for v in value]
    if isinstance(t, Map):
        return [(_python(k, t.key, row_of), _python(v, t.value, row_of)) for k, v in value]
    if isinstance(t, Row):
        return {
            n: _python(v, f.type, row_of) for (n, v), f in zip(row_of(value, t.fields).items(), t.fields, strict=True)
        }
    if isinstance(t, Decimal):
        return PyDecimal(value).quantize(PyDecimal(1).scaleb(-t.scale), context=_WIDE)
    match t.root:
        case "BINARY" | "VARBINARY":
            return bytes.fromhex(value)
        case "DATE":
            return date.fromisoformat(value)
        case "TIME":
            return time.fromisoformat(value)
        case "FLOAT" | "DOUBLE":
            return float(value)
    return value


def comparable(value: Any, t: DataType) -> Any:
    """A value of `to_pylist` such that equal means the same: floats by their text, times by their text, maps sorted."""
    if value is None:
        return None
    if isinstance(t, Array):
        return [comparable(v, t.element) for v in value]
    if isinstance(t, Map):
        return sorted(([comparable(k, t.key), comparable(v, t.value)] for k, v in value), key=repr)
    if isinstance(t, Row):
        return {f.name: comparable(value[f.name], f.type) for f in t.fields}
    if t.root == "FLOAT":
        return repr(pa.scalar(value, pa.float32()).as_py())
    if t.root == "DOUBLE":
        return repr(value)
    if t.root.startswith("TIMESTAMP"):
        text = value if isinstance(value, str) else _timestamp_text(value)
        return (
            text.replace("T", " ").removesuffix("Z").rstrip("0").rstrip(".") if "." in text else text.removesuffix("Z")
        )
    return value


def _timestamp_text(value: datetime) -> str:
    text = value.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
    nanos = getattr(value, "nanosecond", 0)
    return f"{text[:26]}{nanos:03d}"
