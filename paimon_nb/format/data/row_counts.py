"""Row counts that files declare, compared with the manifest's before another engine decodes the files."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from paimon_nb.format.data.read import open_data_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.fs import FileIO

_CHECKED = 100_000
"""Files that are remembered: names of data files are unique, so each is looked at once."""
_AT_ONCE = 8
_checked: OrderedDict[tuple[str, int], None] = OrderedDict()
_lock = threading.Lock()


def check_row_counts(fs: FileIO, files: Iterable[tuple[str, int]]) -> None:
    """Compare the footers of Parquet and ORC files with their manifest entries.

    A small file can declare, and decode to, any number of rows.

    Args:
        fs: the file system. files: path and number of rows of each file.

    Raises:
        MissingFile. CorruptFile: a file has another number of rows.

    Examples:
        >>> check_row_counts(fs, [("/lake/default.db/t/bucket-0/data-1.parquet", 3)])  # doctest: +SKIP
    """
    with _lock:
        new = [file for file in files if file not in _checked]
    if not new:
        return

    def check(file: tuple[str, int]) -> None:
        open_data_file(fs, file[0], (), row_count=file[1]).close()

    if len(new) == 1:
        check(new[0])
    else:
        with ThreadPoolExecutor(min(_AT_ONCE, len(new))) as pool:
            list(pool.map(check, new))
    with _lock:
        _checked.update(dict.fromkeys(new))
        while len(_checked) > _CHECKED:
            _checked.popitem(last=False)
