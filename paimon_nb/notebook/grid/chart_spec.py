"""What a chart shows: its type, columns and aggregate, with defaults from the types of the columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ("bar", "line", "area", "scatter", "histogram")
AGGREGATES = ("sum", "average", "median", "min", "max", "count", "distinct")
UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
SCALES, STACKS = ("", "log"), ("", "beside", "share")
_OF_ANY_TYPE = ("count", "distinct")
_SAMPLE_ROWS, _SAMPLE_COLUMNS = 1000, 50
_FEW = 8
"""Values of a column that is coloured by default."""
_MANY = 40
"""Values of a column that is not on the x axis by default."""


@dataclass(frozen=True, slots=True)
class ChartSpec:
    """A chart of a result.

    Args:
        kind: one of `KINDS`.
        x: position of the column on the x axis.
        y: position of the column that is aggregated, or None: the rows are counted. Scatter charts draw its values.
        colour: position of the column that splits the marks, or None.
        aggregate: one of `AGGREGATES`.
        unit: one of `UNITS`, for times on the x axis; '' chooses one.
        facet: position of the column with a chart of its own for each value, or None.
        second: position of a number column that is drawn as a line on an axis of its own, at the right, or None.
        scale: 'log' for a logarithmic axis of values, or ''.
        stack: 'beside' draws bars of several colours beside each other, 'share' as parts of 100 %; '' stacks what adds up.
    """

    kind: str
    x: int
    y: int | None = None
    colour: int | None = None
    aggregate: str = "count"
    unit: str = ""
    facet: int | None = None
    scale: str = ""
    stack: str = ""
    second: int | None = None


def axis_role(kind: pa.DataType) -> str:
    """How a column of this type is drawn: 'number', 'time', 'text' or '' (not at all)."""
    import pyarrow as pa

    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "time"
    if (
        pa.types.is_boolean(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_time(kind)
    ):
        return "text"
    return ""


def default_spec(rows: pa.Table) -> ChartSpec | None:
    """A chart that suits the types: time on x, a number on y, a text as bars or colour.

    Returns:
        None: no column can be drawn.
    """
    roles = [axis_role(field.type) for field in rows.schema]
    times, texts = ([i for i, found in enumerate(roles) if found == name] for name in ("time", "text"))
    measures = _measure_columns(rows.schema, roles)
    distinct = _distinct_counts_of_sample(rows, texts[:_SAMPLE_COLUMNS])
    few = next((i for i in texts if 1 < distinct.get(i, 0) <= _FEW), None)
    measure = measures[0] if measures else None
    if times:
        return spec_fitted_to_columns(ChartSpec("line", times[0], measure, few, "sum"), rows.schema)
    if texts:
        x = next((i for i in texts if 1 < distinct.get(i, 0) <= _MANY), texts[0])
        return spec_fitted_to_columns(ChartSpec("bar", x, measure, None, "sum"), rows.schema)
    if len(measures) > 1:
        return spec_fitted_to_columns(ChartSpec("scatter", measures[1], measures[0]), rows.schema)
    return spec_fitted_to_columns(ChartSpec("histogram", measures[0]), rows.schema) if measures else None


def spec_fitted_to_columns(spec: ChartSpec, schema: pa.Schema) -> ChartSpec | None:
    """The chart with the columns that its type can draw; others are replaced or left out.

    Returns:
        None: the result has no column for a chart of this type.
    """
    roles = [axis_role(field.type) for field in schema]
    measured = spec.kind in ("scatter", "histogram")
    x = spec.x
    if not roles[x] or (measured and roles[x] == "text"):
        candidates = [i for i, found in enumerate(roles) if found and not (measured and found == "text")]
        if not candidates:
            return None
        x = candidates[0]
    colour = spec.colour if spec.colour is not None and roles[spec.colour] else None
    unit = spec.unit if roles[x] == "time" and spec.kind != "scatter" else ""
    facet = spec.facet if spec.facet is not None and roles[spec.facet] and spec.kind != "scatter" else None
    second = spec.second if spec.second is not None and roles[spec.second] == "number" else None
    if facet is not None or spec.kind not in ("bar", "line", "area"):
        second = None
    spec = replace(
        spec, second=second, x=x, colour=colour, unit=unit, facet=facet, stack=spec.stack if colour is not None else ""
    )
    if spec.kind == "histogram":
        return replace(spec, y=None, aggregate="count")
    if spec.kind == "scatter":
        y = spec.y
        if y is None or roles[y] != "number":
            numbers = [i for i in _measure_columns(schema, roles) if i != x]
            y = next(iter(numbers), x if roles[x] == "number" else None)
        return None if y is None else replace(spec, y=y)
    if spec.y is None:
        return replace(spec, aggregate="count")
    if roles[spec.y] != "number" and spec.aggregate not in _OF_ANY_TYPE:
        return replace(spec, aggregate="count")
    return spec


def requested_spec(requested: dict[str, Any], columns: int) -> ChartSpec | None:
    """The chart that a message of the page describes; None: not a valid message."""

    def is_column(value: Any, *, optional: bool) -> bool:
        return (optional and value is None) or (type(value) is int and 0 <= value < columns)

    facet, second = requested.get("facet"), requested.get("second")
    scale, stack = requested.get("scale", ""), requested.get("stack", "")
    if (
        not is_column(facet, optional=True)
        or not is_column(second, optional=True)
        or scale not in SCALES
        or stack not in STACKS
    ):
        return None
    match requested:
        case {"kind": str(kind), "x": x, "y": y, "colour": colour, "aggregate": str(aggregate), "unit": str(unit)} if (
            kind in KINDS and aggregate in AGGREGATES and (unit == "" or unit in UNITS) and is_column(x, optional=False)
            and is_column(y, optional=True) and is_column(colour, optional=True)
        ):  # fmt: skip
            return ChartSpec(kind, x, y, colour, aggregate, unit, facet, scale, stack, second)
    return None


def _measure_columns(schema: pa.Schema, roles: list[str]) -> list[int]:
    """Number columns, best first: fractions before whole numbers, keys last."""
    import pyarrow as pa

    def measure_preference(i: int) -> int:
        name = schema.field(i).name.lower()
        if name == "id" or name.endswith(("_id", "_key", "_no")):
            return 2
        return int(pa.types.is_integer(schema.field(i).type))

    return sorted((i for i, found in enumerate(roles) if found == "number"), key=measure_preference)


def _distinct_counts_of_sample(rows: pa.Table, columns: list[int]) -> dict[int, int]:
    """Distinct values of the first rows of these columns."""
    import pyarrow.compute as pc

    sample = rows.slice(0, _SAMPLE_ROWS)
    return {i: int(pc.count_distinct(sample.column(i), mode="all").as_py()) for i in columns}
