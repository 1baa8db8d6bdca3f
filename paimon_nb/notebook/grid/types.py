"""The types of a grid's columns as SQL writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.format.types import DataField


def types_of_fields(fields: Iterable[DataField]) -> dict[int, str]:
    """The types of a result's columns by position, as far as they are known, without NOT NULL.

    The types of Arrow do not tell a TIMESTAMP(3) from a TIMESTAMP(6).
    """
    return {i: _plain(str(f.type)) for i, f in enumerate(fields)}


def type_text(kind: Any) -> str:
    """An Arrow type as SQL writes it.

    Examples:
        >>> import pyarrow as pa
        >>> type_text(pa.list_(pa.int32())), type_text(pa.duration("us"))
        ('ARRAY<INT>', 'INTERVAL DAY TO SECOND')
    """
    import pyarrow as pa

    from paimon_nb.format.types import from_arrow_schema

    if pa.types.is_duration(kind):
        return "INTERVAL DAY TO SECOND"
    if pa.types.is_interval(kind):
        return "INTERVAL"
    if pa.types.is_time64(kind):
        return "TIME"  # Spark's rows have nanoseconds, whatever its type
    try:
        (field,) = from_arrow_schema(pa.schema([pa.field("c", kind)]))
    except (PaimonError, ValueError, TypeError):
        return str(kind)
    return _plain(str(field.type))


def is_number(t: Any) -> bool:
    """Whether columns of this Arrow type are right-aligned."""
    import pyarrow as pa

    return bool(pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t))


def _plain(text: str) -> str:
    return text.replace("`", "").replace(" NOT NULL", "")
