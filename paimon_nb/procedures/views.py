"""Queries of a stored view in the dialects of several engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.base.registry import did_you_mean
from paimon_nb.procedures.procedure import Argument, Context, Procedure, success

if TYPE_CHECKING:
    import pyarrow as pa

_ACTIONS = ("add", "update", "drop")


def _alter_view_dialect(context: Context, view: str, action: str, engine: str | None, query: str | None) -> pa.Table:
    if action not in _ACTIONS:
        raise SqlAnalysisError(
            f"alter_view_dialect has no action {action!r}", hint=did_you_mean(action, _ACTIONS) or "add, update or drop"
        )
    if action != "drop" and not (query and query.strip()):
        raise SqlAnalysisError(f"alter_view_dialect with {action!r} needs a query", hint="set query")
    catalog, name = context.resolve(view)
    catalog.alter_view_dialect(name, action, engine or context.dialect, None if action == "drop" else query)
    return success()


ALTER_VIEW_DIALECT = Procedure(
    "alter_view_dialect",
    "Add, update or drop the query of a stored view in the dialect of one engine.",
    (
        Argument("view", required=True, doc="[database.]view"),
        Argument("action", required=True, doc="add, update or drop"),
        Argument("engine", doc="spark or flink; default: the dialect of the session"),
        Argument("query", doc="for add and update"),
    ),
    _alter_view_dialect,
    positional_in_spark=True,
)
