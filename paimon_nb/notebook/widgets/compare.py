"""The comparison panel for two snapshots: files added, moved and removed, changed rows, schema and options."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.format.data import python_values
from paimon_nb.notebook.display import display_cells
from paimon_nb.notebook.grid.types import is_number
from paimon_nb.notebook.lsm_model import lsm_picture
from paimon_nb.notebook.reports import static_compare_report
from paimon_nb.notebook.svg import STYLE, WIDTH, lsm_svg
from paimon_nb.notebook.timeline_model import SIGN, timeline_of_snapshots
from paimon_nb.notebook.widgets.base import DrawnPanel, SnapshotPanel, none_if_latest, script
from paimon_nb.notebook.widgets.timeline import stacked_svgs
from paimon_nb.table.read import read_plan
from paimon_nb.table.read.plan.time_travel import AtVersion, resolve_time_travel
from paimon_nb.table.tables.inspect.formatting import bytes_text, count_text
from paimon_nb.table.tables.inspect.row_changes import with_update_before_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.notebook.lsm_model import LsmPicture
    from paimon_nb.table.tables.inspect import SnapshotComparison
    from paimon_nb.table.tables.table import Table

FILES = 40
ROWS = 20
ROWS_BYTES = 64 << 20
"""Changed rows are read automatically when the changed files are smaller than this in total."""
_SIGN = {"added": "+", "moved": "→", "removed": "−"}
_KINDS = ("+I", "-U", "+U", "-D")


class CompareView(SnapshotPanel, DrawnPanel):
    """`t.show.compared(3, 7)`: ids or tags.

    Args:
        before, after: None is the snapshot before the latest, and the latest.

    Raises:
        TimeTravelError, SnapshotExpired, TagNotFound.
    """

    _esm = script("panel.js", "terms.js", "compare.js")

    def __init__(self, table: Table, before: int | str | None = None, after: int | str | None = None) -> None:
        self._table = table
        self._bucket_index = 0
        previous, latest = self._snapshot_and_previous(None)
        after = after if after is not None else latest
        self._load_comparison(str(before if before is not None else previous), str(after))
        super().__init__(view=self._view_data())
        self.selected_snapshot = self._compared_snapshot()

    def _snapshot_and_previous(self, snapshot: int | None) -> tuple[int, int]:
        """The snapshot before it, and a snapshot; None is the latest. Of the oldest one, twice the same."""
        known = [c.id for c in timeline_of_snapshots(self._table.store).commits] or [1]
        if snapshot is None:
            snapshot = known[-1]
        return max((n for n in known if n < snapshot), default=snapshot), snapshot

    def _compared_snapshot(self) -> int | None:
        after = self._snapshots[1]
        return none_if_latest(self._table.store, after.id if after else None)

    def _load_comparison(self, before: str, after: str) -> None:
        store = self._table.store
        snapshots = resolve_time_travel(store, AtVersion(before)), resolve_time_travel(store, AtVersion(after))
        self.compared: SnapshotComparison = self._table.inspect.compare(before, after)
        self._names = before, after
        self._snapshots: tuple[Snapshot | None, Snapshot | None] = snapshots
        self._buckets = sorted({(f.partition, f.bucket) for f in self.compared.files})
        self._bucket_index = 0
        self._rows = self._changed_rows(force=False)
        self._trees = self._read_trees()

    def show(self, before: int | str, after: int | str) -> None:
        """Compare two other snapshots of the current table. Raises TableReplaced, TimeTravelError, SnapshotExpired."""
        self._table = self._table.refresh()
        self._load_comparison(str(before), str(after))
        self.view = self._view_data()
        self.selected_snapshot = self._compared_snapshot()

    def show_snapshot(self, snapshot: int | None) -> None:
        """Compare a snapshot with the one before it; None is the latest."""
        self._table = self._table.refresh()
        before, after = self._snapshot_and_previous(snapshot)
        if self._snapshots[1] is None or self._snapshots[1].id != after:
            self.show(before, after)

    # -- view

    def draw_pictures(self) -> dict[str, tuple[str, str]]:
        return {"svgs": self._lsm_svgs(self.width)}

    def _lsm_svgs(self, width: int) -> tuple[str, str]:
        """The LSM trees at both snapshots, with signs on changed files."""
        old, new = self._trees
        signs = {f.file: _SIGN[f.what] for f in self.compared.files}
        before = {name: sign for name, sign in signs.items() if sign != "+"}
        after = {name: sign for name, sign in signs.items() if sign != "−"}
        return lsm_svg(old, "key", before, width), lsm_svg(new, "key", after, width)

    def _read_trees(self) -> tuple[LsmPicture, LsmPicture]:
        """The LSM tree of one bucket at both snapshots."""
        store, (old, new) = self._table.store, self._snapshots
        partition_and_bucket = self._buckets[self._bucket_index] if self._buckets else None
        if partition_and_bucket is None:
            first = lsm_picture(store, new)
            partition_and_bucket = (first.partition, first.bucket)
        before, after = (lsm_picture(store, s, *partition_and_bucket, fold=True) for s in (old, new))
        return before, after

    def _changed_rows(self, *, force: bool) -> dict[str, Any]:
        """The changed rows with their kinds; large diffs only with `force`."""
        size = sum(f.bytes for f in self.compared.files)
        if size > ROWS_BYTES and not force:
            return {"ask": True, "note": f"{bytes_text(size)} of files changed"}
        if self.compared.before >= self.compared.after:
            return {"note": "rows are compared only from an earlier to a later snapshot"}
        try:
            diff = self._row_diff()
        except PaimonError as error:
            return {"note": error.message}
        kinds = Counter(diff.column("rowkind").to_pylist())
        diff = changed_columns_first(diff, self._table.primary_keys)
        names, rows = display_cells(diff.slice(0, ROWS))
        counts = ", ".join(f"{kinds[k]:,} {k}" for k in _KINDS if kinds[k]) or "none"
        return {
            "kinds": {k: kinds[k] for k in _KINDS}, "columns": names if rows else [], "rows": rows, "numbers": [is_number(diff.schema.field(i).type) for i in range(len(names))],
            "note": f"changed rows: {counts}" + (f"; showing the first {ROWS}" if diff.num_rows > ROWS else ""),
        }  # fmt: skip

    def _row_diff(self) -> pa.Table:
        """+I, -U, +U, -D; updates stay +I if the earlier snapshot is too large to read."""
        table, old = self._table, self._snapshots[0]
        diff = table.diff(self.compared.before, self.compared.after)
        if not table.primary_keys or old is None:
            return diff
        plan = table.scan(options={"scan.snapshot-id": str(old.id)}).plan
        if sum(f.file_size for f in plan.files) > ROWS_BYTES:
            return diff
        return with_update_before_rows(diff, read_plan(plan), table.primary_keys)

    def _changed_files_data(self) -> dict[str, Any]:
        rows = [
            [_SIGN[f.what], f.what, " → ".join(f"L{n}" for n in dict.fromkeys((f.level_before, f.level_after)) if n is not None),
             f.file if len(f.file) < 30 else "…" + f.file[-28:], f"{f.rows:,}", bytes_text(f.bytes), ", ".join(filter(None, [f.partition, f"bucket {f.bucket}"]))]
            for what in ("added", "moved", "removed")
            for f in self.compared.only(what)
        ]  # fmt: skip
        rest = len(rows) - FILES
        return {
            "columns": ["", "what", "level", "file", "rows", "bytes", "where"] if rows else [], "rows": rows[:FILES],
            "numbers": [False, False, False, False, True, True, False], "note": f"{count_text(rest, 'more file')}" if rest > 0 else "",
        }  # fmt: skip

    def lead(self) -> str:
        """What changed for who reads the table, in one sentence."""
        c, kinds = self.compared, self._rows.get("kinds")
        between = f"From snapshot {c.before} to {c.after}:"
        others = "".join(
            f", {count_text(len(x), what)} changed" for x, what in ((c.columns, "column"), (c.options, "option")) if x
        )
        if c.before == c.after:
            return f"This is snapshot {c.after} beside itself: nothing differs."
        if kinds is None:
            return f"{between} the files of the table changed{others}; its rows were not compared."
        if not any(kinds.values()):
            merged = (
                f": {count_text(len(c.only('removed')), 'file')} became {len(c.only('added')) or 1:,}"
                if c.only("removed")
                else ""
            )
            return f"{between} no row changed{others}{merged}."
        parts = [(kinds[k], what) for k, what in (("+I", "added"), ("+U", "changed"), ("-D", "deleted")) if kinds[k]]
        (first, what), *more = parts
        texts = [
            f"{count_text(first, 'row')} {'was' if first == 1 else 'were'} {what}",
            *(f"{n:,} {w}" for n, w in more),
        ]
        return f"{between} {' and '.join(filter(None, [', '.join(texts[:-1]), texts[-1]]))}{others}."

    def sentence(self) -> str:
        """The differences, counted."""
        c = self.compared
        files = ", ".join(f"{count_text(len(c.only(w)), 'file')} {w}" for w in _SIGN if c.only(w)) or "no files changed"
        return f"snapshot {c.before} → {c.after}: {files}, {c.same_files:,} unchanged; physical rows {c.rows_before:,} → {c.rows_after:,}"

    def _view_data(self, error: str = "") -> dict[str, Any]:
        commits = timeline_of_snapshots(self._table.store).commits
        snapshots = [[str(c.id), f"{c.id} {SIGN.get(c.kind, '?')} {c.kind.lower()}"] for c in reversed(commits)]
        tags = [[t, f"⚑ {t}"] for c in commits for t in c.tags]
        c = self.compared
        return {
            "snapshots": [*tags, *snapshots], "before": self._names[0], "after": self._names[1], **self.draw_pictures(),
            "buckets": [", ".join(filter(None, [p, f"bucket {b}"])) for p, b in self._buckets], "bucket": self._bucket_index,
            "lead": self.lead(), "summary": self.sentence(), "changes": [*(f"column {x}" for x in c.columns), *(f"option {x}" for x in c.options)],
            "files": self._changed_files_data(), "rows": self._rows, "sql": self.sql, "error": error,
        }  # fmt: skip

    def on_message(self, content: Any) -> None:
        try:
            match content:
                case {"before": str(before), "after": str(after)}:
                    self.show(before, after)
                case {"bucket": int(index)} if 0 <= index < len(self._buckets):
                    self._bucket_index = index
                    self._trees = self._read_trees()
                    self.view = self._view_data()
                case {"reload": True}:
                    self.show(*self._names)
                case {"rows": True}:
                    self._rows = self._changed_rows(force=True)
                    self.view = self._view_data()
        except PaimonError as error:
            self.view = self._view_data(error.message)

    @property
    def sql(self) -> str:
        """The changed rows as a query."""
        name = self._table.name
        base = f"`{name.database}`.`{name.table}$audit_log`"
        between = f"'incremental-between' = '{self.compared.before},{self.compared.after}'"
        return f"SELECT * FROM {base} /*+ OPTIONS({between}, 'incremental-between-scan-mode' = 'diff') */"

    @property
    def code(self) -> str:
        """Python code that opens this panel in the same state."""
        return f'wb.table("{self._table.name}").show.compared({self._names[0]!r}, {self._names[1]!r})'

    def still_text(self) -> str:
        return str(self.compared)

    def still_svg(self) -> str:
        return stacked_svgs(*self._lsm_svgs(WIDTH))

    def still_html(self) -> str:
        first, second = self._lsm_svgs(WIDTH)
        page = static_compare_report(self.compared, [f"<style>{STYLE}</style>{first}", second])
        return page._repr_mimebundle_()["text/html"]


def changed_columns_first(diff: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Reorder columns: kind, key, columns changed by the first updates, the rest.

    Args:
        diff: `rowkind` first; each -U comes directly before its +U.
    """
    kind, *names = diff.column_names
    columns = [python_values(column) for column in diff.slice(0, ROWS).columns]
    rows = [dict(zip(diff.column_names, row, strict=True)) for row in zip(*columns, strict=True)]
    pairs = [(a, b) for a, b in pairwise(rows) if (a[kind], b[kind]) == ("-U", "+U")]
    changed = [n for n in names if n not in keys and any(repr(a[n]) != repr(b[n]) for a, b in pairs)]
    first = [*(n for n in names if n in keys), *changed]
    return diff.select([kind, *first, *(n for n in names if n not in first)])
