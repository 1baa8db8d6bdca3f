"""The page of streams: `results/streams.md`, and the figures as JSON. Names no machine."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import paimon_nb
from benchmarks.kafka_topics import broker
from benchmarks.peer import Peer
from benchmarks.report import BUSY, RESULTS
from benchmarks.soak import AT_MOST, KINDS, Soak, soak
from benchmarks.streams import Latency, Rate, Scene, latencies, lookups, rates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Figure = Rate | Latency | Soak


def measure(folder: Path, records: int, minutes: float, parts: set[str]) -> Iterator[Figure]:
    """What `parts` names, of streams and soak, on a broker and in a Spark of their own."""
    peer = Peer.start() if "streams" in parts else None
    try:
        with broker(folder / "kafka") as server, paimon_nb.connect(str(folder / "streams")) as wb:
            scene = Scene(wb, server, folder, peer)
            if "streams" in parts:
                alone = Scene(wb, server, folder, None)
                for warms_up in (rates, lookups):
                    list(warms_up(alone, records // 5, records // 10))
                yield from rates(scene, records, records // 2)
                yield from lookups(scene, records, records // 2)
                yield from latencies(scene, 500, 30, 100_000)
            if "soak" in parts:
                yield soak(scene, minutes * 60, 1_000, 10_000)
    finally:
        if peer is not None:
            peer.close()


def line(figure: Figure) -> str:
    """One figure for the terminal."""
    match figure:
        case Rate():
            cpu = "" if figure.cpu is None else f", {figure.cpu / figure.records * 1e6:.0f} µs of CPU each"
            return f"{figure.work}: {figure.contender}: {figure.a_second:,.0f} records/s{cpu}"
        case Latency():
            return (
                f"latency at 1 s a commit: {figure.contender}: median {figure.median_s:.2f} s, p95 {figure.p95_s:.2f} s"
            )
        case _:
            grown = ", ".join(f"{kind} {figure.growth(kind):.2f}" for kind in KINDS)
            return f"soak: {figure.seconds / 60:.0f} min, {figure.records:,} records, {figure.commits:,} commits; memory {grown} x (at most {AT_MOST})"  # fmt: skip


def write(figures: list[Figure], about: dict[str, Any]) -> None:
    """The parts that were measured anew; the other one as it was."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "streams.json"
    held: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for part, some in (("streams", [f for f in figures if not isinstance(f, Soak)]), ("soak", [f for f in figures if isinstance(f, Soak)])):  # fmt: skip
        if some:
            held[part] = {"date": str(dt.date.today()), "machine": about, "figures": [{"kind": type(f).__name__, **asdict(f)} for f in some]}  # fmt: skip
    path.write_text(json.dumps(held) + "\n")
    (RESULTS / "streams.md").write_text(_page(held))


def _page(held: dict[str, Any]) -> str:
    out = ["# Streams"]
    found = {part: [_figure(dict(f)) for f in of["figures"]] for part, of in held.items()}
    if "streams" in held:
        out += [
            "",
            _when(held["streams"]),
            "",
            "| work | contender | records/s | CPU, µs a record |",
            "|---|---|--:|--:|",
        ]
        for rate in (f for f in found["streams"] if isinstance(f, Rate)):
            cpu = "" if rate.cpu is None else f"{rate.cpu / rate.records * 1e6:.0f}"
            out.append(f"| {rate.work} | {rate.contender} | {rate.a_second:,.0f} | {cpu} |")
        out += ["", "From a record's sending to the commit that has it, 500 records/s, 1 s a commit:", ""]
        out += ["| contender | records | median, s | 95 % within, s |", "|---|--:|--:|--:|"]
        for one in (f for f in found["streams"] if isinstance(f, Latency)):
            out.append(f"| {one.contender} | {one.records:,} | {one.median_s:.2f} | {one.p95_s:.2f} |")
    if "soak" in held:
        out += ["", "## Soak", "", _when(held["soak"]), ""]
        for one in (f for f in found["soak"] if isinstance(f, Soak)):
            out += [f"Kafka -> key table -> lookup join -> key table: {one.seconds / 60:.0f} minutes, {one.records:,} records, {one.commits:,} commits;",
                    "every row and every name compared at the end.", "",
                    f"| process | most, MB | second half / first half, medians (at most {AT_MOST}) |", "|---|--:|--:|"]  # fmt: skip
            out += [f"| {kind} | {max(one.resident[kind]) / 1e6:.0f} | {one.growth(kind):.2f} |" for kind in KINDS]
    return "\n".join(out) + "\n"


def _figure(node: dict[str, Any]) -> Figure:
    kinds: dict[str, type[Figure]] = {"Rate": Rate, "Latency": Latency, "Soak": Soak}
    return kinds[node.pop("kind")](**node)


def _when(part: dict[str, Any]) -> str:
    machine = part["machine"]
    busy = " **The machine was shared with other work.**" if machine["load_at_start"] > BUSY else ""
    return f"{part['date']}; {machine['cores']} cores, {machine['memory_gib']} GiB; load average {machine['load_at_start']} at the start.{busy}"
