"""first-row: the first version of a key is the result and never changes."""

from __future__ import annotations

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.data import VALUE_KIND
from paimon_nb.format.types.arrow_builders import to_numpy
from paimon_nb.table.merge.groups import Groups
from paimon_nb.table.merge.spec import MergeSpec


def first_row(groups: Groups, spec: MergeSpec) -> pa.Table:
    """Raises `UnsupportedOperation` for -U and -D."""
    kinds = to_numpy(groups.kv.column(VALUE_KIND))
    if bool(((kinds == 1) | (kinds == 3)).any()):
        raise UnsupportedOperation(
            "merge engine first-row does not accept -U or -D", hint="set 'ignore-delete' = 'true' to drop them"
        )
    return groups.take(groups.starts)
