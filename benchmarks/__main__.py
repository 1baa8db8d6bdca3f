"""Runs the works, prints a line each, and keeps the results."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks import report
from benchmarks.harness import Result, measure
from benchmarks.stage import Stage
from benchmarks.works import WORKS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure paimon_nb beside its peers.")
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of the base (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=5, help="timed rounds after the warm-up (default %(default)s)")
    parser.add_argument("--only", default="", metavar="REGEX", help=f"works to run: {', '.join(w.slug for w in WORKS)}")
    parser.add_argument("--save", action=argparse.BooleanOptionalAction, help="write results/ (default: for full runs)")
    parser.add_argument("--dir", help="where to work (default: a temporary directory, removed at the end)")
    arguments = parser.parse_args()
    chosen = [w for w in WORKS if re.search(arguments.only, w.slug)]
    if not chosen:
        parser.error(f"no work matches {arguments.only!r}")
    directory = Path(tempfile.mkdtemp(prefix="paimon_nb-bench-", dir=arguments.dir))
    stage = Stage(directory, arguments.rows)
    about = report.machine(stage.peer.versions if stage.peer else None)
    save = arguments.save or (arguments.save is None and chosen == WORKS)
    results: list[Result] = []
    try:
        for work in chosen:
            results.append(measure(work, stage, arguments.repeat))
            print(report.line(results[-1]), flush=True)
            if save:
                report.write(results, about, arguments.rows, arguments.repeat)
    finally:
        stage.close()
        shutil.rmtree(directory, ignore_errors=True)
    if save:
        print(f"written: {report.RESULTS}/latest.md, latest.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
