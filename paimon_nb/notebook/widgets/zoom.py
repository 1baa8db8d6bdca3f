"""What the panels with an LSM picture share: the visible part of the key axis, and folded lanes of level 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.notebook.lsm_model import NARROWEST, WHOLE, Keys, Window
from paimon_nb.notebook.widgets.base import Panel, report_errors

if TYPE_CHECKING:
    from collections.abc import Sequence


class Zoomable(Panel):
    """A widget with an LSM picture that is redrawn when the visible key range or the fold changes."""

    window = traitlets.List(traitlets.Float(), list(WHOLE)).tag(sync=True)
    """The visible part of the key axis (0..1); it stays the same when another snapshot is selected."""

    fold = traitlets.Bool(True).tag(sync=True)
    """Whether many runs of level 0 share a lane."""

    def __init__(self, **traits: Any) -> None:
        self._keys: Keys = {}
        """Cache of decoded keys."""
        super().__init__(**traits)
        self.observe(self._on_view_change, ["window", "fold"])

    def draw(self) -> None:
        """Draw the current tree."""
        raise NotImplementedError

    @report_errors
    def _on_view_change(self, _: Any) -> None:
        self.draw()


def checked_window(requested: Sequence[float]) -> Window:
    """Validate a window from the page: ordered ends within 0..1, not too narrow; invalid values give the whole axis."""
    if len(requested) != 2 or not all(0 <= x <= 1 for x in requested):  # NaN fails the comparison
        return WHOLE
    low, high = sorted(map(float, requested))
    if high - low < NARROWEST:
        middle = min(max((low + high) / 2, NARROWEST / 2), 1 - NARROWEST / 2)
        low, high = middle - NARROWEST / 2, middle + NARROWEST / 2
    return low, high
