# ruff: noqa: N802, N803  the names are Spark's
"""What sessions, readers and writers of a classic Spark session and of Spark Connect have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

from paimon_nb.base.errors import TableNotFound, UnsupportedOperation
from paimon_nb.base.identifier import split_name
from paimon_nb.spark.api.base_session import ResolvingMethods, SparkClass, WriteRequest, bind_to_session
from paimon_nb.spark.api.reader_options import OptionsMixin, WriterOptionsMixin, table_name_or_path, without_path
from paimon_nb.spark.runtime.arrow_interop import without_empty_batches
from paimon_nb.spark.runtime.jvm_bridge import column_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql._typing import ColumnOrName, OptionalPrimitiveType
    from pyspark.sql.catalog import Catalog
    from pyspark.sql.types import StructType


class SessionMethods(ResolvingMethods):
    """`sql`, `table`, `read` and DataFrame writers that know Paimon tables."""

    def sql(self, sqlQuery: str, args: dict[str, Any] | list[Any] | None = None, **kwargs: Any) -> DataFrame:
        """Like `SparkSession.sql`, in both dialects and with Paimon tables."""
        if not kwargs or "{" not in sqlQuery:
            return bind_to_session(self._resolver.sql(sqlQuery, args, kwargs), self)
        return self._sql_of_template(sqlQuery, args, kwargs)

    def _sql_of_template(
        self, text: str, args: dict[str, Any] | list[Any] | None, named: Mapping[str, Any]
    ) -> DataFrame:
        """The result of SQL text with `{name}` in the place of DataFrames, columns and values."""
        from pyspark.sql.sql_formatter import SQLStringFormatter

        formatter = SQLStringFormatter(self._plain)
        try:
            return bind_to_session(self._resolver.sql(formatter.format(text, **named), args, {}), self)
        finally:
            formatter.clear()

    def table(self, tableName: str) -> DataFrame:
        """The rows of a Paimon table, else of a table in Spark."""
        frame = self._resolver.table(split_name(tableName), {})
        return bind_to_session(self._plain.table(tableName) if frame is None else frame, self)

    @property
    def catalog(self) -> Catalog:
        """Catalogs, databases and tables of Paimon and of Spark."""
        return self._resolver.names(self)

    def createDataFrame(self, data: Any, *args: Any, **kwargs: Any) -> DataFrame:
        """Like `SparkSession.createDataFrame`, which loses the rows after an empty chunk of an Arrow table."""
        if type(data).__module__.startswith("pyarrow"):
            data = without_empty_batches(data)
        return cast("DataFrame", super().createDataFrame(data, *args, **kwargs))


class ReaderMethods(OptionsMixin, SparkClass):  # type: ignore[misc]
    """`load` and `table` of a reader."""

    def __init__(self, session: SessionMethods) -> None:
        super().__init__(session)
        self._paimon = session

    def load(self, path: str | list[str] | None = None, format: str | None = None,
             schema: StructType | str | None = None, **options: OptionalPrimitiveType) -> DataFrame:  # fmt: skip
        """With format "paimon": the table at `path`, or the one in the options `database` and `table`."""
        if format is not None:
            self.format(format)
        self.options(**options)
        if not self._is_paimon:
            return cast("DataFrame", super().load(path, schema=schema))
        target, captured = table_name_or_path(path, self._captured, "load"), without_path(self._captured)
        if isinstance(target, tuple):
            return self._read_named_table(target, captured)
        return bind_to_session(self._paimon._resolver.path(target, captured), self._paimon)

    def table(self, tableName: str) -> DataFrame:
        if self._is_foreign:
            return cast("DataFrame", super().table(tableName))
        frame = self._paimon._resolver.table(split_name(tableName), self._captured)
        return super().table(tableName) if frame is None else bind_to_session(frame, self._paimon)

    def _read_named_table(self, parts: tuple[str, ...], captured: Mapping[str, str]) -> DataFrame:
        frame = self._paimon._resolver.table(parts, captured)
        if frame is None:
            raise TableNotFound(f"no table {'.'.join(parts)}", hint="SHOW TABLES lists the tables")
        return bind_to_session(frame, self._paimon)


class WriterMethods(WriterOptionsMixin, SparkClass):  # type: ignore[misc]
    """The methods of `df.write`. The arguments after the session are those of Spark's class."""

    def __init__(self, frame: DataFrame, session: SessionMethods, *spark: Any) -> None:
        super().__init__(*spark)
        self._frame, self._paimon = frame, session
        self._save_mode = "error"
        self._layout = ""
        """The called method that is not supported for Paimon tables: bucketBy, clusterBy or sortBy."""

    def mode(self, saveMode: str | None) -> Self:
        super().mode(saveMode)
        if saveMode:
            self._save_mode = {"errorifexists": "error", "default": "error"}.get(saveMode.lower(), saveMode.lower())
        return self

    def bucketBy(self, numBuckets: int, col: Any, *cols: Any) -> Self:
        self._layout = "bucketBy"
        super().bucketBy(numBuckets, col, *cols)
        return self

    def clusterBy(self, *cols: Any) -> Self:
        self._layout = "clusterBy"
        super().clusterBy(*cols)
        return self

    def sortBy(self, col: Any, *cols: Any) -> Self:
        self._layout = self._layout or "sortBy"
        super().sortBy(col, *cols)
        return self

    def save(self, path: str | None = None, format: str | None = None, mode: str | None = None,
             partitionBy: str | list[str] | None = None, **options: OptionalPrimitiveType) -> None:  # fmt: skip
        """With format "paimon": write to the table at `path`, or to the one in the options `database` and `table`."""
        self._apply_arguments(format, mode, partitionBy, options)
        if not self._is_paimon:
            super().save(path)
        else:
            self._write_to_table(table_name_or_path(path, self._captured, "save"), self._save_mode)

    def saveAsTable(self, name: str, format: str | None = None, mode: str | None = None,
                    partitionBy: str | list[str] | None = None, **options: OptionalPrimitiveType) -> None:  # fmt: skip
        """Write to a named table, which is created if missing. Columns are matched by name, as Spark does for existing tables."""
        self._apply_arguments(format, mode, partitionBy, options)
        if self._is_foreign:
            super().saveAsTable(name)
        else:
            self._write_to_table(split_name(name), self._save_mode, by_name=True)

    def insertInto(self, tableName: str, overwrite: bool | None = None) -> None:
        """Write to an existing table; columns are matched by position."""
        parts = split_name(tableName)
        if self._is_foreign or self._paimon._resolver.table(parts, {}) is None:
            super().insertInto(tableName, overwrite)
            return
        if self._partition_by:
            raise UnsupportedOperation(
                "insertInto() uses the table's own partitions", hint="remove partitionBy(), or use saveAsTable()"
            )
        replace = overwrite if overwrite is not None else self._save_mode == "overwrite"
        self._write_to_table(parts, "overwrite" if replace else "append", create=False)

    def _apply_arguments(self, format: str | None, mode: str | None, partition_by: str | Sequence[str] | None,
              options: Mapping[str, OptionalPrimitiveType]) -> None:  # fmt: skip
        self._apply_common_arguments(format, partition_by, options)
        if mode is not None:
            self.mode(mode)

    def _write_to_table(
        self, target: tuple[str, ...] | str, mode: str, *, create: bool = True, by_name: bool = False
    ) -> None:
        if self._layout:
            raise UnsupportedOperation(
                f"{self._layout} is for Spark's own tables; the buckets and the order of a Paimon table are options",
                hint='use .option("bucket", "4").option("bucket-key", "id"), or the option clustering.columns',
            )
        request = WriteRequest(target, mode, self._captured, self._partition_by, create, by_name)
        self._paimon._resolver.write(self._frame, request)


class WriterV2Methods(OptionsMixin, SparkClass):  # type: ignore[misc]
    """The methods of `df.writeTo`. The arguments after the session are those of Spark's class."""

    def __init__(self, frame: DataFrame, table: str, session: SessionMethods, *spark: Any) -> None:
        super().__init__(*spark)
        self._frame, self._paimon, self._parts = frame, session, split_name(table)
        self._partition_by: tuple[str, ...] = ()

    def using(self, provider: str) -> Self:
        self._source = provider
        if provider.lower() != "paimon":
            super().using(provider)
        return self

    def tableProperty(self, property: str, value: str) -> Self:
        self._captured[property] = value
        super().tableProperty(property, value)
        return self

    def partitionedBy(self, col: ColumnOrName, *cols: ColumnOrName) -> Self:
        names = [c if isinstance(c, str) else column_text(c) for c in (col, *cols)]
        self._partition_by = tuple(names)
        super().partitionedBy(col, *cols)
        return self

    def create(self) -> None:
        super().create() if self._is_foreign else self._write_to_table("error")

    def replace(self) -> None:
        super().replace() if self._is_foreign else self._write_to_table("replace", create=False)

    def createOrReplace(self) -> None:
        super().createOrReplace() if self._is_foreign else self._write_to_table("replace")

    def append(self) -> None:
        super().append() if self._is_foreign else self._write_to_table("append", create=False)

    def overwrite(self, condition: ColumnOrName) -> None:
        """Overwrite the partition in the condition. Raises UnsupportedOperation: not a condition on partition columns."""
        if self._is_foreign:
            super().overwrite(condition)
        else:
            self._write_to_table("overwrite", create=False, where=condition)

    def overwritePartitions(self) -> None:
        super().overwritePartitions() if self._is_foreign else self._write_to_table("partitions", create=False)

    def _write_to_table(self, mode: str, *, create: bool = True, where: ColumnOrName | None = None) -> None:
        request = WriteRequest(self._parts, mode, self._captured, self._partition_by, create, by_name=True, where=where)
        self._paimon._resolver.write(self._frame, request)
