"""What BLOB columns with files of their own cannot be in a table with a primary key. Source: Paimon 2.1 `SchemaValidation`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.format.types import is_blob_type
from paimon_nb.options import table as opt
from paimon_nb.options.option import parse_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.options import TableOptions

_ENGINES = ("deduplicate", "partial-update", "first-row")


def check_blobs_with_keys(schema: TableSchema, options: TableOptions, managed: Sequence[str]) -> None:
    """Raise BadOptionValue if a key table cannot have its BLOB columns.

    Args:
        managed: the BLOB columns whose values are in files of their own.
    """
    for order in options.sequence_groups():
        for name in order:
            if name in schema.names and is_blob_type(schema.field(name).type):
                key = f"fields.{','.join(order)}.sequence-group"
                raise _refused(key, f"BLOB column {name!r} cannot order the rows of a group", "use another column")
    if not managed:
        return
    for key, names in _columns_of_keys(schema, options):
        for name in names:
            if name in managed:
                raise _refused(key, f"BLOB column {name!r} has its values in files of their own", "use another column")
    if options.merge_engine not in _ENGINES:
        raise _refused(
            opt.MERGE_ENGINE.key,
            f"BLOB column {managed[0]!r} needs the deduplicate, partial-update or first-row merge engine",
            f"it is {options.merge_engine}; 'blob-descriptor-field' = '{managed[0]}' has no such limit",
        )
    if options.changelog_producer != "none":
        raise _refused(
            opt.CHANGELOG_PRODUCER.key,
            f"BLOB column {managed[0]!r} needs changelog-producer 'none'",
            "remove the option",
        )
    unsupported = {
        opt.DATA_FILE_EXTERNAL_PATHS.key: options.get(opt.DATA_FILE_EXTERNAL_PATHS),
        opt.PK_CLUSTERING_OVERRIDE.key: options.get(opt.PK_CLUSTERING_OVERRIDE),
    }
    for key, value in unsupported.items():
        if value:
            raise _refused(key, f"a table with BLOB column {managed[0]!r} does not support it", "remove the option")
    _check_aggregates(options, managed)


def _columns_of_keys(schema: TableSchema, options: TableOptions) -> Iterator[tuple[str, Sequence[str]]]:
    yield "primary-key", schema.primary_keys
    yield opt.BUCKET_KEY.key, parse_names(options.raw.get(opt.BUCKET_KEY.key))
    yield opt.SEQUENCE_FIELD.key, options.names(opt.SEQUENCE_FIELD)


def _check_aggregates(options: TableOptions, managed: Sequence[str]) -> None:
    """A retraction has no values of these columns, so that no aggregate function may need them."""
    if options.merge_engine != "partial-update" or options.get(opt.IGNORE_DELETE):
        return
    grouped = {name for names in options.sequence_groups().values() for name in names}
    for name in managed:
        function = options.field(name, "aggregate-function") or options.get(opt.FIELDS_DEFAULT_AGGREGATE_FUNCTION)
        ignored = str(options.field(name, "ignore-retract")).lower() == "true"
        if name in grouped and function and function != "last_value" and not ignored:
            raise _refused(
                f"fields.{name}.aggregate-function",
                f"{function!r} needs the value of a retraction, which a BLOB does not have",
                f"set 'fields.{name}.ignore-retract' = 'true', or use last_value",
            )


def _refused(key: str, why: str, hint: str) -> BadOptionValue:
    return BadOptionValue(f"option {key!r}: {why}", hint=hint, option=key)
