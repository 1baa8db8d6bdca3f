"""Rows as bytes: BinaryRow, bucket hashes, partition directory names and Java's texts."""

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_imports import lazy_getattr
from paimon_nb.format.row.binary_row import (
    EMPTY_ROW,
    Instant,
    RowReader,
    Value,
    VariantValue,
    arity_of,
    check_arity,
    deserialize,
    from_python,
    from_scalar,
    row_bytes,
    serialize,
    to_scalar,
)
from paimon_nb.format.row.java_to_string import cast_to_string, java_text_maker, java_to_string
from paimon_nb.format.row.partition_path import (
    DEFAULT_PARTITION,
    escape,
    partition_names,
    partition_path,
    partition_values_of_path,
    path_of_names,
    unescape,
)

if TYPE_CHECKING:
    from paimon_nb.format.row.binary_row_vectorized import RowBytes, encode_rows, with_one_nan
    from paimon_nb.format.row.bucket import BUCKET_FUNCTIONS, bucket_of, bucket_of_row, key_hash, key_hash_of
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "bucket": "BUCKET_FUNCTIONS bucket_of bucket_of_row key_hash key_hash_of",
            "binary_row_vectorized": "RowBytes encode_rows with_one_nan",
        },
    )  # fmt: skip

__all__ = [
    "BUCKET_FUNCTIONS", "DEFAULT_PARTITION", "EMPTY_ROW", "Instant", "RowBytes", "RowReader", "Value", "VariantValue",
    "arity_of", "bucket_of", "bucket_of_row", "cast_to_string", "check_arity", "deserialize", "encode_rows", "escape",
    "from_python", "from_scalar", "java_text_maker", "java_to_string", "key_hash", "key_hash_of", "partition_values_of_path", "partition_names",
    "partition_path", "path_of_names", "row_bytes", "serialize", "to_scalar", "unescape", "with_one_nan",
]  # fmt: skip
