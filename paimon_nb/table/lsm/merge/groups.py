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
from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND
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
    found = _order_by_key_codes(kv, spec)
    return _order_by_columns(kv, spec) if found is None else found[0]


def sort_and_group(kv: pa.Table, spec: MergeSpec) -> tuple[Indices | None, Indices]:
    """`merge_order`, or None if the rows are in that order; and the position in it at which each key begins."""
    found = _order_by_key_codes(kv, spec)
    if found is not None:
        order, begins = found
        return (None if _is_ascending(order) else order), np.flatnonzero(begins)
    order = _order_by_columns(kv, spec)
    keys, in_order = kv.select(list(spec.keys)).combine_chunks(), _is_ascending(order)
    starts = group_starts(keys if in_order else keys.take(from_numpy(order)), spec.keys)
    return (None if in_order else order), starts


def _order_by_key_codes(kv: pa.Table, spec: MergeSpec) -> tuple[Indices, npt.NDArray[np.bool_]] | None:
    """(row numbers in merge order, whether a key begins at each position); None for keys without codes."""
    if len(spec.keys) != 1 or spec.sequence_fields or not kv.num_rows:
        return None
    keys = _one_chunk(kv.column(spec.keys[0]))
    found = key_codes(keys)
    if found is None:
        return None
    codes, exact = found
    order = np.argsort(codes, kind="stable").astype(np.int64, copy=False)
    codes = codes[order]
    begins = np.ones(len(order), bool)
    np.not_equal(codes[1:], codes[:-1], out=begins[1:])
    if not exact and not _separate_equal_codes(keys, order, begins):
        return None
    if SEQUENCE_NUMBER in kv.column_names:
        # Runs are usually passed oldest first, so a stable sort is enough; otherwise sequence numbers decide.
        s = _numpy_int64(kv.column(SEQUENCE_NUMBER))[order]
        if bool((~begins[1:] & (s[1:] < s[:-1])).any()):
            tied, group = _rows_of_several(begins)
            order[tied] = order[tied[np.lexsort((s[tied], group))]]
    return order, begins


def _separate_equal_codes(keys: pa.Array, order: Indices, begins: npt.NDArray[np.bool_]) -> bool:
    """Sort different keys of equal codes, in place. False if most codes are equal: then it is faster to sort by the keys."""
    tied, _ = _rows_of_several(begins)
    if not len(tied):
        return True
    rows = order[tied]
    texts = keys.take(from_numpy(rows))
    # The first of two different keys with equal codes may be the greater one.
    same_code = ~begins[tied[1:]]
    differs = to_numpy(pc.not_equal(texts.slice(0, len(texts) - 1), texts.slice(1)))
    if not (differs & same_code).any():
        return True
    if 2 * int((differs & same_code).sum()) > len(tied):
        return False
    resorted = to_numpy(pc.sort_indices(texts)).astype(np.int64)
    order[tied] = rows[resorted]
    texts = texts.take(from_numpy(resorted))
    begins[tied[1:]] |= to_numpy(pc.not_equal(texts.slice(0, len(texts) - 1), texts.slice(1)))
    return True


def _rows_of_several(begins: npt.NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Positions in groups of several rows, and the group of each of them."""
    several = ~begins
    several[:-1] |= ~begins[1:]
    tied: Indices = np.flatnonzero(several)
    return tied, np.cumsum(begins, dtype=np.int64)[tied]


def _order_by_columns(kv: pa.Table, spec: MergeSpec) -> Indices:
    names = [*spec.keys]
    columns: list[Any] = [_sortable_column(kv.column(n)) for n in names]
    sort_keys = [(f"k{i}", "ascending", "at_start") for i in range(len(columns))]
    for i, name in enumerate(spec.sequence_fields):
        columns.append(_sortable_column(kv.column(name)))
        # NULL is the smallest sequence, and so merged first, in either order.
        sort_keys.append((f"s{i}", "descending" if spec.descending else "ascending", "at_start"))
    if SEQUENCE_NUMBER in kv.column_names:  # the sort is stable
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
    ends = np.empty(len(starts), np.int64)
    if len(starts):
        np.subtract(starts[1:], 1, out=ends[:-1])
        ends[-1] = rows - 1
    return ends


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)
    return column


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
    def kinds(self) -> npt.NDArray[np.int8]:
        """The kinds in merge order: those of inserts without `_VALUE_KIND`."""
        if VALUE_KIND not in self.kv.column_names or not self.rows:
            return np.zeros(self.rows, np.int8)
        kinds = to_numpy(self.kv.column(VALUE_KIND))
        return kinds if self.order is None else kinds[self.order]

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

    def take(self, positions: Indices, names: Sequence[str] | None = None) -> pa.Table:
        """The rows at these positions of the order; `names`: only these columns."""
        columns = self.kv if names is None else self.kv.select(list(names))
        if self.order is None and len(positions) == self.rows:
            return columns
        return columns.take(from_numpy(self._rows_at(positions)))

    def take_column(
        self, name: str, positions: Indices, missing: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None
    ) -> pa.Array:
        """One column at these positions; NULL where `missing`."""
        return _one_chunk(self.kv.column(name)).take(from_numpy(self._rows_at(positions), missing))

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

    def last_valid(self, name: str) -> Indices:
        """For each group the position of the column's last value; of its last row if it has none."""
        valid = to_numpy(self.kv.column(name).is_valid())
        found = self.ends.copy()
        searched = np.flatnonzero(~valid[self._rows_at(found)])
        for _ in range(_STEPS_BACK):
            if not len(searched):
                return found
            found[searched] -= 1
            ended = found[searched] < self.starts[searched]
            found[searched[ended]] = self.ends[searched[ended]]
            searched = searched[~ended]
            searched = searched[~valid[self._rows_at(found[searched])]]
        return self.last_true(self.valid(name))[0] if len(searched) else found

    def _rows_at(self, positions: Indices) -> Indices:
        return positions if self.order is None else self.order[positions]

    def first_true(
        self, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]
    ) -> tuple[Indices, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """For each group the position of its first True, and whether it has none."""
        marked = np.where(mask, np.arange(self.rows), self.rows)
        first = np.minimum.reduceat(marked, self.starts) if len(self.starts) else marked[:0]
        none = first >= self.rows
        return np.where(none, self.ends, first), none


_STEPS_BACK = 8
"""Versions of a key that are looked at one by one: most keys have few."""
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


# -- numbers in the order of keys, which sort several times as fast as texts

_CODE_BYTES = 8
"""Of a text, after what all texts begin with, are in its number."""


def key_codes(keys: pa.Array) -> tuple[npt.NDArray[Any], bool] | None:
    """Numbers in the order of the keys, and whether equal numbers mean equal keys; None for NULLs and types without such numbers.

    Example:
        >>> key_codes(pa.array(["user-7", "user-12"]))[0].argsort().tolist()
        [1, 0]
    """
    t = keys.type
    if keys.null_count:
        return None
    if pa.types.is_timestamp(t):
        return to_numpy(keys.cast(pa.int64())), True
    if pa.types.is_date32(t) or pa.types.is_time32(t):
        return to_numpy(keys.cast(pa.int32())), True
    if pa.types.is_integer(t):
        return to_numpy(keys), True
    if (pa.types.is_string(t) or pa.types.is_binary(t)) and len(keys):
        return _codes_of_texts(keys)
    return None


def _codes_of_texts(texts: pa.Array) -> tuple[npt.NDArray[Any], bool]:
    """The first eight bytes after the common prefix, as big-endian numbers: texts are compared byte by byte."""
    _, offsets, data = texts.buffers()
    begins = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(begins)
    shortest, longest = int(lengths.min()), int(lengths.max())
    first, end = int(begins[0]), int(begins[-1])
    begins = begins - first
    # A word may begin at the last byte of the last text.
    padded = np.zeros(end - first + longest + _CODE_BYTES, np.uint8)
    if data is not None:
        padded[: end - first] = np.frombuffer(data, np.uint8)[first:end]
    prefix = 0
    while True:
        words = _words_at(padded, begins, prefix, longest if shortest == longest else None)
        common = _common_bytes(words) if prefix + _CODE_BYTES <= shortest else 0
        prefix += common
        if common < _CODE_BYTES:
            break
    if common:
        words = _words_at(padded, begins, prefix, longest if shortest == longest else None)
    rest = longest - prefix
    if shortest - prefix < _CODE_BYTES:
        # What a word reads of the next text is cleared.
        used = np.minimum(lengths - prefix, _CODE_BYTES)
        words &= _LEADING_BYTES[used]
        if rest < _CODE_BYTES and shortest < longest:  # a zero byte at the end differs from no byte
            words |= used.astype(np.uint64)
    return words, rest < _CODE_BYTES or (rest == _CODE_BYTES and shortest == longest)


def _words_at(data: npt.NDArray[np.uint8], begins: npt.NDArray[Any], at: int, width: int | None) -> npt.NDArray[Any]:
    """The eight bytes from byte `at` of each text as big-endian numbers. `width`: bytes of each text, if all have the same."""
    if width:
        shape = (len(begins) - 1,)
        return np.ndarray(shape, ">u8", data, at, (width,)).astype(np.uint64)
    words: npt.NDArray[Any] = np.ndarray((len(data) - _CODE_BYTES + 1,), ">u8", data, 0, (1,))[begins[:-1] + at]
    return words.astype(np.uint64)


def _common_bytes(words: npt.NDArray[Any]) -> int:
    """How many leading bytes all words have in common."""
    differing = int(np.bitwise_or.reduce(words ^ words[0]))
    return _CODE_BYTES - (differing.bit_length() + 7) // 8


_LEADING_BYTES = np.array([((1 << 64) - 1) >> (64 - 8 * n) << (64 - 8 * n) if n else 0 for n in range(9)], np.uint64)
"""Number of bytes -> mask of so many leading bytes."""
