"""UPDATE, DELETE, MERGE and TRUNCATE. Spark computes which rows change; the table's own rules say how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.plan import Delete, Merge, Truncate, Update
from paimon_nb.session.partition import constants
from paimon_nb.session.result import Result, summary

if TYPE_CHECKING:
    from paimon_nb.session.run import Job


def truncate(job: Job, statement: Truncate) -> Result:
    table = job.session.table(statement.name)
    ids = table.truncate(constants(statement.partition, table.partition_keys) or None)
    return summary(f"{table.name} truncated", snapshots=[(str(table.name), i) for i in ids])


def update(job: Job, statement: Update) -> Result:
    raise UnsupportedOperation("UPDATE is not there yet", hint="INSERT INTO a primary-key table upserts")


def delete(job: Job, statement: Delete) -> Result:
    raise UnsupportedOperation("DELETE is not there yet", hint="table.delete(keys) deletes by primary key")


def merge(job: Job, statement: Merge) -> Result:
    raise UnsupportedOperation("MERGE is not there yet", hint="INSERT INTO a primary-key table upserts")
