"""Validates columns, keys and options of a schema before it is stored. Reads no files.

Source: Paimon 1.3 `SchemaValidation.java`, `TableSchema.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from paimon_nb.base.errors import BadOptionValue, SchemaMismatch, UnsupportedFormat, UnsupportedOperation
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.blob_rules import check_blobs_with_keys
from paimon_nb.catalog.chain_table_rules import check_chain_table
from paimon_nb.catalog.format_table_rules import check_format_table
from paimon_nb.catalog.geospatial_rules import check_geospatial_columns
from paimon_nb.catalog.key_index_rules import check_key_indexes
from paimon_nb.catalog.shared_shredding_rules import check_shared_shredding
from paimon_nb.format.schema import FORMAT_TABLE
from paimon_nb.format.types import DataField, Row, Vector, is_blob_type, is_nano, is_opaque
from paimon_nb.options import TableOptions, validate_table_options
from paimon_nb.options import table as opt
from paimon_nb.options.option import parse_names
from paimon_nb.table.lsm.merge import MergeSpec
from paimon_nb.table.lsm.merge.aggregate import AGGREGATES, aggregate_of
from paimon_nb.table.read import parse_travel
from paimon_nb.table.read.external_paths import path_allocator
from paimon_nb.table.write.iceberg import check_publishable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.snapshot import BranchDirectory
    from paimon_nb.format.types import DataType

_NESTED = ("ARRAY", "MAP", "MULTISET", "ROW", "VECTOR")
_SYSTEM_COLUMNS = ("_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "rowkind", "_ROW_ID")
_KEY_PREFIX = "_KEY_"
_TIME_TYPES = ("INT", "BIGINT", "TIMESTAMP", "TIMESTAMP_LTZ")
"""Type roots of record-level time columns."""


def check_schema(schema: TableSchema) -> None:
    """Check a new schema by Java's rules for CREATE and ALTER TABLE.

    Raises:
        BadOptionValue: an option contradicts the columns, the keys or another option, or names an unknown column.
        SchemaMismatch: a column has a reserved name, or a default that does not fit its type.
    """
    validate_table_options(schema.options)
    options = TableOptions(schema.options)
    _check_column_names(schema)
    _check_default_values(schema.fields)
    if schema.options.get(opt.TYPE.key) == FORMAT_TABLE:
        check_format_table(schema)
        return
    _check_file_format(schema, options)
    _check_bucket_options(schema, options)
    parse_travel(options)
    _check_named_columns(schema, options)
    _check_sequence_fields(schema, options)
    if schema.primary_keys:
        _check_aggregate_functions(schema, options)
        _check_aggregated_types(schema, MergeSpec.of(schema, options))
    else:
        _check_append_only(options)
        if options.get(opt.PRIMARY_KEY_NULLABLE):
            _refuse_option(
                opt.PRIMARY_KEY_NULLABLE.key,
                "it can only be enabled for a table with primary keys",
                "declare the key: PRIMARY KEY (...) NOT ENFORCED, or 'primary-key' = '...'",
            )
    _check_time_columns(schema, options)
    _check_row_tracking(schema, options)
    check_manifest_sort(schema, options)
    _check_vector_fields(schema, options)
    _check_blob_fields(schema, options)
    check_geospatial_columns(schema, options)
    check_shared_shredding(schema, options)
    check_chain_table(schema, options)
    check_key_indexes(schema, options)
    # Options may be set one by one: the file system is checked when a file is written.
    if options.get(opt.DATA_FILE_EXTERNAL_PATHS_STRATEGY) != "specific-fs" or options.has(
        opt.DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS
    ):
        path_allocator(options)


def check_writable_types(schema: TableSchema, before: TableSchema | None = None) -> None:
    """Refuse a new column whose values could never be written here, or not be read by the table's Iceberg readers.

    Raises UnsupportedFormat, and BadOptionValue for a change of a type that Iceberg does not have.

    Args:
        before: the schema that is changed; its existing columns may stay.
    """
    check_publishable(schema, before)
    old = {f.id for f in before.fields if is_opaque(f.type)} if before else set()
    for field in schema.fields:
        if is_opaque(field.type) and field.id not in old:
            raise UnsupportedFormat(
                f"column {field.name!r} cannot be {field.type.bare()}: a BLOB is a column, or is in an ARRAY or a MAP that is one",
                hint="use BYTES, which keeps values of up to 2 GB beside the other columns",
                column=field.name,
                feature=field.type.root,
            )


def check_other_branches(schema: TableSchema, branches: BranchDirectory) -> None:
    """Raises BadOptionValue if a branch whose partitions the table reads does not exist, or two options name one."""
    options = TableOptions(schema.options)
    if options.get(opt.SCAN_FALLBACK_BRANCH) and options.get(opt.SCAN_PRIMARY_BRANCH):
        _refuse_option(
            opt.SCAN_PRIMARY_BRANCH.key,
            f"it cannot be set together with {opt.SCAN_FALLBACK_BRANCH.key!r}",
            "reset one of them",
        )
    for option in (opt.SCAN_FALLBACK_BRANCH, opt.SCAN_PRIMARY_BRANCH):
        name = options.get(option)
        if name and not branches.exists(name):
            _refuse_option(option.key, f"the table has no branch {name!r}", "create it with CALL sys.create_branch")


def check_table_kind(options: Mapping[str, str]) -> None:
    """Raises UnsupportedOperation: the option `type` asks for a kind of table that is not made here."""
    kind = options.get(opt.TYPE.key, "")
    if kind in ("object-table", "lance-table", "iceberg-table"):
        raise UnsupportedOperation(
            f"'type' = {kind!r}: a catalog here makes Paimon tables and format tables only",
            hint="leave 'type' out, or 'type' = 'format-table' for a directory of files",
        )


def check_new_table_options(schema: TableSchema) -> None:
    """Check the options that a table of a catalog cannot have from its start. Raises BadOptionValue, UnsupportedOperation.

    It has no branch yet, and a catalog makes no table when a connector uses it first.
    """
    check_table_kind(schema.options)
    options = TableOptions(schema.options)
    if options.get(opt.AUTO_CREATE):
        _refuse_option(
            opt.AUTO_CREATE.key,
            "it must be false for a table of a catalog",
            "leave it out, or CREATE TEMPORARY TABLE with 'connector' = 'paimon' and 'path'",
        )
    for option in (opt.SCAN_FALLBACK_BRANCH, opt.SCAN_PRIMARY_BRANCH):
        if name := options.get(option):
            _refuse_option(
                option.key,
                f"a new table has no branch {name!r}",
                "CALL sys.create_branch, then ALTER TABLE ... SET",
            )


def _refuse_option(key: str, why: str, hint: str) -> NoReturn:
    raise BadOptionValue(f"option {key!r}: {why}", hint=hint, option=key)


def _existing_column(schema: TableSchema, key: str, name: str) -> DataField:
    if name not in schema.names:
        hint = did_you_mean(name, schema.names) or f"columns: {', '.join(schema.names)}"
        _refuse_option(key, f"column {name!r} does not exist", hint)
    return schema.field(name)


def _check_column_names(schema: TableSchema) -> None:
    for name in schema.names:
        if name in _SYSTEM_COLUMNS or name.startswith(_KEY_PREFIX):
            raise SchemaMismatch(f"column name {name!r} is reserved by Paimon", hint="rename the column", column=name)


def _check_default_values(fields: Iterable[DataField], prefix: str = "") -> None:
    """A default is text that can be cast to the column's type; like Java, functions are not allowed."""
    from paimon_nb.format.data import cast_text

    for field in fields:
        name = prefix + field.name
        _check_default_values(_fields_inside(field.type), f"{name}.")
        if field.default_value is None:
            continue
        try:
            cast_text(field.default_value, field.type)
        except SchemaMismatch:
            raise SchemaMismatch(
                f"column {name!r}: default {field.default_value!r} is not a valid {field.type.bare()}",
                hint="a default is a constant; use functions such as CURRENT_TIMESTAMP in the INSERT",
                column=name, default=field.default_value,
            ) from None  # fmt: skip


def _fields_inside(t: DataType) -> Iterator[DataField]:
    """The fields of the outermost ROW types in a type, without the fields nested in them."""
    if isinstance(t, Row):
        yield from t.fields
    else:
        for child in t.children:
            yield from _fields_inside(child)


def _check_file_format(schema: TableSchema, options: TableOptions) -> None:
    if options.get(opt.FILE_FORMAT) == "avro":
        for field in schema.fields:
            if field.type.contains_type(is_nano):
                why = f"Avro supports at most microseconds, but column {field.name!r} is {field.type.bare()}"
                _refuse_option(opt.FILE_FORMAT.key, why, "use 'parquet' or 'orc', or a precision of 6")
    by_level = options.get(opt.FILE_FORMAT_PER_LEVEL).values()
    for kind in {options.get(opt.FILE_FORMAT), options.get(opt.CHANGELOG_FILE_FORMAT), *by_level} & {"lance", "vortex"}:
        from paimon_nb.format.data.lance_vortex import check_types

        check_types(kind, [f for f in schema.fields if not is_blob_type(f.type)])


def _check_bucket_options(schema: TableSchema, options: TableOptions) -> None:
    key, count = opt.BUCKET_KEY.key, options.get(opt.BUCKET)
    names = [n for n in options.raw.get(key, "").split(",") if n.strip()]
    for name in names:
        field = _existing_column(schema, key, name)
        if name in schema.partition_keys:
            _refuse_option(key, f"{name!r} is a partition key, which is constant in a partition", "remove it")
        if schema.primary_keys and name not in schema.primary_keys:
            _refuse_option(
                key,
                f"{name!r} is not in the primary key, so rows of one key could be in several buckets",
                "use primary-key columns",
            )
        if field.type.root in _NESTED:
            _refuse_option(key, f"{name!r} is {field.type.bare()}", "use columns of atomic types")
    if count == -1:
        if names:
            _refuse_option(key, "bucket = -1 needs no key", "set a number of buckets, or remove bucket-key")
        if not schema.primary_keys and opt.FULL_COMPACTION_DELTA_COMMITS.key in options.raw:
            _refuse_option(
                opt.FULL_COMPACTION_DELTA_COMMITS.key, "a table without keys and buckets has no levels", "remove it"
            )
    elif not schema.primary_keys:
        if count < 1:
            _refuse_option(opt.BUCKET.key, f"{count} needs a primary key", "use -1, or a number and 'bucket-key'")
        if not names:
            _refuse_option(
                opt.BUCKET.key, "a table without a primary key needs a bucket-key", "set 'bucket-key', or bucket = -1"
            )


def _check_named_columns(schema: TableSchema, options: TableOptions) -> None:
    """Checks columns in option keys `fields.<a>,<b>.<aspect>` and in option values."""
    for key in options.raw:
        if key.startswith("fields."):
            for name in key.split(".")[1].split(","):
                if name != "default-aggregate-function":
                    _existing_column(schema, key, name)
    for option in (opt.ROWKIND_FIELD, opt.RECORD_LEVEL_TIME_FIELD):
        if name := options.get(option):
            _existing_column(schema, option.key, name)
    upsert = [n for n in options.raw.get(opt.UPSERT_KEY.key, "").split(",") if n]
    for name in upsert:
        kind = _existing_column(schema, opt.UPSERT_KEY.key, name).type
        if kind.root in _NESTED:
            _refuse_option(opt.UPSERT_KEY.key, f"{name!r} is {kind.bare()}", "use columns of atomic types")
    if upsert and schema.primary_keys:
        _refuse_option(opt.UPSERT_KEY.key, "the table has a primary key", "remove it")


def _check_sequence_fields(schema: TableSchema, options: TableOptions) -> None:
    key, names = opt.SEQUENCE_FIELD.key, options.names(opt.SEQUENCE_FIELD)
    for name in names:
        _existing_column(schema, key, name)
        if options.field(name, "aggregate-function"):
            _refuse_option(
                key,
                f"{name!r} has an aggregate function",
                "the row with the highest sequence wins; remove the function",
            )
        if names.count(name) > 1:
            _refuse_option(key, f"duplicate column {name!r}", "name it once")
    if names and options.merge_engine == "first-row":
        _refuse_option(
            key, "merge engine first-row keeps the first row by arrival", "remove it, or use another merge engine"
        )
    if names and schema.is_cross_partition:
        _refuse_option(key, "the primary key lacks partition columns", "add them to the key, or remove sequence.field")
    for name in options.raw:
        if name.startswith("fields.") and name.endswith(".sequence-group"):
            for column in name.removeprefix("fields.").removesuffix(".sequence-group").split(","):
                if options.field(column, "aggregate-function"):
                    _refuse_option(
                        name,
                        f"{column!r} has an aggregate function",
                        "the row with the highest sequence wins; remove the function",
                    )


def _check_aggregate_functions(schema: TableSchema, options: TableOptions) -> None:
    if options.merge_engine not in ("aggregation", "partial-update"):
        return
    default = options.get(opt.FIELDS_DEFAULT_AGGREGATE_FUNCTION)
    for name in schema.names:
        function = options.field(name, "aggregate-function") or default
        if function and function not in AGGREGATES:
            key = f"fields.{name}.aggregate-function"
            hint = did_you_mean(function, AGGREGATES) or f"known: {', '.join(sorted(AGGREGATES))}"
            _refuse_option(key, f"unknown aggregate function {function!r}", hint)


def _check_aggregated_types(schema: TableSchema, spec: MergeSpec) -> None:
    """Each column has a type that its function supports: otherwise rows could be written and never read."""
    for name, aggregator in spec.aggregators.items():
        try:
            aggregate_of(schema.field(name), aggregator)
        except UnsupportedOperation as error:
            raise BadOptionValue(error.message, hint=error.hint, option=f"fields.{name}.aggregate-function") from error


def _check_append_only(options: TableOptions) -> None:
    if options.changelog_producer != "none":
        _refuse_option(opt.CHANGELOG_PRODUCER.key, "a table without a primary key has no changelog", "remove it")
    if options.get(opt.STREAMING_READ_OVERWRITE):
        _refuse_option(
            opt.STREAMING_READ_OVERWRITE.key, "the table has no primary key", "use 'streaming-read-append-overwrite'"
        )


def _check_time_columns(schema: TableSchema, options: TableOptions) -> None:
    if opt.PARTITION_EXPIRATION_TIME.key in options.raw and not schema.partition_keys:
        _refuse_option(opt.PARTITION_EXPIRATION_TIME.key, "the table has no partitions", "remove it")
    name = options.get(opt.RECORD_LEVEL_TIME_FIELD)
    if name and schema.field(name).type.root not in _TIME_TYPES:
        kind = schema.field(name).type.bare()
        _refuse_option(opt.RECORD_LEVEL_TIME_FIELD.key, f"{name!r} is {kind}", "use an INT, BIGINT or TIMESTAMP column")


def check_manifest_sort(schema: TableSchema, options: TableOptions) -> None:
    """Raises BadOptionValue: 'manifest-sort.enabled' without a partition column, or by a column that is none."""
    if not options.get(opt.MANIFEST_SORT_ENABLED):
        return
    keys = schema.partition_keys
    if not keys and not options.get(opt.DATA_EVOLUTION_ENABLED):
        _refuse_option(opt.MANIFEST_SORT_ENABLED.key, "the table is not partitioned", "remove it")
    name = options.get(opt.MANIFEST_SORT_PARTITION_FIELD)
    if name and name not in keys:
        _refuse_option(
            opt.MANIFEST_SORT_PARTITION_FIELD.key,
            f"{name!r} is not a partition column",
            f"use one of {', '.join(keys)}",
        )


def _check_vector_fields(schema: TableSchema, options: TableOptions) -> None:
    key = opt.VECTOR_FIELD.key
    for name in parse_names(options.raw.get(key)):
        if not isinstance(_existing_column(schema, key, name).type, Vector):
            _refuse_option(key, f"column {name!r} is {schema.field(name).type.bare()}", "use VECTOR<FLOAT, length>")
    vectors = [f.name for f in schema.fields if isinstance(f.type, Vector)]
    if vectors and options.has(opt.VECTOR_FILE_FORMAT):
        if not options.get(opt.DATA_EVOLUTION_ENABLED):
            hint = f"also set {opt.ROW_TRACKING_ENABLED.key!r} and {opt.DATA_EVOLUTION_ENABLED.key!r}"
            _refuse_option(opt.VECTOR_FILE_FORMAT.key, "files of vectors need row ids", hint)
        if len(vectors) == len(schema.fields):
            _refuse_option(opt.VECTOR_FILE_FORMAT.key, "the table has only vectors", "add another column")


def _check_blob_fields(schema: TableSchema, options: TableOptions) -> None:
    key = opt.BLOB_FIELD.key
    for name in parse_names(options.raw.get(key)):
        if not _existing_column(schema, key, name).type.contains_type(is_blob_type):
            _refuse_option(
                key, f"column {name!r} is {schema.field(name).type.bare()}", "use BLOB, ARRAY<BLOB> or MAP<K, BLOB>"
            )
    inline = [(o.key, name) for o in opt.INLINE_BLOBS for name in options.names(o)]
    for key, name in inline:
        if _existing_column(schema, key, name).type.root != "BLOB":
            _refuse_option(
                key, f"column {name!r} is {schema.field(name).type.bare()}", "only a BLOB can be a reference"
            )
        if len([n for _, n in inline if n == name]) > 1:
            _refuse_option(
                key,
                f"column {name!r} is named twice",
                "name it once, in 'blob-descriptor-field' or in 'blob-view-field'",
            )
    blobs = [f.name for f in schema.fields if is_blob_type(f.type)]
    if schema.primary_keys:
        check_blobs_with_keys(schema, options, [n for n in blobs if n not in {name for _, name in inline}])
    if not blobs:
        return
    if not schema.primary_keys and not options.get(opt.DATA_EVOLUTION_ENABLED):
        hint = f"set {opt.ROW_TRACKING_ENABLED.key!r} and {opt.DATA_EVOLUTION_ENABLED.key!r} to 'true'"
        _refuse_option(opt.DATA_EVOLUTION_ENABLED.key, f"files of BLOB column {blobs[0]!r} need row ids", hint)
    if len(blobs) == len(schema.fields):
        _refuse_option(opt.DATA_EVOLUTION_ENABLED.key, "the table has only BLOB columns", "add another column")
    if set(blobs) & set(schema.partition_keys):
        raise SchemaMismatch("a BLOB cannot be a partition column", hint="partition by another column", column=blobs[0])


def _check_row_tracking(schema: TableSchema, options: TableOptions) -> None:
    if options.get(opt.TABLE_READ_SEQUENCE_NUMBER_ENABLED) and not schema.primary_keys:
        _refuse_option(
            opt.TABLE_READ_SEQUENCE_NUMBER_ENABLED.key,
            "the table has no primary key",
            "remove it, or add a primary key",
        )
    tracking, evolution = opt.ROW_TRACKING_ENABLED, opt.DATA_EVOLUTION_ENABLED
    for option in (tracking, opt.CLUSTERING_INCREMENTAL):
        if options.get(option):
            if schema.primary_keys:
                _refuse_option(option.key, "the table has a primary key", "remove it")
            if options.get(opt.BUCKET) != -1 and option is tracking:
                _refuse_option(option.key, "the table has buckets", "use bucket = -1")
    if options.get(opt.CLUSTERING_INCREMENTAL) and options.get(opt.BUCKET) != -1:
        if options.get(opt.BUCKET_APPEND_ORDERED):
            _refuse_option(
                opt.CLUSTERING_INCREMENTAL.key,
                "the table has buckets, whose rows stay in their order",
                f"also set '{opt.BUCKET_APPEND_ORDERED.key}' to 'false', or use bucket = -1",
            )
        if options.deletion_vectors:
            _refuse_option(
                opt.CLUSTERING_INCREMENTAL.key,
                "the table has buckets and deletion vectors",
                "use bucket = -1, or remove 'deletion-vectors.enabled'",
            )
    merging = opt.BRANCH_MERGE_ENABLED
    if options.get(merging):
        if schema.primary_keys:
            _refuse_option(
                merging.key, "the table has a primary key", "remove it, or use fast_forward to replace the main branch"
            )
        for other, is_enabled in (
            (opt.DELETION_VECTORS_ENABLED, options.deletion_vectors),
            (evolution, options.get(evolution)),
        ):
            if is_enabled:
                _refuse_option(merging.key, f"it cannot be combined with {other.key!r}", "keep one of them")
    if options.get(evolution):
        if not options.get(tracking):
            _refuse_option(evolution.key, "it needs row ids", f"also set {tracking.key!r}")
        if options.get(opt.CLUSTERING_INCREMENTAL):
            _refuse_option(
                evolution.key, f"it cannot be combined with {opt.CLUSTERING_INCREMENTAL.key!r}", "keep one of them"
            )
