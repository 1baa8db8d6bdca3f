"""Rows of arrays and maps: EXPLODE and its kin, LATERAL VIEW, and Flink's UNNEST, as sources of FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import Array, DataType, Map, Row
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import INT, Value, quote_text
from paimon_nb.syntax.tree import Alias, Call, without_brackets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.syntax.tree import Node


@dataclass(frozen=True, slots=True)
class Generator:
    """What a function makes of one row."""

    sql: str
    """A query of the engine whose columns are o0, o1, ..."""
    columns: tuple[tuple[str, DataType], ...]
    raises: bool


_PLAIN = {"EXPLODE": False, "EXPLODE_OUTER": True, "POSEXPLODE": False, "INLINE": False, "INLINE_OUTER": True}
"""Spark's functions -> whether they have a row for no elements, too."""


def generator_call(node: Node) -> Call | None:
    """The call of one of Spark's functions that make rows; None: it is another expression."""
    node = without_brackets(node.expression if isinstance(node, Alias) else node)
    return node if isinstance(node, Call) and node.function in _PLAIN and len(node.name) == 1 else None


def generator_of(function: str, value: Value, *, is_outer: bool = False) -> Generator:
    """The rows that a function makes of an array or a map. Raises NotLocal.

    Args:
        function: one of Spark's, or UNNEST.
        value: its argument.
        is_outer: whether there is a row of NULLs if there are no elements.
    """
    is_outer = is_outer or _PLAIN.get(function, False)
    t = value.type
    if isinstance(t, Map) and function == "UNNEST" and is_outer:
        raise NotLocal("LEFT JOIN UNNEST of a map is left to Spark")
    if isinstance(t, Map) and function in ("EXPLODE", "EXPLODE_OUTER", "UNNEST", "POSEXPLODE"):
        columns = [("key", f"map_keys({value.sql})", t.key), ("value", f"map_values({value.sql})", t.value)]
    elif (isinstance(t, Array) and function in ("EXPLODE", "EXPLODE_OUTER", "POSEXPLODE")) or (
        isinstance(t, Array) and function == "UNNEST" and not isinstance(t.element, Row)
    ):
        columns = [("col", value.sql, t.element)]
    elif isinstance(t, Array) and isinstance(t.element, Row) and function in ("INLINE", "INLINE_OUTER", "UNNEST"):
        return _fields(value, t.element, is_outer=is_outer)
    else:
        raise NotLocal(f"{function} of {t.bare()} is left to Spark")
    if function == "POSEXPLODE":
        if is_outer:
            raise NotLocal("POSEXPLODE of a LATERAL VIEW OUTER is left to Spark")
        columns.insert(0, ("pos", f"CAST(range(len({columns[0][1]})) AS INTEGER[])", INT))
    items = ", ".join(f"unnest({_never_empty(a, is_outer)}) AS o{i}" for i, (_, a, _) in enumerate(columns))
    return Generator(f"SELECT {items}", tuple((name, t) for name, _, t in columns), value.raises)


def _fields(value: Value, row: Row, *, is_outer: bool) -> Generator:
    """A column for each field of the rows in an array."""
    items = ", ".join(f"struct_extract(e, {quote_text(f.name)}) AS o{i}" for i, f in enumerate(row.fields))
    rows = f"SELECT unnest({_never_empty(value.sql, is_outer)}) AS e"
    return Generator(f"SELECT {items} FROM ({rows})", tuple((f.name, f.type) for f in row.fields), value.raises)


def _never_empty(array: str, is_outer: bool) -> str:
    return f"(CASE WHEN len({array}) > 0 THEN {array} ELSE [NULL] END)" if is_outer else array


def named_columns(generator: Generator, names: Sequence[str]) -> list[tuple[str, DataType]]:
    """The columns with the names that are written after AS. Raises NotLocal: another number of them."""
    if names and len(names) != len(generator.columns):
        raise NotLocal("a function in FROM has another number of columns than names")
    return [(names[i] if names else name, t) for i, (name, t) in enumerate(generator.columns)]


def check_one_generator(items: Sequence[Node], *, is_grouped: bool) -> Mapping[int, Call]:
    """The items of a SELECT list that make rows, by position: one at most. Raises NotLocal."""
    found = {i: call for i, item in enumerate(items) if (call := generator_call(item)) is not None}
    if len(found) > 1 or (found and is_grouped):
        raise NotLocal("several functions that make rows, or one beside groups, are left to Spark")
    return found
