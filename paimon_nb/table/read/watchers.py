"""What a catalog wants to know of a table's commits. `store` is the `TableStore`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection


class CommitWatcher(Protocol):
    """Listener for committed partition changes, such as a metastore that lists partitions."""

    def added(self, store: Any, partitions: Collection[bytes]) -> None:
        """Called after a snapshot with new files in these partitions was published."""

    def dropped(self, store: Any, partitions: Collection[bytes]) -> None:
        """Called after these partitions were dropped."""


class IcebergCatalog(Protocol):
    """A catalog of Iceberg in which tables with `metadata.iceberg.storage` = hive-catalog or rest-catalog are registered."""

    def register(self, store: Any, path: str) -> None:
        """Let the catalog's table have the Iceberg metadata of the file `path`. Does nothing if it has.

        Raises:
            PaimonError: the catalog does not answer or does not accept it.
        """
