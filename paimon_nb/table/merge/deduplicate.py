"""deduplicate: the last version of a key is the row; if it is a deletion, the key is gone."""

from __future__ import annotations

import pyarrow as pa

from paimon_nb.table.merge.groups import Groups
from paimon_nb.table.merge.spec import MergeSpec


def deduplicate(groups: Groups, spec: MergeSpec) -> pa.Table:
    """Kind and sequence number are the winner's own."""
    return groups.pick(groups.ends)
