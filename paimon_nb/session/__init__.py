"""Level 6: a session carries statements out: names are resolved here, then metadata is changed or Spark is asked.

`run.run_statement` does it; it is not named here, for who only opens tables need not wait for all of SQL to load.
"""

from paimon_nb.session.core.result import Result
from paimon_nb.session.core.session import Session

__all__ = ["Result", "Session"]
