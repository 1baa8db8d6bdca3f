"""Compares two versions of a table: added, moved and deleted files, the schema, the options. Reads metadata only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_options
from paimon_nb.format.manifest import DataFile
from paimon_nb.table.read.live_files import read_live
from paimon_nb.table.read.plan.time_travel import AtVersion, resolve_time_travel
from paimon_nb.table.tables.inspect.formatting import bytes_text, count_text, partition_text

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that differs between the versions."""

    what: str
    """added, removed, or moved (an upgrade: the same file on another level, nothing rewritten)."""
    partition: str
    bucket: int
    file: str
    rows: int
    bytes: int
    level_before: int | None
    level_after: int | None


@dataclass(frozen=True, slots=True)
class SnapshotComparison:
    """The differences. Counts are stored rows; `Table.diff` returns the rows themselves."""

    table: str
    before: int
    after: int
    files: tuple[FileChange, ...]
    same_files: int
    rows_before: int
    rows_after: int
    columns: tuple[str, ...]
    """Column changes, by field id: added, dropped, renamed, other type, comment or default."""
    options: tuple[str, ...]
    """`key: 'old' -> 'new'`."""

    def only(self, what: str) -> list[FileChange]:
        """The file changes of one kind: added, removed or moved."""
        return [f for f in self.files if f.what == what]

    def __str__(self) -> str:
        lines = [f"{self.table}: snapshot {self.before} -> {self.after}"]
        for what in ("added", "moved", "removed"):
            some = self.only(what)
            if some:
                lines.append(
                    f"  {what:<7} {count_text(len(some), 'file')}, {sum(f.rows for f in some):,} rows, {bytes_text(sum(f.bytes for f in some))}"
                )
                lines += [
                    f"    {_levels_text(f)} {f.file}" + (f"  {f.partition}" if f.partition else "") for f in some[:20]
                ]
                lines += [f"    and {len(some) - 20} more"] * (len(some) > 20)
        lines.append(f"  same    {count_text(self.same_files, 'file')}")
        lines.append(f"  physical rows {self.rows_before:,} -> {self.rows_after:,}")
        return "\n".join([*lines, *(f"  column {c}" for c in self.columns), *(f"  option {o}" for o in self.options)])


def compare(store: TableStore, before: int | str, after: int | str) -> SnapshotComparison:
    """Compare two snapshots, given by id or tag.

    Raises:
        TimeTravelError, SnapshotExpired, TagNotFound: a version does not exist.
    """
    old, new = (resolve_time_travel(store, AtVersion(str(version))) for version in (before, after))
    assert old is not None
    assert new is not None
    a, b = _files_of_snapshot(store, old), _files_of_snapshot(store, new)
    changes = tuple(_file_changes(store, a, b))
    same = len(a.keys() & b.keys()) - sum(c.what == "moved" for c in changes)
    schemas = store.schemas.get(old.schema_id), store.schemas.get(new.schema_id)
    return SnapshotComparison(
        store.name, old.id, new.id, changes, same,
        sum(f.row_count for f in a.values()), sum(f.row_count for f in b.values()),
        tuple(_column_changes(*schemas)), tuple(_option_changes(schemas[0].options, schemas[1].options)),
    )  # fmt: skip


Files = Mapping[tuple[bytes, int, str], DataFile]


def _files_of_snapshot(store: TableStore, snapshot: Snapshot) -> Files:
    return {(e.partition, e.bucket, e.file.file_name): e.file for e in read_live(store, snapshot).entries}


def _file_changes(store: TableStore, before: Files, after: Files) -> Iterator[FileChange]:
    for key in dict.fromkeys([*after, *before]):
        old, new = before.get(key), after.get(key)
        if old is not None and new is not None and old.level == new.level:
            continue
        what = "added" if old is None else "removed" if new is None else "moved"
        file = new or old
        assert file is not None
        yield FileChange(
            what, partition_text(store, key[0]), key[1], key[2], file.row_count, file.file_size,
            old.level if old else None, new.level if new else None,
        )  # fmt: skip


def _column_changes(before: TableSchema, after: TableSchema) -> Iterator[str]:
    old, new = ({f.id: f for f in s.fields} for s in (before, after))
    for number, field in new.items():
        if number not in old:
            yield f"{field.name} {field.type} added"
        else:
            yield from _changes_of_column(old[number], field)
    yield from (f"{field.name} dropped" for number, field in old.items() if number not in new)
    common = [[f.id for f in s.fields if f.id in old and f.id in new] for s in (before, after)]
    if common[0] != common[1]:
        yield "order: " + ", ".join(after.names)


def _changes_of_column(old: DataField, new: DataField) -> Iterator[str]:
    if old.name != new.name:
        yield f"{old.name} renamed to {new.name}"
    if old.type != new.type:
        yield f"{new.name}: {old.type} -> {new.type}"
    if old.description != new.description:
        yield f"{new.name}: comment {new.description!r}"
    if old.default_value != new.default_value:
        yield f"{new.name}: default {new.default_value!r}"


def _option_changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    changed = [k for k in sorted(before.keys() | after.keys()) if before.get(k) != after.get(k)]
    visible = [redact_options({k: side.get(k, "not set") for k in changed}) for side in (before, after)]
    yield from (f"{key}: {visible[0][key]!r} -> {visible[1][key]!r}" for key in changed)


def _levels_text(change: FileChange) -> str:
    both = [f"L{level}" for level in (change.level_before, change.level_after) if level is not None]
    return " -> ".join(both)
