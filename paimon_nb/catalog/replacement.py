"""A table that replaces another one. The old table stays until the rows of the new one can be committed.

Two ways, as the catalog decides: in place, where the directory of the old table gets a new schema and one snapshot that
overwrites all its rows; or by setting the old table aside and creating another one, which the old one replaces after a failure.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CommitConflict, PaimonError
from paimon_nb.format.schema import TableSchema, replacement_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.tables.table import Table

log = logging.getLogger(__name__)
_MAX_ATTEMPTS = 10


class Replacement(ABC):
    """A new table inside the block of `Catalog.replacing_table`, which writes its rows."""

    replaced: bool
    """Whether there was a table of this name."""
    overwrites: bool
    """Whether the rows must be written as an overwrite of all rows, after `before_commit`."""

    @property
    @abstractmethod
    def table(self) -> Table:
        """The handle to write to."""

    @abstractmethod
    def before_commit(self) -> None:
        """Call it when the files of the rows are written, before they are committed."""

    @abstractmethod
    def finish(self) -> None:
        """Complete the replacement after the rows were committed, or if there are none."""

    @abstractmethod
    def undo(self) -> None:
        """Restore the old table."""


class OtherTable(Replacement):
    """A new table beside the old one, which was set aside."""

    overwrites = False

    def __init__(
        self, table: Table, *, replaced: bool, undo: Callable[[], None], drop_old: Callable[[], object] = bool
    ) -> None:
        self._table, self.replaced, self._undo, self._drop_old = table, replaced, undo, drop_old

    @property
    def table(self) -> Table:
        return self._table

    def before_commit(self) -> None:
        """Nothing to do: the new table is there."""

    def finish(self) -> None:
        try:
            self._drop_old()
        except (OSError, PaimonError) as error:  # the new table is complete
            log.warning("the table that %s replaces remains under another name: %s", self.table.name, error)

    def undo(self) -> None:
        self._undo()


class NextSchema(Replacement):
    """The next schema of the old table's directory, and one snapshot that overwrites all rows.

    Source: Paimon 2.1 `AbstractCatalog.replaceTable`. New columns get new ids: a file written before never shows values in a
    column that only has the same name. Difference: the rows of a query are part of the snapshot that removes the old rows.
    """

    replaced = overwrites = True

    def __init__(
        self, old: TableStore, schema: TableSchema, handle: Callable[[TableStore], Table], changed: Callable[[], None]
    ) -> None:
        """
        Args:
            old: the table.
            schema: the new schema. handle: opens a table.
            changed: called after the newest schema changed, for metastores that store columns.
        """
        self._old, self._handle, self._changed, self._new = old, handle, changed, schema
        self._created = False
        self._begin()

    def _begin(self) -> None:
        """Base the new schema on the newest one."""
        self._schema = replacement_schema(self._new, self._old.at_newest_schema().schema)
        self._table = self._handle(self._old.at_schema(self._schema))

    @property
    def table(self) -> Table:
        return self._table

    def before_commit(self) -> None:
        """Create the schema.

        Raises:
            CommitConflict: another writer has changed the schema since.
        """
        if not self._created and not self._create_schema():
            raise CommitConflict(
                f"table {self._old.name}: another writer changed its schema at the same time; nothing was replaced",
                hint="run the statement again",
                path=self._old.root,
            )

    def _create_schema(self) -> bool:
        """Create the schema. Returns False if another writer has taken its number."""
        self._created = self._old.schemas.create(self._schema)
        if self._created:
            self._changed()
        return self._created

    def finish(self) -> None:
        from paimon_nb.table.write.commit import TableCommit
        from paimon_nb.table.write.publish.overwrite import Overwrite, overwrite_change

        for _ in range(_MAX_ATTEMPTS):
            if self._created or self._create_schema():
                break
            self._begin()  # no rows were written with the ids of the columns
        self.before_commit()
        if self._is_committed():
            return
        store = self.table.store
        TableCommit(store).publish(lambda latest: overwrite_change(store, latest, [], Overwrite()))
        if not self._is_committed():
            # A snapshot of the new schema: a writer that still has the old one finds out and commits nothing.
            TableCommit(store).commit([], ignore_empty=False)

    def undo(self) -> None:
        """Delete the schema, unless a snapshot or another schema needs it."""
        if not self._created or self._is_committed():
            return
        schemas = self._old.schemas
        if schemas.latest_id() == self._schema.id:
            schemas.delete(self._schema.id)
            self._changed()

    def _is_committed(self) -> bool:
        """Whether a snapshot has the new schema."""
        latest = self._old.latest()
        return latest is not None and latest.schema_id >= self._schema.id
