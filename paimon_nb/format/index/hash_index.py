"""Hash index files of dynamic-bucket tables: the key hashes of one bucket.

Source: Paimon `HashIndexFile`; docs/spec/format.md section 12.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from paimon_nb.base.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.fs import FileIO


def read_hash_index(fs: FileIO, path: str) -> npt.NDArray[np.int32]:
    """The hashes in file order. Raises: MissingFile. CorruptFile."""
    data = fs.read(path)
    if len(data) % 4:
        raise CorruptFile(path, f"a hash index of {len(data)} bytes")
    return np.frombuffer(data, dtype=">i4").astype(np.int32)


def write_hash_index(fs: FileIO, path: str, hashes: Iterable[int] | npt.NDArray[np.integer]) -> int:
    """Write a new file with the hashes of `key_hash`. Returns its size in bytes, 4 per hash."""
    values = hashes if isinstance(hashes, np.ndarray) else np.asarray(list(hashes), dtype=np.int64)
    data = values.astype(">i4").tobytes()
    fs.write(path, data)
    return len(data)
