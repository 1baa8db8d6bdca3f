"""A real HDFS on loopback: Hadoop's own mini cluster, one NameNode and one DataNode, on PySpark's Hadoop client.

`python tests/servers/hdfs_server.py` resolves its jars ahead (`make brokers`).
"""

from __future__ import annotations

import sys
import uuid
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hive_server import spark_jars
from requirements import JARS
from server_kit import NotHere, absent, free_port, maven_jars, running

from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.spark.runtime.java import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator

POM = Path(__file__).with_name("hdfs.xml")
_FROM_SPARK = ("hadoop-client-*", "slf4j-api*", "jcl-over-slf4j*", "log4j-*", "commons-cli*")


@contextmanager
def hdfs_server(folder: Path) -> Iterator[str]:
    """Address of an empty HDFS."""
    if find_spec("hdfs_native") is None:
        absent("hdfs-native is not installed: pip install paimon-nb[test]")
    try:
        java, brought = find_java().binary, maven_jars(POM, JARS["hdfs"])
    except (EnvironmentError_, NotHere) as why:
        absent(str(why))
    jars = [*brought.glob("*.jar"), *(j for pattern in _FROM_SPARK for j in spark_jars().glob(f"{pattern}.jar"))]
    port = free_port()
    address = f"hdfs://127.0.0.1:{port}"
    command = [
        str(java), "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", ":".join(map(str, jars)),
        "org.apache.hadoop.test.MiniDFSClusterManager", "-format", "-datanodes", "1", "-nnport", str(port),
    ]  # fmt: skip

    def ready() -> None:
        from paimon_nb.fs import open_fs

        # A DataNode is there when a file can be written.
        assert open_fs(address, {}).put_if_absent(f"{address}/ready-{uuid.uuid4().hex}", b"x")

    with running(command, folder / "hdfs.log", ready, cwd=folder):
        yield address


if __name__ == "__main__":
    try:
        print(maven_jars(POM, JARS["hdfs"]))
    except NotHere as error:
        sys.exit(str(error))
