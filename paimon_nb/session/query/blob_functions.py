"""The functions of the database `sys` for blobs, whose calls become expressions of Spark.

| function | result |
|---|---|
| `path_to_descriptor(path)` | the descriptor of a whole file |
| `descriptor_to_string(descriptor)` | its version, path, first byte and length as text |
| `blob_view('database.table', 'column', row_id)` | the view of a BLOB of another table; the column may be its id |
| `descriptor_to_presigned_url('database.table', descriptor, validity)` | an error: the stores here do not sign URLs of parts of files |
| `try_descriptor_to_presigned_url(...)` | NULL instead of the error |

Source: Paimon 2.1 `PathToDescriptor`, `DescriptorToString`, `BlobViewFunction`, `DescriptorToPresignedUrlFunction`.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.base.sql_quoting import spark_literal
from paimon_nb.sql.session_functions import FunctionCall, system_calls
from paimon_nb.statements import Span

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.session.core.session import Session
    from paimon_nb.syntax.lexer import Token

_VIEW = "blob_view"
_URL, _TRY_URL = "descriptor_to_presigned_url", "try_descriptor_to_presigned_url"


def _reversed(hex_text: str, size: int) -> str:
    """SQL: the hexadecimal digits of `size` bytes, last byte first."""
    return f"concat({', '.join(f'substr({hex_text}, {2 * n + 1}, 2)' for n in reversed(range(size)))})"


def _little_endian(number: str, size: int) -> str:
    """SQL: the bytes of an integer."""
    digits = f"right(concat('{'0' * 16}', hex({number})), {2 * size})"
    return f"unhex({_reversed(digits, size)})"


def _number_at(data: str, at: str, size: int) -> str:
    """SQL: the signed integer of `size` bytes from a byte of `data`, counted from 1."""
    return f"CAST(conv({_reversed(f'hex(substr({data}, {at}, {size}))', size)}, 16, -10) AS BIGINT)"


_DESCRIPTOR_HEAD = "X'0243534544424F4C42'"
_VIEW_HEAD = "X'0157454956424F4C42'"
_TEXT_OF_URI_AT = (  # the length of the path is at `at`
    "concat('BlobDescriptor{version=', {version}, ', uri=\\'', CAST(substr($d, {at} + 4, octet_length($d) - {at} - 19) AS STRING),"
    " '\\', offset=', {offset}, ', length=', {length}, '}')"
)


def _descriptor_text(version: int, at: int) -> str:
    """SQL: the text of a descriptor whose path's length is at the byte `at`; NULL if it has another length."""
    numbers = {
        "{version}": str(version),
        "{at}": str(at),
        "{offset}": _number_at("$d", "octet_length($d) - 15", 8),
        "{length}": _number_at("$d", "octet_length($d) - 7", 8),
    }
    text = _TEXT_OF_URI_AT
    for name, sql in numbers.items():
        text = text.replace(name, sql)
    return f"CASE WHEN octet_length($d) = {at} + 19 + {_number_at('$d', str(at), 4)} THEN {text} END"


_NOT_A_DESCRIPTOR = "raise_error('Invalid BlobDescriptor: these bytes are not a blob descriptor')"
_UNSIGNED = "raise_error('the file system of the table does not support creating blob presigned URLs.')"
_VALIDITY = "raise_error('the validity of a URL must be positive whole seconds')"
_IS_WHOLE = "$v > INTERVAL '0' SECOND AND extract(SECOND FROM $v) = floor(extract(SECOND FROM $v))"

_FUNCTIONS = {
    "path_to_descriptor": (
        ("p STRING",),
        f"concat({_DESCRIPTOR_HEAD}, {_little_endian('octet_length($p)', 4)}, CAST($p AS BINARY), X'0000000000000000FFFFFFFFFFFFFFFF')",
    ),
    "descriptor_to_string": (
        ("d BINARY",),
        f"CASE WHEN $d IS NULL THEN NULL WHEN substr($d, 1, 1) = X'01' THEN coalesce({_descriptor_text(1, 2)}, {_NOT_A_DESCRIPTOR})"
        f" WHEN substr($d, 1, 9) = {_DESCRIPTOR_HEAD} THEN coalesce({_descriptor_text(2, 10)}, {_NOT_A_DESCRIPTOR})"
        f" ELSE {_NOT_A_DESCRIPTOR} END",
    ),
    _VIEW: (
        ("t STRING", "f INT", "r BIGINT"),
        f"concat({_VIEW_HEAD}, {_little_endian('octet_length($t)', 4)}, CAST($t AS BINARY), {_little_endian('$f', 4)}, {_little_endian('$r', 8)})",
    ),
    _URL: (
        ("t STRING", "d BINARY", "v INTERVAL DAY TO SECOND"),
        f"CASE WHEN $d IS NULL OR $v IS NULL THEN CAST(NULL AS STRING) WHEN NOT ({_IS_WHOLE}) THEN {_VALIDITY} ELSE {_UNSIGNED} END",
    ),
    _TRY_URL: (("t STRING", "d BINARY", "v INTERVAL DAY TO SECOND"), "CAST(NULL AS STRING)"),
}
"""Name in the database `sys` -> parameters and the expression of the result."""

BLOB_FUNCTIONS = tuple(_FUNCTIONS)


def blob_function_replacements(session: Session, text: str, span: Span) -> dict[Span, str]:
    """SQL of Spark that puts the expressions in place of the calls in a text.

    Raises:
        SqlAnalysisError: a table or column is not a literal, the column is not a BLOB, or the number of arguments is wrong.
        TableNotFound: the table does not exist.
    """
    replacements: dict[Span, str] = {}
    for call in system_calls(text, span, _FUNCTIONS):
        replacements |= _expression_around(call)
        if call.function in (_VIEW, _URL, _TRY_URL):
            table = _literal(call, 0)
            database, name = _table_name(session, call.function, table.value)
            replacements[_span_of(call, table)] = spark_literal(f"{database}.{name}")
            schema = session.table((session.current_catalog, database, name)).schema
            if call.function == _VIEW and call.arguments[1][0].kind == "string":
                column = _literal(call, 1)
                replacements[_span_of(call, column)] = str(_field_id(schema, f"{database}.{name}", column.value))
    return replacements


def _expression_around(call: FunctionCall) -> dict[Span, str]:
    """`f(x, y)` becomes `element_at(transform(array(named_struct('a', (x), 'b', (y))), _call -> ...), 1)`: each argument is evaluated once."""
    parameters, body = _FUNCTIONS[call.function]
    if len(call.arguments) != len(parameters):
        raise SqlAnalysisError(
            f"sys.{call.function} has {len(parameters)} arguments, {len(call.arguments)} are given",
            hint=f"sys.{call.function}({', '.join(parameters)})",
        )
    typed = (p.partition(" ") for p in parameters)
    body = Template(body).substitute({name: f"CAST(_call.{name} AS {kind})" for name, _, kind in typed})
    out = {call.name: "element_at(transform(array(named_struct"}
    names = [p.partition(" ")[0] for p in parameters]
    for token, name in zip((call.opening, *call.commas), names, strict=True):
        out[_span_of(call, token)] = f"{'(' if token is call.opening else '), '}'{name}', ("
    out[_span_of(call, call.closing)] = f"))), _call -> {body}), 1)"
    return out


def _field_id(schema: TableSchema, table: str, column: str) -> int:
    field = next((f for f in schema.fields if f.name == column), None)
    if field is None:
        raise SqlAnalysisError(
            f"Cannot find blob field {column} in upstream table {table}.", hint=f"columns: {', '.join(schema.names)}"
        )
    if field.type.root != "BLOB":
        raise SqlAnalysisError(
            f"Field {column} in upstream table {table} is not a BLOB field.", hint="a view is of one BLOB column"
        )
    return field.id


def _literal(call: FunctionCall, number: int) -> Token:
    tokens = call.arguments[number] if number < len(call.arguments) else ()
    if len(tokens) != 1 or tokens[0].kind != "string":
        what = "the table" if number == 0 else "the column"
        raise SqlAnalysisError(
            f"sys.{call.function}: {what} must be a literal", hint=f"for example sys.{call.function}('default.t', ...)"
        )
    return tokens[0]


def _span_of(call: FunctionCall, token: Token) -> Span:
    return Span(call.offset + token.start, call.offset + token.stop)


def _table_name(session: Session, function: str, text: str) -> tuple[str, str]:
    parts = text.split(".", 2)
    if len(parts) == 3 and parts[0] == session.current_catalog:
        parts = parts[1:]
    if len(parts) != 2 or not all(parts):
        raise SqlAnalysisError(
            f"Table name must be 'database.table' or '{session.current_catalog}.database.table', but is '{text}'.",
            hint=f"sys.{function}('{session.current_database}.{parts[-1]}', ...)",
        )
    return parts[0], parts[1]
