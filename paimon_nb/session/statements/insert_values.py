"""INSERT ... VALUES of literals as an Arrow table, without Spark: a notebook's first INSERT takes milliseconds.

Handles only literals with the same meaning in both dialects. Everything else, including errors, goes to Spark (`None`).
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from paimon_nb.plan import Constant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataType

INTEGER_BITS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
"""Type root -> bits of its largest value."""
EXACT_BITS = 53
"""Integers up to this size are exact doubles."""
_DATE = re.compile(r"(1[6-9]|[2-9]\d)\d\d-\d\d-\d\d")
_TIMESTAMP = re.compile(rf"({_DATE.pattern}) \d\d:\d\d:\d\d(\.\d{{1,6}})?")


class _NeedsSpark(Exception):
    """Spark must evaluate this constant."""


def arrow_rows(
    schema: TableSchema, columns: Sequence[str], rows: Sequence[Sequence[Constant]], params: Mapping[str, Any]
) -> pa.Table | None:
    """The rows with the named columns in the table's types; None if Spark must evaluate them.

    Args:
        columns: the table's column of each position in a row.
        params: values of `:name` markers.
    """
    import pyarrow as pa

    from paimon_nb.format.types import arrow_type
    from paimon_nb.format.types.arrow_builders import column

    if len(set(columns)) != len(columns) or any(len(row) != len(columns) for row in rows):
        return None
    arrays = []
    try:
        for i, name in enumerate(columns):
            t = schema.field(name).type
            values = [_arrow_value(_bind_parameter(row[i], params), t) for row in rows]
            arrays.append(column(values, arrow_type(t)))
    except (_NeedsSpark, pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return None
    return pa.table(arrays, names=list(columns))


def _bind_parameter(constant: Constant, params: Mapping[str, Any]) -> Constant:
    if constant.kind == "default":
        return Constant("null")  # a write replaces it by the column's default
    if constant.kind != "parameter":
        return constant
    match params.get(constant.text):
        case None:
            return Constant("null")
        case bool() as value:
            return Constant("boolean", str(value).lower())
        case int() as value:
            return Constant("number", str(value))
        case str() as value:
            return Constant("text", value)
    raise _NeedsSpark


def _arrow_value(constant: Constant, t: DataType) -> Any:
    """The Python value that Arrow stores in a column of this type."""
    from paimon_nb.format.types import Timestamp

    match constant.kind, t.root:
        case "null", _:
            return None
        case "boolean", "BOOLEAN":
            return constant.text == "true"
        case "text", "VARCHAR" if t.bare() == "STRING":
            return constant.text
        case (("text" | "date"), "DATE"):
            return _parse_date(constant.text)
        case (("text" | "timestamp"), "TIMESTAMP"):
            assert isinstance(t, Timestamp)
            return _parse_timestamp(constant.text, t.precision)
        case "number", root:
            return _parse_number(constant.text, root, t)
    raise _NeedsSpark


def _parse_number(text: str, root: str, t: DataType) -> Any:
    from paimon_nb.format.types import Decimal as DecimalColumn

    try:
        number = Decimal(text)
    except InvalidOperation:
        raise _NeedsSpark from None
    if len(number.as_tuple().digits) > 18:
        raise _NeedsSpark
    whole = "." not in text
    if root in INTEGER_BITS and whole:
        if not -(1 << INTEGER_BITS[root]) <= number < 1 << INTEGER_BITS[root]:
            raise _NeedsSpark
        return int(number)
    if root == "DOUBLE" and (not whole or abs(number) < 1 << EXACT_BITS):
        return float(text)
    if root == "FLOAT":
        import numpy as np

        rounded = np.float32(text)
        if Decimal(float(rounded)) == number:
            return float(rounded)
    if isinstance(t, DecimalColumn):
        scaled = number.quantize(Decimal(1).scaleb(-t.scale), ROUND_HALF_UP)
        if len(scaled.as_tuple().digits) <= t.precision:
            return scaled
    raise _NeedsSpark


def _parse_date(text: str) -> dt.date:
    if _DATE.fullmatch(text):
        try:
            return dt.date.fromisoformat(text)
        except ValueError:
            pass
    raise _NeedsSpark


def _parse_timestamp(text: str, precision: int) -> dt.datetime:
    if _TIMESTAMP.fullmatch(text) and len(text.partition(".")[2]) <= precision:
        try:
            return dt.datetime.fromisoformat(text)
        except ValueError:
            pass
    raise _NeedsSpark
