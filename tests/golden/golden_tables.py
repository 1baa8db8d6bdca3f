"""Tables that other writers made, unpacked for a test."""

from __future__ import annotations

import tarfile
from pathlib import Path

import paimon_nb

GOLDEN = Path(__file__).parent


def unpacked(directory: Path, writer: str, *names: str) -> Path:
    """A warehouse in `directory` with tables of `tests/golden/<writer>` in its database `default`."""
    warehouse = directory / "w"
    (warehouse / "default.db").mkdir(parents=True, exist_ok=True)
    for name in names:
        unpack(GOLDEN / writer / f"{name}.tar.xz", warehouse / "default.db")
    return warehouse


def unpack(archive: Path, directory: Path) -> None:
    """Python 3.11 has filters from 3.11.4 on; Debian 12 has 3.11.2."""
    with tarfile.open(archive) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)
        opened.extractall(directory)


def golden_table(directory: Path, writer: str, name: str) -> paimon_nb.Table:
    return paimon_nb.connect(str(unpacked(directory, writer, name))).table(name)
