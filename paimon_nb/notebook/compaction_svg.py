"""The history of a table's compactions as SVG: bytes written, runs to merge and space taken, one column per commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.notebook.svg import KIND_COLOURS, WIDTH, escape, open_svg
from paimon_nb.notebook.timeline_model import SIGN
from paimon_nb.table.tables.inspect.formatting import bytes_text, count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.table.tables.inspect.amplification import Amplification, Sample

_LEFT, _RIGHT = 74, 230
_TALL, _GAP, _TOP = 44, 16, 34
_LINE = "#0072B2"


def amplification_svg(history: Amplification, trigger: int | None = None, width: int = WIDTH) -> str:
    """Three lanes over the same commits.

    Args:
        trigger: the number of runs at which compaction begins, as a dashed line.
        width: in pixels.
    """
    states = history.samples
    height = _TOP + 3 * (_TALL + _GAP) + 34
    parts = [open_svg(height, f"compactions of {history.table}: {_summary_text(history)}", width)]
    parts.append('<text x="0" y="14" font-weight="600">compaction history: cost and effect</text>')
    if not states:
        return "".join([*parts, f'<text x="{_LEFT}" y="{_TOP + 20}" class="dim">no snapshot yet</text></svg>'])
    since = f"since snapshot {states[0].snapshot}"
    parts.append(f'<text x="{width}" y="14" text-anchor="end" class="dim">{since}</text>')
    side = width - _RIGHT + 10
    step = min(72.0, (width - _LEFT - _RIGHT) / len(states))
    xs = [_LEFT + step * (i + 0.5) for i in range(len(states))]
    end = _LEFT + step * len(states)
    tops = [_TOP + i * (_TALL + _GAP) for i in range(3)]
    parts += _written_bars(states, xs, step, tops[0], end)
    parts += _side_text(side, tops[0], *_written_text(history))
    what = "run" if history.has_runs else "file"
    parts += _run_count_line(states, xs, step, tops[1], end, trigger, f"{what}s")
    highest = f"max {max(m.runs for m in states)}"
    parts += _side_text(
        side, tops[1], count_text(states[-1].runs, what), f"per read; {highest}" if history.has_runs else highest
    )
    parts += _space_bars(states, xs, step, tops[2], end)
    parts += _side_text(side, tops[2], *_space_text(states[-1], history.has_runs))
    parts += _commit_dots(states, xs, step, tops[2] + _TALL + 18)
    parts += [_hover_column(m, x, step, height, what) for m, x in zip(states, xs, strict=True)]
    return "".join([*parts, "</svg>"])


def _summary_text(history: Amplification) -> str:
    return str(history).split(", ", 1)[-1]


def _axis_with_label(label: str, top: float, end: float) -> list[str]:
    return [
        f'<text x="{_LEFT - 10}" y="{top + _TALL / 2 + 4}" text-anchor="end" font-weight="600">{label}</text>',
        f'<line class="axis" x1="{_LEFT}" y1="{top + _TALL}" x2="{end:.1f}" y2="{top + _TALL}"/>',
    ]


def _side_text(x: float, top: float, first: str, second: str) -> list[str]:
    lines = [f'<text x="{x}" y="{top + 18}" font-weight="600">{escape(first)}</text>']
    return [*lines, f'<text x="{x}" y="{top + 34}" class="dim">{escape(second)}</text>']


def _written_text(history: Amplification) -> tuple[str, str]:
    ratio = "nothing written" if history.write is None else f"× {history.write:.1f} write amplification"
    return ratio, f"{bytes_text(history.by_writers)} written, {bytes_text(history.by_compaction)} rewritten"


def _space_text(latest: Sample, has_runs: bool) -> tuple[str, str]:
    if not has_runs:
        return bytes_text(latest.size), ""
    share = "" if latest.space is None else f" · {latest.space * 100:.0f} %"
    return bytes_text(latest.size) + share, f"dark = oldest run: {bytes_text(latest.oldest)}"


def _written_bars(states: Sequence[Sample], xs: Sequence[float], step: float, top: float, end: float) -> list[str]:
    out = _axis_with_label("written", top, end)
    largest = max((m.written for m in states), default=0) or 1
    wide = max(1.5, min(22.0, step * 0.55))
    for m, x in zip(states, xs, strict=True):
        if m.written:
            tall = max(2.0, _TALL * m.written / largest)
            out.append(
                f'<rect x="{x - wide / 2:.1f}" y="{top + _TALL - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}" rx="1.5" '
                f'fill="{KIND_COLOURS.get(m.kind, "#888")}"/>'
            )
    return out


def _run_count_line(
    states: Sequence[Sample], xs: Sequence[float], step: float, top: float, end: float, trigger: int | None, label: str
) -> list[str]:
    out = _axis_with_label(label, top, end)
    largest = max([m.runs for m in states] + ([trigger] if trigger is not None else []) + [1]) * 1.12

    def y_of(n: float) -> float:
        return top + _TALL - _TALL * n / largest

    if trigger is not None and y_of(trigger) > top:
        y = y_of(trigger)
        out.append(f'<line class="pole" x1="{_LEFT}" y1="{y:.1f}" x2="{end:.1f}" y2="{y:.1f}"/>')
        # Below the lane's name: the line of the runs would cross a text beside it.
        out.append(
            f'<text x="{_LEFT - 10}" y="{top + _TALL / 2 + 20}" text-anchor="end" class="dim">limit {trigger}</text>'
        )
    path = "".join(
        f"{'M' if i == 0 else 'L'}{x - step / 2:.1f} {y_of(m.runs):.1f}H{x + step / 2:.1f}"
        for i, (m, x) in enumerate(zip(states, xs, strict=True))
    )
    out.append(f'<path d="{path}" fill="none" stroke="{_LINE}" stroke-width="2"/>')
    return out


def _space_bars(states: Sequence[Sample], xs: Sequence[float], step: float, top: float, end: float) -> list[str]:
    out = _axis_with_label("space", top, end)
    largest = max((m.size for m in states), default=0) * 1.06 or 1
    wide = max(1.5, min(22.0, step * 0.55))
    for m, x in zip(states, xs, strict=True):
        for size, style in ((m.size, 'fill="#D55E00" fill-opacity=".4"'), (m.oldest, f'fill="{_LINE}"')):
            tall = _TALL * size / largest
            out.append(
                f'<rect x="{x - wide / 2:.1f}" y="{top + _TALL - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}" {style}/>'
            )
    return out


def _commit_dots(states: Sequence[Sample], xs: Sequence[float], step: float, y: float) -> list[str]:
    out = []
    label_step = max(1, -(-len(states) // 28))
    radius = min(8.0, max(2.5, step * 0.4))
    for i, (m, x) in enumerate(zip(states, xs, strict=True)):
        out.append(f'<circle cx="{x:.1f}" cy="{y}" r="{radius:.1f}" fill="{KIND_COLOURS.get(m.kind, "#888")}"/>')
        if radius > 5:
            out.append(f'<text x="{x:.1f}" y="{y + 4}" text-anchor="middle" class="sign" style="fill:#fff" font-weight="700">{SIGN.get(m.kind, "?")}</text>')  # fmt: skip
        if i % label_step == 0:
            out.append(f'<text x="{x:.1f}" y="{y + 21}" text-anchor="middle" class="dim">{m.snapshot}</text>')  # fmt: skip
    return out


def _hover_column(m: Sample, x: float, step: float, height: float, what: str) -> str:
    """An invisible column whose tooltip shows a commit's numbers."""
    has_runs = what == "run"
    space = "" if m.space is None or not has_runs else f", {m.space * 100:.0f} % of the oldest run"
    runs = (
        f"{count_text(m.runs, 'sorted run')} per read"
        if has_runs
        else f"{count_text(m.runs, 'file')} in the fullest bucket"
    )
    facts = (
        f"snapshot {m.snapshot} · {m.kind.lower()}\nwrote {bytes_text(m.written)}"
        + (f", replacing {bytes_text(m.rewritten)}" if m.rewritten else "")
        + f"\n{runs}\n{bytes_text(m.size)} live{space}"
    )
    return f'<rect class="column" x="{x - step / 2:.1f}" y="{_TOP - 6}" width="{step:.1f}" height="{height - _TOP + 4:.0f}" fill="transparent"><title>{escape(facts)}</title></rect>'  # fmt: skip
