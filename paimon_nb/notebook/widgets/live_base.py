"""Base class of widgets for running streams: they update the page from a thread until the stream ends."""

from __future__ import annotations

import threading
from typing import Any

import traitlets
from IPython.display import display

from paimon_nb.notebook.widgets.base import Panel, report_errors

TICK_S = 0.5


class LivePanel(Panel):
    """A widget that updates twice a second from its own thread while `is_live()` is true."""

    view = traitlets.Dict().tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        self._thread: threading.Thread | None = None
        self._turn = threading.Lock()
        self._drawing = threading.Lock()
        self._handle: Any = None
        """IPython's display handle; None before the widget is displayed."""
        super().__init__(**traits)
        self.view = self.current()

    def current(self) -> dict[str, Any]:
        """The current data to draw."""
        raise NotImplementedError

    def is_live(self) -> bool:
        """Whether the data can still change."""
        raise NotImplementedError

    def wait(self) -> None:
        """Wait for the next update."""
        threading.Event().wait(TICK_S)

    def follow(self) -> None:
        """Start the update thread unless it is running."""
        with self._turn:
            if self._thread is None:
                self._thread = threading.Thread(target=self._redraw_until_ended, name="paimon-live", daemon=True)
                self._thread.start()

    def _ipython_display_(self) -> None:
        data, metadata = self._repr_mimebundle_()
        self._handle = display(data, metadata=metadata, raw=True, display_id=True)
        self.follow()

    def _redraw_until_ended(self) -> None:
        while True:
            is_live = True
            while is_live:
                self.wait()
                is_live = self.is_live()  # checked before reading: later changes are read in the next round
                self._redraw_and_report()
            self.ended()
            with self._turn:
                if not self.is_live():  # else it was restarted during ended()
                    self._thread = None
                    return

    def ended(self) -> None:
        """Called when the stream has ended."""

    def redraw(self) -> None:
        """Send the current data. Updates are ordered: the page never shows an older state after a newer one."""
        with self._drawing:
            now = self.current()
            if now != self.view:
                self.view = now

    @report_errors
    def _redraw_and_report(self) -> None:
        self.redraw()
