"""How rows that wait for their bucket (`bucket` = -2) are stored: as Java's compaction and streams want to find them.

Source: Paimon `postpone/PostponeBucketFileStoreWrite.java`.
"""

from __future__ import annotations

import uuid

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.avro_schema import avro_schema
from paimon_nb.options import table as opt
from paimon_nb.table.store import TableStore

_WRITER = 0
"""Java gives files of one number to one reader, which keeps their order; ours are to keep it among all."""


def as_postponed(store: TableStore) -> TableStore:
    """The table with the options that its postponed files are written by: Avro where it holds the columns, no statistics.

    A name tells the writer's number between `-s-` and `-`; without it Java refuses the file.
    """
    prefix = f"{store.options.get(opt.DATA_FILE_PREFIX)}-u-{uuid.uuid4()}-s-{_WRITER}-w-"
    options = {opt.DATA_FILE_PREFIX.key: prefix}
    try:
        avro_schema(store.schema.fields)
    except UnsupportedFormat:
        pass
    else:
        options |= {opt.FILE_FORMAT.key: "avro", opt.METADATA_STATS_MODE.key: "none"}
    return store.copy(options)
