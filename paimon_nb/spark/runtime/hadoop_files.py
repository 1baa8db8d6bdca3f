"""Files as Spark finds them: paths, sizes and times of Hadoop's file systems."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SourceUnavailable, SqlAnalysisError, UnsupportedOperation
from paimon_nb.fs import FileStatus
from paimon_nb.spark.runtime.jvm_bridge import hadoop_configuration, has_bridge, jvm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession


def list_files(spark: SparkSession, path: str) -> list[FileStatus]:
    """The files in a directory, by name and without subdirectories; a file alone.

    Raises:
        SourceUnavailable: the path does not exist, or cannot be listed.
        UnsupportedOperation: a Spark Connect session.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import IllegalArgumentException

    if not has_bridge(spark):
        raise UnsupportedOperation(
            "COPY INTO needs a Spark session in this process", hint="with Spark Connect, use spark.read and INSERT INTO"
        )
    try:
        directory = jvm(spark).org.apache.hadoop.fs.Path(path)
        statuses = directory.getFileSystem(hadoop_configuration(spark)).listStatus(directory)
    except (Py4JJavaError, IllegalArgumentException) as error:
        missing = "java.io.FileNotFoundException" in str(error)
        why = f"{path!r} does not exist" if missing else f"{path!r} cannot be listed: {_message(error)}"
        raise SourceUnavailable(why, hint="the path is one that Spark can read", path=path) from None
    found = [
        FileStatus(s.getPath().toString(), s.getLen(), s.getModificationTime(), is_dir=False)
        for s in statuses
        if s.isFile()
    ]
    return sorted(found, key=lambda f: f.path)


def names_that_match(spark: SparkSession, pattern: str, paths: Iterable[str]) -> set[str]:
    """The paths in whose names a Java regular expression is found. Raises SqlAnalysisError: it is none."""
    from pyspark.errors import IllegalArgumentException

    try:
        compiled = jvm(spark).java.util.regex.Pattern.compile(pattern)
    except IllegalArgumentException as error:
        raise SqlAnalysisError(f"{pattern!r} is not a regular expression: {_message(error)}") from None
    return {path for path in paths if compiled.matcher(posixpath.basename(path)).find()}


def as_glob(path: str) -> str:
    """The glob that names one path only: Spark's reader takes every path for a glob."""
    return re.sub(r"[{}\[\]*?\\]", r"\\\g<0>", path)


def _message(error: Exception) -> str:
    """The first line of what a Java exception says."""
    java = getattr(error, "java_exception", None)
    return str(error if java is None else java.getMessage()).splitlines()[0]
