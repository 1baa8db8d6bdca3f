"""The expected layout of a draft as SVG: partitions, buckets, and the files of one bucket."""

from __future__ import annotations

from paimon_nb.notebook.create_model import Draft, bucket_bytes
from paimon_nb.notebook.svg import CHARACTER, LEVEL_COLOURS, WIDTH, clipped, escape, open_svg
from paimon_nb.table.tables.inspect.formatting import bytes_text

_TALL = 178


def layout_svg(draft: Draft, width: int = WIDTH) -> str:
    """Table, partitions, buckets, files, from left to right. `width`: in pixels."""
    parts = [open_svg(_TALL, f"layout of {draft.name}", width)]
    columns = draft.parts
    x = 1.0
    parts += _folder_box(x, 62, 129, 34, draft.name or "?", "table")
    if columns:
        x = 176.0
        name = "/".join(f"{c.name}=…" for c in columns)
        number = f"{draft.partitions:,} partitions" if draft.partitions else "one directory per value"
        for i in range(3):
            fold = 8 + i * 54
            parts.append(_arrow(130, 79, x, fold + 17))
            parts += _folder_box(x, fold, 150, 34, name if i < 2 else "…", number if i == 1 else "")
        start = (326.0, 79.0)
    else:
        start = (130.0, 79.0)
    x = start[0] + 46
    labels = _bucket_directory_names(draft)
    step = 138 / len(labels)
    size = bucket_bytes(draft)
    for i, label in enumerate(labels):
        y = 18 + i * step
        parts.append(_arrow(*start, x, y + 13))
        parts += _folder_box(x, y, 136, 26, label, "")
    if size is not None:
        parts.append(f'<text x="{x}" y="{_TALL - 4}" class="dim">about {bytes_text(size)} each</text>')
    at = x + 136
    parts.append(_arrow(at, 31, at + 40, 60))
    parts += _bucket_contents(draft, at + 44, width - at - 48)
    return "".join([*parts, "</svg>"])


def _bucket_directory_names(draft: Draft) -> list[str]:
    match draft.bucket:
        case "-1" if draft.keys:
            return ["bucket-0", "bucket-1 …", "created on demand"]
        case "-1":
            return ["bucket-0"]
        case "-2":
            return ["bucket-postpone", "compact", "assigns buckets"]
        case text if text.isdigit() and int(text) > 3:
            return ["bucket-0", "…", f"bucket-{int(text) - 1}"]
        case text if text.isdigit() and int(text) > 0:
            return [f"bucket-{i}" for i in range(int(text))]
        case _:
            return ["?"]


def _bucket_contents(draft: Draft, x: float, width: float) -> list[str]:
    """A key table's levels, or plain files."""
    characters = int(width / CHARACTER)
    if not draft.keys:
        out = [f'<text x="{x}" y="30" class="dim">files, in write order</text>']
        return out + [
            f'<rect x="{x + i * width / 4:.1f}" y="44" width="{width / 4 - 6:.1f}" height="20" rx="3" fill="{LEVEL_COLOURS[0]}"/>'
            for i in range(4)
        ]
    keys = ", ".join(c.name for c in draft.keys if not c.partition) or "?"
    out = [f'<text x="{x}" y="30" class="dim">{clipped(f"sorted runs by {keys}", characters)}</text>']
    for i, (level, share) in enumerate(((0, 0.3), (0, 0.42), (4, 0.7), (5, 1.0))):
        y = 42 + i * 25
        left = x + 26 + (width - 26) * (0.1 if i == 1 else 0.0)
        out.append(f'<text x="{x + 20}" y="{y + 14}" text-anchor="end" font-weight="600">L{level}</text>')
        out.append(f'<rect x="{left:.1f}" y="{y}" width="{(width - 26) * share * 0.9:.1f}" height="19" rx="3" fill="{LEVEL_COLOURS[level]}"/>')  # fmt: skip
    engine = draft.options.get("merge-engine") or "deduplicate"
    out.append(f'<text x="{x}" y="160" class="dim">{clipped(f"merged on read: {engine}", characters)}</text>')
    return out


def _folder_box(x: float, y: float, width: float, height: float, text: str, caption: str) -> list[str]:
    out = [
        f'<rect class="folder" x="{x}" y="{y:.1f}" width="{width}" height="{height}" rx="4"/>',
        f'<text x="{x + 8}" y="{y + height / 2 + 4:.1f}" font-weight="600">{clipped(text, int(width / 7.4))}</text>',
    ]
    if caption:
        out.append(f'<text x="{x + 8}" y="{y + height + 12:.1f}" class="dim">{escape(caption)}</text>')
    return out


def _arrow(x0: float, y0: float, x1: float, y1: float) -> str:
    middle = (x0 + x1) / 2
    return f'<path class="axis" d="M{x0} {y0:.1f}C{middle} {y0:.1f} {middle} {y1:.1f} {x1} {y1:.1f}" fill="none"/>'
