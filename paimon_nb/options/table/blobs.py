"""Large values and special columns: blobs, vectors, variants."""

from __future__ import annotations

from paimon_nb.options.option import boolean, choice, integer, memory, number, text

BLOB_AS_DESCRIPTOR = boolean("blob-as-descriptor", False, "expose BLOB as reference bytes")
BLOB_COMPACTION_ENABLED = boolean("blob-compaction.enabled", False, "also compact blob files")
BLOB_DESCRIPTOR_FIELD = text(
    "blob-descriptor-field",
    None,
    "columns kept as inline blob references",
    fixed_after_data=True,
    fallback_keys=("blob.stored-descriptor-fields",),
)
BLOB_DESCRIPTOR_SOURCE_TABLE = text("blob-descriptor.source-table", None, "table whose FileIO reads referenced blobs")
BLOB_FIELD = text("blob-field", None, "BYTES columns treated as BLOB", fixed_after_data=True)
BLOB_VIEW_FIELD = text("blob-view-field", None, "columns storing views onto upstream blobs", fixed_after_data=True)
BLOB_VIEW_RESOLVE_ENABLED = boolean("blob-view.resolve.enabled", True, "resolve blob views while reading")
BLOB_WRITE_NULL_ON_FETCH_FAILURE = boolean(
    "blob-write-null-on-fetch-failure", False, "null instead of failing blob fetch"
)
BLOB_WRITE_NULL_ON_MISSING_FILE = boolean(
    "blob-write-null-on-missing-file", False, "null when referenced blob is absent"
)
BLOB_COPY_BUFFER_SIZE = memory("blob.copy-buffer-size", "4 kb", "buffer for blob copying")
BLOB_SPLIT_BY_FILE_SIZE = boolean("blob.split-by-file-size", None, "count blob bytes when splitting")
BLOB_TARGET_FILE_SIZE = memory("blob.target-file-size", None, "roll size of blob files")
VARIANT_INFERSHREDDINGSCHEMA = boolean("variant.inferShreddingSchema", False, "infer variant shredding")
VARIANT_SHREDDING_ADAPTIVE_MAXINFERBUFFERROW = integer(
    "variant.shredding.adaptive.maxInferBufferRow", 256, "adaptive sample"
)
VARIANT_SHREDDING_ADAPTIVE_RETENTIONRATIO = number(
    "variant.shredding.adaptive.retentionRatio", 0.05, "adaptive retention"
)
VARIANT_SHREDDING_INFERENCEMODE = choice(
    "variant.shredding.inferenceMode", "per-file", "per-file adaptive", "per-file or adaptive"
)
VARIANT_SHREDDING_MAXINFERBUFFERROW = integer("variant.shredding.maxInferBufferRow", 4096, "sample rows")
VARIANT_SHREDDING_MAXSCHEMADEPTH = integer("variant.shredding.maxSchemaDepth", 50, "depth limit")
VARIANT_SHREDDING_MAXSCHEMAWIDTH = integer("variant.shredding.maxSchemaWidth", 300, "width limit")
VARIANT_SHREDDING_MINFIELDCARDINALITYRATIO = number("variant.shredding.minFieldCardinalityRatio", 0.1, "presence limit")
VARIANT_SHREDDINGSCHEMA = text(
    "variant.shreddingSchema", None, "explicit shredding", fallback_keys=("parquet.variant.shreddingSchema",)
)
VECTOR_FIELD = text("vector-field", None, "ARRAY columns as vector")
VECTOR_FILE_FORMAT = text("vector.file.format", None, "vector store format")
VECTOR_TARGET_FILE_SIZE = memory("vector.target-file-size", None, "vector roll size")
