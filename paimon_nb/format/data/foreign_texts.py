"""Texts of numbers and dates as DuckDB, pandas, Arrow and Java write them into text files and names of directories, for Java's casts."""

from __future__ import annotations

import re

WHOLE_NUMBER = re.compile(r"\s*([+-]?[0-9]+)(?:\.0*)?\s*")
"""An integer; pandas writes those of a column with NULL as `127.0`, which Java refuses."""
_SPECIAL_FLOAT = re.compile(r"([+-]?)(?:(nan)|inf(?:inity)?)", re.IGNORECASE)
"""DuckDB, pandas and Arrow write `inf` and `nan`."""
_MIDNIGHT = re.compile(r"(?<=-\d\d)[T ]00:00:00(\.0+)?Z?$")
"""After a date: pandas writes dates of JSON as timestamps."""


def float_text(text: str) -> str:
    """The text of a floating point number without the letter that Java allows at its end; `inf` as `Infinity`."""
    text = text.strip()
    special = _SPECIAL_FLOAT.fullmatch(text)
    if special is None:
        return text[:-1] if text[-1:] in "fFdD" else text
    return "NaN" if special[2] else f"{'-' if special[1] == '-' else ''}Infinity"


def date_text(text: str) -> str:
    """The text of a date without a time of midnight."""
    return _MIDNIGHT.sub("", text)
