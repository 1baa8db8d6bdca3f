"""The `paimon-nb` command: demo, lab, sql, doctor, warm-up, and the table actions as `paimon-nb compact --path ...`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from paimon_nb import __version__
from paimon_nb.base.errors import PaimonError
from paimon_nb.base.redact import redact_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; errors are two lines and exit code 1."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given and given[0] in _COMMANDS:
            return _COMMANDS[given[0]](given[1:])
        if given and given[0] == "--version":
            print(f"paimon-nb {__version__}")
            return 0
        if given and given[0] not in ("-h", "--help"):
            from paimon_nb.actions import run_action

            return run_action(given[0], given[1:], list(_COMMANDS))
    except PaimonError as error:
        print(f"{type(error).__name__}: {redact_text(str(error))}", file=sys.stderr)
        return 1
    _help()
    return 0


def _help() -> None:
    from paimon_nb.procedures import PROCEDURES

    print(
        "paimon-nb demo            run the quickstart on real data; ends with a table and an HTML page\n"
        "paimon-nb lab             open JupyterLab on the notebooks\n"
        "paimon-nb export N.ipynb  stored notebooks as HTML pages: offline, light and dark [--to DIR]\n"
        "paimon-nb sql 'SELECT..'  run statements [--warehouse DIR] [--config FILE.yaml]\n"
        "paimon-nb warm-up         keep Spark's classes (150 MB): sessions start in half the time\n"
        "paimon-nb doctor          check Java, PySpark, Arrow, write access\n"
        "paimon-nb --version\n"
        "paimon-nb delete          rows of a table: --path WAREHOUSE/db.db/table --where CONDITION\n"
        "paimon-nb ACTION --path WAREHOUSE/db.db/table [--argument value ...]\n"
        "paimon-nb ACTION --help   its arguments; --catalog_conf metastore=jdbc --catalog_conf uri=... for other catalogs\n\n"
        "actions: " + ", ".join(sorted(PROCEDURES))
    )


# -- notebooks


START = "START.ipynb"
"""The page that JupyterLab opens on."""


def notebooks() -> Path:
    """The tutorials: in a checkout beside the package, else under the current folder."""
    beside = Path(__file__).resolve().parent.parent / "notebooks"
    return beside if beside.is_dir() else Path.cwd() / "notebooks"


def _demo(arguments: list[str]) -> int:
    """Execute the quickstart in a folder of its own, print its last table, write an HTML page that works offline."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    from paimon_nb.notebook.page import write_page

    source = notebooks() / "01-quickstart.ipynb"
    target = Path.cwd() / "demo"
    target.mkdir(exist_ok=True)
    shutil.rmtree(target / "warehouse", ignore_errors=True)
    started = time.monotonic()
    print(f"running {source.name}: 336,776 flights into a Paimon table ...", flush=True)
    notebook = nbformat.read(source, as_version=4)
    environment = {**os.environ, "PAIMON_NB_QUIET": "1"}
    client = NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(target)}},
        extra_arguments=["--IPKernelApp.log_level=40"],  # its remark on unencrypted loopback says nothing to a reader
    )  # fmt: skip
    try:
        client.execute(env=environment)
    except CellExecutionError as error:
        print(str(error)[-3000:], file=sys.stderr)
        return 1
    page = target / "quickstart.html"
    write_page(notebook, page)
    print(last_text(notebook))
    print(f"\n{time.monotonic() - started:.0f} s; the whole story with its pictures: {page}")
    return 0


def last_text(notebook: object) -> str:
    """The text of the last table that the notebook shows."""
    found = ""
    for cell in notebook.cells:  # type: ignore[attr-defined]
        for output in cell.get("outputs", ()):
            text = output.get("data", {}).get("text/plain")
            if text and "---" in text:
                found = text
    return found


def _export(arguments: list[str]) -> int:
    """Stored notebooks as pages; nothing is run. Exit code 1 if one is heavier than a page may be."""
    import nbformat

    from paimon_nb.notebook.page import MOST_BYTES, write_page

    parser = argparse.ArgumentParser(prog="paimon-nb export")
    parser.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK")
    parser.add_argument("--to", type=Path, default=Path(), metavar="DIR", help="where the pages go; the current folder")
    given = parser.parse_args(arguments)
    absent = [str(n) for n in given.notebooks if not n.is_file()]
    if absent:
        parser.error(f"no such notebook: {', '.join(absent)}")
    given.to.mkdir(parents=True, exist_ok=True)
    pages, heavy = {n.stem for n in given.notebooks}, 0
    for source in given.notebooks:
        page = given.to / f"{source.stem}.html"
        size = write_page(nbformat.read(source, as_version=4), page, pages)
        heavy += size > MOST_BYTES
        print(f"{size / 1e6:6.2f} MB  {page}" + ("  heavier than a page should be" if size > MOST_BYTES else ""))
    return 1 if heavy else 0


def _lab(arguments: list[str]) -> int:
    folder = notebooks()
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--LabApp.news_url=None",
        f"--ServerApp.root_dir={folder}",
        *([f"--LabApp.default_url=/lab/tree/{START}"] if (folder / START).is_file() else []),
        *arguments,
    ]
    return subprocess.call(command)


# -- SQL


def _sql(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="paimon-nb sql")
    parser.add_argument("text")
    parser.add_argument("--warehouse", default="warehouse")
    parser.add_argument("--config", metavar="FILE.yaml", help="a catalog's definition, or Flink's settings")
    parser.add_argument("--limit", type=int, default=100, metavar="ROWS", help="rows to show; %(default)s")
    given = parser.parse_args(arguments)
    if given.limit < 0:
        parser.error(f"--limit {given.limit}: say how many rows, from 0")
    if given.config and not Path(given.config).is_file():
        parser.error(f"no such file: {given.config}")
    import paimon_nb
    from paimon_nb.notebook.display import Rows

    with paimon_nb.connect(given.warehouse) as wb:
        if given.config:
            wb.configure(Path(given.config))
        print(Rows(wb.run(given.text), given.limit))
    return 0


def _doctor(arguments: list[str]) -> int:
    from paimon_nb.doctor import main as doctor

    return doctor(arguments)


def _delete(arguments: list[str]) -> int:
    from paimon_nb.actions import delete

    return delete(arguments)


def _warm_up(arguments: list[str]) -> int:
    from paimon_nb.warm_up import warm_up

    argparse.ArgumentParser(prog="paimon-nb warm-up").parse_args(arguments)
    print(f"Spark's classes are kept: {warm_up()}")
    return 0


_COMMANDS = {
    "demo": _demo, "lab": _lab, "export": _export, "sql": _sql, "doctor": _doctor, "warm-up": _warm_up, "delete": _delete,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
