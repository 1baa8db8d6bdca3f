"""Row history: every stored version of a key in merge order, and the merged row after each.

The merged rows come from the same kernel that reads and compactions use, with one more version at a time.
Source: docs/spec/merge-semantics.md sections 1 and 2 (merge order and merge engines).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import (
    KIND_FIELD,
    ROW_POSITION,
    SEQUENCE_FIELD,
    SEQUENCE_NUMBER,
    VALUE_KIND,
    python_values,
    read_data_file,
)
from paimon_nb.format.data.file_schema import ROW_KINDS
from paimon_nb.format.data.schema_evolution import rows_as_read_fields
from paimon_nb.format.manifest import ADD, DataFile
from paimon_nb.format.types.arrow_builders import empty_table
from paimon_nb.table.lsm.merge import MergeSpec, merge
from paimon_nb.table.lsm.merge.groups import merge_order
from paimon_nb.table.lsm.superseded import drop_superseded
from paimon_nb.table.read.live_files import read_changes
from paimon_nb.table.read.plan.snapshot_scan import Split, all_levels, plan_snapshot, visible_levels
from paimon_nb.table.read.predicate.evaluate import bind_literals, filter_rows
from paimon_nb.table.read.predicate.model import Compare, Predicate, conjunction_of
from paimon_nb.table.read.split.split_reader import load_deletion_vector, schema_and_system
from paimon_nb.table.tables.inspect.formatting import partition_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

KINDS = ROW_KINDS
_VERSION = "__version"


@dataclass(frozen=True, slots=True)
class RowVersion:
    """One stored version of the key."""

    file: str
    level: int
    partition: str
    bucket: int
    position: int
    """Row number in the file, from 0."""
    sequence: int
    kind: str
    """+I, -U, +U or -D."""
    values: Mapping[str, Any]
    snapshot: int | None
    """The commit that added the file; None if that snapshot has expired."""
    hidden: str | None
    """Why this version is not merged; None: it is."""
    after: Mapping[str, Any] | None
    """The merged row after this version and all before it; None: no row."""


@dataclass(frozen=True, slots=True)
class RowHistory:
    """The answer for one key."""

    table: str
    key: Mapping[str, Any]
    engine: str
    snapshot: int | None
    versions: tuple[RowVersion, ...]
    """In merge order: later versions win, or are aggregated."""
    row: Mapping[str, Any] | None
    """The result of a query; None: no row."""
    rule: str
    """A sentence with the rule that decides."""

    @property
    def version_label(self) -> str:
        """As text; an empty table has no snapshot."""
        return "no snapshot yet" if self.snapshot is None else f"snapshot {self.snapshot}"

    def __str__(self) -> str:
        return why_text(self)


def row_history(store: TableStore, key: Mapping[str, Any], snapshot: Snapshot | None = None) -> RowHistory:
    """Explain the row with this key.

    Args:
        key: all primary key columns; partition columns may be omitted if the key exists in one partition only.
        snapshot: the version; None: the latest.

    Raises:
        UnsupportedOperation: no primary key, or key columns are missing. ColumnNotFound: no such column.
    """
    _check_key(store, key)
    snapshot = snapshot or store.latest()
    spec = MergeSpec.of(store.schema, store.options)
    versions: list[RowVersion] = []
    row = None
    if snapshot is not None:
        predicate = bind_literals(
            conjunction_of([Compare(name, "=", value) for name, value in key.items()]), store.schema.fields
        )
        plan = plan_snapshot(store, snapshot, predicate, levels=all_levels)
        buckets: dict[tuple[bytes, int], list[Split]] = {}
        for split in plan.splits:
            buckets.setdefault((split.partition, split.bucket), []).append(split)
        born = _adding_snapshots(store, {f.file_name for split in plan.splits for f in split.files})
        for splits in buckets.values():
            found, here = _history_in_bucket(store, splits, predicate, spec, born)
            versions += found
            row = here if here is not None else row
    rule = _merge_rule_text(spec, versions, row)
    return RowHistory(store.name, dict(key), spec.engine, snapshot.id if snapshot else None, tuple(versions), row, rule)


def _check_key(store: TableStore, key: Mapping[str, Any]) -> None:
    if not store.has_keys:
        raise UnsupportedOperation(
            f"{store.name} has no primary key: each row is stored once",
            hint="SELECT __paimon_file_path, __paimon_row_index, * FROM ... WHERE ... shows where rows are stored",
        )
    for column in key:
        store.schema.field(column)
    missing = [k for k in store.schema.trimmed_primary_keys if k not in key]
    if missing:
        raise UnsupportedOperation(
            f"why needs every primary-key column; missing: {', '.join(missing)}",
            hint="why(" + ", ".join(f"{k}=..." for k in store.schema.primary_keys) + ")", missing=missing,
        )  # fmt: skip


def _history_in_bucket(
    store: TableStore, splits: Sequence[Split], predicate: Predicate, spec: MergeSpec, born: Mapping[str, int]
) -> tuple[list[RowVersion], dict[str, Any] | None]:
    """The versions of one bucket in merge order, and the resulting row."""
    rows, locations = _read_stored_rows(store, splits, predicate)
    if not rows.num_rows:
        return [], None
    order = merge_order(rows, spec)
    hidden = _hidden_reasons(store, rows, locations, spec)
    taken: list[int] = []
    out: list[RowVersion] = []
    row: dict[str, Any] | None = None
    for index in (int(i) for i in order):
        file, position, marked_deleted = locations[index]
        reason = "a deletion vector marks it deleted" if marked_deleted else hidden[index]
        if reason is None:
            taken.append(index)
            row = _merge_versions(rows, taken, spec)
        values = _row_values(rows.slice(index, 1))
        sequence, kind = values.pop(SEQUENCE_NUMBER), KINDS[values.pop(VALUE_KIND)]
        values.pop(_VERSION)
        split = splits[0]
        out.append(
            RowVersion(
                file.file_name, file.level, partition_text(store, split.partition), split.bucket, position, sequence, kind,
                values, born.get(file.file_name), reason, row,
            )
        )  # fmt: skip
    return out, row


def _read_stored_rows(
    store: TableStore, splits: Sequence[Split], predicate: Predicate
) -> tuple[pa.Table, list[tuple[DataFile, int, bool]]]:
    """All stored rows of the key, numbered, with file, row number and whether a vector deletes each."""
    wide = (*store.schema.fields, SEQUENCE_FIELD, KIND_FIELD)
    parts = [empty_table(wide)]
    locations: list[tuple[DataFile, int, bool]] = []
    for split in splits:
        for file in split.files:
            schema = store.schema_by_id(file.schema_id)
            path = store.data_path(split.partition, split.bucket, file)
            stored = schema_and_system(schema)
            rows = read_data_file(
                store.fs, path, stored, row_positions=True, options=store.options, row_count=file.row_count
            )
            positions = rows.column(ROW_POSITION)
            evolved = rows_as_read_fields(rows.drop_columns([ROW_POSITION]), stored, wide)
            found = filter_rows(predicate, evolved.append_column(ROW_POSITION, positions), store.schema.fields)
            ref = (split.deletion_vectors or {}).get(file.file_name)
            deleted = load_deletion_vector(store, ref).mask(file.row_count) if ref is not None else None
            at = found.column(ROW_POSITION).to_pylist()
            locations += [(file, position, deleted is not None and bool(deleted[position])) for position in at]
            parts.append(found.drop_columns([ROW_POSITION]))
    table = pa.concat_tables(parts).combine_chunks()
    return table.append_column(_VERSION, pa.array(range(table.num_rows), pa.int64())), locations


def _hidden_reasons(
    store: TableStore, rows: pa.Table, locations: Sequence[tuple[DataFile, int, bool]], spec: MergeSpec
) -> list[str | None]:
    """Why each stored row is not merged."""
    out: list[str | None] = [None] * rows.num_rows
    levels = visible_levels(store)
    kinds = rows.column(VALUE_KIND).to_pylist()
    for i, (file, _, _) in enumerate(locations):
        if levels is not None and not levels(file.level):
            out[i] = "level 0 is not read before a compaction"
        elif spec.ignore_delete and kinds[i] in (1, 3):
            out[i] = "ignore-delete is on"
    if store.options.need_lookup:
        seen = [
            (locations[i][0].level, rows.slice(i, 1))
            for i in range(rows.num_rows)
            if out[i] is None and not locations[i][2]
        ]
        winners = {v for table in drop_superseded(seen, store.schema.key_fields) for v in table[_VERSION].to_pylist()}
        for i in range(rows.num_rows):
            if out[i] is None and not locations[i][2] and i not in winners:
                out[i] = "a lower level holds the key's newer result"
    return out


def _merge_versions(rows: pa.Table, taken: Sequence[int], spec: MergeSpec) -> dict[str, Any] | None:
    merged = merge([rows.drop_columns([_VERSION]).take(pa.array(taken))], spec, drop_delete=True)
    if not merged.num_rows:
        return None
    return _row_values(merged.select([f.name for f in spec.fields]))


def _row_values(row: pa.Table) -> dict[str, Any]:
    return {name: python_values(row.column(name))[0] for name in row.column_names}


def _adding_snapshots(store: TableStore, names: set[str]) -> dict[str, int]:
    """The snapshot that added each file, as far as snapshots exist."""
    out: dict[str, int] = {}
    for snapshot in sorted(store.snapshots.all(), key=lambda s: -s.id):
        if len(out) == len(names):
            break
        for entry in read_changes(store, snapshot.delta_manifest_list).entries:
            # An upgraded file is added again by the compaction; its first commit counts.
            if entry.kind == ADD and entry.file.file_name in names:
                out[entry.file.file_name] = snapshot.id
    return out


def _merge_rule_text(spec: MergeSpec, versions: Sequence[RowVersion], row: Mapping[str, Any] | None) -> str:
    if not versions:
        return "no file contains this key"
    counted = [v for v in versions if v.hidden is None]
    if not counted:
        return "no version is visible"
    last = counted[-1]
    by = f"by {', '.join(spec.sequence_fields)}, then sequence number" if spec.sequence_fields else "by sequence number"
    match spec.engine:
        case "deduplicate" if row is None:
            return f"deduplicate: the last version {by} is {last.kind}, so there is no row"
        case "deduplicate":
            return f"deduplicate: the last version {by} wins (#{last.sequence})"
        case "first-row":
            return f"first-row: the first version {by} wins (#{counted[0].sequence})"
        case "partial-update":
            groups = "; ".join(f"{', '.join(g.protected)} follow {', '.join(g.sequence)}" for g in spec.groups)
            return f"partial-update: each column's last value that is not NULL, {by}" + (
                f"; {groups}" if groups else ""
            )
        case _:
            functions = ", ".join(
                f"{name}: {a.function}" for name, a in spec.aggregators.items() if name not in spec.keys
            )
            return f"{spec.engine}, {by}; {functions}"


def why_text(answer: RowHistory) -> str:
    """The answer as text; the same for the same table except for file names."""
    key = ", ".join(f"{k}={v!r}" for k, v in answer.key.items())
    lines = [f"{answer.table} {key}, {answer.version_label}: {len(answer.versions)} stored, {answer.rule}"]
    for v in answer.versions:
        where = f"L{v.level} {v.file}:{v.position}" + (f" bucket {v.bucket}" if v.bucket else "")
        commit = f"snapshot {v.snapshot}" if v.snapshot is not None else "an expired snapshot"
        values = ", ".join(f"{k}={value!r}" for k, value in v.values.items() if k not in answer.key)
        lines.append(f"  {v.kind} #{v.sequence} {values}   {where}, {commit}")
        if v.hidden:
            lines.append(f"     not merged: {v.hidden}")
        elif len(answer.versions) > 1:
            after = (
                "no row"
                if v.after is None
                else ", ".join(f"{k}={x!r}" for k, x in v.after.items() if k not in answer.key)
            )
            lines.append(f"     then: {after}")
    row = "no row" if answer.row is None else ", ".join(f"{k}={v!r}" for k, v in answer.row.items())
    return "\n".join([*lines, f"  = {row}"])
