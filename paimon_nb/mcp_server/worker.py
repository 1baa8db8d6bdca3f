"""The process that runs the tools: reads calls from standard input, one a line, and writes one answer each to standard output."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.redact import redact_text
from paimon_nb.mcp_server.limits import Limits
from paimon_nb.mcp_server.tools import ReadOnlyTools, visible_text

if TYPE_CHECKING:
    from paimon_nb.workbench import Workbench

_TOOLS = frozenset({"list_tables", "describe_table", "answer_sample", "answer_query", "why", "health"})
_POLL_S = 0.1
_MAX_FILE = 1 << 30
"""Bytes of one file that the process writes, such as one of Spark's temporary files."""
_MAX_ERROR = 2_000
_OUT_OF_MEMORY = ("OutOfMemoryError", "GC overhead limit")


def main() -> int:
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library or Java prints must not come between the answers
    setup = json.loads(sys.stdin.readline())
    limits = Limits(**setup["limits"])
    _limit_files()
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    try:
        tools = _open(setup, limits)
    except Exception as error:  # the user sees no traceback of this process
        _write(out, {"error": _error_text(error)})
        return 1
    _write(out, {"ready": True})
    threading.Thread(target=_report_spark, args=(tools.workbench, out), daemon=True).start()
    for line in sys.stdin:
        call = json.loads(line)
        _write(out, _run(tools, call["tool"], call["arguments"]))
    return 0


def _open(setup: dict[str, Any], limits: Limits) -> ReadOnlyTools:
    import paimon_nb

    memory = max(1 << 30, limits.memory // 2) >> 20
    conf = {
        "spark.driver.memory": f"{memory}m",
        "spark.driver.maxResultSize": "256m",
        "spark.local.dir": setup["folder"],
    }
    workbench = paimon_nb.connect(setup["warehouse"], spark_conf=conf)
    if setup["config"]:
        workbench.configure(Path(setup["config"]))
    return ReadOnlyTools(workbench, tuple(Path(f).resolve() for f in setup["folders"]), limits)


def _run(tools: ReadOnlyTools, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The answer to a call, ready for JSON."""
    if tool not in _TOOLS:
        return {"error": f"no tool {tool!r}"}
    try:
        result = getattr(tools, tool)(**arguments)
    except Exception as error:
        return {
            "error": _error_text(error),
            "ends": any(w in str(error) for w in _OUT_OF_MEMORY) or isinstance(error, MemoryError),
        }
    if tool.startswith("answer_"):
        result = {"rows": result.rows, **({"note": result.note} if result.note else {})}
    return {"result": result}


def _error_text(error: Exception) -> str:
    """One or two sentences: no stack, no secret, no invisible character."""
    if isinstance(error, PaimonError):
        text = str(error)
    elif isinstance(error, MemoryError) or any(w in str(error) for w in _OUT_OF_MEMORY):
        text = "the call needed more memory than it may use; read fewer rows or shorter values"
    else:
        first = str(error).strip().split("\n", 1)[0]
        text = f"{type(error).__name__}: {first}"
    return visible_text(redact_text(text[:_MAX_ERROR]))


def _write(out: TextIO, message: dict[str, Any]) -> None:
    with _lock:
        out.write(json.dumps(message, allow_nan=False, default=str) + "\n")
        out.flush()


_lock = threading.Lock()


def _report_spark(workbench: Workbench, out: TextIO) -> None:
    """Report when Spark starts and when it has started: this time does not count."""
    from paimon_nb.spark.runtime.session import is_starting

    reported = False
    while not workbench.session.spark_started:
        if is_starting() and not reported:
            _write(out, {"spark": "starts"})
            reported = True
        time.sleep(_POLL_S)
    _write(out, {"spark": "started"})


def _limit_files() -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE, _MAX_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end_with_parent(parent: int) -> None:
    """End when the server has ended, also while a call runs."""
    from paimon_nb.mcp_server.process import end_session

    while os.getppid() == parent:
        time.sleep(1)
    end_session(os.getpid())


if __name__ == "__main__":
    sys.exit(main())
