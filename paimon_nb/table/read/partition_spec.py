"""Converts user-supplied partition values to values of the partition columns. Reads no files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, PaimonError
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.row import from_python, from_scalar

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema


def in_row_spec(schema: TableSchema, spec: Mapping[str, Any]) -> dict[str, Any]:
    """`{'dt': '2024-01-31', 'h': '7'}` in the in-row form of each column; None stays NULL.

    Raises: ColumnNotFound: no such partition column. BadOptionValue: a text that is not a value of the column's type.
    """
    if not isinstance(spec, Mapping):
        raise BadOptionValue(f"{spec!r} is not a partition", hint="pass values by column: {'dt': '2024-01-31'}")
    out: dict[str, Any] = {}
    for name, value in spec.items():
        if name not in schema.partition_keys:
            raise ColumnNotFound(
                f"{name!r} is not a partition column",
                hint=did_you_mean(name, schema.partition_keys)
                or f"partitioned by: {', '.join(schema.partition_keys) or 'nothing'}",
                column=name,
            )
        t = schema.field(name).type
        try:
            if isinstance(value, str) and t.root not in ("CHAR", "VARCHAR"):
                from paimon_nb.format.data import cast_text

                out[name] = from_scalar(t, cast_text(value, t))
            else:
                out[name] = from_python(t, value)
        except PaimonError as error:
            raise BadOptionValue(
                f"{value!r} is not a value for partition column {name} of type {t.bare()}", hint=error.hint, column=name
            ) from None
    return out
