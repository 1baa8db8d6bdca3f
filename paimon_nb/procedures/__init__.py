"""Level 6: stored procedures, one module per family, and their registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import ProcedureNotFound, UnsupportedOperation
from paimon_nb.base.plugins import PluginGroup
from paimon_nb.base.redact import remember_secrets
from paimon_nb.base.registry import Registry, did_you_mean
from paimon_nb.procedures.branches import CREATE_BRANCH, DELETE_BRANCH, FAST_FORWARD, MERGE_BRANCH, RENAME_BRANCH
from paimon_nb.procedures.catalogs import MIGRATE_DATABASE, MIGRATE_ICEBERG_TABLE, MIGRATE_TABLE, REPAIR
from paimon_nb.procedures.cdc import (
    KAFKA_SYNC_DATABASE,
    KAFKA_SYNC_TABLE,
    MYSQL_SYNC_DATABASE,
    MYSQL_SYNC_TABLE,
    POSTGRES_SYNC_DATABASE,
    POSTGRES_SYNC_TABLE,
)
from paimon_nb.procedures.clone import CLONE
from paimon_nb.procedures.compact import COMPACT, COMPACT_CHAIN_TABLE, COMPACT_DATABASE
from paimon_nb.procedures.consumers import CLEAR_CONSUMERS, RESET_CONSUMER
from paimon_nb.procedures.copy import COPY, COPY_FILES
from paimon_nb.procedures.expire import (
    DROP_PARTITION,
    EXPIRE_CHANGELOGS,
    EXPIRE_PARTITIONS,
    EXPIRE_SNAPSHOTS,
    REMOVE_ORPHAN_FILES,
)
from paimon_nb.procedures.flink_results import as_flink_result
from paimon_nb.procedures.global_indexes import CREATE_GLOBAL_INDEX, DROP_GLOBAL_INDEX
from paimon_nb.procedures.maintenance import (
    ALTER_COLUMN_DEFAULT_VALUE,
    COMPACT_MANIFEST,
    MARK_PARTITION_DONE,
    MATERIALIZE_DELETION_VECTORS,
    PURGE_FILES,
    REASSIGN_ROW_ID,
    REMOVE_UNEXISTING_FILES,
    REMOVE_UNEXISTING_MANIFESTS,
    REPAIR_EARLIEST_SNAPSHOT,
    RESCALE,
    REWRITE_FILE_INDEX,
)
from paimon_nb.procedures.merge_into import DATA_EVOLUTION_MERGE_INTO, MERGE_INTO
from paimon_nb.procedures.privileges import (
    CREATE_PRIVILEGED_USER,
    DROP_PRIVILEGED_USER,
    GRANT_PRIVILEGE_TO_USER,
    INIT_FILE_BASED_PRIVILEGE,
    REVOKE_PRIVILEGE_FROM_USER,
)
from paimon_nb.procedures.procedure import Argument, Context, Procedure
from paimon_nb.procedures.rollback import (
    ROLLBACK,
    ROLLBACK_TO,
    ROLLBACK_TO_AS_LATEST,
    ROLLBACK_TO_TIMESTAMP,
    ROLLBACK_TO_WATERMARK,
)
from paimon_nb.procedures.searches import FULL_TEXT_SEARCH, VECTOR_SEARCH
from paimon_nb.procedures.tags import (
    CREATE_TAG,
    CREATE_TAG_FROM_TIMESTAMP,
    CREATE_TAG_FROM_WATERMARK,
    DELETE_TAG,
    EXPIRE_TAGS,
    RENAME_TAG,
    REPLACE_TAG,
    TRIGGER_TAG_AUTOMATIC_CREATION,
)
from paimon_nb.procedures.views import ALTER_VIEW_DIALECT

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.statements import Call

PROCEDURES: Registry[Procedure] = Registry(
    "procedure",
    {
        p.name: p
        for p in (
            ALTER_COLUMN_DEFAULT_VALUE, ALTER_VIEW_DIALECT, CLEAR_CONSUMERS, CLONE, COMPACT, COMPACT_CHAIN_TABLE, COMPACT_DATABASE, COMPACT_MANIFEST, COPY, COPY_FILES, CREATE_BRANCH,
            CREATE_GLOBAL_INDEX, CREATE_PRIVILEGED_USER, CREATE_TAG, CREATE_TAG_FROM_TIMESTAMP, CREATE_TAG_FROM_WATERMARK, DATA_EVOLUTION_MERGE_INTO, DELETE_BRANCH, DELETE_TAG,
            DROP_GLOBAL_INDEX, DROP_PARTITION, DROP_PRIVILEGED_USER, EXPIRE_CHANGELOGS, EXPIRE_PARTITIONS, EXPIRE_SNAPSHOTS, EXPIRE_TAGS, FAST_FORWARD, FULL_TEXT_SEARCH, GRANT_PRIVILEGE_TO_USER, INIT_FILE_BASED_PRIVILEGE,
            KAFKA_SYNC_DATABASE, KAFKA_SYNC_TABLE, MARK_PARTITION_DONE, MATERIALIZE_DELETION_VECTORS, MERGE_BRANCH, MERGE_INTO, MIGRATE_DATABASE, MIGRATE_ICEBERG_TABLE, MIGRATE_TABLE, MYSQL_SYNC_DATABASE, MYSQL_SYNC_TABLE, POSTGRES_SYNC_DATABASE, POSTGRES_SYNC_TABLE, PURGE_FILES, REASSIGN_ROW_ID, REMOVE_ORPHAN_FILES, REMOVE_UNEXISTING_FILES, REMOVE_UNEXISTING_MANIFESTS, RENAME_BRANCH,
            RENAME_TAG, REPAIR, REPAIR_EARLIEST_SNAPSHOT, REPLACE_TAG, RESCALE, RESET_CONSUMER, REVOKE_PRIVILEGE_FROM_USER, REWRITE_FILE_INDEX, ROLLBACK,
            ROLLBACK_TO, ROLLBACK_TO_AS_LATEST, ROLLBACK_TO_TIMESTAMP, ROLLBACK_TO_WATERMARK,
            TRIGGER_TAG_AUTOMATIC_CREATION, VECTOR_SEARCH,
        )
    },
    plugins=PluginGroup("procedures", "a Procedure", lambda plugin: isinstance(plugin, Procedure)),
)  # fmt: skip

_FUNCTIONS = "functions of a catalog are Java code, which is not run here"
_MONGODB = (
    "MongoDB is not a source; send its changes to Kafka with Debezium and use kafka_sync_table or kafka_sync_database"
)
_PULSAR = "Pulsar is not a source; use its Kafka protocol handler with kafka_sync_table or kafka_sync_database"
UNSUPPORTED = {
    **dict.fromkeys(("alter_function", "create_function", "drop_function"), _FUNCTIONS),
    "query_service": "it is a service of a Flink cluster; use SELECT ... WHERE or Table.lookup() instead",
    **dict.fromkeys(("mongodb_sync_table", "mongodb_sync_database"), _MONGODB),
    **dict.fromkeys(("pulsar_sync_table", "pulsar_sync_database"), _PULSAR),
}  # fmt: skip
"""Paimon procedures that are not supported, with the reason."""


def find_procedure(name: str) -> Procedure:
    """A procedure by name; case-insensitive.

    Raises:
        ProcedureNotFound: no such procedure; the hint has the nearest name.
        UnsupportedOperation: a Paimon procedure that is not supported here.
    """
    procedure = PROCEDURES.get(name.lower())
    if procedure is not None:
        return procedure
    if name.lower() in UNSUPPORTED:
        raise UnsupportedOperation(
            f"procedure {name.lower()} is not supported: {UNSUPPORTED[name.lower()]}",
            hint="SHOW PROCEDURES lists the supported procedures",
        )
    raise ProcedureNotFound(
        f"no procedure {name!r}",
        hint=did_you_mean(name.lower(), PROCEDURES) or "SHOW PROCEDURES lists them",
        name=name.lower(),
    )


def describe_procedure(name: str) -> dict[str, list[str]]:
    """A procedure's description as columns: a row for the procedure, then one per argument in positional order."""
    procedure = find_procedure(name)
    rows = [(procedure.name, "procedure", "", procedure.doc)]
    rows += [(a.name, a.kind, "needed" if a.required else "", a.doc) for a in procedure.arguments]
    return dict(zip(("name", "kind", "needed", "meaning"), map(list, zip(*rows, strict=True)), strict=True))


def call_procedure(context: Context, call: Call, *, flink: bool = False) -> pa.Table:
    """Run a CALL. Raises: see `find_procedure`, `Procedure.bind`, and the procedure.

    Args:
        flink: return the rows that Flink returns, not Spark's. A call in Flink's form gives them, too, unless Spark has that form
            (`Procedure.positional_in_spark`).
    """
    procedure = find_procedure(call.procedure)
    arguments = procedure.bind(call.positional, call.named)
    remember_secrets(arguments)
    for value in arguments.values():
        if isinstance(value, dict):
            remember_secrets(value)
    rows = procedure.run(context, **arguments)
    in_flink_form = call.flink_form and not procedure.positional_in_spark
    return as_flink_result(procedure.name, rows, arguments) if flink or in_flink_form else rows


__all__ = [
    "PROCEDURES", "UNSUPPORTED", "Argument", "Context", "Procedure", "call_procedure", "describe_procedure", "find_procedure",
]  # fmt: skip
