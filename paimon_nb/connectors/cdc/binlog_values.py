"""Values of the binlog as a query returns them: texts by their character set, and what the library reads differently."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

UNDECODED = "paimon-undecoded"
"""The name of no codec: the library then returns the bytes of a text."""
_CODECS = {
    "latin1": "cp1252", "utf8": "utf-8", "utf8mb3": "utf-8", "utf8mb4": "utf-8", "ascii": "ascii", "ucs2": "utf-16-be", "utf16": "utf-16-be",
    "utf16le": "utf-16-le", "utf32": "utf-32-be", "latin2": "iso8859-2", "latin5": "iso8859-9", "latin7": "iso8859-13", "cp1250": "cp1250",
    "cp1251": "cp1251", "cp1256": "cp1256", "cp1257": "cp1257", "cp850": "cp850", "cp852": "cp852", "cp866": "cp866", "koi8r": "koi8-r",
    "koi8u": "koi8-u", "greek": "iso8859-7", "hebrew": "iso8859-8", "tis620": "tis-620", "gbk": "gbk", "gb2312": "gb2312", "gb18030": "gb18030",
    "big5": "big5", "sjis": "shift_jis", "cp932": "cp932", "ujis": "euc-jp", "eucjpms": "euc-jp", "euckr": "euc-kr", "macroman": "mac-roman",
    "macce": "mac-latin2", "cp1252": "cp1252", "koi8_r": "koi8-r", "koi8_u": "koi8-u",
}  # fmt: skip
"""Python's codec by MySQL's character set; the library has Python's names of some."""
_ZERO_DATE = "0000-00-00"
_MISSING: dict[str, Any] = {
    "empty set": frozenset(),
    "out of date range": _ZERO_DATE,
    "out of datetime range": _ZERO_DATE,
    "out of datetime2 range": _ZERO_DATE,
}
"""Values that the library returns as None, by its reason."""
_EPOCH = dt.datetime(1970, 1, 1)


def as_queried(columns: Any, values: dict[str, Any], nones: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a row as a query returns them.

    Args:
        columns: of the library's event.
        nones: the library's reasons of values that are None.
    """
    for column in columns:
        name = column.name
        value = values.get(name)
        if value is None:
            values[name] = _MISSING.get(str(nones.get(name)))
        elif isinstance(value, bytes):
            values[name] = _decoded(value, getattr(column, "character_set_name", None))
        elif (repair := _REPAIRS.get(column.type)) is not None:
            values[name] = repair(value)
    return values


def _decoded(value: bytes, character_set: str | None) -> str | bytes:
    """The text; the bytes themselves if they are not text."""
    if character_set == "binary":
        return value
    try:
        return value.decode(_CODECS.get(character_set or "utf8mb4", "utf-8"))
    except UnicodeDecodeError:
        # MySQL's latin1 has characters for the five bytes that cp1252 leaves out.
        return value.decode("latin-1") if character_set in ("latin1", "cp1252") else value


def _timestamp(value: Any) -> Any:
    """TIMESTAMP begins one second after the epoch; the epoch itself is '0000-00-00'."""
    return _ZERO_DATE if value == _EPOCH else value


def _time(value: Any) -> Any:
    """A negative TIME with a fraction: the library has the complement of its fraction to one second."""
    if value >= dt.timedelta(0) or not value.microseconds:
        return value
    span = -value
    return -(dt.timedelta(days=span.days, seconds=span.seconds + 1) - dt.timedelta(microseconds=span.microseconds))


_REPAIRS: dict[int, Callable[[Any], Any]] = {
    7: _timestamp,
    17: _timestamp,
    19: _time,
    13: lambda year: 0 if year == 1900 else year,  # YEAR begins with 1901; 0000 is stored as 0
}
"""Corrections of the library's values, by the type in the binlog: TIMESTAMP, TIMESTAMP2, TIME2, YEAR."""
