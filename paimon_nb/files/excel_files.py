"""Excel sheets: the first row has the names of the columns; a column of values of several types is of texts."""

from __future__ import annotations

import datetime as dt
from contextlib import closing
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, EnvironmentError_

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.files.locations import Found
    from paimon_nb.files.options import FileOptions


class ExcelReader:
    """Reads a sheet of an .xlsx file."""

    def __init__(self, file: Found, options: FileOptions) -> None:
        import pyarrow as pa

        self.notes: list[str] = []
        sheet, rows = self._rows_of_sheet(file, options)
        rows = _without_empty_start(rows[options.get("skip", 0) :])
        header = options.get("header", bool(rows) and all(isinstance(v, str) or v is None for v in rows[0]))
        width = max((len(r) for r in rows), default=0)
        first = [*rows[0], *[None] * (width - len(rows[0]))] if rows else []
        names = (
            [str(v) if v is not None else "" for v in first]
            if header and rows
            else [f"column{i}" for i in range(width)]
        )
        body = rows[1:] if header else rows
        columns = []
        for i, name in enumerate(names):
            values = [r[i] if i < len(r) else None for r in body]
            column, mixed = _column(values, as_text=bool(options.get("all_varchar")))
            columns.append(column)
            self.notes += [f"{name or f'column{i}'}: texts, because its values have several types"] if mixed else []
        self._rows = pa.table(columns, names=names)
        self.schema: pa.Schema = self._rows.schema
        self.guess: Mapping[str, str] = {"sheet": sheet, "header": str(bool(header)).lower(), "skip": "0"}
        self.how = f"Excel, sheet {sheet!r}, {'header in the first row' if header else 'no header'}"

    def _rows_of_sheet(self, file: Found, options: FileOptions) -> tuple[str, list[tuple[Any, ...]]]:
        """The name of the sheet, and its rows; the first sheet with a value if the user names none."""
        with closing(_book(file, data_only=True)) as book:
            named = options.get("sheet")
            if named and named not in book.sheetnames:
                raise BadOptionValue(f"{file.name} has no sheet {named!r}", hint=f"its sheets are {', '.join(book.sheetnames)}", option="sheet", value=named)  # fmt: skip
            name, rows = book.sheetnames[0], list[tuple[Any, ...]]()
            for name in [named] if named else book.sheetnames:
                rows = _rows(book[name])
                if rows:
                    break
            others = [n for n in book.sheetnames if n != name]
        if others and not named:
            self.notes.append(f"sheet = '...' reads another sheet: {', '.join(others[:10])}")
        missing = _formulas_without_values(file, name, rows) if any(v is None for r in rows for v in r) else 0
        if missing:
            self.notes.append(f"{missing:,} formulas have no stored value and are NULL; a spreadsheet program stores them with the file")  # fmt: skip
        return name, rows

    def read(self, columns: Sequence[int]) -> pa.Table:
        return self._rows.select(list(columns))

    def count(self) -> int:
        return int(self._rows.num_rows)


def _book(file: Found, *, data_only: bool) -> Any:
    """An opened workbook, with the values of formulas or with their texts."""
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError as error:
        raise EnvironmentError_(
            "reading .xlsx files needs the Python package openpyxl, which is not installed", hint="pip install openpyxl", package="openpyxl"
        ) from error  # fmt: skip
    return openpyxl.load_workbook(file.path, read_only=True, data_only=data_only)


def _rows(sheet: Any) -> list[tuple[Any, ...]]:
    """The rows up to the last one with a value."""
    if not hasattr(sheet, "iter_rows"):  # a sheet with a chart alone
        return []
    sheet.reset_dimensions()  # other programs store dimensions that are too small
    rows = [tuple(r) for r in sheet.iter_rows(values_only=True)]
    while rows and all(v is None for v in rows[-1]):
        rows.pop()
    return rows


def _without_empty_start(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows from the first one and the first column with a value."""
    first = next((i for i, row in enumerate(rows) if any(v is not None for v in row)), 0)
    starts = (next((i for i, v in enumerate(row) if v is not None), None) for row in rows)
    column = min((s for s in starts if s is not None), default=0)
    return [row[column:] for row in rows[first:]]


def _formulas_without_values(file: Found, sheet: str, rows: Sequence[Sequence[Any]]) -> int:
    with closing(_book(file, data_only=False)) as book:
        written = _rows(book[sheet])
    values = [[*r, *[None] * len(w)] for r, w in zip([*rows, *[()] * len(written)], written, strict=False)]
    return sum(
        isinstance(text, str) and text.startswith("=") and value is None
        for row, texts in zip(values, written, strict=True)
        for value, text in zip(row, texts, strict=False)
    )


def _column(values: Sequence[Any], *, as_text: bool) -> tuple[pa.Array, bool]:
    """The values in one type, and whether they had several."""
    import pyarrow as pa

    kinds = {type(v) for v in values if v is not None}
    if kinds == {dt.datetime} and not as_text:
        if all(v is None or (v.hour, v.minute, v.second, v.microsecond) == (0, 0, 0, 0) for v in values):
            return pa.array([None if v is None else v.date() for v in values], pa.date32()), False
        return pa.array(values, pa.timestamp("us")), False
    if kinds <= {int, float} and kinds and not as_text:
        if kinds == {int} and all(v is None or abs(v) < 1 << 63 for v in values):
            return pa.array(values, pa.int64()), False
        if all(v is None or isinstance(v, float) or int(float(v)) == v for v in values):
            return pa.array([None if v is None else float(v) for v in values], pa.float64()), False
    if len(kinds) == 1 and not as_text and kinds <= {str, bool, dt.date, dt.time}:
        return pa.array(values), False
    return pa.array([None if v is None else str(v) for v in values], pa.string()), len(kinds) > 1
