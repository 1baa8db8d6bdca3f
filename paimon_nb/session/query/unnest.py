"""Flink's UNNEST: `inline` in Spark for arrays of rows, whose fields become columns; `explode` for all other elements.

Only Spark knows the element type, so it analyses the query with `explode` first.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.session.query.flink_numeric import plan_operators
from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan, has_bridge

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from paimon_nb.spark.runtime.jvm_types import Plan
    from paimon_nb.statements import Query

MAX_VARIED = 5
"""The UNNESTs of a query that are tried with both functions; further ones use `explode`."""
Analysed = tuple[str, "DataFrame"]


def analyse_with_unnest(query: Query, analyse: Callable[[Query], Analysed]) -> Analysed:
    """The analysed query, each UNNEST with the function that fits its elements.

    Raises:
        AnalysisException: Spark rejects every variant; the first variant's error.
    """
    from pyspark.errors import AnalysisException

    fallback: Analysed | None = None
    refused: AnalysisException | None = None
    spans = query.unnested[:MAX_VARIED]
    for rows in itertools.product((False, True), repeat=len(spans)):
        inline = {span for span, row in zip(spans, rows, strict=True) if row}
        edits = tuple((s, by.replace("explode", "inline") if s in inline else by) for s, by in query.edits)
        try:
            analysed = analyse(replace(query, edits=edits))
        except AnalysisException as error:
            refused = refused or error
            continue
        if not _explodes_rows(analysed[1]):
            return analysed
        fallback = fallback or analysed
    if fallback is None:
        assert refused is not None
        raise refused
    return fallback


def _explodes_rows(frame: DataFrame) -> bool:
    """Whether the query explodes an array of rows into one column."""
    return has_bridge(frame) and any(map(_explodes_array_of_structs, plan_operators(analyzed_plan(frame))))


def _explodes_array_of_structs(node: Plan) -> bool:
    if node.getClass().getSimpleName() != "Generate" or node.generator().getClass().getSimpleName() != "Explode":
        return False
    elements = node.generator().child().dataType()
    return bool(elements.typeName() == "array" and elements.elementType().typeName() == "struct")
