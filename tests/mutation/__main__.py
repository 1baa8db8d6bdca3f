"""Which small changes of the code does no test notice?

    python tests/mutation lines                  # run the unit tests once, note which lines each of them runs
    python tests/mutation run --seed 7 --count 400

A change is first tried with the tests of its own package that run its line, then with the others, the quickest first, within a
limit of time. What is printed: how many were noticed by their own package's tests, by others, by none, and each that was not.
A second call with the same seed goes on where the first one stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import coverage
from draw import Mutant, drawn

if TYPE_CHECKING:
    from collections.abc import Iterator

REPO = Path(__file__).parents[2]
FOLDER = REPO / ".mutants"
SECONDS_OF_TESTS = 20.0
"""Tests that took longer together are not tried for one change."""
TESTS_AT_ONCE = 120
UNIT = {**os.environ, "PAIMON_NB_WITHOUT": "all", "PYTHONDONTWRITEBYTECODE": "1"}


def note_lines(workers: int) -> None:
    """Run the unit tests and note the lines of each, in `.mutants`."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    own = str(Path(__file__).parent)
    env = {**UNIT, "PAIMON_NB_LINES_OF_TESTS": str(FOLDER), "PYTHONPATH": os.pathsep.join([str(REPO), own])}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "unit and not nightly",
        "-p",
        "lines_of_tests",
        "-p",
        "no:cacheprovider",
    ]
    command += [
        "-n",
        str(workers),
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
        "--ignore=tests/tidy",
        "--ignore=tests/faults",
    ]
    subprocess.run(command, cwd=REPO, env=env, check=False)
    combined = coverage.Coverage(data_file=str(FOLDER / "lines"))
    combined.combine([str(path) for path in FOLDER.glob("lines.*")])
    combined.save()


@dataclass(frozen=True)
class TestsOfLines:
    """Which tests run a line, from the last `lines`."""

    data: coverage.CoverageData
    seconds: dict[str, float]

    @classmethod
    def read(cls) -> TestsOfLines:
        data = coverage.CoverageData(basename=str(FOLDER / "lines"))
        data.read()
        seconds: dict[str, float] = {}
        for path in FOLDER.glob("seconds.*.json"):
            seconds.update(json.loads(path.read_text()))
        return cls(data, seconds)

    def of(self, mutant: Mutant) -> list[str]:
        """Ids of the tests that run its lines, the quickest first."""
        by_line = self.data.contexts_by_lineno(str(REPO / mutant.file))
        first, last = mutant.lines
        lines = by_line if last == 0 else [line for line in by_line if first <= line <= last]
        names = {name for line in lines for name in by_line[line] if name}
        return sorted(names, key=lambda name: (self.seconds.get(name, 0), name))


def tried(mutant: Mutant, tests: list[str], copy: Path, seconds: TestsOfLines) -> str:
    """'own', 'others': whose tests notice it. 'none': they run its line and do not. 'unseen': no test runs it."""
    if not tests:
        return "unseen"
    folders = (f"tests/{mutant.package}/", f"tests/test_{mutant.package}.py")
    own = [name for name in tests if name.startswith(folders)]
    for owner, names in (("own", own), ("others", [name for name in tests if name not in set(own)])):
        chosen = list(_within_limit(names, seconds))
        if chosen and _fails(chosen, copy, 30 + 4 * sum(seconds.seconds.get(name, 0) for name in chosen)):
            return owner
    return "none"


def _within_limit(names: list[str], seconds: TestsOfLines) -> Iterator[str]:
    spent = 0.0
    for name in names[:TESTS_AT_ONCE]:
        spent += seconds.seconds.get(name, 0)
        if spent > SECONDS_OF_TESTS:
            return
        yield name


def _fails(names: list[str], copy: Path, limit: float) -> bool:
    """Also where they do not end: a loop without an end is noticed by whoever waits for it."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *names]
    env = {**UNIT, "PYTHONPATH": str(copy)}
    try:
        done = subprocess.run(command, cwd=copy, env=env, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def run(seed: int, count: int, workers: int) -> None:
    """Try the changes of a seed in copies of the repository, and print what was noticed."""
    tests = TestsOfLines.read()
    results = FOLDER / f"seed-{seed}.jsonl"
    known = dict(json.loads(line) for line in results.read_text().splitlines()) if results.exists() else {}
    mutants = drawn(REPO, seed, count)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool, results.open("a") as file:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(workers):
            copies.put(_copy_of_the_repository(Path(folder) / str(number)))

        def attempt(mutant: Mutant, names: list[str]) -> None:
            copy = copies.get()
            changed = copy / mutant.file
            source = changed.read_text()
            try:
                changed.write_text(mutant.applied(source))
                known[name_of(mutant)] = tried(mutant, names, copy, tests)
                file.write(json.dumps([name_of(mutant), known[name_of(mutant)]]) + "\n")
                file.flush()
            finally:
                changed.write_text(source)
                copies.put(copy)

        left = [(mutant, tests.of(mutant)) for mutant in mutants if name_of(mutant) not in known]
        list(pool.map(lambda one: attempt(*one), left))
    _print(mutants, known)


def name_of(mutant: Mutant) -> str:
    source = (REPO / mutant.file).read_text().encode()
    return f"{mutant.file}:{mutant.line} {mutant.kind}: {source[mutant.start : mutant.end].decode()!r} -> {mutant.text!r} at {mutant.start}"


def _copy_of_the_repository(copy: Path) -> Path:
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPO, capture_output=True, check=True, text=True
    ).stdout.split("\0")
    for name in files:
        if name and (REPO / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPO / name, copy / name)
    return copy


def _print(mutants: list[Mutant], known: dict[str, str]) -> None:
    for mutant in sorted(mutants, key=lambda m: (m.file, m.line)):
        if known[name_of(mutant)] in ("none", "unseen"):
            print(f"{known[name_of(mutant)]:6}  {name_of(mutant)}")
    counts = Counter(known[name_of(mutant)] for mutant in mutants)
    print(f"{len(mutants)} changes: noticed by their package's tests {counts['own']}, by others {counts['others']}; "
          f"not noticed {counts['none']}, run by no unit test {counts['unseen']}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python tests/mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 2)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lines", help="note which lines each unit test runs")
    running = commands.add_parser("run", help="try changes")
    running.add_argument("--seed", type=int, required=True)
    running.add_argument("--count", type=int, default=400)
    args = parser.parse_args()
    if args.command == "lines":
        note_lines(args.workers)
    else:
        run(args.seed, args.count, args.workers)


if __name__ == "__main__":
    main()
