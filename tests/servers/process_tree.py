"""The JVM and the Python workers below a driver, for tests that kill them."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random


def workers(driver: int) -> list[int]:
    """All Python processes under the JVM of a driver: those that read in tasks and those that ask the sources."""
    return [pid for jvm in below(driver, "java") for pid in below(jvm, "python")]


def kill_workers(driver: int) -> None:
    for pid in workers(driver):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kill_one(driver: int, chance: random.Random) -> None:
    with suppress(ProcessLookupError, IndexError):  # it may have ended by itself
        os.kill(chance.choice(workers(driver)), signal.SIGKILL)


def below(pid: int, program: str) -> list[int]:
    """Processes of this name under another one."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True, check=True).stdout
    parents = {int(p): (int(parent), name) for p, parent, name in (line.split(None, 2) for line in listed.splitlines())}

    def is_below(one: int) -> bool:
        while one in parents and one != pid:
            one = parents[one][0]
        return one == pid

    return [p for p, (parent, name) in parents.items() if name.startswith(program) and p != pid and is_below(parent)]
