"""Level 0: every option with its type, default, range and meaning. Touches no file."""

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_imports import lazy_getattr
from paimon_nb.options.option import Option, parse_bool, parse_duration_ms, parse_memory, parse_names, without_prefix
from paimon_nb.options.table import TABLE_OPTIONS
from paimon_nb.options.table_options import TableOptions

if TYPE_CHECKING:
    from paimon_nb.options.catalog import CATALOG_OPTIONS
    from paimon_nb.options.connector import CONNECTOR_OPTIONS
    from paimon_nb.options.prefix_options import PATTERNS
    from paimon_nb.options.read import READ_OPTIONS
    from paimon_nb.options.validation import find_option, option_warnings, validate_table_options
    from paimon_nb.options.write import WRITE_OPTIONS
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "catalog": "CATALOG_OPTIONS",
            "connector": "CONNECTOR_OPTIONS",
            "prefix_options": "PATTERNS",
            "read": "READ_OPTIONS",
            "validation": "find_option option_warnings validate_table_options",
            "write": "WRITE_OPTIONS",
        },
    )

__all__ = [
    "CATALOG_OPTIONS", "CONNECTOR_OPTIONS", "PATTERNS", "READ_OPTIONS", "TABLE_OPTIONS", "WRITE_OPTIONS", "Option",
    "TableOptions", "find_option", "option_warnings", "parse_bool", "parse_duration_ms", "parse_memory", "parse_names", "validate_table_options", "without_prefix",
]  # fmt: skip
