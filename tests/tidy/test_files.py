"""What keeps the tree readable: every module says what it holds, and nothing private leaks into the repository."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

from source_kit import PACKAGE, ROOT, nodes, package_files, tree


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    return [ROOT / name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def test_every_module_opens_with_a_sentence():
    silent = [
        str(file.relative_to(ROOT)) for file in package_files() if tree(file).body and not ast.get_docstring(tree(file))
    ]
    assert silent == []


def test_no_drawer_for_odds_and_ends():
    names = {"utils", "util", "helpers", "misc", "common"}
    assert [p for p in PACKAGE.rglob("*.py") if p.stem in names] == []


def test_nothing_names_a_machine():
    private = re.compile(r"/work/(main|shared)|/root/|/home/\w+/|\.cache/paimon-oracle|registry\.\w+\.(internal|local)")
    text = {".py", ".md", ".toml", ".ipynb", ".json", ".cfg", ".sh", ".yaml", ".txt", ""}
    leaks = [
        str(file.relative_to(ROOT))
        for file in tracked()
        if file.suffix in text and file != Path(__file__) and file.stat().st_size < 5_000_000
        and private.search(file.read_bytes().decode("utf-8", "replace"))
    ]  # fmt: skip
    assert leaks == []


def test_commits_never_ask_exists_before_they_write():
    # Two processes can both see 'absent'; only put_if_absent decides who publishes.
    folders = ("table/write/publish", "table/write/commit", "format/snapshot", "format/schema")
    functions = [
        (file, function)
        for folder in folders
        for file in sorted((PACKAGE / folder).rglob("*.py"))
        for function in nodes(file)
        if isinstance(function, ast.FunctionDef)
    ]
    publishing = [
        (file, f) for file, f in functions if _first_call(f, "put_if_absent", "sync_and_put_if_absent", "put_surely")
    ]
    assert len(publishing) > 3
    wrong = [
        f"{file.relative_to(PACKAGE)}: {function.name}"
        for file, function in publishing
        if 0
        < _first_call(function, "exists")
        < _first_call(function, "put_if_absent", "sync_and_put_if_absent", "put_surely")
    ]
    assert wrong == []


def _first_call(function: ast.FunctionDef, *methods: str) -> int:
    """The line of the first call of a method or function with one of these names; 0 if there is none."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return min((c.lineno for c in calls if ast.unparse(c.func).rpartition(".")[2] in methods), default=0)


def test_test_modules_have_names_of_their_own():
    """pytest imports test modules by their base name."""
    names = Counter(p.name for p in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_files_that_the_order_of_tests_names_are_there():
    text = (ROOT / "tests" / "conftest.py").read_text()
    names = re.findall(r'"([\w/]+/test_\w+\.py|notebooks/[\w-]+\.ipynb)"', text)
    assert [name for name in names if not ((ROOT / name).is_file() or (ROOT / "tests" / name).is_file())] == []
    assert len(names) > 40


def test_no_file_is_longer_than_700_lines():
    lengths = {str(p.relative_to(ROOT)): p.read_text().count("\n") for p in PACKAGE.rglob("*.py")}
    assert {name: lines for name, lines in lengths.items() if lines > 700} == {}
