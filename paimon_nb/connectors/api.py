"""What every connector answers. A connector knows its options and its world, and neither SQL nor catalogs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, UnknownOption, UnsupportedOperation
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.types import DataField

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Declared:
    """A connector table as CREATE TABLE declares it."""

    name: str
    fields: tuple[DataField, ...]
    """Its physical columns; computed ones are added by whoever reads."""
    options: Mapping[str, str]
    """All of WITH (...), `connector` included."""

    @property
    def connector(self) -> str:
        return self.options["connector"]

    def only(self, *known: str, patterns: Sequence[str] = ()) -> None:
        """Raise UnknownOption for an option that is neither `known` nor begins with one of `patterns`."""
        for key in self.options:
            if key not in ("connector", *known) and not key.startswith(tuple(patterns)):
                raise UnknownOption(
                    f"connector {self.connector!r} has no option {key!r}",
                    hint=did_you_mean(key, known) or f"options: {', '.join(sorted(known))}",
                    option=key,
                )

    def need(self, key: str) -> str:
        """An option that must be there. Raises BadOptionValue."""
        if key not in self.options:
            raise BadOptionValue(f"connector {self.connector!r} needs {key!r}", hint=f"add '{key}' = '...'", option=key)
        return self.options[key]

    def parsed(self, key: str, default: Any, convert: Callable[[str], Any]) -> Any:
        """An option's value, converted; the default when it is not given. Raises BadOptionValue."""
        if key not in self.options:
            return default
        try:
            return convert(self.options[key])
        except (ValueError, ArithmeticError):
            raise BadOptionValue(
                f"option {key!r} cannot be {self.options[key]!r}", hint=f"for example {default!r}", option=key
            ) from None


class Source(ABC):
    """Rows from somewhere."""

    bounded: bool
    """The rows come to an end, so that batch mode can read them."""

    def batch(self, spark: SparkSession) -> DataFrame:
        """All rows. Raises UnsupportedOperation: they never end."""
        raise UnsupportedOperation(
            f"{type(self).__name__.lower()} never ends, so batch mode cannot read it",
            hint="SET 'execution.runtime-mode' = 'streaming'",
        )

    @abstractmethod
    def stream(self, spark: SparkSession) -> DataFrame:
        """The rows as they come."""


class Sink(ABC):
    """A place for rows."""

    @abstractmethod
    def store(self, batch: DataFrame) -> int:
        """Take the rows of one batch or micro-batch; `rowkind` may be a last column. Returns how many they were."""
