"""Zooming into a part of the key axis of an LSM picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.notebook.lsm_model import NARROWEST, WHOLE, Keys, LsmPicture, Window, lsm_picture
from paimon_nb.notebook.widgets.base import Panel, report_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.store import TableStore


class Zoomable(Panel):
    """A widget with an LSM picture that is redrawn when the visible key range changes."""

    window = traitlets.List(traitlets.Float(), list(WHOLE)).tag(sync=True)
    """The visible part of the key axis (0..1); it stays the same when another snapshot is selected."""

    def __init__(self, **traits: Any) -> None:
        self._keys: Keys = {}
        """Cache of decoded keys."""
        super().__init__(**traits)
        self.observe(self._on_window_change, "window")

    def draw(self) -> None:
        """Draw the current tree."""
        raise NotImplementedError

    @report_errors
    def _on_window_change(self, _: Any) -> None:
        self.draw()

    def tree(
        self, store: TableStore, snapshot: Snapshot | None, partition: str | None = None, bucket: int | None = None
    ) -> LsmPicture:
        """The visible part of a bucket's tree; None selects the bucket with the most runs."""
        return lsm_picture(store, snapshot, partition, bucket, self._keys, checked_window(self.window))


def checked_window(requested: Sequence[float]) -> Window:
    """Validate a window from the page: ordered ends within 0..1, not too narrow; invalid values give the whole axis."""
    if len(requested) != 2 or not all(0 <= x <= 1 for x in requested):  # NaN fails the comparison
        return WHOLE
    low, high = sorted(map(float, requested))
    if high - low < NARROWEST:
        middle = min(max((low + high) / 2, NARROWEST / 2), 1 - NARROWEST / 2)
        low, high = middle - NARROWEST / 2, middle + NARROWEST / 2
    return low, high
