"""The graph of a pipeline as SVG: what is read at the left, what reads it at the right, a line for each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.notebook.svg import CHARACTER, WIDTH, clipped, escape, open_svg
from paimon_nb.session.materialized.pipeline import JOB, MATERIALIZED, SINK, SOURCE, TABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.session.materialized.pipeline import Pipeline, PipelineNode

_HEIGHT, _GAP, _TOP, _MARGIN = 58, 16, 34, 2
_BEND = 46
"""The least width between two columns, for the lines."""
_NARROWEST, _WIDEST = 120, 230
COLOURS = {TABLE: "#56B4E9", MATERIALIZED: "#009E73", JOB: "#E69F00", SOURCE: "#CC79A7", SINK: "#CC79A7"}
LETTERS = {TABLE: "T", MATERIALIZED: "M", JOB: "J", SOURCE: "→", SINK: "→"}
_STATES = {"ok": "✓", "behind": "…", "failed": "✗", "suspended": "‖"}


def layers(pipeline: Pipeline) -> list[list[PipelineNode]]:
    """The nodes by column: each is right of all that it reads, ordered as what it reads."""
    column: dict[str, int] = {}
    for node in pipeline.nodes:
        before = [column[a] for a, b in pipeline.edges if b == node.id and a in column]
        column[node.id] = max(before, default=-1) + 1
    found: list[list[PipelineNode]] = [[] for _ in range(max(column.values(), default=-1) + 1)]
    rank: dict[str, float] = {}
    for at, members in enumerate(found):
        members += [n for n in pipeline.nodes if column[n.id] == at]
        if at:
            members.sort(key=lambda n: _middle(n, pipeline, rank))
        rank |= {n.id: float(i) for i, n in enumerate(members)}
    return found


def _middle(node: PipelineNode, pipeline: Pipeline, rank: Mapping[str, float]) -> float:
    above = [rank[a] for a, b in pipeline.edges if b == node.id and a in rank]
    return sum(above) / len(above) if above else 0.0


def pipeline_svg(pipeline: Pipeline, selected: str = "", width: int = WIDTH) -> str:
    """The graph.

    Args:
        selected: the id of the node with an outline.
        width: in pixels; a long pipeline is wider.
    """
    columns = layers(pipeline)
    if not columns:
        label = "no materialized tables and no jobs"
        return f'{open_svg(40, label, width)}<text x="0" y="22" class="dim">{label}; CREATE MATERIALIZED TABLE t AS SELECT ...</text></svg>'
    count = len(columns)
    box = int(max(_NARROWEST, min(_WIDEST, (width - 2 * _MARGIN - (count - 1) * _BEND) / count)))
    bend = _BEND if count < 2 else max(_BEND, min(120, (width - 2 * _MARGIN - count * box) // (count - 1)))
    whole = max(width, 2 * _MARGIN + count * box + (count - 1) * bend)
    rows = max(len(c) for c in columns)
    height = _TOP + rows * (_HEIGHT + _GAP) + 8
    spots: dict[str, tuple[float, float]] = {}
    for i, members in enumerate(columns):
        start = _TOP + (rows - len(members)) * (_HEIGHT + _GAP) / 2
        for k, node in enumerate(members):
            spots[node.id] = (_MARGIN + i * (box + bend), start + k * (_HEIGHT + _GAP))
    parts = [open_svg(height, f"pipeline of {len(pipeline.nodes)} parts", whole), *_legend(pipeline)]
    for source, target in pipeline.edges:
        if source in spots and target in spots:
            parts.append(_line(spots[source], spots[target], box, is_selected=selected in (source, target)))
    parts += [
        part for node in pipeline.nodes for part in _box(node, *spots[node.id], box, is_selected=node.id == selected)
    ]
    return "".join([*parts, "</svg>"])


def _legend(pipeline: Pipeline) -> list[str]:
    out, x = [], 0.0
    for kind in dict.fromkeys(n.kind for n in pipeline.nodes):
        out.append(f'<rect x="{x:.0f}" y="4" width="12" height="12" rx="3" fill="{COLOURS[kind]}"/>')
        out.append(f'<text x="{x + 17:.0f}" y="14" class="dim">{kind}</text>')
        x += 34 + CHARACTER * len(kind)
    return out


def _line(a: tuple[float, float], b: tuple[float, float], box: int, *, is_selected: bool) -> str:
    x0, y0, x1, y1 = a[0] + box, a[1] + _HEIGHT / 2, b[0], b[1] + _HEIGHT / 2
    middle = (x0 + x1) / 2
    weight = 'stroke-width="2.2" stroke-opacity=".85"' if is_selected else 'stroke-width="1.4" stroke-opacity=".45"'
    path = f"M{x0:.1f} {y0:.1f}C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {x1 - 7:.1f} {y1:.1f}"
    head = f"M{x1 - 8:.1f} {y1 - 4:.1f}L{x1 - 1:.1f} {y1:.1f}L{x1 - 8:.1f} {y1 + 4:.1f}"
    return f'<path d="{path}" fill="none" stroke="currentColor" {weight}/><path d="{head}" fill="none" stroke="currentColor" {weight}/>'


def _box(node: PipelineNode, x: float, y: float, box: int, *, is_selected: bool) -> list[str]:
    characters = int((box - 44) / 7.4)
    facts = dict(node.facts)
    sign = _STATES.get(node.state, "")
    tip = "\n".join([f"{node.kind} {node.title}", *(f"{k}: {v}" for k, v in node.facts)])
    outline = ' stroke="currentColor" stroke-opacity=".35"'
    return [
        f'<rect class="folder" x="{x:.1f}" y="{y:.1f}" width="{box}" height="{_HEIGHT}" rx="7"{outline}/>',
        f'<rect x="{x:.1f}" y="{y:.1f}" width="6" height="{_HEIGHT}" rx="3" fill="{COLOURS[node.kind]}"/>',
        f'<text x="{x + 15:.1f}" y="{y + 21:.1f}" font-weight="600">{clipped(node.title, characters)}</text>',
        f'<text x="{x + box - 10:.1f}" y="{y + 21:.1f}" text-anchor="end" font-weight="700">{sign}</text>',
        f'<text x="{x + 15:.1f}" y="{y + 38:.1f}" class="dim" font-size="11">{clipped(_second_line(node, facts), characters + 5)}</text>',
        f'<text x="{x + 15:.1f}" y="{y + 52:.1f}" class="dim" font-size="11">{clipped(_third_line(node, facts), characters + 5)}</text>',
        f'<rect class="file" data-node="{escape(node.id)}" x="{x:.1f}" y="{y:.1f}" width="{box}" height="{_HEIGHT}" rx="7" '
        f'fill="#000" fill-opacity="0" tabindex="0" role="button" aria-label="{escape(tip.replace(chr(10), ", "))}">'
        f"<title>{escape(tip)}</title></rect>",
        *(
            [
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{box}" height="{_HEIGHT}" rx="7" fill="none" stroke="currentColor" stroke-width="2" pointer-events="none"/>'
            ]
            if is_selected
            else []
        ),
    ]


def _second_line(node: PipelineNode, facts: Mapping[str, str]) -> str:
    if node.kind == MATERIALIZED:
        rows = facts.get("physical rows", facts.get("rows", "0"))
        return f"{facts.get('freshness', '')} · {rows} rows" if "freshness" in facts else "cannot be read"
    if node.kind == JOB:
        return f"{facts.get('status', '')} · {facts.get('rows', '0')} rows"
    if node.kind in (SOURCE, SINK):
        return facts.get("connector", node.kind)
    return f"{facts.get('physical rows', facts.get('rows', '0'))} rows" if "error" not in facts else "cannot be read"


def _third_line(node: PipelineNode, facts: Mapping[str, str]) -> str:
    if node.state == "failed":
        return facts.get("last error", facts.get("error", "failed"))
    if node.kind == MATERIALIZED:
        return lag_text(node)
    return facts.get("last commit", "").removesuffix(" UTC")


def lag_text(node: PipelineNode) -> str:
    """What a materialized table is behind, in a few words."""
    if node.state == "suspended":
        return "suspended"
    if any(lag.at is None for lag in node.lags):
        return "to be computed again"
    behind = sum(lag.behind for lag in node.lags)
    return "up to date" if not behind else f"{behind:,} snapshot{'s' * (behind != 1)} behind"


def pipeline_text(pipeline: Pipeline) -> str:
    """The graph as text: a line for each part, with what it reads."""
    titles = {n.id: n.title for n in pipeline.nodes}
    if not pipeline.nodes:
        return "no materialized tables and no jobs"
    return "\n".join(_line_of_text(n, _reads(n, pipeline, titles)) for n in pipeline.nodes)


def _reads(node: PipelineNode, pipeline: Pipeline, titles: Mapping[str, str]) -> Sequence[str]:
    return [titles[a] for a, b in pipeline.edges if b == node.id and a in titles]


def _line_of_text(node: PipelineNode, reads: Sequence[str]) -> str:
    facts = dict(node.facts)
    what = _second_line(node, facts)
    end = f" · {_third_line(node, facts)}" if node.kind == MATERIALIZED else ""
    return f"{node.kind} {node.title}{' ← ' + ', '.join(reads) if reads else ''}: {what}{end}"
