"""Rows and keys as texts, in the engine's SQL: equal texts are equal rows, also with NULL, NaN and -0.0.

State tables are keyed by such texts, because a key column of a table cannot be NULL. The form is that of COPY in PostgreSQL: parts with `|`
between them, `\\N` for NULL, so that a state table can be read by people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.types import Array, Multiset
from paimon_nb.incremental.list_types import engine_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.types import DataType
    from paimon_nb.incremental.operators import Column

_LONG = 160
"""Longer texts are replaced by a hash."""


def row_text(values: Sequence[tuple[str, DataType]], *, hashed: bool = True) -> str:
    """SQL of the text of some values.

    Args:
        values: SQL and type of each.
        hashed: whether long texts become their SHA-256, so that keys stay short.
    """
    if not values:
        return "''"
    parts = [f"coalesce({_text(sql, t)}, '\\N')" for sql, t in values]
    text = " || '|' || ".join(parts)
    if not hashed or (all(_is_short(t) for _, t in values) and len(values) <= 4):
        return f"({text})"
    return f"(CASE WHEN length({text}) > {_LONG} THEN '#' || sha256({text}) ELSE {text} END)"


def equal_rows(columns: Sequence[Column]) -> tuple[str, str]:
    """SQL that makes one row of those with equal texts, by their values where the engine compares these alike.

    Returns:
        The columns of SELECT, each with a comma after it, and the expressions of GROUP BY.
    """
    items, groups = "", []
    for c in columns:
        several = _has_several_forms(c.type)
        items += f"first({c.id}) AS {c.id}, " if several else f"{c.id}, "
        groups.append(_text(c.id, c.type) if several else c.id)
    return items, ", ".join(groups) or "''"


def _has_several_forms(t: DataType) -> bool:
    """Whether the engine's GROUP BY compares values otherwise than their texts do: 0.0 and -0.0, and what contains them."""
    return isinstance(t, Array | Multiset) or engine_type(t) in ("FLOAT", "DOUBLE")


def _text(sql: str, t: DataType) -> str:
    kind = engine_type(t)
    if kind == "VARCHAR":
        text = f"replace({sql}, '\\', '\\\\')"
        return f"replace(replace({text}, '|', '\\|'), '#', '\\#')"
    if kind == "BLOB":
        return f"hex({sql})"
    if kind == "TIMESTAMPTZ":
        return f"CAST(epoch_us({sql}) AS VARCHAR)"
    if isinstance(t, Array):
        items = f"list_transform({sql}, lambda v_: coalesce({_text('v_', t.element)}, '\\N'))"
        return _list_text(sql, items)
    if isinstance(t, Multiset):
        entry = f"coalesce({_text('v_.key', t.element)}, '\\N') || '=' || v_.value"
        return _list_text(f"map_entries({sql})", f"list_sort(list_transform(map_entries({sql}), lambda v_: {entry}))")
    return f"CAST({sql} AS VARCHAR)"


def _list_text(values: str, texts: str) -> str:
    """The length of a list, so that an empty one is not a list of an empty text, and its values."""
    return f"(len({values}) || '[' || coalesce(list_aggregate({texts}, 'string_agg', '|'), '') || ']')"


def _is_short(t: DataType) -> bool:
    return not isinstance(t, Array | Multiset) and engine_type(t) not in ("VARCHAR", "BLOB")
