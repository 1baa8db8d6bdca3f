"""Pictures as SVG text: they work in Jupyter, on GitHub, in exported pages and offline, light and dark.

Colours are Okabe and Ito's, safe for colour blindness; every colour also has a sign or a label.
"""

from __future__ import annotations

import datetime as dt
import re
from html import escape as html_escape
from typing import TYPE_CHECKING

from paimon_nb.notebook.timeline_model import SIGN, Commit, TimelineModel
from paimon_nb.table.tables.inspect.formatting import bytes_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.notebook.lsm_model import FileMark, Lane, LsmPicture

LEVEL_COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#D55E00")
"""From level 0. The page has them, and those of the kinds, by `script`."""
KIND_COLOURS = {"APPEND": "#009E73", "COMPACT": "#0072B2", "OVERWRITE": "#D55E00", "ANALYZE": "#CC79A7"}
SIGNS = {"▸": "picked for compaction", "+": "added", "→": "moved to another level", "−": "removed"}
"""Meaning of the signs on files."""
WIDTH = 860
NARROWEST, WIDEST = 680, 1600
"""A panel's pictures are as wide as the page, within these bounds: the size of a text does not change with the width."""
_LEFT, _RIGHT = 74, 190
_DIGIT = 6
"""Width of digits, spaces and units at 12 px, about. A text is never stretched."""
_LANE, _GAP = 20, 7
CHARACTER = 7
"""The mean width of a character at 12 px."""
_FOLDED = 62
"""Height of a lane that holds several runs."""
ROOMY = 24
"""In lanes with up to this many files, and for files with a sign, narrow files get a visible minimum width."""

STYLE = """
.pnb{font:12px/1.35 var(--jp-ui-font-family,system-ui,-apple-system,"Segoe UI",sans-serif);color:var(--jp-ui-font-color1,#1c1e21)}
.pnb svg{max-width:100%;height:auto;display:block}
.pnb text{fill:currentColor}
.pnb .dim{opacity:.7}
.pnb .file{stroke:var(--jp-layout-color0,#fff);stroke-width:1;cursor:default}
.pnb .file:hover,.pnb .file:focus{stroke:currentColor;stroke-width:1.6;outline:none}
.pnb .file.signed:not(.thin){stroke:currentColor;stroke-width:2}
.pnb .file.thin{stroke:none}
.pnb .seal{fill:#fff;pointer-events:none}
.pnb .seal-sign{fill:#111;pointer-events:none}
.pnb .rail{fill:currentColor;opacity:.055}
.pnb .overlap{fill:currentColor;fill-opacity:.035;stroke:currentColor;stroke-opacity:.38;stroke-dasharray:3 3}
.pnb .folder{fill:currentColor;fill-opacity:.06;stroke:currentColor;stroke-opacity:.35}
.pnb .now{fill:#56B4E9;fill-opacity:.16}
.pnb .changed{fill:#E69F00;fill-opacity:.28}
.pnb .axis{stroke:currentColor;stroke-opacity:.3}
.pnb .pole{stroke:currentColor;stroke-opacity:.35;stroke-dasharray:2 3}
@media (prefers-color-scheme: dark){.pnb{color:var(--jp-ui-font-color1,#e4e6ea)}.pnb .file{stroke:var(--jp-layout-color0,#111)}}
"""


# Characters that XML cannot represent, and control characters that change the text direction.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def escape(text: str) -> str:
    """Any text as XML character data or attribute value; unprintable characters become U+FFFD."""
    return html_escape(_UNPRINTABLE.sub("\ufffd", text))


def level_colour(level: int) -> str:
    """Levels beyond the last colour have that one: they are compacted least often, as it is."""
    return LEVEL_COLOURS[min(level, len(LEVEL_COLOURS) - 1)]


def lsm_svg(picture: LsmPicture, by: str = "key", signs: Mapping[str, str] | None = None, width: int = WIDTH) -> str:
    """The LSM tree: one lane per sorted run, newest at the top.

    Args:
        by: 'key' places files by key range, 'size' draws them as wide as their size.
        signs: file name -> sign; these files are outlined and show the sign.
        width: in pixels.
    """
    plot = width - _LEFT - _RIGHT
    top = 34
    height = top + (sum(_lane_height(lane) + _GAP for lane in picture.lanes) or _LANE + _GAP) + 30
    largest = max((lane.bytes for lane in picture.lanes), default=1) or 1
    parts = [open_svg(height, f"LSM tree of {picture.table}, {picture.snapshot_text}", width)]
    facts = picture.snapshot_text + (f" · {picture.kind.lower()}" if picture.kind else "")
    where = (f"{picture.partition} · " if picture.partition else "") + f"bucket {picture.bucket}"
    parts.append(f'<text x="0" y="14" font-weight="600">{clipped(picture.table, 40)}</text>')
    right = clipped(f"{facts} · {where}", (width - 300) // CHARACTER)
    parts.append(f'<text x="{width}" y="14" text-anchor="end" class="dim">{right}</text>')
    bottom = height - 26
    if by == "key":
        for x0, x1, runs in picture.overlaps:
            x, w = _LEFT + x0 * plot, max((x1 - x0) * plot, 3)
            parts.append(
                f'<rect class="overlap" x="{x - 3:.1f}" y="{top - 7}" width="{w + 6:.1f}" height="{bottom - top + 4}" rx="4">'
                f"<title>{runs} overlapping runs: merged on read</title></rect>"
            )
    y = top
    for lane in picture.lanes:
        parts += _lane_rects(lane, y, plot, by, largest, signs or {})
        y += _lane_height(lane) + _GAP
    if not picture.lanes:
        parts.append(f'<text x="{_LEFT}" y="{top + 15}" class="dim">no files yet</text>')
    if by == "key" and picture.key_low:
        axis = bottom + 4
        label = "key →" if picture.by_value else "keys in order, not to scale →"
        max_characters = min(44, (plot // CHARACTER - len(label) - 3) // 2)
        parts.append(f'<line class="axis" x1="{_LEFT}" y1="{axis}" x2="{_LEFT + plot}" y2="{axis}"/>')
        parts.append(
            f'<text x="{_LEFT}" y="{axis + 15}" class="dim" font-size="12">{clipped(picture.key_low, max_characters)}</text>'
        )
        parts.append(f'<text x="{_LEFT + plot}" y="{axis + 15}" text-anchor="end" class="dim" font-size="12">{clipped(picture.key_high, max_characters)}</text>')  # fmt: skip
        parts.append(
            f'<text x="{_LEFT + plot / 2}" y="{axis + 15}" text-anchor="middle" class="dim" font-size="12">{label}</text>'
        )
    total = f"{count_text(picture.files, 'file')} · {count_text(picture.runs, 'run')} · {bytes_text(picture.bytes)}"
    parts.append(f'<text x="{width}" y="{height - 7}" text-anchor="end" class="dim" font-size="12">{total}</text>')
    parts.append("</svg>")
    return "".join(parts)


def _lane_height(lane: Lane) -> int:
    return _LANE if lane.runs == 1 else _FOLDED


def _lane_rects(lane: Lane, top: float, plot: float, by: str, largest: int, signs: Mapping[str, str]) -> list[str]:
    colour = level_colour(lane.level)
    lane_height, middle = _lane_height(lane), top + (_lane_height(lane) - _LANE) / 2 + 14
    pitch = lane_height / lane.stack
    height = lane_height if lane.runs == 1 else max(1.0, pitch * 0.85)
    out = [
        f'<text x="{_LEFT - 10}" y="{middle:g}" text-anchor="end" font-weight="600">{escape(lane.label)}</text>',
        f'<rect class="rail" x="{_LEFT}" y="{top}" width="{plot}" height="{lane_height}" rx="3"/>',
    ]
    scale = lane.bytes / largest if by == "size" else 1.0
    min_width = 9 if len(lane.marks) <= ROOMY else 2.5
    thin = " thin" if height < 9 else ""  # a border would cover it: files without a sign are paler instead
    pale = ' fill-opacity=".4"'
    some = thin and any(signs.get(m.name if m.files == 1 else lane.first, "") for m in lane.marks)
    for m in lane.marks:
        a, b = (m.x0, m.x1) if by == "key" else (m.s0 * scale, m.s1 * scale)
        y = top + m.lane * pitch
        sign = signs.get(m.name if m.files == 1 else lane.first, "")
        x, w = _LEFT + a * plot, max((b - a) * plot, 18 if sign else min_width)
        x = min(x, _LEFT + plot - w)
        prefix = f"{sign} {SIGNS[sign]}, " if sign else ""
        out.append(
            f'<rect class="file{" signed" if sign else ""}{thin}"{pale if some and not sign else ""} x="{x:.1f}" y="{y:g}" width="{w:.1f}" height="{height:g}" rx="{min(3, height / 2):g}" fill="{colour}" tabindex="0" role="img" '
            f'aria-label="{escape(prefix + _file_facts(m, ", "))}"><title>{escape(prefix + _file_facts(m, chr(10)))}</title></rect>'
        )
        if sign and w > 14 and height >= 14:  # on folded runs the circles would cover one another
            out.append(f'<circle class="seal" cx="{x + w / 2:.1f}" cy="{y + height / 2:g}" r="8"/>')
            out.append(f'<text class="sign seal-sign" x="{x + w / 2:.1f}" y="{y + height / 2 + 4:g}" text-anchor="middle" font-weight="700">{sign}</text>')  # fmt: skip
        if m.deletes and lane.runs == 1:
            share = min(1.0, m.deletes / max(1, m.rows))
            out.append(
                f'<rect x="{x:.1f}" y="{y + height - 3:g}" width="{w * share:.1f}" height="3" fill="#000" opacity=".55"/>'
            )
    text = f"{count_text(lane.rows, 'row')} · {bytes_text(lane.bytes)}" + (
        f" · {lane.files} files" if lane.files > 1 else ""
    )
    available = _RIGHT - 12
    fitted = f' textLength="{available}" lengthAdjust="spacingAndGlyphs"' if len(text) * _DIGIT > available else ""
    out.append(f'<text x="{_LEFT + plot + 10}" y="{middle:g}" class="dim"{fitted}>{text}</text>')
    return out


def _file_facts(m: FileMark, join: str) -> str:
    facts = [m.name, f"level {m.level}", count_text(m.rows, "row"), bytes_text(m.bytes)]
    if m.min_key or m.max_key:
        facts.append(f"keys {m.min_key} … {m.max_key}")
    facts.append(f"sequence {m.min_sequence} … {m.max_sequence}")
    if m.deletes:
        facts.append(f"{m.deletes:,} deletes")
    if m.source:
        facts.append(f"written by {m.source}")
    return join.join(facts)


FLAG_ROWS = 3


def flag_positions(commits: Sequence[Commit], step: float, left: float) -> list[tuple[str, float, float, int]]:
    """Positions of tag, branch and consumer labels: (text, x of the text's middle, x of the commit, row).

    Labels never overlap: each takes the lowest free row; if none is free, only the commit's tooltip shows it.
    """
    ends = [0.0] * FLAG_ROWS
    out = []
    for i, c in enumerate(commits):
        x = left + step * (i + 0.5)
        for flag in c.flags:
            text = clip(flag, 24)
            wide = 6.6 * len(text)
            middle = min(max(x, wide / 2), WIDTH - wide / 2)
            row = next((r for r in range(FLAG_ROWS) if ends[r] + 8 <= middle - wide / 2 or not ends[r]), None)
            if row is not None:
                ends[row] = middle + wide / 2
                out.append((text, middle, x, row))
    return out


def timeline_columns(commits: int) -> tuple[int, float]:
    """Where the first commit's column starts, and the width of a column."""
    left, right = 20, 20
    return left, min(72.0, (WIDTH - left - right) / max(1, commits))


def timeline_svg(model: TimelineModel, selected: int | None = None) -> str:
    """The history: one mark per commit, a bar for added rows (outline: removed), a sign for its kind, labels above."""
    commits = model.commits
    n = max(1, len(commits))
    left, step = timeline_columns(n)
    flags = flag_positions(commits, step, left)
    base = 92 + 14 * (1 + max((row for *_, row in flags), default=-1))
    height = base + 58
    biggest = max((abs(c.delta_rows) for c in commits), default=1) or 1
    parts = [open_svg(height, f"history of {model.table}: {len(commits)} snapshots")]
    parts.append(f'<text x="0" y="14" font-weight="600">{escape(model.table)}</text>')
    parts.append(
        f'<text x="{WIDTH}" y="14" text-anchor="end" class="dim">{count_text(len(commits), "snapshot")}</text>'
    )
    parts.append(f'<line class="axis" x1="{left}" y1="{base}" x2="{left + step * n}" y2="{base}"/>')
    for text, middle, x, row in flags:
        y = base - 66 - 14 * row
        parts.append(f'<line class="pole" x1="{x:.1f}" y1="{y + 4}" x2="{x:.1f}" y2="{base}"/>')
        parts.append(f'<text x="{middle:.1f}" y="{y}" text-anchor="middle" font-size="12">{escape(text)}</text>')
    every = max(1, -(-n // 28))
    for i, c in enumerate(commits):
        x = left + step * (i + 0.5)
        colour = KIND_COLOURS.get(c.kind, "#888")
        tall = 6 + 48 * (abs(c.delta_rows) / biggest) ** 0.4 if c.delta_rows else 0
        when = dt.datetime.fromtimestamp(c.time_ms / 1000, dt.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        tip = f"snapshot {c.id} · {c.kind}\n{c.delta_rows:+,} physical rows, {c.total_rows:,} in total\n{when}\nby {c.user}"
        tip = "\n".join([tip, *c.flags])
        ring = ' stroke="currentColor" stroke-width="2.5"' if c.id == selected else ""
        w = max(2.0, min(18.0, step * 0.5))
        if tall:
            fill = f'fill="{colour}" opacity=".45"' if c.delta_rows > 0 else f'fill="none" stroke="{colour}"'
            parts.append(f'<rect x="{x - w / 2:.1f}" y="{base - tall:.1f}" width="{w:.1f}" height="{tall:.1f}" {fill} rx="2"/>')  # fmt: skip
        radius = min(9.0, max(3.0, step * 0.4))
        parts.append(f'<circle cx="{x:.1f}" cy="{base}" r="{radius:.1f}" fill="{colour}"{ring} data-snapshot="{c.id}"><title>{escape(tip)}</title></circle>')  # fmt: skip
        if radius > 6:
            parts.append(f'<text x="{x:.1f}" y="{base + 4}" text-anchor="middle" class="sign" style="fill:#fff" font-size="12" font-weight="700">{SIGN.get(c.kind, "?")}</text>')  # fmt: skip
        if i % every == 0 or c.id == selected:
            weight = ' font-weight="700"' if c.id == selected else ' class="dim"'
            parts.append(f'<text x="{x:.1f}" y="{base + 26}" text-anchor="middle" font-size="12"{weight}>{c.id}</text>')
    legend = left
    for kind, sign in SIGN.items():
        if any(c.kind == kind for c in commits):
            parts.append(f'<circle cx="{legend + 8}" cy="{height - 10}" r="8" fill="{KIND_COLOURS[kind]}"/>')
            parts.append(f'<text x="{legend + 8}" y="{height - 6}" text-anchor="middle" class="sign" style="fill:#fff" font-size="12" font-weight="700">{sign}</text>')  # fmt: skip
            parts.append(f'<text x="{legend + 21}" y="{height - 6}" font-size="12" class="dim">{kind.lower()}</text>')
            legend += 38 + 7 * len(kind)
    note = (
        "bar = rows added"
        + ("; outline = rows removed" if any(c.delta_rows < 0 for c in commits) else "")
        + " (not to scale)"
    )
    parts.append(f'<text x="{WIDTH}" y="{height - 6}" text-anchor="end" font-size="12" class="dim">{note}</text>')
    parts.append("</svg>")
    return "".join(parts)


def text_svg(text: str, label: str) -> str:
    """Lines of text as a picture, for widgets whose static form is an outline."""
    lines = text.split("\n")
    parts = [open_svg(len(lines) * 17 + 8, label)]
    for i, line in enumerate(lines):
        inner = len(line) - len(line.lstrip())
        weight = ' font-weight="600"' if inner == 0 else ' class="dim"' if inner > 2 else ""
        parts.append(f'<text x="{inner * 9}" y="{i * 17 + 14}"{weight}>{clipped(line.strip(), 120)}</text>')
    parts.append("</svg>")
    return "".join(parts)


def framed(svg: str) -> str:
    """The picture with its style, ready for an output cell."""
    return f'<div class="pnb"><style>{STYLE}</style>{svg}</div>'


def standalone_svg(svg: str) -> str:
    """The picture as a standalone file: GitHub shows it in the reader's theme."""
    inner = svg.replace(".pnb ", "")
    style = (
        STYLE.replace(".pnb .", ".").replace(".pnb text", "text").replace(".pnb svg", "svg").replace(".pnb{", "svg{")
    )
    return inner.replace(">", f"><style>{style}</style>", 1)


def open_svg(height: float, label: str, width: int = WIDTH) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" width="{width}" height="{height:.0f}" role="img" aria-label="{escape(label)}" font-size="12">'  # fmt: skip


def clip(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def clipped(text: str, length: int) -> str:
    """Content of a <text> element; truncated texts get a tooltip with the full text."""
    return escape(text) if len(text) <= length else f"{escape(clip(text, length))}<title>{escape(text[:400])}</title>"


def count_text(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
