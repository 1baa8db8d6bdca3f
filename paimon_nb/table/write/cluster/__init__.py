"""Order of rows without primary key: used by sort compaction and `clustering.columns`."""

from paimon_nb.table.write.cluster.external_sort import ExternalSort
from paimon_nb.table.write.cluster.rows import Order, OrderedRows, sorted_rows

__all__ = ["ExternalSort", "Order", "OrderedRows", "sorted_rows"]
