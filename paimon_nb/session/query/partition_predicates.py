"""The partitions in a PARTITION clause, such as PARTITION (dt = 'x', h = 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlAnalysisError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def partition_values(partition: Mapping[str, str | None], keys: Sequence[str]) -> dict[str, object]:
    """The literals' values by partition column, in the table's spelling; NULL is None.

    Args:
        partition: column -> SQL literal text of the statement.
        keys: the table's partition columns.

    Raises:
        SqlAnalysisError: a column has no value.
        SqlSyntaxError: a value is not a literal.
    """
    folded = {k.lower(): k for k in keys}
    out: dict[str, object] = {}
    for name, text in partition.items():
        if text is None:
            raise SqlAnalysisError(f"partition column {name!r} has no value", hint=f"PARTITION ({name} = '...')")
        out[name if name in keys else folded.get(name.lower(), name)] = _literal_value(text)
    return out


def _literal_value(text: str) -> object:
    from paimon_nb.sql.constants import parse_constant
    from paimon_nb.syntax.lexer import Cursor, tokens

    cursor = Cursor(text, tokens(text))
    value = parse_constant(cursor)
    cursor.finish()
    return value
