# ruff: noqa: N802  the names are Spark's
"""A streaming source of Spark Connect, which brings this package to the processes that plan and read it.

A Connect server gives a session's artifacts to the tasks of a query, but not to those of a stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.datasource import DataSource


def source_with_package(name: str, source: type[DataSource]) -> type[DataSource]:
    """A data source that does what `source` does, also where this package cannot be imported.

    Its classes are pickled by value, as they are defined in functions. They use the standard library and PySpark until
    `unpickle` has made the package importable.
    """
    from pyspark import cloudpickle
    from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

    dumps: Callable[[object], bytes] = cloudpickle.dumps
    packed, columns, unpickle = dumps(source), source({}).schema(), unpickler_with_package()

    class Reader(DataSourceStreamReader):
        """Pickled for each task: it unpickles the package's reader at its first use in a process."""

        def __init__(self, reader: Any) -> None:
            self.reader = reader

        def __getstate__(self) -> bytes:
            return dumps(self.reader)

        def __setstate__(self, state: bytes) -> None:
            self.reader = unpickle(state)

        def initialOffset(self) -> Any:
            return self.reader.initialOffset()

        def latestOffset(self) -> Any:  # type: ignore[override]  # before release 4.3 Spark passes no arguments
            return self.reader.latestOffset()

        def partitions(self, start: Any, end: Any) -> Any:
            return [InputPartition(dumps(p)) for p in self.reader.partitions(start, end)]

        def read(self, partition: Any) -> Any:
            return self.reader.read(unpickle(partition.value))

        def commit(self, end: Any) -> None:
            self.reader.commit(end)

        def stop(self) -> None:
            self.reader.stop()

    class Source(DataSource):
        @classmethod
        def name(cls) -> str:
            return name

        def schema(self) -> Any:
            return columns

        def streamReader(self, schema: Any) -> Any:
            return Reader(unpickle(packed)(self.options).streamReader(schema))

    return Source


def unpickler_with_package() -> Callable[[bytes], Any]:
    """A function, pickled by value, that unpickles objects of this package wherever it runs."""
    from paimon_nb.spark.runtime.executor_package import package_zip

    archive = package_zip().read_bytes()

    def unpickle(packed: bytes) -> Any:
        import importlib.util
        import pickle
        import sys
        import tempfile
        from pathlib import Path

        if importlib.util.find_spec("paimon_nb") is None:
            path = Path(tempfile.mkdtemp(prefix="paimon_nb-")) / "paimon_nb.zip"
            path.write_bytes(archive)
            sys.path.append(str(path))
        return pickle.loads(packed)

    return unpickle
