"""PARTITION (dt = 'x', h = 7) of statements that need constants: the literals' values, without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paimon_nb.base.errors import SqlAnalysisError


def constants(partition: Mapping[str, str | None], keys: Sequence[str]) -> dict[str, object]:
    """Values of the literals, by the table's own spelling of each partition column; NULL is None.

    Args:
        partition: column -> SQL literal text, as the statement has it. keys: the table's partition columns.

    Raises:
        SqlAnalysisError: a column without a value. SqlSyntaxError: a value that is no constant.
    """
    folded = {k.lower(): k for k in keys}
    out: dict[str, object] = {}
    for name, text in partition.items():
        if text is None:
            raise SqlAnalysisError(f"partition column {name!r} has no value", hint=f"PARTITION ({name} = '...')")
        out[name if name in keys else folded.get(name.lower(), name)] = _constant(text)
    return out


def _constant(text: str) -> object:
    from paimon_nb.sql.cursor import Cursor
    from paimon_nb.sql.grammar.call import literal
    from paimon_nb.sql.tokens import tokens

    cursor = Cursor(text, tokens(text))
    value = literal(cursor)
    cursor.finish()
    return value
