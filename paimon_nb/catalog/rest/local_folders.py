"""Local folders that a catalog server names: a server does not decide which files of this machine are read and written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from paimon_nb.base.errors import OutsideWarehouse
from paimon_nb.fs import external_roots
from paimon_nb.fs.local import without_scheme
from paimon_nb.options import catalog as opt

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_local_folder(what: object, path: str, server: str, options: Mapping[str, str]) -> None:
    """Raise OutsideWarehouse for a local folder of a table that only the server names, on whatever machine it runs.

    Args:
        what: the table, for the error.
        path: where the server says that the table is.
        server: the server's address.
        options: the user's options; `warehouse` and `data-file.external-paths` name folders.
    """
    if not _is_local(path):
        return
    named = [*external_roots(options), options.get(opt.WAREHOUSE.key, "")]
    real = os.path.realpath(without_scheme(path))
    roots = [os.path.realpath(without_scheme(r)) for r in named if r.startswith(("/", "file:"))]
    if not any(real == root or real.startswith(root.rstrip("/") + "/") for root in roots):
        raise OutsideWarehouse(
            f"{what}: the catalog server at {server} names the local folder {path}, which no option names",
            hint=f"allow it with the catalog option '{opt.DATA_FILE_EXTERNAL_PATHS.key}' if this machine has the table's files", path=path,
        )  # fmt: skip


def _is_local(path: str) -> bool:
    return path.startswith("/") or path.lower().startswith("file:")
