"""Visible rows grouped by columns, with the values of another column across: a bounded table of aggregates."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.notebook.grid.chart_keys import category_groups
from paimon_nb.notebook.grid.chart_spec import AGGREGATES, default_spec
from paimon_nb.notebook.grid.filters import Condition, is_comparable
from paimon_nb.notebook.grid.query_code import check_unique, filtered_query
from paimon_nb.notebook.grid.rows import rows_sorted_by
from paimon_nb.notebook.grid.texts import display_texts, scalar_text
from paimon_nb.notebook.grid.types import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.notebook.grid.rows import ArrangedRows, Arrangement

MAX_BY, MAX_GROUPS, MAX_ACROSS = 3, 500, 40
"""Grouped columns, rows and columns of a pivot table."""
TOTAL = "total"
_BIGINT = 1 << 63
_NUMERIC = ("sum", "average", "median")
_SQL = {"sum": "sum({})", "average": "avg({})", "median": "median({})", "min": "min({})", "max": "max({})"}
_SQL |= {"count": "count({})", "distinct": "count(DISTINCT {})"}


@dataclass(frozen=True, slots=True)
class PivotSpec:
    """A pivot table of a result; columns are positions.

    Args:
        by: the columns whose values are grouped. across: the column whose values become columns, or None.
        aggregate: one of `AGGREGATES`. measure: the aggregated column, or None: rows are counted.
        order: the sorted column of the pivot table, and whether it is descending; None: by the groups.
    """

    by: tuple[int, ...]
    across: int | None = None
    aggregate: str = "count"
    measure: int | None = None
    order: tuple[int, bool] | None = None


@dataclass(frozen=True, slots=True)
class Pivot:
    """A pivot table.

    Args:
        table: the groups, then one column for each value across, then the total. total: the aggregates of all rows, under these.
        across: an Arrow scalar for each value across. notes: what was left out.
    """

    spec: PivotSpec
    table: pa.Table
    total: tuple[str | None, ...]
    across: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """The table as texts for the page."""
        columns = [display_texts(column) for column in self.table.columns]
        return {
            "heads": self.table.column_names,
            "numbers": [is_number(kind) for kind in self.table.schema.types],
            "rows": [list(row) for row in zip(*columns, strict=True)],
            "total": list(self.total),
            "notes": list(self.notes),
        }


def default_pivot(rows: pa.Table) -> PivotSpec | None:
    """A text with few values as groups, and the column that a chart would draw. None: no column can be grouped."""
    groups = [i for i, kind in enumerate(rows.schema.types) if is_comparable(kind)]
    if not groups:
        return None
    drawn = default_spec(rows)
    if drawn is None or drawn.y is None or drawn.kind == "scatter":
        return PivotSpec((groups[0],))
    by = drawn.x if drawn.kind == "bar" or drawn.colour is None else drawn.colour
    return PivotSpec((by,), None, drawn.aggregate, drawn.y)


def requested_pivot(requested: dict[str, Any], rows: pa.Table) -> PivotSpec | None:
    """The pivot table that a message of the page describes; None: not a valid message."""
    kinds = rows.schema.types

    def is_group(value: Any) -> bool:
        return type(value) is int and 0 <= value < len(kinds) and is_comparable(kinds[value])

    match requested:
        case {"by": [*by], "across": across, "aggregate": str(aggregate), "measure": measure, **more} if (
            1 <= len(by) <= MAX_BY and len({*by, across}) == len(by) + 1 and all(map(is_group, by))
            and (across is None or is_group(across)) and aggregate in AGGREGATES
            and (measure is None or (type(measure) is int and 0 <= measure < len(kinds)))
        ):  # fmt: skip
            order = more.get("order")
            match order:
                case [int(column), bool(descending)] if column >= 0:
                    order = (column, descending)
                case _:
                    order = None
            return _fitted(PivotSpec(tuple(by), across, aggregate, measure, order), rows)
    return None


def _fitted(spec: PivotSpec, rows: pa.Table) -> PivotSpec:
    """With an aggregate that the measured column has."""
    if spec.measure is None:
        return PivotSpec(spec.by, spec.across, "count", None, spec.order)
    kind = rows.schema.types[spec.measure]
    can_be = is_number(kind) if spec.aggregate in _NUMERIC else is_comparable(kind) or spec.aggregate == "count"
    return spec if can_be else PivotSpec(spec.by, spec.across, "count", spec.measure, spec.order)


def pivot(rows: ArrangedRows, spec: PivotSpec) -> Pivot:
    """The pivot table of the visible rows.

    Raises:
        SqlAnalysisError: a sum has more than 38 digits.
    """
    import pyarrow as pa

    table = rows.rows_of(0, len(rows), range(rows.table.num_columns))
    keys = [*spec.by, *([] if spec.across is None else [spec.across])]
    codes = [category_groups(_groupable(table.column(i))) for i in keys]
    groups, across, totals, whole = _aggregates(table, spec, [found.codes for found in codes])
    notes = []
    visible = sorted(groups, key=lambda g: -abs(_size(totals[g])))[:MAX_GROUPS]
    if len(groups) > MAX_GROUPS:
        notes.append(f"The {MAX_GROUPS} groups with the largest values, of {len(groups):,}.")
    wide = sorted(across, key=lambda a: -across[a][1])[:MAX_ACROSS]
    if len(across) > MAX_ACROSS:
        notes.append(
            f"The {MAX_ACROSS} most frequent of {len(across):,} values of {table.column_names[keys[-1]]}; the total is of all."
        )
    firsts = pa.array([groups[g][0] for g in visible], pa.int64())
    names = [table.column_names[i] for i in spec.by]
    columns = [table.column(i).take(firsts) for i in spec.by]
    values_across: list[Any] = []
    if spec.across is not None:
        values = table.column(spec.across).take(pa.array([across[a][0] for a in wide], pa.int64()))
        order = rows_sorted_by(pa.table({"value": values}), [(0, False)])
        wide, values_across = [wide[i] for i in order], [values[int(i)] for i in order]
        names += [_head(value) for value in values_across]
    measured = _texts_of(table, spec)
    if spec.across is not None:
        columns += [measured([groups[g][1].get(a) for g in visible]) for a in wide]
    names.append(TOTAL if spec.across is not None else _title(spec, table))
    columns.append(measured([totals[g] for g in visible]))
    found = pa.table(columns, _distinct(names))
    by = [(i, False) for i in range(len(spec.by))]
    first = [spec.order] if spec.order is not None and spec.order[0] < found.num_columns else []
    found = found.take(pa.array(rows_sorted_by(found, [*first, *by])))
    below = [across[a][2] for a in wide] if spec.across is not None else []
    last = display_texts(measured([*below, whole]))
    return Pivot(spec, found, (*([None] * len(spec.by)), *last), tuple(values_across), tuple(notes))


def _groupable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Zeros of both signs are one group, as in SQL."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column


def _aggregates(table: pa.Table, spec: PivotSpec, codes: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
    """Of the embedded engine: (first row and values across) of each group, (first row, rows, value) of each value across, the value of
    each group, the value of all rows. Values of min and max are numbers of rows."""
    import duckdb
    import pyarrow as pa

    from paimon_nb.session.query.local.instances import connection

    keys = [f"k{i}" for i in range(len(codes))]
    by = keys[: len(spec.by)]
    across = keys[len(by) :] or ["NULL"]
    arrays = {key: pa.array(found) for key, found in zip(keys, codes, strict=True)}
    source = pa.table({**arrays, "r": pa.array(range(table.num_rows), pa.int64())})
    if spec.measure is not None:
        source = source.append_column("v", _measure(table.column(spec.measure), spec.aggregate))
    sets = [[*by, *keys[len(by) :]], by, keys[len(by) :], []]
    text = ", ".join(f"({', '.join(s)})" for s in {tuple(s): s for s in sets}.values())
    query = (
        f"SELECT {', '.join(by)}, {across[0]}, GROUPING({by[0]}), min(r), count(*), {_engine_sql(spec, table)} "
        f"FROM source GROUP BY GROUPING SETS ({text})"
    )
    with connection(()) as engine:
        engine.duckdb.register("source", source)
        try:
            found = engine.duckdb.execute(query).fetchall()
        except duckdb.OutOfRangeException as error:
            raise SqlAnalysisError(
                "a sum has more than 38 digits", hint="take the average, or cast the column to DOUBLE"
            ) from error
    groups: dict[Any, tuple[int, dict[int, Any]]] = {}
    values_across: dict[int, tuple[int, int, Any]] = {}
    totals: dict[Any, Any] = {}
    whole = None
    for *group, a, is_total, first, count, value in found:
        key = tuple(group)
        if is_total and a is None:
            whole = value
        elif is_total:
            values_across[a] = (first, count, value)
        elif a is None:
            totals[key] = value
            groups.setdefault(key, (first, {}))
            groups[key] = (first, groups[key][1])
        else:
            groups.setdefault(key, (first, {}))[1][a] = value
    return groups, values_across, totals, whole


def _measure(column: pa.ChunkedArray, aggregate: str) -> Any:
    """The measured column as the engine reads it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if aggregate == "count":
        return pc.if_else(column.is_valid(), 1, None)
    if aggregate == "distinct":
        return pc.if_else(column.is_valid(), pa.array(category_groups(_groupable(column)).codes), None)
    return column


def _engine_sql(spec: PivotSpec, table: pa.Table) -> str:
    """The aggregate in the engine's dialect: exact for whole numbers and decimals."""
    import pyarrow as pa

    if spec.measure is None:
        return "count(*)"
    kind = table.schema.types[spec.measure]
    match spec.aggregate:
        case "min" | "max":
            return f"arg_{spec.aggregate}(r, v)"
        case "sum" if pa.types.is_decimal(kind):
            return f"sum(v::DECIMAL(38, {kind.scale}))"
        case "sum" if pa.types.is_integer(kind):
            return "sum(v)::DECIMAL(38, 0)"
        case "sum" | "average" | "median":
            return _SQL[spec.aggregate].format("v::DOUBLE")
    return _SQL[spec.aggregate].format("v")


def _texts_of(table: pa.Table, spec: PivotSpec) -> Any:
    """The function that makes an Arrow column of aggregates."""
    import pyarrow as pa

    kind = None if spec.measure is None else table.schema.types[spec.measure]

    def column(values: Sequence[Any]) -> pa.ChunkedArray:
        if spec.measure is not None and spec.aggregate in ("min", "max"):
            return table.column(spec.measure).take(pa.array(values, pa.int64()))
        if spec.aggregate == "sum" and kind is not None and not pa.types.is_floating(kind):
            scale = kind.scale if pa.types.is_decimal(kind) else 0
            fits = pa.types.is_integer(kind) and all(v is None or -_BIGINT <= v < _BIGINT for v in values)
            return pa.chunked_array([pa.array(values, pa.int64() if fits else pa.decimal128(38, scale))])
        if spec.aggregate in ("count", "distinct"):
            return pa.chunked_array([pa.array([v or 0 for v in values], pa.int64())])
        return pa.chunked_array([pa.array(values, pa.float64())])

    return column


def _size(value: Any) -> float:
    found = 0.0 if value is None else float(value)
    return found if found == found else 0.0


def _head(value: Any) -> str:
    return scalar_text(value, 60) or "''" if value.is_valid else "NULL"


def _title(spec: PivotSpec, table: pa.Table) -> str:
    return "rows" if spec.measure is None else f"{spec.aggregate} {table.column_names[spec.measure]}"


def _distinct(names: Sequence[str]) -> list[str]:
    """Names of the columns of a table: one that was used is numbered."""
    out: list[str] = []
    for name in names:
        number, free = 2, name
        while free.lower() in (n.lower() for n in out):
            free, number = f"{name}_{number}", number + 1
        out.append(free)
    return out


def pivot_code(statement: str, arrangement: Arrangement, rows: pa.Table, drawn: Pivot) -> str:
    """A cell that computes the pivot table by SQL.

    Args:
        statement: the query, or a cell with its magic line in front of it. rows: the rows of the result.

    Raises:
        UnsupportedOperation: two columns have the name of a column that is used.
    """
    import pyarrow as pa

    from paimon_nb.sql import quote_if_needed

    spec, names = drawn.spec, rows.column_names
    check_unique({names[i] for i in (*spec.by, spec.across, spec.measure) if i is not None}, rows)
    value = "*" if spec.measure is None else quote_if_needed(names[spec.measure])
    summed = drawn.table.schema.types[len(spec.by) :]
    if (
        spec.measure is not None
        and pa.types.is_integer(rows.schema.types[spec.measure])
        and any(map(pa.types.is_decimal, summed))
    ):
        value = f"CAST({value} AS DECIMAL(38, 0))"  # the sum is no BIGINT
    aggregate = _SQL[spec.aggregate].format(value)
    by = [quote_if_needed(names[i]) for i in spec.by]
    heads = [quote_if_needed(name) for name in drawn.table.column_names]
    selected = list(by)
    for scalar, head in zip(drawn.across, heads[len(by) :], strict=False):
        assert spec.across is not None
        test = Condition(
            spec.across, names[spec.across], "=" if scalar.is_valid else "is null", (scalar,) if scalar.is_valid else ()
        )
        selected.append(f"{aggregate} FILTER (WHERE {test.sql()}) AS {head}")
    selected.append(f"{aggregate} AS {heads[-1]}")
    magic, inner = filtered_query(statement, arrangement, rows)
    order = [] if spec.order is None or spec.order[0] >= len(heads) else [(heads[spec.order[0]], spec.order[1])]
    order += [(name, False) for name in by if name not in [n for n, _ in order]]
    return "\n".join(
        [
            magic,
            f"SELECT {', '.join(selected)}" if len(selected) < 4 else "SELECT " + ",\n       ".join(selected),
            "FROM (",
            textwrap.indent(inner, "  "),
            ") AS rows_of_result",
            f"GROUP BY {', '.join(by)}",
            "ORDER BY " + ", ".join(f"{name}{' DESC' if descending else ''} NULLS LAST" for name, descending in order),
        ]
    )
