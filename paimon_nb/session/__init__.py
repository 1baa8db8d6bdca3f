"""Level 6: a session resolves names and runs statements: metadata changes itself, queries with Spark.

`executor.run_statement` runs a statement. It is not imported here, so that opening a table does not load all of SQL.
"""

from paimon_nb.session.core.result import Result
from paimon_nb.session.core.session import Session

__all__ = ["Result", "Session"]
