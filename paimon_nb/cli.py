"""The `paimon-nb` command: demo, lab, sql, run, refresh, mcp, doctor, warm-up, and the table actions as `paimon-nb compact --path ...`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from paimon_nb import __version__
from paimon_nb.base.errors import PaimonError
from paimon_nb.base.redact import redact_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbformat import NotebookNode


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Errors print two lines and exit with code 1."""
    options = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if options and options[0] in _COMMANDS:
            return _COMMANDS[options[0]](options[1:])
        if options and options[0] == "--version":
            print(f"paimon-nb {__version__}")
            return 0
        if options and options[0] not in ("-h", "--help"):
            from paimon_nb.actions import run_action

            return run_action(options[0], options[1:], list(_COMMANDS))
    except PaimonError as error:
        print(f"{type(error).__name__}: {redact_text(str(error))}", file=sys.stderr)
        return 1
    _help()
    return 0


def _help() -> None:
    from paimon_nb.procedures import PROCEDURES

    print(
        "paimon-nb demo            run the quickstart on real data; writes a table and an HTML page\n"
        "paimon-nb lab             open JupyterLab with the tutorials\n"
        "paimon-nb export N.ipynb  export notebooks as offline HTML pages [--to DIR]\n"
        "paimon-nb sql 'SELECT..'  run SQL statements [--warehouse DIR] [--config FILE.yaml] [--engine duckdb]\n"
        "paimon-nb run FILE.sql    run jobs without a notebook, restart them after errors, serve their state [--port N]\n"
        "paimon-nb refresh DIR     refresh the materialized tables of a warehouse [TABLE ...] [--watch]\n"
        "paimon-nb mcp             serve tables to assistants, read-only [--warehouse DIR] [--config FILE.yaml]\n"
        "paimon-nb warm-up         cache Spark's classes (150 MB); Spark then starts in half the time\n"
        "paimon-nb doctor          check Java, PySpark, Arrow, write access\n"
        "paimon-nb --version\n"
        "paimon-nb delete          delete rows: --path WAREHOUSE/db.db/table --where CONDITION\n"
        "paimon-nb ACTION --path WAREHOUSE/db.db/table [--argument value ...]\n"
        "paimon-nb ACTION --help   show its arguments; other catalogs: --catalog_conf metastore=jdbc --catalog_conf uri=...\n\n"
        "actions: " + ", ".join(sorted(PROCEDURES))
    )


# -- notebooks


START = "START.ipynb"
"""The notebook that JupyterLab opens first."""


def notebooks() -> Path:
    """The tutorials: next to the package in a checkout, else in the current folder."""
    checkout = Path(__file__).resolve().parent.parent / "notebooks"
    return checkout if checkout.is_dir() else Path.cwd() / "notebooks"


def _demo(_: list[str]) -> int:
    """Run the quickstart notebook in ./demo, print its last table and write an offline HTML page."""
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
        extra_arguments=["--IPKernelApp.log_level=40"],  # hide its warning about unencrypted loopback connections
    )  # fmt: skip
    try:
        client.execute(env=environment)
    except CellExecutionError as error:
        print(str(error)[-3000:], file=sys.stderr)
        return 1
    page = target / "quickstart.html"
    write_page(notebook, page)
    print(demo_result_text(notebook))
    print(f"\n{time.monotonic() - started:.0f} s; page with all pictures: {page}")
    return 0


def demo_result_text(notebook: NotebookNode) -> str:
    """The text of the last table in the notebook."""
    found = ""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            text = output.get("data", {}).get("text/plain")
            if text and "---" in text:
                found = text
    return found


def _export(arguments: list[str]) -> int:
    """Export stored notebooks as HTML without running them. Exit code 1 if a page exceeds the size limit."""
    import nbformat

    from paimon_nb.notebook.page import MAX_PAGE_BYTES, write_page

    parser = argparse.ArgumentParser(prog="paimon-nb export")
    parser.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK")
    parser.add_argument(
        "--to", type=Path, default=Path(), metavar="DIR", help="output folder; default: the current folder"
    )
    options = parser.parse_args(arguments)
    absent = [str(n) for n in options.notebooks if not n.is_file()]
    if absent:
        parser.error(f"no such notebook: {', '.join(absent)}")
    options.to.mkdir(parents=True, exist_ok=True)
    pages, heavy = {n.stem for n in options.notebooks}, 0
    for source in options.notebooks:
        page = options.to / f"{source.stem}.html"
        size = write_page(nbformat.read(source, as_version=4), page, pages)
        heavy += size > MAX_PAGE_BYTES
        print(f"{size / 1e6:6.2f} MB  {page}" + ("  exceeds the size limit" if size > MAX_PAGE_BYTES else ""))
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
    from paimon_nb.session.query.engine_choice import DUCKDB, ENGINES, with_engine

    parser = argparse.ArgumentParser(prog="paimon-nb sql")
    parser.add_argument("text")
    parser.add_argument("--warehouse", default="warehouse")
    parser.add_argument("--config", metavar="FILE.yaml", help="catalog definition or Flink settings")
    parser.add_argument(
        "--limit", type=int, default=100, metavar="ROWS", help="maximum number of rows; default %(default)s"
    )
    parser.add_argument(
        "--engine", choices=[*ENGINES, DUCKDB], help="engine of queries; duckdb: the text is in DuckDB's dialect"
    )
    options = parser.parse_args(arguments)
    if options.limit < 0:
        parser.error(f"--limit {options.limit}: must be 0 or more")
    if options.config and not Path(options.config).is_file():
        parser.error(f"no such file: {options.config}")
    import paimon_nb
    from paimon_nb.notebook.display import Rows

    with paimon_nb.connect(options.warehouse) as wb:
        if options.config:
            wb.configure(Path(options.config))
        if options.engine == DUCKDB:
            from paimon_nb.session.query.duckdb_tables import run_in_duckdb

            print(Rows(run_in_duckdb(wb.session, options.text, {}), options.limit))
            return 0
        with with_engine(wb.session, options.engine):
            print(Rows(wb.run(options.text), options.limit))
    return 0


def _run(arguments: list[str]) -> int:
    from paimon_nb.job_runner import main as run_jobs

    return run_jobs(arguments)


def _refresh(arguments: list[str]) -> int:
    from paimon_nb.refresh_command import main as refresh

    return refresh(arguments)


def _mcp(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="paimon-nb mcp", description="Serve tables to assistants, read-only, over stdio."
    )
    parser.add_argument("--warehouse", default="warehouse")
    parser.add_argument("--config", metavar="FILE.yaml", help="catalog definition or Flink settings")
    parser.add_argument(
        "--files", action="append", default=[], metavar="DIR",
        help="folder whose data files may be read, FROM 'DIR/x.csv'; may be repeated; default: none",
    )  # fmt: skip
    parser.add_argument("--max-seconds", type=float, default=60.0, help="time of one call; default %(default)g")
    parser.add_argument("--max-rows", type=int, default=1_000, help="rows of one answer; default %(default)s")
    parser.add_argument("--max-bytes", type=int, default=1_000_000, help="bytes of one answer; default %(default)s")
    parser.add_argument(
        "--max-memory",
        default="4 gb",
        metavar="SIZE",
        help="memory of the processes that run a call; default %(default)s",
    )
    options = parser.parse_args(arguments)
    if options.config and not Path(options.config).is_file():
        parser.error(f"no such file: {options.config}")
    for folder in options.files:
        if not Path(folder).is_dir():
            parser.error(f"no such folder: {folder}")
    from paimon_nb.mcp_server import Limits, ToolProcess, create_server
    from paimon_nb.mcp_server.process import Setup, ToolFailed
    from paimon_nb.options.option import parse_memory

    try:
        memory = parse_memory(options.max_memory)
    except ValueError as error:
        parser.error(f"--max-memory {options.max_memory}: {error}")
    limits = Limits(options.max_seconds, options.max_rows, options.max_bytes, memory)
    process = ToolProcess(Setup(options.warehouse, options.config, tuple(options.files), limits))
    server = create_server(process)
    try:
        process.start()
        server.run()
    except ToolFailed as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        process.close()
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
    print(f"Spark's classes are cached in {warm_up()}")
    return 0


_COMMANDS = {
    "demo": _demo, "lab": _lab, "export": _export, "sql": _sql, "doctor": _doctor, "warm-up": _warm_up, "delete": _delete, "mcp": _mcp, "run": _run, "refresh": _refresh,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
