"""One option, declared once: key, type, default, range, meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from paimon_nb.base.errors import BadOptionValue, PaimonError
from paimon_nb.base.redact import MASK, is_secret
from paimon_nb.options.parsing import (
    INFINITE,
    parse_bool,
    parse_duration_ms,
    parse_float,
    parse_int,
    parse_long,
    parse_map,
    parse_memory,
)

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
            prefix = self.key + "."
            pairs: Any = {k.removeprefix(prefix): v for k, v in raw.items() if k.startswith(prefix)}
            if pairs:
                return self._check_range(pairs, pairs, self.key)
        return self.default

    def at_level(self, key: str) -> Option[str]:
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

    def parse(value: str) -> str:
        if value.upper() in choice_by_upper:
            return choice_by_upper[value.upper()]
        raise ValueError(f"it is one of {', '.join(allowed)}")

    return Option(key, "word", default, doc, parse, allowed, **more)


def at_least(minimum: int) -> Check:
    return lambda value: None if value >= minimum else f"it must be at least {minimum}"


def between(minimum: float, maximum: float) -> Check:
    return lambda value: None if minimum <= value <= maximum else f"it must be between {minimum} and {maximum}"


def levels_of(words: frozenset[str] | None = None) -> Check:
    """For pairs by level: keys are level numbers, values are one of `words`, case-insensitive."""

    def check(pairs: dict[str, str]) -> str | None:
        for level, word in pairs.items():
            if not re.fullmatch(r"\d+", level):
                return f"{level!r} is not a level"
            if words is not None and word.lower() not in words:
                return f"{word!r} is not one of {', '.join(sorted(words))}"
        return None

    return check


def among(words: frozenset[str]) -> Check:
    """For a text that is one of `words`, case-insensitive."""
    return lambda value: None if value.lower() in words else f"it is one of {', '.join(sorted(words))}"
