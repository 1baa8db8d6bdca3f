"""The stretch of an LSM picture that the reader looks at: chosen on the page, kept within bounds here."""

from __future__ import annotations

from collections.abc import Sequence

from paimon_nb.notebook.lsm_model import NARROWEST, WHOLE, Window


def window_of(asked: Sequence[float]) -> Window:
    """What a page asked for, as a window: ends in order, inside the width, never too narrow. Nonsense is the whole."""
    if len(asked) != 2 or not all(0 <= x <= 1 for x in asked):  # NaN is in no range
        return WHOLE
    low, high = sorted(map(float, asked))
    if high - low < NARROWEST:
        middle = min(max((low + high) / 2, NARROWEST / 2), 1 - NARROWEST / 2)
        low, high = middle - NARROWEST / 2, middle + NARROWEST / 2
    return low, high
