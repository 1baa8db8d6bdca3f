"""The page of growth and memory: `results/growth.md`, its pictures, and the figures as JSON. Names no machine."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

from benchmarks import picture
from benchmarks.bounded import AT_MOST, Bounded
from benchmarks.growth import BENT, Growth
from benchmarks.report import BUSY, RESULTS, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence


def lines(growth: Growth) -> list[str]:
    """A line a curve for the terminal."""
    out = []
    for curve in growth.curves:
        bend = curve.bend(growth.sizes)
        shown = ", ".join(f"{x:,}: {seconds_text(s)}" for x, s in zip(growth.sizes, curve.seconds, strict=True))
        out.append(f"{growth.slug:24} {curve.name}: {shown}; bends at {bend or 'no size'}" + (f"; {curve.note}" if curve.note else ""))  # fmt: skip
    return out


def peak_line(peak: Bounded) -> str:
    small, large = (p / 1e6 for p in peak.peak)
    verdict = "" if peak.ratio <= AT_MOST else " MISSED"
    return f"memory: {peak.title}: {small:.0f} MB at {peak.rows[0]:,} rows, {large:.0f} MB at {peak.rows[1]:,} ({peak.ratio:.2f} x, at most {AT_MOST}{verdict})"  # fmt: skip


def write_growth(growths: Sequence[Growth], about: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    for growth in growths:
        (RESULTS / f"{growth.slug}.svg").write_text(picture.svg(growth))
    _keep("growth", about, [g.as_json() for g in growths])


def write_memory(peaks: Sequence[Bounded], about: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    _keep("memory", about, [p.as_json() for p in peaks])


def _keep(part: str, about: dict[str, Any], found: list[dict[str, Any]]) -> None:
    """One part's figures anew, those of the other as they were; then the page of both."""
    path = RESULTS / "growth.json"
    held: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    held[part] = {"date": str(dt.date.today()), "machine": about, "figures": found}
    path.write_text(json.dumps(held, indent=1) + "\n")
    (RESULTS / "growth.md").write_text(_page(held))


def _page(held: dict[str, Any]) -> str:
    out = ["# As tables grow", "", f"A curve bends at the first size that costs {BENT:g} times the smallest."]
    if "growth" in held:
        out += ["", _when(held["growth"])]
        for growth in map(Growth.from_json, held["growth"]["figures"]):
            out += ["", f"## {growth.title}", "", f"![{growth.title}]({growth.slug}.svg)", ""]
            out += [f"| {growth.over} | " + " | ".join(c.name for c in growth.curves) + " |"]
            out += ["|--:|" + "--:|" * len(growth.curves)]
            for at, size in enumerate(growth.sizes):
                out.append(f"| {size:,} | " + " | ".join(seconds_text(c.seconds[at]) for c in growth.curves) + " |")
            bends = (c.bend(growth.sizes) for c in growth.curves)
            out.append("| bends at | " + " | ".join(f"{b:,}" if b else "no size" for b in bends) + " |")
            out += [f"\n{c.name}: {c.note}." for c in growth.curves if c.note]
    if "memory" in held:
        out += ["", "## Memory at ten times the rows", "", _when(held["memory"]), ""]
        out += ["Processes of their own, Spark's and its workers' included; the most that they held together.", ""]
        out += ["| work | rows | peak, MB | rows | peak, MB | ratio | at most |", "|---|--:|--:|--:|--:|--:|--:|"]
        for peak in map(Bounded.from_json, held["memory"]["figures"]):
            (small, large), (a, b) = peak.peak, peak.rows
            out.append(f"| {peak.title} | {a:,} | {small / 1e6:.0f} | {b:,} | {large / 1e6:.0f} | {peak.ratio:.2f} | {AT_MOST} |")  # fmt: skip
    return "\n".join(out) + "\n"


def _when(part: dict[str, Any]) -> str:
    machine = part["machine"]
    busy = " The machine was busy with other work." if machine["load_at_start"] > BUSY else ""
    return f"{part['date']}; {machine['cores']} cores, {machine['memory_gib']} GiB; load average {machine['load_at_start']} at the start.{busy}"
