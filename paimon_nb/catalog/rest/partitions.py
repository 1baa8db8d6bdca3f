"""The partitions that a catalog server registers for a format table. Source: Paimon 2.1 `CatalogFormatTablePartitionManager.java`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.rest.api import RestApi
    from paimon_nb.format.snapshot import PartitionStatistics

_REQUEST_SIZE = 1000
"""Partitions of one request; servers limit their number."""


@dataclass(frozen=True)
class RestPartitions:
    """Implements `PartitionService` for one table."""

    api: RestApi
    name: Identifier

    def registered(self) -> list[Mapping[str, str]]:
        found = [node.get("spec") for node in self.api.partitions(self.name)]
        for spec in found:
            if not isinstance(spec, dict):
                raise SourceUnavailable(
                    f"partitions of table {self.name}: the catalog server at {self.api.transport.uri} lists one without a 'spec'",
                    hint="check the version of the catalog server",
                    server=self.api.transport.uri,
                    sent=True,
                )
        return [spec for spec in found if spec is not None]

    def create(
        self,
        specs: Sequence[Mapping[str, str]],
        statistics: Sequence[PartitionStatistics] = (),
        *,
        if_not_exists: bool = True,
        replace: bool = False,
    ) -> None:
        # The server rejects all of a request or none of it, so one that may be rejected is not divided.
        size = _REQUEST_SIZE if if_not_exists else max(1, len(specs))
        for start in range(0, len(specs), size):
            part, known = specs[start : start + size], statistics[start : start + size]
            self.api.create_partitions(self.name, part, known, if_not_exists=if_not_exists, replace=replace)

    def drop(self, specs: Sequence[Mapping[str, str]]) -> None:
        for start in range(0, len(specs), _REQUEST_SIZE):
            self.api.drop_partitions(self.name, specs[start : start + _REQUEST_SIZE])
