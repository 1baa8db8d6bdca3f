"""The classes that Spark loads, kept as the JVM maps them (class data sharing, JEP 350): a session starts in half the time.

The JVM itself refuses an archive of another release or class path and starts without it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
from pathlib import Path

from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.spark.runtime.java import Java, find_java


def archive(java: Java) -> Path:
    """Where the archive for this Java and this installation of PySpark is, whether or not it has been made."""
    import pyspark

    try:
        release = (java.home / "release").read_text(errors="replace")
    except OSError:
        release = ""
    identity = (java.home, release, importlib.metadata.version("pyspark"), Path(pyspark.__file__).parent)
    name = hashlib.sha256("\n".join(map(str, identity)).encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paimon_nb" / "java"
    return cache / f"{name}.jsa"


def sharing_option() -> str:
    """The JVM's option that maps the archive; empty where none has been made."""
    path = archive(find_java())
    # Spark's launcher splits its Java options at blanks.
    return f"-XX:SharedArchiveFile={path}" if path.is_file() and " " not in str(path) else ""


def dump_option(target: Path) -> str:
    """The JVM's option that writes an archive of what it has loaded when it ends.

    Raises:
        EnvironmentError_: this Java cannot, or its launcher could not be told so.
    """
    if " " in str(target):
        raise EnvironmentError_(
            f"Spark's launcher takes no blanks in a Java option: {target}",
            hint="set XDG_CACHE_HOME to a folder without blanks in its name",
        )
    java = find_java()
    if not (java.home / "lib" / "server" / "classes.jsa").is_file():
        raise EnvironmentError_(
            f"the Java in {java.home} has no archive of its own classes to add Spark's to",
            hint=f"{java.binary} -Xshare:dump makes it, or install a Java from your system's packages",
        )
    return f"-XX:ArchiveClassesAtExit={target}"
