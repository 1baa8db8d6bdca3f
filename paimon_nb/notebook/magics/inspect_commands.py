"""The %paimon commands that open inspection panels."""

from __future__ import annotations

import shlex
from typing import Any

from IPython.core.error import UsageError

from paimon_nb.notebook.format_tables import check_panel
from paimon_nb.notebook.magics.active import current, workbench
from paimon_nb.notebook.magics.arguments import (
    Arguments,
    checked_what_if_options,
    need_table,
    split_arguments,
    table_and_pairs,
    typed_key_value,
)


class InspectCommands:
    """`%paimon lsm`, `timeline`, `explore`, `why` ... One method per command; `%paimon help` lists them."""

    shell: Any

    def _do_lsm(self, command_args: str) -> Any:
        parser = Arguments(prog="%paimon lsm", add_help=False, allow_abbrev=False)
        parser.add_argument("table")
        parser.add_argument("--partition")
        parser.add_argument("--bucket", type=int)
        parser.add_argument("--by", choices=("key", "rank", "size"), default="key")
        parser.add_argument("--at", type=int)
        need_table("lsm", command_args)
        a = parser.parse_args(split_arguments(command_args))
        from paimon_nb.notebook.views import lsm_view

        return lsm_view(workbench().table(a.table), a.partition, a.bucket, a.by, a.at)

    def _do_timeline(self, command_args: str) -> Any:
        need_table("timeline", command_args)
        from paimon_nb.notebook.views import timeline_view

        name, _, at = command_args.rpartition(" ")
        if name.strip() and at.isdecimal():
            return timeline_view(workbench().table(name.strip()), int(at))
        return timeline_view(workbench().table(command_args))

    def _do_explore(self, command_args: str) -> Any:
        need_table("explore", command_args)
        from paimon_nb.notebook.views import explore_view

        table, _, at = command_args.partition(" ")
        return explore_view(workbench().table(table), at.strip())

    def _do_why(self, command_args: str) -> Any:
        from paimon_nb.notebook.widgets.why import WhyView

        table, key = table_and_pairs(command_args, "why TABLE KEY=VALUE")
        check_panel(table, "why")
        return WhyView(table, {k: typed_key_value(table.schema.field(k), v) for k, v in key.items()}, workbench())

    def _do_due(self, command_args: str) -> Any:
        from paimon_nb.notebook.reports import due_report

        table, options = table_and_pairs(command_args, "due TABLE [OPTION=VALUE]")
        return due_report(check_panel(table, "due").inspect.due_compactions(checked_what_if_options("due", options)))

    def _do_skip(self, command_args: str) -> Any:
        from paimon_nb.notebook.views import funnel_view

        need_table("skip", command_args)
        name, _, condition = command_args.partition(" ")
        return funnel_view(workbench().table(name), condition)

    def _do_compare(self, command_args: str) -> Any:
        from paimon_nb.notebook.views import compared_view

        tokens = split_arguments(command_args)
        if len(tokens) not in (1, 3):
            raise UsageError("%paimon compare TABLE [A B]; A and B are snapshots or tags")
        return compared_view(workbench().table(tokens[0]), *tokens[1:])

    def _do_doctor(self, command_args: str) -> Any:
        if not command_args:
            from paimon_nb.doctor import main

            main([current.workbench.session.catalog.warehouse] if current.workbench is not None else [])
            return None
        from paimon_nb.notebook.views import doctor_view

        tokens = split_arguments(command_args)
        read_files = "--read-files" in tokens
        table, _ = table_and_pairs(shlex.join(w for w in tokens if w != "--read-files"), "doctor TABLE [--read-files]")
        return doctor_view(table, read_files)

    def _do_compact(self, command_args: str) -> Any:
        from paimon_nb.notebook.views import compaction_view

        table, options = table_and_pairs(command_args, "compact TABLE [OPTION=VALUE]")
        return compaction_view(table, checked_what_if_options("compact", options))

    def _do_watch(self, command_args: str) -> Any:
        from paimon_nb.notebook.views import compaction_view

        table, options = table_and_pairs(command_args, "watch TABLE [OPTION=VALUE]")
        return compaction_view(table, checked_what_if_options("watch", options), watch=True)

    def _do_live(self, command_args: str) -> Any:
        from paimon_nb.notebook.magics.streams import register_live_table, stop_previous_stream
        from paimon_nb.notebook.table_feed import TableFeed
        from paimon_nb.notebook.widgets.live import LiveTable

        table, options = table_and_pairs(command_args, "live TABLE [OPTION=VALUE]")
        check_panel(table, "live")
        stop_previous_stream(self.shell)
        widget = LiveTable(TableFeed(table, workbench().session.jobs, options), f"SELECT * FROM {table.name.quoted()}")
        register_live_table(self.shell, widget)
        return widget

    def _do_diff(self, command_args: str) -> Any:
        from paimon_nb.notebook.display import Rows
        from paimon_nb.notebook.python_cells import ROWS, ROWS_AHEAD
        from paimon_nb.notebook.result_diff import differing_rows
        from paimon_nb.session import Result
        from paimon_nb.table.write.input_rows import as_reader

        before, after, *rest = [*split_arguments(command_args.replace(",", " ")), "", ""]
        keys = [k for k in rest[1:] if k] if rest[:1] == ["by"] else []
        known = self.shell.user_ns
        if not before or not after or (rest[:1] not in ([""], ["by"])) or (rest[:1] == ["by"] and not keys):
            raise UsageError(
                "%paimon diff BEFORE AFTER [by COLUMN ...]; BEFORE and AFTER are results or frames, as of %%paimon -o NAME"
            )
        for name in (before, after):
            if name not in known:
                raise UsageError(f"{name}: no such variable; %%paimon -o {name} gives a result a name")
        old, new = (as_reader(known[name]).read_all() for name in (before, after))
        found = differing_rows(old, new, keys)
        result = Result("rows", arrow=found, is_query=True)
        result.notes.append(
            f"{before} has {old.num_rows:,} rows, {after} {new.num_rows:,}; they differ in {found.num_rows:,}"
        )
        return Rows(result, ROWS, ROWS_AHEAD)

    def _do_input(self, command_args: str) -> Any:
        from paimon_nb.notebook.inputs import parse_input
        from paimon_nb.notebook.widgets.input import InputView

        try:
            spec = parse_input(command_args)
        except ValueError as error:
            raise UsageError(str(error)) from None
        known = self.shell.user_ns.get(spec.name)
        value = known if spec.accepts(known) else spec.start  # the cell runs again: the choice stays
        return InputView(spec, value, self.shell.user_ns.__setitem__)

    def _do_jobs(self, command_args: str) -> Any:
        from paimon_nb.notebook.widgets.jobs import JobsView

        if command_args:
            raise UsageError("%paimon jobs takes no arguments; STOP JOB '<id>' stops a job")
        if current.jobs_view is not None:
            current.jobs_view.replaced()
        current.jobs_view = JobsView(workbench())
        return current.jobs_view

    def _do_pipeline(self, command_args: str) -> Any:
        from paimon_nb.notebook.widgets.pipeline import PipelineView

        if len(split_arguments(command_args)) > 1:
            raise UsageError("%paimon pipeline [TABLE]: the pipelines of the catalog, with this table selected")
        return PipelineView(workbench(), command_args)

    def _do_create(self, command_args: str) -> Any:
        from paimon_nb.notebook.widgets.create import CreateForm

        tokens = split_arguments(command_args)
        if len(tokens) > 1:
            raise UsageError("%paimon create [TABLE] opens a form; to run a CREATE statement, use %%paimon")
        return CreateForm(tokens[0] if tokens else "my_table")

    def _do_load(self, command_args: str) -> Any:
        from paimon_nb.notebook.create_model import quoted_if_needed
        from paimon_nb.notebook.load_model import draft_of_rows, file_source, load_source
        from paimon_nb.notebook.load_options import options_of_words
        from paimon_nb.notebook.widgets.create import CreateForm
        from paimon_nb.session.query.frames_and_files import is_frame, rows_of_frame

        tokens = split_arguments(command_args)
        words = [t for t in tokens[1:] if "=" in t]
        names = [t for t in tokens if t not in words]
        if not 1 <= len(names) <= 2:
            raise UsageError(
                "%paimon load FILE|VARIABLE [TABLE] [OPTION=VALUE]: a file such as sales.csv, or a variable with a frame"
            )
        name, table = names[0], names[1] if len(names) > 1 else ""
        value = self.shell.user_ns.get(name)
        if value is None or not is_frame(value):
            draft, source = file_source(name, table, options_of_words(words))
        elif words:
            raise UsageError(f"%paimon load: a variable has no options such as {words[0]}")
        else:
            rows = rows_of_frame(value, name)
            draft = draft_of_rows(rows, table or f"{name.lower()}_table")
            source = load_source(rows, quoted_if_needed(name), f"variable {name}")
        return CreateForm(draft=draft, source=source)
