"""Runs the works, prints a line each, and keeps the results."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks import bounded, grown, growth, report, streamed
from benchmarks.harness import Result, measure
from benchmarks.stage import Stage
from benchmarks.works import WORKS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure paimon_nb beside its peers.")
    parser.add_argument("--rows", type=int, default=report.ROWS, help="rows of the base (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=5, help="timed rounds after the warm-up (default %(default)s)")
    parser.add_argument("--only", default="", metavar="REGEX", help=f"works to run: {', '.join(w.slug for w in WORKS)}")
    parser.add_argument(
        "--parts",
        default="works,growth,memory,streams",
        help="what to run, of works, growth, memory, streams and soak (default: %(default)s)",
    )
    parser.add_argument("--minutes", type=float, default=15, help="length of the soak (default %(default)s)")
    parser.add_argument("--most", type=int, help="cut the growth curves at this size")
    parser.add_argument("--save", action=argparse.BooleanOptionalAction, help="write results/ (default: for full runs)")
    parser.add_argument("--dir", help="where to work (default: a temporary directory, removed at the end)")
    arguments = parser.parse_args()
    chosen = [w for w in WORKS if re.search(arguments.only, w.slug)]
    if not chosen:
        parser.error(f"no work matches {arguments.only!r}")
    if arguments.dir:
        Path(arguments.dir).mkdir(parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix="paimon_nb-bench-", dir=arguments.dir))
    parts = {"works"} if arguments.only else set(arguments.parts.split(","))
    save = arguments.save or (arguments.save is None and not arguments.only)
    results: list[Result] = []
    if parts & {"streams", "soak"}:
        _streams(directory, arguments, parts, save)
    if not parts - {"streams", "soak"}:
        shutil.rmtree(directory, ignore_errors=True)
        return 0
    stage = Stage(directory, arguments.rows)
    about = report.machine(stage.peer.versions if stage.peer else None)
    try:
        for work in chosen if "works" in parts else ():
            results.append(measure(work, stage, arguments.repeat))
            print(report.line(results[-1]), flush=True)
            if save:
                report.write(results, about, arguments.rows, arguments.repeat)
        if "growth" in parts:
            curves = []
            for curve in growth.measure(stage, arguments.most):
                curves.append(curve)
                print("\n".join(grown.lines(curve)), flush=True)
            if save:
                grown.write_growth(curves, about)
        if "memory" in parts:
            peaks = bounded.measure(directory, arguments.rows)
            print("\n".join(map(grown.peak_line, peaks)), flush=True)
            if save:
                grown.write_memory(peaks, about)
    finally:
        stage.close()
        shutil.rmtree(directory, ignore_errors=True)
    if save:
        print(f"written: {report.RESULTS}")
    return 0


def _streams(directory: Path, arguments: argparse.Namespace, parts: set[str], save: bool) -> None:
    about, figures = report.machine(None), []
    for figure in streamed.measure(directory, arguments.rows // 4, arguments.minutes, parts):
        figures.append(figure)
        print(streamed.line(figure), flush=True)
        if save:
            streamed.write(figures, about)


if __name__ == "__main__":
    sys.exit(main())
