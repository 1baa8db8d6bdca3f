"""Results as a page, as JSON and as lines on the terminal. Names no machine."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import statistics
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.harness import OURS, Result
from benchmarks.picture import ratios_svg

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS = Path(__file__).parent / "results"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "performance.svg"
ROWS = 2_000_000
"""Of the base, unless somebody asks for more."""
BUSY = 2.0
"""A load average above this when the run began is told on the page."""


def machine(peer_versions: dict[str, str] | None) -> dict[str, Any]:
    """What the figures depend on: cores, memory, versions, how busy the machine was."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    ours = {name: version(name) for name in ("pyspark", "pyarrow", "numpy")}
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory),
        "python": platform.python_version(),
        "versions": ours,
        "peer": peer_versions,
        "load_at_start": round(os.getloadavg()[0], 2),
    }


def line(result: Result) -> str:
    """One work for the terminal."""
    ours = result.median(OURS)
    others = [
        f"{name} {seconds_text(result.median(name))} ({result.ratio(name):.2f} x{_cpu(result, name)}{_target(result, name)})"
        for name in result.seconds
        if name != OURS
    ]
    return f"{result.work.slug:24} {seconds_text(ours):>9}   " + "; ".join(others)


def seconds_text(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


def _cpu(result: Result, name: str) -> str:
    ratio = result.cpu_ratio(name)
    return "" if ratio is None else f", CPU {ratio:.2f} x"


def _target(result: Result, name: str) -> str:
    most = result.work.targets.get(name)
    if most is None:
        return ""
    return f", at most {most:g}" + (" MISSED" if name in result.missed() else "")


def write(results: Sequence[Result], about: dict[str, Any], rows: int, repeat: int) -> None:
    """A page and its JSON: `latest` of the usual number of rows, `rows-<n>` of another."""
    RESULTS.mkdir(exist_ok=True)
    name = "latest" if rows == ROWS else f"rows-{rows}"
    (RESULTS / f"{name}.md").write_text(page(results, about, rows, repeat))
    (RESULTS / f"{name}.json").write_text(json.dumps(as_json(results, about, rows, repeat), indent=1) + "\n")
    if rows == ROWS:
        ratios = [(r.work.title, {n: r.ratio(n) for n in r.seconds if n != OURS}) for r in results]
        PICTURE.write_text(ratios_svg(f"paimon_nb's time in multiples of the other's, {rows:,} rows", ratios))


def page(results: Sequence[Result], about: dict[str, Any], rows: int, repeat: int) -> str:
    versions = ", ".join(f"{k} {v}" for k, v in about["versions"].items())
    if about["peer"]:
        versions += "; the peer: " + ", ".join(f"{k} {v}" for k, v in about["peer"].items())
    busy = " **The machine was busy with other work: ratios are rougher than usual.**" if about["load_at_start"] > BUSY else ""  # fmt: skip
    out = [
        "# Latest run",
        "",
        f"{dt.date.today()}; {rows:,} rows, key table, 4 buckets; medians of {repeat}; {about['cores']} cores, "
        f"{about['memory_gib']} GiB, Python {about['python']}, {versions}; load average {about['load_at_start']} at the start.{busy}",
        "",
        "A ratio is paimon_nb's time in multiples of the other's: below 1 paimon_nb is faster; the CPU ratio counts seconds of\nall cores instead, which other work on the machine disturbs less. `=` answers compared and equal.",
        "",
        "| work | paimon_nb | others | ratio | CPU ratio | at most | |",
        "|---|--:|---|--:|--:|--:|---|",
    ]
    for result in results:
        first = True
        for name in result.seconds:
            if name == OURS:
                continue
            most = result.work.targets.get(name)
            cpu = result.cpu_ratio(name)
            verdict = "" if most is None else ("missed" if name in result.missed() else "reached")
            out.append(
                f"| {result.work.title + (' `=`' if result.equal else '') if first else ''} "
                f"| {seconds_text(result.median(OURS)) if first else ''} | {name}: {seconds_text(result.median(name))} "
                f"| {result.ratio(name):.2f} | {'' if cpu is None else f'{cpu:.2f}'} | {'' if most is None else f'{most:g}'} | {verdict} |"
            )
            first = False
        if first:
            out.append(f"| {result.work.title} | {seconds_text(result.median(OURS))} | | | | | |")
    return "\n".join([*out, *_per_row(results, rows)]) + "\n"


def _per_row(results: Sequence[Result], rows: int) -> list[str]:
    """What a row costs: CPU of all cores and memory, of the works that are about rows."""
    out = [
        "",
        "## Per row",
        "",
        "CPU of all cores (median), and by how much the processes grew in their first run; where a process had free memory from",
        "the work before, it grew less.",
        "",
        "| work | contender | CPU, µs a row | memory, bytes a row |",
        "|---|---|--:|--:|",
    ]
    for result in (r for r in results if r.work.rows):
        count = rows * result.work.rows
        for name, cpu in result.cpu.items():
            used = f"{statistics.median(cpu) / count * 1e6:.2f}" if cpu else ""
            out.append(
                f"| {result.work.title if name == OURS else ''} | {name} | {used} | {result.memory.get(name, 0) / count:.0f} |"
            )
    return out


def as_json(results: Sequence[Result], about: dict[str, Any], rows: int, repeat: int) -> dict[str, Any]:
    return {
        "date": str(dt.date.today()),
        "rows": rows,
        "repeat": repeat,
        "machine": about,
        "works": [
            {
                "work": r.work.slug,
                "equal": r.equal,
                "contenders": {
                    name: {
                        "median_s": round(statistics.median(s), 5),
                        "min_s": round(min(s), 5),
                        "max_s": round(max(s), 5),
                        "runs": len(s),
                        **({"median_cpu_s": round(statistics.median(r.cpu[name]), 4)} if r.cpu[name] else {}),
                        **({"memory_mb": round(r.memory[name] / 1e6)} if name in r.memory else {}),
                        **({} if name == OURS else {"ratio": round(r.ratio(name), 3)}),
                        **({"at_most": r.work.targets[name]} if name in r.work.targets else {}),
                    }
                    for name, s in r.seconds.items()
                },
            }
            for r in results
        ],
    }
