"""Spark jobs of this package: pieces of work as tasks, cancellation, progress, cleanup after failures."""
