"""What a table's merge engine needs to know (`MergeSpec`), and rows grouped by key in merge order."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import SEQUENCE_NUMBER
from paimon_nb.format.types.arrow_builders import fill_null, from_numpy, to_numpy
from paimon_nb.options import TableOptions, parse_names, without_prefix
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataField


DEFAULT_AGGREGATE = "last_non_null_value"
PICKS_ROWS = frozenset({"deduplicate", "first-row"})
"""Merge engines whose result is one of the stored rows."""


@dataclass(frozen=True, slots=True)
class SequenceGroup:
    """`fields.<g1,g2>.sequence-group = a,b`."""

    sequence: tuple[str, ...]
    protected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Aggregator:
    """The aggregate function of one column with its parameters."""

    function: str
    ignore_retract: bool = False
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MergeSpec:
    """Everything that a merge engine needs."""

    engine: str
    fields: tuple[DataField, ...]
    """Columns of the table."""
    keys: tuple[str, ...]
    """Trimmed primary key: the comparison key inside one partition and bucket."""
    sequence_fields: tuple[str, ...] = ()
    descending: bool = False
    ignore_delete: bool = False
    remove_record_on_delete: bool = False
    remove_on_groups: frozenset[str] = frozenset()
    """Sequence fields whose -D removes the row."""
    groups: tuple[SequenceGroup, ...] = ()
    aggregators: Mapping[str, Aggregator] = field(default_factory=dict)
    row_deduplicate: bool = False
    deduplicate_ignored: frozenset[str] = frozenset()

    @staticmethod
    def of(schema: TableSchema, options: TableOptions) -> MergeSpec:
        """The spec of a primary-key table.

        Raises:
            BadOptionValue: groups or aggregates name unknown columns, or contradict each other.
        """
        engine = options.merge_engine
        sequence = options.names(opt.SEQUENCE_FIELD)
        names = set(schema.names)
        for name in sequence:
            if name not in names:
                raise BadOptionValue(
                    f"sequence.field names an unknown column: {name!r}", hint=f"columns: {', '.join(schema.names)}"
                )
        groups = _sequence_groups(schema, options) if engine == "partial-update" else ()
        if engine == "partial-update":
            remove = options.get(opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE)
        else:
            remove = engine == "aggregation" and options.get(opt.AGGREGATION_REMOVE_RECORD_ON_DELETE)
        on_groups = options.names(opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP) if groups else ()
        if engine == "partial-update":
            _refuse_contradicting_options(options, groups, on_groups)
        return MergeSpec(
            engine=engine,
            fields=tuple(schema.fields),
            keys=schema.trimmed_primary_keys,
            sequence_fields=sequence,
            descending=options.get(opt.SEQUENCE_FIELD_SORT_ORDER) == "descending",
            ignore_delete=options.get(opt.IGNORE_DELETE),
            remove_record_on_delete=bool(remove),
            remove_on_groups=frozenset(on_groups),
            groups=groups,
            aggregators=_aggregators_by_column(schema, options, engine, sequence, groups),
            row_deduplicate=options.get(opt.CHANGELOG_PRODUCER_ROW_DEDUPLICATE),
            deduplicate_ignored=frozenset(options.names(opt.CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS)),
        )


def _refuse_contradicting_options(
    options: TableOptions, groups: tuple[SequenceGroup, ...], on_groups: tuple[str, ...]
) -> None:
    """Options of partial-update that Java refuses together."""
    remove = opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE
    on_group = opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP
    pairs = []
    if options.get(opt.IGNORE_DELETE):
        pairs += [(opt.IGNORE_DELETE.key, remove.key)] if options.get(remove) else []
        pairs += [(opt.IGNORE_DELETE.key, on_group.key)] if on_groups else []
    if options.get(remove) and groups:
        pairs.append((remove.key, "fields.*.sequence-group"))
    for one, other in pairs:
        raise _contradiction(one, other)
    sequences = {s for g in groups for s in g.sequence}
    for name in on_groups:
        if name not in sequences:
            raise BadOptionValue(
                f"{on_group.key} names an unknown sequence field: {name!r}",
                hint=f"sequence fields: {', '.join(sorted(sequences))}",
                option=on_group.key,
            )


def _contradiction(one: str, other: str) -> BadOptionValue:
    return BadOptionValue(f"{one} and {other} contradict each other about a -D", hint="unset one of them", option=one)


def _sequence_groups(schema: TableSchema, options: TableOptions) -> tuple[SequenceGroup, ...]:
    out: list[SequenceGroup] = []
    taken: set[str] = set()
    for key, value in options.raw.items():
        if not (key.startswith("fields.") and key.endswith(".sequence-group")):
            continue
        sequence = _parse_columns(key[len("fields.") : -len(".sequence-group")], schema, key)
        protected = _parse_columns(value, schema, key)
        for name in protected:
            if name in taken:
                raise BadOptionValue(
                    f"column {name!r} is in two sequence groups", hint="use it in one group only", option=key
                )
        taken.update(protected)
        # A key column is the same in all rows of its key, so it needs no order.
        out.append(SequenceGroup(sequence, tuple(n for n in protected if n not in schema.primary_keys)))
    return tuple(out)


def _parse_columns(text: str, schema: TableSchema, option: str) -> tuple[str, ...]:
    names = parse_names(text)
    for name in names:
        if name not in schema.names:
            raise BadOptionValue(
                f"{option} names an unknown column: {name!r}", hint=f"columns: {', '.join(schema.names)}", option=option
            )
    return names


def _aggregators_by_column(
    schema: TableSchema,
    options: TableOptions,
    engine: str,
    sequence: tuple[str, ...],
    groups: tuple[SequenceGroup, ...],
) -> dict[str, Aggregator]:
    """Function per column: last_value for sequence fields, none for keys, then the column's own, the default, else last
    non-null.
    """
    if engine not in ("aggregation", "partial-update"):
        return {}
    default = options.get(opt.FIELDS_DEFAULT_AGGREGATE_FUNCTION)
    in_groups = {s for g in groups for s in g.sequence}
    protected = {p for g in groups for p in g.protected}
    out: dict[str, Aggregator] = {}
    for f in schema.fields:
        prefix = f"fields.{f.name}."
        own = options.field(f.name, "aggregate-function")
        extra = without_prefix(options.raw, prefix)
        ignore = extra.get("ignore-retract", "false").lower() == "true"
        if ignore and options.get(opt.AGGREGATION_REMOVE_RECORD_ON_DELETE):
            raise _contradiction(f"{prefix}ignore-retract", opt.AGGREGATION_REMOVE_RECORD_ON_DELETE.key)
        if engine == "partial-update":
            if f.name in schema.primary_keys or f.name in in_groups:
                continue
            name = own or default
            if name:
                # The newest non-NULL value needs no order of its own; every other function does.
                if name != DEFAULT_AGGREGATE and f.name not in protected:
                    raise BadOptionValue(
                        f"aggregate function {name} of column {f.name!r} needs a sequence group",
                        hint=f"name the column in some 'fields.<order>.sequence-group' = '{f.name}'",
                    )
                out[f.name] = Aggregator(name, ignore, extra)
            continue
        if f.name in sequence:
            out[f.name] = Aggregator("last_value")
        elif f.name in schema.primary_keys:
            out[f.name] = Aggregator("primary-key")
        else:
            out[f.name] = Aggregator(own or default or DEFAULT_AGGREGATE, ignore, extra)
    return out


Indices = npt.NDArray[np.int64]


def merge_order(kv: pa.Table, spec: MergeSpec) -> Indices:
    """Row numbers in merge order. `kv` without `_SEQUENCE_NUMBER`: the rows of each key are in the order of their age."""
    has_sequence = SEQUENCE_NUMBER in kv.column_names
    key = _single_integer_key(kv, spec)
    if key is not None and not spec.sequence_fields:
        order = np.argsort(key, kind="stable")
        if not has_sequence:
            return order.astype(np.int64, copy=False)
        sequence = _numpy_int64(kv.column(SEQUENCE_NUMBER))
        # Runs are usually passed oldest first, so a stable sort is enough; otherwise sequence numbers decide.
        k, s = key[order], sequence[order]
        same = k[1:] == k[:-1]
        if bool((same & (s[1:] < s[:-1])).any()):
            several = np.zeros(len(order), bool)
            several[1:] |= same
            several[:-1] |= same
            tied = np.flatnonzero(several)
            order[tied] = order[tied[np.lexsort((s[tied], k[tied]))]]
        return order.astype(np.int64, copy=False)
    names = [*spec.keys]
    columns: list[Any] = [_sortable_column(kv.column(n)) for n in names]
    sort_keys = [(f"k{i}", "ascending", "at_start") for i in range(len(columns))]
    for i, name in enumerate(spec.sequence_fields):
        columns.append(_sortable_column(kv.column(name)))
        # NULL is the smallest sequence, and so merged first, in either order.
        sort_keys.append((f"s{i}", "descending" if spec.descending else "ascending", "at_start"))
    if has_sequence:  # the sort is stable
        columns.append(kv.column(SEQUENCE_NUMBER))
        sort_keys.append(("n", "ascending", "at_start"))
    table = pa.table(columns, names=[k for k, _, _ in sort_keys])
    order = pc.sort_indices(table, sort_keys=sort_keys)
    return to_numpy(order).astype(np.int64)


def group_starts(kv: pa.Table, keys: Sequence[str]) -> Indices:
    """Start of each key in a sorted table."""
    n = kv.num_rows
    if n == 0:
        return np.empty(0, np.int64)
    changed = np.zeros(n, bool)
    changed[0] = True
    for name in keys:
        column = _sortable_column(kv.column(name)).combine_chunks()
        left, right = column.slice(0, n - 1), column.slice(1)
        differs = to_numpy(fill_null(pc.not_equal(left, right), False))
        if column.null_count:
            differs = differs | (to_numpy(left.is_null()) != to_numpy(right.is_null()))
        changed[1:] |= differs
    return np.flatnonzero(changed)


def group_ends(starts: Indices, rows: int) -> Indices:
    """The last row of each group."""
    return np.append(starts[1:], rows) - 1 if len(starts) else starts


def _single_integer_key(kv: pa.Table, spec: MergeSpec) -> npt.NDArray[np.int64] | None:
    if len(spec.keys) != 1:
        return None
    column = kv.column(spec.keys[0])
    t = column.type
    if column.null_count:
        return None
    if pa.types.is_timestamp(t) or pa.types.is_date32(t) or pa.types.is_time32(t):
        column = column.cast(pa.int64() if pa.types.is_timestamp(t) else pa.int32())
    elif not pa.types.is_integer(t):
        return None
    return _numpy_int64(column).astype(np.int64, copy=False)


def _numpy_int64(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    return to_numpy(column)


def _sortable_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column that Arrow can sort in Java's order."""
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8())
    if pa.types.is_floating(column.type):
        return pa.chunked_array([_float_order(c) for c in column.chunks], pa.int64())
    return column


def _float_order(values: pa.Array) -> pa.Array:
    """Integers in Java's order of floats: one NaN after all numbers. -0.0 and 0.0 are the same key, and equal as
    sequences.
    """
    numbers = to_numpy(fill_null(values.cast(pa.float64()), 0.0))
    numbers = np.where(np.isnan(numbers), np.nan, numbers) + 0.0
    bits = numbers.view(np.int64)
    codes = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
    return from_numpy(codes, to_numpy(values.is_null()))


class Groups:
    """Rows of a merge, in merge order, grouped by key.

    Args:
        kv: a key-value table with one chunk per column.
        order: row numbers in merge order; None if `kv` is in merge order.
        starts: position in merge order at which each group begins.
    """

    def __init__(self, kv: pa.Table, order: Indices | None, starts: Indices) -> None:
        self.kv, self.order, self.starts = kv, order, starts

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def rows(self) -> int:
        return int(self.kv.num_rows)

    @cached_property
    def ends(self) -> Indices:
        """Position of each group's last row."""
        return group_ends(self.starts, self.rows)

    @cached_property
    def sorted(self) -> pa.Table:
        """All rows in merge order."""
        return self.kv if self.order is None else self.kv.take(from_numpy(self.order))

    @cached_property
    def group_of(self) -> Indices:
        """The group of each position."""
        out = np.zeros(self.rows, np.int64)
        out[self.starts[1:]] = 1
        return np.cumsum(out)

    def filter(self, selected: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Groups:
        """The selected groups only."""
        positions = np.flatnonzero(selected[self.group_of])
        rows = positions if self.order is None else self.order[positions]
        sizes = np.diff(np.append(self.starts, self.rows))[selected]
        return Groups(self.kv.take(from_numpy(rows)).combine_chunks(), None, np.cumsum(sizes) - sizes)

    def take(self, positions: Indices) -> pa.Table:
        """The rows at these positions of the order."""
        if self.order is None and len(positions) == self.rows:
            return self.kv
        rows = positions if self.order is None else self.order[positions]
        return self.kv.take(from_numpy(rows))

    def take_column(
        self, name: str, positions: Indices, missing: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None
    ) -> pa.Array:
        """One column at these positions; NULL where `missing`."""
        rows = positions if self.order is None else self.order[positions]
        column = self.kv.column(name)
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)
        return column.take(from_numpy(rows, missing))

    def valid(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether the column has a value, in merge order."""
        mask: np.ndarray[tuple[int], np.dtype[np.bool_]] = to_numpy(self.kv.column(name).is_valid())
        return mask if self.order is None else mask[self.order]

    def last_true(
        self, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]
    ) -> tuple[Indices, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """For each group the position of its last True, and whether it has none."""
        marked = np.where(mask, np.arange(self.rows), -1)
        last = np.maximum.reduceat(marked, self.starts) if len(self.starts) else marked[:0]
        none = last < 0
        return np.where(none, self.ends, last), none

    def first_true(
        self, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]
    ) -> tuple[Indices, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """For each group the position of its first True, and whether it has none."""
        marked = np.where(mask, np.arange(self.rows), self.rows)
        first = np.minimum.reduceat(marked, self.starts) if len(self.starts) else marked[:0]
        none = first >= self.rows
        return np.where(none, self.ends, first), none


PIECE_KEYS = 1 << 17
_JOINED_BYTES = 32 << 20
"""Up to this size the tables are concatenated once and chunks gathered from one; beyond it from many, which costs a third
copy of each row but no second buffer.
"""


class SortedChunks:
    """Iterates over the groups of all keys, about 130,000 keys at a time; can be repeated.

    Args:
        tables: kv tables, at least one. They are kept in memory.
    """

    def __init__(self, tables: Sequence[pa.Table], spec: MergeSpec) -> None:
        if sum(t.nbytes for t in tables) <= _JOINED_BYTES:
            tables = [pa.concat_tables(tables)]
        self._tables = [t.combine_chunks() for t in tables]
        names = list(dict.fromkeys([*spec.keys, *spec.sequence_fields, SEQUENCE_NUMBER]))
        keys = pa.concat_tables([t.select(names) for t in self._tables]).combine_chunks()
        self._order = merge_order(keys, spec)
        self._starts = group_starts(keys.select(list(spec.keys)).take(from_numpy(self._order)), spec.keys)
        self._begins = np.cumsum([0, *(t.num_rows for t in self._tables)])

    def __iter__(self) -> Iterator[Groups]:
        ends = group_ends(self._starts, len(self._order))
        for begin in range(0, len(self._starts), PIECE_KEYS):
            starts = self._starts[begin : begin + PIECE_KEYS]
            first, last = starts[0], ends[begin + len(starts) - 1] + 1
            yield Groups(self._gather_rows(self._order[first:last]), None, starts - first)

    def _gather_rows(self, rows: Indices) -> pa.Table:
        """These rows of all tables, in this order."""
        if len(self._tables) == 1:
            table = self._tables[0]
            return table if len(rows) == table.num_rows and _is_ascending(rows) else table.take(from_numpy(rows))
        owner = np.searchsorted(self._begins, rows, "right") - 1
        by_owner = np.argsort(owner, kind="stable")
        parts = np.split(rows[by_owner], np.searchsorted(owner[by_owner], np.arange(1, len(self._tables))))
        taken = [
            table.take(from_numpy(part - begin))
            for table, part, begin in zip(self._tables, parts, self._begins[:-1], strict=True)
            if len(part)
        ]
        position = np.empty(len(rows), np.int64)
        position[by_owner] = np.arange(len(rows))
        return pa.concat_tables(taken).combine_chunks().take(from_numpy(position))


def _is_ascending(rows: Indices) -> bool:
    return bool((rows[1:] > rows[:-1]).all())
