"""Commits files of a format table: moves them to their partitions, and for an overwrite deletes the files before.

There is no snapshot. A failure while files are moved takes all of them back, so that the table is as it was. A reader during the
commit can see some of the new files, as in Java.
Source: Paimon 2.1 `FormatTableCommit.java`.
"""

from __future__ import annotations

import posixpath
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import AlreadyExists, CommitError, SqlAnalysisError, UnknownName, UnsupportedOperation
from paimon_nb.fs import UndoLog
from paimon_nb.table.read.format_table import (
    STAGING,
    PartitionDirectory,
    check_partition_name,
    data_files,
    find_partitions,
    partition_bytes_of,
    partition_path_of,
)
from paimon_nb.table.read.partition_spec import in_row_spec, matches_partition_spec, partition_text_of_spec, spec_texts
from paimon_nb.table.write.commit.partition_register import report_commit
from paimon_nb.table.write.format_table_write import StagedFile, delete_staged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paimon_nb.table.read.partition_service import PartitionService
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.publish.overwrite import Overwrite


class FormatTableCommit:
    """Makes files of writers visible; returned by `Table.commit` of a format table.

    Args:
        store: the table.
    """

    def __init__(self, store: TableStore) -> None:
        self.store = store

    def commit(
        self,
        messages: Iterable[StagedFile],
        identifier: int = 0,
        *,
        overwrite: Overwrite | None = None,
        expected_rows: int | None = None,
        **_: Any,
    ) -> list[int]:
        """Move files of writers to their partitions.

        Args:
            messages: the files of one or more writers (`FormatTableWrite.prepare_commit`).
            identifier: not used: there are no snapshots.
            overwrite: the partitions to replace (INSERT OVERWRITE); None appends.
            expected_rows: number of rows of the source. The commit fails if the writers received another number.

        Returns:
            An empty list: there are no snapshots.

        Raises:
            CommitError: the row counts differ. Nothing is committed; the files are deleted.
            UnsupportedOperation: a row is in another partition than the one that is replaced.
        """
        del identifier
        files = list(messages)
        try:
            self.store.check_identity()
            count = sum(f.row_count for f in files)
            if expected_rows is not None and count != expected_rows:
                raise CommitError(
                    f"{self.store.name}: the writers have {count} rows, the source has {expected_rows}; nothing is committed",
                    hint="run the statement again",
                )
            targets = [self._target(file) for file in files]
            emptied = [] if overwrite is None else self._replaced_partitions(files, overwrite)
            replaced = [file.path for partition in emptied for file in data_files(self.store, partition.path)]
            with UndoLog(self.store.fs) as changing:
                for file, target in zip(files, targets, strict=True):
                    changing.make_dirs(posixpath.dirname(target))
                    changing.move(file.path, target)
                # Moved first: a file that was deleted cannot be restored.
                old = [f"{self.store.root}/{STAGING}/replaced-{uuid.uuid4().hex}" for _ in replaced]
                for path, staged in zip(replaced, old, strict=True):
                    changing.make_dirs(posixpath.dirname(staged))
                    changing.move(path, staged)
                changing.delete_later(old)
                if self.store.partitions is not None:
                    self._report(self.store.partitions, files, emptied, overwrite)
        except BaseException:
            with suppress(Exception):  # must not hide the first error
                delete_staged(self.store, files)
            raise
        partitions = {f.partition for f in files}
        if overwrite is not None and overwrite.partition:
            values = list(_leading_partition_values(self.store, overwrite.partition))
            self.store.fs.make_dirs(partition_path_of(self.store, values))
            if len(values) == len(self.store.schema.partition_keys):
                partitions.add(partition_bytes_of(self.store, values))
        if self.store.watcher is not None:
            self.store.watcher.added(self.store, partitions)
        return []

    def _target(self, file: StagedFile) -> str:
        values = self.store.partition_values(file.partition) if self.store.schema.partition_keys else ()
        check_partition_name(self.store, values)
        return f"{partition_path_of(self.store, values)}/{posixpath.basename(file.path)}"

    def _report(
        self,
        service: PartitionService,
        files: Sequence[StagedFile],
        emptied: Sequence[PartitionDirectory],
        overwrite: Overwrite | None,
    ) -> None:
        """Report the rows and files of the partitions to the catalog that registers them."""
        store = self.store
        written: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        if overwrite is not None and len(overwrite.partition) == len(store.schema.partition_keys):
            written[_texts(store, _leading_partition_values(store, overwrite.partition))] = []
        for file in files:
            texts = _texts(store, store.partition_values(file.partition))
            written.setdefault(texts, []).append((file.row_count, file.size))
        report_commit(store, service, written, [p.texts for p in emptied], replace=overwrite is not None)

    def _replaced_partitions(self, files: Sequence[StagedFile], overwrite: Overwrite) -> list[PartitionDirectory]:
        """The partitions whose files an overwrite deletes. Raises UnsupportedOperation: a new row is outside of them.

        A partition that gets rows can have files of others that no catalog registers: these are replaced, too.
        """
        store = self.store
        touched = {store.partition_values(f.partition) for f in files} if store.schema.partition_keys else set()
        if not overwrite.dynamic or not store.schema.partition_keys:
            _check_rows_in_overwritten_partition(store, touched, overwrite.partition)
        found = find_partitions(store, lambda values: matches_partition_spec(values, overwrite.partition))
        if overwrite.dynamic and store.schema.partition_keys:
            found = [p for p in found if p.values in touched]
        if store.partitions is not None:
            targets = {_texts(store, values): tuple(values) for values in touched}
            if len(overwrite.partition) == len(store.schema.partition_keys):
                values = tuple(_leading_partition_values(store, overwrite.partition))
                targets[_texts(store, values)] = values
            known = {p.path for p in found}
            new = [PartitionDirectory(v, partition_path_of(store, v), texts) for texts, v in sorted(targets.items())]
            found += [p for p in new if p.path not in known]
        return found


def _check_rows_in_overwritten_partition(
    store: TableStore, touched: Iterable[tuple[Any, ...]], spec: Mapping[str, Any]
) -> None:
    for values in touched:
        found = dict(zip(store.schema.partition_keys, values, strict=True))
        if not matches_partition_spec(found, spec):
            raise UnsupportedOperation(
                f"{store.name}: the overwrite targets partition {spec_texts(store.schema, spec)}, "
                f"but some rows belong to {spec_texts(store.schema, found)}",
                hint="remove those rows, or use a dynamic overwrite, which replaces the partitions of the new rows",
            )


def _leading_partition_values(store: TableStore, spec: Mapping[str, Any]) -> Iterable[Any]:
    """The values of the first partition columns that a spec names."""
    for key in store.schema.partition_keys:
        if key not in spec:
            return
        yield spec[key]


def _texts(store: TableStore, values: Iterable[Any]) -> tuple[str, ...]:
    """The texts by which a catalog registers a partition."""
    return tuple(store.partition_texts(list(values)).values())


# -- whole partitions


def truncate_format_table(store: TableStore, specs: Sequence[Mapping[str, Any]] = ()) -> None:
    """Delete the data files of the whole table, or of the partitions that match any of `specs`; directories stay.

    Raises:
        UnknownName: a spec with a value for each partition column matches no partition.
    """
    found = _partitions_matching_specs(store, specs, must_exist=True)
    for partition in found:
        for file in data_files(store, partition.path):
            store.fs.delete(file.path)
    if store.partitions is not None:
        report_commit(store, store.partitions, {}, [p.texts for p in found], replace=True)


def add_format_table_partitions(
    store: TableStore, specs: Sequence[Mapping[str, Any]], *, if_not_exists: bool = False
) -> list[str]:
    """Make the directories of partitions. Returns the new ones as texts.

    Raises:
        UnsupportedOperation: the table is not partitioned, or a value cannot be a directory.
        SqlAnalysisError: a partition column has no value. AlreadyExists: a partition is there; no directory is made then.
    """
    keys = store.schema.partition_keys
    if not keys:
        raise UnsupportedOperation(f"{store.name} is not partitioned", hint="PARTITIONED BY, when a table is created")
    partitions = []
    for spec in (in_row_spec(store.schema, s) for s in specs):
        if missing := [k for k in keys if k not in spec]:
            raise SqlAnalysisError(
                f"a partition of {store.name} needs a value of {missing[0]!r}", hint="name each partition column"
            )
        partitions.append(tuple(spec[k] for k in keys))
        check_partition_name(store, partitions[-1])
    known = [dict(zip(keys, p.values, strict=True)) for p in find_partitions(store)]
    present = [any(matches_partition_spec(k, dict(zip(keys, v, strict=True))) for k in known) for v in partitions]
    texts = [partition_text_of_spec(store.schema, dict(zip(keys, v, strict=True))) for v in partitions]
    if any(present) and not if_not_exists:
        raise AlreadyExists(
            f"{store.name} already has partition ({texts[present.index(True)]})", hint="ADD IF NOT EXISTS PARTITION"
        )
    new = [(v, text) for v, text, is_present in zip(partitions, texts, present, strict=True) if not is_present]
    if store.partitions is not None and new:
        # The server decides: another client may register one of them now.
        store.partitions.create([store.partition_texts(v) for v, _ in new], if_not_exists=if_not_exists)
    for values, _ in new:
        store.fs.make_dirs(partition_path_of(store, values))
    if store.watcher is not None and new:
        store.watcher.added(store, {partition_bytes_of(store, values) for values, _ in new})
    return [text for _, text in new]


def drop_format_table_partitions(
    store: TableStore, specs: Sequence[Mapping[str, Any]], *, must_exist: bool = False
) -> bool:
    """Delete the directories of the partitions that match any of `specs`. Returns whether there was one.

    Raises:
        UnsupportedOperation: the table is not partitioned.
        UnknownName: with `must_exist`, a spec matches no partition; nothing is deleted then.
    """
    if not store.schema.partition_keys:
        raise UnsupportedOperation(f"{store.name} is not partitioned", hint="TRUNCATE TABLE empties it")
    found = _partitions_matching_specs(store, specs, must_exist=must_exist, complete_only=False) if specs else []
    if store.watcher is not None:
        store.watcher.dropped(store, [partition_bytes_of(store, p.values) for p in found])
    if store.partitions is not None and found:
        # First, so that a partition of which some files are deleted is not seen again.
        store.partitions.drop([dict(zip(store.schema.partition_keys, p.texts, strict=True)) for p in found])
    for partition in found:
        store.fs.delete_tree(partition.path)
        for depth in range(len(partition.values) - 1, 0, -1):
            store.fs.delete_empty_dir(partition_path_of(store, partition.values[:depth]))
    return bool(found)


def _partitions_matching_specs(
    store: TableStore, specs: Sequence[Mapping[str, Any]], *, must_exist: bool, complete_only: bool = True
) -> list[PartitionDirectory]:
    """The partitions that match any of `specs`; all without one."""
    keys = store.schema.partition_keys
    found = find_partitions(store, lambda values: not specs or any(matches_partition_spec(values, s) for s in specs))
    for spec in specs if must_exist else ():
        is_complete = len(spec) == len(keys) or not complete_only
        if is_complete and not any(matches_partition_spec(dict(zip(keys, p.values, strict=True)), spec) for p in found):
            text = partition_text_of_spec(store.schema, spec)
            raise UnknownName(f"{store.name} has no partition ({text})", hint="SHOW PARTITIONS lists them", name=text)
    return found
