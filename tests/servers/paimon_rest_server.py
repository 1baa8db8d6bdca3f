"""Paimon's own REST catalog server (Java 1.3.1), from the jar of its tests.

`python tests/servers/paimon_rest_server.py` resolves its jars ahead (`make brokers`).
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from requirements import JARS
from server_kit import NotHere, absent, maven_jars

from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.spark.runtime.java import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator

POM = Path(__file__).with_name("paimon_rest.xml")
SOURCE = Path(__file__).with_name("PaimonRestServer.java")
WAREHOUSE, TOKEN = "w", "a-token"


@contextmanager
def paimon_rest_server(folder: Path) -> Iterator[dict[str, str]]:
    """Catalog options of a server over this folder."""
    try:
        java, jars = find_java().binary, maven_jars(POM, JARS["paimon-rest"])
    except (EnvironmentError_, NotHere) as why:
        absent(str(why))
    folder.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(
            [str(java), "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", str(SOURCE),
             str(folder), WAREHOUSE, TOKEN],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            uri = process.stdout.readline().strip()
            if not uri:
                said = folder.with_suffix(".log").read_text()[-300:]
                absent(
                    f"Paimon's REST server did not start, perhaps without a Java compiler ({said}): make system-deps"
                )
            yield {
                "type": "paimon", "metastore": "rest", "uri": uri, "warehouse": WAREHOUSE, "token.provider": "bear",
                "token": TOKEN, "rest.client.read-timeout": "20 s",
            }  # fmt: skip
        finally:
            process.stdin.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


if __name__ == "__main__":
    try:
        print(maven_jars(POM, JARS["paimon-rest"]))
    except NotHere as error:
        sys.exit(str(error))
