"""`paimon-nb mcp`: a server for assistants that speak the Model Context Protocol. Every tool only reads.

`tools.py` are the tools, plain functions over a workbench. `statements.py` decides what a statement may do. `process.py` runs the tools in a process
of their own, which is ended when it reaches a limit (`limits.py`). `server.py` serves them over standard input and output with the official `mcp`
package (an extra).
"""

from paimon_nb.mcp_server.limits import Limits
from paimon_nb.mcp_server.process import ToolProcess
from paimon_nb.mcp_server.server import create_server
from paimon_nb.mcp_server.tools import ReadOnlyTools

__all__ = ["Limits", "ReadOnlyTools", "ToolProcess", "create_server"]
