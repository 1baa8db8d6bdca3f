"""%paimon and %%paimon."""

from __future__ import annotations

import argparse
import difflib
import re
import textwrap
from collections.abc import Mapping
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope, no_var_expand
from traitlets import Bool, Int, TraitError, validate

from paimon_nb.base.errors import Cancelled, PaimonError
from paimon_nb.notebook import errors
from paimon_nb.notebook.display import MAX_ROWS, Rows
from paimon_nb.notebook.magics.active import current, workbench
from paimon_nb.notebook.magics.arguments import Arguments, need_table, words
from paimon_nb.notebook.magics.inspect_commands import Looks
from paimon_nb.notebook.magics.streams import ending_the_cells_own, remember_cell, stop_begun_since
from paimon_nb.notebook.progress import has_front_end
from paimon_nb.notebook.snippets import query_text, with_snippets
from paimon_nb.notebook.undo import now_ms

if TYPE_CHECKING:
    from paimon_nb.workbench import Workbench

_ASSIGN = re.compile(r"^\s*([A-Za-z_]\w*)\s*<<\s*")


def _cell_arguments() -> Arguments:
    parser = Arguments(prog="%%paimon", add_help=False, allow_abbrev=False)
    parser.add_argument("-o", "--out", metavar="NAME", help="keep the result under this name")
    parser.add_argument("-n", "--limit", type=int, metavar="ROWS", help="rows to show, at most 1,000")
    parser.add_argument("-v", "--view", metavar="NAME", help="make the result a temporary view, too")
    parser.add_argument("-c", "--catalog", metavar="NAME", help="run in this catalog")
    parser.add_argument("--save", metavar="NAME", help="keep the query as a snippet")
    parser.add_argument("--with", metavar="NAME", dest="snippets", action="append", default=[], help="use a snippet")
    parser.add_argument("--explain", action="store_true", help="show the plan instead of running")
    parser.add_argument("--dry-run", action="store_true", help="only check that the statements parse")
    parser.add_argument("--no-progress", action="store_true", help="no progress line")
    parser.add_argument("-q", "--quiet", action="store_true", help="show nothing")
    parser.add_argument("-h", "--help", action="store_true", help="show this, and run nothing")
    return parser


HELP = """%paimon                         where we are
%paimon connect PATH            open a warehouse
%paimon tables [DATABASE]       tables
%paimon describe TABLE          columns and keys
%paimon snapshots|files|tags|branches|options|schemas|partitions|buckets|manifests TABLE
%paimon create [TABLE]          a form that writes CREATE TABLE, with warnings and the layout
%paimon lsm TABLE [--bucket N] [--by key|size] [--at SNAPSHOT]    the LSM tree, seen
%paimon timeline TABLE [SNAPSHOT]                 the history, with a slider
%paimon explore TABLE [PLACE]   schema, options, snapshots, manifests, files, row groups: a tree to open
%paimon why TABLE KEY=VALUE     the stored versions of a key, and which decides
%paimon due TABLE [OPTION=VALUE]                  what a compaction would pick, and by which rule; with options: what if
%paimon compact TABLE [OPTION=VALUE]              what is due, what if, run it, before and after, the history
%paimon watch TABLE             the same, following the table as it changes
%paimon skip TABLE [WHERE CONDITION]              what a condition leaves to read, and what excludes the rest
%paimon compare TABLE [A B]                       two snapshots or tags: files, rows, schema, options
%paimon live TABLE [OPTION=VALUE]                 its changes as they come, without Spark; scan.mode=... says from where
%paimon jobs                    the streams of this session, with buttons that end them
%paimon doctor TABLE [--read-files]               what ails a table, with the statement that mends it
%paimon explain SQL             splits, files skipped and why, Spark's plan
%paimon workbench               the workbench object
%paimon traceback               the stack of the last error
%paimon undo                    take back what the last cell that wrote committed
%paimon snippets                queries kept with --save
%paimon doctor                  Java, PySpark, Arrow, write access
%paimon SELECT ...              any statement in one line
%%paimon [-o NAME] [-n ROWS] [-v VIEW] [--explain] [--dry-run]    a cell of statements
%%paimon --save NAME            keep a query; %%paimon --with NAME puts it in front of another as a CTE
  :name in SQL is bound to the Python variable of that name; NAME << SELECT ... keeps a result"""


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
class PaimonMagics(Looks, Magics):
    """`%config PaimonMagics.<trait> = value`."""

    limit = Int(20, help="rows shown when a cell does not say --limit").tag(config=True)
    progress = Bool(True, help="show progress after half a second").tag(config=True)
    short_errors = Bool(True, help="two lines instead of the stack").tag(config=True)

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
                return self._cell(line, cell, local_ns)
            return self._line(line.strip(), local_ns)
        except (PaimonError, KeyboardInterrupt) as raised:
            error = raised if isinstance(raised, PaimonError) else errors.interrupted(raised)
            current.error = error
            if not self.short_errors:
                raise error from None
            raise errors.shown(error) from None

    # -- the cell

    def _cell(self, line: str, cell: str, local_ns: Mapping[str, Any] | None) -> Any:
        parser = _cell_arguments()
        arguments = parser.parse_args(words(line))
        if arguments.help:
            print(parser.format_help() + "\n%paimon help lists the commands of one line")  # noqa: T201
            return None
        assign = _ASSIGN.match(cell)
        if assign:
            # Blanks instead of the name keep every offset true for error messages.
            cell = " " * assign.end() + cell[assign.end() :]
            arguments.out = arguments.out or assign[1]
        return self._run(cell, arguments, local_ns)

    def _run(self, text: str, arguments: argparse.Namespace, local_ns: Mapping[str, Any] | None) -> Any:
        from paimon_nb.sql import parse

        if arguments.snippets:
            text = with_snippets(text, arguments.snippets, current.snippets)
        for option, name in (("--save", arguments.save), ("--out", arguments.out)):
            if name and (not name.isidentifier() or iskeyword(name)):
                raise UsageError(f"{option} {name}: a name of Python's, as in {option} rows")
        if arguments.limit is not None and arguments.limit < 1:
            raise UsageError(f"--limit {arguments.limit}: 1 to {MAX_ROWS:,} rows")
        if arguments.save:
            current.snippets[arguments.save] = query_text(text)
        if arguments.dry_run:
            kinds = [type(s).__name__ for s in parse(text)]
            print(f"{len(kinds)} statement{'s' * (len(kinds) != 1)} parse: {', '.join(kinds)}")  # noqa: T201
            return None
        if arguments.explain:
            text = "EXPLAIN " + text
        wb = workbench()
        if arguments.catalog:
            wb.run(f"USE CATALOG `{arguments.catalog}`")
        params = self._values(text, local_ns)
        limit = min(arguments.limit or self.limit, MAX_ROWS)
        before, since = len(wb.made), now_ms()
        ending_the_cells_own(self.shell)
        streams = set(wb.session.jobs.all)
        try:
            rows = self._with_progress(
                lambda: self._loaded(wb, text, params, limit, arguments.limit), enabled=not arguments.no_progress
            )
        except (Cancelled, KeyboardInterrupt) as error:
            # What an interrupted cell began ends with it; streams of other cells go on.
            stop_begun_since(wb.session.jobs, streams)
            raise errors.interrupted(error, wb.made[before:]) from None
        finally:  # a statement may have committed before another one failed
            current.history.remember(wb.made[before:], since)
        self.shell.user_ns["_paimon"] = rows
        remember_cell(self.shell, rows)
        if arguments.view and isinstance(rows, Rows) and rows.result.frame is not None:
            rows.df.createOrReplaceTempView(arguments.view)
        if arguments.out:
            self.shell.user_ns[arguments.out] = rows
            return None
        return None if arguments.quiet else rows

    @staticmethod
    def _loaded(wb: Workbench, text: str, params: Mapping[str, Any], limit: int, said: int | None) -> Any:
        """The answer, ready to be shown: rows, a live table where a person looks on, or a job's card."""
        rows = Rows(wb.run(text, **params), limit)
        if rows.result.live is not None and has_front_end():
            from paimon_nb.notebook.widgets.live import KEEP, LiveTable

            return LiveTable(rows.result.live, text.strip(), keep=limit if said else KEEP)
        rows.load()
        if rows.result.job is None:
            return rows
        from paimon_nb.notebook.widgets.jobs import JobCard

        return JobCard(rows.result.job, rows)

    def _values(self, text: str, local_ns: Mapping[str, Any] | None) -> dict[str, Any]:
        """Python values of the `:name` markers in the text; markers inside strings and comments are none."""
        from paimon_nb.sql import tokens

        names = {t.text[1:] for t in tokens(text) if t.kind == "param"}
        known = {**self.shell.user_ns, **(local_ns or {})}
        return {n: known[n] for n in names if n in known}

    def _with_progress(self, work: Any, *, enabled: bool) -> Any:
        wb = current.workbench
        if wb is None or not wb.session.spark_started:
            return work()
        from paimon_nb.notebook.progress import run_watched

        return run_watched(wb.session.spark, work, show=enabled and self.progress)

    # -- the line

    def _line(self, line: str, local_ns: Mapping[str, Any] | None) -> Any:
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word in _HELP_WORDS or (rest.split()[-1:] and rest.split()[-1] in _HELP_WORDS and word in commands()):
            return self._do_help("" if word in _HELP_WORDS else word)
        command = getattr(self, f"_do_{word.replace('-', '_')}", None) if word else self._do_status
        if command is not None:
            return command(rest)
        if word in _SYSTEM:
            return self._do_system(word, rest)
        near = difflib.get_close_matches(word, commands(), 1)
        from paimon_nb.sql.parse import SPARK_ONLY, STATEMENTS

        if word.upper() not in STATEMENTS and word.upper() not in SPARK_ONLY and not _ASSIGN.match(line):
            raise UsageError(
                f"%paimon {word}: no such command" + (f"; did you mean {near[0]}?" if near else "; %paimon help")
            )
        return self._cell("", line, local_ns)

    def _do_status(self, rest: str) -> None:
        wb = workbench()
        s = wb.session
        spark = "running" if s.spark_started else "starts with the first query"
        print(f"warehouse  {s.catalog.warehouse}")  # noqa: T201
        print(f"standing   {s.current_catalog}.{s.current_database}")  # noqa: T201
        print(f"Spark      {spark}")  # noqa: T201

    def _do_help(self, rest: str) -> None:
        wanted = rest.removeprefix("%").removeprefix("paimon ").strip()
        said = [line for line in HELP.splitlines() if re.match(rf"%paimon ([\w|]*\|)?{re.escape(wanted)}\b", line)]
        print("\n".join(said) if wanted and said else HELP)  # noqa: T201

    def _do_undo(self, rest: str) -> None:
        if rest:
            raise UsageError("%paimon undo takes back the last cell that wrote; it takes no arguments")
        print(current.history.undo(workbench()))  # noqa: T201

    def _do_snippets(self, rest: str) -> None:
        said = [f"{name}\n" + textwrap.indent(text, "    ") for name, text in current.snippets.items()]
        print("\n".join(said) or "no snippets; %%paimon --save NAME keeps a query")  # noqa: T201

    def _do_connect(self, rest: str) -> None:
        from paimon_nb.workbench import connect

        path, *more = words(rest) or ["warehouse"]
        if more or path.startswith("-"):
            raise UsageError("%paimon connect PATH: one path or URI; CREATE CATALOG opens catalogs of other kinds")
        spark = current.workbench.session._spark if current.workbench is not None else None
        given = current.workbench.session._given_spark if current.workbench is not None else None
        jobs = current.workbench.session.jobs if current.workbench is not None else None
        current.workbench = connect(path, spark=given)
        if jobs is not None:
            current.workbench.session.jobs = jobs  # streams of the warehouse before go on, and can still be ended
        current.history.cells.clear()  # they were written elsewhere
        if spark is not None and given is None:
            current.workbench.session._spark = spark  # one JVM is enough for every warehouse
        print(f"connected to {path}")  # noqa: T201

    def _do_workbench(self, rest: str) -> Workbench:
        return workbench()

    def _do_tables(self, rest: str) -> Rows:
        return self._metadata("SHOW TABLES" + (f" IN {rest}" if rest else ""))

    def _do_describe(self, rest: str) -> Rows:
        need_table("describe", rest)
        return self._metadata(f"DESCRIBE {rest}")

    def _do_explain(self, rest: str) -> None:
        table = workbench().run(f"EXPLAIN {rest}").arrow
        assert table is not None
        print(table.column(0)[0].as_py())  # noqa: T201

    def _do_traceback(self, rest: str) -> None:
        print(errors.full(current.error) if current.error else "no error yet")  # noqa: T201

    def _do_system(self, word: str, rest: str) -> Rows:
        from paimon_nb.session.core.result import Result

        need_table(word, rest)
        arrow = workbench().table(rest).system(word)
        rows = Rows(Result("rows", arrow=arrow), self.limit)
        self.shell.user_ns["_paimon"] = rows
        return rows

    def _metadata(self, text: str) -> Rows:
        rows = Rows(workbench().run(text), MAX_ROWS)
        self.shell.user_ns["_paimon"] = rows
        return rows


def commands() -> list[str]:
    """Every word that may follow %paimon and is no SQL."""
    done = [n.removeprefix("_do_") for n in dir(PaimonMagics) if n.startswith("_do_")]
    return sorted({*_SYSTEM, *done} - {"status", "system"})
