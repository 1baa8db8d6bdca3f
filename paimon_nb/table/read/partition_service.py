"""Partitions of a format table that a catalog server registers (`metastore.partitioned-table`): the registration decides which ones exist.

Source: Paimon 2.1 `FormatTablePartitionManager.java`, `CatalogSplitEnumerator.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.format.snapshot import PartitionStatistics


class PartitionService(Protocol):
    """A catalog server's register of the partitions of one table. A partition is named by texts, as its directory is. Pickled for Spark tasks."""

    def registered(self) -> list[Mapping[str, str]]:
        """The partitions, each as column -> text. Raises UnsupportedOperation: the server has no such register."""

    def create(
        self,
        specs: Sequence[Mapping[str, str]],
        statistics: Sequence[PartitionStatistics] = (),
        *,
        if_not_exists: bool = True,
        replace: bool = False,
    ) -> None:
        """Register partitions and report what they hold.

        Args:
            specs: the partitions.
            statistics: of each of them, in their order, or none; -1 is unknown and leaves what the server has.
            if_not_exists: False: one that exists is an error, and nothing is registered.
            replace: whether `statistics` are totals; False adds them to what the server has.

        Raises:
            AlreadyExists: see `if_not_exists`.
        """

    def drop(self, specs: Sequence[Mapping[str, str]]) -> None:
        """Take partitions out of the register. Their directories stay. Those that are not there are left out."""
