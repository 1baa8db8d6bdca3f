"""All works, in the order of the page."""

from benchmarks.harness import Work
from benchmarks.works import (
    append,
    cold,
    commits,
    compaction,
    files,
    load_arrow,
    load_spark,
    lookup,
    questions,
    scan_spark,
    statements,
    to_arrow,
    upsert,
)

WORKS: list[Work] = [
    *load_spark.WORKS,
    *load_arrow.WORKS,
    *upsert.WORKS,
    *scan_spark.WORKS,
    *questions.WORKS,
    *append.WORKS,
    *to_arrow.WORKS,
    *lookup.WORKS,
    *compaction.WORKS,
    *commits.WORKS,
    *statements.WORKS,
    *files.WORKS,
    *cold.WORKS,
]
