"""Interface of connectors: `Source`, `Sink` and the table definition they get. Connectors depend on neither SQL nor catalogs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

from paimon_nb.base.errors import BadOptionValue, UnknownOption, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.types import DataField, parse_type

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConnectorTable:
    """Definition of a connector table, from CREATE TABLE."""

    name: str
    fields: tuple[DataField, ...]
    """Columns in order, with METADATA columns and without computed columns."""
    options: Mapping[str, str]
    """All options of WITH (...), including `connector`."""
    primary_keys: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    """METADATA columns: column name -> metadata key."""
    virtual: frozenset[str] = frozenset()
    """METADATA columns declared VIRTUAL: an INSERT does not write them."""

    @property
    def connector(self) -> str:
        return self.options["connector"]

    @property
    def physical(self) -> tuple[DataField, ...]:
        """Columns without METADATA columns."""
        return tuple(f for f in self.fields if f.name not in self.metadata)

    @property
    def stored(self) -> tuple[DataField, ...]:
        """Columns that an INSERT writes."""
        return tuple(f for f in self.fields if f.name not in self.virtual)

    def check_options(self, *known: str, patterns: Sequence[str] = (), metadata: Collection[str] = ()) -> None:
        """Check the option names and metadata keys of the table.

        Args:
            known: names of the options.
            patterns: prefixes of further options.
            metadata: metadata keys; a key may end with `*`.

        Raises:
            UnknownOption: an option is not one of these.
            UnsupportedOperation: a METADATA column has another key.
        """
        for column, key in self.metadata.items():
            if key not in metadata and not any(m.endswith("*") and key.startswith(m[:-1]) for m in metadata):
                raise UnsupportedOperation(
                    f"connector {self.connector!r} has no metadata for column {column!r}"
                    + (f" ({key!r})" if key != column else ""),
                    hint=f"metadata: {', '.join(metadata)}" if metadata else "remove the METADATA column",
                )
        for key in self.options:
            if key not in ("connector", *known) and not key.startswith(tuple(patterns)):
                raise UnknownOption(
                    f"connector {self.connector!r} has no option {key!r}",
                    hint=did_you_mean(key, known) or f"options: {', '.join(sorted(known))}",
                    option=key,
                )

    def require(self, key: str) -> str:
        """Value of a required option. Raises BadOptionValue: it is missing."""
        if key not in self.options:
            raise BadOptionValue(f"connector {self.connector!r} needs {key!r}", hint=f"add '{key}' = '...'", option=key)
        return self.options[key]

    def convert_option(self, key: str, default: T, convert: Callable[[str], T]) -> T:
        """Converted value of an option, or the default. Raises BadOptionValue: `convert` fails."""
        if key not in self.options:
            return default
        try:
            return convert(self.options[key])
        except (ValueError, ArithmeticError):
            raise BadOptionValue(
                f"invalid value {self.options[key]!r} for option {key!r}", hint=f"for example {default!r}", option=key
            ) from None


KIND, ORDER = "rowkind", "__paimon_order"
"""Columns that a changelog source appends: the row kind (+I, -U, +U, -D), and a BIGINT that increases from change to change
of the same row within a micro-batch."""
CHANGELOG_FIELDS = (DataField(-1, KIND, parse_type("STRING")), DataField(-2, ORDER, parse_type("BIGINT")))
"""`KIND` and `ORDER` as fields."""


class Source(ABC):
    """A source of rows."""

    bounded: bool
    """Whether the source ends. Batch mode reads only bounded sources."""
    changes = False
    """Whether this is a changelog source: `stream` then appends the columns `KIND` and `ORDER`."""
    random_rows = False
    """Whether another source of the same table has other rows; all readers of one statement then share a source."""

    def batch(self, spark: SparkSession) -> DataFrame:
        """All rows. Raises UnsupportedOperation: the source is unbounded."""
        raise UnsupportedOperation(
            f"{type(self).__name__.lower()} never ends, so batch mode cannot read it",
            hint="SET 'execution.runtime-mode' = 'streaming'",
        )

    @abstractmethod
    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        """The rows as a stream.

        Args:
            spark: the session.
            begin: offset in the checkpoint of the query, 'fresh' for a new query, or None if unknown.
        """

    def is_read(self, offset: Any) -> bool:
        """Whether a bounded source has no row after this offset of its stream. Called while no rows are available."""
        return True


class Sink(ABC):
    """A sink for rows."""

    @abstractmethod
    def store(self, batch: DataFrame, number: int | None = None) -> int:
        """Write the rows of a batch and return their number.

        Args:
            batch: the rows. The last column may be `rowkind`.
            number: id of the micro-batch in its query, or None in batch mode. The same id comes again after a crash.
        """
