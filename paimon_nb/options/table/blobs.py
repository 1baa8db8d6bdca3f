"""Large values and special columns: blobs, vectors, variants."""

from __future__ import annotations

from paimon_nb.options.option import at_least, between, boolean, choice, integer, memory, number, text

BLOB_AS_DESCRIPTOR = boolean("blob-as-descriptor", False, "return BLOB values as serialized references")
BLOB_COMPACTION_ENABLED = boolean("blob-compaction.enabled", False, "also compact blob files")
BLOB_DESCRIPTOR_FIELD = text(
    "blob-descriptor-field",
    None,
    "columns that store blob references inline",
    fixed_after_data=True,
    fallback_keys=("blob.stored-descriptor-fields",),
)
BLOB_DESCRIPTOR_SOURCE_TABLE = text("blob-descriptor.source-table", None, "table whose FileIO reads referenced blobs")
BLOB_FIELD = text("blob-field", None, "BYTES columns treated as BLOB", fixed_after_data=True)
BLOB_VIEW_FIELD = text("blob-view-field", None, "columns storing views onto upstream blobs", fixed_after_data=True)
INLINE_BLOBS = (BLOB_DESCRIPTOR_FIELD, BLOB_VIEW_FIELD)
"""They name the BLOB columns whose data files have references instead of the values."""
BLOB_VIEW_RESOLVE_ENABLED = boolean("blob-view.resolve.enabled", True, "resolve blob views while reading")
BLOB_WRITE_NULL_ON_FETCH_FAILURE = boolean(
    "blob-write-null-on-fetch-failure", False, "write NULL if a blob cannot be fetched"
)
BLOB_WRITE_NULL_ON_MISSING_FILE = boolean(
    "blob-write-null-on-missing-file", False, "write NULL if a referenced blob does not exist"
)
BLOB_COPY_BUFFER_SIZE = memory("blob.copy-buffer-size", "4 kb", "buffer size for copying blobs")
BLOB_SPLIT_BY_FILE_SIZE = boolean(
    "blob.split-by-file-size", None, "include the size of blob files when splits are planned"
)
BLOB_TARGET_FILE_SIZE = memory("blob.target-file-size", None, "target size of blob files")
VARIANT_INFERSHREDDINGSCHEMA = boolean(
    "variant.inferShreddingSchema", False, "infer the shredding schema of VARIANT columns"
)
VARIANT_SHREDDING_ADAPTIVE_MAXINFERBUFFERROW = integer(
    "variant.shredding.adaptive.maxInferBufferRow",
    256,
    "rows in the sample of adaptive inference",
    check=at_least(1),
)
VARIANT_SHREDDING_ADAPTIVE_RETENTIONRATIO = number(
    "variant.shredding.adaptive.retentionRatio", 0.05, "retention ratio of adaptive inference", check=between(0, 1)
)
VARIANT_SHREDDING_INFERENCEMODE = choice(
    "variant.shredding.inferenceMode",
    "per-file",
    "per-file adaptive",
    "infer the shredding schema for each file, or adaptively",
)
VARIANT_SHREDDING_MAXINFERBUFFERROW = integer(
    "variant.shredding.maxInferBufferRow", 4096, "rows in the sample for inference", check=at_least(1)
)
VARIANT_SHREDDING_MAXSCHEMADEPTH = integer(
    "variant.shredding.maxSchemaDepth", 50, "maximum depth of the shredding schema"
)
VARIANT_SHREDDING_MAXSCHEMAWIDTH = integer(
    "variant.shredding.maxSchemaWidth", 300, "maximum number of fields in the shredding schema"
)
VARIANT_SHREDDING_MINFIELDCARDINALITYRATIO = number(
    "variant.shredding.minFieldCardinalityRatio",
    0.1,
    "minimum share of rows that contain a shredded field",
    check=between(0, 1),
)
VARIANT_SHREDDINGSCHEMA = text(
    "variant.shreddingSchema", None, "explicit shredding schema", fallback_keys=("parquet.variant.shreddingSchema",)
)
VECTOR_FIELD = text("vector-field", None, "ARRAY columns that are stored as vectors")
VECTOR_FILE_FORMAT = text("vector.file.format", None, "file format of vector columns")
VECTOR_TARGET_FILE_SIZE = memory("vector.target-file-size", None, "target size of vector files")
