"""A state of rows: a multiset of an operator's input, by key. How changes meet it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.incremental.engine import KEY_TEXT, ROW_TEXT, Relation
from paimon_nb.incremental.list_types import engine_type
from paimon_nb.incremental.operators import WEIGHT
from paimon_nb.incremental.row_text import equal_rows, row_text
from paimon_nb.incremental.state import COUNT, KEY, ROW, StateLost, empty_keys
from paimon_nb.session.query.local.values import quote_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.incremental.engine import Engine
    from paimon_nb.incremental.evaluation import Evaluation
    from paimon_nb.incremental.operators import Column
    from paimon_nb.incremental.state import State


class Rows:
    """Rows that an operator meets, with the text of their key and their own.

    Args:
        engine: where they are.
        label: what they are called in errors.
        columns: of the rows.
        unique: columns that distinguish the rows of the input; None: equal rows may be there several times.
    """

    def __init__(self, engine: Engine, label: str, columns: Sequence[Column], unique: Sequence[str] | None) -> None:
        self._engine, self._label, self.columns = engine, label, columns
        self._is_unique = unique is not None and len(columns) > 0
        by_id = {c.id: c for c in columns}
        identity = [by_id[u] for u in unique] if unique is not None else list(columns)
        self._row_text = row_text([(c.id, c.type) for c in identity])
        self._ids = "".join(f"{c.id}, " for c in columns)

    def keyed(self, change: Relation, key: str, condition: str = "") -> Relation:
        """A change whose rows have the text of their key and their own. `condition`: of rows that have a key."""
        where = f" WHERE {condition}" if condition else ""
        return self._engine.table(
            f"SELECT {self._ids}{WEIGHT}, {key} AS {KEY_TEXT}, {self._row_text} AS {ROW_TEXT} FROM {change.name}{where}"
        )

    def after(self, before: Relation, change: Relation) -> Relation:
        """The rows with a change. Raises StateLost: it removes a row that is not there."""
        if not change.count:
            return before
        items, groups = equal_rows(self.columns)
        names = f"{self._ids}{WEIGHT}, {KEY_TEXT}, {ROW_TEXT}"
        both = f"SELECT {names} FROM {before.name} UNION ALL SELECT {names} FROM {change.name}"
        made = self._engine.table(
            f"SELECT {items}CAST(sum({WEIGHT}) AS BIGINT) AS {WEIGHT}, {KEY_TEXT}, first({ROW_TEXT}) AS {ROW_TEXT} "
            f"FROM ({both}) GROUP BY {KEY_TEXT}, {groups} HAVING sum({WEIGHT}) <> 0"
        )
        self._check_counts(made)
        return made

    def _check_counts(self, rows: Relation) -> None:
        if self._engine.values(f"SELECT count(*) FROM {rows.name} WHERE {WEIGHT} < 0")[0][0]:
            raise StateLost(f"{self._label}: a row was removed that is not there")


class RowState(Rows):
    """The rows of one state table.

    Args:
        evaluation: the refresh.
        state: the table.
        columns: of its rows.
        unique: columns that distinguish the rows of the input apart; None: equal rows may be there several times.
    """

    def __init__(
        self, evaluation: Evaluation, state: State, columns: Sequence[Column], unique: Sequence[str] | None
    ) -> None:
        super().__init__(evaluation.engine, str(state.name), columns, unique)
        self.state = state

    def matching(self, other: Relation, own: Relation | None) -> Relation:
        """The rows before a change that have the key of a changed row: of the other side of a join, or of their own."""
        return self.find(other) if own is None else self.find(other, own)

    def find(self, *changes: Relation) -> Relation:
        """The rows that the state has with the keys of some changes."""
        some = [c.name for c in changes if c.count]
        if self.state.at is None or not some:
            return self._relation(self.state.find(empty_keys(KEY)))
        keys = " UNION ".join(f"SELECT DISTINCT {KEY_TEXT} AS {KEY} FROM {name}" for name in some)
        return self._relation(self.state.find(self._engine.rows(keys)))

    def write(self, change: Relation, before: Relation | None = None) -> None:
        """Store a consolidated change.

        Args:
            change: with keys.
            before: the rows of its keys as they were; None: only those that changed are read.
        """
        if not change.count:
            return
        if self._is_unique:
            self._write_unique(change)
        else:
            self._write_counted(change, before if before is not None else self._find_rows(change))

    def _write_unique(self, change: Relation) -> None:
        wrong = self._engine.values(f"SELECT count(*) FROM {change.name} WHERE abs({WEIGHT}) <> 1")
        if wrong[0][0]:
            raise StateLost(f"{self._label}: a row of the input came twice, or was removed twice")
        self.state.upserts.append(
            self._engine.rows(f"SELECT {self._stored('1')} FROM {change.name} WHERE {WEIGHT} > 0")
        )
        self.state.deletes.append(
            self._engine.rows(
                f"SELECT {self._stored('1')} FROM {change.name} d WHERE {WEIGHT} < 0 AND NOT EXISTS (SELECT 1 FROM {change.name} u "
                f"WHERE u.{WEIGHT} > 0 AND u.{KEY_TEXT} = d.{KEY_TEXT} AND u.{ROW_TEXT} = d.{ROW_TEXT})"
            )
        )

    def _write_counted(self, change: Relation, before: Relation) -> None:
        counted = self._engine.table(
            f"SELECT c.*, c.{WEIGHT} + coalesce(b.{WEIGHT}, 0) AS total_ FROM {change.name} c LEFT JOIN {before.name} b "
            f"ON b.{KEY_TEXT} = c.{KEY_TEXT} AND b.{ROW_TEXT} = c.{ROW_TEXT}"
        )
        if self._engine.values(f"SELECT count(*) FROM {counted.name} WHERE total_ < 0")[0][0]:
            raise StateLost(f"{self._label}: a row was removed that is not there")
        stored = self._stored("CAST(total_ AS BIGINT)")
        self.state.upserts.append(self._engine.rows(f"SELECT {stored} FROM {counted.name} WHERE total_ > 0"))
        self.state.deletes.append(self._engine.rows(f"SELECT {stored} FROM {counted.name} WHERE total_ = 0"))

    def _find_rows(self, change: Relation) -> Relation:
        if self.state.at is None:
            return self._relation(self.state.find(empty_keys(KEY, ROW)))
        pairs = f"SELECT {KEY_TEXT} AS {KEY}, {ROW_TEXT} AS {ROW} FROM {change.name}"
        return self._relation(self.state.find(self._engine.rows(pairs)))

    def _stored(self, count: str) -> str:
        """The columns of the state table, from a relation."""
        values = ", ".join(
            f"{c.id} AS {quote_name(n)}" for n, c in zip(self.state.shape.names, self.columns, strict=True)
        )
        head = f"{KEY_TEXT} AS {KEY}, {ROW_TEXT} AS {ROW}, CAST({count} AS BIGINT) AS {COUNT}"
        return f"{head}, {values}" if values else head

    def _relation(self, rows: pa.Table) -> Relation:
        name = self._engine.arrow(rows)
        ids = "".join(
            f"CAST({quote_name(n)} AS {engine_type(c.type)}) AS {c.id}, "
            for n, c in zip(self.state.shape.names, self.columns, strict=True)
        )
        return self._engine.table(
            f"SELECT {ids}{COUNT} AS {WEIGHT}, {KEY} AS {KEY_TEXT}, {ROW} AS {ROW_TEXT} FROM {name}"
        )
