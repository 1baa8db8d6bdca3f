"""deduplicate: the last version of a key is the result; if it is a deletion, the key is deleted."""

from __future__ import annotations

import pyarrow as pa

from paimon_nb.table.merge.groups import Groups
from paimon_nb.table.merge.spec import MergeSpec


def deduplicate(groups: Groups, spec: MergeSpec) -> pa.Table:
    """Kind and sequence number are those of the last version."""
    return groups.take(groups.ends)
