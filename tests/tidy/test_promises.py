"""The page of promises names tests that are there, and every promise names one."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text()
CHAPTERS = [
    "Nothing is lost",
    "Answers are right",
    "It keeps working under load",
    "Problems are visible and explained",
    "It is safe",
]
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| what goes wrong")]
NAMED = re.findall(r"`(tests/[^`]+)`", PAGE)


@cache
def collected(file: str) -> dict[str, bool]:
    """`test_x` or `TestX::test_x` -> whether the long run alone has it."""
    path, found = ROOT / file, {}
    for node in ast.parse(path.read_text()).body if path.is_file() else ():
        inside = [(f"{node.name}::", m) for m in node.body] if isinstance(node, ast.ClassDef) else [("", node)]
        for prefix, test in inside:
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                found[prefix + test.name] = any(ast.unparse(d) == "pytest.mark.nightly" for d in test.decorator_list)
    return found


def test_every_named_test_is_there() -> None:
    missing = [name for name in NAMED if name.partition("::")[2] not in collected(name.partition("::")[0])]
    assert missing == []
    assert len(NAMED) > 80


def test_the_page_of_the_notebook_names_tests_that_are_there() -> None:
    named = re.findall(r"`(test_[a-z_]+\.py)::(test_\w+)`", (ROOT / "docs" / "notebook.md").read_text())
    assert [(f, t) for f, t in named if t not in collected(f"tests/browser/{f}")] == []
    assert len(named) > 15


def test_what_runs_at_night_alone_says_so() -> None:
    silent = []
    for row in ROWS:
        for name, after in re.findall(r"`(tests/[^`]+)`([^`|]*)", row):
            file, _, test = name.partition("::")
            if collected(file).get(test) and "nightly" not in after:
                silent.append(name)
    assert silent == []


def test_every_promise_has_a_test_of_the_default_run() -> None:
    assert re.findall(r"^## (.+)$", PAGE, re.MULTILINE) == CHAPTERS
    assert all(row.count(" | ") == 2 for row in ROWS)
    alone = [
        row for row in ROWS
        if all(collected(n.partition("::")[0]).get(n.partition("::")[2], True) for n in re.findall(r"`(tests/[^`]+)`", row))
    ]  # fmt: skip
    assert alone == []
    assert len(ROWS) > 35
