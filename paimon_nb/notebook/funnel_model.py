"""How a condition prunes a table: one step per stage, from the whole snapshot down to row groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.notebook.svg import CHARACTER, WIDTH, clipped, escape, open_svg
from paimon_nb.table.tables.inspect.formatting import bytes_text, count_text

if TYPE_CHECKING:
    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan

_STAGE_OF = {"partition does not match": "partitions", "bucket does not match the key": "buckets"}
"""The stage that skips files for a reason; all other reasons come from file statistics and indexes."""


@dataclass(frozen=True, slots=True)
class Step:
    """One stage: how many items it received, how many remain, and what it skipped."""

    name: str
    total: int
    remaining: int
    left_out: tuple[str, ...] = ()
    """What was skipped in this stage, with the reasons."""

    @property
    def share(self) -> float:
        return self.remaining / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class FunnelModel:
    """All stages, and what remains to be read."""

    table: str
    where: str
    snapshot: int | None
    steps: tuple[Step, ...]
    files: int
    bytes: int
    rows: int
    """Physical rows in the remaining files."""

    @property
    def left(self) -> str:
        return f"{count_text(self.files, 'file')} to read, {bytes_text(self.bytes)}"

    @property
    def at(self) -> str:
        return "no snapshot yet" if self.snapshot is None else f"snapshot {self.snapshot}"

    skipped: tuple[tuple[str, int], ...] = ()
    """Files that were skipped one by one: (reason, number)."""

    def lead(self) -> str:
        """What the condition saves, in a sentence for who does not know how tables are stored."""
        known = self.files + sum(number for _, number in self.skipped)
        unopened = sum(s.total - s.remaining for s in self.steps if s.name == "manifests")
        if not known and not unopened:
            return "The table has no files yet."
        whole = f"{'all ' if known > 1 else ''}{count_text(known, 'file')} ({bytes_text(self.bytes)})"
        if not self.where:
            return f"Without a condition a query reads {whole}. Type one to see which files it skips."
        others = f" It does not even open {count_text(unopened, 'manifest')} of other partitions." if unopened else ""
        if not self.files:
            return f"No file can have such a row: a query with this condition reads nothing.{others}"
        if not self.skipped:
            rest = others or " None of them can be skipped: by their statistics each may have such rows."
            return f"A query with this condition reads {whole}" + (f" of the partitions that match.{rest}" if unopened else f".{rest}")  # fmt: skip
        why = ", ".join(f"{number:,} because the {reason}" for reason, number in self.skipped)
        return f"A query with this condition reads {self.files:,} of {count_text(known, 'file')} ({bytes_text(self.bytes)}). Skipped: {why}.{others}"

    def __str__(self) -> str:
        head = f"{self.table} WHERE {self.where}" if self.where else self.table
        lines = [f"{head}: {self.left}"]
        for s in self.steps:
            lines.append(f"  {s.remaining:>9,} of {s.total:,} {s.name}")
            lines += [f"            {reason}" for reason in s.left_out]
        return "\n".join(lines)


def funnel(plan: ScanPlan, where: str) -> FunnelModel:
    """Stages of a plan, the row groups of its files included."""
    from paimon_nb.table.tables.inspect.row_groups import row_groups

    stages = plan.skipped.stages
    names = [s.name for s in stages]
    skipped: dict[str, list[str]] = {}
    for s in stages:
        if s.name == "manifests" and s.remaining < s.total:
            skipped[s.name] = [f"{count_text(s.total - s.remaining, 'manifest')}: other partitions, not opened"]
    for reason, number in plan.skipped.reasons.items():
        stage = names[-1] if reason.startswith("the global index") else _STAGE_OF.get(reason, "files")
        skipped.setdefault(stage if stage in names else names[-1], []).append(f"{count_text(number, 'file')}: {reason}")
    steps = [Step(s.name, s.total, s.remaining, tuple(skipped.get(s.name, ()))) for s in stages]
    groups = row_groups(plan)
    files = plan.files
    if groups.total:
        some = f" (of {groups.files} files)" if groups.files < len(files) else ""
        steps.append(Step(f"row groups{some}", groups.total, groups.matching))
    whole = groups.files == len(files)
    rows = groups.matching_rows if whole else sum(f.row_count for f in files)
    snapshot = plan.snapshot.id if plan.snapshot else None
    return FunnelModel(
        plan.store.name, where, snapshot, tuple(steps), len(files), sum(f.file_size for f in files), rows,
        tuple(plan.skipped.reasons.items()),
    )  # fmt: skip


_LEFT, _TALL = 104, 40


def funnel_svg(model: FunnelModel, width: int = WIDTH) -> str:
    """A funnel that narrows stage by stage, with what each stage skipped and why. `width`: in pixels."""
    half = round(width * 0.21)
    middle, x = _LEFT + 16 + half, _LEFT + 34 + 2 * half
    characters = int((width - x) / 6.2)
    tops, y = [], 36
    for s in model.steps:
        tops.append(y)
        y += max(_TALL, 20 + 15 * len(s.left_out)) + 6
    parts = [open_svg(y + 34, f"files that a query on {model.table} reads: {model.left}", width)]
    parts.append(
        f'<text x="0" y="14" font-weight="600">{clipped(model.where or "all rows", (width - 120) // CHARACTER)}</text>'
    )
    parts.append(f'<text x="{width}" y="14" text-anchor="end" class="dim">{escape(model.at)}</text>')
    share = 1.0
    ends = [*tops[1:], y] if tops else []
    for s, top, end in zip(model.steps, tops, ends, strict=True):
        before, share = share, share * s.share
        a, b = max(2.0, half * before), max(2.0, half * share)
        low = top + (end - top) * 0.62
        shape = f"M{middle - a:.1f} {top}H{middle + a:.1f}L{middle + b:.1f} {low:.1f}V{end}H{middle - b:.1f}V{low:.1f}Z"
        facts = [f"{s.remaining:,} of {s.total:,} {s.name} are read", *s.left_out]
        tip, label = escape("\n".join(facts)), escape(" · ".join(facts))
        parts.append(f'<path class="stage" d="{shape}" fill="#0072B2" fill-opacity="{0.35 + 0.5 * (1 - share):.2f}" tabindex="0" role="img" aria-label="{label}"><title>{tip}</title></path>')  # fmt: skip
        parts.append(f'<text x="{_LEFT - 10}" y="{top + 20}" text-anchor="end" font-weight="600">{clipped(s.name, 22)}</text>')  # fmt: skip
        weight = ' font-weight="600"' if s.remaining < s.total else ' class="dim"'
        parts.append(f'<text x="{x}" y="{top + 17}"{weight}>{s.remaining:,} of {s.total:,}</text>')
        for i, reason in enumerate(s.left_out):
            parts.append(f'<text x="{x}" y="{top + 33 + 15 * i}" class="dim" font-size="12">✗ {clipped(reason, characters - 2)}</text>')  # fmt: skip
    parts.append(f'<text x="{middle}" y="{y + 20}" text-anchor="middle" font-weight="600">{model.left}, {count_text(model.rows, "physical row")}</text>')  # fmt: skip
    return "".join([*parts, "</svg>"])
