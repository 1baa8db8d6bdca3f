"""Options of materialized tables that only this engine writes. Java Paimon stores and ignores them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.options.option import choice, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.options.option import Option

MATERIALIZED_TABLE = "materialized-table"
"""The value of the option `type`."""
PREFIX = "paimon-nb.materialized-table."
DEFINITION_PREFIXES = ("materialized-table.", PREFIX)
"""Beginnings of the options that hold a definition."""
DIALECT = choice(
    f"{PREFIX}dialect", "flink", "flink spark", "dialect of 'materialized-table.definition-query'; Flink's tables have none"
)  # fmt: skip
LAST_ERROR = text(
    f"{PREFIX}last-error", None, "time and message of the refresh that failed last; removed by the next one"
)

OWN_OPTIONS: Mapping[str, Option[Any]] = {o.key: o for o in (DIALECT, LAST_ERROR)}
"""By key."""
