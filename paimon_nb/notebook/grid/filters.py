"""Filters of the grid: a condition on one column, as an Arrow mask, as text and as SQL."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.notebook.grid.texts import scalar_text, unambiguous_text

if TYPE_CHECKING:
    import pyarrow as pa

OPERATORS = ("=", "<>", ">=", "<=", "between", "contains", "in", "is null", "is not null")
_PLAIN_SCALE = 6
"""Arrow writes decimals with more digits after the point with an exponent."""
_NAMED_VALUES = 3
"""Values of a list that a filter names."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a column.

    Args:
        column: position of the column. operator: one of `OPERATORS`.
        values: Arrow scalars of the column's type: one, for `between` two, none for the tests on NULL; a text for `contains`;
            for `in` any number, NULL among them.
    """

    column: int
    name: str
    operator: str
    values: tuple[Any, ...] = ()

    def mask(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Which rows match; NULL does not."""
        import pyarrow.compute as pc

        match self.operator:
            case "is null":
                return pc.is_null(column)
            case "is not null":
                return pc.is_valid(column)
            case "contains":
                return pc.match_substring(searchable_texts(column), self.values[0], ignore_case=True)
            case "in":
                return _is_among(column, self.values)
            case "between":
                return pc.and_(pc.greater_equal(column, self.values[0]), pc.less_equal(column, self.values[1]))
        if _is_nan(self.values[0]):  # Arrow's comparisons are IEEE's, where NaN equals nothing
            same = pc.is_nan(column)
            return {"=": same, "<>": pc.invert(same)}.get(self.operator, same)
        compare = {"=": pc.equal, "<>": pc.not_equal, ">=": pc.greater_equal, "<=": pc.less_equal}
        return compare[self.operator](column, self.values[0])

    def __str__(self) -> str:
        value_texts = [v if isinstance(v, str) else _short_text(v) for v in self.values]
        signs = {"<>": "≠", ">=": "≥", "<=": "≤"}
        if self.operator == "in":
            more = f" +{len(value_texts) - _NAMED_VALUES:,}" if len(value_texts) > _NAMED_VALUES else ""
            return f"{self.name} in {', '.join(value_texts[:_NAMED_VALUES])}{more}"
        joined = " – ".join(value_texts) if self.operator == "between" else " ".join(value_texts)
        sign = "" if self.operator == "between" else signs.get(self.operator, self.operator)
        return " ".join(filter(None, (self.name, sign, joined)))

    def sql(self) -> str:
        """The condition as Spark SQL."""
        from paimon_nb.sql import quote_if_needed

        name = quote_if_needed(self.name)
        match self.operator:
            case "is null" | "is not null":
                return f"{name} {self.operator.upper()}"
            case "contains":
                return f"contains(lower(CAST({name} AS STRING)), lower({text_literal(self.values[0])}))"
            case "in":
                listed = ", ".join(sql_literal(v) for v in self.values if v.is_valid)
                tests = ([f"{name} IN ({listed})"] if listed else []) + (
                    [] if all(v.is_valid for v in self.values) else [f"{name} IS NULL"]
                )
                return f"({' OR '.join(tests)})" if len(tests) > 1 else tests[0]
            case "between":
                return f"{name} BETWEEN {sql_literal(self.values[0])} AND {sql_literal(self.values[1])}"
        return f"{name} {self.operator} {sql_literal(self.values[0])}"


def _is_among(column: pa.ChunkedArray, values: tuple[Any, ...]) -> pa.ChunkedArray:
    """Which values are among these; NULL is if it is one of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.is_null(column) if not all(v.is_valid for v in values) else None
    for value in values:
        if value.is_valid:
            equal = pc.is_nan(column) if _is_nan(value) else pc.equal(column, value)
            same = pc.fill_null(equal, False)
            found = same if found is None else pc.or_(found, same)
    return pa.chunked_array([pa.array([False] * len(column))]) if found is None else found


def _is_nan(value: Any) -> bool:
    plain = None if isinstance(value, str) or not value.is_valid else value.as_py()
    return isinstance(plain, float) and plain != plain


def _short_text(value: Any) -> str:
    text = scalar_text(value, 40)
    return "NULL" if text is None else unambiguous_text(text)


def sql_literal(value: Any) -> str:
    """An Arrow scalar as a literal of Spark SQL, also of nested values."""
    import pyarrow as pa

    kind, types = value.type, pa.types
    if not value.is_valid:
        return "NULL"
    if types.is_map(kind):
        return f"map({', '.join(sql_literal(v) for pair in _map_pairs(value) for v in pair)})"
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return f"array({', '.join(map(sql_literal, value.values))})"
    if types.is_struct(kind):
        parts = [f"{text_literal(f.name)}, {sql_literal(value[i])}" for i, f in enumerate(kind)]
        return f"named_struct({', '.join(parts)})"
    written = scalar_text(value, 1 << 62) or ""
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return f"X'{written}'"
    if types.is_date(kind):
        return f"DATE {text_literal(written)}"
    if types.is_timestamp(kind):
        return f"{'TIMESTAMP' if kind.tz else 'TIMESTAMP_NTZ'} {text_literal(written)}"
    if types.is_floating(kind):
        return f"CAST({text_literal(written)} AS {'DOUBLE' if types.is_float64(kind) else 'FLOAT'})"
    if types.is_integer(kind) or types.is_decimal(kind) or types.is_boolean(kind):
        return written
    return text_literal(written)


def _map_pairs(value: Any) -> Any:
    entries = value.values  # of type struct<key, value>
    return zip(entries.field(0), entries.field(1), strict=True)


def is_comparable(kind: pa.DataType) -> bool:
    """Whether values of this type can be compared and sorted."""
    import pyarrow as pa

    return not (pa.types.is_nested(kind) or pa.types.is_null(kind) or pa.types.is_interval(kind))


def typed_value(kind: pa.DataType, text: str) -> Any:
    """A typed text as a scalar of the column's type. Raises SqlAnalysisError."""
    import pyarrow as pa

    try:
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
            return pa.scalar(bytes.fromhex(text.strip()), kind)
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return pa.scalar(text, kind)
        if pa.types.is_time(kind):
            return pa.scalar(dt.time.fromisoformat(text.strip()), kind)
        if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):  # typed with the zeros that are shown
            return pa.scalar(text.strip()).cast(pa.timestamp("us", kind.tz)).cast(kind)
        return pa.scalar(text.strip()).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
        from paimon_nb.notebook.grid.types import type_text

        raise SqlAnalysisError(
            f"{text!r} is not a value of type {type_text(kind)}", hint="type it as the column shows it"
        ) from None


def searchable_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as texts that a search looks through."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from paimon_nb.notebook.grid.texts import display_texts

    kind, types = column.type, pa.types
    if types.is_string(kind) or types.is_large_string(kind):
        return column
    if types.is_integer(kind) or types.is_boolean(kind) or types.is_date(kind) or (types.is_decimal(kind) and kind.scale <= _PLAIN_SCALE):  # fmt: skip
        return pc.cast(column, pa.string())  # as the grid shows them, without a Python value
    return pa.chunked_array([pa.array(display_texts(chunk), pa.string()) for chunk in column.chunks], pa.string())
