"""Plugins of other packages: by entry point, by the name of a module, and what is wrong with one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import PluginError, UnknownName
from paimon_nb.plugins import plugin_groups

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugins"


def install(folder: Path, pyproject: str, *modules: Path, name: str = "guest") -> Path:
    """Put modules and the metadata of their package, as an installer writes it, into a folder for sys.path."""
    groups = tomllib.loads(pyproject)["project"]["entry-points"]
    info = folder / f"{name}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(
        "\n".join(f"[{g}]\n" + "".join(f"{n} = {v}\n" for n, v in points.items()) for g, points in groups.items())
    )
    for module in modules:
        shutil.copy(module, folder)
    return folder


def run_python(folder: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=300,
        cwd=cwd or folder,
        check=False,
    )


@pytest.mark.nightly
@pytest.mark.spark
def test_the_example_package_passes_its_tests_where_it_is_installed(tmp_path: Path) -> None:
    site = install(tmp_path / "site", (EXAMPLE / "pyproject.toml").read_text(), EXAMPLE / "example_plugins.py")
    done = run_python(
        site, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(EXAMPLE), str(EXAMPLE / "tests")
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


GUEST = """
from paimon_nb.procedures import Procedure
import pyarrow as pa
HELLO = Procedure("hello", "Says hello.", (), lambda context: pa.table({"text": ["hello from guest"]}))
WRONG = 7
PAIMON_NB_PLUGINS = {"procedures": {"hello": HELLO}}
"""
CALL = (
    "import sys, paimon_nb; wb = paimon_nb.connect(sys.argv[1]); print(wb.run('CALL sys.%s()').to_arrow().to_pylist())"
)


def call(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    return run_python(folder, "-c", CALL % name, str(folder / "w"))


def pyproject(**procedures: str) -> str:
    lines = "".join(f'{name} = "{value}"\n' for name, value in procedures.items())
    return f'[project.entry-points."paimon_nb.procedures"]\n{lines}'


@pytest.fixture
def guest(tmp_path: Path) -> Path:
    module = tmp_path / "guest.py"
    module.write_text(GUEST)
    return module


def test_a_plugin_that_is_installed(tmp_path, guest):
    site = install(tmp_path / "site", pyproject(hello="guest:HELLO"), guest)
    assert "hello from guest" in call(site, "hello").stdout


def test_a_plugin_cannot_replace_what_is_built_in(tmp_path, guest):
    site = install(tmp_path / "site", pyproject(compact="guest:HELLO"), guest)
    error = call(site, "compact").stderr
    assert "argument table is missing" in error
    assert "hello" not in call(site, "compact").stdout


@pytest.mark.parametrize(
    ("value", "words"),
    sampled(
        [
            ("guest:WRONG", "is not a Procedure"),
            ("guest:MISSING", "cannot be loaded: AttributeError"),
            ("nowhere:HELLO", "cannot be loaded: ModuleNotFoundError"),
        ],
        3,
    ),
)
def test_a_plugin_that_is_broken(tmp_path, guest, value, words):
    site = install(tmp_path / "site", pyproject(hello=value), guest)
    error = call(site, "hello").stderr
    assert "PluginError" in error
    assert f"plugin 'hello' in paimon_nb.procedures ({value} of guest)" in error
    assert words in error
    assert call(site, "no_such_one").stderr.count("ProcedureNotFound"), "a broken plugin stops only itself"


def test_two_packages_with_a_plugin_of_one_name(tmp_path, guest):
    site = install(tmp_path / "site", pyproject(hello="guest:HELLO"), guest)
    install(site, pyproject(hello="guest:WRONG"), name="other")
    error = call(site, "hello").stderr
    assert "two plugins in paimon_nb.procedures are called 'hello'" in error


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test adds is gone afterwards."""
    for group in plugin_groups().values():
        monkeypatch.setattr(group, "_named", dict(group._named))


def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str = "plugins_of_test") -> str:
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


@pytest.mark.usefixtures("groups")
def test_plugins_of_a_module_that_is_named_in_an_option(tmp_path, monkeypatch):
    module = named(tmp_path, monkeypatch, GUEST)
    for _ in range(2):  # the second workbench of a process names it again
        wb = paimon_nb.connect(str(tmp_path / "w"), options={"plugins": module})
        assert wb.run("CALL sys.hello()").to_arrow().to_pylist() == [{"text": "hello from guest"}]


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 / 0", "cannot be imported: ZeroDivisionError"),
        ("x = 1", "has no dictionary PAIMON_NB_PLUGINS"),
        ("PAIMON_NB_PLUGINS = {'procedures': [1]}", "has no dictionary PAIMON_NB_PLUGINS"),
        ("PAIMON_NB_PLUGINS = {'procedure': {}}", "no group of plugins 'procedure'"),
        ("PAIMON_NB_PLUGINS = {'sources': {'a': print}, 'procedures': {'b': 7}}", "is not a Procedure"),
    ],
)
def test_a_module_of_the_option_that_is_broken(tmp_path, monkeypatch, text, words):
    module = named(tmp_path, monkeypatch, text)
    with pytest.raises(PluginError, match=words):
        paimon_nb.connect(str(tmp_path / "w"), options={"plugins": module})
    assert "a" not in plugin_groups()["sources"].names()


@pytest.mark.usefixtures("groups")
def test_a_statement_cannot_name_a_module(tmp_path, monkeypatch):
    module = named(tmp_path, monkeypatch, "raise SystemExit('it ran')")
    wb = paimon_nb.connect(str(tmp_path / "w"))
    with pytest.raises(paimon_nb.PaimonError):
        wb.run(f"CREATE CATALOG c WITH ('type' = 'paimon', 'warehouse' = '{tmp_path}/c', 'plugins' = '{module}')")
    for value in (module, f"{module}:x", f"{module}.x"):
        with pytest.raises(UnknownName):
            wb.run(f"CREATE CATALOG d WITH ('type' = 'paimon', 'warehouse' = '{tmp_path}/d', 'metastore' = '{value}')")


def test_the_page_lists_every_group():
    page = (ROOT / "docs" / "plugins.md").read_text()
    for name, group in plugin_groups().items():
        assert f"| `paimon_nb.{name}` | {group.expects} |" in page
