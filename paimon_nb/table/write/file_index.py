"""Stores the file index of a data file: in its manifest entry if small, else in a file next to it.

Source: docs/spec/format.md section 13 (Paimon `io/DataFileIndexWriter.java`).
"""

from __future__ import annotations

from paimon_nb.format.index import INDEX_SUFFIX
from paimon_nb.options import table as opt
from paimon_nb.table.store import TableStore


def store_file_index(
    store: TableStore, data_path: str, index: bytes, suffix: str = INDEX_SUFFIX
) -> tuple[bytes | None, tuple[str, ...]]:
    """(embedded index, extra files) for an index container; writes the index file if it is not embedded.

    Args:
        data_path: of the indexed file; the index file has the same name plus `suffix`.
    """
    if len(index) <= store.options.get(opt.FILE_INDEX_IN_MANIFEST_THRESHOLD):
        return index, ()
    path = data_path + suffix
    store.fs.write(path, index)
    return None, (path.rsplit("/", 1)[-1],)
