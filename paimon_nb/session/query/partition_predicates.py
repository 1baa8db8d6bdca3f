"""The partitions in a PARTITION clause, such as PARTITION (dt = 'x', h = 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlAnalysisError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def partition_values(
    partition: Mapping[str, str | None], keys: Sequence[str], *, flink: bool = False
) -> dict[str, object]:
    """The literals' values by partition column, in the table's spelling; NULL is None.

    Args:
        partition: column -> SQL literal text of the statement.
        keys: the table's partition columns.
        flink: the statement is Flink's, where NULL is no literal.

    Raises:
        SqlAnalysisError: a column has no value; `flink`, and a value is NULL.
        SqlSyntaxError: a value is not a literal.
    """
    if flink:
        check_partition_without_null(partition)
    folded = {k.lower(): k for k in keys}
    out: dict[str, object] = {}
    for name, text in partition.items():
        if text is None:
            raise SqlAnalysisError(f"partition column {name!r} has no value", hint=f"PARTITION ({name} = '...')")
        out[name if name in keys else folded.get(name.lower(), name)] = _literal_value(text)
    return out


def check_partition_without_null(partition: Mapping[str, str | None]) -> None:
    """Raises SqlAnalysisError: PARTITION (column = NULL)."""
    if nulls := [k for k, v in partition.items() if v is not None and v.strip().upper() == "NULL"]:
        raise SqlAnalysisError(
            f"partition column {nulls[0]!r} cannot be given as NULL here",
            hint=f"leave PARTITION ({nulls[0]} = NULL) out; INSERT takes NULL for the column from its query",
        )


def _literal_value(text: str) -> object:
    from paimon_nb.sql.constants import parse_constant
    from paimon_nb.syntax.lexer import Cursor, tokens

    cursor = Cursor(text, tokens(text))
    value = parse_constant(cursor)
    cursor.finish()
    return value
