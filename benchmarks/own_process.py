"""Code in a process of its own, from its start: what a script or a notebook's first cell waits for."""

from __future__ import annotations

import os
import subprocess
import tempfile
from functools import cache


def run(interpreter: str, code: str, *arguments: str) -> str:
    """The last line that it prints. Raises RuntimeError with what it said when it fails."""
    done = subprocess.run([interpreter, "-c", code, *arguments], capture_output=True, text=True, env=_environment())
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.strip().splitlines()[-1]


@cache
def _environment() -> dict[str, str]:
    """Bytecode is kept from one start to the next, as an installed package has it, also where a checkout is told not to write any."""
    held = tempfile.TemporaryDirectory(prefix="paimon_nb-bytecode-")
    _held.append(held)
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": held.name}


_held: list[tempfile.TemporaryDirectory[str]] = []
"""Removed when this process ends."""
