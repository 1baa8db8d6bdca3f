"""Leaves out files that cannot be read, where `scan.ignore-lost-files` or `scan.ignore-corrupt-files` says so.

Only queries do so (`TableStore.for_queries`). A compaction, an UPDATE or a DELETE that read fewer rows would remove the others for good.
Source: Paimon 2.1 `DataFileRecordReader`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CorruptFile, MissingFile
from paimon_nb.options import table as opt
from paimon_nb.table.read.plan.time_travel import translate_missing_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.store import TableStore

log = logging.getLogger(__name__)


def readable_rows(
    store: TableStore, files: Sequence[DataFile], snapshot_id: int | None, rows: Iterator[pa.Table]
) -> Iterator[pa.Table]:
    """Rows of one file, or of several with columns of the same rows, up to the first that cannot be read.

    Args:
        files: a deletion vector or a referenced value that is missing is an error all the same.
        snapshot_id: files that are missing because it expired are an error all the same.

    Raises: MissingFile, CorruptFile: one that the options do not ignore. SnapshotExpired.
    """
    try:
        yield from rows
    except (MissingFile, CorruptFile) as error:
        option = opt.SCAN_IGNORE_LOST_FILES if isinstance(error, MissingFile) else opt.SCAN_IGNORE_CORRUPT_FILES
        name = str(error.facts["path"]).rsplit("/", 1)[-1]
        if not store.options.get(option) or all(f.file_name != name for f in files):
            raise
        if isinstance(error, MissingFile) and snapshot_id is not None:
            _raise_if_expired(store, snapshot_id, error)
        log.warning("%s: %s; its rows are left out, as '%s' is set", store.name, error.message, option.key)


def _raise_if_expired(store: TableStore, snapshot_id: int, missing: MissingFile) -> None:
    try:
        with translate_missing_files(store, snapshot_id):
            raise missing
    except MissingFile:
        return
