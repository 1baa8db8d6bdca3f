"""Archive of the classes that Spark loads (class data sharing, JEP 350). A session starts in half the time with it.

The JVM ignores an archive of another release or class path.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
from pathlib import Path

from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.spark.runtime.java import Java, find_java


def class_archive_path(java: Java) -> Path:
    """The path of the archive for this Java and this PySpark, which may not exist yet."""
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
    """The JVM option that maps the archive; empty if there is none."""
    path = class_archive_path(find_java())
    # Spark's launcher splits Java options at spaces.
    return f"-XX:SharedArchiveFile={path}" if path.is_file() and " " not in str(path) else ""


def archive_classes_option(target: Path) -> str:
    """The JVM option that writes an archive of the loaded classes at exit.

    Raises:
        EnvironmentError_: this Java cannot write an archive, or the path contains a space.
    """
    if " " in str(target):
        raise EnvironmentError_(
            f"Spark's launcher does not allow spaces in a Java option: {target}",
            hint="set XDG_CACHE_HOME to a path without spaces",
        )
    java = find_java()
    if not (java.home / "lib" / "server" / "classes.jsa").is_file():
        raise EnvironmentError_(
            f"the Java in {java.home} has no archive of its own classes, which Spark's archive extends",
            hint=f"{java.binary} -Xshare:dump creates it, or install Java from your system's packages",
        )
    return f"-XX:ArchiveClassesAtExit={target}"
