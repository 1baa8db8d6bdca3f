"""The glossary and the documentation name modules that exist, and no package is missing from the glossary."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "paimon_nb"
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in GLOSSARY.splitlines() if line.startswith("| ")
]
WORDS = [row for row in ROWS if row[0] != "word"]


def test_every_row_has_a_word_a_meaning_and_a_module_that_exists() -> None:
    wrong = [row[0] for row in WORDS if len(row) != 5 or not all(row)]
    assert wrong == []
    modules = {row[0]: re.findall(r"`([^`]+)`", row[2]) for row in WORDS}
    assert [w for w, named in modules.items() if not named or not all((PACKAGE / m).exists() for m in named)] == []
    assert len(WORDS) > 70


def test_words_are_listed_once() -> None:
    words = [row[0] for row in WORDS]
    assert sorted(w for w in set(words) if words.count(w) > 1) == []


def test_every_package_has_a_word() -> None:
    named = {m.split("/")[0] for row in WORDS for m in re.findall(r"`([^`]+)`", row[2])}
    assert sorted({p.parent.name for p in PACKAGE.glob("*/__init__.py")} - named) == []


def test_paths_in_the_documentation_exist() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    missing = [
        f"{page.relative_to(ROOT)}: {path}"
        for page in pages
        for path in re.findall(r"(?<![\w/.-])((?:paimon_nb|tests)/[\w/.-]*[\w/])", page.read_text())
        if not (ROOT / path).exists()
    ]
    assert missing == []
