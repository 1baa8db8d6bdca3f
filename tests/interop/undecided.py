"""Cases of the suites of Java Paimon's connectors that have no decision: `python tests/interop/undecided.py CHECKOUT`.

CHECKOUT is a work tree of apache/paimon at the release of the records in `compatibility/`. Prints a line for each suite with the number
of its test methods, of the decided ones and of the others, and the names of its methods with `--names`. A method that a suite repeats
for several formats counts once here and once per repetition in the records, so a recorded suite can have more cases than methods.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDS = Path(__file__).parent / "compatibility"
SUITES = {
    "flink": ("paimon-flink/paimon-flink-common/src/test/java", ("*ITCase.java", "*ITCaseBase.java")),
    "spark": ("paimon-spark/paimon-spark-ut/src/test", ("*.java", "*.scala")),
}
"""Connector -> the folder of its suites, and the names of their files."""
JAVA_CASE = re.compile(
    r"@(?:Test|ParameterizedTest|TestTemplate|RepeatedTest)\b(?P<rest>[^;]*?)\bvoid\s+(?P<name>\w+)\s*\(", re.DOTALL
)
SCALA_CASE = re.compile(r"^\s*test\(\s*(?:s?\"\"\"|s?\")(?P<name>.*?)\"+\s*(?:\+[^)]*)?[,)]", re.MULTILINE | re.DOTALL)
PARENT = re.compile(r"\bclass\s+\w+\s*(?:\([^)]*\)\s*)?extends\s+(\w+)")


def suites(checkout: Path, connector: str) -> dict[str, list[str]]:
    """Suite -> its test methods, those of its base classes in the same folder included. Disabled methods are left out."""
    folder, patterns = SUITES[connector]
    files = {p.stem: p for pattern in patterns for p in sorted((checkout / folder).rglob(pattern))}
    twice = {p.stem for p in (checkout / folder).rglob("*.java")} & {
        p.stem for p in (checkout / folder).rglob("*.scala")
    }
    own = {name: list(_cases(path)) for name, path in files.items()}
    for name in twice:
        own[name + " (Java)"] = list(_cases(next((checkout / folder).rglob(f"{name}.java"))))
    parents = {name: match[1] for name, path in files.items() if (match := PARENT.search(path.read_text()))}
    found = {name: cases + own.get(parents.get(name, ""), []) for name, cases in own.items()}
    bases = {p for p in parents.values() if p in files and p.endswith("Base")}
    return {
        name if connector == "flink" else name.removesuffix("Base"): cases
        for name, cases in found.items()
        if cases and name not in bases
    }


def _cases(path: Path) -> Iterator[str]:
    text = path.read_text()
    if path.suffix == ".scala":
        yield from (match["name"] for match in SCALA_CASE.finditer(text))
        return
    for match in JAVA_CASE.finditer(text):
        before = text[: match.start()].rpartition("}")[2]
        if "@Disabled" not in before + match["rest"]:
            yield match["name"]


def decided(connector: str) -> dict[str, int]:
    """Suite -> the number of cases that its records decide; the records of one release count."""
    counts: dict[str, int] = {}
    for path in RECORDS.glob(f"{connector}_*.toml"):
        record = tomllib.loads(path.read_text())
        if str(record["release"]).startswith("1.3"):
            counts |= {s["name"]: s["cases"] for s in record["suite"]}
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--names", action="store_true", help="print the methods of each undecided suite")
    given = parser.parse_args()
    left = 0
    for connector in SUITES:
        records, found = decided(connector), suites(given.checkout, connector)
        for name, cases in sorted(found.items()):
            open_cases = max(0, len(cases) - records.get(name, 0))
            left += open_cases
            print(
                f"{connector}  {name}: {len(cases)} methods, {records.get(name, 0)} cases decided, {open_cases} undecided"
            )
            if given.names and open_cases:
                print("".join(f"    {case}\n" for case in cases), end="")
        unknown = sorted(records.keys() - found.keys())
        print(
            f"{connector}: {sum(records.values())} cases decided; recorded, but not found: {', '.join(unknown) or 'none'}"
        )
    print(f"undecided: {left}")
    return min(left, 1)


if __name__ == "__main__":
    raise SystemExit(main())
