"""The stretch of an LSM picture that the reader looks at: chosen on the page, kept within bounds here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.notebook.lsm_model import NARROWEST, WHOLE, Keys, LsmPicture, Window, lsm_picture
from paimon_nb.notebook.widgets.base import Picture, told

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.store import TableStore


class Zoomable(Picture):
    """A picture with an LSM tree in it, drawn anew for every stretch of the keys that is chosen."""

    window = traitlets.List(traitlets.Float(), list(WHOLE)).tag(sync=True)
    """The stretch of the keys that is shown, as shares of the whole; it stays while snapshots go by."""

    def __init__(self, **traits: Any) -> None:
        self._keys: Keys = {}
        """Keys that were decoded once."""
        super().__init__(**traits)
        self.observe(self._zoom, "window")

    def draw(self) -> None:
        """The tree as it is to be seen now."""
        raise NotImplementedError

    @told
    def _zoom(self, _: Any) -> None:
        self.draw()

    def tree(
        self, store: TableStore, snapshot: Snapshot | None, partition: str | None = None, bucket: int | None = None
    ) -> LsmPicture:
        """A bucket's tree (None: the busiest), as far as the window shows it."""
        return lsm_picture(store, snapshot, partition, bucket, self._keys, window_of(self.window))


def window_of(asked: Sequence[float]) -> Window:
    """What a page asked for, as a window: ends in order, inside the width, never too narrow. Nonsense is the whole."""
    if len(asked) != 2 or not all(0 <= x <= 1 for x in asked):  # NaN is in no range
        return WHOLE
    low, high = sorted(map(float, asked))
    if high - low < NARROWEST:
        middle = min(max((low + high) / 2, NARROWEST / 2), 1 - NARROWEST / 2)
        low, high = middle - NARROWEST / 2, middle + NARROWEST / 2
    return low, high
