"""Order among rows that have no key: what sort compaction and `clustering.columns` bring them into."""

from paimon_nb.table.cluster.external_sort import ExternalSort
from paimon_nb.table.cluster.rows import Order, OrderedRows, sorted_rows

__all__ = ["ExternalSort", "Order", "OrderedRows", "sorted_rows"]
