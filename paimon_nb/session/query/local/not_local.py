"""Why the embedded engine does not answer a query."""

from __future__ import annotations


class NotLocal(Exception):
    """The query is left to Spark; the message says why."""
