"""The rows in which two results differ, row by row or by key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import ColumnNotFound, SchemaMismatch, SqlAnalysisError
from paimon_nb.base.registry import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

ROWKIND = "rowkind"
_ROW = "__row"


def differing_rows(before: pa.Table, after: pa.Table, keys: Sequence[str] = ()) -> pa.Table:
    """The rows that only one of two tables has, with their kinds: +I added, -D removed, and by key -U and +U before and after a change.

    Args:
        keys: columns that identify a row; (): rows are compared as a whole, and a row that is there twice is not one that is there once.

    Raises:
        SchemaMismatch: the columns have other names. ColumnNotFound: a key column. SqlAnalysisError: two rows have the same key.

    Examples:
        >>> import pyarrow as pa
        >>> old, new = pa.table({"id": [1, 2], "v": ["a", "b"]}), pa.table({"id": [1, 3], "v": ["x", "c"]})
        >>> differing_rows(old, new, ["id"]).to_pydict()
        {'rowkind': ['-U', '+U', '-D', '+I'], 'id': [1, 1, 2, 3], 'v': ['a', 'x', 'b', 'c']}
    """
    import pyarrow as pa

    names = before.column_names
    if sorted(names) != sorted(after.column_names) or len(set(names)) < len(names):
        raise SchemaMismatch(
            f"the results have other columns: {', '.join(names)} and {', '.join(after.column_names)}",
            hint="select the same columns in both, each name once",
        )
    for key in keys:
        if key not in names:
            raise ColumnNotFound(f"no column {key!r}", hint=did_you_mean(key, names))
    after = after.select(names)
    pairs = _pairs_by_key(before, after, keys) if keys else _pairs_of_whole_rows(before, after)
    kinds, parts = [], []
    for old, new in pairs:
        if old is not None:
            kinds.append("-D" if new is None else "-U")
            parts.append((0, old))
        if new is not None:
            kinds.append("+I" if old is None else "+U")
            parts.append((1, new))
    joined = pa.concat_tables([before, after], promote_options="permissive")
    order = pa.array([row + before.num_rows * side for side, row in parts], pa.int64())
    return joined.take(order).add_column(0, ROWKIND, pa.array(kinds, pa.string()))


def _pairs_by_key(before: pa.Table, after: pa.Table, keys: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """(row before, row after) of each key whose rows differ, in the order of the rows before, then of those after."""
    on = " AND ".join(f"b.{_quoted(k)} IS NOT DISTINCT FROM a.{_quoted(k)}" for k in keys)
    others = [n for n in before.column_names if n not in keys]
    differ = " OR ".join(f"b.{_quoted(n)} IS DISTINCT FROM a.{_quoted(n)}" for n in others) or "false"
    listed = ", ".join(map(_quoted, keys))
    for name in ("b", "a"):
        doubled = _query(before, after, f"SELECT {listed} FROM {name} GROUP BY {listed} HAVING count(*) > 1 LIMIT 1")
        if doubled:
            key = ", ".join(f"{k} = {v!r}" for k, v in zip(keys, doubled[0], strict=True))
            raise SqlAnalysisError(f"two rows have {key}", hint="name all columns that identify a row")
    return _query(
        before, after,
        f"SELECT b.{_ROW}, a.{_ROW} FROM b FULL JOIN a ON {on} WHERE b.{_ROW} IS NULL OR a.{_ROW} IS NULL OR {differ} "
        f"ORDER BY b.{_ROW} NULLS LAST, a.{_ROW}",
    )  # fmt: skip


def _pairs_of_whole_rows(before: pa.Table, after: pa.Table) -> list[tuple[int | None, int | None]]:
    listed = ", ".join(map(_quoted, before.column_names))
    numbered = f"SELECT *, row_number() OVER (PARTITION BY {listed} ORDER BY {_ROW}) AS __copy FROM "
    same = " AND ".join(f"x.{_quoted(n)} IS NOT DISTINCT FROM y.{_quoted(n)}" for n in [*before.column_names, "__copy"])
    only = "SELECT x.{row} FROM ({a}) x ANTI JOIN ({b}) y ON {same} ORDER BY 1"
    old = _query(before, after, only.format(row=_ROW, a=f"{numbered} b", b=f"{numbered} a", same=same))
    new = _query(before, after, only.format(row=_ROW, a=f"{numbered} a", b=f"{numbered} b", same=same))
    return [*((row, None) for (row,) in old), *((None, row) for (row,) in new)]


def _query(before: pa.Table, after: pa.Table, text: str) -> list[tuple]:  # type: ignore[type-arg]
    """Rows of a query of the tables `b` and `a`, whose rows are numbered."""
    import duckdb
    import pyarrow as pa

    with duckdb.connect() as connection:
        for name, table in (("b", before), ("a", after)):
            connection.register(name, table.append_column(_ROW, pa.array(range(table.num_rows), pa.int64())))
        return connection.execute(text).fetchall()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
