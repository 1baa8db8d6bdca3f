"""Spark's processes: sessions, Java, Python workers, tasks, progress and cancellation. Knows no table."""
