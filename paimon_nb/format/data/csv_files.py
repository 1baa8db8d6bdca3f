"""Reads and writes CSV files, one row a line, with the columns by position: of format tables and of tables without keys.

Source: Paimon 2.1 `format/csv/Csv{Options,Parser,FileReader,FormatWriter}.java`.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, CorruptFile, ReadError, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.json_files import column_of_java_texts, java_texts_of
from paimon_nb.format.data.schema_cast import without_columns
from paimon_nb.format.data.text_codecs import LINE_ENDS, new_encoder, read_text, split_lines, split_lines_with_ends
from paimon_nb.format.types import arrow_schema, arrow_type
from paimon_nb.format.types.arrow_builders import empty_table
from paimon_nb.options import table as opt
from paimon_nb.options.option import parse_bool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.format.types import DataField, DataType
    from paimon_nb.fs import FileIO
    from paimon_nb.options import TableOptions

log = logging.getLogger(__name__)
_KEYS = {
    "field_delimiter": ("csv.field-delimiter", "field-delimiter", "seq", "delimiter", "sep"),
    "line_delimiter": ("csv.line-delimiter", "lineSep", "linesep"),
    "quote": ("csv.quote-character", "quote"),
    "escape": ("csv.escape-character", "escape"),
    "header": ("csv.include-header", "header"),
    "null_literal": ("csv.null-literal", "nullvalue", "nullValue"),
    "mode": ("csv.mode", "mode"),
}
"""By attribute of `CsvOptions`: the option of the table, then the names that Java and Spark also accept."""
CSV_UNSUPPORTED_TYPES = ("ARRAY", "MAP", "MULTISET", "ROW", "VECTOR", "VARIANT", "BLOB", "GEOMETRY", "GEOGRAPHY")
"""Types that CSV files cannot store."""
PERMISSIVE, DROP_MALFORMED, FAIL_FAST = "permissive", "dropmalformed", "failfast"
_INTEGER = re.compile(r"[+-]?\d+")
_INTEGER_BITS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
_FLOAT = re.compile(r"[+-]?(NaN|Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fFdD]?)")
_ERRORS = (ReadError, pa.ArrowException, ValueError, OverflowError)


@dataclass(frozen=True, slots=True)
class CsvOptions:
    """How the lines of a CSV file are divided into values."""

    field_delimiter: str = ","
    line_delimiter: str = "\n"
    quote: str = '"'
    escape: str = "\\"
    header: bool = False
    """Whether the first line has the names of the columns."""
    null_literal: str = ""
    """The text that means NULL."""
    mode: str = PERMISSIVE
    """For values that do not fit their column: NULL there and in the columns after it, no row, or an error."""

    @classmethod
    def of(cls, raw: Mapping[str, str]) -> CsvOptions:
        """The options of a table. Raises BadOptionValue: a character is missing or used twice, or an unknown mode."""
        found: dict[str, Any] = {}
        for attribute, keys in _KEYS.items():
            key = next((k for k in keys if k in raw), None)
            if key is None:
                continue
            value: Any = raw[key]
            if attribute == "header":
                value = parse_bool(value)
            elif attribute == "mode":
                value = value.lower()
            elif not value and attribute != "null_literal":
                raise BadOptionValue(f"{keys[0]} must not be empty", hint="name a character", option=key, value=value)
            found[attribute] = value.replace("\\t", "\t") if attribute == "field_delimiter" else value
        options = cls(**found)
        if options.mode not in (PERMISSIVE, DROP_MALFORMED, FAIL_FAST):
            raise BadOptionValue(
                f"csv.mode {options.mode!r} is unknown", hint=f"one of {PERMISSIVE}, {DROP_MALFORMED}, {FAIL_FAST}",
                option="csv.mode", value=options.mode,
            )  # fmt: skip
        characters = [options.field_delimiter[0], options.quote[0], options.escape[0]]
        if len(set(characters)) < len(characters):
            raise BadOptionValue(
                "delimiter, quote and escape character of CSV must differ",
                hint="'csv.field-delimiter', 'csv.quote-character', 'csv.escape-character'", option="csv.quote-character",
            )  # fmt: skip
        return options


def parse_csv_line(line: str, options: CsvOptions) -> list[str | None]:
    """The values of one line, unquoted. A last value without its closing quote is left out, as in Java."""
    separator, quote, escape = options.field_delimiter[0], options.quote[0], options.escape[0]
    if quote not in line and escape not in line:
        return list(line.split(separator))
    values: list[str | None] = []
    buffer: list[str] = []
    in_quotes = in_field = False
    position, size = 0, len(line)
    while position < size:
        c = line[position]
        following = line[position + 1] if position + 1 < size else ""
        if c == escape:
            if (in_quotes or in_field) and following and following in (quote, escape):
                buffer.append(following)
                position += 1
            else:
                buffer.append(c)  # Java 2.1 leaves it out; Spark and DuckDB, which write it so, keep it
        elif c == quote:
            if (in_quotes or in_field) and following == quote:
                buffer.append(following)
                position += 1
            else:
                if position > 2 and line[position - 1] != separator and following and following != separator:
                    if buffer and not "".join(buffer).strip():
                        buffer.clear()  # white space before the quote
                    else:
                        buffer.append(c)  # a quote inside a value
                in_quotes = not in_quotes
            in_field = not in_field
        elif c == separator and not in_quotes:
            values.append("".join(buffer))
            buffer.clear()
            in_field = False
        else:
            buffer.append(c)
            in_field = True
        position += 1
    if not in_quotes:
        values.append("".join(buffer))
    return values


def split_records(text: str, options: CsvOptions) -> list[str]:
    """The rows of a text: its lines, and where a value in quotes continues in the next lines, these together.

    Java 2.1 cuts a value at its line break. A quote that is never closed ends with its line, as there.
    """
    if options.quote[0] not in text:
        return split_lines(text, options.line_delimiter)
    pieces = split_lines_with_ends(text, options.line_delimiter)
    records: list[str] = []
    at = 0
    while at < len(pieces):
        line, end = pieces[at]
        record, last = line, at
        if _ends_inside_quotes(line, options):
            joined = line
            for following in range(at + 1, len(pieces)):
                joined += end + pieces[following][0]
                end = pieces[following][1]
                if options.quote[0] in pieces[following][0] and not _ends_inside_quotes(joined, options):
                    record, last = joined, following
                    break
        records.append(record)
        at = last + 1
    return records


def _ends_inside_quotes(line: str, options: CsvOptions) -> bool:
    """Whether a value that begins with a quote has no closing quote."""
    separator, quote, escape = options.field_delimiter[0], options.quote[0], options.escape[0]
    position, size = 0, len(line)
    while position < size:
        if line[position] == quote:
            position += 1
            while position < size:
                c = line[position]
                if c == escape and position + 1 < size and line[position + 1] in (quote, escape):
                    position += 1
                elif c == quote:
                    if position + 1 < size and line[position + 1] == quote:
                        position += 1
                    else:
                        break
                position += 1
            else:
                return True
        following = line.find(separator, position)
        if following < 0:
            return False
        position = following + 1
    return False


def format_csv_line(values: Sequence[str | None], options: CsvOptions) -> str:
    """One line with its end. A value with a special character is quoted."""
    quote, escape = options.quote, options.escape
    special = {options.field_delimiter[0], options.line_delimiter[0], quote[0], escape[0]}
    if options.line_delimiter in LINE_ENDS:  # readers take each of them as the end of a line
        special |= {"\n", "\r"}
    parts = []
    for value in values:
        if value is None:
            parts.append(options.null_literal)
        elif special.isdisjoint(value):
            parts.append(value)
        else:
            parts.append(quote + value.replace(escape, escape + escape).replace(quote, escape + quote) + quote)
    return options.field_delimiter.join(parts) + options.line_delimiter


def _check_csv_supports_table(fields: Sequence[DataField], options: TableOptions | None) -> None:
    """Raises UnsupportedFormat for a primary key or row tracking: their files have system columns or only some columns."""
    tracked = options is not None and options.get(opt.ROW_TRACKING_ENABLED)
    if tracked or any(f.name == "_SEQUENCE_NUMBER" for f in fields):
        raise UnsupportedFormat(
            "'csv' cannot be the file format of a table with a primary key or row tracking: CSV files store no column names",
            hint="use 'file.format' = 'parquet', 'orc', 'avro' or 'json'", feature="csv",
        )  # fmt: skip


class CsvReader:
    """The rows of one file, as one row group. `fields` are all columns of the file, by position."""

    def __init__(
        self,
        fs: FileIO,
        path: str,
        fields: Sequence[DataField],
        options: TableOptions | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        """`columns`: the names of the columns to read, in this order; None: all."""
        _check_csv_supports_table(fields, options)
        self._path, self._options = path, CsvOptions.of(options.raw if options is not None else {})
        lines = split_records(read_text(fs, path), self._options)
        self._lines = lines[1:] if self._options.header else lines
        self._columns = [f.name for f in fields] if columns is None else list(columns)
        self._read = [(i, f) for i, f in enumerate(fields) if f.name in self._columns]

    @property
    def num_rows(self) -> int:
        return self.read().num_rows if self._options.mode == DROP_MALFORMED else len(self._lines)

    @property
    def row_groups(self) -> list[int]:
        return [self.num_rows] if self._lines else []

    def read(self, groups: Sequence[int] | None = None) -> pa.Table:
        """All rows, in file order. Raises CorruptFile: in the mode 'failfast', a value does not fit its column."""
        fields = [f for _, f in self._read]
        if not self._lines or groups == []:
            return empty_table(fields).select(self._columns)
        if not fields:
            return without_columns(len(self._lines))
        rows = [parse_csv_line(line, self._options) if line.strip() else [] for line in self._lines]
        columns: list[pa.Array] = []
        bad: set[int] = set()
        for position, field in self._read:
            texts = [self._text_of(row, position) for row in rows]
            if bad and self._options.mode == PERMISSIVE:
                texts = [None if i in bad else text for i, text in enumerate(texts)]
            column, misfits = parse_column(texts, field.type)
            if misfits and self._options.mode == FAIL_FAST:
                line = misfits[0]
                raise CorruptFile(
                    self._path, f"row {line + 1}: {texts[line]!r} is not a value of column {field.name} {field.type.bare()}"
                )  # fmt: skip
            if new := [i for i in misfits if i not in bad]:
                log.warning(
                    "%s: row %d: %r is not a value of column %s %s, so %s; %d such rows. 'csv.mode' = 'failfast' makes it an error",
                    self._path, new[0] + 1, texts[new[0]], field.name, field.type.bare(),
                    "the row is left out" if self._options.mode == DROP_MALFORMED else "it is NULL", len(new),
                )  # fmt: skip
            bad.update(misfits)
            columns.append(column)
        table = pa.Table.from_arrays(columns, schema=arrow_schema(fields, nullable=True)).select(self._columns)
        if bad and self._options.mode == DROP_MALFORMED:
            return table.filter(pa.array([i not in bad for i in range(table.num_rows)]))
        return table

    def _text_of(self, row: Sequence[str | None], position: int) -> str | None:
        text = row[position] if position < len(row) else None
        return None if text == self._options.null_literal else text

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        yield from self.read(groups).to_batches(rows)

    def close(self) -> None:
        self._lines = []


def parse_column(texts: Sequence[str | None], t: DataType) -> tuple[pa.Array, list[int]]:
    """The texts as values of a type, and the positions of those that are not values of it, which are NULL."""
    known = [v for v in texts if v is not None]
    if all(_java_parses_field(v, t) for v in known):
        try:
            return column_of_java_texts(_without_java_number_suffix(texts, t), t), []
        except _ERRORS:
            pass
    parsed: dict[str, pa.Array | None] = {v: _parse_csv_field(v, t) for v in dict.fromkeys(known)}
    none = pa.nulls(1, arrow_type(t))
    misfits = [i for i, v in enumerate(texts) if v is not None and parsed[v] is None]
    return pa.concat_arrays([none if v is None else (parsed[v] or none) for v in texts]), misfits


def _parse_csv_field(text: str, t: DataType) -> pa.Array | None:
    """One text as a value of a type; None if it is not one."""
    if not _java_parses_field(text, t):
        return None
    try:
        column = column_of_java_texts(_without_java_number_suffix([text], t), t)
    except _ERRORS:
        return None
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _java_parses_field(text: str, t: DataType) -> bool:
    """Whether Java parses the text of a CSV field as this type; True for types other than numbers."""
    if t.root in _INTEGER_BITS:
        limit = 1 << _INTEGER_BITS[t.root]
        return _INTEGER.fullmatch(text) is not None and -limit <= int(text) < limit
    if t.root in ("FLOAT", "DOUBLE"):
        return _FLOAT.fullmatch(text.strip()) is not None
    return True


def _without_java_number_suffix(texts: Sequence[str | None], t: DataType) -> Sequence[str | None]:
    """The texts of floating point numbers without the letter that Java allows at the end."""
    if t.root not in ("FLOAT", "DOUBLE"):
        return texts
    return [None if v is None else v.strip() if v.strip()[-1:] in "Ny" else v.strip().rstrip("fFdD") for v in texts]


class CsvWriter:
    """Writes one file."""

    def __init__(self, out: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        self._fields = tuple(fields)
        _check_csv_supports_table(fields, options)
        for f in self._fields:
            if f.type.root in CSV_UNSUPPORTED_TYPES:
                raise UnsupportedFormat(
                    f"column {f.name!r} is {f.type.bare()}, which CSV files cannot store",
                    hint="use 'file.format' = 'parquet', or 'json' for ARRAY, MAP and ROW", column=f.name,
                )  # fmt: skip
        self._options = CsvOptions.of(options.raw)
        self._out, self._encoder = out, new_encoder(compression)
        self._started = False

    @property
    def pending_bytes(self) -> int:
        return 0

    def write(self, table: pa.Table) -> None:
        columns = [java_texts_of(table.column(i), f.type) for i, f in enumerate(self._fields)]
        rows = zip(*columns, strict=True) if columns else [()] * table.num_rows
        lines = [format_csv_line(row, self._options) for row in rows]
        if self._options.header and not self._started:
            lines.insert(0, format_csv_line([f.name for f in self._fields], self._options))
        self._started = True
        self._out.write(self._encoder.compress("".join(lines).encode()))

    def close(self) -> None:
        self._out.write(self._encoder.flush())

    def abort(self) -> None:
        self._encoder = None
