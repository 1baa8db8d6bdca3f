"""pypaimon in a process of its own: its requirements clash with ours, so its interpreter is named by an environment variable."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.harness import Timed

INTERPRETER = "PAIMON_NB_PEER_PYTHON"
RUST = "pypaimon, Rust core"
CORES = {"pypaimon": False, RUST: True}
"""Contender name -> whether its Rust core does the work."""


class Peer:
    """A running pypaimon that answers one request a line and times itself. `None` from `start` when there is none."""

    def __init__(self, interpreter: str) -> None:
        self.interpreter = interpreter
        script = Path(__file__).with_name("peer_process.py")
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([interpreter, str(script)], stdin=pipe, stdout=pipe, text=True, bufsize=1)
        self.versions: dict[str, str] = self.ask("versions").answer

    @classmethod
    def start(cls) -> Peer | None:
        interpreter = os.environ.get(INTERPRETER)
        if not interpreter or not Path(interpreter).exists():
            print(f"pypaimon is left out: {INTERPRETER} names no Python that has it (see benchmarks/README.md)")
            return None
        return cls(interpreter)

    def ask(self, what: str, **arguments: Any) -> Timed:
        """One request. Raises RuntimeError with the peer's own words."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        reply = json.loads(line) if line else {"error": "the process ended"}
        if "error" in reply:
            raise RuntimeError(f"pypaimon, {what}: {reply['error']}")
        return Timed(reply["seconds"], reply["answer"], reply["cpu"])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)
