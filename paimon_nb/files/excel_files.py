"""Excel sheets: the first row has the names of the columns; a column of values of several types is of texts."""

from __future__ import annotations

import datetime as dt
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

        rows = _rows_of_sheet(file, options)[options.get("skip", 0) :]
        while rows and all(v is None for v in rows[-1]):
            rows.pop()
        header = options.get("header", bool(rows) and all(isinstance(v, str) or v is None for v in rows[0]))
        width = max((len(r) for r in rows), default=0)
        names = (
            [str(v) if v is not None else "" for v in rows[0]]
            if header and rows
            else [f"column{i}" for i in range(width)]
        )
        body = rows[1:] if header else rows
        self.notes: list[str] = []
        columns = []
        for i, name in enumerate(names):
            values = [r[i] if i < len(r) else None for r in body]
            column, mixed = _column(values, as_text=bool(options.get("all_varchar")))
            columns.append(column)
            self.notes += [f"{name}: texts, because its values have several types"] if mixed else []
        self._rows = pa.table(columns, names=names)
        self.schema: pa.Schema = self._rows.schema
        self.guess: Mapping[str, str] = {"header": str(bool(header)).lower(), "skip": "0"}
        self.how = f"Excel, {'header in the first row' if header else 'no header'}"

    def read(self, columns: Sequence[int]) -> pa.Table:
        return self._rows.select(list(columns))

    def count(self) -> int:
        return int(self._rows.num_rows)


def _rows_of_sheet(file: Found, options: FileOptions) -> list[tuple[Any, ...]]:
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError as error:
        raise EnvironmentError_(
            "reading .xlsx files needs the Python package openpyxl, which is not installed", hint="pip install openpyxl", package="openpyxl"
        ) from error  # fmt: skip
    book = openpyxl.load_workbook(file.path, read_only=True, data_only=True)
    try:
        sheet = options.get("sheet") or book.sheetnames[0]
        if sheet not in book.sheetnames:
            raise BadOptionValue(f"{file.name} has no sheet {sheet!r}", hint=f"its sheets are {', '.join(book.sheetnames)}", option="sheet", value=sheet)  # fmt: skip
        return [tuple(r) for r in book[sheet].iter_rows(values_only=True)]
    finally:
        book.close()


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
        return pa.array([None if v is None else float(v) for v in values], pa.float64()), False
    if len(kinds) == 1 and not as_text and kinds <= {str, bool, dt.date, dt.time}:
        return pa.array(values), False
    return pa.array([None if v is None else str(v) for v in values], pa.string()), len(kinds) > 1
