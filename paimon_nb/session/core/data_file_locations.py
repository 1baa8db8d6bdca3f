"""Places outside the warehouse, and servers, that statements of a session name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.named_servers import name_servers
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.catalog.api import Catalog


def allow_data_files(catalog: Catalog, options: Mapping[str, str]) -> list[str]:
    """Allow the places that a statement's own `data-file.external-paths` names, as CREATE CATALOG allows any warehouse, and the servers that its options name.

    The options of stored tables give no access: someone else may have written them.

    Args:
        catalog: the catalog of the statement's table.
        options: the options that are in the text of the statement.

    Returns:
        A note about the next session if a place is new.
    """
    name_servers(options)
    key = opt.DATA_FILE_EXTERNAL_PATHS.key
    new = catalog.allow_data_files(TableOptions(options).names(opt.DATA_FILE_EXTERNAL_PATHS)) if key in options else []
    if not new:
        return []
    return [f"this session reads and writes {', '.join(new)}; other sessions need the catalog option '{key}' for it"]
