"""Views in a Hive metastore: entries of the type VIRTUAL_VIEW. Source: Paimon 1.3 `HiveCatalog.java` (createView, getView)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.catalog.api import StoredView
from paimon_nb.catalog.hive.client import user
from paimon_nb.catalog.hive.hms_table import VIEW, hive_column
from paimon_nb.catalog.hive.types import from_hive
from paimon_nb.format.types import DataField

if TYPE_CHECKING:
    from paimon_nb.base.identifier import Identifier

_INPUT_FORMAT = "org.apache.hadoop.mapred.SequenceFileInputFormat"
_OUTPUT_FORMAT = "org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat"
_SERDE = "org.apache.hadoop.hive.serde2.MetadataTypedColumnsetSerDe"
_COMMENT = "comment"


def is_view(entry: Any) -> bool:
    """Whether an entry is a view, of Paimon or of Hive."""
    return bool(entry.tableType == VIEW)


def view_entry(name: Identifier, view: StoredView) -> Any:
    """The entry of a new view."""
    from hive_metastore import ttypes

    comment = {} if view.comment is None else {_COMMENT: view.comment}
    serde = ttypes.SerDeInfo(serializationLib=_SERDE, parameters={"serialization.format": "1"})
    storage = ttypes.StorageDescriptor(
        cols=[hive_column(f) for f in view.fields], inputFormat=_INPUT_FORMAT, outputFormat=_OUTPUT_FORMAT, numBuckets=-1,
        serdeInfo=serde, bucketCols=[], sortCols=[], parameters={}, compressed=False, storedAsSubDirectories=False,
    )  # fmt: skip
    return ttypes.Table(
        tableName=name.table.lower(), dbName=name.database.lower(), owner=user(), createTime=clock.now_ms() // 1000,
        lastAccessTime=0, retention=0, sd=storage, partitionKeys=[], parameters={**view.options, **comment},
        viewOriginalText=view.query, viewExpandedText=view.query, tableType=VIEW,
    )  # fmt: skip


def stored_view_of_entry(entry: Any) -> StoredView:
    """The view of an entry. Raises UnsupportedFormat: a column has a type of Hive only."""
    options = dict(entry.parameters or {})
    comment = options.pop(_COMMENT, None)
    fields = [DataField(n, c.name, from_hive(c.type), c.comment) for n, c in enumerate(entry.sd.cols)]
    return StoredView(entry.viewExpandedText or entry.viewOriginalText, tuple(fields), comment, options)
