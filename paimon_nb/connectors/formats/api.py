"""What every format of messages answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from paimon_nb.base.errors import BadMessage, BadOptionValue, UnknownOption
from paimon_nb.base.registry import did_you_mean

T = TypeVar("T")
INSERT, BEFORE, AFTER, DELETE = "+I", "-U", "+U", "-D"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows out of some messages."""

    table: pa.Table
    """The columns asked for, in their Arrow types."""
    kinds: list[str]
    messages: list[int]
    """For each row the number of its message among those given."""


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """The options of one format: `json.ignore-parse-errors` is 'ignore-parse-errors' here."""

    format: str
    settings: Mapping[str, str]

    @staticmethod
    def of(format: str, prefix: str, options: Mapping[str, str]) -> FormatOptions:
        """Those that begin with `<prefix><format>.`, where prefix is '', 'key.' or 'value.'."""
        begin = f"{prefix}{format}."
        return FormatOptions(format, {k[len(begin) :]: v for k, v in options.items() if k.startswith(begin)})

    def only(self, *known: str) -> None:
        """Raises UnknownOption."""
        for key in self.settings:
            if key not in known:
                raise UnknownOption(
                    f"format {self.format!r} has no option {key!r}",
                    hint=did_you_mean(key, known) or f"options: {', '.join(sorted(known)) or 'none'}",
                    option=f"{self.format}.{key}",
                )

    def parsed(self, key: str, default: T, convert: Callable[[str], T]) -> T:
        """Raises BadOptionValue."""
        try:
            return convert(self.settings[key]) if key in self.settings else default
        except ValueError:
            raise BadOptionValue(
                f"option '{self.format}.{key}' cannot be {self.settings[key]!r}", option=f"{self.format}.{key}"
            ) from None


class Decoder(ABC):
    """Messages to rows. Pickled into tasks."""

    changes = False
    """Its rows also change and go."""

    @abstractmethod
    def decode(self, messages: Sequence[bytes | None]) -> Rows:
        """All rows, in the order of the messages. A message without a value (a tombstone) gives none.

        Raises:
            BadMessage: a message that is not what the format says, unless it is to be skipped.
        """


class Encoder(ABC):
    """Rows to messages. Pickled into tasks."""

    changes = False
    """It has a form for retractions."""

    @abstractmethod
    def encode(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[bytes | None]:
        """One message a row. `rows` has the columns that the encoder was made for."""


class Unreadable(ValueError):
    """Why a message is not understood. It becomes `BadMessage`, or the message is left out."""


def refuse(format: str, message: bytes | None, why: object) -> BadMessage:
    """The error for a message."""
    excerpt = (message or b"")[:200].decode("utf-8", "replace")
    return BadMessage(
        f"a message is no {format} of this table: {why}: {excerpt}",
        hint="'scan.bad-messages' = 'skip' leaves such messages out, 'dead-letter' keeps them in a topic of their own"
        if format in ("raw", "avro")
        else f"'{format}.ignore-parse-errors' = 'true' leaves such messages out",
    )
