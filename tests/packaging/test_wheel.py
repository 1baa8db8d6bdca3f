"""The wheel and the source distribution, built, installed into empty environments outside the tree, and used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from test_slim_install import SCRIPT, check

ROOT = Path(__file__).parents[2]
SLIM = ("pyarrow", "numpy", "fastavro", "zstandard", "backports.zstd", "pyroaring", "xxhash")
"""Packages that tables need: Arrow, NumPy, Avro, codecs, bitmaps, hashes."""

sys.path.insert(0, str(ROOT / "tests" / "browser"))

pytestmark = pytest.mark.nightly


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "JUPYTER", "IPYTHON"))}
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd, env=env, check=False)


def environment(folder: Path) -> Path:
    """An empty environment. Returns its Python."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def install(python: Path, *what: str | Path) -> None:
    """Install packages, or skip the test where no registry answers."""
    done = run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what, cwd=python.parent)
    if done.returncode and ("ConnectionError" in done.stderr or "No matching distribution" in done.stderr):
        pytest.skip("no package registry answers")
    assert done.returncode == 0, done.stderr


def size_mb(python: Path) -> int:
    """Size of what is installed."""
    packages = python.parents[1] / "lib"
    return sum(f.stat().st_size for f in packages.rglob("*") if f.is_file()) >> 20


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution, built from a copy of the tracked files."""
    folder = tmp_path_factory.mktemp("build")
    source = folder / "source"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "docs/images/")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    python = environment(folder / "env")
    install(python, "hatchling")
    done = run(python, "-m", "hatchling", "build", "-d", folder / "dist", cwd=source)
    assert done.returncode == 0, done.stderr
    return folder / "dist"


def the(dist: Path, suffix: str) -> Path:
    (found,) = dist.glob(f"*{suffix}")
    return found


def test_the_archives_hold_what_they_should(dist: Path) -> None:
    wheel = set(zipfile.ZipFile(the(dist, ".whl")).namelist())
    assert {"paimon_nb/py.typed", "paimon_nb/notebook/widgets/style.css"} <= wheel
    assert any(name.endswith("share/jupyter/labextensions/paimon-nb/package.json") for name in wheel)
    assert {name.split("/")[0].partition("-")[0] for name in wheel} == {"paimon_nb"}
    with tarfile.open(the(dist, ".tar.gz")) as archive:
        names = {name.partition("/")[2].split("/")[0] for name in archive.getnames()}
    assert names == {
        "paimon_nb", "hatch_build.py", "pyproject.toml", "README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "PKG-INFO",
        ".gitignore",
    }  # fmt: skip


def test_tables_work_with_the_wheel_and_seven_packages(dist: Path, tmp_path: Path) -> None:
    python = environment(tmp_path / "env")
    install(python, *SLIM)
    install(python, "--no-deps", the(dist, ".whl"))
    done = run(python, SCRIPT, tmp_path / "warehouse", cwd=tmp_path)
    assert done.stderr == ""
    check(json.loads(done.stdout))
    sys.stdout.write(f"\nsmall installation: {size_mb(python)} MB\n")


def test_the_source_distribution_gives_the_same_package(dist: Path, tmp_path: Path) -> None:
    python = environment(tmp_path / "env")
    install(python, *SLIM)
    install(python, "--no-deps", the(dist, ".tar.gz"))
    done = run(python, SCRIPT, tmp_path / "warehouse", cwd=tmp_path)
    check(json.loads(done.stdout))


USE = """
import sys
from IPython.core.interactiveshell import InteractiveShell
import paimon_nb
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "paimon_nb")
shell.run_line_magic("paimon", f"connect {sys.argv[1]}")
shell.run_cell_magic("paimon", "", "CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED); INSERT INTO t VALUES (1), (2)")
table = paimon_nb.open_table(f"{sys.argv[1]}/default.db/t")
assert table.to_arrow().num_rows == 2
print(type(table.lsm()).__name__)
"""


@pytest.fixture(scope="module")
def whole(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and all that it depends on."""
    python = environment(tmp_path_factory.mktemp("whole") / "env")
    install(python, the(dist, ".whl"))
    return python


def test_the_whole_package_installs_and_runs(whole: Path, tmp_path: Path) -> None:
    python = whole
    used = run(python, "-c", USE, tmp_path / "warehouse", cwd=tmp_path)
    assert (used.returncode, used.stdout.splitlines()[-1:]) == (0, ["LsmView"]), used.stderr
    doctor = run(python.with_name("paimon-nb"), "doctor", cwd=tmp_path)
    assert "PySpark" in doctor.stdout or "pyspark" in doctor.stdout, doctor.stderr
    listed = run(python.with_name("jupyter"), "labextension", "list", cwd=tmp_path)
    assert "paimon-nb v" in listed.stdout + listed.stderr
    sys.stdout.write(f"\nwhole installation: {size_mb(python)} MB\n")


CELLS = (
    "import paimon_nb\nprint(paimon_nb.__file__)\n%load_ext paimon_nb\n%paimon connect warehouse",
    "%%paimon\nCREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, v STRING);\nINSERT INTO t VALUES (1, 'a'), (2, 'b');\nINSERT INTO t VALUES (2, 'c')",
    "%paimon timeline t",
)


@pytest.mark.browser
def test_a_widget_and_the_extension_of_the_wheel_in_jupyterlab(whole: Path, tmp_path: Path) -> None:
    from lab_kit import Lab, Notebook
    from lab_server import FLAGS, jupyterlab
    from panel_kit import write_notebook
    from playwright.sync_api import expect, sync_playwright
    from requirements import chromium

    with jupyterlab(tmp_path, whole) as (url, root), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), headless=True, args=FLAGS.split())
        (root / "wheel").mkdir()
        lab, notebook = Lab(url, root / "wheel", "wheel"), Notebook(browser.new_page())
        write_notebook(lab, "wheel.ipynb", CELLS)
        notebook.open(lab, "wheel.ipynb")
        notebook.run_all()
        notebook.output(2).locator("rect.file").first.wait_for(timeout=90_000)
        assert str(whole.parents[1]) in notebook.page.locator(".jp-CodeCell").first.inner_text()  # not the checkout
        files = notebook.output(2).locator("rect.file")
        before = files.count()
        slider = notebook.output(2).locator("input[type=range]")
        slider.focus()
        slider.press("Home")  # a round trip to the kernel: the first snapshot has fewer files
        expect(files).not_to_have_count(before)
        plugins = notebook.page.evaluate(
            "() => ['highlight', 'stills', 'help', 'catalog'].map(p => jupyterapp.isPluginActivated('paimon-nb:' + p))"
        )
        assert plugins == [True, True, True, True]
        notebook.close_all()
        browser.close()
