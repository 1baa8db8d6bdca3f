"""A real Flink with Paimon that stays up and answers statement by statement."""

from __future__ import annotations

import json
import os
import select
import subprocess
from pathlib import Path
from typing import Any, Self

SOURCE = Path(__file__).with_name("FlinkSession.java")
LOGGING = "rootLogger.level = OFF\n"
UNVERIFIED = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""Flink loads 25,000 classes, and their verification takes a sixth of the CPU of a short session."""


class Refused(Exception):
    """Flink failed on a statement; the text has the causes."""


class FlinkSession:
    """Start with `with FlinkSession(oracle, folder) as flink`; `folder` is for its class files and log settings."""

    def __init__(self, oracle: Path, folder: Path, timeout_s: int = 180) -> None:
        self.oracle, self.folder, self.timeout_s = oracle, folder, timeout_s
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "log4j.properties").write_text(LOGGING)
        env = "; ".join([f". '{self.oracle / 'env.sh'}'", 'printf "%s\n%s" "$FLINK_CP" "$JAVA_COMMON"'])
        jars, flags = subprocess.run(["bash", "-c", env], capture_output=True, text=True, check=True).stdout.split("\n")
        if not (self.folder / "FlinkSession.class").exists():
            subprocess.run(["javac", "-nowarn", "-cp", jars, "-d", str(self.folder), str(SOURCE)], check=True, capture_output=True)  # fmt: skip
        logging = f"-Dlog4j.configurationFile={self.folder / 'log4j.properties'}"
        self.errors = (self.folder / "stderr.txt").open("ab")
        self.process = subprocess.Popen(
            ["java", *flags.split(), "-Xmx1536m", "-XX:TieredStopAtLevel=1", *UNVERIFIED, logging, "-cp", f"{self.folder}:{jars}", "FlinkSession"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
        )  # fmt: skip
        self._buffer = b""
        self._answer()

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.errors.close()
            self.process = None

    def ask(self, sql: str) -> list[Any]:
        """The rows, as JSON values.

        Raises:
            Refused: Flink failed.
            TimeoutError: no answer; the process has been started anew.
        """
        assert self.process is not None
        assert self.process.stdin is not None
        line = sql.replace("\\", "\\\\").replace("\n", "\\n")
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> list[Any]:
        assert self.process is not None
        assert self.process.stdout is not None
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], self.timeout_s)
            more = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                self.stop()
                self.start()
                raise TimeoutError("Flink did not answer")
            self._buffer += more
        line, self._buffer = self._buffer.split(b"\n", 1)
        answer = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        rows: list[Any] = answer["rows"]
        return rows
