"""`t$options`: the stored options of the latest schema; secrets are hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.redact import redact_options
from paimon_nb.table.tables.system.columns import system_table_with_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.read.store import TableStore

COLUMNS = {"key": "STRING NOT NULL", "value": "STRING NOT NULL"}


def _option_rows(store: TableStore) -> Iterator[tuple[str, str]]:
    latest = store.schemas.latest() or store.schema
    yield from redact_options(latest.options).items()


OPTIONS = system_table_with_columns(COLUMNS, _option_rows)
