"""The record of what the suites of Java Paimon's connectors ask, and of what was decided about each case."""

import tomllib
from pathlib import Path

import pytest

RECORDS = sorted((Path(__file__).parent / "compatibility").glob("*.toml"))
SUITES = [
    pytest.param(suite, id=f"{p.stem}-{suite['name']}")
    for p in RECORDS
    for suite in tomllib.loads(p.read_text())["suite"]
]


@pytest.mark.parametrize("suite", SUITES)
def test_every_case_of_a_suite_is_decided(suite):
    different, internal = suite.get("different", []), suite.get("internal", [])
    assert suite["equal"] + len(different) + len(internal) == suite["cases"]
    names = [d["case"] for d in (*different, *internal)]
    assert len(set(names)) == len(names)
    assert all(d[key].strip() for d in different for key in ("case", "java", "here", "why"))
    assert all(d[key].strip() for d in internal for key in ("case", "why"))
