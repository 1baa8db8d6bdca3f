"""Iceberg metadata of Paimon tables (`metadata.iceberg.storage`): Iceberg readers read the same data files."""

from paimon_nb.table.write.iceberg.layout import (
    REST_PREFIX,
    check_column_names,
    check_publishable,
    check_rest_uri,
    layout_of,
)
from paimon_nb.table.write.iceberg.publish import publish_iceberg

__all__ = ["REST_PREFIX", "check_column_names", "check_publishable", "check_rest_uri", "layout_of", "publish_iceberg"]
