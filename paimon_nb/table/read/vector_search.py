"""Nearest neighbours: a vector index names candidates; these, and all rows without an index, are compared with the query.

So scores are exact; only which rows are candidates is approximate.
Source: Paimon 2 `VectorSearchMetric`, `RawVectorSearch`, `DataEvolutionVectorRead`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, EnvironmentError_, FormatError, SchemaMismatch
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.types import Array, DataField, Vector
from paimon_nb.format.types.arrow_builders import arrow_schema, empty_table, from_numpy, to_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.read.key_index import METRICS, VECTOR, key_indexes, vector_metric
from paimon_nb.table.read.side_by_side import map_in_threads
from paimon_nb.table.read.split.split_reader import iter_split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paimon_nb.format.index.global_index.vector_file import VectorSearchWidth
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.read.index_search import SearchedRows
    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan, Split

SCORE = "__paimon_search_score"
"""The column of the scores, FLOAT. A higher score is a nearer vector."""
SCORE_ID = (1 << 31) - 1
"""Its field id."""
HOW = b"paimon_nb.search"
"""The key in the metadata of a result's Arrow schema that says how rows were found."""
_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE")
_BLOCK_VALUES = 1 << 20
"""Numbers that are compared at a time."""


def vector_column(schema: TableSchema, name: str | None) -> DataField:
    """The column to search in; None: the only VECTOR column.

    Raises:
        ColumnNotFound: the column does not exist, or the table has none or several of type VECTOR.
        SchemaMismatch: the column does not contain vectors of numbers.
    """
    if name is None:
        vectors = [f.name for f in schema.fields if isinstance(f.type, Vector)]
        if len(vectors) != 1:
            found = f"the table has {len(vectors)} VECTOR columns" + (f": {', '.join(vectors)}" if vectors else "")
            raise ColumnNotFound(found, hint="name the column to search in: column='...'")
        name = vectors[0]
    if name not in schema.names:
        raise ColumnNotFound(f"no column {name!r}", hint=did_you_mean(name, schema.names), column=name)
    field = schema.field(name)
    if not isinstance(field.type, Array) or field.type.element.root not in _NUMBERS:
        raise SchemaMismatch(
            f"column {name!r} is {field.type.bare()}, not a vector of numbers",
            hint="search in a VECTOR or ARRAY<FLOAT> column", column=name,
        )  # fmt: skip
    return field


def metric_of(options: Mapping[str, str], column: str, metric: str | None = None) -> str:
    """The metric: the argument, else the table's option for indexes of the column, else `l2`. For columns without an index.

    Raises: BadOptionValue: an unknown metric.
    """
    own = [f"fields.{column}.{key}" for key in ("pk-vector.distance.metric", "distance.metric", "metric")]
    common = {v for k, v in options.items() if k.endswith(".distance.metric") and not k.startswith("fields.")}
    configured = next((options[key] for key in own if key in options), None)
    requested = metric or configured or (common.pop() if len(common) == 1 else "l2")
    name = requested.lower().replace("-", "_")
    if name not in METRICS:
        raise BadOptionValue(
            f"metric {requested!r} is not known", hint=f"use one of {', '.join(METRICS)}", option="metric"
        )
    return name


def search_vectors(
    plan: ScanPlan,
    field: DataField,
    vector: Sequence[float],
    k: int,
    metric: str | None,
    columns: Sequence[str],
    options: Mapping[str, Any],
) -> pa.Table:
    """The `k` rows of a plan whose vectors are nearest to `vector`, the nearest first, with their `SCORE` as last column.

    Rows without a vector are left out. The metadata key `HOW` says which rows the column's vector index named.

    Args:
        metric: None: that of the index, else of the table's options, else `l2`. An index of another metric is not used.
        options: `ivf.nprobe`, `diskann.l_search`, `ivf.refine_factor`.

    Raises: SchemaMismatch, BadOptionValue; MissingFile, CorruptFile, UnsupportedFormat: of an index.
    """
    from paimon_nb.table.read.index_search import with_numbered_rows

    check_k(k)
    plan, query, name, how = plan_of_candidates(with_numbered_rows(plan), field, vector, k, metric, options)
    found = _nearest_rows(plan, field, query, k, name, columns)
    return found.replace_schema_metadata({**(found.schema.metadata or {}), HOW: how.encode()})


def plan_of_candidates(
    plan: ScanPlan, field: DataField, vector: Sequence[float], k: int, metric: str | None, options: Mapping[str, Any]
) -> tuple[ScanPlan, np.ndarray, str, str]:
    """The plan of the rows to compare, the query, the metric, and how the rows were chosen in words."""
    from paimon_nb.format.index.global_index.vector_file import VectorSearchWidth

    width = VectorSearchWidth.parse({**_options_of_index(plan, field), **options})
    query = _query_vector(vector, field)
    name = metric_for_search(plan, field, metric)
    searched = searched_rows(plan, field, name, query.size)
    if not searched.indexed:
        return plan, query, name, searched.how
    restricted, how = _restricted_to_candidates(plan, searched, query, k, width)
    return restricted, query, name, how


def check_k(k: int) -> None:
    """Raises BadOptionValue for a number of rows that cannot be."""
    if k < 1:
        raise BadOptionValue(f"k must be at least 1, not {k}", hint="k=10", option="k")


def metric_for_search(plan: ScanPlan, field: DataField, metric: str | None) -> str:
    """The metric of a search: the argument, else that of an index of the column, else of the table's options.

    Raises: BadOptionValue: an unknown metric. MissingFile, CorruptFile, UnsupportedFormat: of an index.
    """
    return metric_of(plan.store.options.raw, field.name, metric or _metric_of_index(plan, field))


def searched_rows(plan: ScanPlan, field: DataField, metric: str | None, dimension: int | None) -> SearchedRows:
    """The rows that an index of this metric and dimension answers for, and the others; None: any.

    Raises: MissingFile, CorruptFile, UnsupportedFormat: of an index.
    """
    from paimon_nb.format.index.global_index.index_library import import_library
    from paimon_nb.format.index.global_index.vector_file import EXTRA, VECTOR_INDEX_KINDS, VectorIndexFile
    from paimon_nb.table.read.index_search import map_index_files, rows_by_index

    searched = rows_by_index(plan, field, VECTOR_INDEX_KINDS)
    if not searched.indexed:
        return searched
    try:
        import_library("paimon-vindex", EXTRA, "a search by vector index")
    except EnvironmentError_ as error:
        return searched.without_index(f"the index of {field.name} is not used: {error.hint}")
    properties = map_index_files(
        plan.store,
        lambda part: VectorIndexFile(part.source(plan.store), part.index.kind).metric_and_dimension(),
        searched.indexed,
    )
    for found in properties:
        if found != (metric or found[0], dimension or found[1]):
            return searched.without_index(
                f"the index of {field.name} is not used: it is of metric {found[0]} and dimension {found[1]}"
            )
    return searched


def _metric_of_index(plan: ScanPlan, field: DataField) -> str | None:
    """The metric of an index of the column, used or not, so that the same search always has the same metric; None: no index."""
    from paimon_nb.format.index.global_index import IndexFileSource
    from paimon_nb.format.index.global_index.vector_file import VECTOR_INDEX_KINDS, VectorIndexFile
    from paimon_nb.table.read.live_files import index_entries
    from paimon_nb.table.read.plan.global_index import index_ranges

    store = plan.store
    if store.has_keys:
        defined = any(i.family == VECTOR and i.column == field.name for i in key_indexes(store.schema))
        return vector_metric(store.options.raw, field.name) if defined else None
    if plan.snapshot is None or not store.evolves_data:
        return None
    for index in index_ranges(index_entries(store, plan.snapshot), [field], VECTOR_INDEX_KINDS):
        entry = index.files[0]
        source = IndexFileSource(store.fs, store.index_path(entry), entry.file_size)
        try:
            return VectorIndexFile(source, index.kind).metric_and_dimension()[0]
        except FormatError:
            if store.options.get(opt.GLOBAL_INDEX_ENABLED):
                raise
    return None


def _options_of_index(plan: ScanPlan, field: DataField) -> dict[str, str]:
    """Search options that the table sets for the vector index of a column, with the names that a search gives them."""
    kinds = [i.kind for i in key_indexes(plan.store.schema) if i.family == VECTOR and i.column == field.name]
    prefixes = [p for kind in kinds for p in (f"{kind}.", f"fields.{field.name}.", f"fields.{field.name}.{kind}.")]
    factors = ("refine_factor", "refine-factor", "rerank_factor", "rerank-factor")
    raw = plan.store.options.raw
    found = [raw[p + f] for p in prefixes for f in factors if p + f in raw]
    return {"refine_factor": found[-1]} if found else {}


def _restricted_to_candidates(
    plan: ScanPlan, searched: SearchedRows, query: np.ndarray, k: int, width: VectorSearchWidth
) -> tuple[ScanPlan, str]:
    """The plan of the rows to compare, and how they were chosen."""
    from functools import reduce

    from pyroaring import BitMap64

    from paimon_nb.format.index.global_index import row_ids_of
    from paimon_nb.format.index.global_index.vector_file import VectorIndexFile
    from paimon_nb.table.read.index_search import IndexedRows, map_index_files, matching_row_ids, restricted_to

    matching = matching_row_ids(plan, reduce(BitMap64.union, (part.rows for part in searched.indexed)))
    count = k * width.refine_factor

    def candidates_of_index(part: IndexedRows) -> BitMap64:
        rows = part.rows & matching
        if len(rows) > count:
            file = VectorIndexFile(part.source(plan.store), part.index.kind)
            found = file.search(query.astype(np.float32), count, part.selected(rows), width)
            # Fewer than wanted: rows have no vector, or too little of the index was searched.
            rows = row_ids_of(found + part.index.first) & rows if len(found) == count else rows
        return rows

    found_rows = map_index_files(plan.store, candidates_of_index, searched.indexed)
    candidates = reduce(BitMap64.union, found_rows, BitMap64())
    how = f"{searched.how}: {len(candidates)} candidates"
    return restricted_to(plan, candidates | searched.others), how


def _nearest_rows(
    plan: ScanPlan, field: DataField, query: np.ndarray, k: int, metric: str, columns: Sequence[str]
) -> pa.Table:
    """The nearest rows by comparing all vectors of the plan. Of rows with the same score the one that is read first wins.

    Raises: SchemaMismatch: a vector has another length than the query.
    """
    read = list(dict.fromkeys([field.name, *columns]))

    def top_k_of_split(split: Split) -> pa.Table:
        best = _empty(plan.schema, read)
        for rows in iter_split(plan.store, split, read, plan.predicate):
            best = _top_k(pa.concat_tables([best, *_with_scores(rows, field, query, metric)]), k)
        return best

    size = sum(f.file_size for s in plan.splits for f in s.files)
    parts = map_in_threads(plan.store.fs, top_k_of_split, plan.splits, size, 4)
    best = _top_k(pa.concat_tables([_empty(plan.schema, read), *parts]), k)
    score = best.column(SCORE).cast(pa.float32())
    return best.select(list(columns)).append_column(pa.field(SCORE, pa.float32()), score)


def nearest_of_tables(
    tables: Iterable[pa.Table], field: DataField, query: np.ndarray, metric: str, k: int, other: str
) -> pa.Table:
    """The nearest rows of some tables, with the column `other` and their scores."""
    best: pa.Table | None = None
    for rows in tables:
        found = [best] if best is not None else []
        parts = [t.select([other, SCORE]) for t in _with_scores(rows, field, query, metric)]
        if parts or found:
            best = _top_k(pa.concat_tables([*found, *parts]), k)
    return best if best is not None else pa.table({other: pa.array([], pa.int64()), SCORE: pa.array([], pa.float64())})


def _query_vector(vector: Sequence[float], field: DataField) -> np.ndarray:
    try:
        query = np.asarray(vector, np.float64)
    except (TypeError, ValueError):
        query = np.zeros((0, 0))
    if query.ndim != 1 or not query.size or not np.isfinite(query).all():
        raise SchemaMismatch("the query is not a list of finite numbers", hint="[0.1, 0.2, 0.3]", column=field.name)
    if isinstance(field.type, Vector) and field.type.length != query.size:
        raise SchemaMismatch(
            f"column {field.name!r} is {field.type.bare()}, but the query has {query.size} elements",
            hint="use the model that produced the stored vectors", column=field.name,
        )  # fmt: skip
    return query


def _empty(schema: TableSchema, columns: Sequence[str]) -> pa.Table:
    rows = empty_table([schema.field(name) for name in columns])
    return rows.append_column(SCORE, pa.array([], pa.float64()))


def _with_scores(rows: pa.Table, field: DataField, query: np.ndarray, metric: str) -> Iterator[pa.Table]:
    """The rows with a vector, block by block, with their scores."""
    schema = arrow_schema([field], nullable=True)
    for batch in rows.to_batches(max_chunksize=max(1, _BLOCK_VALUES // query.size)):
        column = batch.column(field.name)
        if column.null_count:
            batch = batch.filter(column.is_valid())
            column = batch.column(field.name)
        assert column.type == schema.field(0).type
        lengths = set(column.value_lengths().unique().to_pylist())
        if lengths - {query.size}:
            raise SchemaMismatch(
                f"column {field.name!r}: a row has {min(lengths - {query.size})} elements, the query has {query.size}",
                hint="a VECTOR column has one length", column=field.name,
            )  # fmt: skip
        flat = column.flatten()
        if flat.null_count:
            raise SchemaMismatch(
                f"column {field.name!r}: an element is NULL", hint="filter such rows", column=field.name
            )
        stored = to_numpy(flat).astype(np.float64).reshape(-1, query.size)
        scores = from_numpy(_similarity_scores(stored, query, metric))
        yield pa.Table.from_batches([batch]).append_column(SCORE, scores)


def _similarity_scores(stored: np.ndarray, query: np.ndarray, metric: str) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if metric == "l2":
            stored -= query
            return np.asarray(1.0 / (1.0 + np.einsum("ij,ij->i", stored, stored)))
        products = stored @ query
        if metric == "inner_product":
            return np.asarray(products)
        norms = np.sqrt(np.einsum("ij,ij->i", stored, stored)) * np.sqrt(query @ query)
        return np.where(norms == 0, 0.0, products / norms)


def _top_k(rows: pa.Table, k: int) -> pa.Table:
    scores = to_numpy(rows.column(SCORE))
    order = np.argsort(-scores, kind="stable")[:k]  # NaN is last
    return rows.take(from_numpy(order))
