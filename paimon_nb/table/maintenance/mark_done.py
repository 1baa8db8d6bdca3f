"""Marks partitions as done: a `_SUCCESS` file in their directory, or a report to a web service.

Source: Paimon `partition/actions/SuccessFileMarkDoneAction.java`, `SuccessFile.java`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from paimon_nb.base import clock
from paimon_nb.base.errors import BadOptionValue, MissingFile, UnsupportedOperation
from paimon_nb.format.metadata_json import java_json
from paimon_nb.format.row import serialize
from paimon_nb.options import table as opt
from paimon_nb.table.maintenance.http_report import report_done
from paimon_nb.table.partition_spec import in_row_spec
from paimon_nb.table.store import TableStore

_HERE, _REPORT = "success-file", "http-report"
SUCCESS_FILE = "_SUCCESS"


def mark_partitions_done(store: TableStore, specs: Sequence[Mapping[str, str]]) -> list[str]:
    """Write or update the success files of partitions. Returns their paths.

    Raises:
        BadOptionValue: a spec without all partition columns. ColumnNotFound. UnsupportedOperation: not partitioned, or
        `partition.mark-done-action` has no supported action.
    """
    keys = store.schema.partition_keys
    if not keys:
        raise UnsupportedOperation(f"{store.name} is not partitioned", hint="only partitions can be marked done")
    partitions = []
    for spec in specs:
        values = in_row_spec(store.schema, spec)
        if missing := [k for k in keys if k not in values]:
            raise BadOptionValue(
                f"partition {dict(spec)} lacks {', '.join(missing)}",
                hint=f"specify {', '.join(keys)}",
                missing=missing,
            )
        partitions.append(serialize([f.type for f in store.schema.partition_fields], [values[k] for k in keys]))
    return mark_done(store, partitions)


def mark_done(store: TableStore, partitions: Iterable[bytes]) -> list[str]:
    """The same for serialized partitions. Raises UnsupportedOperation: no supported action. SourceUnavailable: the service
    does not answer.
    """
    actions = [a.strip() for a in str(store.options.get(opt.PARTITION_MARK_DONE_ACTION)).split(",")]
    if not {_HERE, _REPORT} & set(actions):
        raise UnsupportedOperation(
            f"{store.name}: partition.mark-done-action = {', '.join(actions)} needs a metastore or a Java class",
            hint=f"add {_HERE} to it",
        )
    paths = []
    for partition in partitions:
        folder = store.partition_dir(partition)
        if _HERE in actions:
            paths.append(_success_file(store, folder))
        if _REPORT in actions:
            report_done(store, folder.removeprefix(store.data_root).strip("/") + "/")
    return paths


def _success_file(store: TableStore, folder: str) -> str:
    path, now = f"{folder}/{SUCCESS_FILE}", clock.now_ms()
    store.fs.overwrite(path, java_json({"creationTime": _created(store, path, now), "modificationTime": now}))
    return path


def _created(store: TableStore, path: str, now: int) -> int:
    """When the partition was first marked."""
    try:
        return int(json.loads(store.fs.read(path))["creationTime"])
    except (MissingFile, ValueError, KeyError, TypeError):
        return now
