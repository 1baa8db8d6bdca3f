"""What each operator of a plan keeps, and what one change costs: the text of EXPLAIN."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.incremental.lookups import lookup_of
from paimon_nb.incremental.operators import (
    Aggregate,
    Constant,
    Filter,
    Join,
    Operator,
    Partitioned,
    Project,
    Sessions,
    Source,
    UnionAll,
    Unnest,
    inputs_of,
    postorder,
)
from paimon_nb.incremental.shapes import shapes_of
from paimon_nb.incremental.watermarks import closing_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ID = re.compile(r"\b(?:x\d+|t\d+_\d+)\b")
"""A column of the plan in the engine's SQL."""
STATELESS, INCREMENTAL, RECOMPUTED = "stateless", "incremental", "recomputed"


@dataclass(frozen=True, slots=True)
class OperatorPlan:
    """One operator."""

    name: str
    mode: str
    """stateless, incremental or recomputed."""
    states: tuple[str, ...]
    """What follows `<target>__state_` in the names of its state tables."""
    cost: str
    """What one changed row of its input costs."""
    definition: str
    """What it computes, in the engine's SQL."""
    depth: int
    """Steps from the result."""


def operator_plans(root: Operator) -> list[OperatorPlan]:
    """The operators of a plan, inputs first."""
    depths: dict[int, int] = {}

    def visit(op: Operator, depth: int) -> None:
        depths[id(op)] = max(depth, depths.get(id(op), 0))
        for child in inputs_of(op):
            visit(child, depth + 1)

    visit(root, 0)
    names = _column_names(root)
    return [_plan(op, number, depths[id(op)], names) for number, op in enumerate(postorder(root))]


def _column_names(root: Operator) -> dict[str, str]:
    """What the plan's columns are called in the text; those of tables with the table."""
    names: dict[str, str] = {}
    for op in postorder(root):
        prefix = f"{op.table.name.table}." if isinstance(op, Source) else ""
        names |= {c.id: f"{prefix}{c.name}" for c in op.columns if c.id not in names}
    return names


def _plan(op: Operator, number: int, depth: int, names: Mapping[str, str]) -> OperatorPlan:
    states = tuple(s.suffix for s in shapes_of(op, number))
    name, cost = _name_and_cost(op)
    name = _ID.sub(lambda found: names.get(found.group(), found.group()), name)
    mode = INCREMENTAL if states or isinstance(op, Join) else STATELESS
    return OperatorPlan(name, mode, states, cost, _definition(op), depth)


def _name_and_cost(op: Operator) -> tuple[str, str]:
    match op:
        case Source():
            return f"scan {op.table.name}", "the changed rows"
        case Project():
            return f"project {', '.join(c.name for c in op.columns)}", "its row"
        case Filter():
            return f"filter {op.condition}", "its row"
        case Unnest():
            return op.what, "its row"
        case UnionAll():
            return "union all", "its row"
        case Constant():
            return "values", "nothing"
        case Join():
            keys = ", ".join(f"{a} = {b}" for a, b in op.equalities)
            cost = (
                "the rows of the other side with its key"
                if keys
                else "all rows of the other side: the join has no equality"
            )
            tables = [found.source.table.name for side in (0, 1) if (found := lookup_of(op, side)) is not None]
            if tables:
                cost += f", looked up in {' and '.join(map(str, tables))} itself"
            return f"{op.kind.lower()} join on {keys or 'no key'}", cost
        case Aggregate():
            keys = ", ".join(c.name for c in op.keys)
            calls = ", ".join(
                f"{c.function.lower()}({'distinct ' if c.distinct else ''}{c.operand.name if c.operand else '*'})"
                for c in op.calls
            )
            name = "distinct" if op.is_distinct else f"group by {keys or 'nothing'}: {calls}"
            slow = sorted({c.function.lower() for c in op.calls if not c.is_linear})
            cost = "its group's row"
            closing = closing_of(op)
            if closing is not None:
                cost += f" until the watermark of {closing.source.table.name} closes its window"
            if slow and set(slow) <= {"min", "max"}:
                return name, f"{cost}, and the values of its group if it removes the {' or '.join(slow)}"
            return name, f"{cost}, and the values of its group for {', '.join(slow)}" if slow else cost
        case Partitioned():
            whole = "the rows of its partition" if op.partition else "all rows: there is not a PARTITION BY"
            return op.what.lower(), whole
        case Sessions():
            whole = "the rows of its partition" if op.partition else "all rows: there is not a PARTITION BY"
            return f"sessions with gaps of {op.gap_us / 1e6:g} s", whole


def _definition(op: Operator) -> str:
    match op:
        case Source():
            return f"scan {op.table.name} {[(n, c.id, str(c.type)) for n, c in op.used.items()]}"
        case Project():
            return f"project {[(sql, c.id) for sql, c in op.items]}"
        case Filter():
            return f"filter {op.condition}"
        case Unnest():
            return f"unnest {op.values} {op.column.id}"
        case UnionAll():
            return f"union {[c.id for c in op.columns]}"
        case Constant():
            return f"values {op.sql}"
        case Join():
            return f"{op.kind} join {op.equalities} {op.condition}"
        case Aggregate():
            closing = closing_of(op)
            late = "" if closing is None else f" late {closing.time.id} {closing.delay_us}"
            return f"group {[c.id for c in op.keys]} {[(c.sql, c.result.id) for c in op.calls]}{late}"
        case Partitioned():
            return f"partition {op.partition} {[(sql, c.id) for sql, c in op.items]} {op.ending}"
        case Sessions():
            return f"sessions {op.partition} {op.time} {op.gap_us} {op.start.id} {op.end.id}"


def explain_text(root: Operator) -> str:
    """The operators of a plan, one a line, the last one first."""
    lines = []
    for p in reversed(operator_plans(root)):
        state = f"; state: {', '.join(f'<target>__state_{s}' for s in p.states)}" if p.states else ""
        lines.append(f"{'  ' * p.depth}{p.name}  [{p.mode}; one change costs {p.cost}{state}]")
    return "\n".join(lines)


def explain_recomputed(reason: str, inputs: Sequence[str]) -> str:
    """Why a query is computed again, and when."""
    when = f"when {', '.join(inputs)} changed" if inputs else "always"
    return f"{RECOMPUTED}: {reason}\n  a refresh computes the whole query {when}, and writes the rows that differ"
