"""Every citation of the specification leads to a section that exists, and has the one form: `docs/spec/format.md section 5.3`."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "docs" / "spec"
CITED = re.compile(
    r"docs/spec/(?P<page>[\w-]+\.md)\s+sections?\s+(?P<numbers>\d[\d.]*(?:(?:,\s+|,?\s+and\s+)\d[\d.]*)*)"
)
OLD_FORMS = re.compile(
    r"(format|behaviou?r) reference,|\bsemantics, section|\bformat\.md \d|\(design,? (section )?\d", re.IGNORECASE
)


@cache
def sections(page: str) -> frozenset[str]:
    """Numbers of the page's headings."""
    return frozenset(re.findall(r"^#{2,4} (\d+(?:\.\d+)*)\.? ", (SPEC / page).read_text(), re.MULTILINE))


def texts() -> dict[str, str]:
    done = subprocess.run(["git", "ls-files", "*.py", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    here = Path(__file__).name
    return {f: (ROOT / f).read_text() for f in done.stdout.split("\n") if f and not f.endswith(here)}


def test_every_cited_section_exists() -> None:
    found = 0
    missing = []
    for file, text in texts().items():
        for citation in CITED.finditer(text):
            for number in re.findall(r"\d+(?:\.\d+)*", citation["numbers"]):
                found += 1
                if number not in sections(citation["page"]):
                    missing.append(f"{file}: {citation['page']} has no section {number}")
    assert missing == []
    assert found > 100


def test_citations_have_one_form() -> None:
    wrong = [f"{file}: {match[0]}" for file, text in texts().items() for match in OLD_FORMS.finditer(text)]
    assert wrong == []


def test_a_page_that_is_cited_without_a_section_exists() -> None:
    named = {name for text in texts().values() for name in re.findall(r"docs/spec/([\w-]+\.md)", text)}
    assert sorted(n for n in named if not (SPEC / n).is_file()) == []
