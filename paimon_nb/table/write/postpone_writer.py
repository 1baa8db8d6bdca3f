"""File layout of postponed rows (`bucket` = -2), as Java's compaction and streaming reads expect it.

Source: Paimon `postpone/PostponeBucketFileStoreWrite.java`.
"""

from __future__ import annotations

import uuid

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.avro_schema import avro_schema
from paimon_nb.options import table as opt
from paimon_nb.table.store import TableStore

_WRITER = 0
"""Java assigns all files of one writer number to one reader, which keeps their order; we use one number to keep the order
of all files.
"""


def as_postponed(store: TableStore) -> TableStore:
    """The table with the options of its postponed files: Avro if it supports the columns, no statistics.

    The file name contains the writer's number between `-s-` and `-`; Java refuses a file without it.
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
