"""Reads and writes CSV files, one row a line, with the columns by position: of format tables and of tables without keys.

Source: Paimon 2.1 `format/csv/Csv{Options,Parser,FileReader,FormatWriter}.java`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, CorruptFile, ReadError, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.foreign_texts import WHOLE_NUMBER
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
_TEXTS = ("CHAR", "VARCHAR", "BINARY", "VARBINARY")
"""Types of which the null literal in quotes is a value."""
_INTEGER_BITS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
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
    """The values of one line, unquoted; None for the null literal.

    More is kept than in Java 2.1. The null literal in quotes is text: Spark and DuckDB write empty text as `""` and NULL as
    nothing, where Java reads both as NULL. A quote that is never closed is a part of its value, where Java leaves the value out.
    """
    if options.quote[0] not in line and options.escape[0] not in line:
        return [None if value == options.null_literal else value for value in line.split(options.field_delimiter[0])]
    values, is_closed = _parse_quoted_line(line, options, options.escape[0], quotes_inside=True)
    if not is_closed:  # DuckDB, pandas and Arrow double quotes, and write a backslash before the closing one as it is
        values, is_closed = _parse_quoted_line(line, options, "", quotes_inside=True)
    return values if is_closed else _parse_quoted_line(line, options, options.escape[0], quotes_inside=False)[0]


def _parse_quoted_line(
    line: str, options: CsvOptions, escape: str, quotes_inside: bool
) -> tuple[list[str | None], bool]:
    """The values of a line with quotes or escapes, and whether all quotes are closed. One that is not is a part of its value.

    Args:
        escape: the escape character; '': none.
        quotes_inside: whether a quote after the start of a value begins a quoted part of it, as in Java. If not, only a quote
            at the start does.
    """
    separator, quote, null = options.field_delimiter[0], options.quote[0], options.null_literal
    values: list[str | None] = []
    buffer: list[str] = []
    in_quotes = in_field = was_quoted = False

    def end_value() -> None:
        text = "".join(buffer)
        values.append(None if text == null and not was_quoted else text)
        buffer.clear()

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
        elif c == quote and (quotes_inside or in_quotes or not "".join(buffer).strip()):
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
                was_quoted = True
            in_field = not in_field
        elif c == separator and not in_quotes:
            end_value()
            in_field = was_quoted = False
        else:
            buffer.append(c)
            in_field = True
        position += 1
    if in_quotes:
        buffer.insert(0, quote)
    end_value()
    return values, not in_quotes


def split_records(text: str, options: CsvOptions) -> list[str]:
    """The rows of a text: its lines, and where a value in quotes continues in the next lines, these together.

    Java 2.1 cuts a value at its line break. A quote that is never closed ends with its line, as there, and so does one that only
    another value's quote would close.
    """
    if options.quote[0] not in text:
        return split_lines(text, options.line_delimiter)
    pieces = split_lines_with_ends(text, options.line_delimiter)
    records: list[str] = []
    at = 0
    while at < len(pieces):
        line, end = pieces[at]
        record, last = line, at
        if _quote_is_open(line, options):
            joined = line
            for following in range(at + 1, len(pieces)):
                joined += end + pieces[following][0]
                end = pieces[following][1]
                if options.quote[0] not in pieces[following][0]:
                    continue
                is_open = _quote_is_open(joined, options)
                if is_open is False:
                    record, last = joined, following
                if not is_open:
                    break
        records.append(record)
        at = last + 1
    return records


def _quote_is_open(line: str, options: CsvOptions) -> bool | None:
    """Whether a value that begins with a quote has no closing quote; None: other text follows a closing quote."""
    separator, quote, escape = options.field_delimiter[0], options.quote[0], options.escape[0]
    position, size = 0, len(line)
    is_open: bool | None = False
    while position < size:
        following = line.find(separator, position)
        if line[position] == quote:
            closing = _closing_quote(line, position + 1, quote, escape)
            if closing < 0:
                return True
            following = line.find(separator, closing + 1)
            if line[closing + 1 : following if following >= 0 else size].strip():
                is_open = None
        if following < 0:
            break
        position = following + 1
    return is_open


def _closing_quote(line: str, position: int, quote: str, escape: str) -> int:
    """Where the quoted value ends whose text begins at `position`; -1: it does not."""
    size = len(line)
    while position < size:
        c, following = line[position], line[position + 1 : position + 2]
        if (c == escape and following and following in (quote, escape)) or (c == quote and following == quote):
            position += 1
        elif c == quote:
            return position
        position += 1
    return -1


def format_csv_line(values: Sequence[str | None], options: CsvOptions) -> str:
    """One line with its end. A value with a special character is quoted, and text that equals the null literal."""
    quote, escape = options.quote, options.escape
    special = {options.field_delimiter[0], options.line_delimiter[0], quote[0], escape[0]}
    if options.line_delimiter in LINE_ENDS:  # readers take each of them as the end of a line
        special |= {"\n", "\r"}
    parts = []
    for value in values:
        if value is None:
            parts.append(options.null_literal)
        elif special.isdisjoint(value) and value != options.null_literal:
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


def column_positions(header: Sequence[str | None], names: Sequence[str]) -> dict[str, int]:
    """The position of each column in a file.

    It is the column's own one, as in Java, unless the header has a name of the table elsewhere: then columns are found by their
    names, ignoring case, and one that the header lacks is at its end, where no line has a value.
    """
    found = {name.strip().lower(): i for i, name in reversed(list(enumerate(header))) if name}
    moved = any(found.get(name.lower(), i) != i for i, name in enumerate(names))
    return {name: found.get(name.lower(), len(header)) if moved else i for i, name in enumerate(names)}


class CsvReader:
    """The rows of one file, as one row group. `fields` are all columns of the file, by position or by the names of its header."""

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
        header = parse_csv_line(lines[0], self._options) if self._options.header and lines else []
        self._columns = [f.name for f in fields] if columns is None else list(columns)
        names = [f.name for f in fields]
        positions = column_positions(header, names)
        self._read = [(positions[f.name], f) for f in fields if f.name in self._columns]
        self._count = max(len(header), len(fields))

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
        if longer := [i for i, row in enumerate(rows) if len(row) > self._count]:
            log.warning(
                "%s: row %d has %d values, the table %d columns; the last values are left out; %d such rows",
                self._path, longer[0] + 1, len(rows[longer[0]]), self._count, len(longer),
            )  # fmt: skip
        columns: list[pa.Array] = []
        bad: set[int] = set()
        for position, field in self._read:
            texts = [self._text_of(row, position, field.type) for row in rows]
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

    def _text_of(self, row: Sequence[str | None], position: int, t: DataType) -> str | None:
        text = row[position] if position < len(row) else None
        return None if text == self._options.null_literal and t.root not in _TEXTS else text

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        yield from self.read(groups).to_batches(rows)

    def close(self) -> None:
        self._lines = []


def parse_column(texts: Sequence[str | None], t: DataType) -> tuple[pa.Array, list[int]]:
    """The texts as values of a type, and the positions of those that are not values of it, which are NULL."""
    known = [v for v in texts if v is not None]
    if all(_is_within_range(v, t) for v in known):
        try:
            return column_of_java_texts(texts, t), []
        except _ERRORS:
            pass
    parsed: dict[str, pa.Array | None] = {v: _parse_csv_field(v, t) for v in dict.fromkeys(known)}
    none = pa.nulls(1, arrow_type(t))
    misfits = [i for i, v in enumerate(texts) if v is not None and parsed[v] is None]
    return pa.concat_arrays([none if v is None else (parsed[v] or none) for v in texts]), misfits


def _parse_csv_field(text: str, t: DataType) -> pa.Array | None:
    """One text as a value of a type; None if it is not one."""
    if not _is_within_range(text, t):
        return None
    try:
        column = column_of_java_texts([text], t)
    except _ERRORS:
        return None
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _is_within_range(text: str, t: DataType) -> bool:
    """Whether the text of an integer is one, within its type; True for other types."""
    if t.root not in _INTEGER_BITS:
        return True
    limit, found = 1 << _INTEGER_BITS[t.root], WHOLE_NUMBER.fullmatch(text)
    return found is not None and -limit <= int(found[1]) < limit


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
