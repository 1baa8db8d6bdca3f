"""Paimon's own REST catalog server (Java 1.3.1), from the jar of its tests.

`python tests/servers/paimon_rest_server.py` resolves its jars ahead (`make brokers`).
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

POM = Path(__file__).with_name("paimon_rest.xml")
SOURCE = Path(__file__).with_name("PaimonRestServer.java")
WAREHOUSE, TOKEN = "w", "a-token"


@contextmanager
def paimon_rest_server(folder: Path) -> Iterator[dict[str, str]]:
    """Catalog options of a server over this folder."""
    with java_server(POM, JARS["paimon-rest"], SOURCE, folder, str(folder), WAREHOUSE, TOKEN) as uri:
        yield {
            "type": "paimon", "metastore": "rest", "uri": uri, "warehouse": WAREHOUSE, "token.provider": "bear",
            "token": TOKEN, "rest.client.read-timeout": "20 s", "data-file.external-paths": str(folder),
        }  # fmt: skip


if __name__ == "__main__":
    try:
        print(maven_jars(POM, JARS["paimon-rest"]))
    except NotHere as error:
        sys.exit(str(error))
