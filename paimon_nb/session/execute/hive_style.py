"""INSERT as in Hive: the values of partition columns without a value in PARTITION come last, in the order of the partition columns.

Source: Paimon 2.1 `PaimonAnalysis.resolvePaimonWrite` (`write.hive-style-dynamic-partition.enabled`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.options.write import WRITE_HIVE_STYLE_DYNAMIC_PARTITION_ENABLED
from paimon_nb.session.execute.schema_merging import write_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import Insert
    from paimon_nb.table.tables.table import Table


def hive_style_columns(
    session: Session, statement: Insert, table: Table, source: Sequence[str], *, dynamic: bool
) -> tuple[str, ...] | None:
    """The table's columns in the order of the source; None: the order of the table.

    Args:
        source: names of the source's columns. If they are the table's in its order, that counts.
        dynamic: an overwrite replaces only partitions with new rows.
    """
    target = statement.target
    if target is None or statement.by_name or statement.columns is not None or session.flink_semantics:
        return None
    if not write_option(session, target.options, WRITE_HIVE_STYLE_DYNAMIC_PARTITION_ENABLED.key):
        return None
    named = {name.lower(): value for name, value in statement.partition.items()}
    keys = [k for k in table.partition_keys if named.get(k.lower()) is None and (not named or k.lower() in named)]
    static = {name for name, value in named.items() if value is not None}
    names = [n for n in table.schema.names if n.lower() not in static]
    order = [*(n for n in names if n not in keys), *keys]
    source_names = [n.lower() for n in source]
    if not keys or len(source) != len(names) or source_names == [n.lower() for n in names]:
        return None
    if not named and not (statement.overwrite and dynamic and source_names == [n.lower() for n in order]):
        return None
    return tuple(order)
