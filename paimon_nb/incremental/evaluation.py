"""One refresh of a plan while it is evaluated: changes of operators that are known already, and their state tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.incremental.operators import postorder
from paimon_nb.incremental.shapes import shapes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.incremental.engine import Engine, Relation
    from paimon_nb.incremental.operators import Operator, Source
    from paimon_nb.incremental.state import State
    from paimon_nb.incremental.watermarks import Watermarks


class Evaluation:
    """One refresh of a plan.

    Args:
        engine: where relations are.
        states: the state tables by suffix.
        change_of: the signed change of an input, as Arrow rows.
        start_of: the snapshot of an input at the last refresh; None: it was empty, or there was no refresh.
        watermarks: of the inputs.
        is_first: whether the state is empty because nothing was computed before.
    """

    def __init__(
        self,
        engine: Engine,
        states: Mapping[str, State],
        change_of: Callable[[Source], pa.Table],
        start_of: Callable[[Source], Snapshot | None],
        watermarks: Watermarks,
        *,
        is_first: bool,
    ) -> None:
        self.engine, self.states, self.change_of, self.is_first = engine, states, change_of, is_first
        self.start_of, self.watermarks = start_of, watermarks
        self._known: dict[int, Relation] = {}
        self._suffixes: dict[int, Sequence[str]] = {}

    def run(self, root: Operator, rule: Callable[[Evaluation, Operator], Relation]) -> Relation:
        """The consolidated change of the result. `rule`: the change of one operator, whose inputs' changes are known."""
        for number, op in enumerate(postorder(root)):
            self._suffixes[id(op)] = [s.suffix for s in shapes_of(op, number)]
            self._known[id(op)] = rule(self, op)
        return self.engine.consolidated(self._known[id(root)], root.columns)

    def change(self, op: Operator) -> Relation:
        """The change of an operator's rows, which may have equal rows with opposite weights."""
        return self._known[id(op)]

    def states_of(self, op: Operator) -> list[State]:
        """The state tables of an operator."""
        return [self.states[s] for s in self._suffixes[id(op)]]

    def state(self, op: Operator, ending: str = "") -> State:
        """The state table of an operator. `ending`: of its name, if it has several."""
        return self.states[next(s for s in self._suffixes[id(op)] if s.endswith(ending))]
