"""The types that a user names, in Paimon's, Flink's, Spark's or DuckDB's words, as types of DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, FormatError
from paimon_nb.format.types import parse_type

if TYPE_CHECKING:
    from paimon_nb.format.types import DataType

_OF_DUCKDB = {
    "VARCHAR": "STRING", "TEXT": "STRING", "HUGEINT": "DECIMAL(38, 0)", "UBIGINT": "DECIMAL(20, 0)", "UHUGEINT": "DECIMAL(38, 0)",
    "INT1": "TINYINT", "INT2": "SMALLINT", "INT4": "INT", "INT8": "BIGINT", "FLOAT4": "FLOAT", "FLOAT8": "DOUBLE", "BLOB": "BYTES",
    "UUID": "STRING", "JSON": "STRING", "DATETIME": "TIMESTAMP", "TIMESTAMPTZ": "TIMESTAMP_LTZ", "TIMESTAMP WITH TIME ZONE": "TIMESTAMP_LTZ",
    "TIMESTAMP_NS": "TIMESTAMP(9)", "TIMESTAMP_S": "TIMESTAMP(0)", "TIMESTAMP_MS": "TIMESTAMP(3)", "UTINYINT": "SMALLINT", "USMALLINT": "INT",
    "UINTEGER": "BIGINT", "LOGICAL": "BOOLEAN",
}  # fmt: skip
_ENGINE = {
    "BOOLEAN": "BOOLEAN", "TINYINT": "TINYINT", "SMALLINT": "SMALLINT", "INT": "INTEGER", "BIGINT": "BIGINT", "FLOAT": "FLOAT",
    "DOUBLE": "DOUBLE", "DATE": "DATE", "CHAR": "VARCHAR", "VARCHAR": "VARCHAR", "BINARY": "BLOB", "VARBINARY": "BLOB",
    "TIME": "TIME", "TIMESTAMP_LTZ": "TIMESTAMPTZ",
}  # fmt: skip


def paimon_type_of(written: str) -> DataType:
    """The type that a user names. Raises BadOptionValue: not a type."""
    text = " ".join(written.split())
    try:
        return parse_type(_OF_DUCKDB.get(text.upper(), text))
    except FormatError:
        raise BadOptionValue(
            f"{written!r} is not a type", hint="for example STRING, BIGINT, DECIMAL(10, 2), DATE or TIMESTAMP(3)", option="types", value=written,
        ) from None  # fmt: skip


def engine_type_of(written: str) -> str:
    """DuckDB's type for a type that a user names. Raises BadOptionValue: not a type, or a nested one."""
    type = paimon_type_of(written)
    root = type.root
    if root == "DECIMAL":
        return f"DECIMAL({type.precision},{type.scale})"  # type: ignore[attr-defined]
    if root == "TIMESTAMP":
        return "TIMESTAMP_NS" if type.precision > 6 else "TIMESTAMP"  # type: ignore[attr-defined]
    if root in _ENGINE:
        return _ENGINE[root]
    raise BadOptionValue(
        f"a text cannot be read as {written!r}", hint="read it as STRING and convert it in the query", option="types", value=written,
    )  # fmt: skip


_OFFSET = "[+-]\\d{2}(:?\\d{2}){0,2}$"
_SCALES = {"TINYINT": 0, "SMALLINT": 0, "INTEGER": 0, "BIGINT": 0}


def exact_cast(text: str, type: str) -> str:
    """SQL of a text in a type of DuckDB; NULL if no value of the type equals it, where DuckDB rounds, or leaves out a zone or a time of day."""
    cast = f"TRY_CAST({text} AS {type})"
    scale = int(type[:-1].rpartition(",")[2]) if type.startswith("DECIMAL") else _SCALES.get(type)
    if scale is not None:
        digits = f"length(rtrim(regexp_extract({text}, '[.]([0-9]*)', 1), '0'))"
        return f"CASE WHEN {digits} <= {scale} OR regexp_matches({text}, '[eE]') THEN {cast} END"
    if type in ("TIMESTAMP", "TIMESTAMP_NS"):
        offset = f"regexp_matches({text}[11:], '{_OFFSET}') AND NOT regexp_matches({text}, '[+-]00(:?00){{0,2}}$')"
        return f"CASE WHEN NOT ({offset}) THEN {cast} END"
    if type == "DATE":
        return f"CASE WHEN NOT regexp_matches({text}[11:], '[1-9]') THEN {cast} END"
    return cast
