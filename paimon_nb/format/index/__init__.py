"""Index files: deletion vectors, hash indexes, and file indexes beside data files."""

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from paimon_nb.format.index.deletion_vector import (
        DeletionVector,
        VectorVersion,
        parse_vector,
        read_deletion_vector,
        read_deletion_vectors,
        write_deletion_vectors,
    )
    from paimon_nb.format.index.file_index import (
        INDEX_SUFFIX,
        OPERATORS,
        FileIndex,
        FileIndexWriter,
        IndexSpec,
        fitting_specs,
        index_specs,
    )
    from paimon_nb.format.index.hash_index import read_hash_index, write_hash_index
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "deletion_vector": "DeletionVector VectorVersion parse_vector read_deletion_vector read_deletion_vectors write_deletion_vectors",
            "file_index": "INDEX_SUFFIX OPERATORS FileIndex FileIndexWriter IndexSpec fitting_specs index_specs",
            "hash_index": "read_hash_index write_hash_index",
        },
    )

__all__ = [
    "INDEX_SUFFIX", "OPERATORS", "DeletionVector", "FileIndex", "FileIndexWriter", "IndexSpec", "VectorVersion", "fitting_specs", "index_specs",
    "parse_vector", "read_deletion_vector", "read_deletion_vectors", "read_hash_index", "write_deletion_vectors",
    "write_hash_index",
]  # fmt: skip
