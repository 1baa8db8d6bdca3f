"""Incremental queries: a target table follows its query by the changes of the inputs."""

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from paimon_nb.incremental.explain import OperatorPlan
    from paimon_nb.incremental.plan import IncrementalPlan, analyse
    from paimon_nb.incremental.positions import PROPERTY
    from paimon_nb.incremental.refreshing import RefreshResult, refresh
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "explain": "OperatorPlan",
            "plan": "IncrementalPlan analyse",
            "positions": "PROPERTY",
            "refreshing": "RefreshResult refresh",
        },
    )

__all__ = [
    "PROPERTY",
    "IncrementalPlan",
    "OperatorPlan",
    "RefreshResult",
    "analyse",
    "refresh",
]
