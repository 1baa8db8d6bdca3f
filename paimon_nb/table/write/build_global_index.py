"""Builds and drops global indexes of data-evolution tables. Writes index files, publishes nothing.

Source: Paimon 2.1 `SortedIndexTopoBuilder`, `SortedGlobalIndexWriter`, `GenericIndexTopoBuilder`, `GlobalIndexBuilderUtils`,
`DropGlobalIndexProcedure`.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.data import ROW_ID_FIELD
from paimon_nb.format.index.global_index import (
    has_index_keys,
    row_id_range,
    sorted_keys,
    source_meta,
)
from paimon_nb.format.index.global_index.text_file import (
    FULL_TEXT_KIND,
)
from paimon_nb.format.index.global_index.vector_file import VECTOR_INDEX_KINDS
from paimon_nb.format.manifest import IndexEntry
from paimon_nb.format.types import Array, arrow_type
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.options import table as opt
from paimon_nb.options.support import Access
from paimon_nb.table.read.data_evolution import anchor_file
from paimon_nb.table.read.live_files import index_entries
from paimon_nb.table.read.plan.global_index import SORTED_INDEX_KINDS, has_row_id_range, index_ranges, stale_row_ids
from paimon_nb.table.read.plan.planner import plan_scan
from paimon_nb.table.read.row_positions import one_split_per_file
from paimon_nb.table.read.split.row_tracking import tracked_rows
from paimon_nb.table.write.index_files import IndexContent, element_index, sorted_index, text_index, vector_index
from paimon_nb.table.write.publish.abort import abort_messages
from paimon_nb.table.write.publish.changes import CommitMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.store import TableStore

Range = tuple[int, int]
"""First and last row id."""
MULTIVALUE_KIND = "multivalue"
"""An index of the elements of an ARRAY. Queries here do not use it; those of Java do."""
INDEX_KINDS = (*SORTED_INDEX_KINDS, MULTIVALUE_KIND, *VECTOR_INDEX_KINDS, FULL_TEXT_KIND)
_ROTATION = 1.2
"""A file may have this many times the configured rows, as in Java."""


def build_global_index(
    store: TableStore, kind: str, column: str, partitions: Callable[[bytes], bool] | None = None
) -> list[CommitMessage]:
    """Index the rows that an index of this kind does not cover yet, and those updated since it was built.

    Args:
        kind: one of `INDEX_KINDS`.
        partitions: a test for serialized partitions; None: all.

    Returns:
        One message per range of row ids; [] if all rows are covered.

    Raises:
        UnsupportedOperation: the table has no data evolution, the kind of index is not for the column's type, or the column
            has an index of another kind.
        ColumnNotFound: the table has no such column.
        EnvironmentError_: the package that builds this kind of index is missing.
        BadOptionValue: an option of the index is wrong. SchemaMismatch: a vector has another length, or is not finite.
    """
    store.check_supported(Access.COMPACT)
    field = _check_can_index(store, kind, column)
    plan = plan_scan(store.copy({opt.GLOBAL_INDEX_ENABLED.key: "false"}))
    snapshot = plan.snapshot
    if snapshot is None:
        return []
    store = plan.store
    indexed = index_entries(store, snapshot)
    _check_no_other_index(store, indexed, kind, field)
    splits = [s for s in one_split_per_file(plan) if partitions is None or partitions(s.partition)]
    messages: list[CommitMessage] = []
    try:
        for partition in dict.fromkeys(s.partition for s in splits):
            own = [s for s in splits if s.partition == partition]
            covered, stale = _covered_ranges(store, indexed, kind, field, own)
            owners = _rows_of_files(own)
            for rows in _ranges_to_index([owned for owned, _ in owners], covered):
                for first, last in _shards(store, kind, rows):
                    files = [s for (low, high), s in owners if low <= last and high >= first]
                    messages.append(_index_range(store, snapshot, kind, field, (first, last), files))
            if stale:
                messages.append(
                    CommitMessage(
                        partition, 0, own[0].total_buckets, deleted_index=tuple(stale), base_snapshot=snapshot.id
                    )
                )
    except BaseException:
        abort_messages(store, messages)
        raise
    return [m for m in messages if not m.is_empty]


def _check_can_index(store: TableStore, kind: str, column: str) -> DataField:
    """The column. Raises UnsupportedOperation, ColumnNotFound."""
    if not store.evolves_data or not store.options.get(opt.ROW_TRACKING_ENABLED):
        raise UnsupportedOperation(
            f"{store.name}: a global index needs a table with data evolution",
            hint=f"create the table with '{opt.ROW_TRACKING_ENABLED.key}' = 'true' and '{opt.DATA_EVOLUTION_ENABLED.key}' = 'true'",
        )
    field = store.schema.field(store.schema.column_name(column))
    if kind in VECTOR_INDEX_KINDS:
        fits = isinstance(field.type, Array) and field.type.element.root == "FLOAT"
        suitable = "a VECTOR or ARRAY of FLOAT"
    elif kind == FULL_TEXT_KIND:
        fits, suitable = field.type.root in ("CHAR", "VARCHAR"), "a STRING, CHAR or VARCHAR"
    elif kind == MULTIVALUE_KIND:
        fits = isinstance(field.type, Array) and has_index_keys(field.type.element)
        suitable = "an ARRAY of numbers, texts, dates, times or BOOLEAN"
    else:
        fits, suitable = has_index_keys(field.type), "a number, a text, a date, a time or a BOOLEAN"
    if not fits:
        raise UnsupportedOperation(
            f"{store.name}: column {field.name} is {field.type.bare()}, which cannot have an index of type {kind}",
            hint=f"this type is for {suitable}",
            column=field.name,
        )
    return field


def _shards(store: TableStore, kind: str, rows: Range) -> list[Range]:
    """The parts of a range that are indexed by themselves: vectors and texts are cut at multiples of an option, as in Java."""
    first, last = rows
    if kind in (*SORTED_INDEX_KINDS, MULTIVALUE_KIND):
        return [rows]
    size = store.options.get(opt.GLOBAL_INDEX_ROW_COUNT_PER_SHARD)
    begins = [first, *range((first // size + 1) * size, last + 1, size)]
    return list(zip(begins, [b - 1 for b in begins[1:]] + [last], strict=True))


def _check_no_other_index(store: TableStore, indexed: Sequence[IndexEntry], kind: str, field: DataField) -> None:
    """Raises UnsupportedOperation: Java accepts one kind of index on a column."""
    for entry in indexed:
        if dict(entry.global_index or ()).get("_INDEX_FIELD_ID") == field.id and entry.index_type != kind:
            raise UnsupportedOperation(
                f"{store.name}: column {field.name} has a global index of kind {entry.index_type} already",
                hint=f"CALL sys.drop_global_index(`table` => '{store.name}', index_column => '{field.name}', "
                f"index_type => '{entry.index_type}')",
                column=field.name,
            )


def _covered_ranges(
    store: TableStore, indexed: Sequence[IndexEntry], kind: str, field: DataField, splits: Sequence[Split]
) -> tuple[list[Range], list[IndexEntry]]:
    """Ranges of row ids that the column's index covers, and the files of ranges with updated rows, to be built again."""
    files = [f for s in splits for f in s.files]
    covered, stale = list[Range](), list[IndexEntry]()
    own = (e for e in indexed if e.partition == splits[0].partition and e.index_type == kind)
    for index in index_ranges(own, [field], INDEX_KINDS):
        if row_id_range(index.first, index.last).intersect(stale_row_ids(store, index, files)):
            stale += index.files
        else:
            covered.append((index.first, index.last))
    return covered, stale


def _rows_of_files(splits: Sequence[Split]) -> list[tuple[Range, Split]]:
    """The row ids of files that count them, in their order."""
    owners = ((_row_range(s), s) for s in splits if all(map(has_row_id_range, s.files)))
    return sorted(owners, key=itemgetter(0))


def _ranges_to_index(owned: Sequence[Range], covered: Sequence[Range]) -> list[Range]:
    """Ranges of consecutive rows that are not covered, of sorted ranges of rows."""
    merged: list[Range] = []
    for first, last in owned:
        if merged and merged[-1][1] + 1 == first:
            first = merged.pop()[0]
        merged.append((first, last))
    return [part for one in merged for part in _without(one, sorted(covered))]


def _row_range(split: Split) -> Range:
    """The row ids of files of the same rows."""
    whole = anchor_file(split.files)
    assert whole.first_row_id is not None
    return whole.first_row_id, whole.first_row_id + whole.row_count - 1


def _without(rows: Range, covered: Sequence[Range]) -> Iterator[Range]:
    """The parts of a range outside of sorted ones."""
    first, last = rows
    for low, high in covered:
        if first <= high and low <= last:
            if first < low:
                yield first, low - 1
            first = high + 1
    if first <= last:
        yield first, last


def _index_range(
    store: TableStore, snapshot: Snapshot, kind: str, field: DataField, rows: Range, splits: Sequence[Split]
) -> CommitMessage:
    """Index the rows of one range; writes its files."""
    first, last = rows
    partition, total = splits[0].partition, splits[0].total_buckets
    column, positions = _values_of_range(store, field, rows, splits)
    prefix = f"vector-{kind}" if kind in VECTOR_INDEX_KINDS else kind
    contents = _contents(store, kind, field, column, positions)
    entries = [_write_file(store, kind, prefix, partition, field, content) for content in contents]
    described = tuple(
        replace(e, global_index=(("_ROW_RANGE_START", first), ("_ROW_RANGE_END", last), *(e.global_index or ()),
                                 ("_SOURCE_META", source_meta(snapshot.id))))
        for e in entries
    )  # fmt: skip
    return CommitMessage(partition, 0, total, new_index=described, base_snapshot=snapshot.id)


def _values_of_range(
    store: TableStore, field: DataField, rows: Range, splits: Sequence[Split]
) -> tuple[pa.ChunkedArray, npt.NDArray[np.int64]]:
    """The column's values of the rows that are not deleted, and their positions in the range."""
    first, last = rows
    values, ids = [pa.chunked_array([], arrow_type(field.type))], [np.empty(0, np.int64)]
    for split in splits:
        found = tracked_rows(store, split, [field.name])
        row_ids = np.asarray(to_numpy(found.column(ROW_ID_FIELD.name)), np.int64)
        inside = (row_ids >= first) & (row_ids <= last)
        values.append(found.column(field.name).filter(from_numpy(inside)))
        ids.append(row_ids[inside] - first)
    column = pa.chunked_array([c for part in values for c in part.chunks], values[0].type)
    return column, np.concatenate(ids)


def _contents(
    store: TableStore, kind: str, field: DataField, column: pa.ChunkedArray, positions: npt.NDArray[np.int64]
) -> list[IndexContent]:
    """The files of the index of one range; of a vector or full-text index none if there is no value."""
    options = store.options
    size = _rows_of_a_file(len(column), options.get(opt.SORTED_INDEX_RECORDS_PER_RANGE))
    if kind == MULTIVALUE_KIND:
        parts = [slice(at, at + size) for at in range(0, len(column), size)]
        return [element_index(options, field, column[part], positions[part]) for part in parts]
    if kind in SORTED_INDEX_KINDS:
        return [sorted_index(options, kind, part) for part in sorted_keys(field.type, column, positions).chunks(size)]
    if kind == FULL_TEXT_KIND:
        return [text_index(options, column, positions)] if len(column) else []
    content = vector_index(options, kind, store.name, field, column, positions)
    return [] if content is None else [content]


def _rows_of_a_file(rows: int, target: int) -> int:
    """The rows of each file of a sorted index: Java's tasks get equal parts of at least `target` rows, and rotate their files."""
    return max(1, min(-(-rows // max(1, rows // target)), int(target * _ROTATION)))


def _write_file(
    store: TableStore, kind: str, prefix: str, partition: bytes, field: DataField, content: IndexContent
) -> IndexEntry:
    """Write one file. Its entry lacks the range of row ids."""
    name = f"{prefix}-global-index-{uuid.uuid4()}.index"
    root = store.options.get(opt.GLOBAL_INDEX_EXTERNAL_PATH)
    external = f"{str(root).rstrip('/')}/{name}" if root else None
    described: tuple[tuple[str, Any], ...] = (
        ("_INDEX_FIELD_ID", field.id),
        ("_EXTRA_FIELD_IDS", None),
        ("_INDEX_META", content.meta),
    )
    entry = IndexEntry(partition, 0, kind, name, len(content.data), content.row_count, None, external, described)
    store.fs.write(store.index_path(entry), content.data)
    return entry


def drop_global_index(
    store: TableStore, kind: str, columns: Sequence[str], partitions: Callable[[bytes], bool] | None = None
) -> list[CommitMessage]:
    """Messages that drop an index, one per bucket; [] if there is none.

    Args:
        kind: any kind, such as those that only Java builds.
        columns: the columns of the index, in its order.
        partitions: a test for serialized partitions; None: all.

    Raises: ColumnNotFound: the table has no such column.
    """
    store.check_supported(Access.COMPACT)
    ids = [store.schema.field(store.schema.column_name(c)).id for c in columns]
    snapshot = store.latest()
    dropped: dict[tuple[bytes, int], list[IndexEntry]] = {}
    for entry in index_entries(store, snapshot):
        known = dict(entry.global_index or ())
        if (
            entry.index_type == kind
            and known
            and [known["_INDEX_FIELD_ID"], *(known.get("_EXTRA_FIELD_IDS") or ())] == ids
            and (partitions is None or partitions(entry.partition))
        ):
            dropped.setdefault((entry.partition, entry.bucket), []).append(entry)
    base = snapshot.id if snapshot else None
    return [
        CommitMessage(partition, bucket, -1, deleted_index=tuple(entries), base_snapshot=base)
        for (partition, bucket), entries in dropped.items()
    ]
