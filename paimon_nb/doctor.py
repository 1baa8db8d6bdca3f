"""Environment checks: each problem comes with a one-line fix."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `fix` is None if it passed."""

    what: str
    found: str
    fix: str | None = None


def _installed_version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(p) for p in version.split(".")[:3] if p.isdecimal())


def _check_python() -> Check:
    text = ".".join(map(str, sys.version_info[:3]))
    return Check("Python", text, None if sys.version_info >= (3, 11) else "install Python 3.11 or newer")


def _check_java() -> Check:
    from paimon_nb.base.errors import PaimonError
    from paimon_nb.spark.runtime.java import find_java

    try:
        java = find_java()
    except PaimonError as error:
        return Check("Java", "not found", error.hint or error.message)
    return Check("Java", f"{java.major} in {java.home}")


def _check_package(name: str, minimum: tuple[int, ...], below: tuple[int, ...] | None = None) -> Check:
    version = _installed_version(name)
    span = f">={'.'.join(map(str, minimum))}" + (f",<{'.'.join(map(str, below))}" if below else "")
    fix = f"pip install '{name}{span}'"
    if version is None:
        return Check(name, "not installed", fix)
    numbers = _version_numbers(version)
    good = numbers >= minimum and (below is None or numbers < below)
    return Check(name, version, None if good else fix)


def _check_writable(path: str) -> Check:
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        return Check("warehouse", f"{path}: {error.strerror}", f"chmod u+w {path}, or use another warehouse")
    return Check("warehouse", f"{path} is writable")


def _check_hard_links(path: str) -> Check:
    """Atomic commits need link(2), so that only one of two concurrent writers succeeds."""
    try:
        with tempfile.TemporaryDirectory(dir=path) as folder:
            first = Path(folder, "a")
            first.touch()
            Path(folder, "b").hardlink_to(first)
    except OSError as error:
        return Check(
            "safe commits",
            f"hard links are not supported ({error.strerror})",
            "put the warehouse on a local or POSIX file system",
        )
    return Check("safe commits", "hard links work")


def _skip_remote(warehouse: str) -> Callable[[], Check]:
    return lambda: Check("warehouse", f"{redact_text(warehouse)}: not a local folder, write access not checked")


def run_checks(warehouse: str) -> list[Check]:
    """All checks, in order. `warehouse`: a path or URI; only a local folder can be checked for write access."""
    warehouse = warehouse.removeprefix("file://").removeprefix("file:")
    remote = "://" in warehouse or warehouse.startswith("memory:")
    folder = Path(warehouse)
    made = not remote and not folder.is_dir()
    list_: list[Callable[[], Check]] = [
        _check_python,
        _check_java,
        lambda: _check_package("pyspark", (4, 0), (4, 4)),
        lambda: _check_package("pyarrow", (25,)),
        lambda: _check_package("pandas", (2, 2), (3,)),
        lambda: _check_package("jupyterlab", (4, 4)),
        lambda: _check_package("anywidget", (0, 9)),
        *(
            [_skip_remote(warehouse)]
            if remote
            else [lambda: _check_writable(warehouse), lambda: _check_hard_links(warehouse)]
        ),
    ]
    found = [check() for check in list_]
    if made and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the checks; returns 1 if any failed."""
    parser = argparse.ArgumentParser(prog="paimon-nb doctor")
    parser.add_argument("warehouse", nargs="?", default="warehouse", help="warehouse folder to check")
    found = run_checks(parser.parse_args(arguments).warehouse)
    width = max(len(c.what) for c in found)
    for c in found:
        print(f"{'ok ' if c.fix is None else '-> '} {c.what:<{width}}  {c.found}")
        if c.fix:
            print(f"    {'':<{width}}  {c.fix}")
    return int(any(c.fix for c in found))
