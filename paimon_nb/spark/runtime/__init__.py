"""Spark's processes: sessions, Java, the JVM bridge, Python workers, exchange of Arrow data."""
