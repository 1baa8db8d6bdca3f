"""What servers that tests start have in common: a free port, a wait for the first answer, an end."""

from __future__ import annotations

import getpass
import os
import random
import shutil
import signal
import socket
import subprocess
import time
import uuid
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn, Self

import pytest
from process_tree import below
from requirements import cached_jars, program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

_START_S = 150


class NotHere(Exception):
    """Why a server cannot be started on this machine."""


def absent(what: str) -> NoReturn:
    """Skip, or fail where continuous integration says that everything must be there."""
    if os.environ.get("PAIMON_NB_CI") == "1":
        pytest.fail(what)
    pytest.skip(what)


def free_port() -> int:
    """A port of the loopback for a server that binds it later: of those that the system gives to nobody by itself."""
    while True:
        with socket.socket() as s, suppress(OSError):
            s.bind(("127.0.0.1", random.SystemRandom().randrange(20_000, 32_000)))
            return int(s.getsockname()[1])


def user_name() -> str:
    """Under whose name this process runs; a container may run it under a number without a name."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.geteuid())


def maven_jars(pom: Path, name: str) -> Path:
    """The folder with what a POM names, kept in the user's cache; resolved with Maven when it is not there. Raises NotHere."""
    cache = cached_jars(name)
    if cache.is_dir():
        return cache
    maven = program("maven", "mvn")
    if maven is None:
        raise NotHere("no Maven on the path: make system-deps")
    made = cache.with_name(f"{name}-{uuid.uuid4().hex[:8]}")
    done = subprocess.run(
        [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={made}"],
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    if done.returncode:
        shutil.rmtree(made, ignore_errors=True)
        said = " ".join((done.stdout + done.stderr).split())[-300:]
        raise NotHere(f"Maven could not resolve {pom.name} ({said}): make brokers")
    try:
        made.rename(cache)
    except OSError:  # another process was first
        shutil.rmtree(made, ignore_errors=True)
    return cache


@contextmanager
def java_server(pom: Path, name: str, source: Path, folder: Path, *arguments: str) -> Iterator[str]:
    """The address that a server of one source file prints, over this folder; it ends with its input."""
    from paimon_nb.base.errors import EnvironmentError_
    from paimon_nb.spark.runtime.java import find_java

    try:
        java, jars = find_java().binary, maven_jars(pom, name)
    except (EnvironmentError_, NotHere) as why:
        absent(str(why))
    folder.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(
            [str(java), "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", str(source), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            uri = process.stdout.readline().strip()
            if not uri:
                said = folder.with_suffix(".log").read_text()[-300:]
                absent(f"{source.name} did not start, perhaps without a Java compiler ({said}): make system-deps")
            yield uri
        finally:
            process.stdin.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def running(
    command: Sequence[str], log: Path, ready: Callable[[], Any], stop: int = signal.SIGTERM, **more: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """The server's process, from the moment when `ready` raises nothing; stopped at the end by the signal `stop`."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, **more)
        try:
            deadline = time.monotonic() + _START_S
            while True:
                try:
                    ready()
                    break
                except Exception as error:
                    if process.poll() is not None or time.monotonic() > deadline:
                        raise RuntimeError(f"{command[0]} did not start: {log.read_text()[-1500:]}") from error
                    time.sleep(0.05)
            yield process
        finally:
            process.send_signal(stop)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Restartable:
    """A server that tests stop and start again, on the same port and data. Subclasses say how."""

    command: Sequence[str]
    log: Path
    stop_signal: int = signal.SIGTERM
    more: Mapping[str, Any] = {}
    """For the process: under whose name it runs."""
    _run: AbstractContextManager[subprocess.Popen[bytes]] | None = None
    _process: subprocess.Popen[bytes] | None = None

    def ready(self) -> None:
        """Raises until the server answers."""
        raise NotImplementedError

    def start(self) -> Self:
        self._run = running(self.command, self.log, self.ready, self.stop_signal, **self.more)
        self._process = self._run.__enter__()
        return self

    def kill(self) -> None:
        """With signal 9, it and the processes below it."""
        assert self._process is not None
        for pid in [self._process.pid, *below(self._process.pid, "")]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.stop()

    def stop(self) -> None:
        if self._run is not None:
            self._run.__exit__(None, None, None)
            self._run = None


def started(module: str, make: Callable[[], Restartable]) -> Iterator[Any]:
    """A server for a fixture, stopped at the end; skips where it cannot be had. `module`: the client's, which must be there."""
    if find_spec(module) is None:
        absent(f"{module} is not installed: pip install paimon-nb[test]")
    try:
        server = make()
    except NotHere as why:
        absent(str(why))
    server.start()
    yield server
    getattr(server, "close", server.stop)()
