"""Checks of chain tables. Reads no files. Source: Paimon 2.1 `SchemaValidation.validateChainTable`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.options import TableOptions


def check_chain_table(schema: TableSchema, options: TableOptions) -> None:
    """Raises BadOptionValue: a table with `chain-table.enabled` lacks keys, or an option that the merge of a chain needs."""
    if not options.get(opt.CHAIN_TABLE_ENABLED):
        return
    for is_missing, why, hint in _requirements(schema, options):
        if is_missing:
            key = opt.CHAIN_TABLE_ENABLED.key
            raise BadOptionValue(f"option {key!r}: a chain table {why}", hint=hint, option=key)


def _requirements(schema: TableSchema, options: TableOptions) -> Iterator[tuple[bool, str, str]]:
    yield not schema.primary_keys, "needs a primary key", "PRIMARY KEY (dt, id) NOT ENFORCED"
    yield not schema.partition_keys, "must be partitioned", "PARTITIONED BY (dt)"
    yield options.bucket < 1, "needs a fixed number of buckets", "set 'bucket' to at least 1"
    yield not options.names(opt.SEQUENCE_FIELD), "needs a sequence field", "set 'sequence.field'"
    yield (
        options.changelog_producer not in ("none", "input"),
        f"cannot have changelog-producer {options.changelog_producer!r}",
        "use 'none' or 'input'",
    )
    yield (
        options.deletion_vectors and options.merge_engine != "deduplicate",
        f"with merge engine {options.merge_engine!r} cannot have deletion vectors",
        "use 'deduplicate', or unset 'deletion-vectors.enabled'",
    )
    for option in (opt.PARTITION_TIMESTAMP_PATTERN, opt.PARTITION_TIMESTAMP_FORMATTER):
        yield options.get(option) is None, f"needs the option {option.key!r}", "'$dt' with the formatter 'yyyyMMdd'"
    strategy = options.get(opt.PARTITION_EXPIRATION_STRATEGY)
    yield (
        options.get(opt.PARTITION_EXPIRATION_TIME) is not None and strategy != "values-time",
        f"cannot have the partition expiration strategy {strategy!r}",
        "use 'values-time'",
    )
    if options.has(opt.CHAIN_TABLE_CHAIN_PARTITION_KEYS):
        names = options.names(opt.CHAIN_TABLE_CHAIN_PARTITION_KEYS)
        yield (
            not names or tuple(schema.partition_keys[-len(names) :]) != tuple(names),
            f"cannot have {opt.CHAIN_TABLE_CHAIN_PARTITION_KEYS.key!r} = {','.join(names)!r}: they must be the last "
            f"partition columns, which are {', '.join(schema.partition_keys)}",
            "name the columns of the time, such as 'dt' or 'dt,hour'",
        )
