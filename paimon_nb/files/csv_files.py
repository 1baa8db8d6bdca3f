"""CSV files: DuckDB guesses dialect and header, all values are read as texts, and all of them decide the types."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from paimon_nb.base.errors import BadOptionValue, PaimonError, SchemaMismatch, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.files import formats
from paimon_nb.files.column_types import MISSING, SMALL_BYTES, Checks, Decision, TextColumn, Texts, decide_types
from paimon_nb.files.csv_header import is_header
from paimon_nb.files.engine import call, sql_name, sql_text
from paimon_nb.files.engine_reader import EngineReader
from paimon_nb.files.nearest_types import renamed
from paimon_nb.files.text_encoding import Utf8Copies, Utf8File, open_stream
from paimon_nb.files.user_types import engine_type_of, exact_cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.files.engine import Engine
    from paimon_nb.files.locations import Constant, Found
    from paimon_nb.files.options import FileOptions

_SAMPLE_ROWS = 2000
_COLUMNS_AT_ONCE = 200
_LINES_ABOVE = 100
"""Lines in which a header is searched."""
_DELIMITERS = ",;\t|"
_QUOTES_BYTES = 1 << 20
_SNIFFED = (
    "Delimiter", "Quote", "Escape", "NewLineDelimiter", "Comment", "SkipRows", "HasHeader", "Columns", "DateFormat", "TimestampFormat",
)  # fmt: skip
_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", " ": "space", "|": "|"}
_NO_SAMPLE = ("header", "delim", "quote", "escape", "comment", "skip", "nullstr", "decimal_separator", "thousands", "dateformat",
              "timestampformat", "null_padding", "strict_mode", "ignore_errors", "max_line_size", "names", "sample_size", "new_line")  # fmt: skip
_LENIENT: tuple[Mapping[str, object], ...] = (
    {}, {"null_padding": True}, {"strict_mode": False}, {"strict_mode": False, "null_padding": True},
    {"null_padding": True, "quote": "", "escape": ""}, {"strict_mode": False, "null_padding": True, "max_line_size": 1 << 28},
)  # fmt: skip
"""What is tried in order if a file breaks the rules of CSV."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file is split into cells, and what DuckDB takes its columns for."""

    delimiter: str
    quote: str
    escape: str
    new_line: str
    comment: str
    skip: int
    header: bool
    columns: tuple[tuple[str, str], ...]
    """Names and types."""
    date_format: str
    timestamp_format: str
    lenient: tuple[tuple[str, object], ...] = ()
    """Options for files that break the rules."""
    unquoted: bool = False
    """Whether the sample has no quotation marks, so that those of later lines may be letters."""


class CsvReader(EngineReader):
    """Reads CSV files of one reference, combined by the names of their columns."""

    def __init__(self, files: Sequence[Found], options: FileOptions) -> None:
        super().__init__()
        self._options, self._copies, self._files = options, Utf8Copies(), files
        self._size = sum(f.size for f in files)
        self._delimiters: dict[str, str] = {}
        """Delimiters that are not the engine's guess, by path."""
        self._sources = [self._utf8(f) for f in files]
        with self._engine() as engine:
            self._dialects = dialects = [self._dialect(engine, f, s) for f, s in zip(files, self._sources, strict=True)]
            self._relation, self._names = self._combined(files, dialects)
            self.notes += self._renamed(engine, self._sources[0], dialects[0])
            self._user_types: dict[str, str] = {}
            self._decisions = self._types(engine, dialects)
            self._check_user_types(engine)
            self._check_one_line_a_row(engine)
            self._names += self._constants
            self._decisions += [Decision(t, sql_name(n)) for n, t in self._constants.items()]
            self.schema = self._schema_of_columns(engine)
        self.how = self._described(dialects)
        self.guess = self._guessed(dialects[0])
        self.notes += [f"{n}: {d.note}" for n, d in zip(self._names, self._decisions, strict=True) if d.note]

    # -- guess

    def _utf8(self, file: Found) -> Utf8File:
        compression = self._options.get("compression") or formats.compression_of(file.name)
        known = None if compression in ("none", "auto", "uncompressed") else compression
        return self._copies.utf8(file.path, known, self._options.get("encoding"))

    def _dialect(self, engine: Engine, file: Found, source: Utf8File) -> Dialect:
        """The dialect with which all lines of the file can be read: strict, or else the first lenient one."""
        import duckdb

        first: duckdb.Error | None = None
        for lenient in _LENIENT:
            if any(k in self._options for k in lenient):
                continue
            try:
                return self._readable(engine, file, source, lenient)
            except duckdb.Error as error:
                if "nvalid unicode" in str(error):
                    raise
                first = first or error
        assert first is not None
        raise first

    def _readable(self, engine: Engine, file: Found, source: Utf8File, lenient: Mapping[str, object]) -> Dialect:
        import duckdb

        dialect = self._sniffed(engine, file, source, lenient)
        if not lenient and self._skips_rows(source, dialect):
            padded = self._sniffed(engine, file, source, {"null_padding": True})
            padded = self._below_other_lines(engine, file, source, padded)
            if padded.skip < dialect.skip and len(padded.columns) >= len(dialect.columns):
                dialect = padded
        if not lenient and self._may_be_padded(engine, source, dialect):
            padded = self._sniffed(engine, file, source, {"null_padding": True})
            other = self._other_delimiter(source, padded)
            if other:  # the engine found a letter of the values
                self._delimiters[source.path] = other
                return self._dialect(engine, file, source)
            if len(padded.columns) > 1:
                dialect = self._below_other_lines(engine, file, source, padded)
        try:
            return self._for_all_lines(engine, source, dialect)
        except duckdb.Error:
            if not dialect.unquoted:
                raise
            return self._for_all_lines(engine, source, replace(dialect, quote="", escape=""))

    def _for_all_lines(self, engine: Engine, source: Utf8File, dialect: Dialect) -> Dialect:
        """The dialect, with columns for values of lines that are longer than those of the sample. Raises duckdb.Error: a line breaks it."""
        import duckdb

        for _ in range(_LONGER_LINES):
            try:
                self._check_lines(engine, source, dialect)
                return dialect
            except duckdb.Error as error:
                longer = _COUNTS.search(str(error))
                own = len(dialect.columns)
                padded = self._options.get("null_padding") or ("null_padding", True) in dialect.lenient
                if not longer or int(longer[2]) <= own or not padded:
                    raise
                more = tuple((f"column{i}", "BIGINT") for i in range(own, int(longer[2])))
                dialect = replace(dialect, columns=(*dialect.columns, *more))
        self._check_lines(engine, source, dialect)
        return dialect

    def _check_lines(self, engine: Engine, source: Utf8File, dialect: Dialect) -> None:
        """Raises duckdb.Error: a line of the file breaks the dialect, or has more values than columns."""
        import duckdb

        engine.rows(f"SELECT count(COLUMNS(*)) FROM {self._call([source.path], dialect)}")
        if ("strict_mode", False) in dialect.lenient:  # the engine leaves out values without a column
            more = ("\0", "VARCHAR")
            longer = replace(
                dialect, columns=(*dialect.columns, more), lenient=(*dialect.lenient, ("null_padding", True))
            )
            ((count,),) = engine.rows(f"SELECT count({sql_name(more[0])}) FROM {self._call([source.path], longer)}")
            if count:
                raise duckdb.InvalidInputException(f"Expected Number of Columns: {len(dialect.columns)} Found: {len(longer.columns)}")  # fmt: skip
            if not dialect.comment and "quote" not in self._options and self._loses_text(engine, source, dialect):
                raise duckdb.InvalidInputException("text after a quotation mark is lost")

    def _loses_text(self, engine: Engine, source: Utf8File, dialect: Dialect) -> bool:
        """Whether the values have fewer letters than the file: the engine leaves out what it cannot assign to a value."""
        marks = "".join({dialect.delimiter, dialect.quote, dialect.escape, *" \t\r\n"})
        with self._opened(source) as stream:
            for _ in range(dialect.skip):
                stream.readline()
            written = sum(len(line.translate(None, marks.encode())) for line in stream)
        whole = self._call([source.path], replace(dialect, header=False))
        columns = ", ".join(f"sum(strlen(translate({sql_name(n)}, {sql_text(marks)}, '')))" for n, _ in dialect.columns)
        (sums,) = engine.rows(f"SELECT {columns} FROM {whole}")
        return sum(int(n or 0) for n in sums) < written

    def _may_be_padded(self, engine: Engine, source: Utf8File, dialect: Dialect) -> bool:
        """Whether the file is one column only because some lines have fewer or more cells than others."""
        if len(dialect.columns) != 1 or "delim" in self._options or "null_padding" in self._options:
            return False
        name = dialect.columns[0][0]
        head = [
            name,
            *(str(r[0] or "") for r in engine.rows(f"SELECT * FROM {self._call([source.path], dialect)} LIMIT 20")),
        ]
        return any(sum(d in line for line in head) * 2 > len(head) for d in _DELIMITERS) and len(head) > 1

    def _other_delimiter(self, source: Utf8File, padded: Dialect) -> str:
        """The delimiter that the header has several times, if it has that of a dialect never; '': none."""
        header = self._first_lines(source, padded.skip + 1)[-1].decode(errors="replace")
        if padded.delimiter in header or source.path in self._delimiters:
            return ""
        best = max(_DELIMITERS, key=header.count)
        return best if header.count(best) > 1 else ""

    def _skips_rows(self, source: Utf8File, dialect: Dialect) -> bool:
        """Whether the lines that the engine skips begin with one that has half of the columns at least: a header above short rows."""
        if "skip" in self._options or "null_padding" in self._options or not dialect.skip:
            return False
        above = self._first_lines(source, min(dialect.skip, _LINES_ABOVE))
        lines = [line.decode(errors="replace").strip() for line in above]
        first = next((x for x in lines if x and not (dialect.comment and x.startswith(dialect.comment))), "")
        cells = first.count(dialect.delimiter) + 1
        return cells > 1 and len(dialect.columns) <= 2 * cells

    def _below_other_lines(self, engine: Engine, file: Found, source: Utf8File, padded: Dialect) -> Dialect:
        """The dialect without the blank lines and titles above the header, which the engine takes for short rows."""
        import duckdb

        if "skip" in self._options or padded.skip:
            return padded
        lines = self._first_lines(source, _LINES_ABOVE)
        above = next((i for i, line in enumerate(lines) if padded.delimiter.encode() in line), 0)
        if not above:
            return padded
        if padded.header and not any(line.strip() for line in lines[:above]):
            return replace(padded, skip=above)
        try:
            below = self._sniffed(engine, file, source, {"null_padding": True, "skip": above, "delim": padded.delimiter})  # fmt: skip
        except duckdb.Error:
            return padded
        return below if below.header and len(below.columns) >= len(padded.columns) else padded

    def _sniffed(self, engine: Engine, file: Found, source: Utf8File, lenient: Mapping[str, object]) -> Dialect:
        settings = {k: self._options.get(k) for k in _NO_SAMPLE if k in self._options} | dict(lenient)
        if "delim" not in settings and formats.ending_of(file.name) in formats.DELIMITERS:
            settings["delim"] = formats.DELIMITERS[formats.ending_of(file.name)]
        if source.path in self._delimiters:
            settings.setdefault("delim", self._delimiters[source.path])
        settings.setdefault("allow_quoted_nulls", False)
        dialect = self._sniff(engine, source, settings, lenient)
        if "header" not in settings and not dialect.header and self._has_words_as_header(engine, source, dialect):
            dialect = self._sniff(engine, source, {**settings, "header": True}, lenient)
        return dialect

    def _sniff(
        self, engine: Engine, source: Utf8File, settings: Mapping[str, object], lenient: Mapping[str, object]
    ) -> Dialect:
        columns = ", ".join(_SNIFFED)
        (row,) = engine.rows(f"SELECT {columns} FROM {call('sniff_csv', [source.path], settings)}")
        delimiter, quote, escape, new_line, comment, skip, header, found, date, timestamp = row
        without = {"(empty)": ""}
        quote, escape, comment = (without.get(t, t) for t in (quote, escape, comment))
        if comment and skip and "skip" not in settings and self._begins_with_comments(source, comment, int(skip)):
            # The engine may count them twice, and skip the header.
            whole = self._sniffed_or_none(engine, source, {**settings, "skip": 0, "comment": comment}, lenient)
            if whole is not None and len(whole.columns) >= len(found):
                return whole
        unquoted = not quote and "quote" not in settings and not self._has_quotes_at_start(source)
        if unquoted:  # a quotation mark may come after the sample
            quote = escape = '"'
        return Dialect(
            without.get(delimiter, delimiter), quote, escape or quote, new_line, comment, int(skip), bool(header),
            tuple((c["name"], c["type"]) for c in found), date or "", timestamp or "", tuple(lenient.items()), unquoted,
        )  # fmt: skip

    def _sniffed_or_none(
        self, engine: Engine, source: Utf8File, settings: Mapping[str, object], lenient: Mapping[str, object]
    ) -> Dialect | None:
        import duckdb

        try:
            return self._sniff(engine, source, settings, lenient)
        except duckdb.Error:
            return None

    def _begins_with_comments(self, source: Utf8File, comment: str, lines: int) -> bool:
        return all(line.startswith(comment.encode()) for line in self._first_lines(source, lines))

    def _first_lines(self, source: Utf8File, count: int) -> list[bytes]:
        """So many lines, the last ones empty if the file has fewer."""
        with self._opened(source) as stream:
            return [stream.readline() for _ in range(count)]

    def _opened(self, source: Utf8File) -> BinaryIO:
        compression = self._options.get("compression") or formats.compression_of(source.path)
        return open_stream(Path(source.path), None if compression == "none" else compression)

    def _has_quotes_at_start(self, source: Utf8File) -> bool:
        """Whether DuckDB saw quotation marks in its sample and did not take them for such."""
        with self._opened(source) as stream:
            return b'"' in stream.read(_QUOTES_BYTES)

    def _has_words_as_header(self, engine: Engine, source: Utf8File, dialect: Dialect) -> bool:
        rows = engine.rows(f"SELECT * FROM {self._call([source.path], dialect)} LIMIT {_SAMPLE_ROWS}")
        return bool(rows) and is_header(rows[0], rows[1:])

    def _renamed(self, engine: Engine, source: Utf8File, dialect: Dialect) -> list[str]:
        """What is said about names that the engine changed because they are equal, or missing."""
        if not dialect.header or not any(_NUMBERED.search(n) for n, _ in dialect.columns):
            return []
        rows = engine.rows(f"SELECT * FROM {self._call([source.path], replace(dialect, header=False))} LIMIT 1")
        cells = [(cell or "").strip() for cell in rows[0]] if rows else []
        return [
            renamed(i, cell, name)
            for i, (cell, (name, _)) in enumerate(zip(cells, dialect.columns, strict=False))
            if name not in (cell, cell.replace("\x00", "")) and _NUMBERED.search(name)
        ]

    # -- the relation of texts

    def _call(self, paths: Sequence[str], dialect: Dialect, types: Mapping[str, str] | None = None) -> str:
        """The SQL of a FROM clause that reads files as texts."""
        arguments: dict[str, object] = {
            "auto_detect": False, "delim": dialect.delimiter, "quote": dialect.quote, "escape": dialect.escape, "skip": dialect.skip,
            "comment": dialect.comment, "header": dialect.header, "columns": {n: (types or {}).get(n, "VARCHAR") for n, _ in dialect.columns},
            "allow_quoted_nulls": False,
        }  # fmt: skip
        if dialect.new_line in ("\\n", "\\r", "\\r\\n"):
            arguments["new_line"] = dialect.new_line
        formats_of_types = ("dateformat", "timestampformat") if types else ()
        for option in ("nullstr", "ignore_errors", "max_line_size", "null_padding", "strict_mode", *formats_of_types):
            if option in self._options:
                arguments[option] = self._options.get(option)
        arguments |= dict(dialect.lenient)
        if arguments.get("strict_mode"):  # the default; if it is written, no line that ends with \r\n is read
            del arguments["strict_mode"]
        if arguments.get("null_padding"):  # several threads refuse values of several lines
            arguments["parallel"] = False
        return call("read_csv", paths, arguments)

    def _combined(self, files: Sequence[Found], dialects: Sequence[Dialect]) -> tuple[str, list[str]]:
        """The relation of all files, and the names of its columns."""
        names: dict[str, str] = {}
        for dialect in dialects:
            for name, _ in dialect.columns:
                names.setdefault(name.lower(), name)
        self._constants = {n: t for n, t, _ in files[0].constants if n.lower() not in names}
        groups: dict[Any, list[int]] = {}
        for i, (file, dialect) in enumerate(zip(files, dialects, strict=True)):
            columns = tuple(n for n, _ in dialect.columns)
            groups.setdefault((replace(dialect, columns=()), columns, file.constants), []).append(i)
        parts = []
        for (_, _, constants), members in groups.items():
            source = self._call([self._sources[i].path for i in members], dialects[members[0]])
            parts.append(f"SELECT *{constants_sql([c for c in constants if c[0] in self._constants])} FROM {source}")
        return f"({' UNION ALL BY NAME '.join(parts)})", list(names.values())

    # -- types

    def _types(self, engine: Engine, dialects: Sequence[Dialect]) -> list[Decision]:
        guesses: dict[str, str] = {}  # by the file's names
        formats_of: dict[str, str] = {}
        for dialect in dialects:
            for name, type in dialect.columns:
                before = guesses.setdefault(name.lower(), type)
                guesses[name.lower()] = type if before == type else _common_guess(before, type)
                formats_of[name.lower()] = dialect.date_format if type == "DATE" else dialect.timestamp_format
        named = self._names
        self._user_types = self._types_of_the_user()
        signs = self._signs()
        columns = [
            TextColumn(n, guesses[b.lower()], sql_name(n), format=_strptime(guesses[b.lower()], formats_of[b.lower()]), signs=signs)
            for n, b in zip(self._names, named, strict=True)
        ]  # fmt: skip
        if self._options.get("all_varchar"):
            columns = [replace(c, guess="VARCHAR") for c in columns]
        else:
            columns = self._with_guesses_near_words(engine, columns)
        columns = [replace(c, guess="VARCHAR") if c.name.lower() in self._user_types else c for c in columns]
        decisions = decide_types(engine, self._relation, columns, self._size)
        return [self._as_user_wants(c, d) for c, d in zip(columns, decisions, strict=True)]

    def _signs(self) -> tuple[tuple[str, str], ...]:
        """The signs in numbers that the user named, and what replaces them."""
        thousands, decimal = self._options.get("thousands"), self._options.get("decimal_separator")
        signs = [(thousands, "")] if thousands else []
        return (*signs, (decimal, ".")) if decimal and decimal != "." else tuple(signs)

    def _with_guesses_near_words(self, engine: Engine, columns: list[TextColumn]) -> list[TextColumn]:
        """Columns of texts that have words such as NA beside numbers or times: their guess is the type of these."""
        texts = [c for c in columns if c.guess == "VARCHAR"]
        if not texts:
            return columns
        facts = Texts(engine, self._relation, texts, self._size, _SAMPLE_ROWS * 10).facts(texts, _fits_near_words)
        found = {
            c.name: next((t for t in _TYPES_NEAR_WORDS if fits[t]), "VARCHAR")
            for c, fits in zip(texts, facts, strict=True)
            if fits.get("values") and (fits["words"] or c.signs)  # a user who names signs of numbers has numbers
        }
        return [replace(c, guess=found[c.name], format="") if c.name in found else c for c in columns]

    # -- many columns

    def _schema_of_columns(self, engine: Engine) -> pa.Schema:
        positions = range(len(self._names))
        if len(positions) <= _COLUMNS_AT_ONCE:
            return super()._schema_of_columns(engine)
        return self._in_parts(engine, positions, f"(FROM {self._relation} LIMIT 0)").schema

    def read(self, columns: Sequence[int]) -> pa.Table:
        """These columns, by position."""
        if len(columns) <= _COLUMNS_AT_ONCE or self._size > SMALL_BYTES:
            return super().read(columns)
        with self._engine() as engine:
            return self._in_parts(engine, columns, self._relation)

    def _in_parts(self, engine: Engine, columns: Sequence[int], relation: str) -> pa.Table:
        """The columns of a relation, whose texts are read at once: planning a query takes time with the square of its expressions."""
        import pyarrow as pa

        names = [self._names[p] for p in columns]
        texts = engine.table(f"SELECT {', '.join(f'{sql_name(n)} AS {sql_name(n)}' for n in names)} FROM {relation}")
        arrays: list[pa.ChunkedArray] = []
        for first in range(0, len(columns), _COLUMNS_AT_ONCE):
            some = columns[first : first + _COLUMNS_AT_ONCE]
            own = texts.select(range(first, first + len(some)))
            arrays += engine.table(self._select(some, "texts"), texts=own).columns
        return pa.table(arrays, names=names)

    # -- what the user says

    def _types_of_the_user(self) -> dict[str, str]:
        """The engine's type of each column whose type the user gave, by name in lower case."""
        columns = self._options.get("columns")
        if columns is not None:
            if len(columns) != len(self._names):
                raise BadOptionValue(
                    f"columns names {len(columns)} columns, and the file has {len(self._names)}: {', '.join(self._names)}",
                    hint="types = {...} gives the types of some columns", option="columns", value=", ".join(columns),
                )  # fmt: skip
            new_names = ", ".join(map(sql_name, [*columns, *self._constants]))
            self._relation = f"(FROM {self._relation} AS settings({new_names}))"
            self._names = list(columns)
        types = dict(columns or {}) | dict(self._options.get("types") or {})
        known = {n.lower() for n in self._names}
        unknown = next((n for n in types if n.lower() not in known), None)
        if unknown is not None:
            raise BadOptionValue(
                f"types names {unknown!r}, and the file has no such column", hint=f"its columns are {', '.join(self._names)}", option="types", value=unknown,
            )  # fmt: skip
        return {n.lower(): engine_type_of(t) for n, t in types.items()}

    def _as_user_wants(self, column: TextColumn, decision: Decision) -> Decision:
        type = self._user_types.get(column.name.lower())
        if type is None or type == "VARCHAR":
            return decision
        text = column.number if _is_number(type) else column.text
        format = self._options.get("dateformat" if type == "DATE" else "timestampformat", "")
        if format and type in ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_NS"):
            return Decision(type, f"CAST(try_strptime({text}, {sql_text(format)}) AS {type})")
        return Decision(type, exact_cast(text, type))

    def _check_user_types(self, engine: Engine) -> None:
        """Raises SchemaMismatch: a value is not of the type that the user gave; it names file, line, column and value."""
        checked = [(n, d) for n, d in zip(self._names, self._decisions, strict=True) if n.lower() in self._user_types]
        checked = [(n, d) for n, d in checked if d.type != "VARCHAR"]
        if not checked or self._options.get("ignore_errors") or self._options.null_if_bad:
            return
        checks = ", ".join(
            f"min_by({sql_name(n)}, row) FILTER (WHERE {sql_name(n)} IS NOT NULL AND ({d.sql}) IS NULL), min(row) FILTER (WHERE {sql_name(n)} IS NOT NULL AND ({d.sql}) IS NULL)"
            for n, d in checked
        )  # fmt: skip
        (found,) = engine.rows(f"SELECT {checks} FROM (SELECT *, row_number() OVER () AS row FROM {self._relation})")
        for (name, decision), value, row in zip(checked, found[::2], found[1::2], strict=True):
            if row is not None:
                file, line = self._position_of(engine, name, decision.type, row)
                raise SchemaMismatch(
                    f"{file}, {line}, column {name!r}: {value!r} is not a {decision.type}",
                    hint=f"{self._help(decision.type, str(value))}types = {{'{name}': 'STRING'}} keeps the texts, nullstr = '{value}' makes this one NULL, ignore_errors = true makes all of them NULL",
                    file=file, row=row, column=name, value=value, line=int(line.split()[1].replace(",", "")) if line.startswith("line") else None,
                )  # fmt: skip

    def _check_one_line_a_row(self, engine: Engine) -> None:
        """Raises SchemaMismatch: a value has a line break, and the user said that none has."""
        if self._options.get("multiline", True):
            return
        breaks = ", ".join(
            f"min(row) FILTER (WHERE contains({sql_name(n)}, chr(10)) OR contains({sql_name(n)}, chr(13)))"
            for n in self._names
        )
        (found,) = engine.rows(f"SELECT {breaks} FROM (SELECT *, row_number() OVER () AS row FROM {self._relation})")
        for name, row in zip(self._names, found, strict=True):
            if row is not None:
                raise SchemaMismatch(
                    f"{self._files[0].name}, row {row:,}, column {name!r}: a value has several lines",
                    hint="multiline = true reads it, quote = '' takes quotation marks for letters", file=self._files[0].name, row=row, column=name,
                )  # fmt: skip

    def _help(self, type: str, value: str) -> str:
        """The option that reads values of another form."""
        if type == "DATE" and "dateformat" not in self._options:
            return "dateformat = '%d.%m.%Y' names the form of dates, "
        if type.startswith("TIMESTAMP") and "timestampformat" not in self._options:
            return "timestampformat = '%d.%m.%Y %H:%M' names the form of times, "
        own = {"thousands", "decimal_separator"} & set(self._options.values)
        if _is_number(type) and not own and re.search(r"\d[.,' ]\d", value):
            return "decimal_separator = ',' and thousands = '.' name the signs in numbers, "
        return ""

    def _position_of(self, engine: Engine, name: str, type: str, row: int) -> tuple[str, str]:
        """The file and the line of the first value that is not of a type, as 'line 7'; 'row 7' if the engine does not find it."""
        import duckdb

        column = self._names.index(name)
        for file, source, dialect in zip(self._files, self._sources, self._dialects, strict=True):
            ((count,),) = engine.rows(f"SELECT count(*) FROM {self._call([source.path], dialect)}")
            if row > count:
                row -= count
                continue
            own = next((n for n, _ in dialect.columns if n.lower() == name.lower()), None)
            if own is None and len(self._files) == 1:
                own = dialect.columns[column][0]  # the user gave the columns other names
            # The engine does not count lines that are comments.
            if own is not None and not dialect.comment and not {"thousands", "decimal_separator"} & set(self._options.values):  # fmt: skip
                try:
                    engine.rows(f"SELECT count(COLUMNS(*)) FROM {self._call([source.path], dialect, {own: type})}")
                except duckdb.Error as error:
                    found = _LINE.search(str(error))
                    if found:
                        return file.name, f"line {int(found[1]) + self._line_breaks(engine, source, dialect, row):,}"
            return file.name, f"row {row:,}"
        return self._files[0].name, f"row {row:,}"

    def _line_breaks(self, engine: Engine, source: Utf8File, dialect: Dialect, row: int) -> int:
        """The line breaks in the values before a row, which the engine does not count as lines."""
        inside = " + ".join(
            f"coalesce(length({sql_name(n)}) - length(replace({sql_name(n)}, chr(10), '')), 0)"
            for n, _ in dialect.columns
        )
        ((count,),) = engine.rows(
            f"SELECT coalesce(sum({inside}), 0) FROM (FROM {self._call([source.path], dialect)} LIMIT {row - 1})"
        )
        return int(count)

    def _error(self, error: Exception) -> PaimonError:
        return csv_error(error, self._files[0].name)

    def _guessed(self, first: Dialect) -> dict[str, str]:
        """The options with which the first file is read, as texts."""
        source, lenient = self._sources[0], dict(first.lenient)
        formats = {"dateformat": first.date_format, "timestampformat": first.timestamp_format}
        return {
            "header": str(first.header).lower(), "skip": str(first.skip), "comment": first.comment, "delim": first.delimiter, "quote": first.quote,
            "escape": first.escape, "encoding": source.encoding or "utf-8", "decimal_separator": self._options.get("decimal_separator", "."),
            "null_padding": str(bool(lenient.get("null_padding"))).lower(), "strict_mode": str(bool(lenient.get("strict_mode", True))).lower(),
            "all_varchar": "false", "ignore_errors": "false", "multiline": "true", "sample_size": "20480", **{k: v for k, v in formats.items() if v},
        }  # fmt: skip

    def _described(self, dialects: Sequence[Dialect]) -> str:
        first, source = dialects[0], self._sources[0]
        count = f"{len(dialects)} files, " if len(dialects) > 1 else ""
        skipped = f", the first {first.skip} lines skipped" if first.skip > 1 else ", the first line skipped" if first.skip else ""  # fmt: skip
        header = f"header in line {first.skip + 1}" if first.header else "no header"
        parts = [f"{count}CSV, delimiter {_NAMES.get(first.delimiter, first.delimiter)}, {header}{skipped}"]
        if first.quote not in ('"', ""):
            parts.append(f"quotation mark {first.quote}")
        if first.comment:
            parts.append(f"lines after {first.comment} are comments")
        if source.encoding:
            name = "Windows-1252" if source.encoding == "cp1252" else source.encoding
            parts.append(f"{name} (encoding = '...' reads another one)" if source.guessed else name)
        lenient = {k for d in dialects for k, _ in d.lenient}
        if "null_padding" in lenient:
            parts.append("short lines filled with NULL")
        if "strict_mode" in lenient:
            parts.append("quotation marks that break the rules of CSV")
        return ", ".join(parts)


_NUMBERED = re.compile(r"_\d+$|^column\d+$")
"""Names that the engine gives to columns with the name of another one, or with none."""
_TYPES_NEAR_WORDS = ("DOUBLE", "DATE", "TIMESTAMP")


def _fits_near_words(number: int, column: TextColumn) -> Checks:
    """Whether there are such words, and for each type whether it fits all other values."""
    words = ", ".join(map(sql_text, MISSING))
    is_word, value = f"w{number}", f"v{number}"
    fits = {t: f"bool_and(TRY_CAST({value} AS {t}) IS NOT NULL) FILTER (WHERE {value} IS NOT NULL)" for t in _TYPES_NEAR_WORDS}  # fmt: skip
    values = {
        is_word: f"{column.text} IN ({words})",
        value: f"CASE WHEN {column.text} NOT IN ({words}) THEN {column.number} END",
    }
    return values, {"values": f"count({value})", "words": f"count(*) FILTER (WHERE {is_word})", **fits}


def _is_number(type: str) -> bool:
    return type.startswith("DECIMAL") or type in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE")


def _common_guess(a: str, b: str) -> str:
    numbers = {"BIGINT", "HUGEINT", "BIGNUM", "DOUBLE"}
    return "DOUBLE" if {a, b} <= numbers else "VARCHAR"


def _strptime(guess: str, format: str) -> str:
    """The format of a column, if it is not ISO, which the engine casts itself."""
    iso = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%SZ")
    return "" if format in iso or guess not in ("DATE", "TIMESTAMP") else format


def constants_sql(constants: Sequence[Constant]) -> str:
    """The columns with one value in a file, as items that follow a SELECT list."""
    return "".join(
        f", CAST({'NULL' if value is None else sql_text(value)} AS {type}) AS {sql_name(name)}"
        for name, type, value in constants
    )


_LINE = re.compile(r"CSV Error on Line: (\d+)")
_COUNTS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_LONGER_LINES = 20
"""How often a line may be longer than all before it."""


def csv_error(error: Exception, name: str) -> PaimonError:
    """An error of the engine's reader, with the line and the options that help."""
    text = str(error)
    line = _LINE.search(text)
    where = f"{name}, line {line[1]}" if line else name
    expected = _COUNTS.search(text)
    if expected:
        what, hint = f"{expected[2]} values instead of {expected[1]}", "null_padding = true fills short lines, ignore_errors = true leaves such lines out, skip = n leaves out lines above the header"  # fmt: skip
    elif "nvalid unicode" in text or "not utf-8" in text:
        what, hint = "bytes that are not UTF-8", "name the encoding: encoding = 'latin-1'"
    elif "quote" in text.lower():
        what, hint = (
            "a quotation mark that is not closed",
            "quote = '' takes it for a letter, strict_mode = false reads on",
        )
    elif "Maximum line size" in text:
        what, hint = "a line that is too long", "max_line_size = 100000000"
    elif "sniffing file" in text or "dialect" in text:
        what, hint = "no separator splits its lines into the same number of values", "delim = ';' names the separator, skip = n leaves out lines above the header, null_padding = true fills short lines"  # fmt: skip
    else:
        what, hint = text.split("\n", 1)[0].split("Error: ", 1)[-1][:200], "strict_mode = false, ignore_errors = true or columns = {...} may help"  # fmt: skip
    return UnsupportedFormat(f"{where}: {what}", hint=hint, feature="file", **({"line": int(line[1])} if line else {}))
