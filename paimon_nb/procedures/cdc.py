"""CDC ingestion: mysql_sync_table, kafka_sync_table and others. Each CALL starts a job of the session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paimon_nb.base.identifier import Identifier, check_name, split_name
from paimon_nb.options import parse_names
from paimon_nb.procedures.procedure import Argument, Context, Procedure, one_row, parse_options

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.connectors.cdc.job import SyncJob
    from paimon_nb.connectors.cdc.kafka_sync import KafkaSync
    from paimon_nb.connectors.cdc.mysql_sync import MySqlSync
    from paimon_nb.connectors.cdc.postgres_sync import PostgresSync

Conf = str | Mapping[str, str]
"""'k=v,k2=v2', or a dict from the command line."""


def _mysql_sync_table(context: Context, table: str, mysql_conf: Conf, **arguments: Any) -> pa.Table:
    from paimon_nb.connectors.cdc.mysql_sync import MySqlSync

    name = _target_identifier(context, table)
    conf = parse_options(mysql_conf)
    return _sync_table(
        context, "mysql", MySqlSync, name, {**conf, "table-name": conf.get("table-name") or name.table}, **arguments
    )


def _kafka_sync_table(context: Context, table: str, kafka_conf: Conf, **arguments: Any) -> pa.Table:
    from paimon_nb.connectors.cdc.kafka_sync import KafkaSync

    return _sync_table(
        context, "kafka", KafkaSync, _target_identifier(context, table), parse_options(kafka_conf), **arguments
    )


def _postgres_sync_table(context: Context, table: str, postgres_conf: Conf, **arguments: Any) -> pa.Table:
    from paimon_nb.connectors.cdc.postgres_sync import PostgresSync

    name = _target_identifier(context, table)
    conf = parse_options(postgres_conf)
    return _sync_table(
        context,
        "postgres",
        PostgresSync,
        name,
        {**conf, "table-name": conf.get("table-name") or name.table},
        **arguments,
    )


def _postgres_sync_database(context: Context, postgres_conf: Conf, **arguments: Any) -> pa.Table:
    from paimon_nb.connectors.cdc.postgres_sync import PostgresSync

    return _sync_database(context, "postgres", PostgresSync, parse_options(postgres_conf), **arguments)


def _mysql_sync_database(context: Context, mysql_conf: Conf, **arguments: Any) -> pa.Table:
    from paimon_nb.connectors.cdc.mysql_sync import MySqlSync

    return _sync_database(context, "mysql", MySqlSync, parse_options(mysql_conf), **arguments)


def _kafka_sync_database(context: Context, kafka_conf: Conf, **arguments: Any) -> pa.Table:
    from paimon_nb.connectors.cdc.kafka_sync import KafkaSync

    return _sync_database(context, "kafka", KafkaSync, parse_options(kafka_conf), **arguments)


def _sync_table(
    context: Context,
    source: str,
    sync_class: type[MySqlSync] | type[KafkaSync] | type[PostgresSync],
    name: Identifier,
    conf: Mapping[str, str],
    *,
    primary_keys: str | None,
    partition_keys: str | None,
    computed_column: str | None,
    type_mapping: str | None,
    table_conf: Conf | None,
    interval: int | None,
    on_value_error: str | None,
    skip_record: str | None,
    metadata_column: str | None,
    metadata_column_prefix: str | None,
) -> pa.Table:
    from paimon_nb.connectors.cdc.job import Naming, SyncOptions
    from paimon_nb.connectors.cdc.mysql_types import parse_modes
    from paimon_nb.connectors.cdc.target import TargetOptions
    from paimon_nb.connectors.cdc.values import OnValueError

    target_options = TargetOptions(
        parse_names(partition_keys),
        parse_names(primary_keys),
        _split_by_semicolon(computed_column),
        parse_options(table_conf),
        OnValueError.of(on_value_error),
        frozenset(_split_by_semicolon(skip_record)),
    )
    options = SyncOptions(
        Naming(name.database, name.table),
        target_options,
        parse_modes(type_mapping),
        interval_s=_interval_s(interval),
        metadata=parse_names(metadata_column),
        metadata_prefix=metadata_column_prefix or "",
    )
    return _start_sync_job(context, sync_class(context.catalog, conf, options), f"{source}_sync_table {name}")


def _sync_database(
    context: Context,
    source: str,
    sync_class: type[MySqlSync] | type[KafkaSync] | type[PostgresSync],
    conf: Mapping[str, str],
    *,
    database: str,
    table_prefix: str | None,
    table_suffix: str | None,
    including_tables: str | None,
    excluding_tables: str | None,
    merge_shards: bool | None,
    ignore_incompatible: bool | None,
    primary_keys: str | None,
    partition_keys: str | None,
    type_mapping: str | None,
    table_conf: Conf | None,
    interval: int | None,
    on_value_error: str | None,
    skip_record: str | None,
    metadata_column: str | None,
    metadata_column_prefix: str | None,
) -> pa.Table:
    from paimon_nb.connectors.cdc.job import Naming, SyncOptions
    from paimon_nb.connectors.cdc.mysql_types import parse_modes
    from paimon_nb.connectors.cdc.target import TargetOptions
    from paimon_nb.connectors.cdc.values import OnValueError

    naming = Naming(
        check_name(database, "database"), None, table_prefix or "", table_suffix or "", including_tables or ".*",
        excluding_tables, merge_shards is not False,
    )  # fmt: skip
    target_options = TargetOptions(
        parse_names(partition_keys),
        parse_names(primary_keys),
        (),
        parse_options(table_conf),
        OnValueError.of(on_value_error),
        frozenset(_split_by_semicolon(skip_record)),
    )
    options = SyncOptions(
        naming,
        target_options,
        parse_modes(type_mapping),
        bool(ignore_incompatible),
        _interval_s(interval),
        parse_names(metadata_column),
        metadata_column_prefix or "",
    )
    return _start_sync_job(context, sync_class(context.catalog, conf, options), f"{source}_sync_database {database}")


def _start_sync_job(context: Context, sync: SyncJob, job_name: str) -> pa.Table:
    sync.start()
    context.notes += sync.notes
    job = context.add_job(job_name, sync, lambda: sync.rows)
    context.notes.append("SHOW JOBS lists it; STOP JOB '<id>' ends it")
    return one_row(job=job, tables=", ".join(sorted(str(t.name) for t in sync.targets.values())))


def _target_identifier(context: Context, text: str) -> Identifier:
    parts = split_name(text)
    database = parts[-2] if len(parts) > 1 else context.current_database
    return Identifier(check_name(database, "database"), check_name(parts[-1], "table"))


def _split_by_semicolon(text: str | None) -> tuple[str, ...]:
    """Computed columns or records, separated by semicolons, since they contain commas."""
    return tuple(p.strip() for p in (text or "").split(";") if p.strip())


def _interval_s(interval_ms: int | None) -> float:
    return 1.0 if interval_ms is None else interval_ms / 1000


_MYSQL = Argument(
    "mysql_conf", required=True, many=True,
    doc="'hostname=..,port=..,username=..,password=..,database-name=..,table-name=..'; the last two are regular expressions",
)  # fmt: skip
_KAFKA = Argument(
    "kafka_conf", required=True, many=True,
    doc="'properties.bootstrap.servers=..,topic=..,value.format=..': debezium-json, debezium-avro (with schema.registry.url=..), canal-json, maxwell-json, ogg-json, aws-dms-json or json; also scan.startup.mode ...",
)  # fmt: skip
_POSTGRES = Argument(
    "postgres_conf", required=True, many=True,
    doc="'hostname=..,port=..,username=..,password=..,database-name=..,schema-name=..,table-name=..,slot.name=..'; schema and table are regular expressions",
)  # fmt: skip
_TABLE = Argument("table", required=True, doc="[database.]table; created if it does not exist")
_KEYS = (
    Argument("primary_keys", doc="'a,b'; else the source's", also=("primaryKeys",)),
    Argument("partition_keys", doc="'a,b'", also=("partitionKeys",)),
)
_COMPUTED = Argument(
    "computed_column", many=True, doc="'dt=date_format(at,yyyy-MM-dd);y=year(at)'", also=("computedColumn",)
)
_MORE = (
    Argument("type_mapping", doc="tinyint1-not-bool, to-nullable, to-string, char-to-string, longtext-to-bytes, bigint-unsigned-to-bigint"),
    Argument("table_conf", many=True, doc="options of the table, 'bucket=4,changelog-producer=input'"),
    Argument("interval", "span", doc="between commits, '1 s'"),
    Argument("on_value_error", doc="values that do not fit their column: java (default), fail, null, text, dead-letter", also=("onValueError",)),
    Argument("metadata_column", many=True, doc="'table_name,op_ts': metadata of each change as columns; MySQL: database_name, table_name, op_ts; PostgreSQL: also schema_name; Kafka: topic, partition, offset, timestamp, timestamp_type", also=("metadataColumn",)),
    Argument("metadata_column_prefix", doc="prefix of the names of metadata columns", also=("metadataColumnPrefix",)),
    Argument("skip_record", many=True, doc="records to leave out if they cannot be stored, as the error names them, separated by semicolons", also=("skipRecord",)),
)  # fmt: skip
_DATABASE = Argument("database", required=True, doc="created if it does not exist")
_NAMES = (
    Argument("table_prefix", doc="prefix of each name"),
    Argument("table_suffix", doc="suffix of each name"),
    Argument("including_tables", "regex", doc="regular expression", also=("includingTables",)),
    Argument("excluding_tables", "regex", doc="regular expression", also=("excludingTables",)),
    Argument("merge_shards", "bool", doc="merge tables of the same name in several databases (true)"),
    Argument("ignore_incompatible", "bool", doc="skip incompatible tables instead of failing"),
)
MYSQL_SYNC_TABLE = Procedure(
    "mysql_sync_table",
    "Sync a MySQL or MariaDB table, or its shards, into a table: a snapshot, then all changes, including new columns.",
    (_TABLE, _MYSQL, *_KEYS, _COMPUTED, *_MORE),
    _mysql_sync_table,
)
MYSQL_SYNC_DATABASE = Procedure(
    "mysql_sync_database",
    "Sync all tables of a MySQL or MariaDB database that have a primary key into tables of the same names.",
    (_DATABASE, _MYSQL, *_NAMES, *_KEYS, *_MORE),
    _mysql_sync_database,
)
KAFKA_SYNC_TABLE = Procedure(
    "kafka_sync_table",
    "Sync a Kafka changelog into a table: columns come from the messages, including new ones.",
    (_TABLE, _KAFKA, *_KEYS, _COMPUTED, *_MORE),
    _kafka_sync_table,
)
KAFKA_SYNC_DATABASE = Procedure(
    "kafka_sync_database",
    "Sync all tables of a Kafka changelog that have a primary key into tables of the same names.",
    (_DATABASE, _KAFKA, *_NAMES, *_KEYS, *_MORE),
    _kafka_sync_database,
)
POSTGRES_SYNC_TABLE = Procedure(
    "postgres_sync_table",
    "Sync a PostgreSQL table, or several with the same columns, into a table: a snapshot, then all changes, including new columns.",
    (_TABLE, _POSTGRES, *_KEYS, _COMPUTED, *_MORE),
    _postgres_sync_table,
)
POSTGRES_SYNC_DATABASE = Procedure(
    "postgres_sync_database",
    "Sync all tables of a PostgreSQL schema that have a primary key into tables of the same names.",
    (_DATABASE, _POSTGRES, *_NAMES, *_KEYS, *_MORE),
    _postgres_sync_database,
)
