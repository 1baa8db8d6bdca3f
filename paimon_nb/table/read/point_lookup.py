"""Plans point lookups: a snapshot's files are indexed once, each key then finds its few files among them.

The result equals that of `plan_scan` for the same condition, without the files that cannot hold the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import RowFilter, may_have_rows
from paimon_nb.format.row import bucket_of, serialize
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.types import arrow_type
from paimon_nb.format.types.arrow_builders import arrow_column
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.levels import Key, key_decoder, key_order
from paimon_nb.table.read.live_files import read_live, snapshot_manifests
from paimon_nb.table.read.plan.prune import types_alike
from paimon_nb.table.read.plan.scan_report import ScanReport
from paimon_nb.table.read.plan.snapshot_scan import (
    ScanPlan,
    Split,
    Vectors,
    deletion_vectors_of,
    deletion_vectors_of_files,
    is_independent,
    merges_postponed,
    pack_bucket_into_splits,
    visible_levels,
)
from paimon_nb.table.read.plan.time_travel import Latest, parse_incremental, parse_travel, translate_missing_files
from paimon_nb.table.read.predicate.evaluate import bind_literals, filter_on_file_columns
from paimon_nb.table.read.predicate.model import Compare, Predicate, conjunction_of, conjuncts
from paimon_nb.table.read.split.split_reader import schema_and_system
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.snapshot import Snapshot

_SEVERAL_FORMS = frozenset({"FLOAT", "DOUBLE", "CHAR"})
"""Types whose equal values can have different bytes (0.0 and -0.0, CHAR padding): neither hash nor order is usable."""
_AT_ONCE = 20_000
"""Manifest entries to index for a first lookup; a larger snapshot is indexed only at its second lookup."""


@dataclass(frozen=True, slots=True)
class _Bucket:
    number: int
    total: int
    files: tuple[tuple[Key, Key, DataFile], ...]
    """(smallest key, largest key, file)."""


@dataclass(frozen=True, slots=True)
class _Files:
    """The visible files of a snapshot."""

    snapshot: Snapshot
    buckets: Mapping[bytes, Sequence[_Bucket]]
    """By partition."""
    vectors: Vectors
    schemas: frozenset[int]
    """Of the files."""


class PointLookup:
    """Plans repeated lookups in the latest snapshot of one table."""

    def __init__(self, store: TableStore) -> None:
        self.store = store
        schema, options = store.schema, store.options
        self.fits = (
            isinstance(parse_travel(options), Latest)
            and parse_incremental(options) is None
            and not store.reads_other_branches
            and not any(schema.field(k).type.root in _SEVERAL_FORMS for k in schema.primary_keys)
        )
        self._fields = {f.name: f for f in schema.fields}
        self._key = key_decoder([f.type for f in schema.key_fields])
        self._known: _Files | None = None
        self._last_snapshot: Snapshot | None = None

    def plan(self, condition: Predicate) -> ScanPlan | None:
        """The splits that may hold the key; None if `plan_scan` must be used: a key column is missing or has no exact
        value, another snapshot than the latest is read, or key columns changed.

        Args:
            condition: equalities of columns.

        Raises:
            ColumnNotFound, SqlAnalysisError: the condition does not fit. CorruptFile, MissingFile, SnapshotExpired.
        """
        store = self.store
        bound = bind_literals(condition, store.schema.fields)
        values = {p.column: p.literal for p in conjuncts(bound) if isinstance(p, Compare) and p.op == "="}
        required = {*store.schema.partition_keys, *store.schema.trimmed_primary_keys, *store.schema.bucket_keys}
        if not self.fits or not required <= values.keys() or len(values) != len(conjuncts(bound)):
            return None
        snapshot = store.latest()
        if snapshot is None:
            return ScanPlan(store, None, (), ScanReport(), bound)
        with translate_missing_files(store, snapshot.id):
            files = self._visible_files(snapshot)
            if files is None:
                return None
            return ScanPlan(store, snapshot, tuple(self._splits_of_key(files, values)), ScanReport(), bound)

    def _visible_files(self, snapshot: Snapshot) -> _Files | None:
        if self._known is not None and self._known.snapshot == snapshot:
            return self._known
        again, self._last_snapshot = self._last_snapshot == snapshot, snapshot
        if not again and sum(m.num_added for m in snapshot_manifests(self.store, snapshot, changelog=True)) > _AT_ONCE:
            return None  # a partition condition may skip most manifests
        store, visible = self.store, visible_levels(self.store)
        groups: dict[tuple[bytes, int, int], list[tuple[Key, Key, DataFile]]] = {}
        schemas: set[int] = set()
        for entry in read_live(store, snapshot).entries:
            file = entry.file
            if store.bucket_option == POSTPONE_BUCKET and entry.bucket < 0:
                if merges_postponed(store):
                    return None
                continue
            if visible is not None and not visible(file.level):
                continue
            schemas.add(file.schema_id)
            members = groups.setdefault((entry.partition, entry.bucket, entry.total_buckets), [])
            members.append((self._key(file.min_key), self._key(file.max_key), file))
        keys = (*store.schema.primary_keys, *store.schema.bucket_keys)
        if not all(types_alike(store, schema_id, keys) for schema_id in schemas):
            return None  # they hash and order keys differently
        buckets: dict[bytes, list[_Bucket]] = {}
        for (partition, number, total), members in groups.items():
            buckets.setdefault(partition, []).append(_Bucket(number, total, tuple(members)))
        self._known = _Files(snapshot, buckets, deletion_vectors_of(store, snapshot), frozenset(schemas))
        return self._known

    def _splits_of_key(self, files: _Files, values: Mapping[str, Any]) -> list[Split]:
        store, schema = self.store, self.store.schema
        fields = schema.partition_fields
        partition = serialize([f.type for f in fields], [values[f.name] for f in fields])
        key = tuple(key_order(values[f.name]) for f in schema.key_fields)
        on_key = conjunction_of([Compare(f.name, "=", values[f.name]) for f in schema.key_fields])
        own: dict[int, int] = {}
        filters = {
            s: filter_on_file_columns(on_key, schema.key_fields, store.schema_by_id(s).fields) for s in files.schemas
        }
        out = []
        for bucket in files.buckets.get(partition, ()):
            if store.bucket_option > 0 and bucket.total > 0:
                if bucket.total not in own:
                    own[bucket.total] = self._bucket_of_key(values, bucket.total)
                if bucket.number != own[bucket.total]:
                    continue
            near = [f for low, high, f in bucket.files if low <= key <= high]
            store.prefetch(partition, bucket.number, near)
            vectors = deletion_vectors_of_files(files.vectors, partition, near)
            near = [f for f in near if self._file_may_hold_key(partition, bucket.number, f, filters[f.schema_id])]
            out += [
                Split(files.snapshot.id, partition, bucket.number, bucket.total, tuple(group), vectors, raw)
                for group, raw in pack_bucket_into_splits(store, near, is_independent(store))
            ]
        return out

    def _bucket_of_key(self, values: Mapping[str, Any], total: int) -> int:
        fields = [self._fields[n] for n in self.store.schema.bucket_keys]
        columns = [arrow_column([to_arrow_value(f.type, values[f.name])], arrow_type(f.type)) for f in fields]
        function = self.store.options.get(opt.BUCKET_FUNCTION_TYPE) or "default"
        return int(bucket_of([f.type for f in fields], columns, total, function)[0])

    def _file_may_hold_key(self, partition: bytes, bucket: int, file: DataFile, keep: RowFilter | None) -> bool:
        if keep is None:
            return True
        stored = self.store.schema_by_id(file.schema_id)
        path = self.store.data_path(partition, bucket, file)
        return may_have_rows(self.store.fs, path, schema_and_system(stored), keep, file.row_count)
