"""Filters of the grid: a condition on one column, as an Arrow mask, as text and as SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.notebook.grid.texts import value_text

if TYPE_CHECKING:
    import pyarrow as pa

OPERATORS = ("=", "<>", ">=", "<=", "between", "contains", "is null", "is not null")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a column.

    Args:
        column: position of the column. operator: one of `OPERATORS`.
        values: Arrow scalars of the column's type: one, for `between` two, none for the tests on NULL; a text for `contains`.
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
            case "between":
                return pc.and_(pc.greater_equal(column, self.values[0]), pc.less_equal(column, self.values[1]))
        compare = {"=": pc.equal, "<>": pc.not_equal, ">=": pc.greater_equal, "<=": pc.less_equal}
        return compare[self.operator](column, self.values[0])

    def __str__(self) -> str:
        value_texts = [v if isinstance(v, str) else value_text(v.as_py(), 40) or "NULL" for v in self.values]
        signs = {"<>": "≠", ">=": "≥", "<=": "≤"}
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
            case "between":
                return f"{name} BETWEEN {spark_sql_literal(self.values[0])} AND {spark_sql_literal(self.values[1])}"
        return f"{name} {self.operator} {spark_sql_literal(self.values[0])}"


def spark_sql_literal(value: Any) -> str:
    """An Arrow scalar as a Spark SQL literal."""
    import pyarrow as pa

    kind, written = value.type, value_text(value.as_py(), 1 << 20)
    if written is None:
        return "NULL"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return f"X'{written}'"
    if pa.types.is_date(kind):
        return f"DATE {text_literal(written)}"
    if pa.types.is_timestamp(kind):
        return f"{'TIMESTAMP' if kind.tz else 'TIMESTAMP_NTZ'} {text_literal(written)}"
    if pa.types.is_floating(kind):
        return f"CAST({text_literal(written)} AS DOUBLE)"
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_boolean(kind):
        return written
    return text_literal(written)


def is_comparable(kind: pa.DataType) -> bool:
    """Whether values of this type can be compared and sorted."""
    import pyarrow as pa

    return not (pa.types.is_nested(kind) or pa.types.is_null(kind))


def typed_value(kind: pa.DataType, text: str) -> Any:
    """A typed text as a scalar of the column's type. Raises SqlAnalysisError."""
    import pyarrow as pa

    try:
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            return pa.scalar(bytes.fromhex(text.strip()), kind)
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return pa.scalar(text, kind)
        return pa.scalar(text.strip()).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
        raise SqlAnalysisError(f"{text!r} is not a valid {kind} value", hint="type it as the column shows it") from None


def searchable_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as texts that a search looks through."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from paimon_nb.notebook.grid.texts import display_texts

    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if (
        pa.types.is_nested(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_timestamp(kind)
    ):
        return pa.chunked_array([pa.array(display_texts(chunk), pa.string()) for chunk in column.chunks], pa.string())
    return pc.cast(column, pa.string())
