"""What a table's columns, keys and options may not say together; asked before a schema is stored. Reads no files.

Source: Paimon 1.3 `SchemaValidation.java`, `TableSchema.java`.
"""

from __future__ import annotations

from typing import NoReturn

from paimon_nb.base.errors import BadOptionValue, SchemaMismatch
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.schema import TableSchema
from paimon_nb.format.snapshot import BranchDirectory
from paimon_nb.format.types import DataField, is_nano
from paimon_nb.options import TableOptions, validate_table_options
from paimon_nb.options import table as opt
from paimon_nb.table.external_paths import external_paths
from paimon_nb.table.merge import MergeSpec
from paimon_nb.table.merge.aggregate import AGGREGATES
from paimon_nb.table.scan import parse_travel

_NESTED = ("ARRAY", "MAP", "MULTISET", "ROW")
_SYSTEM_COLUMNS = ("_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "rowkind", "_ROW_ID")
_KEY_PREFIX = "_KEY_"
_TIMES = ("INT", "BIGINT", "TIMESTAMP", "TIMESTAMP_LTZ")
"""Roots of the types that a row's time may have."""

_MODES_WITHOUT_MOMENT = ("latest", "latest-full", "full", "compacted-full")
_MOMENTS = (
    "scan.timestamp-millis", "scan.timestamp", "scan.file-creation-time-millis", "scan.snapshot-id", "scan.tag-name",
    "incremental-between", "incremental-between-timestamp", "incremental-to-auto-tag",
)  # fmt: skip


def check_schema(schema: TableSchema) -> None:
    """Refuse what Java refuses when a table is created or altered.

    Raises:
        BadOptionValue: an option that contradicts the columns, the keys or another option, or names no column.
        SchemaMismatch: a column has a name that Paimon needs, or a default that is none of its type.
    """
    validate_table_options(schema.options)
    options = TableOptions(schema.options)
    _column_names(schema)
    _defaults(schema)
    _file_format(schema, options)
    _buckets(schema, options)
    _moment(options)
    _named_columns(schema, options)
    _sequence(schema, options)
    if schema.primary_keys:
        MergeSpec.of(schema, options)
        _aggregates(schema, options)
    else:
        _append_only(options)
    _times(schema, options)
    _row_tracking(schema, options)
    external_paths(options)


def check_fallback(schema: TableSchema, branches: BranchDirectory) -> None:
    """Refuse a fallback branch that is not there. Raises BadOptionValue."""
    name = TableOptions(schema.options).get(opt.SCAN_FALLBACK_BRANCH)
    if name and not branches.exists(name):
        _refuse(opt.SCAN_FALLBACK_BRANCH.key, f"the table has no branch {name!r}", "CALL sys.create_branch makes one")


def _refuse(key: str, why: str, hint: str) -> NoReturn:
    raise BadOptionValue(f"option {key!r}: {why}", hint=hint, option=key)


def _column(schema: TableSchema, key: str, name: str) -> DataField:
    if name not in schema.names:
        hint = did_you_mean(name, schema.names) or f"columns: {', '.join(schema.names)}"
        _refuse(key, f"no column is called {name!r}", hint)
    return schema.field(name)


def _column_names(schema: TableSchema) -> None:
    for name in schema.names:
        if name in _SYSTEM_COLUMNS or name.startswith(_KEY_PREFIX):
            raise SchemaMismatch(
                f"no column can be called {name!r}: Paimon writes its own", hint="rename it", column=name
            )


def _defaults(schema: TableSchema) -> None:
    """A default is text that can be cast to its column's type; Java knows no functions there."""
    for field in schema.fields:
        if field.default_value is None:
            continue
        from paimon_nb.format.data import cast_text

        try:
            cast_text(field.default_value, field.type)
        except SchemaMismatch:
            raise SchemaMismatch(
                f"column {field.name!r}: default {field.default_value!r} is no {field.type.bare()}",
                hint="a default is a constant; say functions such as CURRENT_TIMESTAMP in the INSERT",
                column=field.name, default=field.default_value,
            ) from None  # fmt: skip


def _file_format(schema: TableSchema, options: TableOptions) -> None:
    if options.get(opt.FILE_FORMAT) == "avro":
        for field in schema.fields:
            if field.type.holds(is_nano):
                why = f"Avro has no times finer than microseconds, as in column {field.name!r} ({field.type.bare()})"
                _refuse(opt.FILE_FORMAT.key, why, "use 'parquet' or 'orc', or a precision of 6")


def _buckets(schema: TableSchema, options: TableOptions) -> None:
    key, count = opt.BUCKET_KEY.key, options.get(opt.BUCKET)
    names = [n for n in options.raw.get(key, "").split(",") if n.strip()]
    for name in names:
        field = _column(schema, key, name)
        if name in schema.partition_keys:
            _refuse(key, f"{name!r} is a partition key, it is the same all over a partition", "leave it out")
        if schema.primary_keys and name not in schema.primary_keys:
            _refuse(key, f"{name!r} is not in the primary key, so rows of one key could part", "use columns of the key")
        if field.type.root in _NESTED:
            _refuse(key, f"{name!r} is {field.type.bare()}", "use columns of atomic types")
    if count == -1:
        if names:
            _refuse(key, "bucket = -1 asks no key", "set a number of 'bucket', or leave bucket-key out")
        if not schema.primary_keys and opt.FULL_COMPACTION_DELTA_COMMITS.key in options.raw:
            _refuse(
                opt.FULL_COMPACTION_DELTA_COMMITS.key, "a table without keys and buckets has no levels", "leave it out"
            )
    elif not schema.primary_keys:
        if count < 1:
            _refuse(opt.BUCKET.key, f"{count} needs a primary key", "use -1, or a number and 'bucket-key'")
        if not names:
            _refuse(
                opt.BUCKET.key, "a table without a primary key needs a bucket-key", "set 'bucket-key', or bucket = -1"
            )


def _moment(options: TableOptions) -> None:
    parse_travel(options)
    mode = options.raw.get(opt.SCAN_MODE.key)
    if mode in _MODES_WITHOUT_MOMENT:
        for key in _MOMENTS:
            if key in options.raw:
                _refuse(key, f"scan.mode {mode!r} reads no past moment", "keep one of the two")


def _named_columns(schema: TableSchema, options: TableOptions) -> None:
    """Columns in option keys `fields.<a>,<b>.<aspect>` and in options that name one."""
    for key in options.raw:
        if key.startswith("fields."):
            for name in key.split(".")[1].split(","):
                if name != "default-aggregate-function":
                    _column(schema, key, name)
    for option in (opt.ROWKIND_FIELD, opt.RECORD_LEVEL_TIME_FIELD):
        if name := options.get(option):
            _column(schema, option.key, name)
    upsert = [n for n in options.raw.get(opt.UPSERT_KEY.key, "").split(",") if n]
    for name in upsert:
        kind = _column(schema, opt.UPSERT_KEY.key, name).type
        if kind.root in _NESTED:
            _refuse(opt.UPSERT_KEY.key, f"{name!r} is {kind.bare()}", "use columns of atomic types")
    if upsert and schema.primary_keys:
        _refuse(opt.UPSERT_KEY.key, "the table has a primary key", "leave it out")


def _sequence(schema: TableSchema, options: TableOptions) -> None:
    key, names = opt.SEQUENCE_FIELD.key, options.names(opt.SEQUENCE_FIELD)
    for name in names:
        _column(schema, key, name)
        if options.field(name, "aggregate-function"):
            _refuse(key, f"{name!r} has an aggregate function", "the newest order is kept, leave the function out")
        if names.count(name) > 1:
            _refuse(key, f"{name!r} is named twice", "name it once")
    if names and options.merge_engine == "first-row":
        _refuse(key, "the merge engine first-row goes by arrival", "leave it out, or use another merge engine")
    if names and schema.is_cross_partition:
        _refuse(key, "the primary key lacks partition columns", "add them to the key, or leave sequence.field out")
    for name in options.raw:
        if name.startswith("fields.") and name.endswith(".sequence-group"):
            for column in name.removeprefix("fields.").removesuffix(".sequence-group").split(","):
                if options.field(column, "aggregate-function"):
                    _refuse(name, f"{column!r} has an aggregate function", "the newest order is kept, leave it out")


def _aggregates(schema: TableSchema, options: TableOptions) -> None:
    if options.merge_engine not in ("aggregation", "partial-update"):
        return
    default = options.get(opt.FIELDS_DEFAULT_AGGREGATE_FUNCTION)
    for name in schema.names:
        function = options.field(name, "aggregate-function") or default
        if function and function not in AGGREGATES:
            key = f"fields.{name}.aggregate-function"
            hint = did_you_mean(function, AGGREGATES) or f"known: {', '.join(sorted(AGGREGATES))}"
            _refuse(key, f"no function is called {function!r}", hint)


def _append_only(options: TableOptions) -> None:
    if options.changelog_producer != "none":
        _refuse(opt.CHANGELOG_PRODUCER.key, "a table without a primary key has no changes to tell", "leave it out")
    if options.get(opt.STREAMING_READ_OVERWRITE):
        _refuse(
            opt.STREAMING_READ_OVERWRITE.key, "the table has no primary key", "use 'streaming-read-append-overwrite'"
        )


def _times(schema: TableSchema, options: TableOptions) -> None:
    if opt.PARTITION_EXPIRATION_TIME.key in options.raw and not schema.partition_keys:
        _refuse(opt.PARTITION_EXPIRATION_TIME.key, "the table has no partitions", "leave it out")
    name = options.get(opt.RECORD_LEVEL_TIME_FIELD)
    if name and schema.field(name).type.root not in _TIMES:
        kind = schema.field(name).type.bare()
        _refuse(opt.RECORD_LEVEL_TIME_FIELD.key, f"{name!r} is {kind}", "use an INT, BIGINT or TIMESTAMP column")


def _row_tracking(schema: TableSchema, options: TableOptions) -> None:
    tracking, evolution = opt.ROW_TRACKING_ENABLED, opt.DATA_EVOLUTION_ENABLED
    for option in (tracking, opt.CLUSTERING_INCREMENTAL):
        if options.get(option):
            if schema.primary_keys:
                _refuse(option.key, "the table has a primary key", "leave it out")
            if options.get(opt.BUCKET) != -1:
                _refuse(option.key, "the table has buckets", "use bucket = -1")
    merging = opt.BRANCH_MERGE_ENABLED
    if options.get(merging):
        if schema.primary_keys:
            _refuse(merging.key, "the table has a primary key", "leave it out; fast_forward takes a whole branch over")
        for other, on in (
            (opt.DELETION_VECTORS_ENABLED, options.deletion_vectors),
            (evolution, options.get(evolution)),
        ):
            if on:
                _refuse(merging.key, f"it does not go with {other.key!r}", "keep one of them")
    if options.get(evolution):
        if not options.get(tracking):
            _refuse(evolution.key, "it needs row ids", f"set {tracking.key!r} too")
        if options.get(opt.CLUSTERING_INCREMENTAL):
            _refuse(evolution.key, f"it does not go with {opt.CLUSTERING_INCREMENTAL.key!r}", "keep one of them")
