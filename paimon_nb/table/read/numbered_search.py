"""Searches that name rows by number, so that the results of several can be ranked together.

Source: Paimon 2.1 `HybridSearchBuilderImpl`, `HybridSearchRanker`, `PrimaryKeySearchRanker`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import ROW_ID_FIELD
from paimon_nb.format.index.global_index import row_ids_of
from paimon_nb.format.index.global_index.text_file import FULL_TEXT_KIND, full_text_query
from paimon_nb.format.types.arrow_builders import arrow_schema, from_numpy, to_numpy
from paimon_nb.table.read.index_search import rows_at_ids, rows_by_index, with_numbered_rows
from paimon_nb.table.read.key_index import numbering
from paimon_nb.table.read.plan.global_index import row_ids_of_files
from paimon_nb.table.read.plan.snapshot_scan import is_independent
from paimon_nb.table.read.predicate.evaluate import filter_rows
from paimon_nb.table.read.row_positions import one_split_per_file
from paimon_nb.table.read.text_search import hits_of_indexes, hits_without_index
from paimon_nb.table.read.vector_search import SCORE, check_k, nearest_of_tables, plan_of_candidates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt
    from pyroaring import BitMap64

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan

RANKERS = ("rrf", "weighted_score", "mrr")
_RRF_K = 60


@dataclass(frozen=True, slots=True)
class ScoredRows:
    """Rows by their numbers, the best first. A table with data evolution numbers its rows by `_ROW_ID`."""

    numbers: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]
    how: str = ""
    """How they were found, in words."""

    @staticmethod
    def best(numbers: npt.NDArray[np.int64], scores: npt.NDArray[np.float32], k: int, how: str = "") -> ScoredRows:
        """The best `k`; of rows with the same score those with the lowest numbers."""
        order = np.lexsort((numbers, -scores))[:k]
        return ScoredRows(numbers[order], scores[order].astype(np.float32), how)


def with_row_numbers(plan: ScanPlan) -> ScanPlan:
    """The plan with files whose rows have numbers. Raises: UnsupportedOperation: its rows must be merged."""
    plan = with_numbered_rows(plan)
    if any(f.first_row_id is None for f in plan.files) and not plan.store.evolves_data and is_independent(plan.store):
        number = numbering((), plan.files)
        plan = replace(plan, splits=tuple(replace(s, files=tuple(map(number, s.files))) for s in plan.splits))
    if any(row_ids_of_files(s.files) is None or s.waiting for s in plan.splits):
        raise UnsupportedOperation(
            f"{plan.store.name}: the rows of a search have no numbers, because several files hold versions of a row",
            hint="hybrid_search and _row_id need a table with data evolution, without keys, or with 'deletion-vectors.enabled' = 'true'",
        )
    return plan


def nearest_numbers(
    plan: ScanPlan, field: DataField, vector: Sequence[float], k: int, metric: str | None, options: Mapping[str, Any]
) -> ScoredRows:
    """The rows whose vectors are nearest, as `search_vectors` finds them. `plan`: of `with_row_numbers`."""
    check_k(k)
    restricted, query, name, how = plan_of_candidates(plan, field, vector, k, metric, options)
    tables = _rows_with_numbers(restricted, field)
    best = nearest_of_tables(tables, field, query, name, k, ROW_ID_FIELD.name)
    numbers = to_numpy(best.column(ROW_ID_FIELD.name)).astype(np.int64)
    return ScoredRows.best(numbers, to_numpy(best.column(SCORE)).astype(np.float32), k, how)


def best_text_numbers(plan: ScanPlan, field: DataField, query: str | Mapping[str, Any], k: int) -> ScoredRows:
    """The rows whose texts match best, as `best_texts` finds them. `plan`: of `with_row_numbers`."""
    check_k(k)
    text, searched = full_text_query(query, field.name), rows_by_index(plan, field, (FULL_TEXT_KIND,))
    numbers, scores = hits_of_indexes(plan, searched, text, k)

    def others() -> Iterator[tuple[int, str]]:
        for rows in _rows_with_numbers(plan, field, searched.others if searched.indexed else None):
            values = rows.column(field.name).to_pylist()
            yield from (
                (n, t) for n, t in zip(to_numpy(rows.column(ROW_ID_FIELD.name)).tolist(), values, strict=True) if t is not None
            )  # fmt: skip

    more, scores_of_more = hits_without_index(plan, searched, others(), text, k)
    return ScoredRows.best(np.concatenate([numbers, more]), np.concatenate([scores, scores_of_more]), k, searched.how)


def _rows_with_numbers(plan: ScanPlan, field: DataField, only: BitMap64 | None = None) -> Iterator[pa.Table]:
    """A column of the rows that match the plan's condition, with their numbers."""
    used = plan.predicate.columns() if plan.predicate is not None else frozenset[str]()
    names = list(dict.fromkeys([field.name, *sorted(used)]))
    fields = [plan.schema.field(n) for n in names]
    for split in one_split_per_file(plan):
        rows = split.row_ids if split.row_ids is not None else row_ids_of_files(split.files)
        assert rows is not None
        selected = rows if only is None else rows & only
        if selected:
            found = filter_rows(plan.predicate, rows_at_ids(plan.store, split, names, selected), fields)
            yield found.select([field.name, ROW_ID_FIELD.name])


def rows_of_numbers(plan: ScanPlan, found: ScoredRows, columns: Sequence[str]) -> pa.Table:
    """The rows in the order of the result, with their number and their `SCORE` as last columns."""
    names = list(columns) or [plan.schema.names[0]]  # a table without columns has no rows
    numbers = row_ids_of(found.numbers)
    schema = arrow_schema([plan.schema.field(n) for n in names], nullable=True)
    tables = [schema.append(pa.field(ROW_ID_FIELD.name, pa.int64())).empty_table()]
    for split in one_split_per_file(plan):
        selected = (row_ids_of_files(split.files) or numbers) & numbers
        if selected:
            tables.append(rows_at_ids(plan.store, replace(split, row_ids=None), names, selected))
    rows = pa.concat_tables(tables)
    order = np.argsort(to_numpy(rows.column(ROW_ID_FIELD.name)))
    positions = order[np.searchsorted(np.sort(found.numbers), found.numbers)]
    rows = rows.take(from_numpy(positions)).select([*columns, ROW_ID_FIELD.name])
    return rows.append_column(pa.field(SCORE, pa.float32()), from_numpy(found.scores))


def ranked_together(results: Sequence[tuple[ScoredRows, float]], ranker: str, k: int) -> ScoredRows:
    """The best `k` rows of several searches, each with its weight.

    Args:
        ranker: `rrf` and `mrr` add `weight / (60 + rank)` or `weight / rank`; `weighted_score` adds `weight` times the scores,
            which become 0 to 1 within each search.

    Raises: BadOptionValue: an unknown ranker, or a weight that is not finite and positive.
    """
    name = ranker.strip().lower() or RANKERS[0]
    if name not in RANKERS:
        raise BadOptionValue(
            f"Unsupported hybrid ranker: {ranker}", hint=f"use one of {', '.join(RANKERS)}", option="ranker"
        )
    sums: dict[int, np.float32] = {}
    for found, weight in results:
        if not np.isfinite(weight) or weight <= 0:
            raise BadOptionValue(
                f"Weight must be finite and positive, got: {weight}", hint="weight 1.0", option="weight"
            )
        ranked = ScoredRows.best(found.numbers, found.scores, len(found.numbers))
        for number, part in zip(
            ranked.numbers.tolist(), _contributions(ranked.scores, name) * np.float32(weight), strict=True
        ):
            sums[number] = sums.get(number, np.float32(0)) + part
    numbers = np.fromiter(sums, np.int64, len(sums))
    return ScoredRows.best(numbers, np.fromiter(sums.values(), np.float32, len(sums)), k, _how(results))


def _contributions(scores: npt.NDArray[np.float32], ranker: str) -> npt.NDArray[np.float32]:
    ranks = np.arange(1, len(scores) + 1, dtype=np.float32)
    if ranker == "rrf":
        return np.asarray(np.float32(1) / (np.float32(_RRF_K) + ranks))
    if ranker == "mrr":
        return np.asarray(np.float32(1) / ranks)
    span = scores.max() - scores.min() if len(scores) else np.float32(0)
    return (scores - scores.min()) / span if span > 0 else np.ones(len(scores), np.float32)


def _how(results: Sequence[tuple[ScoredRows, float]]) -> str:
    return "; ".join(found.how for found, _ in results)
