"""The merge engines by name."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from paimon_nb.base.registry import Registry
from paimon_nb.table.merge.aggregation import aggregation
from paimon_nb.table.merge.deduplicate import deduplicate
from paimon_nb.table.merge.first_row import first_row
from paimon_nb.table.merge.groups import Groups
from paimon_nb.table.merge.partial_update import partial_update
from paimon_nb.table.merge.spec import MergeSpec

MERGE_ENGINES: Registry[Callable[[Groups, MergeSpec], pa.Table]] = Registry(
    "merge engine",
    {
        "deduplicate": deduplicate,
        "partial-update": partial_update,
        "aggregation": aggregation,
        "first-row": first_row,
    },
)
