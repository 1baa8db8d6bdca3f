"""All works, in the order of the page."""

from benchmarks.harness import Work
from benchmarks.works import load_arrow, load_spark

WORKS: list[Work] = [*load_spark.WORKS, *load_arrow.WORKS]
