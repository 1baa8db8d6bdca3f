"""Full-text search: the best texts by the column's full-text index, and by one made in memory for all rows without an index.

Source: Paimon 2.1 `DataEvolutionFullTextScan`, `DataEvolutionFullTextRead`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import ColumnNotFound, SchemaMismatch
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import ROW_ID_FIELD
from paimon_nb.format.index.global_index import row_ids_of
from paimon_nb.format.index.global_index.text_file import (
    FULL_TEXT_KIND,
    TextIndexFile,
    full_text_query,
    options_of_text_index,
    search_text_index,
    text_index_options,
    write_text_index,
)
from paimon_nb.format.types.arrow_builders import arrow_schema, from_numpy, to_numpy
from paimon_nb.table.read.data_evolution import anchor_file
from paimon_nb.table.read.index_search import (
    IndexedRows,
    SearchedRows,
    map_index_files,
    matching_row_ids,
    rows_at_ids,
    rows_by_index,
    with_numbered_rows,
)
from paimon_nb.table.read.plan.global_index import has_row_id_range, row_ids_of_files
from paimon_nb.table.read.predicate.evaluate import filter_rows
from paimon_nb.table.read.row_positions import one_split_per_file
from paimon_nb.table.read.split.split_reader import read_split
from paimon_nb.table.read.vector_search import HOW, SCORE, check_k

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt
    from pyroaring import BitMap64

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan, Split

TEXTS = ("CHAR", "VARCHAR")


def text_column(schema: TableSchema, name: str | None) -> DataField:
    """The column to search in; None: the only text column.

    Raises:
        ColumnNotFound: the column does not exist, or the table has none or several of a text type.
        SchemaMismatch: the column has no texts.
    """
    if name is None:
        texts = [f.name for f in schema.fields if f.type.root in TEXTS]
        if len(texts) != 1:
            found = f"the table has {len(texts)} text columns" + (f": {', '.join(texts)}" if texts else "")
            raise ColumnNotFound(found, hint="name the column to search in: column='...'")
        name = texts[0]
    field = schema.field(schema.column_name(name))
    if field.type.root not in TEXTS:
        raise SchemaMismatch(
            f"column {field.name!r} is {field.type.bare()}, not a text",
            hint="search in a STRING column",
            column=field.name,
        )
    return field


def best_texts(
    plan: ScanPlan, field: DataField, query: str | Mapping[str, Any], k: int, columns: Sequence[str]
) -> pa.Table:
    """The `k` rows of a plan whose texts match a query best, the best first, with their `SCORE` as last column.

    Rows that do not match are left out. The metadata key `HOW` says how rows were found.

    Raises: BadOptionValue: `k` or the query is wrong. EnvironmentError_: the package of the extra `fulltext` is missing.
        MissingFile, CorruptFile: of an index.
    """
    check_k(k)
    text, plan = full_text_query(query, field.name), with_numbered_rows(plan)
    searched = rows_by_index(plan, field, (FULL_TEXT_KIND,))
    read = list(columns) or [field.name]  # a table without columns has no rows
    rows = pa.concat_tables(
        [_by_index(plan, searched, text, k, read), _without_index(plan, searched, field, text, k, read)]
    )
    order = np.argsort(-to_numpy(rows.column(SCORE)), kind="stable")[:k]
    rows = rows.take(from_numpy(order)).select([*columns, SCORE])
    return rows.replace_schema_metadata({HOW: searched.how.encode()})


_SCORE_FIELD = pa.field(SCORE, pa.float32())


def hits_of_indexes(
    plan: ScanPlan, searched: SearchedRows, query: str, k: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Row ids and scores of the best rows of the indexes, at most `k` of each. `query`: of `full_text_query`."""
    store, all_rows = plan.store, row_ids_of([])
    for part in searched.indexed:
        all_rows |= part.rows
    matching = matching_row_ids(plan, all_rows)

    def search(part: IndexedRows) -> tuple[np.ndarray, np.ndarray]:
        rows = part.rows & matching
        if not rows:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        found, scores = TextIndexFile(part.source(store)).search(query, min(k, len(rows)), part.selected(rows))
        return found + part.index.first, scores

    ids, scores = zip(*map_index_files(store, search, searched.indexed), strict=True) if searched.indexed else ((), ())
    return np.concatenate([np.empty(0, np.int64), *ids]), np.concatenate([np.empty(0, np.float32), *scores])


def hits_without_index(
    plan: ScanPlan, searched: SearchedRows, texts: Iterable[tuple[int, str]], query: str, k: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Numbers and scores of the best of other texts: they are indexed in memory, as those of the index were.

    Args:
        texts: each with its number.
    """
    options = (
        options_of_text_index(dict(searched.indexed[0].entry.global_index or ()).get("_INDEX_META"))
        if searched.indexed
        else text_index_options(plan.store.options.raw)
    )
    count = 0

    def counted() -> Iterator[tuple[int, str]]:
        nonlocal count
        for text in texts:
            count += 1
            yield text

    data = write_text_index(options, counted())
    if not count:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    return search_text_index(data, query, min(k, count))


def _by_index(plan: ScanPlan, searched: SearchedRows, query: str, k: int, columns: Sequence[str]) -> pa.Table:
    """The best rows of the indexes, at most `k` of each."""
    store = plan.store
    best, of_best = hits_of_indexes(plan, searched, query, k)
    order = np.argsort(best)
    best, of_best, row_ids = best[order], of_best[order], row_ids_of(best)
    tables = []
    for split in one_split_per_file(plan):
        if not (row_ids_of_files(split.files) or row_ids) & row_ids:
            continue
        rows_of_split = rows_at_ids(store, split, columns, row_ids)
        positions = np.searchsorted(best, to_numpy(rows_of_split.column(ROW_ID_FIELD.name)))
        tables.append(_scored(rows_of_split.select(list(columns)), of_best[positions]))
    return _concatenated(plan, columns, tables)


@dataclass(frozen=True, slots=True)
class _UnindexedRows:
    """Rows of a split that no index answers for."""

    split: Split
    row_ids: BitMap64 | None
    """None: all rows of the split."""

    def rows(self, plan: ScanPlan, columns: Sequence[str]) -> pa.Table:
        """Those that match the plan's condition, always in the same order."""
        if self.row_ids is None:
            return read_split(plan.store, self.split, columns, plan.predicate)
        used = plan.predicate.columns() if plan.predicate is not None else frozenset[str]()
        names = list(dict.fromkeys([*columns, *used]))
        rows = rows_at_ids(plan.store, self.split, names, self.row_ids)
        fields = [plan.schema.field(n) for n in names]
        return filter_rows(plan.predicate, rows, fields).select(list(columns))


def _unindexed_rows(plan: ScanPlan, searched: SearchedRows) -> Iterator[_UnindexedRows]:
    if not searched.indexed:
        yield from (_UnindexedRows(split, None) for split in plan.splits)
        return
    for split in one_split_per_file(plan):
        file = anchor_file(split.files)
        if not has_row_id_range(file):
            yield _UnindexedRows(split, None)
            continue
        assert file.first_row_id is not None
        if searched.others.range_cardinality(file.first_row_id, file.first_row_id + file.row_count):
            yield _UnindexedRows(split, searched.others)


def _without_index(
    plan: ScanPlan, searched: SearchedRows, field: DataField, query: str, k: int, columns: Sequence[str]
) -> pa.Table:
    """The best rows of those without an index: their texts are indexed in memory, as those of the index were."""
    parts = list(_unindexed_rows(plan, searched))
    if not parts:
        return _concatenated(plan, columns, [])
    begins = [0]

    def texts() -> Iterator[tuple[int, str]]:
        """The rows of one part at a time are in memory."""
        for part in parts:
            found = part.rows(plan, [field.name]).column(0)
            begins.append(begins[-1] + len(found))
            yield from ((i, t) for i, t in enumerate(found.to_pylist(), begins[-2]) if t is not None)

    positions, scores = hits_without_index(plan, searched, texts(), query, k)
    tables = []
    for part, begin, end in zip(parts, begins[:-1], begins[1:], strict=True):
        inside = (positions >= begin) & (positions < end)
        if inside.any():
            rows = part.rows(plan, columns).take(from_numpy(positions[inside] - begin))
            tables.append(_scored(rows, scores[inside]))
    return _concatenated(plan, columns, tables)


def _scored(rows: pa.Table, scores: np.ndarray) -> pa.Table:
    return rows.append_column(_SCORE_FIELD, from_numpy(scores.astype(np.float32)))


def _concatenated(plan: ScanPlan, columns: Sequence[str], tables: Sequence[pa.Table]) -> pa.Table:
    schema = arrow_schema([plan.schema.field(n) for n in columns], nullable=True).append(_SCORE_FIELD)
    return pa.concat_tables([schema.empty_table(), *tables])
