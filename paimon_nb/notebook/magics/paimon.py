"""%paimon and %%paimon."""

from __future__ import annotations

import difflib
import re
import textwrap
import time
from collections import ChainMap
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope, no_var_expand
from traitlets import Bool, Int, TraitError, validate

from paimon_nb.base.errors import Cancelled, PaimonError
from paimon_nb.notebook import errors
from paimon_nb.notebook.display import MAX_ROWS, Rows
from paimon_nb.notebook.format_tables import check_panel
from paimon_nb.notebook.magics.active import current, open_warehouse, workbench
from paimon_nb.notebook.magics.arguments import Arguments, need_table, split_arguments
from paimon_nb.notebook.magics.grids import read_facts
from paimon_nb.notebook.magics.inspect_commands import InspectCommands
from paimon_nb.notebook.magics.streams import register_live_table, stop_previous_stream, stop_streams_started_since
from paimon_nb.notebook.progress import (
    RunState,
    has_front_end,
    run_line,
    run_with_progress,
    statement_label,
    tasks_that_go_on,
)
from paimon_nb.notebook.python_cells import ROWS, ROWS_AHEAD
from paimon_nb.notebook.recent_connections import remember
from paimon_nb.notebook.snippets import query_text, with_snippets
from paimon_nb.notebook.undo import now_ms
from paimon_nb.plugins import PANELS
from paimon_nb.session.query.duckdb_tables import run_in_duckdb
from paimon_nb.session.query.engine_choice import DUCKDB, ENGINES, with_engine
from paimon_nb.session.query.error_location import locate_more_exactly
from paimon_nb.spark.errors import spark_errors
from paimon_nb.statements import Span
from paimon_nb.table.read.plan.snapshot_scan import observed_plans

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from paimon_nb.notebook.magics.connect_form import ConnectForm
    from paimon_nb.notebook.widgets.help import HelpCard
    from paimon_nb.notebook.widgets.home import HomeCard
    from paimon_nb.workbench import Workbench

_ASSIGN = re.compile(r"^\s*([A-Za-z_]\w*)\s*<<\s*")


def cell_arguments() -> Arguments:
    """The parser of what follows %%paimon."""
    parser = Arguments(prog="%%paimon", add_help=False, allow_abbrev=False)
    parser.add_argument("-o", "--out", metavar="NAME", help="assign the result to this Python variable")
    parser.add_argument("-n", "--limit", type=int, metavar="ROWS", help="rows to show, at most 1,000")
    parser.add_argument("-v", "--view", metavar="NAME", help="also register the result as a temporary view")
    parser.add_argument("-c", "--catalog", metavar="NAME", help="run in this catalog")
    parser.add_argument(
        "--engine",
        choices=[*ENGINES, DUCKDB],
        help="engine of this cell's queries; duckdb: the text is in DuckDB's dialect",
    )
    parser.add_argument("--save", metavar="NAME", help="save the query as a snippet")
    parser.add_argument(
        "--with", metavar="NAME", dest="snippets", action="append", default=[], help="add a saved snippet as a CTE"
    )
    parser.add_argument("--explain", action="store_true", help="show the plan; do not run the query")
    parser.add_argument("--dry-run", action="store_true", help="only check the syntax")
    parser.add_argument("--no-progress", action="store_true", help="hide the progress line")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not display the result")
    parser.add_argument("-h", "--help", action="store_true", help="show this help; do not run the cell")
    return parser


HELP = """%paimon                         home card: the connection, tables, recent commits, jobs
%paimon connect PATH            open a warehouse; without PATH a form for folders and for S3, JDBC, Hive and REST catalogs
%paimon tables [DATABASE]       list tables
%paimon describe TABLE          show columns and keys
%paimon snapshots|files|tags|branches|options|schemas|partitions|buckets|manifests TABLE  rows of this system table
%paimon create [TABLE]          form that writes CREATE TABLE, with warnings and the layout
%paimon load FILE|VARIABLE [TABLE] [OPTION=VALUE]  form of a new table for a file (CSV, Parquet, JSON ...) or a frame, with its INSERT
%paimon lsm TABLE [--bucket N] [--by key|rank|size] [--at SNAPSHOT]   LSM tree, played commit by commit; heat map of buckets
%paimon timeline TABLE [SNAPSHOT]                 commit history with a slider: files and rows at any snapshot
%paimon explore TABLE [NODE]    browse schemas, options, snapshots, manifests, files, row groups
%paimon why TABLE KEY=VALUE     show every stored version of a row and how they merge
%paimon due TABLE [OPTION=VALUE]                  show which files compaction would pick and why; OPTION=VALUE tries other settings
%paimon compact TABLE [OPTION=VALUE]              compaction panel: preview, try other settings, run it, cost of past compactions
%paimon watch TABLE             compaction panel that refreshes as the table changes
%paimon skip TABLE [WHERE CONDITION]              show how much of the table a WHERE clause skips, and why
%paimon compare TABLE [A B]                       compare two snapshots or tags: files, rows, schema, options
%paimon live TABLE [OPTION=VALUE]                 live change feed, without Spark; scan.mode=... sets where it starts
%paimon pipeline [TABLE]        graph of sources, tables, materialized tables and jobs: freshness, lag, errors, origin of each column
%paimon diff BEFORE AFTER [by COLUMN ...]          rows in which two results or frames differ, row by row or by key
%paimon input NAME = choice('EU', 'US')           input bound to :NAME; its cells run again; also slider(0, 9), date(), text()
%paimon jobs                    list the streaming jobs of this session, with stop buttons
%paimon doctor TABLE [--read-files]               table health check, with the SQL that fixes each problem
%paimon explain SQL             show splits, skipped files with reasons, and Spark's plan
%paimon workbench               return the Workbench object
%paimon traceback               print the full traceback of the last error
%paimon undo                    undo the last writing cell
%paimon queries [NUMBER]        list the queries of this kernel: time, rows, engine, snapshots, error; a number runs one of them
%paimon snippets                list the queries saved with --save
%paimon doctor                  check Java, PySpark, Arrow and write access
%paimon SELECT ...              run any statement in one line
%%paimon [-o NAME] [-n ROWS] [-v VIEW] [--explain] [--dry-run]    run a cell of statements
%%paimon --engine duckdb       DuckDB's dialect over the tables, read-only; spark, local: the engine of this cell
%%paimon --save NAME            save a query; %%paimon --with NAME adds it to another query as a CTE
  :name in SQL is bound to the Python variable of that name; NAME << SELECT ... assigns the result"""


_HELP_WORDS = ("--help", "-h")

_SYSTEM = (
    "snapshots",
    "files",
    "tags",
    "branches",
    "options",
    "schemas",
    "partitions",
    "buckets",
    "manifests",
    "consumers",
)


@magics_class
class PaimonMagics(InspectCommands, Magics):
    """`%config PaimonMagics.<trait> = value`."""

    limit = Int(ROWS, help="rows shown when a cell does not set --limit").tag(config=True)
    progress = Bool(True, help="show a line with the progress below a running cell").tag(config=True)
    short_errors = Bool(True, help="short error messages instead of tracebacks").tag(config=True)

    @validate("limit")
    def _limit_in_range(self, proposal: Mapping[str, Any]) -> int:
        if not 1 <= proposal["value"] <= MAX_ROWS:
            raise TraitError(f"limit is 1 to {MAX_ROWS}")
        return int(proposal["value"])

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def paimon(self, line: str, cell: str | None = None, local_ns: Mapping[str, Any] | None = None) -> Any:
        """SQL and commands on Paimon tables; `%paimon help` lists them."""
        try:
            if cell is not None:
                return self._run_cell(line, cell, local_ns)
            return self._run_line(line.strip(), local_ns)
        except (PaimonError, KeyboardInterrupt) as raised:
            error = raised if isinstance(raised, PaimonError) else errors.error_of_interrupted_cell(raised)
            current.error = error
            if not self.short_errors:
                raise error from None
            raise errors.with_short_traceback(error) from None

    # -- the cell

    def _run_cell(self, line: str, cell: str, local_ns: Mapping[str, Any] | None) -> Any:
        parser = cell_arguments()
        arguments = parser.parse_args(split_arguments(line))
        if arguments.help:
            print(parser.format_help() + "\n%paimon help lists the commands of one line")  # noqa: T201
            return None
        assign = _ASSIGN.match(cell)
        if assign:
            # Spaces in place of the name keep the offsets in error messages correct.
            cell = " " * assign.end() + cell[assign.end() :]
            arguments.out = arguments.out or assign[1]
        return self._run_sql(cell, arguments, local_ns, line)

    def _run_sql(
        self, text: str, arguments: argparse.Namespace, local_ns: Mapping[str, Any] | None, line: str = ""
    ) -> Any:
        from paimon_nb.sql import parse

        if arguments.snippets:
            text = with_snippets(text, arguments.snippets, current.snippets)
        for option, name in (("--save", arguments.save), ("--out", arguments.out)):
            if name and (not name.isidentifier() or iskeyword(name)):
                raise UsageError(f"{option} {name}: not a valid Python name; for example {option} rows")
        if arguments.limit is not None and arguments.limit < 1:
            raise UsageError(f"--limit {arguments.limit}: 1 to {MAX_ROWS:,} rows")
        if arguments.save:
            current.snippets[arguments.save] = query_text(text)
        is_duckdb = arguments.engine == DUCKDB
        if is_duckdb and (arguments.dry_run or arguments.view or arguments.catalog):
            raise UsageError("--engine duckdb takes no --dry-run, --view and --catalog")
        if arguments.dry_run:
            kinds = [type(s).__name__ for s in parse(text)]
            print(f"{len(kinds)} statement{'s' * (len(kinds) != 1)} parse: {', '.join(kinds)}")  # noqa: T201
            return None
        if arguments.explain:
            text = "EXPLAIN " + text
        wb = workbench()
        if arguments.catalog:
            wb.run(f"USE CATALOG `{arguments.catalog}`")
        params = self._parameter_values(text, local_ns)
        wb.session.variables = self._variables(local_ns)
        limit = min(arguments.limit or self.limit, MAX_ROWS)
        commits_before, started_ms = len(wb.commits), now_ms()
        stop_previous_stream(self.shell)
        earlier_streams = set(wb.session.jobs.all)
        started, rows = time.monotonic(), None
        failure: BaseException | None = None
        try:
            rows = self._with_progress(
                lambda state: self._result_view(wb, text, params, limit, arguments.limit, arguments.engine, state),
                text,
                enabled=not arguments.no_progress,
            )
        except (Cancelled, KeyboardInterrupt) as error:
            failure = error
            # Stop the streams that the interrupted cell started; streams of other cells continue.
            stop_streams_started_since(wb.session.jobs, earlier_streams)
            only_queries = is_duckdb or _reads_only(text)
            raise errors.error_of_interrupted_cell(
                error,
                wb.commits[commits_before:],
                only_queries=only_queries,
                tasks=tasks_that_go_on() if only_queries else 0,
            ) from None
        except PaimonError as error:
            failure = error
            locate_more_exactly(error, text, Span(0, len(text)))  # Spark may have failed while the rows were read
            raise
        finally:  # a statement may have committed before another one failed
            current.history.record(wb.commits[commits_before:], started_ms, text)
            current.queries.record(line.strip(), text, started, rows, wb.commits[commits_before:], failure)
        self.shell.user_ns["_paimon"] = rows
        register_live_table(self.shell, rows)
        if arguments.view and isinstance(rows, Rows) and rows.result.frame is not None:
            rows.df.createOrReplaceTempView(arguments.view)
        if arguments.out:
            self.shell.user_ns[arguments.out] = rows
            return None
        return None if arguments.quiet else rows

    @staticmethod
    def _result_view(
        wb: Workbench,
        text: str,
        params: Mapping[str, Any],
        limit: int,
        requested_limit: int | None,
        engine: str | None,
        state: RunState,
    ) -> Any:
        """The result to display: rows, a live table (with an interactive front end) or a job card."""
        started = time.monotonic()
        with observed_plans() as plans, with_engine(wb.session, engine):
            state.plans = plans
            result = run_in_duckdb(wb.session, text, params) if engine == DUCKDB else wb.run(text, **params)
            rows = Rows(result, limit, ROWS_AHEAD if has_front_end() else 0)
            rows.as_table = requested_limit is not None
            if rows.result.live is not None and has_front_end():
                from paimon_nb.notebook.widgets.live import KEEP, LiveTable

                return LiveTable(rows.result.live, text.strip(), keep=limit if requested_limit else KEEP)
            with spark_errors(text, Span(0, len(text))):
                rows.load()
        rows.statement = _query_of_cell(text, engine) if rows.preview.is_query else ""
        rows.facts = read_facts(time.monotonic() - started, plans, rows.result)
        if has_front_end() and not rows.preview.is_query:
            rows.footer = " · ".join(rows.facts)
        if rows.result.job is None:
            return rows
        from paimon_nb.notebook.widgets.jobs import JobCard

        return JobCard(rows.result.job, rows)

    def _parameter_values(self, text: str, local_ns: Mapping[str, Any] | None) -> dict[str, Any]:
        """Python values of the `:name` parameters in the text; strings and comments contain no parameters."""
        from paimon_nb.sql import tokens

        names = {t.text[1:] for t in tokens(text) if t.kind == "param"}
        known = {**self.shell.user_ns, **(local_ns or {})}
        return {n: known[n] for n in names if n in known}

    def _variables(self, local_ns: Mapping[str, Any] | None = None) -> Callable[[str], Any]:
        """Finds variables of the notebook, and of the function that runs the magic; a frame can be queried by its name."""
        known = ChainMap(dict(local_ns or {}), self.shell.user_ns)
        return lambda name: None if name in ("In", "Out") else known.get(name)

    def _with_progress(self, work: Callable[[RunState], Any], text: str, *, enabled: bool) -> Any:
        """The result of `work`, with the line of a running cell below it."""
        wb, state = current.workbench, RunState(statement_label(text))
        with run_line(state, show=enabled and self.progress):
            if wb is None or not wb.session.spark_started:
                return work(state)
            return run_with_progress(wb.session.spark, lambda: work(state), state)

    # -- the line

    def _run_line(self, line: str, local_ns: Mapping[str, Any] | None) -> Any:
        word, _, command_args = line.partition(" ")
        command_args = command_args.strip()
        if word in _HELP_WORDS or (
            command_args.split()[-1:] and command_args.split()[-1] in _HELP_WORDS and word in commands()
        ):
            return self._do_help("" if word in _HELP_WORDS else word)
        command = getattr(self, f"_do_{word.replace('-', '_')}", None) if word else self._do_status
        if command is not None:
            return command(command_args)
        if word in _SYSTEM:
            return self._do_system(word, command_args)
        if word in PANELS:
            return PANELS[word](workbench(), command_args)
        similar = difflib.get_close_matches(word, commands(), 1)
        from paimon_nb.sql.parse import SPARK_ONLY, STATEMENTS

        if word.upper() not in STATEMENTS and word.upper() not in SPARK_ONLY and not _ASSIGN.match(line):
            raise UsageError(
                f"%paimon {word}: no such command" + (f"; did you mean {similar[0]}?" if similar else "; %paimon help")
            )
        return self._run_cell("", line, local_ns)

    def _do_status(self, _: str) -> HomeCard | None:
        if has_front_end():
            from paimon_nb.notebook.widgets.home import HomeCard

            return HomeCard(workbench())
        from paimon_nb.notebook.home_model import home_of

        print(home_of(workbench()))  # noqa: T201
        return None

    def _do_help(self, command_args: str) -> HelpCard | None:
        command = command_args.removeprefix("%").removeprefix("paimon ").strip()
        text = HELP + _help_of_plugins()
        lines = [line for line in text.splitlines() if re.match(rf"%paimon ([\w|]*\|)?{re.escape(command)}\b", line)]
        help_text = "\n".join(lines) if command and lines else text
        if has_front_end():
            from paimon_nb.notebook.widgets.help import HelpCard

            return HelpCard(help_text)
        print(help_text)  # noqa: T201
        return None

    def _do_undo(self, command_args: str) -> None:
        if command_args:
            raise UsageError("%paimon undo takes no arguments; it undoes the last writing cell")
        print(current.history.undo(workbench()))  # noqa: T201

    def _do_queries(self, command_args: str) -> Any:
        from paimon_nb.session.core.result import Result

        if command_args:
            if not command_args.isdecimal():
                raise UsageError(
                    "%paimon queries [NUMBER]: without a number it lists the queries, with one it runs that query"
                )
            record = current.queries.find(int(command_args))
            return self._run_cell(record.arguments, record.text, None)
        return Rows(Result("rows", arrow=current.queries.table(), is_query=True), self.limit)

    def _do_snippets(self, _: str) -> None:
        saved = [f"{name}\n" + textwrap.indent(text, "    ") for name, text in current.snippets.items()]
        print("\n".join(saved) or "no snippets; save a query with %%paimon --save NAME")  # noqa: T201

    def _do_connect(self, command_args: str) -> ConnectForm | None:
        if not command_args and has_front_end():
            from paimon_nb.notebook.magics.connect_form import ConnectForm

            return ConnectForm()
        path, *other_args = split_arguments(command_args) or ["warehouse"]
        if other_args or path.startswith("-"):
            raise UsageError(
                "%paimon connect PATH: expected one path or URI; use CREATE CATALOG for other catalog types"
            )
        open_warehouse(path)
        if has_front_end():
            remember("filesystem" if "://" not in path else "s3", "", {"warehouse": path})
        print(f"connected to {path}")  # noqa: T201
        return None

    def _do_workbench(self, _: str) -> Workbench:
        wb = workbench()
        wb.session.variables = self._variables()
        return wb

    def _do_tables(self, command_args: str) -> Rows:
        return self._run_metadata_query("SHOW TABLES" + (f" IN {command_args}" if command_args else ""))

    def _do_describe(self, command_args: str) -> Rows:
        need_table("describe", command_args)
        return self._run_metadata_query(f"DESCRIBE {command_args}")

    def _do_explain(self, command_args: str) -> None:
        table = workbench().run(f"EXPLAIN {command_args}").arrow
        assert table is not None
        print(table.column(0)[0].as_py())  # noqa: T201

    def _do_traceback(self, _: str) -> None:
        print(errors.full(current.error) if current.error else "no error yet")  # noqa: T201

    def _do_system(self, word: str, command_args: str) -> Rows:
        from paimon_nb.session.core.result import Result

        need_table(word, command_args)
        arrow = check_panel(workbench().table(command_args), word).system(word)
        rows = Rows(Result("rows", arrow=arrow), self.limit)
        self.shell.user_ns["_paimon"] = rows
        return rows

    def _run_metadata_query(self, text: str) -> Rows:
        rows = Rows(workbench().run(text), MAX_ROWS)
        self.shell.user_ns["_paimon"] = rows
        return rows


def _query_of_cell(text: str, engine: str | None) -> str:
    """The last statement of a cell, which gave its rows, as a cell of its own; '' if it is no query."""
    from paimon_nb.sql import parse
    from paimon_nb.statements import Query

    magic = f"%%paimon --engine {engine}" if engine else "%%paimon"
    if engine == DUCKDB:
        return f"{magic}\n{text.strip().rstrip(';')}"
    last = parse(text)[-1]
    if not isinstance(last, Query):
        return ""
    return f"{magic}\n{text[last.span.start : last.span.stop].strip().rstrip(';')}"


def _reads_only(text: str) -> bool:
    from paimon_nb.sql import parse
    from paimon_nb.statements import Query, Show

    return all(isinstance(statement, Query | Show) for statement in parse(text))


def _help_of_plugins() -> str:
    return "".join(f"\n%paimon {name:<22} {(PANELS[name].__doc__ or 'of a plugin').splitlines()[0]}" for name in PANELS)


def commands() -> list[str]:
    """All %paimon commands."""
    done = [n.removeprefix("_do_") for n in dir(PaimonMagics) if n.startswith("_do_")]
    return sorted({*_SYSTEM, *done, *PANELS} - {"status", "system"})
