"""What panels say about a format table: a directory of plain files without snapshots, buckets and statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.options import table as opt
from paimon_nb.sql import quote_if_needed

if TYPE_CHECKING:
    from paimon_nb.table.tables.table import Table

_NO_SNAPSHOTS = "it has no snapshots"
_READS = "%paimon explain SELECT * FROM {} lists the partition directories and files that a query reads"
_SHOWS = "%paimon explore {} shows its columns and options, SELECT its rows"
_LACKS = {
    "timeline": (f"{_NO_SNAPSHOTS}, so there is no history", _SHOWS),
    "compare": (f"{_NO_SNAPSHOTS} to compare", _SHOWS),
    "live": (f"{_NO_SNAPSHOTS}, so there are no changes to follow", _SHOWS),
    "lsm": ("its files have no key ranges and levels to draw", _READS),
    "compact": ("it has no buckets to compact", "INSERT OVERWRITE {0} SELECT * FROM {0} merges small files"),
    "why": ("it keeps one version of each row, without a primary key", _SHOWS),
    "skip": ("its files have no statistics that skip files", _READS),
    "doctor": ("it has no metadata to check", _SHOWS),
    "options": ("it has no system tables", "%paimon explore {} lists its options"),
    "schemas": ("it has no system tables", "%paimon explore {} lists its schemas"),
    "partitions": ("it has no system tables", "SHOW PARTITIONS {} lists its directories"),
    "files": ("no metadata lists its files", _READS),
    "manifests": ("no metadata lists its files", _READS),
    "buckets": ("it has no buckets", _READS),
    "snapshots": (_NO_SNAPSHOTS, _SHOWS),
    "tags": (f"{_NO_SNAPSHOTS} to tag", _SHOWS),
    "branches": (f"{_NO_SNAPSHOTS}, so there are no branches", _SHOWS),
    "consumers": (f"{_NO_SNAPSHOTS}, so there are no consumers", _SHOWS),
}
"""What a format table lacks for a panel or command, and what works in its place."""
_LACKS["due"] = _LACKS["watch"] = _LACKS["compact"]


def check_panel(table: Table, panel: str) -> Table:
    """The table, unless it is a format table and the panel needs what it lacks.

    Args:
        panel: the word after `%paimon`.

    Raises:
        UnsupportedOperation: says what is missing and which panel or statement works.
    """
    if not table.store.is_format_table or panel not in _LACKS:
        return table
    lacks, works = _LACKS[panel]
    name = ".".join(map(quote_if_needed, (table.name.database, table.name.table)))
    kind = table.store.options.get(opt.FILE_FORMAT)
    raise UnsupportedOperation(
        f"{table.name} is a format table, a directory of {kind} files: {lacks}",
        hint=works.format(name), table=str(table.name),
    )  # fmt: skip
