"""Values of a table's key that the user types as text, in a command or in a field of a panel."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError

if TYPE_CHECKING:
    from paimon_nb.format.types import DataField, LocalZonedTimestamp, Timestamp

_ISO_TIMESTAMP = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})[T ](?P<time>\d{2}:\d{2})(?P<second>:\d{2})?(?P<fraction>\.\d+)?(?P<offset>Z|[+-]\d{2}:?\d{2})?"
)


class InvalidKeyValue(ValueError):
    """The text is not a value of the column's type."""


def key_value(field: DataField, text: str) -> Any:
    """The text converted to the column's type. Raises: InvalidKeyValue.

    Timestamps may be in ISO 8601, as `2013-07-04T18:00:00Z`. With an offset, the value is the time in UTC: timestamps
    without time zone are shown as they are stored, and those with local time zone are stored in UTC.
    """
    from paimon_nb.format.data import cast_text
    from paimon_nb.format.types import LocalZonedTimestamp, Timestamp

    try:
        if field.type.root in ("CHAR", "VARCHAR"):
            return text
        if isinstance(field.type, Timestamp | LocalZonedTimestamp):
            return _timestamp_value(field.type, text)
        return cast_text(text, field.type).as_py()
    except (PaimonError, ValueError, OverflowError):
        raise InvalidKeyValue(f"{text!r} is not a valid {field.type} value for column {field.name}") from None


def _timestamp_value(timestamp_type: Timestamp | LocalZonedTimestamp, text: str) -> Any:
    """A timestamp from SQL's form or from ISO 8601. Raises: ValueError, PaimonError."""
    from paimon_nb.format.data import cast_text
    from paimon_nb.format.types import LocalZonedTimestamp, Timestamp

    found = _ISO_TIMESTAMP.fullmatch(text.strip())
    if found is None:
        return cast_text(text, timestamp_type).as_py()
    local = f"{found['date']} {found['time']}{found['second'] or ':00'}"
    fraction = found["fraction"] or ""
    if found["offset"] is None:
        return cast_text(local + fraction, timestamp_type).as_py()
    utc = dt.datetime.fromisoformat(local + found["offset"]).astimezone(dt.UTC)
    value = cast_text(utc.strftime("%Y-%m-%d %H:%M:%S") + fraction, Timestamp(timestamp_type.precision)).as_py()
    return value.replace(tzinfo=dt.UTC) if isinstance(timestamp_type, LocalZonedTimestamp) else value
