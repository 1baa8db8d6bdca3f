"""Marks partitions as done: a `_SUCCESS` file in their directory, a report to a web service, or a mark in a REST catalog.

Source: Paimon `partition/actions/SuccessFileMarkDoneAction.java`, `SuccessFile.java`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import MissingFile, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.plugins import PluginGroup
from paimon_nb.base.registry import Registry
from paimon_nb.format.metadata_json import java_json
from paimon_nb.format.row import partition_path
from paimon_nb.format.row.partition_path import partition_values_of_path
from paimon_nb.options import table as opt
from paimon_nb.table.read.partition_spec import in_row_spec
from paimon_nb.table.write.maintenance.http_report import report_partition_done

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from paimon_nb.table.read.store import TableStore

_HERE, _REPORT, _EVENT = "success-file", "http-report", "mark-event"
SUCCESS_FILE = "_SUCCESS"


@dataclass(frozen=True, slots=True)
class DonePartition:
    """What an action of another package gets."""

    table: str
    """Path of the table."""
    partition: Mapping[str, str]
    """Partition column -> text of its value."""
    path: str
    """The partition's directory."""


PARTITION_DONE_ACTIONS: Registry[Callable[[DonePartition], object]] = Registry(
    "partition-done action", {}, plugins=PluginGroup("partition_done_actions", "a function from a DonePartition")
)
"""Actions that other packages add. The built-in ones need the store."""


def mark_partitions_done(store: TableStore, specs: Sequence[Mapping[str, str]]) -> list[str]:
    """Write or renew the success files of partitions, or of a level above them where a spec leaves columns out. Returns their paths.

    Raises:
        ColumnNotFound. UnsupportedOperation: not partitioned, or
            `partition.mark-done-action` names no action that is possible here.
    """
    keys = store.schema.partition_keys
    if not keys:
        raise UnsupportedOperation(f"{store.name} is not partitioned", hint="only partitions can be done")
    folders = []
    for spec in specs:
        values = in_row_spec(store.schema, spec)
        fields = [f for f in store.schema.partition_fields if f.name in values]
        path = partition_path(
            fields,
            [values[f.name] for f in fields],
            legacy=store.options.get(opt.PARTITION_LEGACY_NAME),
            default_name=store.options.get(opt.PARTITION_DEFAULT_NAME),
        )
        folders.append(f"{store.data_root}/{path}")
    return _run_mark_done_actions(store, folders)


def mark_done(store: TableStore, partitions: Iterable[bytes]) -> list[str]:
    """The same for serialized partitions. Raises UnsupportedOperation: no supported action. SourceUnavailable: the service
    does not answer.
    """
    return _run_mark_done_actions(store, map(store.partition_dir, partitions))


def _run_mark_done_actions(store: TableStore, folders: Iterable[str]) -> list[str]:
    actions = [a.strip() for a in str(store.options.get(opt.PARTITION_MARK_DONE_ACTION)).split(",")]
    possible = {_HERE, _REPORT, *([_EVENT] if store.versions is not None else [])}
    added = [PARTITION_DONE_ACTIONS[a] for a in actions if a not in possible and a in PARTITION_DONE_ACTIONS]
    if not possible & set(actions) and not added:
        raise UnsupportedOperation(
            f"{store.name}: partition.mark-done-action = {', '.join(actions)} needs a metastore, a Java class or a plugin",
            hint=f"add {_HERE} to it, or install the plugin",
        )
    paths, marked = [], []
    for folder in folders:
        marked.append(partition_values_of_path(folder.removeprefix(store.data_root)))
        if _HERE in actions:
            paths.append(_write_success_file(store, folder))
        if _REPORT in actions:
            report_partition_done(store, folder.removeprefix(store.data_root).strip("/") + "/")
        for action in added:
            action(DonePartition(store.root, marked[-1], folder))
    if _EVENT in actions and store.versions is not None:
        store.versions.mark_done(marked)
    return paths


def _write_success_file(store: TableStore, folder: str) -> str:
    path, now = f"{folder}/{SUCCESS_FILE}", clock.now_ms()
    store.fs.overwrite(path, java_json({"creationTime": _first_marked_ms(store, path, now), "modificationTime": now}))
    return path


def _first_marked_ms(store: TableStore, path: str, now: int) -> int:
    """When the partition was first marked."""
    try:
        return int(json.loads(store.fs.read(path))["creationTime"])
    except (MissingFile, ValueError, KeyError, TypeError):
        return now
