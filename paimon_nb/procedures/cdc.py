"""Databases and topics kept in tables: mysql_sync_table, mysql_sync_database. Each CALL starts a job of the session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.name import Name, check_name, split_name
from paimon_nb.options import parse_names
from paimon_nb.procedures.procedure import Argument, Context, Procedure, one_row, parse_options

if TYPE_CHECKING:
    from paimon_nb.connectors.cdc.job import SyncJob


def _sync_table(
    context: Context,
    table: str,
    mysql_conf: str | Mapping[str, str],
    primary_keys: str | None,
    partition_keys: str | None,
    computed_column: str | None,
    type_mapping: str | None,
    table_conf: str | Mapping[str, str] | None,
    interval: int | None,
) -> pa.Table:
    from paimon_nb.connectors.cdc.job import Naming, SyncOptions
    from paimon_nb.connectors.cdc.mysql_sync import MySqlSync
    from paimon_nb.connectors.cdc.mysql_types import parse_modes
    from paimon_nb.connectors.cdc.target import TargetOptions

    name = _name(context, table)
    given = TargetOptions(
        parse_names(partition_keys), parse_names(primary_keys), _texts(computed_column), parse_options(table_conf)
    )
    conf = parse_options(mysql_conf)
    if not conf.get("table-name"):
        conf["table-name"] = name.table
    options = SyncOptions(
        Naming(name.database, name.table), given, parse_modes(type_mapping), interval_s=_seconds(interval)
    )
    return _started(context, MySqlSync(context.catalog, conf, options), f"mysql_sync_table {name}")


def _sync_database(
    context: Context,
    database: str,
    mysql_conf: str | Mapping[str, str],
    table_prefix: str | None,
    table_suffix: str | None,
    including_tables: str | None,
    excluding_tables: str | None,
    merge_shards: bool | None,
    ignore_incompatible: bool | None,
    primary_keys: str | None,
    partition_keys: str | None,
    type_mapping: str | None,
    table_conf: str | Mapping[str, str] | None,
    interval: int | None,
) -> pa.Table:
    from paimon_nb.connectors.cdc.job import Naming, SyncOptions
    from paimon_nb.connectors.cdc.mysql_sync import MySqlSync
    from paimon_nb.connectors.cdc.mysql_types import parse_modes
    from paimon_nb.connectors.cdc.target import TargetOptions

    naming = Naming(
        check_name(database, "database"), None, table_prefix or "", table_suffix or "", including_tables or ".*",
        excluding_tables, merge_shards is not False,
    )  # fmt: skip
    given = TargetOptions(parse_names(partition_keys), parse_names(primary_keys), (), parse_options(table_conf))
    options = SyncOptions(naming, given, parse_modes(type_mapping), bool(ignore_incompatible), _seconds(interval))
    sync = MySqlSync(context.catalog, parse_options(mysql_conf), options)
    return _started(context, sync, f"mysql_sync_database {database}")


def _started(context: Context, sync: SyncJob, name: str) -> pa.Table:
    sync.start()
    context.notes += sync.notes
    job = context.add_job(name, sync, lambda: sync.rows)
    context.notes.append("SHOW JOBS lists it; STOP JOB '<id>' ends it")
    return one_row(job=job, tables=", ".join(sorted(str(t.name) for t in sync.targets.values())))


def _name(context: Context, text: str) -> Name:
    parts = split_name(text)
    database = parts[-2] if len(parts) > 1 else context.current_database
    return Name(check_name(database, "database"), check_name(parts[-1], "table"))


def _texts(text: str | None) -> tuple[str, ...]:
    """Computed columns, with semicolons between: commas belong to their arguments."""
    return tuple(p.strip() for p in (text or "").split(";") if p.strip())


def _seconds(interval: int | None) -> float:
    return 1.0 if interval is None else interval / 1000


_CONF = Argument(
    "mysql_conf", required=True, many=True,
    doc="'hostname=..,port=..,username=..,password=..,database-name=..,table-name=..'; the last two are regular expressions",
)  # fmt: skip
_KEYS = (
    Argument("primary_keys", doc="'a,b'; else the source's", also=("primaryKeys",)),
    Argument("partition_keys", doc="'a,b'", also=("partitionKeys",)),
)
_MORE = (
    Argument("type_mapping", doc="tinyint1-not-bool, to-nullable, to-string, char-to-string, longtext-to-bytes, bigint-unsigned-to-bigint"),
    Argument("table_conf", many=True, doc="options of the table, 'bucket=4,changelog-producer=input'"),
    Argument("interval", "span", doc="between commits, '1 s'"),
)  # fmt: skip
MYSQL_SYNC_TABLE = Procedure(
    "mysql_sync_table",
    "Keep a MySQL or MariaDB table, or the shards of one, in a table: its rows, then every change, new columns included.",
    (
        Argument("table", required=True, doc="[database.]table; made if it is absent"),
        _CONF,
        *_KEYS,
        Argument(
            "computed_column", many=True, doc="'dt=date_format(at,yyyy-MM-dd);y=year(at)'", also=("computedColumn",)
        ),
        *_MORE,
    ),
    _sync_table,
)
MYSQL_SYNC_DATABASE = Procedure(
    "mysql_sync_database",
    "Keep all tables of a MySQL or MariaDB database that have a primary key in tables of their names.",
    (
        Argument("database", required=True, doc="made if it is absent"),
        _CONF,
        Argument("table_prefix", doc="before each name"),
        Argument("table_suffix", doc="behind each name"),
        Argument("including_tables", doc="regular expression", also=("includingTables",)),
        Argument("excluding_tables", doc="regular expression", also=("excludingTables",)),
        Argument("merge_shards", "bool", doc="tables of one name in several databases share a table (true)"),
        Argument("ignore_incompatible", "bool", doc="leave out tables that do not fit, instead of failing"),
        *_KEYS,
        *_MORE,
    ),
    _sync_database,
)
