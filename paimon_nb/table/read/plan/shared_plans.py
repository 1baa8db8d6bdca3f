"""One plan of a scan for one statement: each engine that is tried for a query gets the plan of the first one, of the same snapshot."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan

_plans: ContextVar[dict[Hashable, ScanPlan] | None] = ContextVar("plans of the statement", default=None)


@contextmanager
def shared_plans() -> Iterator[None]:
    """Scans with equal keys are planned once inside the block, which must not write."""
    token = _plans.set({})
    try:
        yield
    finally:
        _plans.reset(token)


def plan_once(key: Hashable, make: Callable[[], ScanPlan]) -> ScanPlan:
    """The plan that `make` returns, or an earlier one of the block with an equal key."""
    plans = _plans.get()
    if plans is None:
        return make()
    if key not in plans:
        plans[key] = make()
    return plans[key]
