"""Level 0: every option with its type, default, range and meaning. Touches no file."""

from paimon_nb.options.catalog import CATALOG_OPTIONS
from paimon_nb.options.check import validate_table_options
from paimon_nb.options.connector import CONNECTOR_OPTIONS
from paimon_nb.options.option import Option
from paimon_nb.options.table import TABLE_OPTIONS
from paimon_nb.options.table_options import TableOptions
from paimon_nb.options.values import parse_duration_ms, parse_memory

__all__ = [
    "CATALOG_OPTIONS", "CONNECTOR_OPTIONS", "TABLE_OPTIONS", "Option", "TableOptions", "parse_duration_ms", "parse_memory",
    "validate_table_options",
]  # fmt: skip
