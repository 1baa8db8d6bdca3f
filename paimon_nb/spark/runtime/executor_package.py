"""Brings this package to the executors of a cluster. Local sessions need none of it."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def ship_package(spark: SparkSession) -> Path:
    """Zip `paimon_nb` and add it to the session as a Python file. Executors still need its dependencies (pyarrow, ...)."""
    root = Path(__file__).parents[2]
    target = Path(tempfile.mkdtemp(prefix="paimon_nb-")) / "paimon_nb.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(root.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts and "notebook" not in file.parts:
                archive.write(file, file.relative_to(root.parent))
    spark.addArtifact(str(target), pyfile=True)
    return target
