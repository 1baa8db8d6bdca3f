"""A real Hive metastore on loopback, its names in a Derby of its own; with the tables that locks need.

Hive 2.3's is among the jars of PySpark, so it is always there; 4.0's comes by Maven (`python tests/servers/hive_server.py`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from requirements import JARS
from server_kit import NotHere, absent, free_port, maven_jars, running

from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.catalog.hive.client import HiveMetastoreClient
from paimon_nb.spark.runtime.java import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOCKS = Path(__file__).with_name("hive_locks.sql")
POM = Path(__file__).with_name("hive.xml")
NEWEST = JARS["hive-4"].removeprefix("hive-")
_JAVA = ("-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dderby.system.durability=test")
_NOT_THESE = re.compile(r"log4j-1\.2\.1\d|slf4j-(log4j12|reload4j)|reload4j")
"""Old loggers that Hadoop brings (two at once end the server)."""


def spark_jars() -> Path:
    """PySpark's own jars, those of Hive 2.3 among them."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "jars"


def class_path(version: str) -> str:
    """What a metastore of this version runs with. Raises NotHere."""
    folder = spark_jars() if version == "2.3" else maven_jars(POM, f"hive-{version}")
    jars = (j for j in sorted(folder.glob("*.jar")) if not _NOT_THESE.match(j.name))
    if version == "2.3":
        return ":".join(map(str, jars))
    # PySpark's Derby, which made the database: an older one cannot open it.
    kept = (j for j in jars if not j.name.startswith(("hadoop-client-api", "derby")))
    return ":".join(map(str, (*spark_jars().glob("derby*.jar"), *kept)))


def _database(folder: Path, java: Path) -> str:
    """Address of a new Derby with the tables of locks, which no metastore makes by itself."""
    address = f"jdbc:derby:;databaseName={folder}/names"
    script = folder / "names.sql"
    script.write_text(f"CONNECT '{address};create=true';\n{LOCKS.read_text()}")
    jars = ":".join(map(str, spark_jars().glob("derby*.jar")))
    command = [str(java), *_JAVA, f"-Dderby.stream.error.file={folder}/derby.log", "-cp", jars, "org.apache.derby.tools.ij", str(script)]  # fmt: skip
    told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert "\nERROR" not in told, told
    return address


@contextmanager
def hive_metastore(folder: Path, version: str = "2.3", more: Mapping[str, str] | None = None) -> Iterator[str]:
    """Address of an empty metastore; its database `default` lies in `folder`. `more`: settings of its own."""
    if find_spec("hive_metastore") is None:
        absent("pyiceberg's metastore client is not installed: pip install paimon-nb[test]")
    try:
        java, path = find_java().binary, class_path(version)
    except (EnvironmentError_, NotHere) as why:
        absent(str(why))
    settings = {
        "javax.jdo.option.ConnectionURL": _database(folder, java),
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": f"file:{folder}/default",
        "hive.async.log.enabled": "false",
        "datanucleus.connectionPoolingType": "HikariCP",  # PySpark has no BoneCP
        "hive.metastore.event.db.notification.api.auth": "false",
        "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
    }
    if version == "2.3":
        del settings["metastore.expression.proxy"]
    settings |= more or {}
    inside = "".join(f"<property><name>{k}</name><value>{v}</value></property>" for k, v in settings.items())
    (folder / "hive-site.xml").write_text(f"<configuration>{inside}</configuration>")
    port = free_port()
    command = [
        str(java), *_JAVA, f"-Dderby.stream.error.file={folder}/derby.log",
        f"-Djava.io.tmpdir={folder}", "-Dhive.log.level=WARN", "-Dhive.root.logger=console", "-cp", f"{folder}:{path}", "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port),
    ]  # fmt: skip
    address = f"thrift://127.0.0.1:{port}"
    metastore = HiveMetastoreClient.of({"hive.metastore.uris": address}, 1)
    with running(command, folder / "hive.log", lambda: metastore.query("get_all_databases"), cwd=folder):
        yield address


def emptied(address: str) -> str:
    """The metastore without a table, and without a database but `default`, whose directory is gone, too."""
    metastore = HiveMetastoreClient.of({"hive.metastore.uris": address}, 1)
    for table in metastore.query("get_all_tables", "default"):
        metastore.execute("drop_table", "default", table, True)
    shutil.rmtree(metastore.query("get_database", "default").locationUri.removeprefix("file:"), ignore_errors=True)
    for database in metastore.query("get_all_databases"):
        if database != "default":
            metastore.execute("drop_database", database, True, True)
    return address


if __name__ == "__main__":
    try:
        print(maven_jars(POM, JARS["hive-4"]))
    except NotHere as error:
        sys.exit(str(error))
