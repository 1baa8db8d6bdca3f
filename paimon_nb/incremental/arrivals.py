"""The rows of groups in the order in which they arrived, for functions that depend on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.incremental.engine import KEY_TEXT, Relation
from paimon_nb.incremental.operators import ARRIVAL, WEIGHT
from paimon_nb.incremental.row_states import RowState
from paimon_nb.incremental.row_text import row_text
from paimon_nb.incremental.state import StateLost

if TYPE_CHECKING:
    from paimon_nb.incremental.evaluation import Evaluation
    from paimon_nb.incremental.operators import Aggregate
    from paimon_nb.incremental.state import State

_TEXT, _NET, _POSITION, _COPY = "text_", "net_", "position_", "copy_"


def arrived_rows(evaluation: Evaluation, state: State, op: Aggregate, change: Relation, key: str) -> Relation:
    """The rows of the changed groups after a change; stores them.

    Of rows with the same values that come and go in one change only the difference counts: the newest of those that come, or the oldest
    of those that are there.

    Args:
        evaluation: the refresh.
        state: the state table of the rows.
        op: the operator.
        change: the change of its input, in the order in which its rows arrived.
        key: SQL of the text of a row's group.

    Raises:
        StateLost: a row is removed that is not there.
    """
    engine = evaluation.engine
    values = (*op.keys, *op.rows_needed)
    rows = RowState(evaluation, state, (*values, ARRIVAL), None)
    ids = "".join(f"{c.id}, " for c in values)
    text = row_text([(c.id, c.type) for c in values], hashed=False)
    signed = engine.table(
        f"SELECT {ids}{WEIGHT}, rowid AS {_POSITION}, {key} AS {KEY_TEXT}, {text} AS {_TEXT}, "
        f"sum({WEIGHT}) OVER (PARTITION BY {text}) AS {_NET} FROM {change.name}"
    )
    before = rows.find(signed)
    newest = engine.table(
        f"SELECT {ids}{KEY_TEXT}, {_POSITION}, {_COPY}, {_NET}, "
        f"row_number() OVER (PARTITION BY {_TEXT} ORDER BY {_POSITION} DESC, {_COPY} DESC) AS number_ "
        f"FROM (SELECT *, unnest(range({WEIGHT})) AS {_COPY} FROM {signed.name} WHERE {WEIGHT} > 0 AND {_NET} > 0)"
    )
    last = f"SELECT {KEY_TEXT}, max({ARRIVAL.id}) AS last_ FROM {before.name} GROUP BY {KEY_TEXT}"
    added = (
        f"SELECT {ids}coalesce(last_, 0) + row_number() OVER (PARTITION BY n.{KEY_TEXT} ORDER BY {_POSITION}, {_COPY}) AS {ARRIVAL.id}, "
        f"CAST(1 AS BIGINT) AS {WEIGHT} FROM {newest.name} n LEFT JOIN ({last}) l ON l.{KEY_TEXT} = n.{KEY_TEXT} WHERE number_ <= {_NET}"
    )
    lost = engine.table(f"SELECT DISTINCT {_TEXT}, -{_NET} AS {_NET} FROM {signed.name} WHERE {_NET} < 0")
    oldest = (
        f"SELECT {ids}{ARRIVAL.id}, {text} AS {_TEXT}, row_number() OVER (PARTITION BY {text} ORDER BY {ARRIVAL.id}) AS number_ "
        f"FROM {before.name}"
    )
    removed = engine.table(
        f"SELECT {ids}{ARRIVAL.id}, CAST(-1 AS BIGINT) AS {WEIGHT} FROM ({oldest}) b JOIN {lost.name} l "
        f"ON l.{_TEXT} = b.{_TEXT} WHERE number_ <= {_NET}"
    )
    expected = engine.values(f"SELECT coalesce(sum({_NET}), 0) FROM {lost.name}")[0][0]
    if removed.count != expected:
        raise StateLost(f"{state.name}: a row was removed that is not there")
    names = f"{ids}{ARRIVAL.id}, {WEIGHT}"
    difference = engine.table(f"SELECT {names} FROM ({added}) UNION ALL SELECT {names} FROM {removed.name}")
    keyed = rows.keyed(difference, key)
    rows.write(keyed, before)
    return rows.after(before, keyed)
