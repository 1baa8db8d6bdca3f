"""The compaction panel: preview with rules, other settings, run, before and after, history."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.notebook.compaction_svg import amplification_svg
from paimon_nb.notebook.lsm_model import LsmPicture, lsm_picture, lsm_text
from paimon_nb.notebook.svg import WIDTH, lsm_svg
from paimon_nb.notebook.widgets.base import DrawnPanel, report_errors, script
from paimon_nb.options import table as opt
from paimon_nb.table.tables.inspect import CompactionPreview, amplification
from paimon_nb.table.tables.inspect.formatting import bytes_text, count_text
from paimon_nb.table.write.bucket_compact.cluster import uses_clustering

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from paimon_nb.table.tables.table import Table
    from paimon_nb.table.write.commit import CommitMessage
    from paimon_nb.table.write.compact import CompactTask

KNOBS = {
    o.key: o
    for o in (
        opt.NUM_SORTED_RUN_COMPACTION_TRIGGER, opt.COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT, opt.COMPACTION_SIZE_RATIO,
    )
}  # fmt: skip
"""Options that drive the compaction decision; the panel can try other values."""
APPEND_KNOBS = {o.key: o for o in (opt.COMPACTION_MIN_FILE_NUM, opt.COMPACTION_SMALL_FILE_RATIO)}
"""The same for a table without primary key."""

NOTHING = "nothing to do"
"""The price of a compaction that has no files."""


@dataclass(frozen=True, slots=True)
class CompactionOutcome:
    """The outcome of a compaction."""

    snapshots: tuple[int, ...]
    buckets: int
    read: int
    """Bytes of the files that were merged."""
    written: int
    seconds: float

    def __str__(self) -> str:
        if not self.snapshots:
            return "Nothing to compact"
        made = f"snapshot {', '.join(map(str, self.snapshots))}"
        return (
            f"{made}: {count_text(self.buckets, 'bucket')}, {bytes_text(self.read)} read, {bytes_text(self.written)} written,"
            f" {self.seconds:.1f} s"
        )


class Compaction(DrawnPanel):
    """`t.show.compaction()`: writes nothing until a button is pressed or `run` is called.

    Args:
        table: not a format table. options: table options to try. watch: refresh automatically.

    Raises:
        BadOptionValue: of an option to try.
    """

    _esm = script("panel.js", "terms.js", "compaction.js")
    work: traitlets.Dict[str, Any] = traitlets.Dict({"running": False}).tag(sync=True)
    watching = traitlets.Bool(False).tag(sync=True)

    def __init__(self, table: Table, options: dict[str, str] | None = None, watch: bool = False) -> None:
        self._table, self._options = table, dict(options or {})
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._bucket_index = 0
        self._read_state()
        super().__init__(view=self._view_data(), watching=watch)

    # -- view

    @property
    def _knobs(self) -> dict[str, Any]:
        return KNOBS if self._table.store.has_keys or uses_clustering(self._table.store) else APPEND_KNOBS

    @property
    def table(self) -> Table:
        """The table with the options to try."""
        return self._table.copy(self._options) if self._options else self._table

    def _read_state(self) -> None:
        """Read the current state. Raises TableReplaced: the table was dropped."""
        self._table = self._table.refresh()
        self.due: list[CompactionPreview] = self.table.inspect.due_compactions()
        self._bucket_index = min(self._bucket_index, max(0, len(self.due) - 1))
        self.snapshot = self.table.store.latest()
        self.history = amplification(self.table.store)
        self._draw_bucket()

    def _draw_bucket(self) -> None:
        due = self.due[self._bucket_index] if self.due else None
        partition, bucket = (due.partition, due.bucket) if due else (None, None)
        self.picture: LsmPicture = lsm_picture(self.table.store, self.snapshot, partition, bucket, fold=True)

    def draw_pictures(self) -> dict[str, str]:
        return {"svg": self._svg(self.width), "history": self._history_svg(self.width)}

    def _view_data(self, error: str = "") -> dict[str, Any]:
        due = self.due[self._bucket_index] if self.due else None
        options = self.table.options
        return {
            **self.draw_pictures(),
            "lead": self.lead(),
            "sentence": self.sentence(),
            "due": bool(due and due.decided_by),
            "anyDue": any(d.decided_by for d in self.due),
            "rules": [
                {
                    "name": r.name,
                    "numbers": r.numbers,
                    "applies": r.applies,
                    "decides": bool(due and r.name == due.decided_by),
                }
                for r in (due.rules if due else ())
            ],
            "buckets": [_bucket_text(d) + (" ▸" if d.decided_by else "") for d in self.due],
            "bucket": self._bucket_index,
            "options": {key: str(options.get(knob)) for key, knob in self._knobs.items()},
            "changed": [key for key in self._knobs if key in self._options],
            "sql": [self.call("minor"), self.call("full")],
            "prices": (prices := self.rewrite_costs()),
            "anyFiles": prices["full"] != NOTHING,
            "error": error,
        }

    def _svg(self, width: int, picked: Collection[str] | None = None) -> str:
        """The tree; `picked`: the files of a compaction, without it those of the next one."""
        due = self.due[self._bucket_index] if self.due else None
        files = picked if picked is not None else due.files if due else ()
        return lsm_svg(self.picture, "key", dict.fromkeys(files, "▸"), width)

    def _history_svg(self, width: int) -> str:
        trigger = self.table.options.get(opt.NUM_SORTED_RUN_COMPACTION_TRIGGER)
        return amplification_svg(self.history, trigger if self.history.has_runs else None, width)

    def lead(self) -> str:
        """What the state of the table means for who reads it, in one sentence without terms of storage."""
        if not self.due:
            return "The table has no files yet: there is nothing to compact."
        runs = max(d.runs for d in self.due)
        minor = [d for d in self.due if d.decided_by is not None]
        files, size = sum(len(d.files) for d in minor), sum(d.bytes for d in minor)
        if self.due[0].output_files is not None:
            return self._append_lead(files, size, sum(d.output_files or 0 for d in minor))
        reads = (
            f"A read merges up to {count_text(runs, 'sorted run')} for each key."
            if runs > 1
            else "Reads merge nothing: each bucket has one sorted run."
        )
        if minor:
            return f"{reads} Compacting rewrites {count_text(files, 'file')} ({bytes_text(size)}), and reads become cheaper."
        return reads + (" Nothing has to be compacted by the table's settings." if runs > 1 else "")

    def _append_lead(self, files: int, size: int, after: int) -> str:
        """`lead` of a table without primary key: `files` of `size` bytes would become `after`."""
        now = sum(d.runs for d in self.due)
        reads = f"A read of the whole table opens {count_text(now, 'file')}, and merges nothing."
        if not files:
            return f"{reads} Nothing has to be compacted by the table's settings."
        about = "about " if after > 1 else ""
        return f"{reads} Compacting merges {count_text(files, 'file')} ({bytes_text(size)}) into {about}{after}."

    def sentence(self) -> str:
        """The next compaction of the selected bucket, as a sentence."""
        if not self.due:
            return "no files yet"
        due = self.due[self._bucket_index]
        if due.decided_by is None:
            rest = sum(d.decided_by is not None for d in self.due)
            return f"Nothing to compact in {_bucket_text(due)}" + (
                f"; {count_text(rest, 'other bucket')} can be compacted" if rest else ""
            )
        return (
            f"▸ Next compaction in {_bucket_text(due)}: {count_text(len(due.files), 'file')} ({bytes_text(due.bytes)})"
            f" {due.becomes}; rule: {due.decided_by}"
        )

    def rewrite_costs(self) -> dict[str, str]:
        """What each compaction would rewrite, for the buttons: files and bytes."""
        from paimon_nb.table.write.compact import plan_compaction

        minor = [d for d in self.due if d.decided_by is not None]
        full = plan_compaction(self.table.store, full=True)
        return {
            "minor": _cost_text(sum(len(d.files) for d in minor), sum(d.bytes for d in minor)),
            "full": _cost_text(sum(len(t.files) for t in full), sum(t.size for t in full)),
        }

    def call(self, strategy: str) -> str:
        """The equivalent CALL statement."""
        options = ",".join(f"{k}={v}" for k, v in self._options.items())
        more = f", options => '{options}'" if options else ""
        name = text_literal(f"{self._table.name.database}.{self._table.name.table}")
        return f"CALL sys.compact(`table` => {name}, compact_strategy => '{strategy}'{more})"

    sql = property(lambda self: self.call("minor"), doc="SQL that runs a minor compaction.")

    @property
    def code(self) -> str:
        """Python code that opens this panel in the same state."""
        options = f"options={self._options!r}" if self._options else ""
        return f'wb.table("{self._table.name}").show.compaction({options})'

    # -- actions

    def set_option(self, option: str, value: str) -> None:
        """Try a value for an option; an empty value restores the table's. Raises BadOptionValue."""
        before = dict(self._options)
        self._options.pop(option, None)
        if value.strip():
            self._options[option] = value.strip()
        try:
            self._read_state()
        except PaimonError:
            self._options = before
            raise
        self.view = self._view_data()

    def refresh(self) -> bool:
        """Reload if there is a new snapshot; returns whether there was one."""
        self._table.store.check_identity()
        latest = self._table.store.snapshots.latest_id()
        if latest == (self.snapshot.id if self.snapshot else None):
            return False
        self._read_state()
        self.view = self._view_data()
        return True

    def run(self, full: bool = False) -> CompactionOutcome:
        """Compact now, bucket by bucket, in one commit at the end.

        Args:
            full: a full compaction; False: a minor one.

        Raises:
            CommitConflict: another writer compacted the same files.
        """
        from paimon_nb.table.write.compact import plan_compaction

        self._stop.clear()
        started = time.monotonic()
        self.refresh()
        self._report_progress(0, 1, "planning")
        try:
            tasks = plan_compaction(self.table.store, full=full)
            before = self._svg(self.width, {f.file_name for t in tasks for f in t.files})
            done = self._run_compaction(tasks, started)
        except BaseException:
            self.work = {"running": False}
            raise
        self._read_state()
        # The main picture shows the state after the compaction.
        self.work = {"running": False, "result": {"text": str(done), "before": before if done.snapshots else ""}}
        self.view = self._view_data()
        return done

    def _run_compaction(self, tasks: Sequence[CompactTask], started: float) -> CompactionOutcome:
        from paimon_nb.table.write.compact import run_task
        from paimon_nb.table.write.publish.abort import abort_messages

        table = self.table
        messages: list[CommitMessage] = []
        try:
            for i, task in enumerate(tasks):
                if self._stop.is_set():
                    abort_messages(table.store, messages)
                    return CompactionOutcome((), 0, 0, 0, time.monotonic() - started)
                self._report_progress(i, len(tasks), f"bucket {i + 1} of {len(tasks)} ({bytes_text(task.size)})")
                messages += run_task(table.store, task)
        except BaseException:
            abort_messages(table.store, messages)  # they will never be committed
            raise
        self._report_progress(len(tasks), len(tasks), "committing")
        snapshots = table.commit().commit(messages) if tasks else []
        written = sum(f.file_size for m in messages for f in m.compact_after)
        return CompactionOutcome(
            tuple(snapshots), len(tasks), sum(t.size for t in tasks), written, time.monotonic() - started
        )

    def cancel(self) -> None:
        """Stop before the next bucket; commit nothing and delete the files already written."""
        self._stop.set()

    def _report_progress(self, done: int, total: int, text: str) -> None:
        self.work = {"running": True, "done": done, "total": total, "text": text}

    def on_message(self, content: Any) -> None:
        try:
            match content:
                case {"bucket": int(index)} if 0 <= index < len(self.due):
                    self._bucket_index = index
                    self._draw_bucket()
                    self.view = self._view_data()
                case {"option": str(key), "value": str(value)} if key in self._knobs:
                    self.set_option(key, value)
                case {"reset": True}:
                    self._options.clear()
                    self._read_state()
                    self.view = self._view_data()
                case {"reload": True}:
                    if not self.work.get("running"):
                        self.refresh()
                case {"cancel": True}:
                    self.cancel()
                case {"run": "due" | "full" as how} if not self.work.get("running"):
                    self.work = {"running": True, "done": 0, "total": 1, "text": "planning"}
                    # In a separate thread, so that the kernel can receive "cancel".
                    self._thread = threading.Thread(target=self._run_in_thread, args=(how == "full",), daemon=True)
                    self._thread.start()
        except PaimonError as error:
            self.view = self._view_data(error.message)

    def _run_in_thread(self, full: bool) -> None:
        report_errors(type(self).run)(self, full)

    # -- without a kernel

    def still_text(self) -> str:
        text = "\n".join(str(d) for d in self.due[:8]) or "no files yet"
        return f"{lsm_text(self.picture)}\n{text}\n{self.history}"

    def still_svg(self) -> str:
        from paimon_nb.notebook.widgets.timeline import stacked_svgs

        return stacked_svgs(self._svg(WIDTH), self._history_svg(WIDTH))


def _cost_text(files: int, size: int) -> str:
    return f"{count_text(files, 'file')}, {bytes_text(size)}" if files else NOTHING


def _bucket_text(due: CompactionPreview) -> str:
    return f"{due.partition}, bucket {due.bucket}" if due.partition else f"bucket {due.bucket}"
