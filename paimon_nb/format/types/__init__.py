"""Paimon's logical types, their JSON and SQL text, and their Arrow form."""

from paimon_nb.format.types.arrow import arrow_schema, arrow_type, from_arrow_schema, from_arrow_type
from paimon_nb.format.types.parse import parse_type, parse_type_json
from paimon_nb.format.types.types import (
    MAX_LENGTH,
    Array,
    Atomic,
    Binary,
    Char,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    VarBinary,
    VarChar,
    is_nano,
)

__all__ = [
    "MAX_LENGTH",
    "Array",
    "Atomic",
    "Binary",
    "Char",
    "DataField",
    "DataType",
    "Decimal",
    "LocalZonedTimestamp",
    "Map",
    "Multiset",
    "Row",
    "Time",
    "Timestamp",
    "VarBinary",
    "VarChar",
    "arrow_schema",
    "arrow_type",
    "from_arrow_schema",
    "from_arrow_type",
    "is_nano",
    "parse_type",
    "parse_type_json",
]
