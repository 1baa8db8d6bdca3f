"""Table functions that read files, with DuckDB's names: `read_csv('f.csv', header = false)`, `read_parquet(['a.parquet', 'b.parquet'])`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Cursor

FILE_FUNCTIONS = {
    "read_csv": "csv", "read_csv_auto": "csv", "read_json": "json", "read_json_auto": "json", "read_ndjson": "json",
    "read_parquet": "parquet", "parquet_scan": "parquet", "read_orc": "orc", "read_avro": "avro", "read_arrow": "arrow",
    "read_xlsx": "xlsx", "read_text": "text",
}  # fmt: skip
"""Function -> format."""
_ASSIGNMENTS = ("=", ":=", "=>")


def file_arguments(cursor: Cursor, function: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The paths and options in the brackets after a function. Values of options are kept as text; texts lose their quotes."""
    paths: list[str] = []
    options: dict[str, str] = {}
    cursor.expect("(")
    while not cursor.sees(")"):
        if cursor.peek().is_name and _assignment(cursor):
            name = cursor.name()
            cursor.at += _assignment(cursor, ahead=0)
            options[name.lower()] = _value(cursor)
        elif not paths:
            paths += _paths(cursor)
        else:
            cursor.fail("an option needs a name", hint=f"{function}('f.csv', header = true)")
        if not cursor.take(","):
            break
    cursor.expect(")")
    if not paths:
        cursor.fail(f"{function} needs the path of a file", hint=f"{function}('sales.csv')")
    if FILE_FUNCTIONS[function] != "json" or "format" not in options:
        options["format"] = "newline_delimited" if function == "read_ndjson" else FILE_FUNCTIONS[function]
    return tuple(paths), options


def _assignment(cursor: Cursor, ahead: int = 1) -> int:
    """The number of tokens of `=`, `:=` or `=>` there; 0: another token."""
    text = cursor.peek(ahead).text
    if text in _ASSIGNMENTS:
        return 1
    return 2 if text == ":" and cursor.peek(ahead + 1).text == "=" else 0


def _paths(cursor: Cursor) -> list[str]:
    if cursor.peek().kind == "string":
        return [cursor.next().value]
    cursor.expect("[")
    found = []
    while cursor.peek().kind == "string":
        found.append(cursor.next().value)
        if not cursor.take(","):
            break
    cursor.expect("]")
    return found


def _value(cursor: Cursor) -> str:
    """A constant, a list or a mapping up to the next comma or bracket outside of them."""
    first = cursor.peek()
    if first.kind == "string" and cursor.peek(1).text in (",", ")"):
        return cursor.next().unescaped
    start, depth = first.start, 0
    while cursor.peek().kind != "end":
        text = cursor.peek().text
        if depth == 0 and text in (",", ")"):
            break
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        cursor.at += 1
    return cursor.text[start : cursor.stop]
