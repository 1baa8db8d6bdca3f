"""The record of what the suites of Java Paimon's connectors ask, of what was decided about each case, and of the tests that show it."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORDS = sorted((Path(__file__).parent / "compatibility").glob("*.toml"))
SUITES = [
    pytest.param(suite, id=f"{p.stem}-{suite['name']}")
    for p in RECORDS
    for suite in tomllib.loads(p.read_text())["suite"]
]


@cache
def collected(file: str) -> frozenset[str]:
    """The tests of a file: `test_x` or `TestX::test_x`; none if there is no such file."""
    path, found = ROOT / file, set()
    for node in ast.parse(path.read_text()).body if path.is_file() else ():
        inside = [(f"{node.name}::", m) for m in node.body] if isinstance(node, ast.ClassDef) else [("", node)]
        found |= {p + t.name for p, t in inside if isinstance(t, ast.FunctionDef) and t.name.startswith("test_")}
    return frozenset(found)


@pytest.mark.parametrize("suite", SUITES)
def test_every_case_of_a_suite_is_decided(suite):
    different, internal = suite.get("different", []), suite.get("internal", [])
    assert suite["equal"] + len(different) + len(internal) == suite["cases"]
    names = [d["case"] for d in (*different, *internal)]
    assert len(set(names)) == len(names)
    assert all(d[key].strip() for d in different for key in ("case", "java", "here", "why"))
    assert all(d[key].strip() for d in internal for key in ("case", "why"))


@pytest.mark.parametrize("suite", [s for s in SUITES if s.values[0]["equal"]])
def test_equal_cases_name_tests_that_are_there(suite):
    named = suite.get("tests", [])
    assert named
    assert len(set(named)) == len(named)
    assert [n for n in named if n.partition("::")[2] not in collected(n.partition("::")[0])] == []
