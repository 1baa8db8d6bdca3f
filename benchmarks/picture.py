"""Curves and ratios as SVG text, in the notebook's style: readable light and dark, colours safe for colour blindness, labels for all."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.growth import Growth

COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#D55E00")
_STYLE = """svg{font:12px/1.35 system-ui,-apple-system,"Segoe UI",sans-serif;color:#1c1e21}text{fill:currentColor}
.dim{opacity:.7}.grid{stroke:currentColor;stroke-opacity:.14}
@media (prefers-color-scheme: dark){svg{color:#e4e6ea}}"""
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 900, 340, 64, 34, 40
_LETTER = 6.8
"""A letter's width at most; there is no ruler here."""


def svg(growth: Growth) -> str:
    """Both axes are logarithmic: a line that stays level does not grow, one that climbs at 45 degrees grows with the table."""
    shown = [s for c in growth.curves for s in c.seconds]
    low, high = math.floor(math.log10(min(shown))), math.ceil(math.log10(max(shown)))
    last = math.log10(growth.sizes[-1]) or 1.0
    labels = [f"{c.name} · {_text(c.seconds[-1])}" for c in growth.curves]
    right = _WIDTH - 14 - _LETTER * max(map(len, labels))

    def place(size: int, seconds: float) -> tuple[float, float]:
        x = _LEFT + math.log10(size) / last * (right - _LEFT)
        y = _TOP + (high - math.log10(seconds)) / max(1, high - low) * (_HEIGHT - _TOP - _BOTTOM)
        return x, y

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(growth.title)}">',
        f'<style>{_STYLE}</style><text x="0" y="14" font-weight="600">{escape(growth.title)}</text>',
    ]
    for power in range(low, high + 1):
        x, y = place(1, 10.0**power)
        parts.append(f'<line class="grid" x1="{x}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="dim" x="{x - 8}" y="{y + 4:.1f}" text-anchor="end">{_text(10.0**power)}</text>')
    for size in growth.sizes:
        x, _ = place(size, 10.0**low)
        parts.append(f'<text class="dim" x="{x:.1f}" y="{_HEIGHT - 22}" text-anchor="middle">{_short(size)}</text>')
    parts.append(f'<text class="dim" x="{_LEFT}" y="{_HEIGHT - 5}">{escape(growth.over)} →</text>')
    taken: list[float] = []
    for colour, curve, label in zip(COLOURS, growth.curves, labels, strict=False):
        spots = [place(x, s) for x, s in zip(growth.sizes, curve.seconds, strict=True)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.2" stroke-linejoin="round"/>'
        )
        for (x, y), size, seconds in zip(spots, growth.sizes, curve.seconds, strict=True):
            said = f"{curve.name}, {size:,} {growth.over}: {_text(seconds)}"
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"><title>{escape(said)}</title></circle>'
            )
        x, y = spots[-1]
        while any(abs(y - other) < 15 for other in taken):
            y += 15 if y < _HEIGHT / 2 else -15
        taken.append(y)
        parts.append(f'<text x="{x + 10:.1f}" y="{y + 4:.1f}">{escape(label)}</text>')
    return "".join([*parts, "</svg>\n"])


PEERS = {
    "Spark": "#E69F00", "DuckDB": "#D55E00", "pyarrow": "#CC79A7", "pypaimon, Rust core": "#56B4E9", "pypaimon": "#009E73",
}  # fmt: skip
"""Words that a contender's name begins with, and its colour; the first that fits."""


def ratios_svg(title: str, works: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    """A line per work and a dot per other program: paimon_nb's time in multiples of the other's, on a logarithmic axis.

    Args:
        works: for each work its title and the ratios by the other's name.
    """
    line, left, top = 19, 345, 62
    shown = [(name, ratios) for name, ratios in works if ratios]
    values = [r for _, ratios in shown for r in ratios.values()]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    height, right = top + line * len(shown) + 26, _WIDTH - 20

    def place(ratio: float) -> float:
        return left + (math.log10(ratio) - low) / (high - low) * (right - left)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f'<style>{_STYLE}</style><text x="0" y="14" font-weight="600">{escape(title)}</text>',
    ]
    at = 0.0
    for peer, colour in PEERS.items():
        parts.append(
            f'<circle cx="{at + 5:.1f}" cy="32" r="4.5" fill="{colour}"/><text x="{at + 15:.1f}" y="36">{peer}</text>'
        )
        at += 34 + _LETTER * len(peer)
    for power in range(low, high + 1):
        x, bold = place(10.0**power), power == 0
        stroke = 'stroke="currentColor" stroke-width="1.5"' if bold else 'class="grid"'
        parts.append(f'<line {stroke} x1="{x:.1f}" y1="{top - 8}" x2="{x:.1f}" y2="{height - 24}"/>')
        said = "← faster · slower →" if bold else f"{10.0**power:g} x its time"
        parts.append(
            f'<text class="dim" x="{x:.1f}" y="{height - 8}" text-anchor="{"end" if power == high else "middle"}">{said}</text>'
        )
    for number, (name, ratios) in enumerate(shown):
        y = top + line * number + 6
        parts.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{escape(name.replace("`", ""))}</text>')
        for other, ratio in ratios.items():
            colour = next(
                c for p, c in PEERS.items() if other.replace("pypaimon-rust", "pypaimon, Rust core").startswith(p)
            )
            tip = escape(f"{name}: {ratio:.2f} x {other}")
            parts.append(
                f'<circle cx="{place(ratio):.1f}" cy="{y}" r="4.5" fill="{colour}"><title>{tip}</title></circle>'
            )
    return "".join([*parts, "</svg>\n"])


def _text(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _short(size: int) -> str:
    return f"{size // 1000}k" if size >= 1000 else str(size)
