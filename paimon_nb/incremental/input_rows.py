"""The rows of a join's side that is looked up in its table, at the snapshot of the last refresh. Nothing is stored for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError
from paimon_nb.incremental.deltas import empty_rows, look_up, signed
from paimon_nb.incremental.operators import WEIGHT, Filter, Operator, Project
from paimon_nb.incremental.row_states import Rows
from paimon_nb.incremental.state import StateLost
from paimon_nb.session.query.local.values import embedded_engine_type, engine_type, quote_name

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.incremental.engine import Relation
    from paimon_nb.incremental.evaluation import Evaluation
    from paimon_nb.incremental.lookups import Lookup


class InputRows(Rows):
    """The side of a join.

    Args:
        evaluation: the refresh.
        operator: whose rows they are.
        lookup: how they are found.
        key: SQL of the text of their join key.
    """

    def __init__(self, evaluation: Evaluation, operator: Operator, lookup: Lookup, key: str) -> None:
        super().__init__(evaluation.engine, str(lookup.source.table.name), operator.columns, operator.key)
        self._operator, self._lookup, self._key = operator, lookup, key
        self._start = evaluation.start_of(lookup.source)

    def matching(self, other: Relation, own: Relation | None) -> Relation:
        """The rows before a change that have the key of a changed row: of the other side of the join, or of this one."""
        source, columns = self._lookup.source, list(self._lookup.source.used)
        try:
            if self._start is None:
                rows = empty_rows(source.table, columns)
            else:
                rows = look_up(source.table, self._start, self._changed_keys(other, own), columns)
        except PaimonError as error:
            raise StateLost(f"{source.table.name} cannot be read at its last snapshot: {error}") from error
        return self.keyed(self._through(self._operator, signed(rows, 1)), self._key)

    def write(self, change: Relation, before: Relation | None = None) -> None:
        """Nothing: the table has the rows."""

    def _changed_keys(self, other: Relation, own: Relation | None) -> pa.Table:
        """The primary keys to look up."""
        schema, parts = self._lookup.source.table.schema, []
        for relation, side in ((own, 0), (other, 1)):
            if relation is None or not relation.count:
                continue
            items = []
            for name, values in self._lookup.keys.items():
                t = embedded_engine_type(schema.field(name).type)
                assert t is not None
                items.append((f"TRY_CAST({values[side]} AS {engine_type(t)})", quote_name(name)))
            where = " AND ".join(f"{sql} IS NOT NULL" for sql, _ in items)
            parts.append(f"SELECT {', '.join(f'{sql} AS {n}' for sql, n in items)} FROM {relation.name} WHERE {where}")
        if not parts:
            return empty_rows(self._lookup.source.table, list(self._lookup.keys))
        return self._engine.rows(" UNION ".join(f"SELECT DISTINCT * FROM ({p})" for p in parts))

    def _through(self, op: Operator, rows: pa.Table) -> Relation:
        """Rows of the table as rows of the side."""
        match op:
            case Filter():
                below = self._through(op.child, rows)
                return self._engine.table(f"SELECT * FROM {below.name} WHERE {op.condition}")
            case Project():
                below = self._through(op.child, rows)
                items = "".join(f"{sql} AS {c.id}, " for sql, c in op.items)
                return self._engine.table(f"SELECT {items}{WEIGHT} FROM {below.name}")
        name = self._engine.arrow(rows)
        return self._engine.table(f"SELECT {self._lookup.source.select_list}{WEIGHT} FROM {name}")
