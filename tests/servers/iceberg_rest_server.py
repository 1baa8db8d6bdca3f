"""Iceberg's own REST catalog (Java 1.10.0), from the jar of its tests.

`python tests/servers/iceberg_rest_server.py` resolves its jars ahead (`make brokers`).
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from requirements import JARS
from server_kit import NotHere, java_server, maven_jars

if TYPE_CHECKING:
    from collections.abc import Iterator

POM = Path(__file__).with_name("iceberg_rest.xml")
SOURCE = Path(__file__).with_name("IcebergRestServer.java")


@contextmanager
def iceberg_rest_server(folder: Path) -> Iterator[str]:
    """Address of a server whose own files are in this folder."""
    with java_server(POM, JARS["iceberg-rest"], SOURCE, folder, str(folder)) as uri:
        yield uri


if __name__ == "__main__":
    try:
        print(maven_jars(POM, JARS["iceberg-rest"]))
    except NotHere as error:
        sys.exit(str(error))
