"""`filesystem`: csv, json, parquet and orc files in a directory, read and written by Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.override import override
from paimon_nb.connectors.api import ConnectorTable, Sink, Source
from paimon_nb.options import parse_bool
from paimon_nb.spark.types import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FORMATS = ("csv", "json", "parquet", "orc")


class Files(Source):
    """Options: `path`, `format`; `csv.field-delimiter`, `csv.ignore-parse-errors`, `json.ignore-parse-errors` ...

    A stream reads new files as they appear. A file must be complete when it appears: write it elsewhere and rename it.
    """

    bounded = True

    def __init__(self, definition: ConnectorTable) -> None:
        self.path, self.format, self.settings = _path_and_format(definition)
        self.fields = definition.fields

    def batch(self, spark: SparkSession) -> DataFrame:
        reader = spark.read.format(self.format).schema(spark_schema(self.fields)).options(**self.settings)
        return reader.load(self.path)

    @override
    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        reader = spark.readStream.format(self.format).schema(spark_schema(self.fields)).options(**self.settings)
        return reader.load(self.path)


class FilesSink(Sink):
    """Writes each batch to new files. At least once: a batch that is repeated after a crash is written twice."""

    def __init__(self, definition: ConnectorTable) -> None:
        self.path, self.format, self.settings = _path_and_format(definition)
        self.settings.pop("mode", None)

    @override
    def store(self, batch: DataFrame, number: int | None = None) -> int:
        # Cached, because the rows are written and counted, and some sources can be read only once.
        batch = batch.drop("rowkind").persist()
        try:
            batch.write.format(self.format).options(**self.settings).mode("append").save(self.path)
            return int(batch.count())
        finally:
            batch.unpersist()


def _path_and_format(definition: ConnectorTable) -> tuple[str, str, dict[str, str]]:
    """Path, format and Spark's options of the format. Raises BadOptionValue, UnknownOption."""
    definition.check_options(
        "path", "format", "source.monitor-interval", "csv.field-delimiter", "csv.quote-character", "csv.escape-character",
        "csv.null-literal", "csv.allow-comments", "csv.ignore-parse-errors", "csv.array-element-delimiter",
        "json.ignore-parse-errors", "json.fail-on-missing-field", "json.timestamp-format.standard",
        patterns=["sink.", "partition."],
    )  # fmt: skip
    path, kind = definition.require("path"), definition.require("format")
    if kind not in _FORMATS:
        raise BadOptionValue(f"invalid format {kind!r}", hint=f"one of {', '.join(_FORMATS)}", option="format")
    settings = {}
    for flink, spark in (
        ("csv.field-delimiter", "sep"), ("csv.quote-character", "quote"), ("csv.escape-character", "escape"),
        ("csv.null-literal", "nullValue"),
    ):  # fmt: skip
        if kind == "csv" and flink in definition.options:
            settings[spark] = definition.options[flink].replace("\\t", "\t")
    if kind in ("csv", "json"):
        ignores = definition.convert_option(f"{kind}.ignore-parse-errors", False, parse_bool)
        settings["mode"] = "DROPMALFORMED" if ignores else "FAILFAST"
    return path, kind, settings
