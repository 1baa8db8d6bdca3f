"""Counts and aggregates of a result for a chart: a bounded number of points, whatever the number of rows."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.notebook.grid.chart_keys import (
    NO_GROUP,
    Keys,
    Numbers,
    category_groups,
    measured,
    number_ranges,
    number_text,
    number_values,
    time_label,
    time_ranges,
    time_values,
)
from paimon_nb.notebook.grid.chart_spec import ChartSpec, axis_role

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.notebook.grid.rows import ArrangedRows

MAX_BARS, MAX_POINTS, MAX_DOTS, MAX_SERIES = 40, 400, 4_000, 8
"""Bars or ranges, points of a line, dots of a scatter chart, colours (the last one holds all other values)."""
_FEW_NUMBERS = 24
"""Different numbers that get a bar each."""
_MAX_DISTINCT = 1_000
"""Different times or numbers that a line shows one by one."""
_COLOUR_RANGES = 6
OTHER = "other"
_TITLES = {"sum": "sum of", "average": "average", "median": "median", "min": "smallest", "max": "largest"}
_TITLES |= {"count": "count of", "distinct": "distinct values of"}
ADDITIVE = ("sum", "count")


@dataclass(frozen=True, slots=True)
class Chart:
    """The points of a chart.

    Args:
        spec: what is drawn. x_title, y_title: the axes.
        keys: the groups on the x axis, in their order; None for a scatter chart.
        series: name and values; per group, None where it has none. Dots of a scatter chart are (x, y).
        ordered: whether the series are ranges, from small to large.
        notes: what the chart leaves out.
    """

    spec: ChartSpec
    x_title: str
    y_title: str
    colour_title: str
    keys: Keys | None
    x_kind: str
    series: tuple[tuple[str, tuple[Any, ...]], ...]
    ordered: bool = False
    notes: tuple[str, ...] = ()
    cut: bool = False
    """Only the largest groups, or a sample of the rows, are drawn."""
    second: tuple[str, tuple[float | None, ...]] | None = None
    """Title and values of the line on the right axis."""
    facet_title: str = ""
    panels: tuple[tuple[str, tuple[tuple[str, tuple[Any, ...]], ...]], ...] = ()
    """The series of each value of the facet's column, on the same axes; (): one chart."""

    @property
    def title(self) -> str:
        """What the chart shows, in one line."""
        by = f" by {self.x_title}" if self.spec.kind != "histogram" else f" per range of {self.x_title}"
        text = f"{self.y_title} and {self.x_title}" if self.spec.kind == "scatter" else self.y_title + by
        text += f", coloured by {self.colour_title}" if self.colour_title else ""
        text += f", with {self.second[0]} at the right" if self.second else ""
        return text + (f", for each {self.facet_title}" if self.facet_title else "")

    @property
    def stacked(self) -> bool:
        """Whether the series add up: sums and counts without negative values."""
        if (
            len(self.series) < 2
            or self.spec.kind not in ("bar", "area", "histogram")
            or self.spec.aggregate not in ADDITIVE
            or self.spec.stack == "beside"
            or self.spec.scale == "log"
        ):
            return False
        return all(v is None or v >= 0 for _, values in self.series for v in values)

    @property
    def alternative(self) -> str:
        """The chart as a sentence, for readers who do not see it."""
        if self.keys is None:
            dots = [d for _, found in self.series for d in found]
            text = f"Scatter chart of {self.title}: {len(dots):,} dots."
            if dots:
                low, high = min(d[1] for d in dots), max(d[1] for d in dots)
                text += f" {self.y_title} from {number_text(low)} to {number_text(high)}."
        else:
            found = [
                (v, label)
                for _, values in self.series
                for v, label in zip(values, self.keys.labels, strict=True)
                if v is not None
            ]
            kind = self.spec.kind.capitalize() + ("" if self.spec.kind == "histogram" else " chart")
            text = (
                f"{kind} of {self.title}: {self.keys.size:,} {'ranges' if self.keys.ends else 'values'} on the x axis."
            )
            if found:
                (low, at_low), (high, at_high) = min(found), max(found)
                text += f" Largest {number_text(high)} at {at_high}, smallest {number_text(low)} at {at_low}."
        if len(self.series) > 1:
            text += " Colours: " + ", ".join(name for name, _ in self.series) + "."
        return " ".join((text, *self.notes))

    def data(self) -> dict[str, Any]:
        """The chart as JSON data for the page."""
        keys = self.keys
        return {
            "title": self.title, "x_title": self.x_title, "y_title": self.y_title, "x_kind": self.x_kind,
            "labels": list(keys.labels) if keys else [], "starts": list(keys.starts) if keys else [],
            "ends": list(keys.ends) if keys else [], "unit": keys.unit if keys else "",
            "series": [{"name": name, "values": [_short_json_point(v) for v in values]} for name, values in self.series],
            "second": self.second and {"title": self.second[0], "values": [_short_json_point(v) for v in self.second[1]]},
            "panels": [
                {"name": name, "series": [{"name": of, "values": [_short_json_point(v) for v in values]} for of, values in series]}
                for name, series in self.panels
            ],
            "ordered": self.ordered, "stacked": self.stacked, "notes": list(self.notes), "alternative": self.alternative,
        }  # fmt: skip


@dataclass(slots=True)
class _Notes:
    texts: list[str] = field(default_factory=list)
    cut: bool = False

    def left_out(self, rows: int, name: str) -> None:
        if rows:
            self.texts.append(f"{rows:,} row{'s' * (rows != 1)} without a value in {name} left out.")


def chart(rows: ArrangedRows, spec: ChartSpec) -> Chart:
    """The points of a chart of the visible rows.

    Args:
        spec: fits the columns (`chart_spec.fitted`).
    """
    notes = _Notes()
    names = rows.table.column_names
    colour_title = "" if spec.colour is None else names[spec.colour]
    colours = _colour_groups(rows, spec.colour, notes)
    if spec.kind == "scatter":
        return _scatter(rows, spec, colours, colour_title, notes)
    column = rows.visible(spec.x)
    keys = _x_axis_groups(column, spec, names[spec.x], notes)
    values, y_title = _values_to_aggregate(rows, spec, notes)
    keys = _largest_categories(keys, spec, values, notes)
    totals = _aggregate_per_group(
        spec.aggregate, keys.codes * colours.size + colours.codes, keys.size * colours.size, values, keys.codes >= 0
    )
    series = _series_of(totals.reshape(keys.size, colours.size), colours, spec, notes)
    if spec.stack == "share" and spec.scale != "log" and spec.aggregate in ADDITIVE:
        y_title = f"share of {y_title} in %"
    drawn = Chart(
        spec, names[spec.x], y_title, colour_title, keys, keys.kind, series, colours.kind != "category", tuple(notes.texts), notes.cut
    )  # fmt: skip
    if spec.second is not None:
        drawn = replace(drawn, second=_second_line(rows, spec, keys, notes), notes=tuple(notes.texts))
    if spec.facet is None:
        return drawn
    facets = _colour_groups(rows, spec.facet, notes)
    codes = (facets.codes * keys.size + keys.codes) * colours.size + colours.codes
    whole = _aggregate_per_group(
        spec.aggregate, codes, facets.size * keys.size * colours.size, values, keys.codes >= 0
    ).reshape(facets.size, keys.size, colours.size)
    panels = tuple((str(facets.labels[i]), _series_of(whole[i], colours, spec, _Notes())) for i in range(facets.size))
    return replace(drawn, facet_title=names[spec.facet], panels=panels, notes=tuple(notes.texts))


def _second_line(
    rows: ArrangedRows, spec: ChartSpec, keys: Keys, notes: _Notes
) -> tuple[str, tuple[float | None, ...]]:
    """Title and values of the line on the right axis: the same aggregate of another column, of all colours together."""
    aggregate = "average" if spec.y is None else spec.aggregate
    values, title = _values_to_aggregate(rows, replace(spec, y=spec.second, aggregate=aggregate), notes)
    totals = _aggregate_per_group(aggregate, keys.codes, keys.size, values, keys.codes >= 0)
    return title, tuple(map(_finite, totals))


def _series_of(
    table: Numbers, colours: Keys, spec: ChartSpec, notes: _Notes
) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """A series for each colour, from the values of each group and colour."""
    if spec.stack == "share" and spec.scale != "log" and spec.aggregate in ADDITIVE and not (table < 0).any():
        with np.errstate(all="ignore"):
            table = 100 * table / np.nansum(table, axis=1, keepdims=True)
    if spec.scale == "log":
        outside = int((table <= 0).sum())
        if outside:
            notes.texts.append(
                f"{outside:,} value{'s' * (outside != 1)} of 0 or less left out: a logarithmic axis has no place for them."
            )
        table = np.where(table > 0, table, np.nan)
    return tuple((str(colours.labels[i]), tuple(map(_finite, table[:, i]))) for i in range(colours.size))


def _x_axis_groups(column: pa.ChunkedArray, spec: ChartSpec, name: str, notes: _Notes) -> Keys:
    """The groups on the x axis."""
    import pyarrow as pa

    found = axis_role(column.type)
    if found == "text":
        return category_groups(column)
    values = measured(column)
    missing = int(np.isnan(values).sum())
    notes.left_out(missing, name)
    if missing == len(values):
        return Keys(np.full(len(values), NO_GROUP), found, ())
    distinct = np.unique(values[~np.isnan(values)])
    bars = spec.kind in ("bar", "histogram")
    if found == "time":
        if not spec.unit and spec.kind != "histogram" and len(distinct) <= (MAX_BARS if bars else _MAX_DISTINCT):
            return time_values(values, distinct)
        return time_ranges(values, spec.unit, MAX_BARS if bars else MAX_POINTS)
    whole = pa.types.is_integer(column.type)
    if spec.kind == "histogram":
        return number_ranges(values, MAX_BARS, whole=whole)
    if spec.kind == "bar":
        if len(distinct) > _FEW_NUMBERS:
            return number_ranges(values, MAX_BARS, whole=whole)
        keys = number_values(values, distinct)
        return Keys(keys.codes, "category", keys.labels, numbers=True)
    return (
        number_values(values, distinct)
        if len(distinct) <= _MAX_DISTINCT
        else number_ranges(values, MAX_POINTS, whole=whole)
    )


def _values_to_aggregate(rows: ArrangedRows, spec: ChartSpec, notes: _Notes) -> tuple[Numbers | None, str]:
    """The values that are aggregated, NaN where there is none; None: rows are counted."""
    if spec.y is None:
        return None, "number of rows"
    column, name = rows.visible(spec.y), rows.table.column_names[spec.y]
    title = f"{_TITLES[spec.aggregate]} {name}"
    if spec.aggregate == "count":
        return np.where(np.asarray(column.is_valid().to_numpy()), 1.0, np.nan), title
    if spec.aggregate == "distinct":
        found = category_groups(column)
        codes = found.codes.astype(np.float64)
        return np.where(np.asarray(column.is_valid().to_numpy()), codes, np.nan), title
    values = measured(column)
    notes.left_out(int(np.isnan(values).sum()), name)
    return values, title


def _aggregate_per_group(aggregate: str, codes: Numbers, groups: int, values: Numbers | None, placed: Any) -> Numbers:
    """One number per group; NaN: no value. `placed`: the rows that have a group."""
    used = placed if values is None else placed & ~np.isnan(values)
    codes = codes[used]
    counts = np.bincount(codes, minlength=groups).astype(np.float64)
    empty = counts == 0
    if values is None or aggregate == "count":
        return np.where(empty, np.nan, counts)
    values = values[used]
    with np.errstate(all="ignore"):  # sums may overflow: no point is drawn for them
        if aggregate in ("sum", "average"):
            sums = np.bincount(codes, values, groups)
            return np.where(empty, np.nan, sums if aggregate == "sum" else sums / counts)
        if aggregate == "distinct":
            kinds = int(values.max(initial=0)) + 1
            pairs = np.unique(codes * kinds + values.astype(np.int64)) // kinds
            return np.where(empty, np.nan, np.bincount(pairs, minlength=groups))
        order = np.lexsort((values, codes))
        values, ends = values[order], np.cumsum(counts).astype(np.int64)
        starts = ends - counts.astype(np.int64)
        out = np.full(groups, np.nan)
        some = ~empty
        if aggregate == "min":
            out[some] = values[starts[some]]
        elif aggregate == "max":
            out[some] = values[ends[some] - 1]
        else:
            middle = starts[some] + ends[some] - 1
            out[some] = values[middle // 2] / 2 + values[(middle + 1) // 2] / 2
    return out


def _largest_categories(keys: Keys, spec: ChartSpec, values: Numbers | None, notes: _Notes) -> Keys:
    """Categories in the order of the axis, and not more than fit: those with the largest values."""
    if keys.kind != "category" or not keys.size:
        return keys
    totals = _aggregate_per_group(spec.aggregate, keys.codes, keys.size, values, keys.codes >= 0)
    size = np.nan_to_num(totals, nan=-np.inf, neginf=-np.inf)
    limit = MAX_BARS if spec.kind == "bar" else MAX_POINTS
    order = np.argsort(-np.abs(np.nan_to_num(totals, nan=0.0)), kind="stable")[:limit]
    if keys.size > limit:
        notes.cut = True
        notes.texts.append(f"The largest {limit} of {keys.size:,} values.")
    if keys.ordered:
        order = np.sort(order)
    elif spec.kind == "bar":
        order = order[np.argsort(-size[order], kind="stable")]
    else:
        order = np.asarray(sorted(order, key=lambda i: keys.labels[int(i)]), np.int64)
    rank = np.full(keys.size, NO_GROUP)
    rank[order] = np.arange(len(order))
    codes, labels = np.where(keys.codes < 0, NO_GROUP, rank[keys.codes]), tuple(str(keys.labels[int(i)]) for i in order)
    return replace(keys, codes=codes, labels=labels)


def _colour_groups(rows: ArrangedRows, of: int | None, notes: _Notes) -> Keys:
    """One group per colour or facet: the most frequent values and 'other', or ranges of numbers and times.

    Args:
        of: position of the column; None: all rows are one group.
    """
    if of is None:
        return Keys(np.zeros(len(rows), np.int64), "category", ("",))
    column, name = rows.visible(of), rows.table.column_names[of]
    keys = category_groups(column)
    if keys.size > MAX_SERIES and axis_role(column.type) != "text":
        return _colour_ranges(column)
    counts = np.bincount(keys.codes, minlength=keys.size)
    limit = keys.size if keys.size <= MAX_SERIES else MAX_SERIES - 1
    top = np.argsort(-counts, kind="stable")[:limit]
    labels = [str(keys.labels[int(i)]) for i in top]
    order = sorted(range(limit), key=lambda i: (labels[i] == "NULL", labels[i]))
    rank = np.full(max(keys.size, 1), limit)
    rank[top[order]] = np.arange(limit)
    labels_of_top = [labels[i] for i in order]
    if keys.size > limit:
        labels_of_top.append(OTHER)
        notes.texts.append(f"The {limit} most frequent of {keys.size:,} values of {name}; the rest is {OTHER!r}.")
    return Keys(rank[keys.codes], "category", tuple(labels_of_top) or ("",))


def _colour_ranges(column: pa.ChunkedArray) -> Keys:
    import pyarrow as pa

    values = measured(column)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    shares = np.arange(_COLOUR_RANGES + 1) / _COLOUR_RANGES
    edges = low * (1 - shares) + high * shares
    codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _COLOUR_RANGES - 1)
    if axis_role(column.type) == "time":
        unit = "day" if high - low > _COLOUR_RANGES * 8.64e7 else "second"
        texts = [time_label(np.datetime64(int(e), "ms"), unit) for e in edges]
    else:
        whole = pa.types.is_integer(column.type) and high - low > _COLOUR_RANGES
        texts = [number_text(round(float(e)) if whole else float(f"{e:.4g}")) for e in edges]
    labels = [f"{a} – {b}" for a, b in pairwise(texts)]
    missing = np.isnan(values)
    codes = np.where(missing, _COLOUR_RANGES, codes)
    return Keys(codes.astype(np.int64), "number", (*labels, "NULL") if missing.any() else tuple(labels))


def _scatter(rows: ArrangedRows, spec: ChartSpec, colours: Keys, colour_title: str, notes: _Notes) -> Chart:
    """The rows as dots; a sample if there are many."""
    assert spec.y is not None
    x, y = measured(rows.visible(spec.x)), measured(rows.visible(spec.y))
    found = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    names = rows.table.column_names
    notes.left_out(len(rows) - len(found), f"{names[spec.x]} or {names[spec.y]}")
    if len(found) > MAX_DOTS:
        notes.cut = True
        notes.texts.append(f"A random sample of {MAX_DOTS:,} of {len(found):,} rows.")
        found = np.sort(np.random.default_rng(0).choice(found, MAX_DOTS, replace=False))
    series = []
    for i in range(colours.size):
        selected = found[colours.codes[found] == i]
        if len(selected) or colours.size == 1:
            series.append((str(colours.labels[i]), tuple(zip(x[selected].tolist(), y[selected].tolist(), strict=True))))
    return Chart(
        spec, names[spec.x], names[spec.y], colour_title, None, axis_role(rows.visible(spec.x).type), tuple(series),
        colours.kind != "category", tuple(notes.texts), notes.cut,
    )  # fmt: skip


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _short_json_point(value: Any) -> Any:
    """A point as short JSON numbers."""
    if isinstance(value, tuple):
        return [float(f"{v:.9g}") if abs(v) < 1e9 else v for v in value]
    return None if value is None else float(f"{value:.15g}")
