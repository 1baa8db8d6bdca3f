"""Level 6: a session carries statements out: names are resolved here, then metadata is changed or Spark is asked."""

from paimon_nb.session.result import Result
from paimon_nb.session.run import run_statement
from paimon_nb.session.state import Session

__all__ = ["Result", "Session", "run_statement"]
