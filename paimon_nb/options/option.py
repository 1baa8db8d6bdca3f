"""One option, declared once: key, type, default, range, meaning; and the parsers of option values.

The parsers accept exactly what Java Paimon accepts: accepted values may be stored in a schema file, and a value that Java cannot
parse makes the table unreadable for it. Source: Paimon's MemorySize, TimeUtils, OptionsUtils and StructuredOptionsSplitter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from paimon_nb.base.errors import BadOptionValue, PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import MASK, is_secret

INT_MAX = (1 << 31) - 1
LONG_MAX = (1 << 63) - 1
INFINITE = LONG_MAX
"""'No limit', which Paimon prints as 'infinite'; a default, never a text that can be set."""

_UNITS_BYTES = {
    "": 1, "b": 1, "bytes": 1, "k": 1 << 10, "kb": 1 << 10, "kibibytes": 1 << 10, "m": 1 << 20, "mb": 1 << 20,
    "mebibytes": 1 << 20, "g": 1 << 30, "gb": 1 << 30, "gibibytes": 1 << 30, "t": 1 << 40, "tb": 1 << 40,
    "tebibytes": 1 << 40,
}  # fmt: skip
_UNITS_NS = {
    "ns": 1, "nano": 1, "nanos": 1, "nanosecond": 1, "nanoseconds": 1,
    "µs": 1_000, "micro": 1_000, "micros": 1_000, "microsecond": 1_000, "microseconds": 1_000,
    "": 10**6, "ms": 10**6, "milli": 10**6, "millis": 10**6, "millisecond": 10**6, "milliseconds": 10**6,
    "s": 10**9, "sec": 10**9, "secs": 10**9, "second": 10**9, "seconds": 10**9,
    "m": 60 * 10**9, "min": 60 * 10**9, "minute": 60 * 10**9, "minutes": 60 * 10**9,
    "h": 3600 * 10**9, "hour": 3600 * 10**9, "hours": 3600 * 10**9,
    "d": 86400 * 10**9, "day": 86400 * 10**9, "days": 86400 * 10**9,
}  # fmt: skip
_JAVA_BLANKS = "".join(map(chr, range(33)))
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|NaN|Infinity)[fFdD]?", re.ASCII)


def _parse_with_unit(value: str, units: Mapping[str, int], kind: str, example: str) -> int:
    """digits, then a unit; returns the value in the smallest unit of `units`."""
    trimmed = value.strip(_JAVA_BLANKS)
    digits = re.match(r"[0-9]*", trimmed)
    number = digits[0] if digits else ""
    unit = trimmed[len(number) :].strip(_JAVA_BLANKS).lower()
    if not number:
        raise ValueError(f"it is not a {kind} such as {example}")
    if unit not in units:
        raise ValueError(f"{unit!r} is not a unit; the units are {', '.join(u for u in units if u)}")
    if int(number) > LONG_MAX:
        raise ValueError("it is too large for 64 bits")
    return int(number) * units[unit]


def parse_names(text: str | None) -> tuple[str, ...]:
    """'a, b' -> ('a', 'b'); blanks around names and empty names are ignored."""
    return tuple(p.strip() for p in (text or "").split(",") if p.strip())


def without_prefix(options: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The options whose keys begin with a prefix, under the rest of their keys."""
    return {key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)}


def parse_memory(value: str) -> int:
    """'128 mb' -> bytes; a plain number is bytes. Units are powers of 1024, in any case."""
    size = _parse_with_unit(value, _UNITS_BYTES, "size", "'128 mb'")
    if size > LONG_MAX:
        raise ValueError("it is too large for 64 bits")
    return size


def parse_duration_ms(value: str) -> int:
    """'1 h' -> milliseconds; a plain number is milliseconds. Finer units are truncated to whole milliseconds."""
    ms = _parse_with_unit(value, _UNITS_NS, "time span", "'1 h'") // 10**6
    if ms > LONG_MAX:
        raise ValueError("it is too large for 64 bits")
    return ms


def parse_bool(value: str) -> bool:
    """'true' or 'false' in any case."""
    match value.lower():
        case "true":
            return True
        case "false":
            return False
    raise ValueError("it is neither true nor false")


def _parse_integer(value: str, bits: int) -> int:
    if not re.fullmatch(r"[+-]?\d+", value):
        raise ValueError("it is not a whole number")
    number, limit = int(value), 1 << (bits - 1)
    if not -limit <= number < limit:
        raise ValueError(f"it does not fit {bits} bits")
    return number


def parse_int(value: str) -> int:
    """A number of 32 bits, without blanks around it."""
    return _parse_integer(value, 32)


def parse_long(value: str) -> int:
    """A number of 64 bits, without blanks around it."""
    return _parse_integer(value, 64)


def parse_float(value: str) -> float:
    trimmed = value.strip(_JAVA_BLANKS)
    if not _NUMBER.fullmatch(trimmed):
        raise ValueError("it is not a number")
    return float(trimmed.rstrip("fFdD"))


def parse_map(value: str) -> dict[str, str]:
    """'0:avro,3:parquet' -> {'0': 'avro', '3': 'parquet'}; quotes of either kind protect ',' and ':'."""
    out: dict[str, str] = {}
    for item in _split_unquoted(value, ","):
        pair = _split_unquoted(item, ":")
        if len(pair) != 2:
            raise ValueError(f"{item!r} is not a pair 'key:value'")
        key, text = pair
        if key in out:
            raise ValueError(f"{key!r} occurs twice")
        out[key] = text
    return out


def _split_unquoted(value: str, delimiter: str) -> list[str]:
    """The parts between delimiters; empty parts count between two delimiters only, as in Java."""
    parts: list[str] = []
    previous_kind = ""
    for kind, text in _quoted_tokens(value, delimiter):
        if kind == "delimiter":
            if previous_kind == "delimiter":
                parts.append("")
        elif previous_kind == "quoted" or (kind == "quoted" and previous_kind == "plain"):
            raise ValueError("quotes must enclose a whole part")
        else:
            parts.append(text)
        previous_kind = kind
    return parts


def _quoted_tokens(value: str, delimiter: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(value):
        char = value[position]
        if char in "'\"":
            quoted = re.compile(f"{char}((?:[^{char}]|{char}{char})*){char}(?!{char})").match(value, position)
            if not quoted:
                raise ValueError("a quote is not closed")
            yield "quoted", quoted[1].replace(char * 2, char)
            position = quoted.end()
        elif char == delimiter:
            yield "delimiter", char
            position += 1
        elif char.isspace():
            position += 1
        else:
            end = value.find(delimiter, position)
            end = len(value) if end < 0 else end
            yield "plain", value[position:end].strip(_JAVA_BLANKS)
            position = end


T = TypeVar("T")
Check = Callable[[Any], str | None]


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    """A typed option. Equal keys mean equal options."""

    key: str
    kind: str
    """The type as text, for messages and docs."""
    default: T | None
    doc: str
    parse: Callable[[str], T]
    """Parses the text of a schema file; `ValueError` explains a failure."""
    choices: tuple[str, ...] = ()
    check: Callable[[T], str | None] | None = None
    """Returns why a parsed value is out of range, or None."""
    fixed_after_data: bool = False
    """Whether Java forbids changing it on an existing table (docs/spec/format.md section 4)."""
    fallback_keys: tuple[str, ...] = ()
    """Older keys, used if `key` is absent."""

    @property
    def secret(self) -> bool:
        """Whether the value is displayed as '***'."""
        return is_secret(self.key)

    @property
    def is_map(self) -> bool:
        """Whether `key.<name>` = value also sets one pair of the map."""
        return isinstance(self.default, dict)

    def read(self, raw: Mapping[str, str]) -> T | None:
        """The value in `raw`, else the default. Raises `BadOptionValue`."""
        for key in (self.key, *self.fallback_keys):
            if key in raw:
                return self.value(raw[key], key)
        if self.is_map:
            pairs: Any = without_prefix(raw, self.key + ".")
            if pairs:
                return self._check_range(pairs, pairs, self.key)
        return self.default

    def map_entry(self, key: str) -> Option[str]:
        """The option that `key` = `<this key>.<name>` sets: one pair of this map."""
        name = key.removeprefix(self.key + ".")
        check: Any = self.check
        return Option(key, "text", None, self.doc, str, check=lambda v: check({name: v}) if check else None)

    def value(self, text: str, key: str | None = None) -> T:
        """`text` as a validated value. Raises `BadOptionValue` with `key` and the allowed values."""
        try:
            parsed = self.parse(str(text))
        except (ValueError, PaimonError) as error:
            raise self._bad_value(text, str(error).partition("\n")[0], key or self.key) from None
        return self._check_range(parsed, text, key or self.key)

    def _check_range(self, parsed: T, text: object, key: str) -> T:
        problem = self.check(parsed) if self.check else None
        if problem:
            raise self._bad_value(text, problem, key)
        return parsed

    def _bad_value(self, text: object, why: str, key: str) -> BadOptionValue:
        display = MASK if is_secret(key) else repr(text)
        default = "no default" if self.default in (None, {}) else f"the default is {self.default_text}"
        return BadOptionValue(
            f"option {key!r} cannot be {display}: {why}",
            hint=f"use {' | '.join(self.choices)}" if self.choices else f"use a {self.kind}; {default}",
            option=key,
            value=display,
        )

    @property
    def default_text(self) -> str:
        """The default as option text, 'infinite' for no limit, '' for none."""
        match self.default:
            case None:
                return ""
            case bool():
                return str(self.default).lower()
            case dict():
                return ",".join(f"{k}:{v}" for k, v in self.default.items())
            case int() if self.default == INFINITE:
                return "infinite"
            case int() if self.parse is parse_memory:
                return _with_unit(self.default, ((1 << 30, "gb"), (1 << 20, "mb"), (1 << 10, "kb"), (1, "b")))
            case int() if self.parse is parse_duration_ms:
                return _with_unit(self.default, ((3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms")))
        return str(self.default)


def _with_unit(number: int, units: tuple[tuple[int, str], ...]) -> str:
    """`number` in the largest unit that keeps it an integer."""
    size, unit = next((size, unit) for size, unit in units if number % size == 0 and (number or size == 1))
    return f"{number // size} {unit}"


def boolean(key: str, default: bool | None, doc: str, **more: Any) -> Option[bool]:
    return Option(key, "true or false", default, doc, parse_bool, ("true", "false"), **more)


def integer(key: str, default: int | None, doc: str, **more: Any) -> Option[int]:
    """A number of 32 bits."""
    return Option(key, "whole number", default, doc, parse_int, **more)


def long(key: str, default: int | None, doc: str, **more: Any) -> Option[int]:
    """A number of 64 bits."""
    return Option(key, "whole number (64 bits)", default, doc, parse_long, **more)


def number(key: str, default: float | None, doc: str, **more: Any) -> Option[float]:
    return Option(key, "number", default, doc, parse_float, **more)


def text(key: str, default: str | None, doc: str, **more: Any) -> Option[str]:
    return Option(key, "text", default, doc, str, **more)


def memory(key: str, default: str | None, doc: str, **more: Any) -> Option[int]:
    """A size; the value is in bytes."""
    return Option(key, "size such as '128 mb'", _parse_default(default, parse_memory), doc, parse_memory, **more)


def duration(key: str, default: str | None, doc: str, **more: Any) -> Option[int]:
    """A time span; the value is in milliseconds."""
    return Option(
        key, "time span such as '1 h'", _parse_default(default, parse_duration_ms), doc, parse_duration_ms, **more
    )


def _parse_default(value: str | None, parse: Callable[[str], int]) -> int | None:
    if value is None:
        return None
    return INFINITE if value == "infinite" else parse(value)


def mapping(key: str, doc: str, **more: Any) -> Option[dict[str, str]]:
    """Pairs by level of the tree."""
    return Option(key, "list of pairs such as '0:avro,3:parquet'", {}, doc, parse_map, **more)


def choice(key: str, default: str | None, choices: str, doc: str, **more: Any) -> Option[str]:
    """One of `choices` (separated by blanks), case-insensitive; the value is the choice as declared."""
    allowed = tuple(choices.split())
    choice_by_upper = {word.upper(): word for word in allowed}

    def parse_choice(value: str) -> str:
        if value.upper() in choice_by_upper:
            return choice_by_upper[value.upper()]
        raise ValueError(f"it is one of {', '.join(allowed)}")

    return Option(key, "word", default, doc, parse_choice, allowed, **more)


def check_bucket_count(value: int) -> str | None:
    """The check of the option `bucket`."""
    fits = value >= 1 or value in (-1, -2)
    return None if fits else "a bucket number is at least 1, or -1 (dynamic), or -2 (postponed)"


def at_least(minimum: int) -> Check:
    return lambda value: None if value >= minimum else f"it must be at least {minimum}"


def between(minimum: float, maximum: float) -> Check:
    return lambda value: None if minimum <= value <= maximum else f"it must be between {minimum} and {maximum}"


def values_by_level(words: frozenset[str] | None = None) -> Check:
    """For pairs by level: keys are level numbers, values are one of `words`, case-insensitive."""

    def check_levels_and_words(pairs: dict[str, str]) -> str | None:
        for level, word in pairs.items():
            if not re.fullmatch(r"\d+", level):
                return f"{level!r} is not a level"
            if words is not None and word.lower() not in words:
                return f"{word!r} is not one of {', '.join(sorted(words))}"
        return None

    return check_levels_and_words


def one_of(words: frozenset[str]) -> Check:
    """For a text that is one of `words`, case-insensitive."""
    return lambda value: None if value.lower() in words else f"it is one of {', '.join(sorted(words))}"
