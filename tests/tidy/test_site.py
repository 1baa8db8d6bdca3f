"""The pieces of the documentation site, without building it: generated pages, pictures, and the list of pages."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "generate"))

import compatibility_page  # noqa: E402
import option_page  # noqa: E402
import tutorials  # noqa: E402

GENERATED = {"reference/options.md", "tutorials/index.md"} | {f"tutorials/{n.stem}.md" for n in tutorials.notebooks()}
NAMED = set(re.findall(r"^ +- ([\w/.-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))


def test_the_site_lists_every_page_and_no_other() -> None:
    written = {str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md")}
    assert written & GENERATED == set()
    assert written | GENERATED == NAMED, "`nav` in mkdocs.yml lists the pages"


def test_the_page_of_options_has_every_option_once() -> None:
    rows = [row.split(" | ") for row in option_page.page().splitlines() if row.startswith("| `")]
    keys = [key for _, _, options in option_page.sections() for key, _ in options]
    assert len(rows) == len(keys) > 450
    assert {len(row) for row in rows} == {6}
    assert [key for key, row in zip(keys, rows, strict=True) if not row[4].strip()] == []
    bucket = next(row for row in rows if row[0] == "| `bucket`")
    assert bucket[5] == "0.1 |"
    ratio = next(row for row in rows if row[0] == "| `compaction.size-ratio`")
    assert "at least" in ratio[3]


def test_the_page_of_compatibility_has_every_suite_and_difference() -> None:
    page = compatibility_page.page()
    assert compatibility_page.PAGE.read_text() == page, "run `python docs/generate/compatibility_page.py`"
    found = [s for engine in compatibility_page.ENGINES for s in compatibility_page.suites(engine)]
    assert len(found) > 10
    assert {p.name.partition("_")[0] for p in compatibility_page.RECORDS.glob("*.toml")} <= set(
        compatibility_page.ENGINES
    )
    for suite in found:
        numbers = (suite["cases"], suite["equal"], len(suite.get("different", ())), len(suite.get("internal", ())))
        tests = "<br>".join(f"`{name}`" for name in suite.get("tests", ()))
        assert f"| {suite['name']} | {' | '.join(map(str, numbers))} | {tests} |\n" in page
        assert [d["case"] for d in suite.get("different", ()) if f"`{d['case']}`" not in page] == []


def test_the_page_of_compatibility_has_every_answer_that_a_release_changed() -> None:
    changed = tomllib.loads(compatibility_page.RELEASES.read_text())["difference"]
    assert compatibility_page.releases() in compatibility_page.PAGE.read_text()
    assert compatibility_page.releases().count("\n| ") == len(changed) + 1
    assert [d["test"] for d in changed if not (ROOT / d["test"]).is_file()] == []


def test_the_page_of_compatibility_has_every_decided_repair() -> None:
    found = tomllib.loads(compatibility_page.COMMITS.read_text())
    numbers = [c["number"] for c in found["change"]] + [n for a in found["apart"] for n in a["numbers"]]
    assert len(numbers) == len(set(numbers)) > 80
    assert {c["decision"] for c in found["change"]} == {"mended", "right"}
    assert [c["test"] for c in found["change"] if not (ROOT / c["test"]).is_file()] == []
    assert compatibility_page.commits() in compatibility_page.PAGE.read_text()


def test_the_page_of_compatibility_has_every_difference_of_random_sessions() -> None:
    section = compatibility_page.random_sessions()
    known = tomllib.loads(compatibility_page.SESSIONS.read_text())["difference"]
    assert section.count("\n- **") == len(known) > 30
    assert compatibility_page.page().endswith(section)


def test_since_names_known_options() -> None:
    known = {key for _, _, options in option_page.sections() for key, _ in options}
    since = dict(line.split("\t") for line in option_page.SINCE.read_text().splitlines())
    assert since.keys() - known == set()
    assert all(re.fullmatch(r"\d\.\d", release) for release in since.values())


@pytest.mark.parametrize("notebook", tutorials.notebooks(), ids=lambda p: p.stem)
def test_a_tutorial_is_a_page_with_its_outputs(notebook: Path) -> None:
    page = tutorials.convert(notebook)
    assert page.text.startswith("# ")
    assert len(page.outputs) >= 3
    shown = tutorials.with_outputs("".join(f"<p>pnb-output-{i}</p>" for i in range(len(page.outputs))), page.outputs)
    assert "pnb-output-0" not in shown
    linked = re.findall(r"\]\(((?!http|#)[^)#\s]+)", page.text)
    missing = [
        t for t in linked if f"tutorials/{t}" not in GENERATED and not (DOCS / "tutorials" / t).resolve().exists()
    ]
    assert missing == []


def test_links_and_pictures_of_the_pages_exist() -> None:
    missing = []
    for page in DOCS.rglob("*.md"):
        text = re.sub(r"```.*?```|`[^`\n]+`", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(((?!https?:|#|mailto:)[^)#\s]+)", text):
            inside = str((page.parent / target).resolve().relative_to(ROOT)).removeprefix("docs/")
            if not (page.parent / target).exists() and inside not in GENERATED:
                missing.append(f"{page.relative_to(ROOT)}: {target}")
    assert missing == []


def test_the_pictures_of_the_concepts_are_drawn_from_tables(tmp_path: Path) -> None:
    import pictures

    made = pictures.write(tmp_path)
    assert sorted(p.name for p in made) == sorted(p.name for p in pictures.FOLDER.glob("*.svg"))
    assert [p.name for p in made if not p.read_text().startswith("<svg ")] == []
