"""Merge engines, sequence fields, row kinds, deletion vectors and changelogs."""

from __future__ import annotations

from paimon_nb.options.option import boolean, choice, duration, integer, memory, text

AGGREGATION_REMOVE_RECORD_ON_DELETE = boolean(
    "aggregation.remove-record-on-delete",
    False,
    "a -D deletes the row (merge engine aggregation)",
    fixed_after_data=True,
)
CHANGELOG_PRODUCER = choice(
    "changelog-producer",
    "none",
    "none input full-compaction lookup",
    "how changelog files are produced: none, from the input, by lookup compaction, by full compaction",
)
CHANGELOG_PRODUCER_ROW_DEDUPLICATE = boolean(
    "changelog-producer.row-deduplicate", False, "omit -U and +U of rows that did not change"
)
CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS = text(
    "changelog-producer.row-deduplicate-ignore-fields", None, "columns ignored when rows are compared"
)
DELETE_FORCE_PRODUCE_CHANGELOG = boolean("delete.force-produce-changelog", False, "DELETE statements write a changelog")
DELETION_VECTOR_INDEX_FILE_TARGET_SIZE = memory(
    "deletion-vector.index-file.target-size", "2 mb", "target size of deletion vector files"
)
DELETION_VECTORS_BITMAP64 = boolean("deletion-vectors.bitmap64", False, "use 64-bit bitmaps, compatible with Iceberg")
DELETION_VECTORS_ENABLED = boolean(
    "deletion-vectors.enabled", False, "mark deleted rows in bitmaps, so that readers do not merge"
)
DELETION_VECTORS_MERGE_ON_READ = boolean(
    "deletion-vectors.merge-on-read", False, "also read level 0, which is otherwise invisible until it is compacted"
)
DELETION_VECTORS_MODIFIABLE = boolean(
    "deletion-vectors.modifiable", False, "allow enabling or disabling deletion vectors later"
)
FIELDS_DEFAULT_AGGREGATE_FUNCTION = text(
    "fields.default-aggregate-function", None, "default aggregate function of columns"
)
FORCE_LOOKUP = boolean(
    "force-lookup", False, "use lookup compaction with any changelog producer", fixed_after_data=True
)
IGNORE_DELETE = boolean(
    "ignore-delete",
    False,
    "ignore -U and -D rows of the input",
    fallback_keys=(
        "first-row.ignore-delete",
        "deduplicate.ignore-delete",
        "partial-update.ignore-delete",
    ),
)
IGNORE_UPDATE_BEFORE = boolean("ignore-update-before", False, "ignore -U rows of the input")
LOOKUP_COMPACT = choice(
    "lookup-compact",
    "radical",
    "radical gentle",
    "compact level 0 in every commit (radical), or when there are enough sorted runs (gentle)",
)
LOOKUP_COMPACT_MAX_INTERVAL = integer(
    "lookup-compact.max-interval", None, "in gentle mode, maximum number of commits before level 0 is compacted"
)
LOOKUP_WAIT = boolean(
    "lookup-wait", True, "a commit waits for lookup compaction", fallback_keys=("changelog-producer.lookup-wait",)
)
MERGE_ENGINE = choice(
    "merge-engine",
    "deduplicate",
    "deduplicate partial-update aggregation first-row",
    "how rows of a key are merged: keep the last, fill in columns, aggregate, or keep the first",
    fixed_after_data=True,
)
PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE = boolean(
    "partial-update.remove-record-on-delete",
    False,
    "a -D deletes the row (merge engine partial-update)",
    fixed_after_data=True,
)
PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP = text(
    "partial-update.remove-record-on-sequence-group",
    None,
    "a -D of one of these sequence groups deletes the row",
    fixed_after_data=True,
)
PK_CLUSTERING_OVERRIDE = boolean(
    "pk-clustering-override",
    False,
    "sort files by clustering.columns instead of the primary key",
    fixed_after_data=True,
)
RECORD_LEVEL_EXPIRE_TIME = duration("record-level.expire-time", None, "age at which compaction deletes a row")
RECORD_LEVEL_TIME_FIELD = text("record-level.time-field", None, "column with the time of a row")
ROWKIND_FIELD = text("rowkind.field", None, "column that holds +I, -U, +U or -D", fixed_after_data=True)
SEQUENCE_FIELD = text("sequence.field", None, "columns that order the rows of a key")
SEQUENCE_FIELD_SORT_ORDER = choice(
    "sequence.field.sort-order",
    "ascending",
    "ascending descending",
    "whether larger or smaller sequence values are newer",
)
SEQUENCE_SNAPSHOT_ORDERING = boolean(
    "sequence.snapshot-ordering",
    False,
    "order rows of a key by snapshot instead of sequence number",
    fixed_after_data=True,
)
