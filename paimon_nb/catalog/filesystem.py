"""The filesystem catalog: databases are `<name>.db` directories, tables are directories with a `schema/` inside.

Source: format reference, section 1. Same layout as Java's FileSystemCatalog.
"""

from __future__ import annotations

from collections.abc import Mapping

from paimon_nb.catalog.metastore import DirectoryRegister
from paimon_nb.catalog.warehouse import WarehouseCatalog
from paimon_nb.fs import FileIO, RootedFileIO, external_roots


class FilesystemCatalog(WarehouseCatalog):
    """Tables found by listing directories below `warehouse`.

    Args:
        name: as users write it. warehouse: root path or URI. options: the catalog's own. fs: where the files are.
    """

    def __init__(self, name: str, warehouse: str, options: Mapping[str, str], fs: FileIO) -> None:
        # The rooted view gives back normalised absolute paths, so every path below it is comparable.
        rooted = RootedFileIO(fs, warehouse, external_roots(options))
        super().__init__(name, options, rooted, DirectoryRegister(rooted, rooted.root))
