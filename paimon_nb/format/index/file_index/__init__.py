"""File indexes: evaluating them to skip data files and rows, and writing them."""

from paimon_nb.format.index.file_index.api import OPERATORS, IndexReader
from paimon_nb.format.index.file_index.container import INDEX_READERS, FileIndex, write_container
from paimon_nb.format.index.file_index.writer import (
    INDEX_SUFFIX,
    INDEX_WRITERS,
    FileIndexWriter,
    IndexSpec,
    fitting_specs,
    index_specs,
)

__all__ = [
    "INDEX_READERS", "INDEX_SUFFIX", "INDEX_WRITERS", "OPERATORS", "FileIndex", "FileIndexWriter", "IndexReader",
    "IndexSpec", "fitting_specs", "index_specs", "write_container",
]  # fmt: skip
