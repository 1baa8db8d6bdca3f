"""Values of a source that do not fit their column: found one by one, counted, and handled by the rule of the sync.

A converter raises `Misfit` for such a value, with what Java's sync stores instead. Any other error of a conversion counts as one, too.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from enum import Enum
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import BadOptionValue, BadSourceValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.connectors.formats.values import whole_characters
from paimon_nb.format.types import Binary, Char, VarBinary, VarChar
from paimon_nb.format.types.types import MAX_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.types import DataField, DataType

ERRORS_COLUMN = "value_errors"
"""Column of a target with the rule `text`: the texts of values that do not fit, as a JSON object by column."""
_MAX_TEXT = 200
_MAX_PRECISION = 38
"""Digits of the longest DECIMAL."""
_FAILURES = (ValueError, TypeError, ArithmeticError, LookupError)
_DAY_MS = 86_400_000


class OnValueError(Enum):
    """What a sync does with a value that does not fit its column: the option `on_value_error`."""

    JAVA = "java"
    """As Java's sync: times of day outside of a day wrap, decimals are rounded, other values become NULL."""
    FAIL = "fail"
    NULL = "null"
    TEXT = "text"
    """NULL, and the value's text in the column `value_errors`."""
    DEAD_LETTER = "dead-letter"
    """The row is written to the table `<target>_dead_letter` instead."""

    @staticmethod
    def of(text: str | None) -> OnValueError:
        """Parse the option. Raises BadOptionValue."""
        try:
            return OnValueError((text or "java").strip().lower().replace("_", "-"))
        except ValueError:
            raise BadOptionValue(
                f"unknown on_value_error {text!r}",
                hint=f"one of {', '.join(r.value for r in OnValueError)}",
                option="on_value_error",
            ) from None


RULE_OPTION = "on-value-error"
"""Option of a connector table: what becomes of values that do not fit its columns."""


def rule_of_table(options: Mapping[str, str]) -> OnValueError:
    """The rule in the options of a connector table. Raises BadOptionValue: also for the rules that write tables of their own."""
    rule = OnValueError.of(options.get(RULE_OPTION))
    if rule in (OnValueError.TEXT, OnValueError.DEAD_LETTER):
        raise BadOptionValue(
            f"'{RULE_OPTION}' = '{rule.value}' is for syncs, which write the target themselves",
            hint="java, null or fail; or CALL sys.mysql_sync_table, sys.postgres_sync_table",
            option=RULE_OPTION,
        )
    return rule


class Misfit(ValueError):
    """A value that its column cannot hold.

    Args:
        reason: why, for messages.
        instead: what Java's sync stores; None: NULL.
    """

    def __init__(self, reason: str, instead: Any = None) -> None:
        super().__init__(reason)
        self.reason, self.instead = reason, instead


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A value in a message that is not of its declared type. Its conversion to a column is a `Misfit`."""

    value: Any
    reason: str


def fitting_column(
    values: Sequence[Any], convert: Callable[[Sequence[Any]], pa.Array]
) -> tuple[pa.Array, dict[int, Misfit]]:
    """The column, and the misfits by the index of their value; what Java stores instead is in the column.

    `convert` takes all values at once; after an error, halves of them, down to the single values that do not fit.
    """
    misfits: dict[int, Misfit] = {}

    def convert_part(begin: int, end: int) -> list[pa.Array]:
        part = values[begin:end]
        try:
            return [convert(part)]
        except _FAILURES as error:
            if end - begin > 1:
                middle = (begin + end) // 2
                return convert_part(begin, middle) + convert_part(middle, end)
            found = error if isinstance(error, Misfit) else Misfit("the type cannot hold it")
            misfits[begin] = found
            none = convert([None])
            return [none if found.instead is None else pa.array([found.instead], none.type)]

    parts = convert_part(0, len(values))
    return (parts[0] if len(parts) == 1 else pa.concat_arrays(parts)), misfits


def with_values(array: pa.Array, replaced: Mapping[int, Any]) -> pa.Array:
    """The array with other values at some indexes, in storage units."""
    parts, start = [], 0
    for index in sorted(replaced):
        parts += [array.slice(start, index - start), pa.array([replaced[index]], array.type)]
        start = index + 1
    return pa.concat_arrays([*parts, array.slice(start)])


def within_length(array: pa.Array, t: DataType) -> pa.Array:
    """The array. Raises Misfit for a single value that is longer than the type, which is cut to its length; else ValueError."""
    if not isinstance(t, Char | VarChar | Binary | VarBinary) or t.length == MAX_LENGTH:
        return array
    text = isinstance(t, Char | VarChar)
    longest = pc.max(pc.utf8_length(array) if text else pc.binary_length(array)).as_py()
    if longest is None or longest <= t.length:
        return array
    if len(array) > 1:
        raise ValueError("a value is longer than its type")
    raise Misfit(f"{t.bare()} holds {t.length} {'characters' if text else 'bytes'}", array[0].as_py()[: t.length])


def millis_of_day(micros: int) -> int:
    """A time of day in milliseconds. Raises Misfit for times outside of a day, which Java's sync wraps."""
    millis = micros // 1000
    if 0 <= millis < _DAY_MS:
        return millis
    raise Misfit("a time of day is less than 24 hours", millis % _DAY_MS)


def span_of_time_text(text: str) -> dt.timedelta:
    """The time since midnight of '11:12:13.456'. Also for the times of databases that are longer than a day, or negative."""
    hours, minutes, seconds = text.removeprefix("-").split(":")
    whole, _, fraction = seconds.partition(".")
    micros = int(fraction[:6].ljust(6, "0")) if fraction else 0
    span = dt.timedelta(hours=int(hours), minutes=int(minutes), seconds=int(whole), microseconds=micros)
    return -span if text.startswith("-") else span


def zero_of_time_type(root: str) -> int | None:
    """What Java's sync stores for a missing date in a NOT NULL column: the epoch. None: it has no such value."""
    return 0 if root == "DATE" or root.startswith("TIMESTAMP") else None


def decimal_or_string(precision: int, scale: int) -> str:
    """The type of a column for decimals of a source. Those that DECIMAL cannot have are texts, as in Java."""
    return f"DECIMAL({precision}, {scale})" if 0 <= scale <= precision <= _MAX_PRECISION else "STRING"


def value_text(value: Any) -> str:
    """A value for messages and for the columns that keep it."""
    if isinstance(value, Unreadable):
        value = value.value
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, set | frozenset):
        return whole_characters(",".join(sorted(map(str, value))))
    return whole_characters(str(value))


def row_json(row: Mapping[str, Any]) -> str:
    """A row of the source as JSON texts by column."""
    texts = {n: None if v is None else value_text(v) for n, v in row.items()}
    return whole_characters(json.dumps(texts, ensure_ascii=False))


_NOT_IN_AN_ID = re.compile(r"[;'\\\x00-\x1f]")


@dataclass(frozen=True, slots=True)
class ValueProblem:
    """One value that does not fit, and where it came from."""

    target: str
    column: str
    key: str
    """The primary key, `id=5`."""
    value: str
    reason: str
    at: str
    """The position in the source and the source table."""

    @property
    def record(self) -> str:
        """The id of the record, which `skip_record` takes: one item of its list, and a literal of SQL without quotes inside."""
        return _NOT_IN_AN_ID.sub("_", f"{self.at}/{self.key}").strip()

    def error(self, field: DataField, *, must_be_set: bool) -> BadSourceValue:
        """The error of a sync that stops here. `must_be_set`: the column is a key or NOT NULL, so that NULL is no way out."""
        shortened = self.value if len(self.value) <= _MAX_TEXT else f"{self.value[:_MAX_TEXT]}..."
        ways = "'dead-letter'" if must_be_set else "'null', 'text' or 'dead-letter'"
        return BadSourceValue(
            f"{self.target}: column {self.column!r} ({field.type}) cannot hold {shortened!r} of the row with key {self.key}: "
            f"{self.reason}; position {self.at}",
            hint=f"start the sync again with on_value_error => {ways}, or without this record: skip_record => '{self.record}'",
            table=self.target,
            column=self.column,
            key=self.key,
            value=self.value,
            position=self.at,
            record=self.record,
        )
