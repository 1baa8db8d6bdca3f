"""COPY INTO, as Paimon's Spark has it: files into a table, and rows into files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from paimon_nb.base.errors import BadOptionValue, SqlSyntaxError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.files.options import OPTIONS, file_options, option_name
from paimon_nb.sql.grammar.insert import parse_table_with_hint
from paimon_nb.statements import CopyFormat, CopyIntoLocation, CopyIntoTable, Query, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from paimon_nb.syntax.lexer import Cursor, Token

ON_ERROR = ("ABORT_STATEMENT", "CONTINUE", "SKIP_FILE")
_SWITCH, _LINES, _TEXT, _TEXTS = "TRUE or FALSE", "a number of lines", "a text", "texts in brackets"
_CSV = {"FIELD_DELIMITER": _TEXT, "QUOTE": _TEXT, "ESCAPE": _TEXT, "COMPRESSION": _TEXT}
_NULLS = {"NULL_IF": _TEXTS, "EMPTY_FIELD_AS_NULL": _SWITCH}
READ_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "csv": {**_CSV, **_NULLS, "SKIP_HEADER": _LINES},
    "json": {**_NULLS, "MULTI_LINE": _SWITCH, "COMPRESSION": _TEXT},
    "parquet": {"COMPRESSION": _TEXT},
}
"""Type of files -> the options of reading them -> what a value may be."""
WRITE_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "csv": {**_CSV, "HEADER": _SWITCH},
    "json": {"COMPRESSION": _TEXT, "DATE_FORMAT": _TEXT, "TIMESTAMP_FORMAT": _TEXT},
    "parquet": {"COMPRESSION": _TEXT},
}
"""Type of files -> the options of writing them -> what a value may be."""
_FILE_OPTIONS = (
    "header", "skip", "comment", "delim", "new_line", "encoding", "decimal_separator", "thousands", "dateformat", "timestampformat", "nullstr",
    "null_padding", "strict_mode", "max_line_size", "sample_size", "multiline", "maximum_object_size", "ignore_errors",
)  # fmt: skip
"""Options of files in FROM that COPY INTO has, too, by DuckDB's names; those of the table are no options of a file here."""
_OF_SPARK = {
    "FIELD_DELIMITER": "delim", "QUOTE": "quote", "ESCAPE": "escape", "COMPRESSION": "compression", "MULTI_LINE": "multiline",
}  # fmt: skip


def copy_into(cursor: Cursor, span: Span) -> CopyIntoTable | CopyIntoLocation:
    """COPY INTO t FROM 'path' ..., or COPY INTO 'path' FROM t ..."""
    cursor.expect("COPY", "INTO")
    if cursor.peek().kind == "string":
        return _copy_into_location(cursor, span)
    table = parse_table_with_hint(cursor)
    columns = cursor.names() if cursor.sees("(") else None
    cursor.expect("FROM")
    if cursor.sees("("):
        cursor.refuse("COPY INTO a table reads files, not a query", "INSERT INTO t SELECT ... stores a query's rows")
    path, path_span = _text(cursor, "the path of the files")
    pattern: str | None = None
    pattern_span: Span | None = None
    format: CopyFormat | None = None
    force, on_error = False, ON_ERROR[0]
    for clause in _clauses(cursor, ("FILE_FORMAT", "PATTERN", "FORCE", "ON_ERROR")):
        if clause == "FILE_FORMAT":
            format = _file_format(cursor, READ_OPTIONS, reads=True)
        elif clause == "PATTERN":
            pattern, pattern_span = _text(cursor, "a regular expression")
        elif clause == "FORCE":
            force = _switch(cursor)
        else:
            on_error = _on_error(cursor)
    return CopyIntoTable(
        cursor.text_of(span), span, table, columns, path, path_span, _present(cursor, format),
        pattern, pattern_span, force, on_error,
    )  # fmt: skip


def _copy_into_location(cursor: Cursor, span: Span) -> CopyIntoLocation:
    path, path_span = _text(cursor, "the path to write to")
    cursor.expect("FROM")
    query = _source_query(cursor) if cursor.sees("(") else None
    table = parse_table_with_hint(cursor) if query is None else None
    format: CopyFormat | None = None
    overwrite = False
    for clause in _clauses(cursor, ("FILE_FORMAT", "OVERWRITE")):
        if clause == "FILE_FORMAT":
            format = _file_format(cursor, WRITE_OPTIONS)
        else:
            overwrite = _switch(cursor)
    return CopyIntoLocation(
        cursor.text_of(span), span, path, path_span, table, query, _present(cursor, format), overwrite
    )


def _source_query(cursor: Cursor) -> Query:
    """FROM (query). A statement that changes something is refused."""
    cursor.expect("(")
    first = cursor.at
    span = cursor.balanced()
    inner = cursor.tokens[first : cursor.at]
    if not inner:
        cursor.fail("expected a query between the brackets")
    cursor.expect(")")
    parsed = cursor.statement_of(inner)
    if not isinstance(parsed, Query):
        raise SqlSyntaxError(
            f"COPY INTO a path reads a query, and {inner[0].text.upper()} is none",
            hint="write SELECT, WITH, VALUES or TABLE in the brackets", sql=cursor.text, start=span.start, stop=span.stop,
        )  # fmt: skip
    return parsed


def _clauses(cursor: Cursor, known: tuple[str, ...]) -> Iterator[str]:
    """Each `CLAUSE =` up to the end of the statement, in any order; the caller reads the value."""
    seen: set[str] = set()
    while not cursor.done:
        word = cursor.peek().upper
        if word in seen:
            cursor.refuse(f"{word} is given twice", "keep one of them")
        if word == "FILES":
            cursor.refuse("FILES is not supported", "PATTERN = 'a|b' selects files by their names")
        if word not in known:
            cursor.fail(f"expected {' or '.join(w for w in known if w not in seen) or 'the end'}", expected=known)
        cursor.expect(word, "=")
        seen.add(word)
        yield word


def _present(cursor: Cursor, format: CopyFormat | None) -> CopyFormat:
    if format is None:
        cursor.fail("expected FILE_FORMAT = (TYPE = CSV)", expected=["FILE_FORMAT"])
    return format


def _on_error(cursor: Cursor) -> str:
    mode = cursor.take_one(*ON_ERROR)
    if mode is None:
        cursor.fail(f"expected {_either(ON_ERROR)}", expected=ON_ERROR)
    return mode


def _switch(cursor: Cursor) -> bool:
    word = cursor.take_one("TRUE", "FALSE")
    if word is None:
        cursor.fail("expected TRUE or FALSE", expected=["TRUE", "FALSE"])
    return word == "TRUE"


# -- FILE_FORMAT = (TYPE = CSV, FIELD_DELIMITER = '|', ...)


@dataclass(frozen=True, slots=True)
class _Option:
    """`key = value` or `key = ('a', 'b')`, with the positions of both sides."""

    key: Token
    values: tuple[str, ...]
    value_span: Span

    @property
    def name(self) -> str:
        return self.key.upper

    @property
    def key_span(self) -> Span:
        return Span(self.key.start, self.key.stop)


def _file_format(cursor: Cursor, known: Mapping[str, Mapping[str, str]], reads: bool = False) -> CopyFormat:
    """The options in brackets. `known`: those of each type. `reads`: also those of files in FROM."""
    start = cursor.start
    read = cursor.listed(lambda: _format_option(cursor))
    options = {option.name: option for option in read}
    twice = next((o for i, o in enumerate(read) if o.name in {p.name for p in read[:i]}), None)
    if twice is not None:
        _refuse(cursor, twice.key_span, f"duplicate FILE_FORMAT option {twice.name}", "keep one of them")
    if "TYPE" not in options:
        _refuse(cursor, Span(start, cursor.stop), "FILE_FORMAT has no TYPE", f"TYPE is {_either(known)}")
    type_option = options.pop("TYPE")
    type = type_option.values[0].lower() if len(type_option.values) == 1 else ""
    if type not in known:
        hint = did_you_mean(type, known) or f"TYPE is {_either(known)}"
        _refuse(cursor, type_option.value_span, f"unsupported type of files {' '.join(type_option.values)}", hint)
    of_files = {n: o for n, o in options.items() if reads and n not in known[type] and _file_option(o.name, type)}
    for option in options.values():
        if option.name in of_files:
            _check_file_option(cursor, option)
        else:
            _check_option(cursor, option, known[type], type)
    nulls = options.pop("NULL_IF", None)
    file_options = {_file_option(n, type): _value_of(o) for n, o in of_files.items()}
    own = {n: o.values[0] for n, o in options.items() if n not in of_files}
    if own.get("SKIP_HEADER", "0") not in ("0", "1") and not file_options:
        file_options = {"header": "false"}  # Spark skips at most one line
    return CopyFormat(type, own, nulls.values if nulls else (), file_options)


def _file_option(name: str, type: str) -> str:
    """The name in `files/options.py` of an option that files of a type have; '': none."""
    known = option_name(name)
    return known if known in _FILE_OPTIONS and type in OPTIONS[known].kinds else ""


def _value_of(option: _Option) -> str:
    """The value as text; several are a list."""
    if len(option.values) == 1:
        return option.values[0]
    return f"[{', '.join(text_literal(v) for v in option.values)}]"


def _check_file_option(cursor: Cursor, option: _Option) -> None:
    """Raises SqlSyntaxError for a value that the option does not take."""
    try:
        file_options({option.name: _value_of(option)})
    except BadOptionValue as error:
        _refuse(cursor, option.value_span, error.message, error.hint)


def file_options_of_copy(format: CopyFormat) -> dict[str, Any]:
    """All options of a FILE_FORMAT by the names of `files/options.py`."""
    lines = int(format.options.get("SKIP_HEADER", "0"))
    options: dict[str, Any] = {} if format.type != "csv" else {"header": lines == 1, "null_padding": False, "strict_mode": True}  # fmt: skip
    if lines > 1:
        options["skip"] = lines
    options |= {_OF_SPARK[k]: v for k, v in format.options.items() if k in _OF_SPARK}
    nulls = [*format.null_if, *([""] if format.options.get("EMPTY_FIELD_AS_NULL", "").upper() == "TRUE" else [])]
    if nulls:
        options["nullstr"] = nulls
    return {**options, "format": format.type, **format.file_options}


def _either(types: Iterable[str]) -> str:
    *first, last = (t.upper() for t in types)
    return f"{', '.join(first)} or {last}"


def _format_option(cursor: Cursor) -> _Option:
    if not cursor.peek().upper:
        cursor.fail("expected an option", expected=["TYPE"])
    key = cursor.next()
    cursor.expect("=")
    start, token = cursor.start, cursor.peek()
    if token.text == "(":
        values = tuple(cursor.listed(lambda: _text(cursor, "a text")[0]))
        if not values:
            cursor.fail("expected a text between the brackets")
    elif token.kind == "string":
        values = (_text(cursor, "a text")[0],)
    elif token.is_name or (token.kind == "number" and token.text.isdecimal()):
        values = (cursor.next().name,)
    else:
        cursor.fail("expected a value")
    return _Option(key, values, Span(start, cursor.stop))


def _check_option(cursor: Cursor, option: _Option, known: Mapping[str, str], type: str) -> None:
    """Raises SqlSyntaxError for an option that the type of files does not have, or a value that the option does not take."""
    name, values = option.name, option.values
    if name == "MODE":
        _refuse(cursor, option.key_span, "MODE is not an option of FILE_FORMAT", f"ON_ERROR = {_either(ON_ERROR)}")
    if name not in known:
        hint = did_you_mean(name, [*known, *(o.upper() for o in _FILE_OPTIONS)]) or f"options: {', '.join(known)}"
        _refuse(cursor, option.key_span, f"unsupported FILE_FORMAT option {name} for {type.upper()} files here", hint)
    domain = known[name]
    known_value = {_SWITCH: values[0].upper() in ("TRUE", "FALSE"), _LINES: values[0].isdecimal()}.get(domain, True)
    if (len(values) > 1 and domain != _TEXTS) or not known_value:
        _refuse(cursor, option.value_span, f"{name} is {domain}", None)


def _refuse(cursor: Cursor, span: Span, why: str, hint: str | None) -> NoReturn:
    raise SqlSyntaxError(why, hint=hint, sql=cursor.text, start=span.start, stop=span.stop)


def _text(cursor: Cursor, what: str) -> tuple[str, Span]:
    """A string literal as this statement reads it, and its position."""
    token = cursor.peek()
    if token.kind != "string":
        cursor.fail(f"expected {what} in quotes")
    return cursor.next().unescaped, Span(token.start, token.stop)
