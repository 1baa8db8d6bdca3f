"""The history of a table as a story for pages without a kernel: a picture of each snapshot, a slider and a play button.

A notebook that runs without a front end (`make demo`, `nbconvert --execute`) stores the pictures next to the timeline's
other outputs. The exported page adds the controls, the style and the script, so that they are there once.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from paimon_nb.notebook.display import STYLE as TABLE_STYLE
from paimon_nb.notebook.svg import STYLE, WIDTH, clip, escape, lsm_svg, timeline_columns, timeline_svg
from paimon_nb.table.tables.inspect.formatting import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.notebook.history_model import HistoryRow
    from paimon_nb.notebook.lsm_model import LsmPicture
    from paimon_nb.notebook.timeline_model import Commit, TimelineModel

FRAMES = "text/vnd.paimon-nb.history+html"
"""MIME type of the stored pictures. Front ends that do not know it show the other forms of the output."""
MAX_FRAMES = 40
MAX_FRAME_BYTES = 300_000
"""Maximum size of the pictures of one history."""
MAX_TEXT = 48
"""Characters of a text in the table of the history."""

_THUMB = 16
"""Width of the slider's thumb in pixels."""


def frame_commits(commits: Sequence[Commit], limit: int = MAX_FRAMES) -> list[Commit]:
    """At most `limit` commits at equal distances; the first and the last are always among them."""
    if len(commits) <= limit:
        return list(commits)
    if limit < 2:
        return list(commits[-limit:])
    return [commits[round(i * (len(commits) - 1) / (limit - 1))] for i in range(limit)]


def history_frames(model: TimelineModel, pictures: Sequence[tuple[Commit, LsmPicture]], table: str = "") -> str:
    """The history, a picture of each chosen snapshot, and the history's table as HTML; '' for fewer than two pictures.

    Pictures at equal distances are omitted until the others fit into MAX_FRAME_BYTES.
    """
    frames = [(commit, _frame(commit, picture)) for commit, picture in pictures]
    while len(frames) > 1 and sum(len(html.encode()) for _, html in frames) > MAX_FRAME_BYTES:
        fewer = {c.id for c in frame_commits([c for c, _ in frames], len(frames) // 2)}
        frames = [(commit, html) for commit, html in frames if commit.id in fewer]
    if len(frames) < 2:
        return ""
    last = frames[-1][1].replace('class="frame"', 'class="frame shown"', 1)
    inner = "".join([*(html for _, html in frames[:-1]), last])
    track = _track_style(len(model.commits)) if len(frames) == len(model.commits) else ""
    return (
        f'<div class="history" data-track="{track}">{timeline_svg(model)}</div><div class="frames">{inner}</div>{table}'
    )


def _frame(commit: Commit, picture: LsmPicture) -> str:
    """One snapshot's picture, with the words that the slider shows for it."""
    words = [f"snapshot {commit.id}", commit.kind.lower(), f"{commit.delta_rows:+,} physical rows", *commit.flags]
    words.append(f"{count_text(picture.files, 'file')} in {count_text(len(picture.lanes), 'run')}")
    label = escape(" · ".join(words))
    return f'<div class="frame" data-snapshot="{commit.id}" data-label="{label}">{lsm_svg(picture)}</div>'


def _track_style(commits: int) -> str:
    """Where the slider stands so that the middle of its thumb is below the selected commit."""
    left, step = timeline_columns(commits)
    start, length = (left + step / 2) / WIDTH * 100, step * (commits - 1) / WIDTH * 100
    return f"margin-left:calc({start:.3f}% - {_THUMB // 2}px);width:calc({length:.3f}% + {_THUMB}px)"


def story_html(frames: str) -> str:
    """The stored pictures with their controls, for a page that has `story_script`. The script shows the controls."""
    last = max(0, frames.count('<div class="frame') - 2)  # one is the box of all frames
    track = re.search(r'data-track="([^"]*)"', frames)
    style = f' style="{track[1]}"' if track and track[1] else ""
    controls = (
        f'<div class="track" hidden><input type="range" min="0" max="{last}" step="1" value="{last}"{style} aria-label="snapshot"></div>'
        '<div class="controls" hidden><button type="button" aria-label="Play the history">▶</button><output></output></div>'
    )
    history, divider, pictures = frames.partition('<div class="frames">')
    return f'<div class="pnb story"><style>{STYLE}</style>{history}{controls}{divider}{pictures}</div>'


_LEFT_OUT_IF_EMPTY = ("tags", "statement")


def history_table_html(rows: Sequence[HistoryRow], more: int = 0) -> str:
    """The history as a table with the columns of the panel, newest first; '' without a commit. `more` is the number of older commits."""
    if not rows:
        return ""
    columns = [
        ("time (UTC)", "", [r.time for r in rows]),
        ("operation", "", [r.operation for r in rows]),
        ("physical rows", " class=n", [r.rows for r in rows]),
        ("files", " class=n", [r.files for r in rows]),
        ("bytes", " class=n", [r.size for r in rows]),
        ("tags", "", [", ".join(r.tags) for r in rows]),
        ("statement", "", [" ".join(r.statement.split()) for r in rows]),
    ]
    named = [column for column in columns if any(column[2]) or column[0] not in _LEFT_OUT_IF_EMPTY]
    head = "<th class=n>snapshot</th>" + "".join(f"<th{side}>{name}</th>" for name, side, _ in named)
    cells = zip(*([_text_cell(text, side) for text in texts] for _, side, texts in named), strict=True)
    body = "".join(f"<tr><td class=n>{r.id}</td>{''.join(line)}</tr>" for r, line in zip(rows, cells, strict=True))
    left_out = f'<div class="more">{count_text(more, "older commit")} not shown</div>' if more else ""
    return f'<div class="pnb-t"><style>{TABLE_STYLE}</style><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{left_out}</div>'


def _text_cell(text: str, side: str) -> str:
    """A cell of the history's table; of a long text the beginning, and all of it as the tooltip."""
    tooltip = f' title="{escape(text)}"' if len(text) > MAX_TEXT else ""
    return f"<td{side}{tooltip}>{escape(clip(text, MAX_TEXT))}</td>"


@cache
def story_script() -> str:
    """The script of all stories of a page."""
    return (Path(__file__).parent / "story.js").read_text()


STORY_STYLE = f"""
.story{{max-width:{WIDTH}px}}
.story .frames{{display:grid}}
.story .frame{{grid-area:1/1;visibility:hidden}}
.story .frame.shown{{visibility:visible}}
.story circle[data-snapshot]{{cursor:pointer}}
.story .history text{{pointer-events:none}}
.story circle.at{{stroke:currentColor;stroke-width:2.5}}
.story .track input{{display:block;box-sizing:border-box;width:100%;margin:2px 0;accent-color:#0072B2}}
.story .controls{{display:flex;align-items:center;gap:10px;margin:4px 0 10px}}
.story [hidden]{{display:none}}
.story button{{font:inherit;width:34px;height:26px;border:1px solid currentColor;border-radius:4px;background:none;color:inherit;cursor:pointer}}
.story button:focus-visible,.story input:focus-visible{{outline:2px solid #0072B2;outline-offset:2px}}
.story output{{font-variant-numeric:tabular-nums}}
@media (prefers-color-scheme:dark){{.story .track input{{accent-color:#56B4E9}}.story button:focus-visible,.story input:focus-visible{{outline-color:#56B4E9}}}}
"""
