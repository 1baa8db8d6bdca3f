"""What every connector answers. A connector knows its options and its world, and neither SQL nor catalogs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from paimon_nb.base.errors import BadOptionValue, UnknownOption, UnsupportedOperation
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.types import DataField, parse_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Declared:
    """A connector table as CREATE TABLE declares it."""

    name: str
    fields: tuple[DataField, ...]
    """Its columns in order, METADATA columns included; computed ones are added by whoever reads."""
    options: Mapping[str, str]
    """All of WITH (...), `connector` included."""
    primary_keys: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Column -> key of those that are METADATA columns."""
    virtual: frozenset[str] = frozenset()
    """METADATA columns that are read and never written."""

    @property
    def connector(self) -> str:
        return self.options["connector"]

    @property
    def physical(self) -> tuple[DataField, ...]:
        """The columns that the connector's own rows hold."""
        return tuple(f for f in self.fields if f.name not in self.metadata)

    @property
    def stored(self) -> tuple[DataField, ...]:
        """The columns that an INSERT gives."""
        return tuple(f for f in self.fields if f.name not in self.virtual)

    def only(self, *known: str, patterns: Sequence[str] = (), metadata: Collection[str] = ()) -> None:
        """Raise UnknownOption for an option that is neither `known` nor begins with one of `patterns`, UnsupportedOperation
        for a METADATA column of another key than `metadata`."""
        for column, key in self.metadata.items():
            if key not in metadata and not any(m.endswith("*") and key.startswith(m[:-1]) for m in metadata):
                raise UnsupportedOperation(
                    f"connector {self.connector!r} has no metadata for column {column!r}"
                    + (f" ({key!r})" if key != column else ""),
                    hint=f"metadata: {', '.join(metadata)}" if metadata else "leave the METADATA column out",
                )
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

    def parsed(self, key: str, default: T, convert: Callable[[str], T]) -> T:
        """An option's value, converted; the default when it is not given. Raises BadOptionValue."""
        if key not in self.options:
            return default
        try:
            return convert(self.options[key])
        except (ValueError, ArithmeticError):
            raise BadOptionValue(
                f"option {key!r} cannot be {self.options[key]!r}", hint=f"for example {default!r}", option=key
            ) from None


KIND, ORDER = "rowkind", "__paimon_order"
"""Columns behind those of a source that tells changes: the row kind (+I, -U, +U, -D), and a BIGINT that rises from change to
change of the same row within a micro-batch."""
CHANGELOG_FIELDS = (DataField(-1, KIND, parse_type("STRING")), DataField(-2, ORDER, parse_type("BIGINT")))
"""The same as fields."""


class Source(ABC):
    """Rows from somewhere."""

    bounded: bool
    """The rows come to an end, so that batch mode can read them."""
    changes = False
    """Rows also change and go: `stream` gives `KIND` and `ORDER` behind the columns."""

    def batch(self, spark: SparkSession) -> DataFrame:
        """All rows. Raises UnsupportedOperation: they never end."""
        raise UnsupportedOperation(
            f"{type(self).__name__.lower()} never ends, so batch mode cannot read it",
            hint="SET 'execution.runtime-mode' = 'streaming'",
        )

    @abstractmethod
    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        """The rows as they come. `begin`: the offset that the query's checkpoint holds, 'fresh' for a new one, None: not known."""


class Sink(ABC):
    """A place for rows."""

    @abstractmethod
    def store(self, batch: DataFrame, number: int | None = None) -> int:
        """Take some rows; `rowkind` may be a last column. Returns how many they were.

        Args:
            number: of the micro-batch in its query, which may come again after a crash; None: the rows come only once.
        """
