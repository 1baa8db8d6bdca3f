"""Global indexes: from the values of a column to row ids, for the whole table.

BTree and bitmap index files; vector and full-text index files, which libraries read and write.
"""

from paimon_nb.format.index.global_index.bitmap_file import BitmapFileReader, write_bitmap_file
from paimon_nb.format.index.global_index.btree_file import BTreeFileReader, write_btree_file
from paimon_nb.format.index.global_index.index_blocks import IndexFileSource
from paimon_nb.format.index.global_index.index_file_meta import KeyBounds, SourceFiles, scan_snapshot_of, source_meta
from paimon_nb.format.index.global_index.index_keys import (
    IndexKey,
    SortedKeys,
    decode_index_key,
    encode_index_key,
    has_index_keys,
    keys_equal_to,
    sorted_keys,
)
from paimon_nb.format.index.global_index.row_id_bitmap import row_id_range, row_ids_as_array, row_ids_of

__all__ = [
    "BTreeFileReader", "BitmapFileReader", "IndexFileSource", "IndexKey", "KeyBounds", "SortedKeys", "SourceFiles", "decode_index_key",
    "encode_index_key", "has_index_keys", "keys_equal_to", "row_id_range", "row_ids_as_array", "row_ids_of",
    "scan_snapshot_of", "sorted_keys", "source_meta", "write_bitmap_file", "write_btree_file",
]  # fmt: skip
