"""Interface of message formats: `Decoder`, `Encoder` and their options."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.errors import BadMessage, BadOptionValue, UnknownOption
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa

T = TypeVar("T")
INSERT, BEFORE, AFTER, DELETE = "+I", "-U", "+U", "-D"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows decoded from messages."""

    table: pa.Table
    """The requested columns in their Arrow types."""
    kinds: list[str]
    messages: list[int]
    """For each row, the index of its message in the input."""


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """Options of one format without the name of the format: 'ignore-parse-errors' for `json.ignore-parse-errors`."""

    format: str
    settings: Mapping[str, str]

    @staticmethod
    def of(format: str, prefix: str, options: Mapping[str, str]) -> FormatOptions:
        """The options that start with `<prefix><format>.`. The prefix is '', 'key.' or 'value.'."""
        begin = f"{prefix}{format}."
        return FormatOptions(format, {k[len(begin) :]: v for k, v in options.items() if k.startswith(begin)})

    def check_options(self, *known: str) -> None:
        """Raises UnknownOption: an option is not one of `known`."""
        for key in self.settings:
            if key not in known:
                raise UnknownOption(
                    f"format {self.format!r} has no option {key!r}",
                    hint=did_you_mean(key, known) or f"options: {', '.join(sorted(known)) or 'none'}",
                    option=f"{self.format}.{key}",
                )

    def convert_option(self, key: str, default: T, convert: Callable[[str], T]) -> T:
        """Converted value of an option, or the default. Raises BadOptionValue: `convert` fails."""
        try:
            return convert(self.settings[key]) if key in self.settings else default
        except ValueError:
            raise BadOptionValue(
                f"invalid value {self.settings[key]!r} for option '{self.format}.{key}'", option=f"{self.format}.{key}"
            ) from None


class Decoder(ABC):
    """Decodes messages to rows. Pickled into tasks."""

    changes = False
    """Whether the rows are a changelog: their kinds are not all +I."""

    @abstractmethod
    def decode(self, messages: Sequence[bytes | None]) -> Rows:
        """All rows in the order of the messages. A message without a value (a tombstone) has no rows.

        Raises:
            BadMessage: a message is malformed and the options do not skip it.
        """


class Encoder(ABC):
    """Encodes rows to messages. Pickled into tasks."""

    changes = False
    """Whether the format can encode retractions."""

    @abstractmethod
    def encode(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[bytes | None]:
        """One message per row. `rows` has the columns of the encoder."""


class MalformedMessage(ValueError):
    """Reason why a message cannot be decoded. The decoder raises `BadMessage` or skips the message."""


def bad_message(format: str, message: bytes | None, why: object) -> BadMessage:
    """The error for a message that cannot be decoded."""
    excerpt = (message or b"")[:200].decode("utf-8", "replace")
    return BadMessage(
        f"cannot decode a message as {format}: {why}: {excerpt}",
        hint="'scan.bad-messages' = 'skip' skips such messages; 'dead-letter' writes them to another topic"
        if format in ("raw", "avro")
        else f"'{format}.ignore-parse-errors' = 'true' skips such messages",
    )
