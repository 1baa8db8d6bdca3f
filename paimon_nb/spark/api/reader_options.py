# ruff: noqa: N802  the names are Spark's
"""Mixins for Spark's readers and writers that capture the source's name and the options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from paimon_nb.base.errors import TableNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql._typing import OptionalPrimitiveType

_PATH_OPTIONS = ("path", "catalog", "database", "table")


class _SparkBuilder(Protocol):
    """The methods of the Spark class after the mixin in the bases."""

    def format(self, source: str) -> object: ...
    def option(self, key: str, value: OptionalPrimitiveType) -> object: ...
    def partitionBy(self, *cols: Any) -> object: ...


class OptionsMixin:
    """Must precede Spark's reader or writer in the bases. The source "paimon" is not passed to Spark, which does not know it."""

    def __init__(self, *spark: Any) -> None:
        super().__init__(*spark)
        self._source = ""
        """The source in the user's spelling; empty if not set."""
        self._captured: dict[str, str] = {}

    def format(self, source: str) -> Self:
        """Set the source, such as "paimon"."""
        self._source = source
        if source.lower() != "paimon":
            cast("_SparkBuilder", super()).format(source)
        return self

    def option(self, key: str, value: OptionalPrimitiveType) -> Self:
        """Set an option of the reader or writer, or a dynamic table option."""
        self._captured[key] = str(value).lower() if isinstance(value, bool) else str(value)
        cast("_SparkBuilder", super()).option(key, value)
        return self

    def options(self, **options: OptionalPrimitiveType) -> Self:
        """Set several options."""
        for key, value in options.items():
            self.option(key, value)
        return self

    @property
    def _is_paimon(self) -> bool:
        return self._source.lower() == "paimon"

    @property
    def _is_foreign(self) -> bool:
        """Whether another source than Paimon is set."""
        return self._source.lower() not in ("", "paimon")


class WriterOptionsMixin(OptionsMixin):
    """The same for writers, with the partition columns."""

    def __init__(self, *spark: Any) -> None:
        super().__init__(*spark)
        self._partition_by: tuple[str, ...] = ()

    def partitionBy(self, *cols: Any) -> Self:
        """`partitionBy("a", "b")` or `partitionBy(["a", "b"])`."""
        self._partition_by = tuple(cols[0]) if len(cols) == 1 and isinstance(cols[0], list | tuple) else cols
        cast("_SparkBuilder", super()).partitionBy(*cols)
        return self

    def _apply_common_arguments(
        self,
        format: str | None,
        partition_by: str | Sequence[str] | None,
        options: Mapping[str, OptionalPrimitiveType],
    ) -> None:
        """Apply the arguments of `save`, `start` etc.; None: not set."""
        self.options(**options)
        if partition_by is not None:
            self.partitionBy(partition_by) if isinstance(partition_by, str) else self.partitionBy(*partition_by)
        if format is not None:
            self.format(format)


def table_name_or_path(path: object, captured: Mapping[str, str], verb: str) -> tuple[str, ...] | str:
    """The table's path, or its name from the options `catalog`, `database` and `table`. Raises TableNotFound."""
    location = path or captured.get("path")
    if location is not None:
        return str(location)
    names = tuple(captured[k] for k in ("catalog", "database", "table") if k in captured)
    if not names:
        raise TableNotFound("no table named", hint=f'.{verb}("path/to/table"), or the options database and table')
    return names


def without_path(captured: Mapping[str, str]) -> dict[str, str]:
    """The options that do not locate the table."""
    return {k: v for k, v in captured.items() if k not in _PATH_OPTIONS}
