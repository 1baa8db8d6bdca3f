"""One option, declared once: key, type, default, range, meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from paimon_nb.base.errors import BadOptionValue, PaimonError
from paimon_nb.base.redact import is_secret
from paimon_nb.options.values import (
    parse_bool,
    parse_duration_ms,
    parse_float,
    parse_int,
    parse_map,
    parse_memory,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    """A typed option. `kind` names its type in messages and docs."""

    key: str
    kind: str
    default: T | None
    doc: str
    parse: Callable[[str], T]
    choices: tuple[str, ...] = ()
    check: Callable[[T], str | None] | None = None
    """Gives the reason why a parsed value is out of range, or None."""
    fixed_after_data: bool = False
    fallback_keys: tuple[str, ...] = ()
    """Older spellings that count where `key` is absent."""
    no_effect: str | None = None
    """Why the option is only kept: it belongs to an engine that is not here."""

    @property
    def secret(self) -> bool:
        return is_secret(self.key)

    def read(self, raw: Mapping[str, str]) -> T | None:
        """The value in `raw`, else the default. Raises `BadOptionValue`."""
        for key in (self.key, *self.fallback_keys):
            if key in raw:
                return self.value(raw[key])
        return self.default

    def value(self, text: str) -> T:
        """`text` as a checked value. Raises `BadOptionValue` that says what is allowed."""
        try:
            parsed = self.parse(str(text))
        except (ValueError, PaimonError) as error:
            raise self._bad(text, str(error).partition("\n")[0]) from None
        why = self.check(parsed) if self.check else None
        if why:
            raise self._bad(text, why)
        return parsed

    def _bad(self, text: str, why: str) -> BadOptionValue:
        shown = "***" if self.secret else repr(text)
        return BadOptionValue(
            f"option {self.key!r} cannot be {shown}: {why}",
            hint=f"use {' | '.join(self.choices)}" if self.choices else f"{self.kind}; default {self.default}",
            option=self.key,
        )


def boolean(key: str, default: bool | None, doc: str, **more: Any) -> Option[bool]:
    return Option(key, "true or false", default, doc, parse_bool, ("true", "false"), **more)


def integer(key: str, default: int | None, doc: str, **more: Any) -> Option[int]:
    return Option(key, "whole number", default, doc, parse_int, **more)


def number(key: str, default: float | None, doc: str, **more: Any) -> Option[float]:
    return Option(key, "number", default, doc, parse_float, **more)


def text(key: str, default: str | None, doc: str, **more: Any) -> Option[str]:
    return Option(key, "text", default, doc, str, **more)


def memory(key: str, default: str | None, doc: str, **more: Any) -> Option[int]:
    """A size; the value is in bytes."""
    return Option(
        key, "size such as '128 mb'", None if default is None else parse_memory(default), doc, parse_memory, **more
    )


def duration(key: str, default: str | None, doc: str, **more: Any) -> Option[int]:
    """A time span; the value is in milliseconds."""
    value = None if default is None else parse_duration_ms(default)
    return Option(key, "time span such as '1 h'", value, doc, parse_duration_ms, **more)


def mapping(key: str, doc: str, **more: Any) -> Option[dict[str, str]]:
    return Option(key, "pairs such as '0:avro,3:parquet'", {}, doc, parse_map, **more)


def choice(key: str, default: str | None, choices: str, doc: str, **more: Any) -> Option[str]:
    """One word of `choices` (separated by blanks); case and '_' for '-' do not matter, as in Paimon."""
    allowed = tuple(choices.split())

    def parse(value: str) -> str:
        folded = value.strip().lower().replace("_", "-")
        for word in allowed:
            if word.lower().replace("_", "-") == folded:
                return word
        raise ValueError(f"it is one of {', '.join(allowed)}")

    return Option(key, "one of", default, doc, parse, allowed, **more)


def at_least(least: int) -> Callable[[Any], str | None]:
    return lambda value: None if value >= least else f"it must be at least {least}"


def between(least: float, most: float) -> Callable[[Any], str | None]:
    return lambda value: None if least <= value <= most else f"it must be between {least} and {most}"
