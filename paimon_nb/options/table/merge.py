"""What becomes of rows of one key: merge engines, sequence, row kinds, deletion vectors, changelogs."""

from __future__ import annotations

from paimon_nb.options.option import boolean, choice, duration, integer, memory, text

AGGREGATION_REMOVE_RECORD_ON_DELETE = boolean(
    "aggregation.remove-record-on-delete",
    False,
    "a -D removes the whole row in the aggregation engine",
    fixed_after_data=True,
)
CHANGELOG_PRODUCER = choice(
    "changelog-producer",
    "none",
    "none input full-compaction lookup",
    "source of changelog files: none, the input, lookup compaction, full compaction",
)
CHANGELOG_PRODUCER_ROW_DEDUPLICATE = boolean(
    "changelog-producer.row-deduplicate", False, "write no -U/+U for a row that did not change"
)
CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS = text(
    "changelog-producer.row-deduplicate-ignore-fields", None, "columns left out when asking whether a row changed"
)
DELETE_FORCE_PRODUCE_CHANGELOG = boolean("delete.force-produce-changelog", False, "SQL DELETE writes a changelog")
DELETION_VECTOR_INDEX_FILE_TARGET_SIZE = memory(
    "deletion-vector.index-file.target-size", "2 mb", "size at which a file of deletion vectors rolls"
)
DELETION_VECTORS_BITMAP64 = boolean("deletion-vectors.bitmap64", False, "bitmaps of 64 bits, as Iceberg has them")
DELETION_VECTORS_ENABLED = boolean(
    "deletion-vectors.enabled", False, "mark rows as deleted in bitmaps, so that readers need not merge"
)
DELETION_VECTORS_MERGE_ON_READ = boolean(
    "deletion-vectors.merge-on-read", False, "also read level 0, which deletion vectors hide until it is compacted"
)
DELETION_VECTORS_MODIFIABLE = boolean(
    "deletion-vectors.modifiable", False, "allow to switch deletion vectors on or off later"
)
FIELDS_DEFAULT_AGGREGATE_FUNCTION = text(
    "fields.default-aggregate-function", None, "aggregate for columns that name none"
)
FORCE_LOOKUP = boolean(
    "force-lookup", False, "compact by lookup whatever the changelog producer", fixed_after_data=True
)
IGNORE_DELETE = boolean(
    "ignore-delete",
    False,
    "drop -U and -D on the way in",
    fallback_keys=(
        "first-row.ignore-delete",
        "deduplicate.ignore-delete",
        "partial-update.ignore-delete",
    ),
)
IGNORE_UPDATE_BEFORE = boolean("ignore-update-before", False, "drop -U on the way in")
LOOKUP_COMPACT = choice(
    "lookup-compact",
    "radical",
    "radical gentle",
    "compact level 0 at every commit (radical), or when there are enough runs (gentle)",
)
LOOKUP_COMPACT_MAX_INTERVAL = integer(
    "lookup-compact.max-interval", None, "in gentle mode, commits after which level 0 is compacted anyway"
)
LOOKUP_WAIT = boolean(
    "lookup-wait", True, "a commit waits for the lookup compaction", fallback_keys=("changelog-producer.lookup-wait",)
)
MERGE_ENGINE = choice(
    "merge-engine",
    "deduplicate",
    "deduplicate partial-update aggregation first-row",
    "what becomes of rows of one key: the last wins, columns are filled in, aggregated, or the first stays",
    fixed_after_data=True,
)
PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE = boolean(
    "partial-update.remove-record-on-delete",
    False,
    "a -D removes the whole row in the partial-update engine",
    fixed_after_data=True,
)
PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP = text(
    "partial-update.remove-record-on-sequence-group",
    None,
    "a -D of one of these sequence groups removes the whole row",
    fixed_after_data=True,
)
PK_CLUSTERING_OVERRIDE = boolean("pk-clustering-override", False, "sort files by other columns", fixed_after_data=True)
RECORD_LEVEL_EXPIRE_TIME = duration("record-level.expire-time", None, "age at which a row is dropped by compaction")
RECORD_LEVEL_TIME_FIELD = text("record-level.time-field", None, "column with a row's time")
ROWKIND_FIELD = text("rowkind.field", None, "column that holds +I, -U, +U or -D", fixed_after_data=True)
SEQUENCE_FIELD = text("sequence.field", None, "columns that say which row of a key is newer")
SEQUENCE_FIELD_SORT_ORDER = choice(
    "sequence.field.sort-order",
    "ascending",
    "ascending descending",
    "whether the larger or the smaller sequence value is newer",
)
SEQUENCE_SNAPSHOT_ORDERING = boolean(
    "sequence.snapshot-ordering",
    False,
    "rows of a later commit are newer, whatever their sequence",
    fixed_after_data=True,
)
