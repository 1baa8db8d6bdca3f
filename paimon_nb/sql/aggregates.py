"""Which functions aggregate rows, and which generate rows."""

from __future__ import annotations

from paimon_nb.syntax.tree import Call, Node, Subquery

EXPLODE_FUNCTIONS = frozenset(
    {"EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER", "INLINE", "INLINE_OUTER", "STACK", "UNNEST"}
)
"""Functions that generate rows."""
_AGGREGATES = frozenset(
    """ANY ANY_VALUE APPROX_COUNT_DISTINCT APPROX_PERCENTILE APPROX_TOP_K ARRAY_AGG AVG BITMAP_CONSTRUCT_AGG BITMAP_OR_AGG BIT_AND BIT_OR
    BIT_XOR BOOL_AND BOOL_OR COLLECT COLLECT_LIST COLLECT_SET CORR COUNT COUNT_IF COUNT_MIN_SKETCH COVAR_POP COVAR_SAMP EVERY FIRST
    FIRST_VALUE GROUPING GROUPING_ID HISTOGRAM_NUMERIC HLL_SKETCH_AGG HLL_UNION_AGG JSON_ARRAYAGG JSON_OBJECTAGG KURTOSIS LAST LAST_VALUE
    LISTAGG MAX MAX_BY MEAN MEDIAN MIN MIN_BY MODE PERCENTILE PERCENTILE_APPROX PERCENTILE_CONT PERCENTILE_DISC REGR_AVGX REGR_AVGY
    REGR_COUNT REGR_INTERCEPT REGR_R2 REGR_SLOPE REGR_SXX REGR_SXY REGR_SYY SKEWNESS SOME STD STDDEV STDDEV_POP STDDEV_SAMP STRING_AGG SUM
    TRY_AVG TRY_SUM VARIANCE VAR_POP VAR_SAMP
    CUME_DIST DENSE_RANK LAG LEAD NTH_VALUE NTILE PERCENT_RANK RANK""".split()  # noqa: SIM905 - a hundred quotes would be harder to read
)
"""Aggregate and window functions of both dialects."""


def is_aggregate(node: Node) -> bool:
    """Whether a node is the call of an aggregate function; `= ANY (SELECT ...)` is not."""
    return (
        isinstance(node, Call)
        and node.function in _AGGREGATES
        and not any(isinstance(a, Subquery) for a in node.arguments)
    )
