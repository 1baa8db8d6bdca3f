"""Flink's UNNEST makes columns of the fields of rows: that is Spark's `inline`; of all other elements its `explode`.

Only Spark knows what the elements are, so it is asked with `explode` first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.plan import Query
from paimon_nb.session.query.flink_numeric import nodes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST = 5
"""UNNESTs of one query that are told apart; more are all taken to be of plain elements."""
Answer = tuple[str, "DataFrame"]


def unnested(query: Query, ask: Callable[[Query], Answer]) -> Answer:
    """What `ask` says to the query whose UNNESTs are what their elements want.

    Raises what Spark says of the query as it stands, when it is right in no way.
    """
    from pyspark.errors import AnalysisException

    said: Answer | None = None
    refused: AnalysisException | None = None
    places = query.unnested[:MOST]
    for rows in itertools.product((False, True), repeat=len(places)):
        inline = {span for span, row in zip(places, rows, strict=True) if row}
        edits = tuple((s, by.replace("explode", "inline") if s in inline else by) for s, by in query.edits)
        try:
            answer = ask(replace(query, edits=edits))
        except AnalysisException as error:
            refused = refused or error
            continue
        if not _explodes_rows(answer[1]):
            return answer
        said = said or answer
    if said is None:
        assert refused is not None
        raise refused
    return said


def _explodes_rows(frame: DataFrame) -> bool:
    """Whether an array of rows comes out as one column."""
    return hasattr(frame, "_jdf") and any(map(_is_of_rows, nodes(frame._jdf.queryExecution().analyzed())))


def _is_of_rows(node: Any) -> bool:
    if node.getClass().getSimpleName() != "Generate" or node.generator().getClass().getSimpleName() != "Explode":
        return False
    elements = node.generator().child().dataType()
    return bool(elements.typeName() == "array" and elements.elementType().typeName() == "struct")
