"""A chart as Python code: the rows of the result, aggregated with pandas, drawn by Plotly Express."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.notebook.grid.chart import MAX_DOTS, MAX_SERIES, OTHER, Chart
from paimon_nb.notebook.grid.chart_keys import category_groups
from paimon_nb.notebook.grid.chart_spec import axis_role

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.notebook.grid.filters import Condition
    from paimon_nb.notebook.grid.rows import Arrangement

_PANDAS = {"sum": "sum", "average": "mean", "median": "median", "min": "min", "max": "max", "count": "count"}
_PANDAS |= {"distinct": "nunique"}
_LISTED = 12
"""Categories whose order is written out."""
_PERIODS = {
    "second": "s",
    "minute": "min",
    "hour": "h",
    "day": "D",
    "week": "W",
    "month": "M",
    "quarter": "Q",
    "year": "Y",
}


def chart_code(drawn: Chart, rows: pa.Table, arrangement: Arrangement) -> str:
    """Python code that draws the same chart.

    Args:
        rows: the rows of the result. arrangement: its filters and the searched text.

    Raises:
        UnsupportedOperation: two columns have the same name.
    """
    names, spec = rows.column_names, drawn.spec
    used = [i for i in (spec.x, spec.y, spec.colour, spec.facet) if i is not None]
    for i in used:
        if names.count(names[i]) > 1:
            raise UnsupportedOperation(
                f"two columns are named {names[i]!r}", hint="give one of them another name with AS"
            )
    if drawn.second is not None:
        raise UnsupportedOperation(
            "a chart with two axes has no code", hint="choose no right axis, or save the picture"
        )
    lines = ["rows = _paimon.to_pandas()"]
    lines += [f"rows = rows[{_pandas_filter(c, rows)}]" for c in arrangement.filters]
    if arrangement.search:
        text = f"str.contains({arrangement.search!r}, case=False, regex=False)"
        lines.append(f"rows = rows[rows.astype(str).apply(lambda column: column.{text}).any(axis=1)]")
    lines += _pandas_conversions(rows, used)
    for of in dict.fromkeys((spec.colour, spec.facet)):
        if of is not None:
            lines += _colour_lines(of, rows)
    if spec.kind == "scatter":
        lines += [f"rows = rows.sample({MAX_DOTS}, random_state=0)"] if drawn.cut else []
        lines.append(_plotly_figure_line("scatter", "rows", drawn, names[spec.x], names[spec.y or 0]))
    else:
        lines += _pandas_aggregation_lines(drawn, rows)
        lines.append(
            _plotly_figure_line(
                {"histogram": "bar"}.get(spec.kind, spec.kind), "points", drawn, names[spec.x], drawn.y_title
            )
        )
    body = "\n".join([*lines, "figure"])
    imports = ["import plotly.express as px"]
    imports += ["import pandas as pd"] if "pd." in body else []
    imports += ["import datetime"] if "datetime.date" in body else []
    imports += ["from decimal import Decimal"] if "Decimal(" in body else []
    return "\n".join([*imports, "", body])


def _pandas_filter(condition: Condition, rows: pa.Table) -> str:
    """A filter as a condition on the pandas frame."""
    column = f"rows[{condition.name!r}]"
    if rows.column_names.count(condition.name) > 1:
        raise UnsupportedOperation(
            f"two columns are named {condition.name!r}", hint="give one of them another name with AS"
        )
    values = [_python_literal(v) for v in condition.values]
    match condition.operator:
        case "in":
            test = f"{column}.isin([{', '.join(_python_literal(v) for v in condition.values if v.is_valid)}])"
            return test if all(v.is_valid for v in condition.values) else f"{test} | {column}.isna()"
        case "is null":
            return f"{column}.isna()"
        case "is not null":
            return f"{column}.notna()"
        case "contains":
            return f"{column}.astype(str).str.contains({values[0]}, case=False, regex=False) & {column}.notna()"
        case "between":
            return f"{column}.between({values[0]}, {values[1]})"
        case "<>":
            return f"({column} != {values[0]}) & {column}.notna()"
    return f"{column} {'==' if condition.operator == '=' else condition.operator} {values[0]}"


def _python_literal(value: Any) -> str:
    """A value of a filter as Python code."""
    import datetime

    plain = value if isinstance(value, str) else value.as_py()
    if isinstance(plain, datetime.datetime):
        return f"pd.Timestamp({str(plain)!r})"
    return repr(plain)


def _pandas_conversions(rows: pa.Table, used: list[int]) -> list[str]:
    """Decimals as floating-point numbers, dates as times of pandas."""
    import pyarrow as pa

    out = []
    for i in dict.fromkeys(used):
        kind, name = rows.schema.field(i).type, rows.column_names[i]
        if pa.types.is_decimal(kind):
            out.append(f"rows[{name!r}] = rows[{name!r}].astype(float)")
        elif pa.types.is_date(kind):
            out.append(f"rows[{name!r}] = pd.to_datetime(rows[{name!r}])")
        elif pa.types.is_timestamp(kind) and kind.tz:
            out.append(f"rows[{name!r}] = rows[{name!r}].dt.tz_convert('UTC').dt.tz_localize(None)")
    return out


def _colour_lines(of: int, rows: pa.Table) -> list[str]:
    """Rare values of the colour's or facet's column as 'other', or ranges of numbers."""
    name, size = rows.column_names[of], category_groups(rows.column(of)).size
    if size > MAX_SERIES and axis_role(rows.schema.field(of).type) != "text":
        return [f"rows[{name!r}] = pd.cut(rows[{name!r}], {MAX_SERIES - 2}).astype(str)"]
    lines = [f"rows[{name!r}] = rows[{name!r}].fillna('NULL').astype(str)"] if rows.column(of).null_count else []
    if size > MAX_SERIES:
        lines += [
            f"frequent = rows[{name!r}].value_counts().index[:{MAX_SERIES - 1}]",
            f"rows[{name!r}] = rows[{name!r}].where(rows[{name!r}].isin(frequent), {OTHER!r})",
        ]
    return lines


def _pandas_aggregation_lines(drawn: Chart, rows: pa.Table) -> list[str]:
    """The aggregate per group of the x axis."""
    import pyarrow as pa

    spec, keys, names = drawn.spec, drawn.keys, rows.column_names
    assert keys is not None
    x, lines = names[spec.x], []
    if keys.unit and keys.width is not None:
        lines.append(f"rows[{x!r}] = rows[{x!r}].dt.year // {keys.width} * {keys.width}")
    elif keys.unit and keys.ends:
        lines.append(f"rows[{x!r}] = rows[{x!r}].dt.to_period({_PERIODS[keys.unit]!r}).dt.start_time")
    elif keys.width is not None:
        # Plotly centres a bar on its number: the middle of the range, of whole numbers that of its first and last one.
        middle = (keys.width - 1) / 2 if pa.types.is_integer(rows.schema.field(spec.x).type) else keys.width / 2
        shift = f" + {middle:g}" if middle else ""
        lines.append(f"rows[{x!r}] = rows[{x!r}] // {keys.width!r} * {keys.width!r}{shift}")
    elif keys.numbers:
        lines.append(f"rows = rows.dropna(subset=[{x!r}])")
    elif keys.kind == "category":
        lines.append(f"rows[{x!r}] = rows[{x!r}].fillna('NULL').astype(str)" if rows.column(spec.x).null_count else "")
    by = list(dict.fromkeys([x, *(names[i] for i in (spec.colour, spec.facet) if i is not None)]))
    y = drawn.y_title
    if spec.y is None:
        lines.append(f"points = rows.groupby({by!r}).size().reset_index(name={y!r})")
    else:
        aggregate = f"rows.groupby({by!r})[{names[spec.y]!r}].{_PANDAS[spec.aggregate]}()"
        lines.append(f"points = {aggregate}.reset_index(name={y!r})")
    if drawn.cut:
        lines += [
            f"largest = points.groupby({x!r})[{y!r}].sum().abs().nlargest({keys.size}).index",
            f"points = points[points[{x!r}].isin(largest)]",
        ]
    return [line for line in lines if line]


def _plotly_figure_line(function: str, frame: str, drawn: Chart, x: str, y: str) -> str:
    options = [frame, f"x={x!r}", f"y={y!r}"]
    if drawn.colour_title:
        options.append(f"color={drawn.colour_title!r}")
    if function == "bar" and not drawn.stacked and drawn.colour_title:
        options.append("barmode='group'")
    if drawn.facet_title:
        options += [f"facet_col={drawn.facet_title!r}", "facet_col_wrap=3"]
    if drawn.spec.scale == "log":
        options.append("log_y=True")
    if drawn.spec.stack == "share" and drawn.stacked and function == "area":
        options.append("groupnorm='percent'")
    options.append(f"title={drawn.title!r}")
    figure = f"figure = px.{function}({', '.join(options)})"
    if drawn.keys is not None and drawn.x_kind == "category":
        order = "'category ascending'" if drawn.keys.numbers else "'total descending'"
        if not drawn.keys.numbers and drawn.keys.size <= _LISTED:
            order = f"'array', categoryarray={list(drawn.keys.labels)!r}"
        figure += f"\nfigure.update_xaxes(type='category', categoryorder={order})"
    if drawn.spec.stack == "share" and drawn.stacked and function == "bar":
        figure += "\nfigure.update_layout(barnorm='percent')"
    return figure
