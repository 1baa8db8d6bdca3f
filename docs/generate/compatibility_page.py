"""docs/compatibility.md, about the suites of Java Paimon's connectors, written from `tests/interop/compatibility/*.toml`.

Run this file to write the page again after a record was changed.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import documented_statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PAGE = Path(__file__).parents[1] / "compatibility.md"
RECORDS = Path(__file__).parents[2] / "tests" / "interop" / "compatibility"
SESSIONS = RECORDS.parent / "deliberate_differences.toml"
"""What random sessions in Flink and here may answer differently."""
RELEASES = RECORDS.parent / "paimon_releases.toml"
"""Where releases of Paimon give different answers."""
COMMITS = RECORDS.parent / "paimon_commits.toml"
"""Repairs of Paimon since 1.3.1, each decided."""
NEWEST = RECORDS.parent / "newest_suites.toml"
"""Cases of the newest suites that release 1.3.1 lacks, counted by suite."""
ENGINES = {"flink": "Flink", "spark": "Spark"}
"""The first part of a record's file name -> the connector whose suites it records."""
HEAD = """---
hide: [toc]
---

# Compatibility

Apache Paimon tests its Flink and Spark connectors with suites of SQL statements and expected results. This page counts, for
each suite that was run here, how many cases give the same answer. It is generated from `tests/interop/compatibility/`. Of a suite that was
run in part, the cases that were run count; `python tests/interop/undecided.py CHECKOUT` lists the others.

*Same* means the same rows, and a refusal where Java refuses; the words of messages are not compared. *Different* is a deliberate
difference, listed below with its reason. *Internal* cases call Java classes and have no form in SQL, CALL or DataFrames.
A case that a suite repeats for several formats or modes counts once per repetition.

The cases were run once, by their own statements, and counted. *Tests here* are tests of this repository that play the behaviour of a
suite with tables and rows of their own, so that a change of it is noticed; they do not repeat the suite case by case.
"""
NEWEST_HEAD = """## Newer cases of the suites

Cases of the master of August 2026 that release 1.3.1 lacks. Their own statements were run once. *Same* gave the answer of Java. *Plan* did,
too, up to a check of Java's own plans and classes. *Different* is explained below. *Java only* are cases that only call Java classes,
replace them by others, or read their metrics. *Not played* are cases that need a service, or that were not followed: they are not
decided. Suites without SQL are left out.

| suite | cases | same | plan | different | Java only | not played |
|---|---|---|---|---|---|---|
"""
SESSIONS_HEAD = """## Random sessions of Flink SQL

`tests/interop/fuzz_run.py` makes random sessions of Flink SQL, a tenth of them streaming. It runs each one in Flink with Paimon 1.3.1 and
here, and compares which statements are taken, the rows of every query, and what each side reads of the other's tables. These
differences are deliberate:

"""
RELEASES_HEAD = """## Where Paimon 1.3.1 and 2.1 differ

Later releases repaired wrong results of 1.3.1. The answer here is that of 2.1, in both dialects. *Change* is the pull request of
apache/paimon. The comparisons with 1.3.1 on this page expect these differences.

| what | Paimon 1.3.1 | Paimon 2.1 and here | change | test here |
|---|---|---|---|---|
"""
COMMITS_HEAD = """## Repairs since Paimon 1.3.1

Of {repairs} pull requests since release 1.3.1 whose titles say that they repair something in core, Flink, Spark or the file formats, and of
some that add something, {decided} are decided: {mended} were mended here, too, {right} were right already, {apart} cannot happen here, and {read} were
read only: what they repair has no counterpart in the code here, but their case was not tried. {open} are not decided yet. *Right* and
*mended* have a test here that shows it.

| change | what | decision | test here |
|---|---|---|---|
"""
TABLE = "| suite | cases | same | different | internal | tests here |\n|---|---|---|---|---|---|\n"
ROW = "| {name} | {cases} | {equal} | {different} | {internal} | {tests} |\n"


def page() -> str:
    """The whole page as Markdown."""
    parts = [HEAD, releases(), commits()]
    for prefix, engine in ENGINES.items():
        found = list(suites(prefix))
        if found:
            parts.append(_section(engine, found))
    return "\n".join([*parts, newest_suites(), documented_statements.section(), random_sessions()])


def releases() -> str:
    """The section about answers that changed between two releases of Paimon."""
    rows = (
        f"| {d['what']} | {d['before']} | {d['now']} | #{d['change']} | `{d['test']}` |\n"
        for d in tomllib.loads(RELEASES.read_text())["difference"]
    )
    return RELEASES_HEAD + "".join(rows)


def commits() -> str:
    """The section about repairs of Paimon: those decided, then those that cannot happen here."""
    found = tomllib.loads(COMMITS.read_text())
    decisions = [c["decision"] for c in found["change"]]
    apart, read, undecided = (sum(len(a["numbers"]) for a in found[kind]) for kind in ("apart", "read", "open"))
    head = COMMITS_HEAD.format(
        repairs=found["repairs"],
        decided=len(decisions) + apart + read,
        mended=decisions.count("mended"),
        right=decisions.count("right"),
        apart=apart,
        read=read,
        open=undecided,
    )
    rows = (f"| #{c['number']} | {_escaped(c['what'])} | {c['decision']} | `{c['test']}` |\n" for c in found["change"])
    lists = {"apart": "What cannot happen here", "read": "Read only, not tried"}
    others = "".join(f"\n{title}:\n\n" + _groups(found[kind]) for kind, title in lists.items())
    return head + "".join(rows) + others + f"\nNot decided yet: {_numbers(found['open'][0])}.\n"


def _groups(groups: list[Mapping[str, Any]]) -> str:
    return "".join(f"- {g['why']}: {_numbers(g)}\n" for g in groups)


def _numbers(group: Mapping[str, Any]) -> str:
    return ", ".join(f"#{n}" for n in group["numbers"])


def newest_suites() -> str:
    """The section about cases that the suites have since release 1.3.1."""
    found = tomllib.loads(NEWEST.read_text())["suite"]
    rows = [_newer_counts(s) for s in found]
    totals = {
        c: [sum(r[i] for r, s in zip(rows, found, strict=True) if s["connector"] == c) for i in range(6)]
        for c in ENGINES
    }
    lines = [_newer_line(s["name"], r) for s, r in zip(found, rows, strict=True)]
    lines += [_newer_line(f"**{ENGINES[c]}**", counts) for c, counts in totals.items()]
    differs = (
        f"- {s['name']}, {_escaped(d['case'])}. Here: {_escaped(d['here'])}. Reason: {_escaped(d['reason'])}.\n"
        for s in found
        for d in s.get("differs", ())
    )
    return NEWEST_HEAD + "".join(lines) + "\n" + "".join(differs)


def _newer_counts(suite: Mapping[str, Any]) -> list[int]:
    cases, same, inside, java = suite["cases"], suite["same"], suite["inside"], suite.get("java", 0)
    different = sum(d["cases"] for d in suite.get("differs", ()))
    return [cases, same, inside, different, java, max(0, cases - same - inside - different - java)]


def _newer_line(name: str, counts: list[int]) -> str:
    return f"| {name} | {' | '.join(map(str, counts))} |\n"


def random_sessions() -> str:
    """The section about the sessions of `tests/interop/fuzz_sessions.py`: each deliberate difference with its reason."""
    found = tomllib.loads(SESSIONS.read_text())["difference"]
    return SESSIONS_HEAD + "".join(f"- **{_escaped(d['name'])}**. {_escaped(d['reason'])}.\n" for d in found)


def suites(prefix: str) -> Iterator[Mapping[str, Any]]:
    """The recorded suites of a connector, by name."""
    records = [tomllib.loads(p.read_text()) for p in RECORDS.glob(f"{prefix}_*.toml")]
    named = [{**s, "name": s["name"] + _release(record)} for record in records for s in record["suite"]]
    yield from sorted(named, key=lambda s: str(s["name"]))


def _release(record: Mapping[str, Any]) -> str:
    """The release of a record's suites, if it is not the one that most records are about."""
    return "" if str(record["release"]).startswith("1.3") else f" of release {record['release']}"


def _section(engine: str, found: list[Mapping[str, Any]]) -> str:
    counts = [_counts(s) for s in found]
    total = {k: sum(int(c[k]) for c in counts) for k in ("cases", "equal", "different", "internal")}
    rows = "".join(ROW.format(**c) for c in (*counts, {"name": "**all**", **total, "tests": ""}))
    text = f"## Suites of the {engine} connector\n\n{TABLE}{rows}"
    differences = [_differences(s) for s in found if s.get("different")]
    if differences:
        text += f"\n### Deliberate differences from the {engine} connector\n\n" + "\n".join(differences)
    return text


def _counts(suite: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {key: len(suite.get(key, ())) for key in ("different", "internal")}
    tests = "<br>".join(f"`{name}`" for name in suite.get("tests", ()))
    return {"name": suite["name"], "cases": suite["cases"], "equal": suite["equal"], **numbers, "tests": tests}


def _differences(suite: Mapping[str, Any]) -> str:
    """The differences of a suite; those with one reason stand together."""
    together: dict[tuple[str, str, str], list[str]] = {}
    for d in suite["different"]:
        together.setdefault((d["java"], d["here"], d["why"]), []).append(d["case"])
    lines = [f"**{suite['name']}**\n"]
    for (java, here, why), cases in together.items():
        names = ", ".join(f"`{c}`" for c in cases)
        lines.append(f"- {names}. Java: {_escaped(java)}. Here: {_escaped(here)}. Reason: {_escaped(why)}.")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Text as Markdown: a word between angle brackets is no tag."""
    return text.rstrip(".").replace("<", "&lt;").replace("*", r"\*").replace("_", r"\_")


if __name__ == "__main__":
    PAGE.write_text(page())
