"""The stored versions of a row and the merged row after each, side by side, as SVG."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from paimon_nb.notebook.grid.texts import value_text
from paimon_nb.notebook.svg import WIDTH, clip, clipped, escape, level_colour, open_svg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.table.tables.inspect import RowHistory, RowVersion

_ROW, _TOP = 30, 66
_STORED = 134
"""Left edge of the stored values; the merged rows are at their right, after an arrow."""
_ARROW, _MARGIN = 41, 15
_COLUMN = 64
"""The least width of a column."""
_LATER = '<g opacity=".42">'
"""Style of versions that are not merged yet."""


def visible_columns(answer: RowHistory, limit: int) -> list[str]:
    """At most `limit` columns in table order: no key columns, and for each version in turn a column that it set."""
    if not answer.versions:
        return []
    names = [c for c in answer.versions[0].values if c not in answer.key]
    set_by = list[list[str]]()
    row: Mapping[str, Any] = {}
    for version in answer.versions:
        after = row if version.hidden else version.after or {}
        set_by.append([c for c in names if after.get(c) != row.get(c)])
        row = after
    in_turn = [c for turn in zip_longest(*set_by) for c in turn if c is not None]
    differing = [c for c in names if len({repr(v.values[c]) for v in answer.versions}) > 1]
    selected = list(dict.fromkeys([*in_turn, *differing, *names]))[:limit]
    return [c for c in names if c in selected]


def why_svg(answer: RowHistory, step: int | None = None, width: int = WIDTH) -> str:
    """One line per version in merge order: stored values on the left, the merged row so far on the right.

    Args:
        step: number of versions merged so far; later ones are dimmed. None: all.
        width: in pixels.
    """
    versions = answer.versions
    step = len(versions) if step is None else step
    half = (width - _STORED - _ARROW - _MARGIN) // 2
    merged = _STORED + half + _ARROW
    columns = visible_columns(answer, half // _COLUMN)
    height = _TOP + _ROW * (len(versions) + 1) + 12
    key = ", ".join(f"{k} = {value_text(v)}" for k, v in answer.key.items())
    parts = [open_svg(height, f"{answer.table}, {key}: {len(versions)} stored versions; {answer.rule}", width)]
    parts.append(f'<text x="0" y="14" font-weight="600">{clipped(f"{answer.table} · {key}", 60)}</text>')
    parts.append(f'<text x="{width}" y="14" text-anchor="end" class="dim">snapshot {answer.snapshot} · {escape(answer.engine)}</text>')  # fmt: skip
    if not versions:
        return "".join([*parts, f'<text x="0" y="{_TOP}">no file contains this key</text></svg>'])
    column_width = half / max(1, len(columns))
    parts.append(f'<text x="{_STORED}" y="36" class="dim">stored</text>')
    parts.append(f'<text x="{merged}" y="36" class="dim">merged row so far</text>')
    for x in (_STORED, merged):
        parts += [
            _clipped_text(x + i * column_width, 54, name, column_width, 'font-weight="600"')
            for i, name in enumerate(columns)
        ]
    parts.append(f'<line class="axis" x1="0" y1="{_TOP - 4}" x2="{width}" y2="{_TOP - 4}"/>')
    before: Mapping[str, Any] | None = None
    for i, version in enumerate(versions):
        y = _TOP + i * _ROW
        parts.append(_LATER if i >= step else "<g>")
        if i == step - 1:
            parts.append(f'<rect class="now" x="-6" y="{y}" width="{width + 6}" height="{_ROW}" rx="4"/>')
        parts += _version_row(version, columns, y, merged, column_width, before)
        parts.append("</g>")
        before = before if version.hidden else version.after
    y = _TOP + len(versions) * _ROW
    parts.append(f'<line class="axis" x1="0" y1="{y + 3}" x2="{width}" y2="{y + 3}"/>')
    parts.append(_LATER if step < len(versions) else "<g>")
    parts.append(f'<text x="{merged - 16}" y="{y + 24}" text-anchor="end" font-weight="700">{"current row" if answer.row is not None else "no row"}</text>')  # fmt: skip
    parts += _row_values(answer.row, columns, merged, y + 24, column_width, set(), ' font-weight="700"')
    return "".join([*parts, "</g></svg>"])


def _version_row(
    version: RowVersion,
    columns: Sequence[str],
    y: float,
    merged: float,
    column_width: float,
    before: Mapping[str, Any] | None,
) -> list[str]:
    baseline = y + 20
    colour = level_colour(version.level)
    origin = f"snapshot {version.snapshot}" if version.snapshot is not None else "an expired snapshot"
    tip = f"{version.kind} #{version.sequence}\nlevel {version.level}, {origin}\n{version.file}, row {version.position}"
    out = [
        f'<rect x="0" y="{y + 5}" width="30" height="20" rx="4" fill="{colour}" class="file" tabindex="0" role="img" '
        f'aria-label="{escape(tip.replace(chr(10), ", "))}"><title>{escape(tip)}</title></rect>',
        f'<text class="sign seal-sign" x="15" y="{baseline - 1}" text-anchor="middle" font-weight="700">L{version.level}</text>',
        f'<text x="40" y="{baseline}" font-weight="600">{escape(version.kind)}</text>',
        f'<text x="66" y="{baseline}" class="dim">#{version.sequence}</text>',
    ]
    strike = ' text-decoration="line-through"' if version.hidden else ""
    out += _row_values(version.values, columns, _STORED, baseline, column_width, set(), strike)
    if version.hidden:
        return [*out, f'<text x="{merged - 16}" y="{baseline}" class="dim" text-anchor="end">✗</text>', f'<text x="{merged}" y="{baseline}" class="dim">{clipped(version.hidden, int(column_width * max(1, len(columns)) / 6.2))}</text>']  # fmt: skip
    out.append(f'<text x="{merged - 22}" y="{baseline}" text-anchor="middle" class="dim">→</text>')
    if version.after is None:
        return [*out, f'<text x="{merged}" y="{baseline}" font-weight="700">no row</text>']
    changed = {c for c in columns if before is None or before.get(c) != version.after.get(c)}
    return out + _row_values(version.after, columns, merged, baseline, column_width, changed)


def _row_values(
    row: Mapping[str, Any] | None,
    columns: Sequence[str],
    x: float,
    y: float,
    column_width: float,
    bold: set[str],
    style: str = "",
) -> list[str]:
    """The values of a row; columns in `bold` were changed by this version."""
    out = []
    for i, name in enumerate(columns if row is not None else ()):
        assert row is not None
        text = value_text(row.get(name))
        column_x = x + i * column_width
        if name in bold and text is not None:
            out.append(
                f'<rect class="changed" x="{column_x - 4}" y="{y - 14}" width="{column_width - 4:.1f}" height="20" rx="3"/>'
            )
        weight = 'font-weight="700"' if name in bold else ""
        attributes = f"{weight}{style}" if text is not None else f'{weight} class="dim" font-style="italic"'
        out.append(_clipped_text(column_x, y, "NULL" if text is None else text, column_width, attributes))
    return out


def _clipped_text(x: float, y: float, text: str, column_width: float, attributes: str) -> str:
    return f'<text x="{x:.1f}" y="{y}" {attributes}>{escape(clip(text, max(3, int((column_width - 5) / 7.2))))}<title>{escape(clip(text, 400))}</title></text>'  # fmt: skip
