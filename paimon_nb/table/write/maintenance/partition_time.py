"""The time in a partition's values. Source: docs/spec/merge-semantics.md section 7 (`values-time`)."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paimon_nb.format.types import DataType
    from paimon_nb.table.read.store import TableStore

_LETTERS = {
    "yyyy": r"(?P<year>\d{4})", "MM": r"(?P<month>\d{2})", "dd": r"(?P<day>\d{2})", "HH": r"(?P<hour>\d{2})",
    "mm": r"(?P<minute>\d{2})", "ss": r"(?P<second>\d{2})", "M": r"(?P<month>\d{1,2})", "d": r"(?P<day>\d{1,2})",
    "H": r"(?P<hour>\d{1,2})", "SSS": r"(?P<milli>\d{3})",
}  # fmt: skip
_DEFAULT = re.compile(
    r"(?P<year>\d{1,10})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?: (?P<hour>\d{1,2}):(?P<minute>\d{1,2}):(?P<second>\d{1,2})(?:\.\d{1,9})?)?"
)
"""Java's form without a formatter: `$dt $hour:00:00` of a whole-number hour has one digit at night."""
_TOKEN = re.compile(r"'(?:[^']|'')*'|yyyy|SSS|MM|dd|HH|mm|ss|M|d|H|.", re.S)


def partition_time(
    store: TableStore, values: tuple[Any, ...], pattern: str | None, formatter: str | None
) -> datetime | None:
    """The time, or None if the values contain none.

    Args:
        pattern: `$dt $hour:00:00`, columns by name; None: the first partition column alone.
        formatter: Java date pattern; None: `yyyy-MM-dd[ HH:mm:ss]`.
    """
    fields = store.schema.partition_fields
    if any(v is None for v in (values[:1] if pattern is None else values)):
        return None
    texts = {f.name: as_text(f.type, v) for f, v in zip(fields, values, strict=True)}
    if pattern is None:
        text = texts[fields[0].name]
    else:
        names = sorted(texts, key=len, reverse=True)
        text = re.sub(r"\$(" + "|".join(map(re.escape, names)) + ")", lambda m: texts[m.group(1)], pattern)
    return parse_time(text, formatter)


def as_text(kind: DataType, value: Any) -> str:
    """A partition value as users read it; dates as yyyy-MM-dd."""
    if kind.root == "DATE":
        return (date(1970, 1, 1) + timedelta(days=int(value))).isoformat()
    if kind.root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return (datetime(1970, 1, 1) + timedelta(milliseconds=value[0])).strftime("%Y-%m-%d %H:%M:%S")
    return str(value)


def parse_time(text: str, formatter: str | None) -> datetime | None:
    """Parse by a Java pattern of digits, or by the default form.

    None also if the pattern has no complete date: a partition of unknown age must not be dropped.
    """
    found = re.fullmatch(_regex_of_pattern(formatter), text) if formatter else _DEFAULT.fullmatch(text)
    if not found:
        return None
    part = {k: int(v) for k, v in found.groupdict(default="0").items()}
    if not part.keys() >= {"year", "month", "day"}:
        return None
    try:
        if formatter is None:  # Java takes this form leniently: the 32nd of January is the 1st of February
            years, month = divmod(part["month"] - 1, 12)
            day = datetime(part["year"] + years, month + 1, 1) + timedelta(days=part["day"] - 1)
            return day + timedelta(hours=part["hour"], minutes=part["minute"], seconds=part["second"])
        return datetime(
            part["year"], part["month"], part["day"],
            part.get("hour", 0), part.get("minute", 0), part.get("second", 0), part.get("milli", 0) * 1000,
        )  # fmt: skip
    except (ValueError, OverflowError):
        return None


def _regex_of_pattern(pattern: str) -> str:
    out = []
    for token in _TOKEN.findall(pattern):
        if token in _LETTERS:
            out.append(_LETTERS[token])
        elif token.startswith("'") and len(token) > 1:
            out.append(re.escape(token[1:-1].replace("''", "'")))
        else:
            out.append(re.escape(token))
    return "".join(out)
