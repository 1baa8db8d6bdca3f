"""The package's metadata agree with each other and with the code."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import paimon_nb

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from hatch_build import badges, clone_command, project_url, urls  # noqa: E402

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = {"all", "java", "test", "check", "demo", "bench", "docs"}


def test_the_version_is_in_one_place() -> None:
    assert "version" in PROJECT["dynamic"]
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "paimon_nb/__init__.py"
    extension = json.loads((ROOT / "paimon_nb" / "notebook" / "labextension" / "package.json").read_text())
    assert extension["version"] == paimon_nb.__version__


def test_the_changelog_has_the_version() -> None:
    assert f"## {paimon_nb.__version__} - " in (ROOT / "CHANGELOG.md").read_text()


def test_type_checkers_may_use_the_package() -> None:
    assert (ROOT / "paimon_nb" / "py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_the_extra_all_has_every_extra_for_users() -> None:
    named = re.fullmatch(r"paimon-nb\[(.+)\]", EXTRAS["all"][0])
    assert named is not None
    large = {"torch", "ray", "daft", "lance", "vortex"}  # hundreds of megabytes each: only for those who name them
    assert set(named[1].split(",")) == EXTRAS.keys() - FOR_DEVELOPERS - large


def test_every_extra_that_a_message_or_a_page_names_exists() -> None:
    files = [*(ROOT / "paimon_nb").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    named = {
        extra
        for file in files
        for group in re.findall(r"paimon-nb\[([a-z0-9,]+)\]", file.read_text())
        for extra in group.split(",")
    }
    assert named - EXTRAS.keys() == set()
    assert len(named) > 5


def test_nbval_is_for_tests_only() -> None:
    assert [name for name, expected in EXTRAS.items() if any(w.startswith("nbval") for w in expected)] == ["test"]
    assert not any(w.startswith("nbval") for w in PROJECT["dependencies"])


def test_addresses_come_from_the_setting_only() -> None:
    shown = "\n".join(line for line in (ROOT / "README.md").read_text().splitlines() if "[![" in line)
    assert shown == badges(project_url())
    assert "urls" in PROJECT["dynamic"]
    assert urls("") == {}
    assert badges("") == ""
    assert set(urls("https://example.org/p").values()) >= {"https://example.org/p", "https://example.org/p/issues"}


def test_the_readme_clones_from_the_setting_only() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert [line for line in lines if line.startswith("git clone")] == list(
        filter(None, [clone_command(project_url())])
    )
    assert clone_command("") == ""
    assert clone_command("https://example.org/a/p") == "git clone https://example.org/a/p && cd p"


def test_dependencies_of_the_docs_have_a_reason() -> None:
    reasons = (ROOT / "docs" / "decisions" / "0001-dependencies.md").read_text()
    names = {re.split(r"[\[<>=]", expected)[0] for expected in EXTRAS["docs"]}
    assert sorted(n for n in names if n not in reasons) == []
