"""Metadata of a change as columns of the target: the option `metadata_column`.

Source: Paimon's CdcMetadataConverter; the keys of Kafka are those of release 1.4.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.types import parse_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.format.types import DataType

_TIME = "TIMESTAMP(3) WITH LOCAL TIME ZONE"
OF_MYSQL = {"database_name": "STRING", "table_name": "STRING", "op_ts": _TIME}
OF_POSTGRES = {"database_name": "STRING", "schema_name": "STRING", "table_name": "STRING", "op_ts": _TIME}
OF_KAFKA = {"topic": "STRING", "partition": "INT", "offset": "BIGINT", "timestamp": _TIME, "timestamp_type": "STRING"}
"""Type by key, for each kind of source."""


@dataclass(frozen=True, slots=True)
class MetadataColumns:
    """The metadata columns of a sync."""

    keys: tuple[str, ...]
    prefix: str
    types: Mapping[str, DataType]
    """By column name."""

    @staticmethod
    def of(keys: Sequence[str], prefix: str, known: Mapping[str, str]) -> MetadataColumns:
        """Parse the options. Raises BadOptionValue: the source has no such key."""
        for key in keys:
            if key not in known:
                raise BadOptionValue(
                    f"unknown metadata_column {key!r}",
                    hint=did_you_mean(key, known) or f"one of {', '.join(known)}",
                    option="metadata_column",
                )
        return MetadataColumns(tuple(keys), prefix, {f"{prefix}{k}": parse_type(known[k]) for k in keys})

    def add_to(self, columns: Mapping[str, tuple[DataType, str | None]]) -> dict[str, tuple[DataType, str | None]]:
        """The columns of a source with these. Raises BadOptionValue: the source has a column of this name."""
        for name in self.types:
            if name in columns:
                raise BadOptionValue(
                    f"the source has a column {name!r}, too",
                    hint="set metadata_column_prefix, for example '_'",
                    option="metadata_column",
                )
        return {**columns, **{name: (t, None) for name, t in self.types.items()}}

    def row(self, row: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
        """A row with the metadata of its change; `values` by key."""
        return {**row, **{f"{self.prefix}{k}": values[k] for k in self.keys}} if self.keys else row


def time_of_ms(ms: int) -> dt.datetime:
    """A time in UTC from epoch milliseconds."""
    return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=ms)
