"""Sends this package to the executors of a cluster."""

from __future__ import annotations

import tempfile
import threading
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from paimon_nb.spark.runtime.jvm_bridge import has_bridge, has_local_master

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_lock = threading.Lock()
_shipped: set[str] = set()
"""Ids of the applications and of the Spark Connect sessions that have the package."""


def ship_package(spark: SparkSession) -> None:
    """Add a zip of `paimon_nb` to the Python files of a session on a cluster or of Spark Connect, once per application.

    Tasks of a local session run in the Python of this process and need nothing. Executors still need the dependencies
    (pyarrow, numpy, fastavro, ...) in their Python.
    """
    if has_local_master(spark):
        return
    application = spark.sparkContext.applicationId if has_bridge(spark) else cast("Any", spark).session_id
    with _lock:
        if application not in _shipped:
            spark.addArtifact(str(package_zip()), pyfile=True)
            _shipped.add(application)


def package_zip() -> Path:
    """A new zip of the package without the notebook's part."""
    root = Path(__file__).parents[2]
    target = Path(tempfile.mkdtemp(prefix="paimon_nb-")) / "paimon_nb.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(root.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts and "notebook" not in file.parts:
                archive.write(file, file.relative_to(root.parent))
    return target
