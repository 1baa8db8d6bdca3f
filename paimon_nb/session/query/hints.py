"""Table options for one statement, from a hint or a reader: their names and the partitions they select."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.base.registry import did_you_mean
from paimon_nb.options import READ_OPTIONS, TABLE_OPTIONS, WRITE_OPTIONS, find_option
from paimon_nb.options import table as opt
from paimon_nb.options.read import LOOKUP_CACHE, SCAN_PARTITIONS, SOURCE_CHECKPOINT_ALIGN_ENABLED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import TableRef
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.tables.table import Table


_READING_OPTIONS = frozenset(
    o.key
    for o in (
        opt.BRANCH, opt.INCREMENTAL_BETWEEN, opt.INCREMENTAL_BETWEEN_SCAN_MODE, opt.INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT,
        opt.INCREMENTAL_BETWEEN_TIMESTAMP, opt.INCREMENTAL_TO_AUTO_TAG, opt.SCAN_BUCKET, opt.SCAN_CREATION_TIME_MILLIS,
        opt.SCAN_FALLBACK_BRANCH, opt.SCAN_FILE_CREATION_TIME_MILLIS, opt.SCAN_IGNORE_CORRUPT_FILES, opt.SCAN_IGNORE_LOST_FILES,
        opt.SCAN_MODE, opt.SCAN_PLAN_SORT_PARTITION, opt.SCAN_PRIMARY_BRANCH, opt.SCAN_SNAPSHOT_ID, opt.SCAN_TAG_NAME, opt.SCAN_TIMESTAMP,
        opt.SCAN_TIMESTAMP_MILLIS, opt.SCAN_VERSION, opt.SCAN_WATERMARK,
    )
)  # fmt: skip
"""Options that choose what is read of a table. Others could name files and servers, or be recorded: `consumer-id`."""


def unknown_option_note(key: str) -> list[str]:
    """A note for an unknown table option in SET: it has no effect, but is not an error."""
    known = (*TABLE_OPTIONS, *READ_OPTIONS, *WRITE_OPTIONS)
    if find_option(key) is not None or key in known:
        return []
    return [f"unknown option {key!r}; {did_you_mean(key, known) or 'it has no effect'}"]


def check_consumer(table: Table) -> None:
    """Raise BadOptionValue for a `consumer-id` whose record would retain all snapshots. Source: Paimon `FlinkSourceBuilder`."""
    if table.options.has(opt.CONSUMER_ID) and not table.options.has(opt.CONSUMER_EXPIRATION_TIME):
        raise BadOptionValue(
            f"{table.name}: a 'consumer-id' needs 'consumer.expiration-time', or a reader that never comes back keeps all snapshots",
            hint=f"ALTER TABLE {table.name} SET ('consumer.expiration-time' = '7 d'), or name it in the hint",
            option=opt.CONSUMER_ID.key,
        )


def check_stream_of_files(table: Table) -> None:
    """Check the options of a stream before it starts. Source: Paimon `FlinkTableFactory.validateFileStoreContinuous`.

    Raises: UnsupportedOperation: a mode of log systems. BadOptionValue: a start time is missing.
    """
    from paimon_nb.table.read.stream.start import missing_option

    has_time = table.options.has(opt.SCAN_TIMESTAMP_MILLIS) or table.options.has(opt.SCAN_TIMESTAMP)
    if table.options.get(opt.SCAN_MODE) == "from-timestamp" and not has_time:
        raise missing_option("from-timestamp", opt.SCAN_TIMESTAMP_MILLIS.key)
    if table.store.chain_branches is not None and table.options.get(SOURCE_CHECKPOINT_ALIGN_ENABLED):
        raise UnsupportedOperation(
            f"{table.name}: a stream of a chain table cannot be aligned with checkpoints",
            hint=f"leave '{SOURCE_CHECKPOINT_ALIGN_ENABLED.key}' out",
            option=SOURCE_CHECKPOINT_ALIGN_ENABLED.key,
        )
    for option, refused in ((opt.LOG_CHANGELOG_MODE, "upsert"), (opt.LOG_CONSISTENCY, "eventual")):
        if table.options.get(option) == refused:
            raise UnsupportedOperation(
                f"{table.name}: a stream of the table's files cannot have '{option.key}' = '{refused}'",
                hint=f"leave '{option.key}' out; only log systems had it",
                option=option.key,
            )


def lookup_table(table: Table) -> Table:
    """The table as a lookup join reads it: its latest state, whatever its time travel options are."""
    from paimon_nb.table.read.plan.time_travel import LOOKUP_IGNORES
    from paimon_nb.table.tables.table import Table

    if table.store.chain_branches is not None:
        return Table(_chain_dimension(table), table.name)
    mode = "compacted-full" if table.options.get(opt.SCAN_MODE) == "compacted-full" else "latest-full"
    store = table.store.without_options(LOOKUP_IGNORES).copy({opt.SCAN_MODE.key: mode})
    return Table(store, table.name)


def _chain_dimension(table: Table) -> TableStore:
    """A chain table as a lookup join reads it: the state that its streams begin with.

    Raises: UnsupportedOperation: a start other than its state, another cache than the whole table, or partitions are selected.
    """
    from paimon_nb.table.read.stream import check_incremental, followed_store

    check_incremental(table.store, "a lookup join")
    cache = table.options.get(LOOKUP_CACHE)
    if cache not in ("auto", "full"):
        raise UnsupportedOperation(
            f"{table.name}: a lookup join of a chain table needs the whole table, not the cache mode {cache!r}",
            hint="set 'lookup.cache' = 'full', or leave it out",
            option=LOOKUP_CACHE.key,
        )
    return followed_store(table.store)


def check_lookup_keys(table: Table, columns: Iterable[str]) -> None:
    """Raises UnsupportedOperation: a lookup join compares partition columns of a chain table, whose rows stay where they were written."""
    partition = {key.lower() for key in table.partition_keys} & {c.lower() for c in columns}
    if table.store.chain_branches is not None and partition:
        raise UnsupportedOperation(
            f"{table.name}: a lookup join cannot compare partition keys of a chain table: {', '.join(sorted(partition))}",
            hint="compare other columns, or read the table in batch mode",
        )


def lookup_options(options: Mapping[str, str]) -> dict[str, str]:
    """A hint's options without those that a lookup join ignores, see `lookup_table`."""
    from paimon_nb.table.read.plan.time_travel import LOOKUP_IGNORES

    return {k: v for k, v in options.items() if k not in (*LOOKUP_IGNORES, opt.SCAN_MODE.key)}


def note_partitions_without_rows(session: Session, table: Table, options: Mapping[str, str]) -> None:
    """Note the partitions of 'scan.partitions' that do not exist: the query has no rows of them.

    Raises: BadOptionValue: it names a column that is not a partition column, or a text that is not a value.
    """
    text = SCAN_PARTITIONS.read({**table.options.raw, **options})
    if not text:
        return
    from paimon_nb.table.write.maintenance.partitions import missing_partitions

    store = table.copy(options).store.for_queries()
    if not store.read_partitions:
        return
    if missing := missing_partitions(store, store.read_partitions):
        session.note(
            f"'scan.partitions': {table.name} has no partition {'; '.join(missing)}; SHOW PARTITIONS lists them"
        )


def greatest_partitions(table: Table, options: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """The partitions that 'scan.partitions' of a lookup join selects by their order, as column -> value; None: it does not.

    Raises:
        BadOptionValue: it names a column that is not a partition column, or the table is not partitioned.
    """
    from paimon_nb.format.row import to_scalar
    from paimon_nb.table.read import partition_choice

    partitions = partition_choice.greatest_partitions(table.copy(options).store)
    if partitions is None:
        return None
    types = {f.name: f.type for f in table.schema.partition_fields}
    return [{name: to_scalar(types[name], v).as_py() for name, v in values.items()} for values in partitions]


def greatest_partition(table: Table) -> str:
    """The greatest first partition value that has rows, as text. Source: Spark's `sys.max_pt`.

    Raises:
        BadOptionValue: no partition column, or no partition with rows.
    """
    from paimon_nb.format.row import to_scalar
    from paimon_nb.table.read.partition_choice import partitions_with_rows

    if not table.partition_keys:
        raise BadOptionValue(f"{table.name} has no partitions", hint="max_pt is for partitioned tables")
    first = table.schema.partition_fields[0]
    values = [to_scalar(first.type, v[0]).as_py() for v in partitions_with_rows(table.store) if v[0] is not None]
    if not values:
        raise BadOptionValue(f"{table.name} has no partition with rows", hint="INSERT INTO it first")
    return str(max(values))


def partition_predicate(partitions: list[dict[str, Any]]) -> Predicate:
    """A predicate for these partitions, for file pruning."""
    from paimon_nb.table.read.predicate.model import And, Compare, IsNull, Or

    def equals(column: str, value: Any) -> Predicate:
        return IsNull(column) if value is None else Compare(column, "=", value)

    return Or(tuple(And(tuple(equals(c, v) for c, v in p.items())) for p in partitions))


def check_reading_options(tables: Iterable[TableRef], what: str) -> None:
    """Raise UnsupportedOperation for an option in a hint that does more than choose what is read."""
    for ref in tables:
        for key in ref.options:
            option = find_option(key) or READ_OPTIONS.get(key)
            if (option.key if option is not None else key) not in (*_READING_OPTIONS, "scan.partitions"):
                raise UnsupportedOperation(
                    f"{what}: the option {key!r} is refused in a hint", hint="options of time travel are allowed", option=key
                )  # fmt: skip
