"""The text of a partition's values, both ways, and the values that users write. Reads no files.

A partition is text in directories, in `scan.partitions`, in arguments and results of CALL, and in SHOW PARTITIONS. `partition_texts` prints all of
them, `parse_partition_value` reads all of them. Source: Paimon `InternalRowPartitionComputer.convertSpecToInternal`, `TypeUtils.castFromString`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, PaimonError
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.row import DEFAULT_PARTITION, cast_to_string, from_python, from_scalar, partition_names
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.row import Value
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataType
    from paimon_nb.options import TableOptions

HIVE_DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""How Hive, Spark, DuckDB and pyarrow write NULL in a directory name."""
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_INTERNAL_TIMESTAMP = re.compile(r"\d{4,9}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?", re.ASCII)
"""`LocalDateTime.toString`, the name of a TIMESTAMP with `partition.legacy-name`: without seconds if they are 0."""


# -- values to text


def partition_texts(
    schema: TableSchema,
    options: TableOptions,
    values: Sequence[Value],
    *,
    legacy: bool | None = None,
    default_name: str | None = None,
) -> dict[str, str]:
    """Column -> text of a partition, as the table's directories have it.

    Args:
        values: in the in-row form; of the first partition columns, or of all.
        legacy, default_name: instead of the options `partition.legacy-name` and `partition.default-name`.
    """
    return partition_names(
        schema.partition_fields[: len(values)],
        values,
        legacy=bool(options.get(opt.PARTITION_LEGACY_NAME)) if legacy is None else legacy,
        default_name=str(options.get(opt.PARTITION_DEFAULT_NAME)) if default_name is None else default_name,
    )


def spec_texts(schema: TableSchema, spec: Mapping[str, Value]) -> dict[str, str]:
    """Column -> text as users write it, dates as dates, NULL as `null`. `spec`: in the in-row form."""
    texts = {name: cast_to_string(schema.field(name).type, value) for name, value in spec.items()}
    return {name: "null" if text is None else text for name, text in texts.items()}


def partition_text_of_spec(schema: TableSchema, spec: Mapping[str, Value]) -> str:
    """One line for notes and errors: `dt = 2024-01-05, h = null`. `spec`: in the in-row form."""
    return ", ".join(f"{name} = {text}" for name, text in spec_texts(schema, spec).items())


# -- text to values


def parse_partition_value(t: DataType, text: str, default_name: str = DEFAULT_PARTITION) -> Value:
    """The in-row value of a partition's text. The names for NULL of Paimon, of Hive and of the table are NULL.

    Dates and times are read in all their forms: `2024-01-05`, the day number `19727`, `2024-01-05 10:00:00`, and Java's
    `2024-01-05T10:00`, which is in UTC for TIMESTAMP_LTZ.

    Raises: PaimonError: the text is not a value of the type. Never NULL instead.
    """
    import pyarrow as pa

    from paimon_nb.format.data import cast_column
    from paimon_nb.format.data.foreign_texts import float_text
    from paimon_nb.format.data.iso_timestamps import timestamp_of_text
    from paimon_nb.format.types import LocalZonedTimestamp, Timestamp, VarChar

    if text in (default_name, DEFAULT_PARTITION, HIVE_DEFAULT_PARTITION):
        return None
    if t.root not in ("CHAR", "VARCHAR", "BINARY", "VARBINARY"):
        text = text.strip()
    if t.root in _INTEGERS and not _INTEGER.fullmatch(text):
        raise BadOptionValue(f"{text!r} is not an integer", hint="write digits")
    if t.root in ("FLOAT", "DOUBLE"):
        text = float_text(text)
    if isinstance(t, LocalZonedTimestamp) and _INTERNAL_TIMESTAMP.fullmatch(text):
        text += "Z"
    value = (
        timestamp_of_text(text, t)[0]
        if isinstance(t, Timestamp | LocalZonedTimestamp)
        else cast_column(pa.array([text]), VarChar(), t)[0]
    )
    if not value.is_valid:
        raise BadOptionValue(f"{text!r} does not fit {t.bare()}", hint="write a value within the type's range")
    return from_scalar(t, value)


def in_row_spec(schema: TableSchema, spec: Mapping[str, Any]) -> dict[str, Any]:
    """`{'dt': '2024-01-31', 'h': 7}` in the in-row form of each column; None is NULL.

    Raises: ColumnNotFound: no such partition column. BadOptionValue: not a value of the column's type.
    """
    if not isinstance(spec, Mapping):
        raise BadOptionValue(f"{spec!r} is not a partition", hint="pass values by column: {'dt': '2024-01-31'}")
    default_name = schema.options.get(opt.PARTITION_DEFAULT_NAME.key, DEFAULT_PARTITION)
    out: dict[str, Any] = {}
    for written, value in spec.items():
        name = _partition_column(schema, written)
        t = schema.field(name).type
        try:
            if t.root in ("CHAR", "VARCHAR") and isinstance(value, int | float) and not isinstance(value, bool):
                value = str(value)  # as Spark: PARTITION (dt = 20240101)
            if t.root == "DECIMAL" and isinstance(value, float):
                value = repr(value)  # a literal of SQL: PARTITION (price = 1.50)
            is_text = isinstance(value, str)
            out[name] = parse_partition_value(t, value, default_name) if is_text else from_python(t, value)
        except PaimonError as error:
            raise BadOptionValue(
                f"{value!r} is not a value for partition column {name} of type {t.bare()}", hint=error.hint, column=name
            ) from None
    return out


def _partition_column(schema: TableSchema, name: str) -> str:
    """The partition column of a name, ignoring case. Raises ColumnNotFound."""
    if name in schema.partition_keys:
        return name
    same = [key for key in schema.partition_keys if key.lower() == str(name).lower()]
    if len(same) == 1:
        return same[0]
    raise ColumnNotFound(
        f"{name!r} is not a partition column",
        hint=did_you_mean(name, schema.partition_keys)
        or f"partitioned by: {', '.join(schema.partition_keys) or 'nothing'}",
        column=name,
    )


def parse_scan_partitions(schema: TableSchema, text: str) -> list[dict[str, Any]]:
    """The partitions of `scan.partitions`, such as 'dt=1,hh=2;dt=2', in the in-row form. A column that is left out is NULL.

    Raises: BadOptionValue: a part without '=', an unknown column, or a text that is not a value.
    """
    out = []
    for part in filter(None, (p.strip() for p in text.split(";"))):
        spec = {}
        for pair in part.split(","):
            name, equals, value = pair.partition("=")
            if not equals:
                raise BadOptionValue(
                    f"'scan.partitions' has no '=' in {pair!r}", hint="'dt=1,hh=2;dt=2' or 'max_pt()'",
                    option="scan.partitions", value=text,
                )  # fmt: skip
            spec[name.strip()] = value.strip()
        try:
            out.append({**dict.fromkeys(schema.partition_keys), **in_row_spec(schema, spec)})
        except (ColumnNotFound, BadOptionValue) as error:
            raise BadOptionValue(
                f"'scan.partitions': {error.message}", hint=error.hint, option="scan.partitions", value=text
            ) from None
    return out


def matches_partition_spec(values: Mapping[str, Any], spec: Mapping[str, Any]) -> bool:
    """Whether a partition, or its first columns, can match a spec; both in the in-row form. NULL matches NULL, NaN NaN."""
    return all(name not in values or _is_same(values[name], value) for name, value in spec.items())


def _is_same(a: Any, b: Any) -> bool:
    return bool(a == b or (isinstance(a, float) and isinstance(b, float) and a != a and b != b))
