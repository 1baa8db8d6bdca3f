"""Running Spark jobs: work in tasks, cancellation, progress, cleanup after failures."""
