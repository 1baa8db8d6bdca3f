"""Names in code spans of the pages exist: files, and identifiers of this project."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OF_OTHERS = {
    "docs/catalogs.md": {"SQLITE_BUSY"},
    "docs/sql.md": {
        "HOP_ROWTIME", "NULL_PADDING", "SESSION_END", "SESSION_ROWTIME", "ST_GeomFromWKB", "from_wkb", "shapely",
    },
    "tests/golden/data/README.md": {"CastExecutors"},
}  # fmt: skip
"""Names of other projects and of SQL that is refused."""
SKIPPED = ("docs/spec/", "docs/decisions/", "docs/compatibility.md", "CHANGELOG.md", "benchmarks/results/")
"""Pages about Java's classes, and pages that tell what was."""
_FILE = re.compile(r"[\w./-]+\.(?:py|js|md|toml|ts|css)")
_NAME = re.compile(
    r"(?:[a-z_]\w*\.)*(?:[A-Z]\w*[a-z]\w*[A-Z]\w*|_?[A-Z][A-Z0-9]*_[A-Z0-9_]+|[a-z]+_[a-z_]+)(?:\.\w+)*(?:\(\))?"
)
_FENCED = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [name for name in listed if (ROOT / name).is_file()]


PAGES = [name for name in tracked() if name.endswith(".md") and not name.startswith(SKIPPED)]


@cache
def words() -> frozenset[str]:
    """Every identifier in the sources."""
    kinds = (".py", ".ts", ".tsx", ".js", ".css", ".toml", ".yml", ".json")
    found: set[str] = set()
    for name in tracked():
        if name.endswith(kinds) and "/static/" not in name:
            found.update(re.findall(r"[A-Za-z_]\w*", (ROOT / name).read_text(errors="replace")))
    return frozenset(found)


@cache
def paths() -> frozenset[str]:
    return frozenset(tracked())


def missing(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    known = OF_OTHERS.get(page, set())
    out = []
    for span in re.findall(r"`([^`\n]+)`", _FENCED.sub("", text)):
        if _FILE.fullmatch(span):
            if not any(path == span or path.endswith(f"/{span}") for path in paths()):
                out.append(span)
        elif _NAME.fullmatch(span):
            out += [part for part in re.findall(r"\w+", span) if part not in words() and part not in known]
    return out


@pytest.mark.parametrize("page", PAGES)
def test_names_and_files_of_a_page_exist(page: str) -> None:
    assert missing(page) == []


def test_a_name_that_is_gone_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.md").write_text("`table/select_tree.py`, `NO_SUCH_NAME`, `GoneClass.run()`, and `Table.to_arrow`")
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    monkeypatch.setattr(f"{__name__}.words", lambda: frozenset({"Table", "to_arrow"}))
    monkeypatch.setattr(f"{__name__}.paths", lambda: frozenset({"paimon_nb/table/select.py"}))
    assert missing("page.md") == ["table/select_tree.py", "NO_SUCH_NAME", "GoneClass", "run"]


HOWTO = sorted((ROOT / "docs" / "howto").glob("*.md"))


@pytest.mark.parametrize("page", HOWTO, ids=lambda page: page.name)
def test_code_of_a_howto_page_uses_names_that_exist(page: Path) -> None:
    """Identifiers that a reader would look up: classes, constants and functions that the example does not define itself."""
    gone = []
    for language, code in _FENCED.findall(page.read_text()):
        if language == "python":
            own = set(re.findall(r"(?:def|class|for|as|import)\s+(\w+)|(\w+)\s*=|(\w+)\s*:", code))
            defined = {name for found in own for name in found}
            gone += [
                w for w in re.findall(r"\b[A-Za-z_]\w{3,}\b(?=[(\[])", code) if w not in words() and w not in defined
            ]
    assert gone == []
