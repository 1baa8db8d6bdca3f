"""Classification of Paimon's options: supported, without effect on rows and files, or unsupported.

Every option of `CoreOptions` 2.1 that is neither in `HARMLESS` nor in `UNSUPPORTED` is supported. `check_supported` is
called whenever a table is opened for reading, writing or compaction.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options.option import parse_names, text
from paimon_nb.options.table import TABLE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Access(Enum):
    """Operation for which a table is opened."""

    READ = "read"
    WRITE = "write"
    COMPACT = "compact"
    TAG = "tag"


READ, WRITE, COMPACT, TAG = Access.READ, Access.WRITE, Access.COMPACT, Access.TAG
ALL = (READ, WRITE, COMPACT)

IGNORE_UNSUPPORTED = text(
    "paimon-nb.ignore-unsupported-options",
    None,
    "comma-separated unsupported options to ignore; 'all' ignores all of them",
)


@dataclass(frozen=True, slots=True)
class Unsupported:
    """An option that Java Paimon implements and this engine does not."""

    since: str
    """First release of Paimon with the option."""
    accesses: tuple[Access, ...]
    """Operations that are rejected."""
    why: str
    """Consequence of ignoring the option."""
    condition: Callable[[str, Mapping[str, str]], bool] | None = None
    """Whether a value requests the feature, given all options. None: every value except the default and values that disable it."""
    hint: str | None = None

    def is_requested(self, key: str, raw: Mapping[str, str]) -> bool:
        if self.condition is not None:
            return self.condition(raw[key].strip().lower(), raw)
        return is_enabled(key, raw[key])


def is_enabled(key: str, value: str) -> bool:
    """Whether a value differs from the default and does not merely disable a feature that is disabled by default."""
    from paimon_nb.options.connector import CONNECTOR_OPTIONS

    option = TABLE_OPTIONS.get(key) or CONNECTOR_OPTIONS.get(key)
    lower_value = value.strip().lower()
    if option is not None and option.default is not None:
        return lower_value != str(option.default).lower()
    return lower_value not in ("false", "none", "disabled", "file", "")


def _differs_from(*values: str) -> Callable[[str, Mapping[str, str]], bool]:
    return lambda value, _: value not in values


def _custom_action(value: str, raw: Mapping[str, str]) -> bool:
    return bool(value) and "custom" in raw.get("partition.mark-done-action", "")


def _unknown_iceberg_storage(value: str, _: Mapping[str, str]) -> bool:
    """Whether the storage is one of a later release."""
    return value not in TABLE_OPTIONS["metadata.iceberg.storage"].choices


_VECTOR_INDEXES = ("ivf-flat", "ivf-pq", "ivf-sq", "ivf-rq", "diskann")


def _unknown_vector_index(value: str, raw: Mapping[str, str]) -> bool:
    """Whether the index of a column is of a kind whose library has no public Python package, such as lumina."""
    columns = [column.strip() for column in value.split(",") if column.strip()]
    kinds = [raw.get(f"fields.{column}.pk-vector.index.type", "") for column in columns]
    return any(kind not in _VECTOR_INDEXES for kind in kinds)


_CALLBACK = "Java classes cannot be called"
_KEY_INDEX = "no public library writes this kind of index, so the files of a compaction would lack it"
_KEY_INDEX_HINT = (
    "compact with Paimon on Spark or Flink; ALTER TABLE ... SET ('write-only' = 'true') leaves compaction to them"
)

UNSUPPORTED: Mapping[str, Unsupported] = {
    "batch-scan-mode": Unsupported("0.5", (READ,), "this scan mode is for compaction jobs of Java Paimon"),
    "commit.callbacks": Unsupported("0.5", (WRITE, COMPACT), _CALLBACK),
    "data-evolution.compaction.rewrite-row-ids": Unsupported(
        "2.0", (COMPACT,), "compactions keep row ids and deletion vectors, as in Paimon from release 2.1",
        hint="CALL sys.materialize_deletion_vectors applies deletion vectors and gives new row ids",
    ),
    "metadata.iceberg.storage": Unsupported(
        "2.1", (WRITE, COMPACT), "readers of Iceberg would not see the change", _unknown_iceberg_storage
    ),
    "partition.mark-done-action.custom.class": Unsupported("1.0", (WRITE,), _CALLBACK, _custom_action),
    "partition.timestamp-format.strict": Unsupported(
        "1.4", (WRITE,), "partition values that do not fit 'partition.timestamp-formatter' would be written"
    ),
    "pk-clustering-override": Unsupported(
        "1.4", ALL, "files are sorted by 'clustering.columns' and contain their ranges instead of key ranges"
    ),
    "pk-vector.index.columns": Unsupported("2.0", (COMPACT,), _KEY_INDEX, _unknown_vector_index, hint=_KEY_INDEX_HINT),
    "query-auth.enabled": Unsupported(
        "1.4", (READ,), "the catalog's row filters and column masks would not be applied"
    ),
    "sequence.snapshot-ordering": Unsupported(
        "2.0", ALL, "rows of a key would be ordered by their sequence numbers instead of their snapshots"
    ),
    "stream-scan-mode": Unsupported("0.5", (READ,), "this scan mode is for compaction jobs of Java Paimon"),
    "tag.callbacks": Unsupported("0.7", (TAG,), _CALLBACK),
    "type": Unsupported(
        "1.0", ALL, "it is not an ordinary Paimon table", _differs_from("table", "materialized-table", "format-table", ""),
        hint="use the engine that created it",
    ),
}  # fmt: skip
"""By key; `*` is a column name."""

_TUNES = "it only sets memory, threads, buffers, spilling or batch sizes"
_LOOKUP = "it tunes the caches of Flink's lookup join and of lookup compaction"
_LAYOUT_OF_SPLITS = "it affects the size of splits, not their rows"
_LAYOUT = "it affects the size or order of files, not their rows"
_ALL_ROWS = "rows that no index covers are always found, as with 'detail'"
_SHREDDING = "each file infers the columns of its VARIANT values from its own rows, which any reader reads"
_OWN_ACCESS = "descriptors are read with the access of the table's catalog; a place without it is an error"
_JOB = "it configures jobs of Flink or Spark that do not run here"
_ERROR = "the condition that it ignores is an error here"

HARMLESS: Mapping[str, str] = {
    "async-file-write": _TUNES,
    "blob-descriptor.source-table": _OWN_ACCESS,
    "blob.copy-buffer-size": _TUNES,
    "blob.split-by-file-size": _LAYOUT_OF_SPLITS,
    "bucket-append-ordered": "rows of a bucket are ordered, unless 'clustering.incremental' sorts them",
    "cache-page-size": _TUNES,
    "chain-table.split.key-range-enabled": _LAYOUT_OF_SPLITS,
    "clustering.incremental.mode": _LAYOUT,
    "commit.callback.#.param": "it is for 'commit.callbacks'",
    "commit.discard-duplicate-files": "repeated commits are recognised by commit user and identifier",
    "commit.force-compact": "further compaction does not change rows",
    "compaction.file-num-limit": _TUNES,
    "consumer.mode": _JOB,
    "cross-partition-upsert.bootstrap-parallelism": _TUNES,
    "cross-partition-upsert.index-ttl": "the index of keys does not expire",
    "data-evolution.merge-into.file-pruning": _TUNES,
    "data-evolution.merge-into.source-persist": _TUNES,
    "data-evolution.row-id-conflict-rewrite.max-size": "a conflict is an error here",
    "data-evolution.row-sidecar.enabled": "sidecars are optional and only make reads faster",
    "data-evolution.row-sidecar.max-selected-rows": _TUNES,
    "data-evolution.row-sidecar.max-selection-ratio": _TUNES,
    "deletion-vectors.modifiable": "whether deletion vectors can be changed depends on the existing files",
    "file-operation.thread-num": _TUNES,
    "file-reader-async-threshold": _TUNES,
    "format-table.implementation": "both implementations read and write the same files",
    "format-table.scan.list-parallelism": _TUNES,
    "full-text-index.search-mode": _ALL_ROWS,
    "global-index.build.max-parallelism": _TUNES,
    "global-index.build.max-shard": _TUNES,
    "global-index.search-mode": _ALL_ROWS,
    "global-index.thread-num": _TUNES,
    "key-value.sequence_number.enabled": "an internal switch of Paimon's system tables",
    "local-kv-db.block-size": _TUNES,
    "local-merge-buffer-size": _TUNES,
    "local-sort.max-num-file-handles": _TUNES,
    "lookup-compact.max-interval": "universal compaction picks the files of level 0 before this interval is reached, because of their number",
    "lookup.blob-as-descriptor": _LOOKUP,
    "lookup.cache-file-retention": _LOOKUP,
    "lookup.cache-max-disk-size": _LOOKUP,
    "lookup.cache-rows": _LOOKUP,
    "lookup.cache-spill-compression": _LOOKUP,
    "lookup.cache.bloom.filter.enabled": _LOOKUP,
    "lookup.cache.bloom.filter.fpp": _LOOKUP,
    "lookup.cache.high-priority-pool-ratio": _LOOKUP,
    "lookup.hash-load-factor": _LOOKUP,
    "lookup.merge-buffer-size": _LOOKUP,
    "lookup.merge-records-threshold": _LOOKUP,
    "lookup.remote-file.enabled": _LOOKUP,
    "lookup.remote-file.level-threshold": _LOOKUP,
    "manifest.merge-optimize.enabled": _TUNES,
    "materialized-table.definition-query": "it describes how a Flink job fills the table",
    "materialized-table.interval-freshness": "it describes how a Flink job fills the table",
    "materialized-table.interval-freshness.time-unit": "it describes how a Flink job fills the table",
    "materialized-table.logical-refresh-mode": "it describes how a Flink job fills the table",
    "materialized-table.refresh-handler-bytes": "it describes how a Flink job fills the table",
    "materialized-table.refresh-handler-description": "it describes how a Flink job fills the table",
    "materialized-table.refresh-mode": "it describes how a Flink job fills the table",
    "materialized-table.refresh-status": "it describes how a Flink job fills the table",
    "metastore.tag-to-partition.preview": "a tag becomes a partition of the metastore when it is created",
    "page-size": _TUNES,
    "partition.idle-time-to-report-statistic": "Flink jobs report the statistics of metastore partitions",
    "partition.sink-strategy": _LAYOUT,
    "read.batch-size": _TUNES,
    "row-tracking.partition-group-on-commit": "it affects the order of new row ids; ids are unique in any case",
    "scalar-index.search-mode": _ALL_ROWS,
    "scan.fallback-branch.read-fail-fast": "a failed read of the fallback branch is an error here",
    "scan.manifest.parallelism": _TUNES,
    "scan.max-splits-per-task": _TUNES,
    "scan.plan-auto-tag-for-read.time-retained": "reads do not create tags",
    "snapshot.expire.execution-mode": _TUNES,
    "snapshot.watermark-idle-timeout": "a snapshot without rows does not advance the watermark",
    "sort-compaction.local-sample.magnification": _TUNES,
    "sort-compaction.range-strategy": _LAYOUT,
    "sort-engine": _TUNES,
    "sort-spill-buffer-size": _TUNES,
    "sort-spill-threshold": _TUNES,
    "spill-compression": _TUNES,
    "spill-compression.zstd-level": _TUNES,
    "tag.callback.#.param": "it is for 'tag.callbacks'",
    "target-file-row-num": _LAYOUT,
    "variant.shredding.adaptive.maxInferBufferRow": _SHREDDING,
    "variant.shredding.adaptive.retentionRatio": _SHREDDING,
    "variant.shredding.inferenceMode": _SHREDDING,
    "vector-index.search-mode": _ALL_ROWS,
    "vector-search.distribute.enabled": _TUNES,
    "vector-search.lateral-join.batch-size": _TUNES,
    "write-buffer-for-append": _TUNES,
    "write-buffer-spill.max-disk-size": _TUNES,
    "write-buffer-spillable": _TUNES,
    "write.batch-memory": _TUNES,
    "write.batch-size": _TUNES,
    "write.sequence-number-init-mode": "a write always reads the highest sequence number of its bucket",
}
"""Key -> why rows, files and other readers do not depend on it."""


def unsupported_options_set(raw: Mapping[str, str]) -> dict[str, Unsupported]:
    """Unsupported options that the table sets and does not ignore."""
    ignored = set(parse_names(raw.get(IGNORE_UNSUPPORTED.key)))
    if "all" in ignored:
        return {}
    found = {}
    for key in raw:
        entry = UNSUPPORTED.get(key) or UNSUPPORTED.get(_wildcard_key(key))
        if entry is not None and key not in ignored and entry.is_requested(key, raw):
            found[key] = entry
    return found


def is_ignored(key: str, raw: Mapping[str, str]) -> bool:
    """Whether the table's options say to ignore this option."""
    return bool({"all", key} & set(parse_names(raw.get(IGNORE_UNSUPPORTED.key))))


def _wildcard_key(key: str) -> str:
    """`fields.*.aspect` for an option of a column."""
    if not key.startswith("fields."):
        return key
    from paimon_nb.options.prefix_options import find_pattern

    pattern = find_pattern(key)
    return f"fields.*.{pattern.option.key}" if pattern else key


def check_supported(raw: Mapping[str, str], access: Access, table: str) -> None:
    """Raises UnsupportedFormat: the table has an option that the operation does not support."""
    for key, entry in unsupported_options_set(raw).items():
        if access in entry.accesses:
            past_verb = {READ: "read", WRITE: "written", COMPACT: "compacted", TAG: "tagged"}.get(access, "read")
            value = raw[key] if len(raw[key]) <= 60 else f"{raw[key][:57]}..."
            ignore = f"'{IGNORE_UNSUPPORTED.key}' = '{key}' ignores the option"
            raise UnsupportedFormat(
                f"{table} cannot be {past_verb} here: option {key!r} = {value!r} is not supported, and {entry.why}",
                hint=f"{entry.hint}; {ignore}" if entry.hint else f"use Paimon {entry.since} or later for it; {ignore}",
                feature=key,
                option=key,
                access=access.value,
            )
