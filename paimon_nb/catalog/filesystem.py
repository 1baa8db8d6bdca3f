"""The filesystem catalog: databases are `<name>.db` directories, tables are directories with a `schema/` directory.

Source: docs/spec/format.md section 1. Same layout as Java's FileSystemCatalog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.catalog.metastore import DirectoryMetastore
from paimon_nb.catalog.warehouse import WarehouseCatalog
from paimon_nb.fs import FileIO, RootedFileIO, external_roots

if TYPE_CHECKING:
    from collections.abc import Mapping


class FilesystemCatalog(WarehouseCatalog):
    """Tables found by listing directories below `warehouse`.

    Args:
        name: the catalog's name in SQL.
        warehouse: root path or URI.
        options: catalog options.
        fs: the file system of the warehouse.
    """

    def __init__(self, name: str, warehouse: str, options: Mapping[str, str], fs: FileIO) -> None:
        # RootedFileIO returns normalised absolute paths, which can be compared.
        rooted = RootedFileIO(fs, warehouse, external_roots(options))
        super().__init__(name, options, rooted, DirectoryMetastore(rooted, rooted.root))
