"""The section of docs/compatibility.md about the statements in Java Paimon's documentation, from `tests/interop/documentation/record.tsv`."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

RECORD = Path(__file__).parents[2] / "tests" / "interop" / "documentation" / "record.tsv"
VERDICTS = ("ran", "refused", "skipped")
HEAD = """## Statements of the documentation

`tests/interop/documentation_play.py` takes the SQL examples out of the documentation of Java Paimon 1.3.1, those in the tables of procedures
too, and runs them page by page, each page in a fresh workbench, each example in the dialect of its tab. Tables that a page
assumes are created first, and placeholders get values (`tests/interop/documentation/`). *Ran* means without an error. The
reasons for *refused* and *not run* are below. Blocks in other languages (shell, Java, Scala, Python of pypaimon) and for other engines are
only counted.

Flink's examples were also run once in Flink 1.20 with Paimon 1.3.1, side by side with this: where both return rows, the rows are the same,
and the only statement that Flink alone takes has a misspelt argument, which Flink ignores.

The rows that the pages about Spark show were compared by hand. They differ in two places: in a cell, `INSERT OVERWRITE` without a mode
replaces only the partitions that get rows, and says so ([SQL](sql.md)); and texts inside the defaults of arrays, maps and
structs keep their quotes, as in the tests of Java Paimon.

| page | statements | ran | refused | not run | other blocks |
|---|---|---|---|---|---|
"""
ROW = "| {page} | {all} | {ran} | {refused} | {skipped} | {other} |\n"


def section() -> str:
    """The section as Markdown."""
    counts: dict[str, Counter[str]] = {}
    lines = records()
    for line in lines:
        for name in (line["page"], "**all**"):
            counts.setdefault(name, Counter())[line["verdict"]] += int(line["statements"])
    total = counts.pop("**all**")
    rows = [_row(f"`{page}`", count) for page, count in counts.items() if any(count[v] for v in VERDICTS)]
    only_others = sum(c["other"] for c in counts.values() if not any(c[v] for v in VERDICTS))
    rows += [_row("pages without SQL", Counter(other=only_others)), _row("**all**", total)]
    refused = _reasons("refused", lines, "Statements that are refused")
    skipped = _reasons("skipped", lines, "Statements that are not run, and why")
    return f"{HEAD}{''.join(rows)}\n{refused}\n{skipped}"


def records() -> list[dict[str, str]]:
    """The lines of the record by column."""
    with RECORD.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _row(page: str, counts: Counter[str]) -> str:
    return ROW.format(page=page, all=sum(counts[v] for v in VERDICTS), **{v: counts[v] for v in (*VERDICTS, "other")})


def _reasons(verdict: str, lines: Iterable[dict[str, str]], title: str) -> str:
    """Each reason of a verdict, with the pages and headings that it is about."""
    places: dict[str, dict[str, list[str]]] = {}
    for line in lines:
        if line["verdict"] == verdict:
            headings = places.setdefault(line["reason"], {}).setdefault(line["page"], [])
            headings += [line["heading"]] * (line["heading"] not in headings)
    points = []
    for reason, pages in sorted(places.items()):
        named = "; ".join(f"`{page}` ({_escaped(', '.join(headings))})" for page, headings in pages.items())
        points.append(f"- **{_escaped(reason)}**: {named}\n")
    return f"### {title}\n\n{''.join(points)}"


def _escaped(text: str) -> str:
    return text.replace("_", r"\_")
