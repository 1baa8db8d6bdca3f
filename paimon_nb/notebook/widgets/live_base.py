"""What widgets of running streams share: they look at the stream by themselves and tell the page, until it ends."""

from __future__ import annotations

import threading
from typing import Any

import traitlets
from IPython.display import display

from paimon_nb.notebook.widgets.base import Picture, told

TICK_S = 0.5


class Following(Picture):
    """A picture that draws itself anew twice a second, in a thread of its own, as long as `lives`."""

    view = traitlets.Dict().tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        self._thread: threading.Thread | None = None
        self._turn = threading.Lock()
        self._drawing = threading.Lock()
        self._shown: Any = None
        """IPython's handle of what stands on the page; None before it stands there."""
        super().__init__(**traits)
        self.view = self.look()

    def look(self) -> dict[str, Any]:
        """What there is to draw now."""
        raise NotImplementedError

    def lives(self) -> bool:
        """Whether it may still change."""
        raise NotImplementedError

    def wait(self) -> None:
        """Pass the time until the next look; may do something useful meanwhile."""
        threading.Event().wait(TICK_S)

    def follow(self) -> None:
        """Begin to look, if nobody does yet."""
        with self._turn:
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="paimon-live", daemon=True)
                self._thread.start()

    def _ipython_display_(self) -> None:
        data, metadata = self._repr_mimebundle_()
        self._shown = display(data, metadata=metadata, raw=True, display_id=True)
        self.follow()

    def _follow(self) -> None:
        while True:
            lives = True
            while lives:
                self.wait()
                lives = self.lives()  # asked before the look: what happens between the two is seen by the next one
                self._show()
            self.ended()
            with self._turn:
                if not self.lives():  # else it was started again while its end was being told
                    self._thread = None
                    return

    def ended(self) -> None:
        """What there is to do when it lives no more."""

    def redraw(self) -> None:
        """Show what there is now. Looks go to the page in the order in which they were made: none shows an older state again."""
        with self._drawing:
            now = self.look()
            if now != self.view:
                self.view = now

    @told
    def _show(self) -> None:
        self.redraw()
